"""What the view draws, row by row: a text with line numbers, or a diff, unified or side by side. No textual here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tritonscope.ir.diff import Diff, Hunk, Line, hunks
from tritonscope.tui.document import Document

__all__ = ["Cell", "Row", "Rows", "SideBySide", "TextRows", "UnifiedRows"]

Span = tuple[int, int]

#: The sign before a line of a diff: a difference is never told by colour alone.
SIGNS = {"changed": "!", "layout": "~", "added": "+", "removed": "-", "moved": ">"}


@dataclass(frozen=True)
class Cell:
    """A line of one side: `number` from 1, None for a gap; `style` names what it is, "" for plain text."""

    number: int | None
    text: str
    sign: str = " "
    style: str = ""
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row of the view: one cell, or two side by side. `heading` rows are no lines of a text."""

    cells: tuple[Cell, ...]
    heading: bool = False


class Rows(Protocol):
    """What a view shows. `kind` is the language, `title` goes into the frame."""

    kind: str
    title: str

    def __len__(self) -> int: ...

    def row(self, number: int) -> Row:
        """Row `number`, from 0."""
        ...

    def text(self, number: int) -> str:
        """The text that row `number` stands for: what is searched and copied."""
        ...

    def headers(self, number: int, most: int) -> Sequence[int]:
        """The rows to keep on top while row `number` is the first that is seen."""
        ...


class TextRows:
    """A text with line numbers."""

    def __init__(self, document: Document) -> None:
        self.document, self.kind, self.title = document, document.kind, document.title

    def __len__(self) -> int:
        return len(self.document)

    def row(self, number: int) -> Row:
        return Row((Cell(number + 1, self.document.lines[number]),))

    def text(self, number: int) -> str:
        return self.document.lines[number]

    def headers(self, number: int, most: int) -> Sequence[int]:
        return self.document.around(number, most)


class _DiffRows:
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

    def headers(self, number: int, most: int) -> Sequence[int]:
        return [max((start for start in self.hunks if start < number), default=0)][:most] if number else []


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

    def _of(self, hunk: Hunk) -> Iterator[Row]:
        for line in hunk.lines:
            left = _cell(line, left=True) if line.left is not None else Cell(None, "")
            right = _cell(line, left=False) if line.right is not None else Cell(None, "")
            yield Row((left, right))


def _cell(line: Line, left: bool) -> Cell:
    number, text = (line.left, line.left_text) if left else (line.right, line.right_text)
    if not line.shown:
        return Cell(number, text)
    marks = line.left_marks if left else line.right_marks
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
