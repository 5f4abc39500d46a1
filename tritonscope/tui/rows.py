"""What the view draws, row by row, and a text with line numbers as such rows. No textual here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from tritonscope.tui.document import Document
from tritonscope.tui.folds import Region, regions

__all__ = ["Cell", "Row", "Rows", "TextRows"]

Span = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """A line of one side: `number` from 1, None for a gap; `style` names what it is, "" for plain text.

    `inside` is the class of `highlight` that the whole line is in, such as "string", "" where it speaks for itself.
    `margin` stands between its number and its text, and is no part of that.
    """

    number: int | None
    text: str
    sign: str = " "
    style: str = ""
    marks: tuple[Span, ...] = ()
    inside: str = ""
    margin: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the view: one cell, or two side by side. `heading` rows are no lines of a text."""

    cells: tuple[Cell, ...]
    heading: bool = False


class Rows(Protocol):
    """What a view shows. `kind` is the language, `title` goes into the frame, rows have at most `columns` cells, each
    with a margin that is `margin` wide."""

    kind: str
    title: str
    columns: int
    margin: int

    def __len__(self) -> int: ...

    def row(self, number: int) -> Row:
        """Row `number`, from 0."""
        ...

    def text(self, number: int) -> str:
        """The text that row `number` stands for: what is searched and copied."""
        ...

    def cell_texts(self, number: int) -> Sequence[str]:
        """The text of each cell of row `number`."""
        ...

    def headers(self, number: int, most: int) -> Sequence[int]:
        """The rows to keep on top while row `number` is the first that is seen."""
        ...

    @property
    def largest(self) -> int:
        """The largest line number that stands before a row."""
        ...

    @property
    def regions(self) -> Sequence[Region]:
        """What can be folded, in rows."""
        ...


class TextRows:
    """A text with line numbers."""

    columns = 1
    margin = 0

    def __init__(self, document: Document) -> None:
        self.document, self.kind, self.title = document, document.kind, document.title

    def __len__(self) -> int:
        return len(self.document)

    def row(self, number: int) -> Row:
        inside = "string" if number in self.document.strings else ""
        return Row((Cell(number + 1, self.document.lines[number], inside=inside),))

    def text(self, number: int) -> str:
        return self.document.lines[number]

    def cell_texts(self, number: int) -> Sequence[str]:
        return (self.document.lines[number],)

    def headers(self, number: int, most: int) -> Sequence[int]:
        return self.document.around(number, most)

    @property
    def largest(self) -> int:
        return len(self.document)

    @cached_property
    def regions(self) -> Sequence[Region]:
        return regions(self.document.lines, self.kind)
