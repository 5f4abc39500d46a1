"""`tritonscope replay`: a stored IR through one pass again."""

import argparse
import tempfile
from pathlib import Path

from tritonscope import interpreter, reproducer
from tritonscope.api import error_from
from tritonscope.cli import terminal
from tritonscope.engine.client import Child
from tritonscope.errors import ExitCode
from tritonscope.ir.mlir_dump import parse_diagnostics

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
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the IR after the pass there")
    parser.add_argument("--timeout", type=float, metavar="S", help="end it after S seconds")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton runs the pass")
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Replay the file; returns the exit code."""
    recorded = reproducer.read(args.file)
    message = {
        "action": "replay",
        "path": str(args.file.absolute()),
        "call": dict(recorded.call),
        "target": dict(recorded.target),
    }
    outcome, said, ms, text = "crashed", None, None, ""
    with tempfile.TemporaryFile() as output:
        with Child(message, python=interpreter.choose(args.python), stderr=output, timeout=args.timeout) as child:
            for event in child:
                if event["event"] == "error":
                    raise error_from(event)
                if event["event"] == "failure":
                    outcome, said = "failed", event["message"]
                elif event["event"] == "replayed":
                    outcome, ms, text = "passed", event["ms"], event["text"]
            if child.ended.how != "exited":
                outcome, said = child.ended.how, child.ended.message
        output.seek(0)
        printed = output.read().decode("utf-8", "replace")
    diagnostics = parse_diagnostics(printed)
    if outcome == "failed":
        said = next((d.message for d in diagnostics if d.severity == "error"), said)
    same = outcome == ("crashed" if recorded.message is None else "failed") and said in (recorded.message, said)
    if recorded.message is not None and outcome == "failed":
        same = said == recorded.message
    if args.output is not None and outcome == "passed":
        args.output.write_text(text, encoding="utf-8")
    if args.json:
        terminal.print_json(
            {
                "file": str(args.file),
                "stage": recorded.stage,
                "pass": recorded.pass_name,
                "options": recorded.options,
                "outcome": outcome,
                "message": said,
                "recorded": recorded.message,
                "same": same,
                "ms": ms,
                "diagnostics": printed,
            }
        )
    else:
        verdict = "as recorded" if same else f"recorded was: {recorded.message or 'a crash'}"
        terminal.say(f"{recorded.pass_name} {outcome}{f': {said}' if said else ''} ({verdict})")
        for diagnostic in diagnostics:
            place = f"{diagnostic.file}:{diagnostic.line}: " if diagnostic.file else ""
            terminal.say(f"  {place}{diagnostic.severity}: {diagnostic.message}")
    return {"passed": ExitCode.DONE, "failed": ExitCode.NOT_COMPILED}.get(outcome, ExitCode.CHILD_DIED)
