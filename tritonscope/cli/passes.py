"""`tritonscope passes CAPTURE`: the passes that ran."""

import argparse
from typing import TYPE_CHECKING

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode
from tritonscope.model import PassRecord, to_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope passes matmul --changed
  tritonscope passes matmul/sm_90 --sort time | head

Nested passes are indented below the pass that ran them. "changed" marks a pass after which the IR, without its
locations, was another; ops are the operations before and after it.

JSON: an array of {step, stage, name, options, ms, changed, ops_before, ops_after, file, method, before, scope};
method is "intercepted", or "dumped" where only the compiler's own dump showed the pass and there is no time;
file, relative to the capture, holds the IR after the pass where that changed."""

_WIDE = 120


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

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("step", no_wrap=True)
    table.add_column("stage", no_wrap=True)
    table.add_column("pass", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("ops", justify="right", no_wrap=True)
    if console.width >= _WIDE:
        table.add_column("options", overflow="fold")
    for record in records:
        indent = "  " * record.step.count(".") if nest else ""
        cells = [
            Text(record.step),
            Text(terminal.escape(record.stage)),
            Text(indent + terminal.escape(record.name), style="" if record.changed else "dim"),
            Text("changed" if record.changed else ""),
            Text("" if record.ms is None else f"{record.ms:.1f}"),
            Text(_operations(record)),
            Text(terminal.escape(record.options), style="dim"),
        ]
        table.add_row(*cells[: len(table.columns)])
    console.print(table)


def _operations(record: PassRecord) -> str:
    if record.ops_before is None or record.ops_after is None:
        return ""
    if record.ops_before == record.ops_after:
        return str(record.ops_after)
    return f"{record.ops_before} -> {record.ops_after}"
