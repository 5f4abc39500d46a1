"""What the view draws, row by row, and a text with line numbers as such rows. No textual here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tritonscope.tui.document import Document

__all__ = ["Cell", "Row", "Rows", "TextRows"]

Span = tuple[int, int]


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
