"""A diff as the view draws it, unified or side by side. No textual here."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from tritonscope.ir.diff import Diff, Hunk, Line, hunks
from tritonscope.tui.folds import Region
from tritonscope.tui.rows import Cell, Row

__all__ = ["SideBySide", "UnifiedRows"]

#: The sign before a line of a diff: a difference is never told by colour alone.
SIGNS = {"changed": "!", "layout": "~", "added": "+", "removed": "-", "moved": ">"}


class _DiffRows:
    columns = 1
    margin = 0

    def __init__(self, diff: Diff, kind: str, title: str, context: int) -> None:
        self.diff, self.kind, self.title = diff, kind, title
        self._rows: list[Row] = []
        self.hunks: list[int] = []
        for hunk in hunks(diff, context):
            self.hunks.append(len(self._rows))
            self._rows.append(_heading(hunk))
            self._rows += self._of(hunk)

    def _of(self, hunk: Hunk) -> Iterator[Row]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> Row:
        return self._rows[number]

    def text(self, number: int) -> str:
        return self._rows[number].cells[-1].text or self._rows[number].cells[0].text

    def cell_texts(self, number: int) -> Sequence[str]:
        return [cell.text for cell in self._rows[number].cells]

    def headers(self, number: int, most: int) -> Sequence[int]:
        return [max((start for start in self.hunks if start < number), default=0)][:most] if number else []

    @cached_property
    def largest(self) -> int:
        return max((cell.number or 0 for row in self._rows for cell in row.cells), default=0)

    @property
    def regions(self) -> Sequence[Region]:
        return ()


class UnifiedRows(_DiffRows):
    """A diff with the old lines of a change before the new ones."""

    def _of(self, hunk: Hunk) -> Iterator[Row]:
        pending: list[Row] = []
        for line in hunk.lines:
            if not line.shown:
                yield from pending
                pending = []
                yield Row((Cell(line.right or line.left, line.right_text or line.left_text),))
                continue
            if (line.left is not None and line.kind != "moved") or line.left is not None:
                yield Row((_cell(line, left=True),))
            if line.right is not None:
                pending.append(Row((_cell(line, left=False),)))
        yield from pending


class SideBySide(_DiffRows):
    """A diff with old on the left and new on the right."""

    columns = 2

    def _of(self, hunk: Hunk) -> Iterator[Row]:
        for line in hunk.lines:
            left = _cell(line, left=True) if line.left is not None else Cell(None, "")
            right = _cell(line, left=False) if line.right is not None else Cell(None, "")
            yield Row((left, right))


def _cell(line: Line, left: bool) -> Cell:
    number, text = (line.left, line.left_text) if left else (line.right, line.right_text)
    if not line.shown:
        return Cell(number, text)
    marks = line.marks[0 if left else 1]
    sign = SIGNS[line.kind]
    if line.kind in ("changed", "layout") and left:
        style = "old"
    elif line.kind == "removed" or (line.kind == "moved" and left):
        style = "removed"
    else:
        style = "new" if line.kind in ("changed", "layout") else "added"
    return Cell(number, text, sign, style, marks)


def _heading(hunk: Hunk) -> Row:
    return Row((Cell(None, f"@@ -{hunk.left_start} +{hunk.right_start} @@", "", "heading"),), heading=True)
