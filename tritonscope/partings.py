"""Where two pipelines come apart: after which passes one has operations that the other has not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.stats import op_counts
from tritonscope.model import Capture, PassRecord
from tritonscope.pairing import Paired
from tritonscope.store import reader

__all__ = ["Parting", "partings"]

_COUNTED = ("mlir", "llir")


@dataclass(frozen=True)
class Parting:
    """A pass of both, after which the operations differ by more, less or others than after the pair before it.

    `operations` says how many more the second has of each, negative where it has fewer.
    """

    stage: str
    pass_name: str
    left_step: str
    right_step: str
    operations: Mapping[str, int]


def partings(left: Capture, right: Capture, pairs: Iterable[Paired]) -> Iterator[Parting]:
    """Of `pairing.compare`'s rows those after which the difference in operations is another than before."""
    before: dict[str, int] = {}
    for pair in pairs:
        if pair.left is None or pair.right is None or pair.pass_name is None:
            continue
        ours, theirs = _operations(left, pair.left), _operations(right, pair.right)
        if ours is None or theirs is None:
            continue
        difference = {
            name: theirs[name] - ours[name] for name in sorted({*ours, *theirs}) if theirs[name] != ours[name]
        }
        if difference != before:
            yield Parting(pair.stage, pair.pass_name, pair.left.step, pair.right.step, difference)
        before = difference


def _operations(capture: Capture, record: PassRecord) -> "Counter[str] | None":
    kind = kind_of(reader.file_after(capture, record) or "")
    return op_counts(strip_debug(reader.after(capture, record), kind), kind) if kind in _COUNTED else None
