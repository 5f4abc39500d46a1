"""Several captures side by side: what tells them apart, and what each came to."""

from rich.console import Console
from rich.table import Table

from tritonscope.model import Capture

__all__ = ["render"]

_RESOURCES = ("registers", "spills", "shared")


def render(captures: list[tuple[str, Capture]], console: Console) -> None:
    """Print a line for each (label, capture)."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kernel, target, variant", overflow="fold")
    table.add_column("status")
    for name in ("seconds", "passes", *_RESOURCES):
        table.add_column(name, justify="right")
    table.add_column("capture", overflow="fold")
    for label, capture in captures:
        top = [record for record in capture.passes if "." not in record.step]
        table.add_row(
            label,
            capture.status,
            "" if capture.seconds is None else f"{capture.seconds:.2f}",
            f"{sum(record.changed for record in top)}/{len(top)}",
            *("" if capture.resources.get(name) is None else str(capture.resources[name]) for name in _RESOURCES),
            capture.capture,
        )
    console.print(table)
    console.print(f"\nnext: tritonscope show {captures[0][1].capture}", soft_wrap=True)
