"""Several captures side by side: what tells them apart, and what each came to."""

from rich.console import Console
from rich.table import Table

from tritonscope.cli import terminal
from tritonscope.model import Capture

__all__ = ["render"]

_RESOURCES = {"registers": "regs", "spills": "spills", "shared": "shared"}


def render(captures: list[tuple[str, Capture]], console: Console) -> None:
    """Print a line for each capture and the settings, "" or "num_warps=4", that set it apart from the others."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("capture", no_wrap=True)
    settings = any(variant for variant, _ in captures)
    if settings:
        table.add_column("variant", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for name in ("s", *_RESOURCES.values()):
        table.add_column(name, justify="right", no_wrap=True)
    for variant, capture in captures:
        table.add_row(
            terminal.escape(capture.capture),
            *([terminal.escape(variant)] if settings else []),
            capture.status,
            "" if capture.seconds is None else f"{capture.seconds:.2f}",
            *("" if capture.resources.get(name) is None else str(capture.resources[name]) for name in _RESOURCES),
        )
    console.print(table)
    console.print()
    console.print(f"next: tritonscope show {terminal.escape(terminal.called(captures[0][1]))}", soft_wrap=True)
