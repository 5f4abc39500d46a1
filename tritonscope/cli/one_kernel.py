"""The options of commands that compile one kernel as it is, and then with something changed."""

import argparse
import sys

from tritonscope import api, interpreter, runs, variants
from tritonscope.ablation import SECONDS_OF_A_COMPILE
from tritonscope.cli import compile as compile_command
from tritonscope.cli import terminal
from tritonscope.engine.client import Cancel
from tritonscope.model import Capture, KernelRef, Request, Target
from tritonscope.sizes import parse_sizes
from tritonscope.store import layout

__all__ = ["add_options", "asked", "compile_whole", "count"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is compiled and how; each option has one value."""
    parser.add_argument("-t", "--target", metavar="T", help="sm_90, gfx942 and so on (default: this GPU, else sm_90)")
    parser.add_argument("-s", "--signature", metavar="S", help="as for compile; not for what is run")
    parser.add_argument("--size", action="append", default=[], metavar="N=V,..", help="of its spec, for what is run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value")
    for option in compile_command.OPTIONS:
        parser.add_argument(f"--{option.replace('_', '-')}", metavar="N", help=f"the backend's {option}")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="any other option of the backend")
    parser.add_argument("--config", type=int, metavar="N", help="which configuration, from 0 (default: the first)")
    terminal.add_timeout_option(parser, "each compile", SECONDS_OF_A_COMPILE)
    parser.add_argument("-j", "--jobs", type=count, metavar="N", help="compiles at a time (default: one a core)")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton and torch are used")
    terminal.add_dumps_option(parser)


def asked(args: argparse.Namespace, target: Target, repetitions: int | None = None) -> runs.Asked:
    """The options as `runs` takes them: one set of inputs, no baselines; raises UsageError."""
    options = variants.single("--option", args.option)
    for name in compile_command.OPTIONS:
        if (text := getattr(args, name)) is not None:
            variants.check_numbers(f"--{name.replace('_', '-')}", [text])
            options[name] = text
    return runs.Asked(
        python=interpreter.choose(args.python),
        target=target,
        command=("tritonscope", *sys.argv[1:]),
        sizes=parse_sizes(args.size),
        seeds=(0,),
        repetitions=repetitions,
        baselines=False,
        constants=variants.single("--set", args.set),
        options=options,
        config=args.config,
        cancel=Cancel(),
    )


def compile_whole(kernel: KernelRef, how: runs.Asked, args: argparse.Namespace) -> Capture:
    """The capture of `kernel` as it is, whatever its status; raises KeyboardInterrupt where that was interrupted."""
    request = Request(
        kernel=kernel,
        target=how.target,
        signature=args.signature,
        constants=how.constants,
        options=how.options,
        config=args.config,
    )
    capture = api.capture(
        request,
        layout.dumps_folder(args.dumps),
        python=how.python,
        command=list(how.command),
        timeout=args.timeout,
        cancel=how.cancel,
    )
    if capture.status == "interrupted":
        raise KeyboardInterrupt
    return capture


def count(text: str) -> int:
    """A number of things, at least one, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
