"""`tritonscope ls`: the captures there are."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonscope import recipe
from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.model import Capture
from tritonscope.store import layout, reader

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["STATUS_STYLES", "add_arguments", "run", "summary", "when"]

_EPILOG = """examples:
  tritonscope ls
  tritonscope ls --dumps ~/captures --json

status: ok, failed (the compiler said no), crashed, timeout, interrupted, running.
What cannot be read is named on standard error; the exit code is 2 only if nothing could.

JSON: an array of {capture, path, kernel, target, key, status, created, triton_version, stages: [name, ..], recipe};
recipe says what sets a capture apart from the plain one, such as "without tritongpu-coalesce"; null of that one."""


#: How a status looks; the word itself always says it too.
STATUS_STYLES = {"ok": "green", "running": "cyan"} | dict.fromkeys(("failed", "crashed", "timeout"), "bold red")

_WIDE = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "List the captures in the dumps folder, by kernel, the newest first."
    parser.epilog = _EPILOG
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the captures."""
    dumps = layout.dumps_folder(args.dumps)
    if args.dumps and not dumps.exists():
        raise UsageError(f"there is no folder {dumps}; name the one that holds the captures with --dumps")
    captures, unreadable = reader.list_captures(dumps)
    if args.json:
        terminal.print_json([_as_json(capture) for capture in captures])
    elif captures:
        _print_table(captures, terminal.console())
    for problem in unreadable:
        terminal.say(f"skipped: {problem}")
    if not captures and not unreadable:
        _say_how_to_start(dumps)
    return ExitCode.USAGE if unreadable and not captures else ExitCode.DONE


def summary(capture: Capture) -> dict[str, Any]:
    """What `ls` and `show` say of a capture in JSON, apart from its stages."""
    return {
        "capture": capture.capture,
        "path": capture.path,
        "kernel": capture.kernel,
        "target": capture.target,
        "key": capture.key,
        "status": capture.status,
        "created": capture.created,
        "triton_version": capture.versions.get("triton"),
    }


def _as_json(capture: Capture) -> dict[str, Any]:
    return summary(capture) | {"stages": _stages(capture), "recipe": recipe.words(capture.request) or None}


def _stages(capture: Capture) -> list[str]:
    return [stage.stage for stage in capture.stages]


def _print_table(captures: list[Capture], console: "Console") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("capture", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("triton", no_wrap=True)
    table.add_column("made", no_wrap=True)
    table.add_column("passes", justify="right", no_wrap=True)
    recipes = any(recipe.words(capture.request) for capture in captures)
    if recipes:
        table.add_column("", overflow="fold")
    if console.width >= _WIDE:
        table.add_column("stages", overflow="ellipsis", no_wrap=True)
    for capture in captures:
        cells = [
            Text(terminal.escape(capture.capture)),
            Text(capture.status, style=STATUS_STYLES.get(capture.status, "")),
            Text(terminal.escape(capture.versions.get("triton", "?"))),
            Text(terminal.escape(when(capture.created))),
            Text(str(len(capture.passes))),
            *([Text(terminal.escape(recipe.words(capture.request)))] if recipes else []),
            Text(terminal.escape(" ".join(_stages(capture)))),
        ]
        table.add_row(*cells[: len(table.columns)])
    console.print(table)


def when(created: str) -> str:
    """A capture's time of creation, in UTC, to the minute: "2026-03-01 12:30"."""
    return created[:16].replace("T", " ")


def _say_how_to_start(dumps: Path) -> None:
    from tritonscope import bundled_kernels

    reference = bundled_kernels.reference_dumps()
    names = [capture.capture for capture in reader.list_captures(reference)[0]] if reference else []
    also = f"; {', '.join(names)} travel with tritonscope" if names else ""
    command = f"tritonscope compile matmul{layout.dumps_option(dumps)}"
    terminal.say(f"no captures in {dumps}; make one with `{command}`{also}")
