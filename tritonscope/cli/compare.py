"""`tritonscope compare`: one kernel compiled in two ways, and what the second did to it."""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tritonscope import api, gpu, interpreter, kernel_reference, kernel_stats, keydiff, pairing, runs, variants
from tritonscope.cli import compile as compile_command
from tritonscope.cli import failure_text, stats, terminal
from tritonscope.engine.client import Cancel
from tritonscope.errors import ExitCode, Missing, UsageError
from tritonscope.model import Capture, Request, RunResult, Target, to_json
from tritonscope.pairing import Paired
from tritonscope.partings import Parting, partings
from tritonscope.sizes import parse_sizes
from tritonscope.store import layout

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """\
Compile a kernel in two ways, with two Tritons for example, and say where the pipelines part and what it did to
registers, shared memory, instructions and, with --run and a GPU, time. Give one thing two values: --python twice,
--env, --option or --set with a comma list, or two targets."""

_EPILOG = """\
examples:
  tritonscope compare matmul --python ~/triton-3.6 --python ~/triton-3.9
  tritonscope compare matmul -t sm_90 --option num_stages=3,4
  tritonscope compare my_kernels.py:softmax --env DISABLE_LLVM_OPT=0,1
  tritonscope compare matmul --python A --python B --size M=N=K=4096 --run

Passes are paired by name and order. A line of operations says what the second has more (+) or fewer (-) of after that
pass; only passes after which that is another than before have one. --size takes the signature from the kernel's spec.

JSON: {left, right, summary, only_left: [pass], only_right, first: null | {stage, pass}, stages: [{stage, verdict,
stat}], partings: [{stage, pass_name, left_step, right_step, operations: {operation: difference}}], stats: {left,
right}, as 'stats --json' gives them, runs: null | [as 'run --json', two of them]}.

exit codes: 0 done; 1 with --run where a result is wrong; 2 wrong usage; 3 one of the two did not compile; 4 the
compiler crashed; 5 triton or, for --run, a GPU is missing."""

_MOST_NAMES = 8
_MOST_OPERATIONS = 6


@dataclass(frozen=True)
class _Side:
    """One of the two ways."""

    request: Request
    python: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope compare`."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument("kernel", metavar="KERNEL", help="a bundled name, or FILE.py:FUNCTION")
    parser.add_argument("-t", "--target", action="append", default=[], metavar="T", help="one target, or two")
    parser.add_argument("-s", "--signature", metavar="S", help="as for compile")
    parser.add_argument("--size", action="append", default=[], metavar="N=V,..", help="one size of the kernel's spec")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value, or two")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="an option's value, or two")
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="a variable for the compiler, or two")
    parser.add_argument("--python", action="append", default=[], metavar="PATH", help="one Python, or two")
    parser.add_argument("--run", action="store_true", help="check and time both on this machine's GPU")
    terminal.add_timeout_option(parser, "a compilation")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compile both and compare; returns the exit code."""
    if args.run and gpu.present() is None:
        raise Missing("there is no GPU here to run them on; leave --run out to compare what was compiled")
    sides = _sides(args)
    captures = _compiled(sides, args)
    failed = [capture for capture in captures if capture.status != "ok"]
    if failed:
        for capture in failed:
            terminal.say_error(failure_text.sentence(capture))
        return ExitCode.NOT_COMPILED if all(each.status == "failed" for each in failed) else ExitCode.CHILD_DIED
    left, right = captures
    results = _run(captures, sides, args) if args.run else None
    pairs = list(pairing.compare(left, right))
    if args.json:
        _print_json(left, right, pairs, results)
    else:
        _print(left, right, pairs, results, terminal.console())
    wrong = any(result.correct is False or result.fault for result in results or [])
    return ExitCode.DIFFERS if wrong else ExitCode.DONE


# -- what is compared


def _sides(args: argparse.Namespace) -> list[_Side]:
    """The two ways; raises UsageError where there are not two."""
    kernel = kernel_reference.find(args.kernel)
    targets = [Target.parse(text) for given in args.target for text in variants.split(given)]
    pythons = [interpreter.choose(python) for python in args.python] or [interpreter.choose(None)]
    found = [
        _Side(Request(kernel, target, args.signature, constants, options, env=env), python)
        for python in pythons
        for target in targets or [compile_command.default_target()]
        for constants in variants.product(variants.assignments("--set", args.set))
        for options in variants.product(variants.assignments("--option", args.option))
        for env in variants.product(variants.assignments("--env", args.env))
    ]
    if len(found) != 2:
        raise UsageError(
            f"two ways to compile it are compared, and {len(found)} {'was' if len(found) == 1 else 'were'} asked for; "
            "give one thing two values, as in --option num_warps=4,8 or --python A --python B"
        )
    if not args.size:
        return found
    if args.signature is not None:
        raise UsageError("--size says what the arguments are, and so does --signature; give one of them")
    return [_at_size(side, args.size) for side in found]


def _at_size(side: _Side, sizes: list[str]) -> _Side:
    asked = runs.Asked(
        side.python,
        side.request.target,
        (),
        parse_sizes(sizes),
        constants=side.request.constants,
        options=side.request.options,
    )
    requests = [request for _, _, request in runs.requests(side.request.kernel, asked)]
    if len(requests) != 1:
        raise UsageError(f"--size names {len(requests)} sizes, and two kernels are compared at one; 'sweep' takes many")
    return _Side(Request(**{**vars(requests[0]), "env": side.request.env}), side.python)


def _compiled(sides: Sequence[_Side], args: argparse.Namespace) -> tuple[Capture, Capture]:
    dumps, cancel = layout.dumps_folder(args.dumps), Cancel()

    def compile_one(side: _Side) -> Capture:
        command = ["tritonscope", *sys.argv[1:]]
        return api.capture(
            side.request, dumps, python=side.python, command=command, timeout=args.timeout, cancel=cancel
        )

    with ThreadPoolExecutor(2) as pool:
        try:
            left, right = pool.map(compile_one, sides)
        except KeyboardInterrupt:
            cancel.cancel()
            raise
    return left, right


def _run(captures: Sequence[Capture], sides: Sequence[_Side], args: argparse.Namespace) -> list[RunResult]:
    """Both, each in the Python that compiled it."""
    found: list[RunResult] = []
    for capture, side in zip(captures, sides, strict=True):
        asked = runs.Asked(
            side.python, side.request.target, ("tritonscope", *sys.argv[1:]), parse_sizes(args.size), seeds=(0,)
        )
        found += runs.run(runs.plan_capture(capture, asked), asked, lambda text: None)
    return found


# -- what came of it


def _only(pairs: Sequence[Paired], verdict: str) -> list[str]:
    return [pair.pass_name for pair in pairs if pair.pass_name and pair.verdict == verdict]


def _first(pairs: Sequence[Paired]) -> Paired | None:
    return next((each for each in pairs if each.pass_name and each.verdict == "differs"), None)


def _print_json(left: Capture, right: Capture, pairs: Sequence[Paired], results: list[RunResult] | None) -> None:
    first = _first(pairs)
    stages = [pair.to_json() for pair in pairs if pair.pass_name is None]
    terminal.print_json(
        {
            "left": left.capture,
            "right": right.capture,
            "summary": _summary(left, right),
            "only_left": _only(pairs, "only_left"),
            "only_right": _only(pairs, "only_right"),
            "first": first and {"stage": first.stage, "pass": first.pass_name},
            "stages": [{name: each[name] for name in ("stage", "verdict", "stat")} for each in stages],
            "partings": [asdict(each) for each in partings(left, right, pairs)],
            "stats": {
                "left": kernel_stats.to_json(kernel_stats.stats_of(left)),
                "right": kernel_stats.to_json(kernel_stats.stats_of(right)),
            },
            "runs": results and [to_json(each) for each in results],
        }
    )


def _print(
    left: Capture, right: Capture, pairs: Sequence[Paired], results: list[RunResult] | None, console: "Console"
) -> None:
    from rich.text import Text

    for words, capture in (("left ", left), ("right", right)):
        version = terminal.escape(str(capture.versions.get("triton", "?")))
        head = Text.assemble((f"{words}  ", "dim"), (terminal.escape(capture.capture), "bold"), f"  Triton {version}")
        console.print(head, soft_wrap=True)
    console.print(terminal.escape(_summary(left, right)), soft_wrap=True, markup=False)
    console.print()
    for words, names in (("only in left", _only(pairs, "only_left")), ("only in right", _only(pairs, "only_right"))):
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            console.print(Text(terminal.escape(f"{words}: {', '.join(names[:_MOST_NAMES])}{more}")), soft_wrap=True)
    stages = [pair for pair in pairs if pair.pass_name is None]
    console.print(Text("stages: " + ", ".join(map(_verdict, stages))), soft_wrap=True)
    first = _first(pairs)
    if first is not None:
        where = f"{first.pass_name} ({first.stage})"
        console.print(Text(terminal.escape(f"the IR is first another after {where}")), soft_wrap=True)
    console.print()
    _print_partings(list(partings(left, right, pairs)), console)
    stats.print_two(kernel_stats.stats_of(left), kernel_stats.stats_of(right), console)
    if results:
        from tritonscope.run_text import print_result, print_table

        console.print()
        for result in results:
            print_result(result, console)
        print_table(results, console)
    console.print()
    console.print(
        f"next: tritonscope diff {terminal.called(left)} {terminal.called(right)}", soft_wrap=True, markup=False
    )


def _summary(left: Capture, right: Capture) -> str:
    return keydiff.summarise(keydiff.compare(left.components, right.components))


def _verdict(pair: Paired) -> str:
    if pair.stat is None or pair.verdict != "differs":
        return f"{pair.stage} {pair.verdict.replace('_', ' ')}"
    return f"{pair.stage} {pair.stat.lines:,} lines"


def _print_partings(found: Sequence[Parting], console: "Console") -> None:
    from rich.table import Table

    if not found:
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("left", "right"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("after", overflow="fold")
    table.add_column("right has, of operations", overflow="fold")
    for each in found:
        most = sorted(each.operations.items(), key=lambda item: -abs(item[1]))
        words = [f"{count:+} {name}" for name, count in most[:_MOST_OPERATIONS]]
        rest = [".."] if len(most) > _MOST_OPERATIONS else []
        table.add_row(
            each.left_step,
            each.right_step,
            terminal.escape(each.pass_name),
            terminal.escape("  ".join([*words, *rest]) or "the same again"),
        )
    console.print(table)
    console.print()
