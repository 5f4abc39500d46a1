"""After which pass a condition first holds, by the IR that a capture kept after each; see `conditions`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tritonscope.conditions import Both, Compares, Condition, Either, Finds, Not, holds, names_in
from tritonscope.ir.diff import diff
from tritonscope.ir.instructions import KINDS, read_code
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.stats import op_counts
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader

__all__ = ["Found", "Snapshot", "brought_by", "count_of", "first_holding", "judge_by", "snapshots", "values_of"]

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Snapshot:
    """The text of a capture after a step, without what only a debugger reads; `record` is None of a stage alone."""

    stage: str
    record: PassRecord | None
    text: str
    kind: str

    @property
    def name(self) -> str:
        """What a reader calls it: "step 8, tritongpu-coalesce (ttgir)"."""
        if self.record is None:
            return f"stage {self.stage}"
        return f"step {self.record.step}, {self.record.name} ({self.stage})"


@dataclass(frozen=True)
class Found:
    """Where a condition first holds: `first` and the text before it, None where that is what the kernel itself was.

    `inner` is the pass inside `first` after which it held already; `until` is where it then holds no more, None where
    it holds to the end.
    """

    first: Snapshot
    before: Snapshot | None
    inner: PassRecord | None
    until: Snapshot | None


def snapshots(capture: Capture) -> Iterator[Snapshot]:
    """The IR straight from the kernel, what each step left that changed it, and the stages after the last step.

    Raises CaptureUnreadable for what is damaged.
    """
    seen = set()
    source = [stage for stage in capture.stages if stage.stage == "source"]
    outer = [record for record in capture.passes if "." not in record.step and record.file]
    rest = [stage for stage in capture.stages if stage.stage not in ("source", "python", "ast")]
    for stage, record, file in (
        *((each.stage, None, each.file) for each in source),
        *((each.stage, each, each.file or "") for each in outer),
        *((each.stage, None, each.file) for each in rest if each.stage not in {record.stage for record in outer}),
    ):
        if file not in seen and kind_of(file) not in ("binary", "json"):
            seen.add(file)
            yield _snapshot(capture, stage, record, file)


def _snapshot(capture: Capture, stage: str, record: PassRecord | None, file: str) -> Snapshot:
    kind = kind_of(file)
    return Snapshot(stage, record, strip_debug(reader.read_text(capture, file), kind), kind)


def first_holding(capture: Capture, judge: Callable[[Snapshot], bool | None]) -> Found | None:
    """The first snapshot for which `judge` is true, looked at one after the other; None where it is for none.

    `judge` gives None for one that it can say nothing of, which is passed over.
    """
    before = None
    in_order = snapshots(capture)
    for snapshot in in_order:
        verdict = judge(snapshot)
        if verdict:
            inner = None if before is None else _inner(capture, snapshot, judge)
            return Found(snapshot, before, inner, next((each for each in in_order if judge(each) is False), None))
        if verdict is False:
            before = snapshot
    return None


def _inner(capture: Capture, snapshot: Snapshot, judge: Callable[[Snapshot], bool | None]) -> PassRecord | None:
    if snapshot.record is None:
        return None
    for record in capture.passes:
        inside = record.step.startswith(f"{snapshot.record.step}.") and record.file
        if inside and judge(_snapshot(capture, record.stage, record, record.file or "")):
            return record
    return None


def judge_by(condition: Condition) -> Callable[[Snapshot], bool]:
    """Judges a snapshot by `condition`, whose names are operations or instructions, counted by `count_of`."""
    return lambda snapshot: holds(condition, lambda name: count_of(name, snapshot), snapshot.text)


def count_of(name: str, snapshot: Snapshot) -> int:
    """How often the operation or instruction `name` stands in the text.

    An operation is meant with its dialect or without, an instruction with any modifiers after those named.
    """
    if snapshot.kind in KINDS:
        opcodes = (each.opcode for each in read_code(snapshot.text, snapshot.kind).instructions)
        return sum(opcode == name or opcode.startswith(f"{name}.") for opcode in opcodes)
    if snapshot.kind not in ("mlir", "llir"):
        return 0
    counts = op_counts(snapshot.text, snapshot.kind)
    return sum(count for each, count in counts.items() if each == name or each.endswith(f".{name}"))


def brought_by(found: Found, condition: Condition) -> list[tuple[int, str]]:
    """The lines (number, text) that are new in the first text for which `condition` holds, and that it speaks of."""
    patterns = list(_patterns(condition))
    if found.before is not None and found.before.kind == found.first.kind:
        shown = [line for line in diff(found.before.text, found.first.text, found.first.kind).lines if line.shown]
        new = [(line.right, line.right_text) for line in shown if line.right is not None]
    else:
        new = list(enumerate(found.first.text.split("\n"), 1))
    return [(number, text) for number, text in new if any(pattern.search(text) for pattern in patterns)]


def _patterns(condition: Condition) -> Iterator["re.Pattern[str]"]:
    if isinstance(condition, Compares):
        yield re.compile(rf"(?<!\w){re.escape(condition.name)}(?!\w)")
    elif isinstance(condition, Finds):
        yield condition.pattern
    elif isinstance(condition, Both | Either):
        yield from _patterns(condition.left)
        yield from _patterns(condition.right)
    else:
        assert isinstance(condition, Not)
        yield _NEVER


def values_of(condition: Condition, snapshot: Snapshot) -> dict[str, int]:
    """What the names in `condition` come to in the snapshot."""
    return {name: count_of(name, snapshot) for name in names_in(condition)}
