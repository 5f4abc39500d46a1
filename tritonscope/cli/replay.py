"""`tritonscope replay`: a stored IR through one pass again."""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tritonscope import interpreter, reproducer
from tritonscope.api import error_from
from tritonscope.cli import terminal
from tritonscope.engine.client import Child
from tritonscope.errors import ExitCode, TritonscopeError, UsageError
from tritonscope.ir.mlir_dump import parse_diagnostics, why_failed
from tritonscope.store import files

DESCRIPTION = """\
Run the pass that failed over the IR that went into it, in a process of its own that has only triton. FILE is the
reproducer.mlir of a failed capture. Its first line says which pass; the rest is MLIR, yours to edit."""

EPILOG = """\
examples:
  tritonscope replay dumps/my_kernel/sm_90-0123456789/reproducer.mlir
  tritonscope replay reproducer.mlir --python ~/other-triton/bin/python
  tritonscope replay reproducer.mlir -o after.mlir

--json: {file, stage, pass, options, outcome, message, recorded, same, ms, diagnostics}
  outcome is "passed", "failed", "crashed" or "timeout"; recorded is what the compiler said when the file was made
  (null where it crashed), same whether this run ended in the same way.

exit codes:
  0 the pass took the IR; 2 wrong usage or a file that is no reproducer; 3 the pass failed; 4 it crashed or timed out;
  5 triton, or the pass in this triton, is missing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope replay`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("file", type=Path, metavar="FILE", help="the reproducer.mlir of a failed capture")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the IR after the pass to FILE; - is standard output"
    )
    terminal.add_timeout_option(parser, "it")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton runs the pass")
    terminal.add_json_option(parser)


@dataclass
class _Replayed:
    """What came of it: `said` is what the compiler said, `printed` all of it, `text` the IR after the pass."""

    outcome: str = "crashed"
    said: str | None = None
    ms: float | None = None
    text: str = ""
    printed: str = ""


def run(args: argparse.Namespace) -> int:
    """Replay the file; returns the exit code."""
    if args.json and args.output == "-":
        raise UsageError("--json and -o - both take standard output; give -o a file")
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as folder:
        file = _readable_by_a_child(args.file, Path(folder))
        recorded = reproducer.read(file, args.file)
        found = _replay(file, recorded, args)
    if found.outcome == "passed" and args.output == "-":
        terminal.print_text(found.text, "mlir")
    elif found.outcome == "passed" and args.output is not None:
        terminal.write_file(Path(args.output), found.text.encode("utf-8", "replace"))
    # A crash has no words that could be compared.
    same = found.outcome == ("crashed" if recorded.message is None else "failed") and (
        recorded.message in (None, found.said)
    )
    if args.json:
        terminal.print_json(
            {
                "file": str(args.file),
                "stage": recorded.stage,
                "pass": recorded.pass_name,
                "options": recorded.options,
                "outcome": found.outcome,
                "message": found.said,
                "recorded": recorded.message,
                "same": same,
                "ms": found.ms,
                "diagnostics": found.printed,
            }
        )
    else:
        verdict = "as recorded" if same else f"recorded was: {recorded.message or 'a crash'}"
        said = f": {found.said}" if found.said else ""
        terminal.say(f"{recorded.pass_name} {found.outcome}{said} ({verdict})")
        for diagnostic in parse_diagnostics(found.printed):
            place = f"{diagnostic.file}:{diagnostic.line}: " if diagnostic.file else ""
            terminal.say(f"  {place}{diagnostic.severity}: {diagnostic.message}")
    return {"passed": ExitCode.DONE, "failed": ExitCode.NOT_COMPILED}.get(found.outcome, ExitCode.CHILD_DIED)


def _replay(file: Path, recorded: reproducer.Reproducer, args: argparse.Namespace) -> _Replayed:
    message = {
        "action": "replay",
        "path": str(file.absolute()),
        "call": dict(recorded.call),
        "target": dict(recorded.target),
    }
    found = _Replayed()
    with tempfile.TemporaryFile() as output:
        with Child(message, python=interpreter.choose(args.python), stderr=output, timeout=args.timeout) as child:
            for event in child:
                if event["event"] == "error":
                    raise _with_place(error_from(event), _text_of(output), file, args.file)
                if event["event"] == "failure":
                    found.outcome, found.said = "failed", event["message"]
                elif event["event"] == "replayed":
                    found.outcome, found.ms, found.text = "passed", event["ms"], event["text"]
            if child.ended.how != "exited":
                found.outcome, found.said = child.ended.how, child.ended.message
        found.printed = _text_of(output)
    if found.outcome == "failed":
        found.said = why_failed(found.printed, found.said or "")
    return found


def _readable_by_a_child(file: Path, folder: Path) -> Path:
    """`file`, or a copy in `folder` of a pipe or a descriptor of ours, which is read once, and only here."""
    ours = str(file.absolute()).startswith(("/dev/", "/proc/"))
    if file.is_dir() or not file.exists() or (file.is_file() and not ours):
        return file
    copy = folder / "reproducer.mlir"
    copy.write_bytes(files.read_loose(file))
    return copy


def _with_place(error: TritonscopeError, printed: str, file: Path, shown: Path) -> TritonscopeError:
    """`error` with the line of the file that the parser stumbled over, where it named one."""
    said = [d for d in parse_diagnostics(printed) if d.severity == "error" and d.file == str(file.absolute())]
    if not said or not isinstance(error, UsageError):
        return error
    advice = str(error).rpartition("; ")[2]
    return UsageError(
        f"{shown}, line {said[0].line}, column {said[0].column}: {said[0].message}; mend that, or {advice}"
    )


def _text_of(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode("utf-8", "replace")
