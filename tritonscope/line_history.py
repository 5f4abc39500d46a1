"""What every pass made of the operations of one origin: forward from a line to what it became, back to where it began.

Line numbers are those of the texts without locations, as `tritonscope dump` prints them.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tritonscope.errors import UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.links import KINDS, Chain
from tritonscope.ir.summary import operation_of
from tritonscope.line_links import Listing
from tritonscope.model import Capture, PassRecord

__all__ = ["Entry", "history", "texts"]

_VALUES = re.compile(r"[%!$][\w.$-]+|#\d+\b")
_ALIAS = re.compile(r"(#[A-Za-z_]\w*) = (.+)")
_ALIASES = re.compile(r"#[A-Za-z_]\w*")
_OPERATIONS = 3
_NAME = 30


@dataclass(frozen=True)
class Entry:
    """What a text holds of an origin, where that is not what the text before it held.

    `step` is None for a stage that no pass left; `name` is the pass's, or the stage's. `lines` are from 1; `at` is the
    one to look at, None where nothing is left, and `text` what stands there. `by` says how alike the origins are, as
    `SameOrigin` does. `new` and `gone` are operations or instructions by name, against the text before; both are empty
    where only operands, types or layouts differ.
    """

    stage: str
    step: str | None
    name: str
    lines: tuple[int, ...]
    at: int | None
    text: str
    by: str
    new: Mapping[str, int]
    gone: Mapping[str, int]

    def label(self, own: str = "") -> str:
        """In a line: the step, its name, how many lines, what is new and what is gone; `own` is named first."""
        name = self.name if len(self.name) <= _NAME else f"…{self.name[1 - _NAME :]}"
        lines = "gone" if not self.lines else "1 line" if len(self.lines) == 1 else f"{len(self.lines):,} lines"
        changes = "  ".join([*_counts("+", self.new, own), *_counts("-", self.gone, own)])
        return f"{self.step or '':>6} {name:{_NAME}} {lines:>11}  {changes or 'other operands, types or layouts'}"


def texts(capture: Capture) -> Iterator[str | PassRecord]:
    """The texts of a capture whose lines lead to Python, in the order in which they were made: stages by name, passes.

    A stage only where no pass on the way to it is known; of the passes those that changed something and left a whole
    module, nested ones before the pass that they are in.
    """
    stages = [stage.stage for stage in capture.stages if kind_of(stage.file) in KINDS]
    passes = [
        record
        for record in capture.passes
        if record.changed and record.file and kind_of(record.file) in KINDS and record.scope[:1] != "@"
    ]
    passes.sort(key=lambda record: [*map(int, record.step.split(".")), math.inf])
    for stage in stages:
        own = [record for record in passes if record.stage == stage]
        yield from own
        if not own:
            yield stage
    yield from (record for record in passes if record.stage not in stages)


def history(
    capture: Capture, chains: tuple[Chain, ...], own: str, listing_of: Callable[[str | PassRecord], Listing]
) -> Iterator[Entry]:
    """The texts in which what came from `chains`, those of a line of any of them, is not what it was before.

    Of each the line to look at is the first with the operation `own`, else with one that is new, else the first.
    `listing_of` reads a text that `texts` names; one without locations, or for which it raises UsageError, is passed
    over.
    """
    before: Counter[str] = Counter()
    shape: list[str] = []
    for text in texts(capture):
        try:
            listing = listing_of(text)
        except UsageError:
            continue
        if not any(listing.map.chains):  # the compiler printed it without locations
            continue
        found = listing.map.same_origin(chains)
        lines = [listing.lines[number - 1] for number in found.lines]
        names = [operation_of(line, listing.kind) for line in lines]
        operations = Counter(filter(None, names))
        here = _shape(lines, listing)
        if here == shape:
            continue
        new, gone = operations - before, before - operations
        at = names.index(own) if own in names else next((i for i, name in enumerate(names) if name in new), 0)
        yield Entry(
            listing.stage,
            listing.step,
            listing.pass_ or listing.stage,
            found.lines,
            found.lines[at] if lines else None,
            lines[at].strip() if lines else "",
            found.by,
            dict(new.most_common()),
            dict(gone.most_common()),
        )
        before, shape = operations, here


def _shape(lines: Iterable[str], listing: Listing) -> list[str]:
    """The lines without the names of values, and with what their layouts' names stand for, in no order."""
    aliases: dict[str, str] = {}
    if listing.kind == "mlir":
        aliases = {match[1]: match[2] for line in listing.lines if line[:1] == "#" and (match := _ALIAS.match(line))}
    return sorted(_VALUES.sub("%", _ALIASES.sub(lambda m: aliases.get(m[0], m[0]), line).strip()) for line in lines)


def _counts(sign: str, counts: Mapping[str, int], own: str) -> list[str]:
    names = sorted(counts, key=lambda name: name != own)
    found = [f"{sign}{counts[name]} {name}" if counts[name] > 1 else f"{sign}{name}" for name in names]
    return found[:_OPERATIONS] + ([f"{sign}.."] if len(found) > _OPERATIONS else [])
