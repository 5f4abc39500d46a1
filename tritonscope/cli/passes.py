"""`tritonscope passes CAPTURE`: the passes that ran."""

import argparse
from typing import TYPE_CHECKING, Literal

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode
from tritonscope.model import PassRecord, to_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope passes matmul --changed
  tritonscope passes matmul/sm_90 --sort time | head

Nested passes are indented below the pass that ran them. "changed", or "*" where there is no room for it, marks a pass
after which the IR, without its locations, was another; "skipped" one that was left out; "edited" one whose result was
exchanged for an edited text; ops are the operations before and after it.

JSON: an array of {step, stage, name, options, ms, changed, ops_before, ops_after, file, method, before, scope};
method is "intercepted", "skipped" or "edited" as above, or "dumped" where only the compiler's own dump showed the pass
and there is no time;
file, relative to the capture, holds the IR after the pass where that changed."""

_COLUMNS = ("step", "stage", "pass", "", "ms", "ops", "options")
_CHANGED = "changed"
_CHANGED_NARROW = "*"
_SPECIAL = ("skipped", "edited")
_GAP = 2
_WIDE = 120
_LEAST_OPTIONS = 12
#: Beside a name that is wider than half a terminal and this, the other columns have no room.
_SPARE = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "List every pass of a capture: its time, whether it changed anything, and operation counts."
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    parser.add_argument("--changed", action="store_true", help="only those that changed the IR")
    parser.add_argument(
        "--sort", choices=("step", "time"), default="step", help="by execution (the default), or the slowest first"
    )
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the passes."""
    capture = terminal.open_named(args)
    records = [record for record in capture.passes if record.changed or not args.changed]
    if args.sort == "time":
        records.sort(key=lambda record: -1.0 if record.ms is None else record.ms, reverse=True)
    if args.json:
        terminal.print_json(to_json(records))
    elif records:
        _print_table(records, terminal.console(), nest=args.sort == "step")
    else:
        terminal.say(f"{capture.capture} has no pass {'that changed anything' if args.changed else 'at all'}")
    return ExitCode.DONE


def _print_table(records: list[PassRecord], console: "Console", nest: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    rows = [_cells(record, nest) for record in records]
    widths = [
        max(len(cell) for cell in (name, *column))
        for name, column in zip(_COLUMNS, zip(*rows, strict=True), strict=True)
    ]
    # Names stay whole: of a wide table the options give way, and of a narrow one the word "changed".
    left = console.width - sum(width + _GAP for width in widths[:-1])
    mark, gap = (_CHANGED, _GAP) if left >= 0 else (_CHANGED_NARROW, _GAP - 1)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    for name, width in zip(_COLUMNS[:-1], widths, strict=False):
        fits = name != "pass" or width <= console.width // 2 + _SPARE
        justify: Literal["left", "right"] = "right" if name in ("ms", "ops") else "left"
        table.add_column(name, justify=justify, no_wrap=fits, overflow="fold")
    if console.width >= _WIDE and left >= _LEAST_OPTIONS:
        table.add_column(_COLUMNS[-1], overflow="fold")
    for record, (step, stage, name, changed, ms, ops, options) in zip(records, rows, strict=True):
        cells = [
            Text(step),
            Text(stage),
            Text(name, style="" if record.changed else "dim"),
            Text(mark if changed == _CHANGED else changed),
            Text(ms),
            Text(ops),
            Text(options, style="dim"),
        ]
        table.add_row(*cells[: len(table.columns)])
    console.print(table)


def _cells(record: PassRecord, nest: bool) -> tuple[str, ...]:
    indent = "  " * record.step.count(".") if nest else ""
    return (
        record.step,
        terminal.escape(record.stage),
        indent + terminal.escape(record.name),
        _mark(record),
        "" if record.ms is None else f"{record.ms:.1f}",
        _operations(record),
        terminal.escape(record.options),
    )


def _mark(record: PassRecord) -> str:
    if record.method in _SPECIAL:
        return record.method
    return _CHANGED if record.changed else ""


def _operations(record: PassRecord) -> str:
    if record.ops_before is None or record.ops_after is None:
        return ""
    if record.ops_before == record.ops_after:
        return str(record.ops_after)
    return f"{record.ops_before} -> {record.ops_after}"
