"""A diff on a terminal or in a pipe: unified or side by side, the words that differ marked.

Every line says by its first two characters what it is, so that colour only repeats it: "- " and "+ " for lines that
are gone or new, "!-" and "!+" for the two sides of a changed line, "~-" and "~+" where only the layouts of types
differ, "<-" and "->" where a line was moved from and to. Without colour the words are marked as git's word diff does:
[-gone-] and {+new+}.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tritonscope.cli import terminal
from tritonscope.ir.diff import Diff, Hunk, Line, Stat, hunks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["print_diff", "stat_text"]

_SIGNS = {
    "changed": ("!-", "!+"),
    "layout": ("~-", "~+"),
    "removed": ("- ", "  "),
    "added": ("  ", "+ "),
    "moved": ("<-", "->"),
}
_GUTTER = 3
#: More than this of a line does not fit side by side on any screen.
_MOST_OF_A_LINE = 4000


def print_diff(diff: Diff, labels: tuple[str, str], console: "Console", *, context: int, side_by_side: bool) -> None:
    """Print `diff` between two texts called `labels`; nothing but a sentence where there is nothing to show."""
    from rich.text import Text

    console.print(Text(f"--- {terminal.escape(labels[0])}", style="bold"), soft_wrap=True)
    console.print(Text(f"+++ {terminal.escape(labels[1])}", style="bold"), soft_wrap=True)
    for hunk in hunks(diff, context):
        heading = f"@@ -{hunk.left_start} +{hunk.right_start} @@"
        console.print(Text(heading, style="dim cyan"), soft_wrap=True)
        lines = _columns(hunk, console) if side_by_side else _unified(hunk, console)
        for line in lines:
            console.print(line, soft_wrap=True)
    console.print(Text(stat_text(diff.stat), style="dim"), soft_wrap=True)


def stat_text(stat: Stat) -> str:
    """What was found, in numbers: "3 changed, 1 added; 12 the same, 40 but for names"."""
    shown = [f"{getattr(stat, name)} {name}" for name in ("changed", "layout", "added", "removed", "moved")]
    shown = [text for text in shown if not text.startswith("0 ")]
    hidden = f"{stat.unchanged} the same" + (f", {stat.renamed} but for names" if stat.renamed else "")
    return f"{', '.join(shown) or 'nothing to show'}; {hidden}"


def _unified(hunk: Hunk, console: "Console") -> Iterator["Text"]:
    for old, new in _runs(hunk.lines):
        for line in old:
            yield _line(_SIGNS[line.kind][0], line.left_text, line.marks[0], "red", "[-", "-]", console)
        for line in new:
            if line.shown:
                yield _line(_SIGNS[line.kind][1], line.right_text, line.marks[1], "green", "{+", "+}", console)
            elif line.right is not None:  # a definition that merely changed places is shown where it is now
                yield _line("  ", line.right_text, (), "", "", "", console)


def _runs(lines: Iterable[Line]) -> Iterator[tuple[list[Line], list[Line]]]:
    """Lines in the order of a unified diff: of a run of shown lines the old ones first, then the new ones."""
    old: list[Line] = []
    new: list[Line] = []
    for line in lines:
        if not line.shown or line.kind in ("changed", "layout"):
            yield old, new
            old, new = [], []
            # The two sides of a changed line stay together.
            yield [line] if line.shown else [], [line]
            continue
        if line.left is not None:
            old.append(line)
        if line.right is not None:
            new.append(line)
    yield old, new


def _columns(hunk: Hunk, console: "Console") -> Iterator["Text"]:
    """Old on the left, new on the right; a long line goes on below itself within its column."""
    from itertools import zip_longest

    from rich.text import Text

    # A pipe has no width of its own: COLUMNS says how wide what reads it is.
    width = console.width if console.is_terminal else shutil.get_terminal_size((160, 24)).columns
    width = (width - 1) // 2 - _GUTTER
    for line in hunk.lines:
        left_sign, right_sign = _SIGNS.get(line.kind, ("  ", "  "))
        left = _cell(left_sign, line.left_text, line.marks[0], "red", line, line.left, console)
        right = _cell(right_sign, line.right_text, line.marks[1], "green", line, line.right, console)
        for a, b in zip_longest(_folded(left, width), _folded(right, width)):
            row = Text()
            row.append_text(a or Text())
            row.pad_right(width + _GUTTER - row.cell_len)
            row.append("│")
            row.append_text(b or Text())
            yield row


def _cell(
    sign: str,
    text: str,
    marks: Sequence[tuple[int, int]],
    style: str,
    line: Line,
    number: int | None,
    console: "Console",
) -> "Text | None":
    if number is None:
        return None
    opening, closing = ("[-", "-]") if style == "red" else ("{+", "+}")
    text, marks = _clipped(text, marks)
    return _line(sign, text, marks, style if line.shown else "", opening, closing, console)


def _clipped(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, Sequence[tuple[int, int]]]:
    """A stretch of a very long line, around its first mark, that says how much was left out."""
    if len(text) <= _MOST_OF_A_LINE:
        return text, marks
    start = max(marks[0][0] - _MOST_OF_A_LINE // 4, 0) if marks else 0
    end = start + _MOST_OF_A_LINE
    ahead = f"({start} characters) .." if start else ""
    shift = len(ahead) - start
    within = [(max(a, start) + shift, min(b, end) + shift) for a, b in marks if a < end and b > start]
    behind = f".. ({len(text) - end} characters)" if len(text) > end else ""
    return f"{ahead}{text[start:end]}{behind}", within


def _folded(text: "Text | None", width: int) -> list["Text"]:
    from rich.text import Text

    if text is None:
        return []
    sign, body = text[:_GUTTER], text[_GUTTER:]
    pieces = [body[at : at + width] for at in range(0, max(body.cell_len, 1), width)]
    return [Text.assemble(sign if index == 0 else Text(" " * _GUTTER), piece) for index, piece in enumerate(pieces)]


def _line(
    sign: str,
    text: str,
    marks: Sequence[tuple[int, int]],
    style: str,
    opening: str,
    closing: str,
    console: "Console",
) -> "Text":
    """One line with its sign and its marked words: by brackets without colour, underlined and bold with it."""
    from rich.text import Text

    result = Text(f"{sign} ", style=style)
    at = 0
    for start, end in marks:
        result.append(_shown(text[at:start]), style=style)
        word = _shown(text[start:end])
        if console.no_color:
            result.append(f"{opening}{word}{closing}")
        else:
            result.append(word, style=f"bold underline {style}".strip())
        at = end
    result.append(_shown(text[at:]), style=style)
    return result


def _shown(text: str) -> str:
    return terminal.escape(text.expandtabs(8))
