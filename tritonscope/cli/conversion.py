"""A pass that turns one dialect into another, by source line: which operations of a Python line became which."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tritonscope.cli import terminal
from tritonscope.ir.origins import SourceLine, by_source_line
from tritonscope.ir.stats import op_counts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["by_line_json", "is_conversion", "print_by_line"]

#: With less than this share of its operations still there under their names, a text has become another dialect's.
_STILL_THERE = 0.3
_MOST_NAMES = 8


def is_conversion(left: str, right: str) -> bool:
    """Whether hardly an operation of the MLIR text `left` is left in `right`."""
    before, after = op_counts(left), op_counts(right)
    return sum((before & after).values()) < _STILL_THERE * before.total()


def by_line_json(left: str, right: str) -> list[dict[str, Any]]:
    """[{file, line, left: {operation: count}, right: {..}}]; file and line are null for what comes from no line."""
    return [
        {
            "file": line.origin.file if line.origin else None,
            "line": line.origin.line if line.origin else None,
            "left": dict(line.left_counts),
            "right": dict(line.right_counts),
        }
        for line in by_source_line(left, right)
    ]


def print_by_line(
    left: str, right: str, labels: tuple[str, str], sources: Mapping[str, list[str]], console: "Console"
) -> None:
    """Print what each Python line's operations became; both texts come with locations.

    `sources` are the lines of the Python files that are known, by path.
    """
    from rich.text import Text

    console.print(Text(f"--- {terminal.escape(labels[0])}", style="bold"), soft_wrap=True)
    console.print(Text(f"+++ {terminal.escape(labels[1])}", style="bold"), soft_wrap=True)
    console.print(Text("One dialect became another: by line of Python, the operations before and after.", style="dim"))
    for line in by_source_line(left, right):
        console.print(_heading(line, sources), soft_wrap=True)
        for sign, style, counts in (("- ", "red", line.left_counts), ("+ ", "green", line.right_counts)):
            if counts:
                console.print(Text(f"  {sign}{_named(counts)}", style=style), soft_wrap=True)


def _heading(line: SourceLine, sources: Mapping[str, list[str]]) -> "Text":
    from rich.text import Text

    if line.origin is None:
        return Text("from no line", style="bold")
    place = f"{line.origin.file.rpartition('/')[2]}:{line.origin.line}"
    text = Text(terminal.escape(place), style="bold")
    lines = sources.get(line.origin.file, [])
    if line.origin.line <= len(lines):
        text.append(terminal.escape(f"  {lines[line.origin.line - 1].strip()}"), style="not bold")
    return text


def _named(counts: Mapping[str, int]) -> str:
    names = [f"{count} {name}" for name, count in counts.items()]
    more = [f"{len(names) - _MOST_NAMES} more kinds"] if len(names) > _MOST_NAMES else []
    return terminal.escape(", ".join([*names[:_MOST_NAMES], *more]))
