"""`tritonscope run`: is it right, and how fast is it."""

import argparse
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tritonscope import bundled_kernels, gpu, interpreter, kernel_reference, runs, variants
from tritonscope.calls import parse_call
from tritonscope.cli import terminal
from tritonscope.cli.status_line import StatusLine
from tritonscope.engine.client import Cancel, head_start
from tritonscope.errors import ExitCode, Missing, UsageError
from tritonscope.model import Capture, KernelRef, RunResult, Target, to_json
from tritonscope.sizes import parse_sizes
from tritonscope.store import layout

DESCRIPTION = """\
Run compiled kernels on this machine's GPU: first whether what they compute is right, then how long they take. A capture
is run as it is, its own binary and not a recompile; a kernel (a bundled name, or FILE.py:FUNCTION) is compiled first,
for each size as a launch at that size would. How a kernel is called and what is right stands in its spec
(docs/specs.md; 'tritonscope new-spec' writes one). Running a capture runs the code in it: take care whose it is."""

EPILOG = """\
examples:
  tritonscope run matmul
  tritonscope run matmul --size M=N=K=1k,2k,4k,8k --size dtype=bf16
  tritonscope run matmul --ladder
  tritonscope run matmul/sm_90-c80bc --size M=8192
  tritonscope run matmul/sm_90-ef086 --beside matmul/sm_90-c80bc
  tritonscope run attention --interpret
  tritonscope run scale/sm_90-1f91f --call "x=fp32[4096], n=4096, factor=2.0" --grid 32

what is checked, on fresh random inputs from several seeds, at the size itself and at the spec's further sizes:
  reference  the relative Frobenius error and the largest of one element, against the spec's float64 or float32
             reference, --against's results, or Triton's interpreter where the size is small
  written    every element of a poisoned output was written
  bounds     nothing was written beside the outputs
  repeats    two runs agree bit for bit, unless the spec calls the kernel not deterministic
  inputs     the inputs are as they were
  finite     no NaN and no infinity that the reference does not have

what is timed: device events around one launch, the L2 cache flushed before each, inputs taken in turn, kernel and
  baselines in turn; median and quartiles. TFLOP/s and GB/s are by the spec's formulas; ceilings are what PyTorch's
  matrix product and a copy reach on this device, measured once and kept.

--json: one object a line:
  {capture, kernel, target, size, config, device, created, command, correct: true | false | null (nothing says what is
   right), checked_by, checks: [{name, passed, detail, cases}], error: {output, size, relative, max_abs, max_relative,
   worst_index}, ms: {median, q1, q3, n}, tflops, gbps, ceilings, of_ceiling: {tflops, gbps},
   baselines: {name: {ms, ratio, q1, q3}}, grid, occupancy: {blocks, warps, of},
   clocks: {before, after: {sm_mhz, memory_mhz, power_w, temperature_c}}, fault, notes: [..]}
  It is added to runs.jsonl in the capture, too.

exit codes:
  0 right, or nothing was checked; 1 a check failed; 2 wrong usage, including the spec; 3 the kernel did not compile;
  4 a launch failed, hung or crashed; 5 no GPU, no PyTorch, no triton, or another GPU than the binary is for;
  130 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope run`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("names", nargs="+", metavar="KERNEL|CAPTURE", help="what to run")
    parser.add_argument(
        "--size", action="append", default=[], metavar="N=V,..", help="the spec's sizes; lists make every combination"
    )
    parser.add_argument("--ladder", action="store_true", help="every rung of the kernel's ladder, one after the other")
    parser.add_argument(
        "--config", metavar="N|all", help="which of the spec's configurations, from 0 (default: the best)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="num_warps=4 and so on")
    parser.add_argument(
        "--seeds", type=_count, default=2, metavar="N", help="sets of inputs to check with (default: 2)"
    )
    parser.add_argument("--reps", type=_count, metavar="N", help="launches to time (default: as many as are worth it)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="check, and do not time")
    only.add_argument("--time", action="store_true", help="time, and do not check: the result is labelled unchecked")
    only.add_argument("--interpret", action="store_true", help="check on the CPU with Triton's interpreter; no GPU")
    parser.add_argument("--against", metavar="CAPTURE", help="check against what this capture computes")
    parser.add_argument(
        "--beside", metavar="CAPTURE", help="check this capture, too, and time the two in turn, as a baseline"
    )
    parser.add_argument("--call", metavar="C", help='without a spec: "x=fp32[64,1024], n=1024", as for key --call')
    parser.add_argument("--grid", metavar="X,Y,Z", help="with --call: the grid (default: 1)")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="give a launch up after S seconds (default: 60)"
    )
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton and torch run it")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run what was asked for; returns the exit code."""
    results = []
    progress = StatusLine(not args.json)
    for result in _results(_asked(args), args, progress):
        progress.clear()
        results.append(result)
        if args.json:
            terminal.print_json_line(to_json(result))
        else:
            from tritonscope.run_text import print_result

            print_result(result, terminal.console())
    progress.clear()
    if not args.json and len(results) > 1:
        from tritonscope.run_text import print_table

        print_table(results, terminal.console())
    if any(result.fault for result in results):
        return ExitCode.CHILD_DIED
    return ExitCode.DIFFERS if any(result.correct is False for result in results) else ExitCode.DONE


def _results(asked: runs.Asked, args: argparse.Namespace, progress: StatusLine) -> Iterator[RunResult]:
    if args.interpret:
        for kernel in _kernels(args):
            progress.show(f"interpreting {kernel.name}")
            yield from runs.interpret(kernel, asked, own_sizes=not args.size)
        return
    dumps = layout.dumps_folder(args.dumps)
    if args.ladder:
        named: list[KernelRef | Capture] = list(_kernels(args))
    else:
        known = {name: subject(name, args) for name in dict.fromkeys(args.names)}
        named = [known[name] for name in args.names]
    _needs_gpu(args)

    def planned(each: KernelRef | Capture, scratch: Path) -> list[runs.Unit]:
        if isinstance(each, KernelRef):
            progress.show(f"compiling {each.name}")
            return runs.plan(each, asked, dumps, scratch)
        return runs.plan_capture(each, asked)

    with (
        tempfile.TemporaryDirectory(prefix="tritonscope-run-") as scratch,
        head_start(asked.python, "run"),
        ThreadPoolExecutor(min(len(named), os.cpu_count() or 1)) as pool,
    ):
        try:
            # One that is named several times is run as often, and compiled once.
            once = {id(each): each for each in named}
            found = dict(zip(once, pool.map(planned, once.values(), itertools.repeat(Path(scratch))), strict=True))
            units = [unit for each in named for unit in found[id(each)]]
            if asked.beside is not None and asked.seeds:
                units += [replace(unit, timed=False) for unit in runs.plan_capture(asked.beside, asked)]
        except KeyboardInterrupt:
            asked.cancel.cancel()  # else the pool would wait for what it compiles
            raise
        yield from runs.run(units, asked, progress.show)


def _asked(args: argparse.Namespace) -> runs.Asked:
    if args.beside and args.interpret:
        raise UsageError("--beside times two binaries on a GPU, and --interpret runs neither; leave one of them out")
    call = parse_call(args.call) if args.call is not None else None
    if args.grid is not None and call is None:
        raise UsageError("--grid goes with --call; a spec has a grid of its own")
    config = args.config
    if config is not None and config != "all":
        if not config.isdigit():
            raise UsageError(f"--config {config!r} is not understood; write --config 0, or --config all")
        config = int(config)
    return runs.Asked(
        python=interpreter.choose(args.python),
        target=gpu.present() or Target.parse("sm_90"),
        command=("tritonscope", *sys.argv[1:]),
        sizes=parse_sizes(args.size),
        seeds=() if args.time else tuple(range(args.seeds)),
        timing=not args.check,
        repetitions=args.reps,
        constants=variants.single("--set", args.set),
        options=variants.single("--option", args.option),
        config=config,
        timeout=args.timeout,
        against=terminal.open_capture(args.against, args) if args.against else None,
        beside=terminal.open_capture(args.beside, args) if args.beside else None,
        cancel=Cancel(),
        call=call,
        grid=parse_grid(args.grid) if args.grid is not None else (1,),
    )


def parse_grid(text: str) -> tuple[int, ...]:
    """The grid of --grid; raises UsageError."""
    parts = [part.strip() for part in text.split(",")]
    if not 1 <= len(parts) <= 3 or not all(part.isdigit() for part in parts):
        raise UsageError(f"--grid {text!r} is not understood; write one to three numbers, as in --grid 32,16")
    return tuple(int(part) for part in parts)


def subject(name: str, args: argparse.Namespace) -> KernelRef | Capture:
    """A kernel where it is called like one, else a capture."""
    bundled = {kernel.name for kernel in bundled_kernels.kernels()}
    if args.call is None and (name in bundled or ".py" in name):
        return kernel_reference.find(name)
    return terminal.open_capture(name, args)


def _kernels(args: argparse.Namespace) -> Iterator[KernelRef]:
    """The kernels themselves: for --ladder every rung, in its order."""
    for name in args.names:
        if not args.ladder:
            yield kernel_reference.find(name)
            continue
        rungs = bundled_kernels.ladder(name)
        if not rungs:
            raise UsageError(f"{name} has no ladder; there are {', '.join(bundled_kernels.ladders())}")
        yield from (kernel_reference.find(rung.name) for rung in rungs)


def _needs_gpu(args: argparse.Namespace) -> None:
    if gpu.present() is None:
        names = " ".join(args.names)
        raise Missing(f"there is no GPU here; 'tritonscope run {names} --interpret' checks small sizes on the CPU")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
