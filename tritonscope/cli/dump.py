"""`tritonscope dump CAPTURE`: the IR of a stage, or around a pass."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope dump matmul ttgir
  tritonscope dump matmul ttgir --locations | less
  tritonscope dump matmul --pass 17 --before
  tritonscope dump matmul --pass canonicalize#3
  tritonscope dump matmul cubin -o matmul.cubin

A pass is a step of `tritonscope passes` ("17", "43.1") or a name, written with or without "-" and "_"; NAME#2 is its
second run. Locations, and what else only a debugger reads, are hidden unless --locations asks for them.

JSON: {capture, path, stage, step, pass, when, file, text}; when is "after" or "before"; step, pass and when are null
for a stage; file is relative to the capture; text is null for a binary."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "Print the IR of a stage, or the IR after (or before) a pass."
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    parser.add_argument("stage", metavar="STAGE", nargs="?", help="source, ttir, ttgir, llir, ptx, sass, cubin, ..")
    parser.add_argument("--pass", dest="pass_", metavar="PASS", help="a step, a pass's name, or NAME#K")
    parser.add_argument("--before", action="store_true", help="with --pass: the IR that went in")
    parser.add_argument("--locations", action="store_true", help="show source locations")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE; - is standard output")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


@dataclass(frozen=True)
class _Place:
    """What is to be printed: a stage, or one side of a step."""

    stage: str
    file: str
    step: PassRecord | None = None
    when: str | None = None


def run(args: argparse.Namespace) -> int:
    """Print the IR that was asked for."""
    if (args.stage is None) == (args.pass_ is None):
        raise UsageError("dump takes either a STAGE or --pass; `tritonscope dump --help` has examples")
    if args.before and args.pass_ is None:
        raise UsageError("--before goes with --pass: a stage is what its last pass left")
    capture = terminal.open_named(args)
    place = _place(capture, args)
    if kind_of(place.file) == "binary":
        _dump_binary(capture, place, args)
    else:
        _dump_text(capture, place, args)
    return ExitCode.DONE


def _place(capture: Capture, args: argparse.Namespace) -> _Place:
    if args.stage is not None:
        stage = reader.find_stage(capture, args.stage)
        return _Place(stage.stage, stage.file)
    step = reader.find_step(capture, args.pass_)
    _say_which(capture, step, args.pass_)
    when = "before" if args.before else "after"
    file = reader.file_before(capture, step) if args.before else reader.file_after(capture, step)
    if file is None:
        raise UsageError(
            f"the IR {when} step {step.step} ({step.name}) was not kept; ask for the pass before or after it"
        )
    return _Place(step.stage, file, step, when)


def _say_which(capture: Capture, step: PassRecord, asked: str) -> None:
    runs = reader.runs_of(capture, step.name)
    if asked != step.step and "#" not in asked and len(runs) > 1:
        terminal.say(
            f"{step.name} ran {len(runs)} times; taking the first, step {step.step}; {step.name}#2 is the second"
        )


def _dump_binary(capture: Capture, place: _Place, args: argparse.Namespace) -> None:
    if args.json:
        terminal.print_json(_as_json(capture, place, None))
        return
    to_stdout = args.output in (None, "-")
    if to_stdout and terminal.is_terminal():
        raise UsageError(f"{place.stage} is binary, which no terminal can show; write it to a file with -o FILE")
    data = reader.read_data(capture, place.file)
    if to_stdout:
        sys.stdout.buffer.write(data)
    else:
        terminal.write_file(Path(args.output), data)


def _dump_text(capture: Capture, place: _Place, args: argparse.Namespace) -> None:
    text = reader.read_text(capture, place.file)
    kind = kind_of(place.file)
    if not args.locations:
        text = strip_debug(text, kind)
    if args.json:
        terminal.print_json(_as_json(capture, place, text))
    elif args.output not in (None, "-"):
        terminal.write_file(Path(args.output), text.encode("utf-8", "replace"))
    else:
        terminal.print_text(text, kind)


def _as_json(capture: Capture, place: _Place, text: str | None) -> dict[str, str | None]:
    return {
        "capture": capture.capture,
        "path": capture.path,
        "stage": place.stage,
        "step": place.step.step if place.step else None,
        "pass": place.step.name if place.step else None,
        "when": place.when,
        "file": place.file,
        "text": text,
    }
