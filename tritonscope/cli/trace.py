"""`tritonscope trace`: run a program, and capture the kernels that it compiles."""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tritonscope import gpu, interpreter, traces
from tritonscope.cli import failure_text, listing, terminal
from tritonscope.cli.show import tuning_texts
from tritonscope.errors import ExitCode, UsageError
from tritonscope.model import Capture, Target, to_json
from tritonscope.store import layout
from tritonscope.store.writer import check_dumps

DESCRIPTION = """\
Run a program unchanged, as 'python SCRIPT ARGS' or 'python -m MODULE ARGS' would, and capture each kernel that it
compiles: @triton.jit functions, every configuration that an autotuner tries, Gluon, and what torch.compile generates.
One capture for each cache key, in DUMPS/<kernel>/<target>-<id>/, with the grids and arguments of its launches, which
'tritonscope run CAPTURE' uses. The program keeps its input, output and exit code; what we say goes to standard error.
'with tritonscope.trace():' does the same for a part of a program."""

EPILOG = """\
examples:
  tritonscope trace train.py --steps 10
  tritonscope trace --kernel 'matmul|softmax' --limit 20 -m my_package.bench
  tritonscope trace --target sm_90 tutorial.py
  tritonscope trace --python ~/project/.venv -o traces script.py --its-own-option

without a GPU, or with a --target that this GPU is not:
  Kernels are compiled and not launched. PyTorch's tensors have shapes, types and a device, and no contents; torch.cuda
  answers for the target. A number that the program reads (.item(), .tolist(), float()) is nan, and an integer is
  unknown: it can be printed, calculated with, and passed to a kernel, which is compiled for one that is neither 1 nor
  divisible by 16. torch.allclose, torch.equal, torch.testing.assert_close and an assert on a tensor are taken to hold.
  do_bench calls its function once and gives nan, perf_report draws and writes nothing, triton.profiler records
  nothing, an autotuner compiles each of its configurations and none wins (those that --kernel and --limit leave out
  are not compiled). Each of these is said once for each line.
  Where the program decides by a value (an `if`, a size, .numpy()), it ends there with code 5 and a sentence that names
  the line; what was captured stays. torch.compile leaves what it is given as it is.

what is captured, and what is not:
  A compile is captured by a fork of the program, so that its own is not touched; a kernel that Triton's cache on disk
  has is captured all the same. Processes that the program forks are captured too, and their launches not counted;
  those that it starts anew are not, which is said. The autotuner's launches do not count. Launches are told apart by
  the grid and the numbers that are passed; shapes of tensors are those of the first such launch. torch.compile is
  told to compile in this process, without its caches and with Triton's launcher (TORCHINDUCTOR_COMPILE_THREADS=1,
  TORCHINDUCTOR_FORCE_DISABLE_CACHES=1, TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER=0), unless you set these; the times of
  its own autotuner are not kept.

--json: one object a line on standard error, when the program has ended:
  {capture, path, kernel, target, key, status, seconds, failure: null | {stage, pass, inner, step, message, file, line},
   launches: [{grid, count, arguments: [{name, tensor: {dtype, shape, strides, aligned} | descriptor: {.., block,
   layout} | items | value}]}], tuning: [{config, ms: number | null, best: true | false | null}]}

exit codes: the program's own, a signal included; 2 wrong usage; 5 the program cannot go on without a GPU;
  130 interrupted after the program had ended."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope trace`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.usage = "%(prog)s [options] SCRIPT|-m MODULE [ARGS ...]"
    parser.add_argument("-t", "--target", metavar="T", help="compile for T (default: this machine's GPU, else sm_90)")
    parser.add_argument("-k", "--kernel", metavar="REGEX", help="only kernels in whose name REGEX is found")
    parser.add_argument("-n", "--limit", type=_count, metavar="N", help="capture no more than N")
    terminal.add_timeout_option(parser, "a capture")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, that runs the program")
    terminal.add_dumps_option(parser)
    parser.add_argument("--json", action="store_true", help="say what was captured as JSON, see below")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="the program and its arguments")


def run(args: argparse.Namespace) -> int:
    """Run the program; returns its exit code, or ends as it ended."""
    words = ["-m", *args.module] if args.module else list(args.program)
    if not words or words == ["-m"]:
        raise UsageError("there is no program to trace; write 'tritonscope trace SCRIPT.py ARGS', or '-m MODULE ARGS'")
    if not args.module and not Path(words[0]).exists():
        raise UsageError(f"there is no program {words[0]}; name a Python file, or a module with -m")
    asked = traces.Asked(
        layout.dumps_folder(args.dumps),
        ("tritonscope", *sys.argv[1:]),
        traces.kernel_pattern(args.kernel),
        args.limit,
        args.timeout,
    )
    check_dumps(asked.dumps)  # the program may take hours to come to its first kernel
    pretend = _pretended(args.target)
    python = interpreter.choose(args.python)
    if pretend is not None and not args.json:
        why = "compiling without launching" if args.target else "there is no GPU here: compiling without launching"
        terminal.say(f"{why}, for {pretend.name}")
    listener = traces.Listener(asked, terminal.say)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's, which has it too
    try:
        program = _start(words, listener, python, pretend, before)
        code = _wait(program)
    finally:
        signal.signal(signal.SIGINT, before)
    outcome = listener.finish()
    _tell(outcome, asked.dumps, args.json)
    if outcome.errors and code == 0:
        return ExitCode.MISSING
    return _end_as(code)


def _start(
    words: list[str], listener: traces.Listener, python: str, pretend: Target | None, interrupts: Any
) -> "subprocess.Popen[bytes]":
    """The program starts with the signals that we were started with."""
    signal.signal(signal.SIGINT, interrupts)
    try:
        return traces.start_program(words, listener, python, pretend)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _wait(program: "subprocess.Popen[bytes]") -> int:
    """The program's end; who asks us to end asks it."""
    passed_on = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = {number: signal.signal(number, lambda it, _: program.send_signal(it)) for number in passed_on}
    try:
        return program.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_as(code: int) -> int:
    """A program that a signal ended is seen to by whoever started us, as if we were not there."""
    if code >= 0:
        return code
    sys.stdout.flush()
    sys.stderr.flush()
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


def _pretended(target: str | None) -> Target | None:
    """The target to pretend, None where this machine's GPU runs the kernels."""
    here = gpu.present()
    wanted = Target.parse(target) if target else here or Target.parse("sm_90")
    return None if wanted == here else wanted


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of captures; write 1 or more")
    return int(text)


def _tell(outcome: traces.Outcome, dumps: Path, as_json: bool) -> None:
    """What was captured, on standard error: standard output is the program's."""
    if outcome.stopped:
        terminal.say(outcome.stopped)
    if as_json:
        import json

        for capture in outcome.captures:
            print(json.dumps(summary(capture)), file=sys.stderr)
        return
    for capture in outcome.captures:
        terminal.say(_line(capture))
    if outcome.captures and not outcome.reported:
        terminal.say("the program ended too suddenly to say what it had launched")
    left_out = f"; {outcome.skipped} left out by --kernel or --limit" if outcome.skipped else ""
    count = len(outcome.captures)
    if not count:
        terminal.say(f"no kernel was captured{left_out}{_why_none(outcome)}")
        return
    shows = f"`tritonscope open{layout.dumps_option(dumps)}` shows {'them' if count > 1 else 'it'}"
    terminal.say(f"{count} kernel{'s' if count > 1 else ''} captured{left_out}; {shows}")


def _why_none(outcome: traces.Outcome) -> str:
    if os.environ.get("TRITON_INTERPRET") == "1":
        return ": TRITON_INTERPRET is set, so nothing was compiled"
    return "" if outcome.skipped or outcome.stopped or outcome.errors else ": the program compiled none"


def summary(capture: Capture) -> dict[str, Any]:
    """The JSON object of a traced capture."""
    data = {name: value for name, value in listing.summary(capture).items() if name in _KEYS}
    return {**data, "failure": to_json(capture.failure), **{n: to_json(getattr(capture, n)) for n in _TRACED}}


_KEYS = ("capture", "path", "kernel", "target", "key", "status", "seconds")
_TRACED = ("launches", "tuning")


def _line(capture: Capture) -> str:
    if capture.status != "ok":
        return failure_text.sentence(capture)
    facts = []
    launches = sum(each.count for each in capture.launches)
    if launches:
        calls = f" in {len(capture.launches)} shapes" if len(capture.launches) > 1 else ""
        facts.append(f"launched {launches:,} time{'s' if launches > 1 else ''}{calls}")
    facts += tuning_texts(capture.tuning)
    return terminal.escape(f"{capture.capture}  {'; '.join(facts)}".rstrip())
