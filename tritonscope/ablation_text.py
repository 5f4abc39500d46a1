"""What each pass buys, as a table: what hurts most to lose first, and in a line what nobody would miss."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonscope.ablation import OUTCOMES, Ablated
from tritonscope.printable import escape

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["by_worth", "print_ablation"]

_STYLES = {"required": "bold red", "wrong": "bold red", "slower": "yellow", "faster": "green", "baseline": "bold"}
_NUMBERS = ("registers", "spills", "shared", "instructions")


def by_worth(rows: Sequence[Ablated]) -> list[Ablated]:
    """The whole compile, then what leaving a pass out did the most harm."""
    whole = next((row for row in rows if row.outcome == "baseline"), None)

    def worth(row: Ablated) -> tuple[int, bool, float, int]:
        size = abs((row.instructions or 0) - (whole.instructions or 0 if whole else 0))
        return OUTCOMES.index(row.outcome), row.identical, -(row.ratio or 0.0), -size

    return sorted(rows, key=worth)


def print_ablation(rows: Sequence[Ablated], console: "Console") -> None:
    """Print the table."""
    from rich.table import Table
    from rich.text import Text

    ordered = by_worth(rows)
    whole = next((row for row in ordered if row.outcome == "baseline"), None)
    shown = [row for row in ordered if not row.identical]
    columns = {
        "ms": [_number(row.ms) for row in shown],
        "time": [f"{row.ratio:.2f} x" if row.ratio and row.pass_ else "" for row in shown],
        "TFLOP/s": [_number(row.tflops) for row in shown],
        **{name: [_beside(row, whole, name) for row in shown] for name in _NUMBERS},
        "why": [row.detail or "" for row in shown],
    }
    columns = {heading: cells for heading, cells in columns.items() if any(cells)}
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("without", overflow="fold")
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for heading in columns:
        why = heading == "why"
        table.add_column(heading, justify="left" if why else "right", no_wrap=not why, overflow="fold")
    for index, row in enumerate(shown):
        table.add_row(
            Text(escape(row.pass_ or "(nothing)")),
            row.step or "",
            Text(_word(row), style=_STYLES.get(row.outcome, "")),
            *(Text(escape(cells[index])) for cells in columns.values()),
        )
    console.print(table)
    _print_identical([row for row in ordered if row.identical], console)


def _print_identical(rows: Sequence[Ablated], console: "Console") -> None:
    from rich.text import Text

    if not rows:
        return
    passes = "pass" if len(rows) == 1 else "passes"
    names = ", ".join(row.pass_ or "" for row in rows)
    console.print()
    console.print(Text(f"{len(rows)} {passes} bought nothing here, the machine code is the same without:"))
    console.print(Text(escape(names), style="dim"))


def _word(row: Ablated) -> str:
    return "" if row.outcome == "baseline" else {"same": "no slower", "differs": "other code"}.get(row.outcome, row.outcome)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _beside(row: Ablated, whole: Ablated | None, name: str) -> str:
    """A number, and how far it is from the whole compile's."""
    value, usual = getattr(row, name), getattr(whole, name) if whole else None
    if value is None:
        return ""
    return f"{value:,}" if usual is None or value == usual else f"{value:,} ({value - usual:+,})"
