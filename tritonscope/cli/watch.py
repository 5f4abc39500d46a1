"""`tritonscope watch`: compile again whenever the kernel's file is saved, and say what that changed."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tritonscope import api, interpreter, kernel_reference, pairing, variants
from tritonscope.cli import terminal
from tritonscope.cli.compile import default_target
from tritonscope.engine.client import Cancel
from tritonscope.errors import ExitCode, TritonscopeError
from tritonscope.model import Capture, Request, Target
from tritonscope.store import layout

if TYPE_CHECKING:
    from rich.console import Console

_EPILOG = """\
examples:
  tritonscope watch my_kernels.py:softmax
  tritonscope watch my_kernels.py:softmax -t sm_100 --set BLOCK=1024 --option num_warps=8

Each save is compared with the last one that compiled: stages with the number of lines that differ, names aside, where
the passes first part, registers, spills and shared memory. Ctrl-C ends it.

exit codes: 130 when it is ended; 2 wrong usage; 5 triton is missing."""

_EVERY = 0.25  # seconds between looks at the file
_RESOURCES = ("registers", "spills", "shared", "stack")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope watch`."""
    parser.description = "Compile a kernel whenever its file, or a Python file beside it, is saved; show what changed."
    parser.epilog = _EPILOG
    parser.add_argument("kernel", metavar="FILE.py:FUNCTION", help="the kernel")
    parser.add_argument("-t", "--target", metavar="T", help="the target (default: this GPU, else sm_90)")
    parser.add_argument("-s", "--signature", metavar="S", help="as for compile")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="num_warps=4 and so on")
    parser.add_argument("--saves", type=int, metavar="N", help="end after so many saves")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton compiles")
    terminal.add_dumps_option(parser)


def run(args: argparse.Namespace) -> int:
    """Watch until Ctrl-C."""
    kernel = kernel_reference.find(args.kernel)
    request = Request(
        kernel,
        Target.parse(args.target) if args.target else default_target(),
        signature=args.signature,
        constants=variants.single("--set", args.set),
        options=variants.single("--option", args.option),
    )
    python, dumps = interpreter.choose(args.python), layout.dumps_folder(args.dumps)
    console = terminal.console()
    good: Capture | None = None
    for count, _ in enumerate(_saves(Path(kernel.path).parent)):
        try:
            capture = api.capture(
                request, dumps, python=python, command=["tritonscope", *sys.argv[1:]], cancel=Cancel()
            )
        except TritonscopeError as error:
            if good is None and count == 0:
                raise
            terminal.say_error(str(error))
        else:
            _tell(capture, good, console)
            good = capture if capture.status == "ok" else good
        if args.saves is not None and count >= args.saves:
            return ExitCode.DONE
        terminal.say(f"watching {kernel.path}; Ctrl-C ends")
    return ExitCode.DONE


def _saves(folder: Path) -> Iterator[None]:
    """Once at first, then whenever a Python file of the folder is another than before."""
    seen = None
    while True:
        now = _state(folder)
        if now != seen:
            seen = now
            yield
        time.sleep(_EVERY)


def _state(folder: Path) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py")]
    except OSError:  # a file that is just being replaced
        return []
    return sorted((name, status.st_mtime_ns, status.st_size) for name, status in files)


def _tell(capture: Capture, good: Capture | None, console: "Console") -> None:
    """The verdict, and what is not as it was."""
    from rich.text import Text

    console.print()
    console.print(Text(f"{time.strftime('%H:%M:%S')}  {capture.capture}  {capture.status}", style="bold"))
    if capture.failure is not None:
        where = f", line {capture.failure.line}" if capture.failure.line else ""
        console.print(Text(terminal.escape(f"  {capture.failure.message}{where}"), style="bold red"), soft_wrap=True)
        return
    resources = [_resource(name, capture, good) for name in _RESOURCES if name in capture.resources]
    console.print(Text("  " + "   ".join(resources)))
    if good is None:
        return
    if good.key == capture.key:
        console.print(Text("  the same key as before: nothing that counts has changed"))
        return
    parted = None
    for paired in pairing.compare(good, capture):
        if paired.pass_name is None:
            lines = "names alone differ" if paired.verdict == "renamed" else paired.verdict.replace("_", " ")
            if paired.verdict == "differs" and paired.stat is not None:
                lines = f"{paired.stat.lines} lines differ"
            if paired.verdict != "identical":
                console.print(Text(f"  {paired.stage:8} {lines}"))
        elif paired.verdict not in ("identical", "renamed") and parted is None:
            parted = paired
    if parted is not None:
        step = parted.right or parted.left
        console.print(Text(f"  first apart after {parted.pass_name} (step {step.step if step else '?'})"))
    following = shlex.join(["tritonscope", "diff", good.path, capture.path])
    console.print(Text(terminal.escape(f"  next: {following}"), style="dim"), soft_wrap=True)


def _resource(name: str, capture: Capture, good: Capture | None) -> str:
    now = capture.resources[name]
    before = good.resources.get(name) if good is not None else now
    return f"{name} {now}" if before == now else f"{name} {before} -> {now}"
