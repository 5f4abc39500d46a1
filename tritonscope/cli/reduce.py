"""`tritonscope reduce`: the IR on which a pass fails, made smaller while it still fails in the same way."""

import argparse
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from tritonscope import interpreter, reproducer
from tritonscope.cli import replay, terminal
from tritonscope.cli.check_command import command_words
from tritonscope.cli.status_line import StatusLine
from tritonscope.errors import ExitCode, UsageError
from tritonscope.ir.locations import strip_locations
from tritonscope.trials import Outcome, Trials, trials

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """\
Make the IR on which a pass fails smaller, for as long as that pass fails on it in the same way: it says the same first,
numbers and names aside, or the same signal ends it. What is printed is a reproducer for `tritonscope replay`, and
triton-opt takes it, too. Every step was tried, in a process of its own."""

_EPILOG = """\
examples:
  tritonscope reduce my_kernel > small.mlir
  tritonscope reduce dumps/my_kernel/sm_90-0123456789/reproducer.mlir -o small.mlir
  tritonscope reduce my_kernel -o small.mlir --python ~/other-triton/bin/python
  tritonscope reduce my_kernel --pass tritongpu-pipeline --check './is-there-no-race.sh' -o small.mlir

--check CMD is run with the file as its last argument instead of the pass, and decides alone: as for 'git bisect run' 0
says that all is well, 125 that it cannot tell, and 1 to 127 otherwise that what you look for is still there. A text
that is no MLIR any more is for CMD to tell.

Ctrl-C ends it and prints the smallest text so far.

--json: {file, pass, outcome: "failed" | "crashed" | null, message, lines: [before, after], tries, interrupted, text}

exit codes: 0 done; 1 the pass does not fail here; 2 wrong usage; 4 the process that tries died; 5 triton, or the pass
in it, is missing; 130 interrupted, the smallest text so far printed."""

_SKIP, _MOST_CODE = 125, 127
_STANDARD_ERROR = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.usage = "tritonscope reduce FILE|CAPTURE [options]"
    parser.add_argument("file", metavar="FILE|CAPTURE", help="the reproducer.mlir of a failed capture, or a capture")
    parser.add_argument("--pass", dest="step", metavar="P", help="with --check: which pass of the capture")
    parser.add_argument("--check", metavar="CMD", help="a command that fails while what you look for is there")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to FILE (default: standard output)")
    terminal.add_timeout_option(parser, "a try", 30.0)
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton runs the pass")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


class _Best:
    """The smallest text so far, and how many were tried for it."""

    def __init__(self, text: str, status: StatusLine) -> None:
        self.text = text
        self.tries = 0
        self._lines = _lines(text)
        self._status = status

    def take(self, text: str) -> None:
        """Take a smaller one."""
        self.text = text
        self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        self._status.show(f"{self._lines} -> {_lines(self.text)} lines, {self.tries} tries")


def run(args: argparse.Namespace) -> int:
    """Reduce; returns the exit code."""
    if args.json and args.output == "-":
        raise UsageError("--json and -o - both take standard output; give -o a file")
    with tempfile.TemporaryDirectory(prefix="tritonscope-reduce-") as name:
        opened = replay.opened(args, Path(name))
        ir = opened.file.read_text(encoding="utf-8", errors="replace")
        ir = ir.split("\n", 1)[1]
        if args.check is not None:
            return _by(_Command(args.check, Path(name)), opened.recorded, ir, args)
        recorded = opened.recorded
        python = interpreter.choose(args.python)
        with trials(recorded.call, recorded.target, python=python, timeout=args.timeout, env={}) as tried:
            return _by(_Pass(tried), recorded, ir, args)


def _lines(text: str) -> int:
    return len(text.strip().split("\n"))


class _Pass:
    """Whether the pass fails as it did the first time."""

    def __init__(self, tried: Trials) -> None:
        self._trials = tried
        self.first: Outcome | None = None
        self.last: Outcome | None = None

    def __call__(self, text: str) -> bool:
        found = self._trials.outcome(text)
        self.first = self.first or found
        if not (found.is_failure and found.like(self.first)):
            return False
        self.last = found
        return True


class _Command:
    """Whether a command fails."""

    first: Outcome | None = None
    last: Outcome | None = None

    def __init__(self, text: str, folder: Path) -> None:
        self._words = command_words(text)
        self._path = folder / "candidate.mlir"

    def __call__(self, text: str) -> bool:
        self._path.write_text(text, encoding="utf-8")
        code = subprocess.run([*self._words, str(self._path)], stdout=_STANDARD_ERROR).returncode
        if not 0 <= code <= _MOST_CODE:
            raise UsageError(f"{self._words[0]} ended with {code}; see what it printed")
        return code not in (0, _SKIP)


def _by(still: "_Pass | _Command", recorded: reproducer.Reproducer, ir: str, args: argparse.Namespace) -> int:
    """Reduce by what `still` says, and print what came of it."""
    from tritonscope.reduction import reduce

    status = StatusLine(not args.json)
    head = recorded.header()
    if not still(head + ir):
        found = still.first
        terminal.say(f"{_why_not(recorded, found)}; there is nothing to reduce")
        return ExitCode.DIFFERS
    best = _Best(ir, status)

    def holds(text: str) -> bool:
        best.tries += 1
        best.tell()
        return still(head + text)

    interrupted = False
    try:
        for first in (strip_locations(ir), _without_resources(strip_locations(ir))):
            if first != best.text and holds(first):
                best.take(first)
        reduce(best.text, holds, best.take)
    except KeyboardInterrupt:
        interrupted = True
    status.clear()
    if still.last is not None:
        message = still.last.why if still.last.how == "failed" else None
        recorded = replace(recorded, outcome=still.last.how, message=message)
    _print(best, recorded, still.last, _lines(ir), interrupted, args)
    return ExitCode.INTERRUPTED if interrupted else ExitCode.DONE


def _why_not(recorded: reproducer.Reproducer, found: Outcome | None) -> str:
    if found is None:
        return "the check does not fail"
    if found.how == "unread":
        return f"the text is not read by this Triton: {found.why}"
    return f"{recorded.pass_name} {'did not end in time' if found.how == 'timeout' else 'passes here'}"


def _without_resources(ir: str) -> str:
    """What stands before the options that MLIR adds to a reproducer of its own."""
    return ir.partition("\n{-#\n")[0] + "\n"


def _print(
    best: _Best,
    recorded: reproducer.Reproducer,
    outcome: Outcome | None,
    before: int,
    interrupted: bool,
    args: argparse.Namespace,
) -> None:
    text = recorded.header() + best.text.rstrip() + "\n"
    if args.output is not None and args.output != "-":
        terminal.write_file(Path(args.output), text.encode("utf-8", "replace"))
    if args.json:
        terminal.print_json(
            {
                "file": args.output,
                "pass": recorded.pass_name,
                "outcome": outcome and outcome.how,
                "message": outcome and outcome.why,
                "lines": [before, _lines(best.text)],
                "tries": best.tries,
                "interrupted": interrupted,
                "text": text,
            }
        )
        return
    if args.output in (None, "-"):
        terminal.print_text(text, "mlir")
    said = f"; {recorded.pass_name} {outcome.how}: {outcome.why}" if outcome is not None else ""
    terminal.say(f"{before} -> {_lines(best.text)} lines in {best.tries} tries{said}")
