"""What each pass buys, as a table: what hurts most to lose first, and in a line what nobody would miss."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tritonscope.ablation import OUTCOMES, Ablated
from tritonscope.ir.instruction_classes import CLASSES
from tritonscope.printable import escape

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["ablation_lines", "by_worth", "print_ablation"]

_STYLES = {
    "baseline": "bold",
    "right": "bold green",
    "required": "bold red",
    "wrong": "bold red",
    "slower": "yellow",
    "faster": "green",
}
_MOST_CLASSES = 3
_GAP = "  "
_WORDS = 2  # columns of words, which come first
#: The columns that go first where there is no room for all.
_GIVE_WAY = ("instrs", "step", "ms", "shared", "spills", "TFLOP/s")


def by_worth(rows: Sequence[Ablated]) -> list[Ablated]:
    """The whole compile, then what leaving a pass out did the most harm."""
    whole = next((row for row in rows if row.outcome == "baseline"), None)

    def worth(row: Ablated) -> tuple[int, bool, float, int, int]:
        size = abs((row.instructions or 0) - (whole.instructions or 0 if whole else 0))
        return OUTCOMES.index(row.outcome), row.identical, -(row.ratio or 0.0), -size, _first_step(row)

    return sorted(rows, key=worth)


def print_ablation(rows: Sequence[Ablated], console: "Console") -> None:
    """Print the table."""
    for line in ablation_lines(rows, console.width):
        console.print(line, soft_wrap=True)


def ablation_lines(rows: Sequence[Ablated], width: int) -> list["Text"]:
    """The table; below a pass why it is required, or what became of the instructions."""
    from rich.text import Text

    ordered = by_worth(rows)
    whole = next((row for row in ordered if row.outcome == "baseline"), None)
    shown = [row for row in ordered if not row.identical]
    columns = _columns(shown, width)
    widths = [max(map(len, (heading, *cells))) for heading, cells in columns.items()]
    lines = [Text(_line(list(columns), widths), style="dim")]
    for index, row in enumerate(shown):
        line = _line([cells[index] for cells in columns.values()], widths)
        lines.append(Text(line, style=_STYLES.get(row.outcome, "")))
        if below := row.detail or _mix(row, whole):
            lines.append(Text(f"    {escape(below)}", style="dim"))
    return [*lines, *_identical([row for row in ordered if row.identical], width)]


def _columns(rows: Sequence[Ablated], width: int) -> dict[str, list[str]]:
    """The cells under each heading: of what is known, as much as fits."""
    columns = {
        "without": [escape(row.pass_ or "(nothing)") for row in rows],
        "": [_word(row) for row in rows],
        "step": [row.step or "" for row in rows],
        "ms": [_number(row.ms) for row in rows],
        "time": [f"{row.ratio:.2f} x" if row.ratio and row.pass_ else "" for row in rows],
        "TFLOP/s": [_number(row.tflops) for row in rows],
        "regs": [_number(row.registers) for row in rows],
        "spills": [_number(row.spills) for row in rows],
        "shared": [_number(row.shared) for row in rows],
        "instrs": [_number(row.instructions) for row in rows],
    }
    columns = {heading: cells for heading, cells in columns.items() if any(cells)}
    for heading in _GIVE_WAY:
        if sum(max(map(len, (name, *cells))) + len(_GAP) for name, cells in columns.items()) > width:
            columns.pop(heading, None)
    return columns


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, numbers to the right."""
    parts = [
        cell.ljust(width) if index < _WORDS else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return _GAP.join(parts).rstrip()


def _identical(rows: Sequence[Ablated], width: int) -> Iterator["Text"]:
    from rich.text import Text

    if not rows:
        return
    passes = "pass" if len(rows) == 1 else "passes"
    names = ", ".join(row.pass_ or "" for row in rows)
    yield Text()
    yield Text(f"{len(rows)} {passes} bought nothing here, the machine code is the same without:")
    for line in textwrap.wrap(escape(names), width, break_on_hyphens=False):
        yield Text(line, style="dim")


def _word(row: Ablated) -> str:
    words = {"baseline": "WRONG" if row.detail else "", "same": "no slower", "differs": "other code"}
    return words.get(row.outcome, row.outcome)


def _mix(row: Ablated, whole: Ablated | None) -> str:
    """The classes of instructions whose numbers changed most."""
    if whole is None or not row.classes:
        return ""
    changes = {name: row.classes.get(name, 0) - whole.classes.get(name, 0) for name in CLASSES}
    most = sorted((name for name in changes if changes[name]), key=lambda name: -abs(changes[name]))[:_MOST_CLASSES]
    return ", ".join(f"{changes[name]:+} {CLASSES[name]}" for name in most)


def _first_step(row: Ablated) -> int:
    first = (row.step or "").partition(",")[0]
    return int(first) if first.isdecimal() else -1


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4g}"
