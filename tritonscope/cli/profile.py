"""`tritonscope profile`: where the time of a kernel goes, by Nsight Compute, on its lines."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from tritonscope import gpu, interpreter, ncu, runs, variants
from tritonscope.calls import parse_call
from tritonscope.cli import terminal
from tritonscope.cli.lines import lines_to_show
from tritonscope.cli.run import parse_grid, subject
from tritonscope.cli.status_line import StatusLine
from tritonscope.engine.client import Cancel
from tritonscope.errors import ExitCode, Missing, UsageError
from tritonscope.hot_lines import HotLines, Tally
from tritonscope.line_links import Links
from tritonscope.model import Capture, KernelRef, Profile, Target, to_json
from tritonscope.profile_summary import STALLS, Summary, limit, summary_of
from tritonscope.profile_text import HotLine, print_hot, print_marked, print_summary, short_place
from tritonscope.sizes import parse_sizes
from tritonscope.store import layout, profiles

__all__ = ["add_arguments", "run"]

DESCRIPTION = """\
Profile one launch of a kernel with Nsight Compute, and put what it measured on the lines of SASS, PTX, IR and Python:
how near to which peak, why warps wait, and where. A capture is launched as it is, its own binary; a kernel (a bundled
name, or FILE.py:FUNCTION) is compiled first, for the size. It needs an NVIDIA GPU, PyTorch, Nsight Compute (ncu), and
the right to read the GPU's counters. The profile stays in the capture: --last shows it anywhere, without a GPU."""

_STALLS = "\n".join(f"  {name:17}{words}" for name, words in STALLS.items())

EPILOG = f"""\
examples:
  tritonscope profile matmul --size M=N=K=4096
  tritonscope profile matmul/sm_90-c80bc --report matmul.ncu-rep
  tritonscope profile matmul --last
  tritonscope profile matmul --last --stage ttgir
  tritonscope profile scale/sm_90-1f91f --call "x=fp32[4096], n=4096, factor=2.0" --grid 32

what is measured: one launch after three to warm up, over and over for different counters, with cold caches and the
clocks as they are (--clock-control none). Beside it a sampler notes for each warp which instruction it is at and, where
it does not go on, why:
{_STALLS}

on which lines: SASS by its addresses; PTX by what the binary says; IR by the line and column of Python that an
instruction came from, so that operations from the same place have the same samples. --stage prints a whole text with
the share of all samples in front of each line; its lines are numbered as by `tritonscope dump`.

--json: {{capture, path, kernel, size, config, device, created, command, tool, notes, limit, summary: {{microseconds,
  cycles, compute_percent, memory_percent, tensor_percent, dram_percent, l2_percent, l1_percent, l2_hit_percent,
  occupancy_percent, possible_occupancy_percent, registers, blocks, threads, waves, instructions_per_cycle}}, samples,
  not_issued, stalls: {{reason: samples}}, nowhere: samples of no line of Python, python: [{{file, line, text, samples,
  not_issued, executed, stalls}}], stages: {{stage: [{{line, text, samples, not_issued, executed, stalls, shared: on how
  many lines these samples are}}]}}, metrics: {{name: number}}, units: {{name: unit}}}}; what is not known is left out
  of summary; --stage takes one stage alone.
  The profile itself is profile.json in the capture.

exit codes: 0 done; 2 wrong usage, including the spec; 3 the kernel did not compile; 4 the launch or Nsight Compute
failed or did not end in time; 5 no NVIDIA GPU, no PyTorch, no ncu, or no permission; 130 interrupted."""

_TIMEOUT = 300.0
_TOP = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope profile`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("name", metavar="KERNEL|CAPTURE", help="what to profile")
    parser.add_argument("--last", action="store_true", help="show the profile that the capture keeps; nothing is run")
    parser.add_argument("--stage", metavar="S", help="print that text, or python, with its samples")
    parser.add_argument("--top", type=int, default=_TOP, metavar="N", help=f"the hottest N lines (default: {_TOP})")
    parser.add_argument(
        "--size", action="append", default=[], metavar="N=V,..", help="the spec's sizes, one value for each"
    )
    parser.add_argument(
        "--config", type=int, metavar="N", help="which of the spec's configurations, from 0 (default: the best)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="num_warps=4 and so on")
    parser.add_argument("--call", metavar="C", help='without a spec: "x=fp32[64,1024], n=1024", as for key --call')
    parser.add_argument("--grid", metavar="X,Y,Z", help="with --call: the grid (default: 1)")
    parser.add_argument("--report", metavar="FILE", help="keep Nsight Compute's own report, for ncu-ui")
    parser.add_argument("--ncu", metavar="PATH", help="Nsight Compute's ncu (default: the one on the path)")
    terminal.add_timeout_option(parser, "the profiling", _TIMEOUT)
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton and torch run it")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Profile what was asked for, or show what was kept; returns the exit code."""
    if args.top < 1:
        raise UsageError("--top takes a number from 1 on")
    if args.last:
        capture = terminal.open_capture(args.name, args)
        kept = profiles.profile_of(capture)
        if kept is None:
            raise UsageError(
                f"{capture.capture} has no profile; on a machine with a GPU `tritonscope profile "
                f"{terminal.called(capture)}` makes one"
            )
        profile = kept
    else:
        capture, profile = _profiled(args)
        _keep(profile, capture)
    _show(capture, profile, args)
    return ExitCode.DONE


# -- making it


def _profiled(args: argparse.Namespace) -> tuple[Capture, Profile]:
    target = _nvidia(args.name)
    tool = ncu.find(args.ncu)
    asked = runs.Asked(
        python=interpreter.choose(args.python),
        target=target,
        command=("tritonscope", *sys.argv[1:]),
        sizes=parse_sizes(args.size),
        seeds=(),
        constants=variants.single("--set", args.set),
        options=variants.single("--option", args.option),
        config=args.config,
        timeout=args.timeout,
        cancel=Cancel(),
        **_call(args),
    )
    report = None if args.report is None else layout.expand(args.report)
    progress = StatusLine(not args.json)
    try:
        unit = _unit(args, asked, progress)
        return unit.main.capture, ncu.profile(tool, unit, asked, report, progress.show)
    finally:
        progress.clear()


def _nvidia(name: str) -> Target:
    present = gpu.present()
    if present is None:
        raise Missing(
            "there is no GPU here; profile where there is one, copy the capture's folder, and "
            f"'tritonscope profile {name} --last' shows it here"
        )
    if present.backend != "cuda":
        raise Missing(f"Nsight Compute profiles NVIDIA's GPUs, and the one here is {present.name}")
    return present


def _call(args: argparse.Namespace) -> dict[str, Any]:
    if args.call is None:
        if args.grid is not None:
            raise UsageError("--grid goes with --call; a spec has a grid of its own")
        return {}
    return {"call": parse_call(args.call), "grid": parse_grid(args.grid) if args.grid is not None else (1,)}


def _unit(args: argparse.Namespace, asked: runs.Asked, progress: StatusLine) -> runs.Unit:
    """What to launch: the one size of a capture, or of a kernel that is compiled for it."""
    what = subject(args.name, args)
    if isinstance(what, KernelRef):
        progress.show(f"compiling {what.name}")
        with tempfile.TemporaryDirectory(prefix="tritonscope-profile-") as scratch:
            units = runs.plan(what, asked, layout.dumps_folder(args.dumps), Path(scratch))
    else:
        units = runs.plan_capture(what, asked)
    if len(units) != 1:
        raise UsageError("profile takes one size; give one value for each name of --size")
    return units[0]


def _keep(profile: Profile, capture: Capture) -> None:
    try:
        profiles.keep(profile, Path(capture.path))
    except OSError as error:
        terminal.say(f"the profile could not be kept in {capture.path} ({error.strerror}), so --last will not show it")


# -- showing it


def _show(capture: Capture, profile: Profile, args: argparse.Namespace) -> None:
    summary = summary_of(profile)
    links = Links(capture)
    hot = HotLines(profile, links)
    if args.json:
        terminal.print_json(_json(capture, profile, summary, links, hot, args.stage))
    elif args.stage == "python":
        _print_python(links, hot, summary.samples)
    elif args.stage is not None:
        listing = links.stage(args.stage)
        tallies = hot.of_stage(args.stage)
        lines = [
            HotLine(str(n), text, tallies.get(n))
            for n, text in enumerate(listing.lines, 1)
            if text or n < len(listing.lines)
        ]
        print_marked(lines, summary.samples, terminal.console())
    else:
        _print_all(capture, profile, summary, links, hot, args.top)


def _print_all(capture: Capture, profile: Profile, summary: Summary, links: Links, hot: HotLines, top: int) -> None:
    console = terminal.console()
    print_summary(profile, summary, capture.capture, console)
    python = [
        HotLine(short_place(place.file, place.line), links.python_line(place.file, place.line) or "", tally)
        for place, tally in hot.of_python().items()
    ]
    print_hot("Python", _hottest(python, top), summary.samples, console)
    for stage in ("ptx", "sass"):
        if stage in links.stages:
            lines = links.stage(stage).lines
            found = [HotLine(str(n), lines[n - 1], tally) for n, tally in hot.of_stage(stage).items()]
            print_hot(stage.upper(), _hottest(found, top), summary.samples, console)


def _hottest(lines: list[HotLine], top: int) -> list[HotLine]:
    sampled = [line for line in lines if line.tally is not None and line.tally.samples]
    return sorted(sampled, key=lambda line: -line.tally.samples if line.tally else 0)[:top]


def _print_python(links: Links, hot: HotLines, total: int) -> None:
    """The functions that anything was seen of, and of files that the capture has not, the lines."""
    from rich.text import Text

    console = terminal.console()
    tallies = hot.of_python()
    for file in sorted({place.file for place in tallies}, key=lambda file: (file != links.kernel_file, file)):
        console.print(Text(terminal.escape(file), style="bold"), soft_wrap=True)
        of_file = {place.line: tally for place, tally in tallies.items() if place.file == file}
        lines = [
            HotLine(str(n), links.python_line(file, n) or "", of_file.get(n))
            for n in lines_to_show(links, file, of_file)
        ]
        print_marked(lines, total, console)


def _json(
    capture: Capture, profile: Profile, summary: Summary, links: Links, hot: HotLines, stage: str | None
) -> dict[str, Any]:
    stages = [stage] if stage not in (None, "python") else links.stages if stage is None else []
    head = {"capture": capture.capture, "path": capture.path, **to_json(profile)}
    del head["instructions"]
    return head | {
        "limit": limit(summary),
        "summary": dict(summary.numbers),
        "samples": summary.samples,
        "not_issued": summary.not_issued,
        "stalls": dict(summary.stalls),
        "nowhere": hot.nowhere,
        "python": [
            {"file": place.file, "line": place.line, "text": links.python_line(place.file, place.line), **_seen(tally)}
            for place, tally in sorted(hot.of_python().items())
        ],
        "stages": {
            name: [
                {"line": line, "text": links.stage(name).lines[line - 1], **_seen(tally), "shared": tally.shared}
                for line, tally in hot.of_stage(name).items()
            ]
            for name in stages
        },
    }


def _seen(tally: Tally) -> dict[str, Any]:
    return {
        "samples": tally.samples,
        "not_issued": tally.not_issued,
        "executed": tally.executed,
        "stalls": dict(tally.stalls.most_common()),
    }
