"""What a pass did in numbers: which operations are gone, new, changed or moved, and how many layouts changed."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tritonscope.ir.diff import Diff, diff

__all__ = ["Summary", "operation_of", "summarise", "summary"]

_MLIR = re.compile(r'\s*(?:%[^=\n]*= )?"?((?:[A-Za-z_][\w$]*\.[\w.$]+)|(?:module|return|call)(?=[ \n]|$))', re.ASCII)
_LLVM = re.compile(r"  (?:%[^=\n]* = )?(?:(?:tail|musttail|notail) )?([a-z]\w*)", re.ASCII)
_ASSEMBLY = re.compile(r"\s*(?:/\*[0-9a-f]+\*/\s*)?(?:@!?\w*%?\w+\s+)?([A-Za-z][\w.]*)(?=[\s;]|$)", re.ASCII)


@dataclass(frozen=True)
class Summary:
    """One pass in numbers, by the name of the operation or instruction, the most frequent first.

    `gone`, `new`, `changed` and `moved` count operations. `layouts` counts the operations of which only the encodings
    of the types differ. An operation that became another one is gone and new.
    """

    gone: Mapping[str, int]
    new: Mapping[str, int]
    changed: Mapping[str, int]
    moved: Mapping[str, int]
    layouts: int

    @property
    def differs(self) -> bool:
        """Whether the pass did anything to an operation."""
        return bool(self.gone or self.new or self.changed or self.moved or self.layouts)


def summary(left: str, right: str, kind: str = "mlir") -> Summary:
    """What happened between two texts of `kind`, which come without locations."""
    return summarise(diff(left, right, kind))


def summarise(diff: Diff) -> Summary:
    """`diff` in numbers."""
    gone: Counter[str] = Counter()
    new: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    layouts = 0
    for line in diff.lines:
        if not line.shown:
            continue
        before = operation_of(line.left_text, diff.kind) if line.left is not None else ""
        after = operation_of(line.right_text, diff.kind) if line.right is not None else ""
        if line.kind == "layout":
            layouts += bool(after)
        elif line.kind == "moved":
            moved[before] += line.left is not None
        elif before == after:
            changed[before] += 1
        else:
            gone[before] += 1
            new[after] += 1
    return Summary(
        _without_nothing(gone), _without_nothing(new), _without_nothing(changed), _without_nothing(moved), layouts
    )


def operation_of(line: str, kind: str) -> str:
    """The operation or instruction of a line, "" for a line that is none."""
    if kind in ("mlir", "llir"):
        match = (_MLIR if kind == "mlir" else _LLVM).match(line)
    else:
        match = _ASSEMBLY.match(line) if kind in ("ptx", "sass", "amdgcn") else None
    return match[1] if match else ""


def _without_nothing(counts: "Counter[str]") -> Mapping[str, int]:
    return {name: count for name, count in counts.most_common() if name and count}
