"""`tritonscope replay`: a stored IR through one pass again."""

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tritonscope import interpreter, replaying, reproducer, variants
from tritonscope.api import error_from
from tritonscope.cli import terminal
from tritonscope.engine.client import Child
from tritonscope.errors import ExitCode, TritonscopeError, UsageError
from tritonscope.ir.locations import strip_locations
from tritonscope.ir.mlir_dump import parse_diagnostics, why_failed
from tritonscope.store import files

if TYPE_CHECKING:
    from tritonscope.ir.diff import Diff

DESCRIPTION = """\
Run one pass again over the IR that went into it, in a process of its own that has only triton, and print the IR that it
leaves.

  replay CAPTURE --pass P    a pass of a capture, failed or not
  replay CAPTURE             the pass that failed
  replay FILE                the reproducer.mlir of a failed capture: its first line says which pass; the rest is MLIR,
                             yours to edit"""

EPILOG = """\
examples:
  tritonscope replay matmul --pass tritongpu-coalesce
  tritonscope replay matmul --pass tritongpu-pipeline --python ~/other-triton/bin/python --diff
  tritonscope replay matmul --pass 29 --debug-only tritongpu-remove-layout-conversions >/dev/null
  tritonscope replay dumps/my_kernel/sm_90-0123456789/reproducer.mlir -o after.mlir

The IR goes to standard output without its locations, or with them to -o FILE. What the compiler prints meanwhile goes
to standard error where --debug-only or --env ask for it. --debug-only takes the names that a pass gives its debug
output (LLVM's DEBUG_TYPE, often the pass's own name), as a comma list. Passes are named as `passes` lists them; those
inside another pass, and steps that are no passes, cannot be run by themselves.

--json: {file, capture, step, stage, pass, options, outcome, message, recorded, same, ms, diagnostics, stat}
  outcome is "passed", "failed", "crashed" or "timeout"; recorded is what the compiler said the first time (null where
  it crashed or passed), same whether this run ended in the same way, and with the same IR; capture, step and stat (of
  the IR that the capture has against this one, as `diff` counts) are null for a FILE.

exit codes:
  0 the pass took the IR; 2 wrong usage or a file that is no reproducer; 3 the pass failed; 4 it crashed or timed out;
  5 triton, or the pass in this triton, is missing."""

_DEBUG_ONLY = "TRITON_LLVM_DEBUG_ONLY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope replay`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.usage = "tritonscope replay FILE|CAPTURE [--pass P] [options]"
    parser.add_argument("file", metavar="FILE|CAPTURE", help="the reproducer.mlir of a failed capture, or a capture")
    parser.add_argument("--pass", dest="step", metavar="P", help="a step, a name, or NAME#2 for its second run")
    parser.add_argument("--diff", action="store_true", help="print how the IR differs from what the capture has")
    parser.add_argument("--locations", action="store_true", help="print the IR with its locations")
    parser.add_argument("--debug-only", metavar="T,..", help="let the pass print its debug output of these types")
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="a variable for the compiler to see")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the IR after the pass to FILE; - is standard output"
    )
    terminal.add_timeout_option(parser, "it")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton runs the pass")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


@dataclass(frozen=True)
class Opened:
    """A reproducer to work on: the file that holds it, its head, and the pass of a capture where it is one of that."""

    file: Path
    recorded: reproducer.Reproducer
    source: replaying.Step | None


@dataclass
class _Replayed:
    """What came of it: `said` is what the compiler said, `printed` all of it, `text` the IR after the pass."""

    outcome: str = "crashed"
    said: str | None = None
    ms: float | None = None
    text: str = ""
    printed: str = ""


def run(args: argparse.Namespace) -> int:
    """Replay the file, or the pass; returns the exit code."""
    if args.json and args.output == "-":
        raise UsageError("--json and -o - both take standard output; give -o a file")
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as folder:
        given = opened(args, Path(folder))
        source, recorded = given.source, given.recorded
        if args.diff and source is None:
            raise UsageError("--diff compares with what a capture has; give a capture and --pass, or leave it out")
        found = _replay(given, _environment(args), args)
    compared = _compared(source, found)
    # A crash has no words that could be compared.
    same = (
        found.outcome == recorded.outcome
        and recorded.message in (None, found.said)
        and not (compared is not None and compared.stat.differs)
    )
    if args.output is not None and found.outcome == "passed":
        _write(found.text, args.output)
    if args.json:
        terminal.print_json(_as_json(args, source, recorded, found, same, compared))
        return _code(found)
    _say(recorded, found, same, args)
    if args.diff and compared is not None:
        from tritonscope.cli.diff_text import print_diff

        assert source is not None
        labels = (source.name, f"{source.name}, replayed")
        print_diff(compared, labels, terminal.console(), context=3, side_by_side=False)
    elif found.outcome == "passed" and args.output is None:
        terminal.print_text(found.text if args.locations else strip_locations(found.text), "mlir")
    return _code(found)


def _code(found: _Replayed) -> int:
    return {"passed": ExitCode.DONE, "failed": ExitCode.NOT_COMPILED}.get(found.outcome, ExitCode.CHILD_DIED)


def opened(args: argparse.Namespace, folder: Path) -> Opened:
    """What `args.file` and `args.step` mean; a capture's pass, or what is no file on disk, is written to `folder`."""
    source = _source(args)
    if source is None:
        named = Path(args.file)
        file = _readable_by_a_child(named, folder)
    else:
        named = Path(f"the IR before step {source.record.step} of {source.capture.capture}")
        file = folder / "before.mlir"
        file.write_text(replaying.reproducer_of(source), encoding="utf-8")
    return Opened(file, reproducer.read(file, named), source)


def _source(args: argparse.Namespace) -> replaying.Step | None:
    """The pass of a capture that is meant; None where a file is."""
    if args.step is None and Path(args.file).exists() and not Path(args.file).is_dir():
        return None
    if args.step is None and args.file.endswith(".mlir"):
        return None  # a file that is not there, which reading it will say
    return replaying.find(terminal.open_capture(args.file, args), args.step)


def _environment(args: argparse.Namespace) -> dict[str, str]:
    asked = variants.single("--env", args.env)
    return asked if args.debug_only is None else {**asked, _DEBUG_ONLY: args.debug_only}


def _compared(source: replaying.Step | None, found: _Replayed) -> "Diff | None":
    """The IR that the capture has after the pass, against this one."""
    from tritonscope.ir.diff import diff

    if source is None or source.after is None or found.outcome != "passed":
        return None
    return diff(strip_locations(source.after), strip_locations(found.text), "mlir")


def _write(text: str, output: str) -> None:
    if output == "-":
        terminal.print_text(text, "mlir")
    else:
        terminal.write_file(Path(output), text.encode("utf-8", "replace"))


def _as_json(
    args: argparse.Namespace,
    source: replaying.Step | None,
    recorded: reproducer.Reproducer,
    found: _Replayed,
    same: bool,
    compared: "Diff | None",
) -> dict[str, object]:
    return {
        "file": args.file if source is None else None,
        "capture": None if source is None else source.capture.capture,
        "step": None if source is None else source.record.step,
        "stage": recorded.stage,
        "pass": recorded.pass_name,
        "options": recorded.options,
        "outcome": found.outcome,
        "message": found.said,
        "recorded": recorded.message,
        "same": same,
        "ms": found.ms,
        "diagnostics": found.printed,
        "stat": None if compared is None else asdict(compared.stat),
    }


def _say(recorded: reproducer.Reproducer, found: _Replayed, same: bool, args: argparse.Namespace) -> None:
    """What came of it, and what the compiler printed where that was asked for."""
    if args.debug_only is not None or args.env:
        terminal.print_diagnostics(found.printed)
    if same:
        verdict = "as recorded"
    elif found.outcome == recorded.outcome == "passed":
        verdict = "and leaves other IR than the capture has; --diff shows it"
    else:
        verdict = f"recorded was: {recorded.message or recorded.outcome}"
    said = f": {found.said}" if found.said else ""
    terminal.say(f"{recorded.pass_name} {found.outcome}{said} ({verdict})")
    if args.debug_only is not None and not found.printed.strip():
        terminal.say(
            f"nothing was printed for {args.debug_only}: no such debug output comes by in this pass, "
            "or this Triton was built without it"
        )
    for diagnostic in parse_diagnostics(found.printed):
        place = f"{diagnostic.file}:{diagnostic.line}: " if diagnostic.file else ""
        terminal.say(f"  {place}{diagnostic.severity}: {diagnostic.message}")


def _replay(given: Opened, env: dict[str, str], args: argparse.Namespace) -> _Replayed:
    message = {
        "action": "replay",
        "path": str(given.file.absolute()),
        "call": dict(given.recorded.call),
        "target": dict(given.recorded.target),
        "listen": bool(env),
    }
    found = _Replayed()
    with tempfile.TemporaryFile() as output:
        python = interpreter.choose(args.python)
        with Child(message, python=python, env=env, stderr=output, timeout=args.timeout) as child:
            for event in child:
                if event["event"] == "error":
                    raise _with_place(error_from(event), _text_of(output), given.file, given.recorded.path)
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
