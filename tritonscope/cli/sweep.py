"""`tritonscope sweep`: every combination compiled, on all cores or on other machines, and what came of each."""

import argparse
import csv
import io
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonscope import gpu, interpreter, kernel_reference, runs, sweep, variants
from tritonscope.cli import compile as compile_command
from tritonscope.cli import one_kernel, terminal
from tritonscope.errors import ExitCode, Missing, UsageError
from tritonscope.model import Request, RunResult, Target, to_json
from tritonscope.sizes import parse_sizes
from tritonscope.store import layout, reader
from tritonscope.sweep import Point, Row

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """\
Compile a kernel for every combination of targets, sizes, configurations, constants and options, one on each core, and
show what each came to. With --run and a GPU each is checked and timed, too. A sweep that was cut off goes on with
--resume."""

_EPILOG = f"""\
examples:
  tritonscope sweep matmul --config all -t sm_90,sm_100
  tritonscope sweep matmul --size M=N=K=1024,4096 --config all --csv matmul.csv
  tritonscope sweep my_kernels.py:softmax --set BLOCK=256,512,1024 --option num_warps=4,8 --resume
  tritonscope sweep matmul --config all --dask tcp://head:8786
  tritonscope sweep matmul --size M=N=K=4096 --config all --run

Rows are kept as they come in DUMPS/{sweep.FILE}; --resume takes from there what was compiled before and is still there.
--size needs a spec; see 'tritonscope new-spec'. --dask spreads the compiles over a Dask cluster (pip install
'tritonscope[dask]'): its workers need tritonscope, triton, and the kernel's file at the same place; captures stay with
them, unless DUMPS is a shared folder.

--csv and --json have one row for each: {{identity, kernel, target, settings, size, status, message, capture, path,
  seconds, registers, spills, shared, lines}}; lines is the length of the PTX or AMDGCN, status that of a capture, or
  "refused". --csv goes on with ms, tflops, correct, and with --run --json has a "run", as 'tritonscope run --json'
  gives it, or null.

exit codes: 0 done; 1 with --run where a result is wrong; 2 wrong usage; 3 a variant did not compile; 5 triton, a GPU
  for --run, or Dask is missing; 130 interrupted."""

_COLUMNS = ("registers", "spills", "shared", "lines")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope sweep`."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument("kernel", metavar="KERNEL", help="a bundled name, or FILE.py:FUNCTION")
    parser.add_argument(
        "-t", "--target", action="append", default=[], metavar="T,..", help="targets (default: this GPU, else sm_90)"
    )
    parser.add_argument("-s", "--signature", metavar="S", help="as for compile")
    parser.add_argument("--size", action="append", default=[], metavar="N=V,..", help="sizes of the kernel's spec")
    parser.add_argument("--config", metavar="N|all", help="which configurations (default: the first)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V,..", help="values of a constexpr")
    parser.add_argument("--option", action="append", default=[], metavar="K=V,..", help="num_warps=4,8 and so on")
    parser.add_argument("--run", action="store_true", help="check and time each on this machine's GPU")
    parser.add_argument("--resume", action="store_true", help="leave out what an earlier sweep has done")
    parser.add_argument("--csv", metavar="FILE", help="write the table there, too; - is standard output")
    parser.add_argument(
        "-j", "--jobs", type=one_kernel.count, metavar="N", help="compilations at a time (default: one a core)"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="compile on the Dask cluster with this scheduler")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton compiles")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compile them all; returns the exit code."""
    if args.run and gpu.present() is None:
        raise Missing("there is no GPU here to run them on; leave --run out to compile them alone")
    _check_csv(args.csv)
    python, dumps = interpreter.choose(args.python), layout.dumps_folder(args.dumps)
    points = _points(args, python)
    dumps.mkdir(parents=True, exist_ok=True)
    known = sweep.known_rows(dumps, {point.identity(python) for point in points}) if args.resume else {}
    left = [point for point in points if point.identity(python) not in known]
    if known:
        terminal.say(f"{len(known)} of {len(points)} were done before")
    rows = {}
    try:
        with _executor(args, len(left)) as executor:
            command = ["tritonscope", *sys.argv[1:]]
            for row in sweep.sweep(left, executor, python=python, dumps=dumps, command=command):
                rows[row.identity] = row
                _say_progress(len(rows), len(left), row)
    except KeyboardInterrupt:
        terminal.say(f"{len(left) - len(rows)} were not begun or not finished; --resume goes on with them")
        _show(_in_order(points, python, {**known, **rows}), {}, args)
        raise
    found = _in_order(points, python, {**known, **rows})
    results = _run_all(points, found, python) if args.run else {}
    _show(found, results, args)
    if any(result.correct is False or result.fault for result in results.values()):
        return ExitCode.DIFFERS
    return ExitCode.DONE if all(row.status == "ok" for row in found) else ExitCode.NOT_COMPILED


def _in_order(points: Sequence[Point], python: str, rows: dict[str, Row]) -> list[Row]:
    identities = [point.identity(python) for point in points]
    return [rows[identity] for identity in identities if identity in rows]


# -- what is asked for


def _check_csv(name: str | None) -> None:
    """Raise UsageError where no table can be written at the end, before there is a sweep of hours."""
    if name in (None, "-"):
        return
    path = Path(name or "")
    if path.is_dir() or not path.parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise UsageError(f"{path} cannot be written ({why}); choose another place with --csv")


def _points(args: argparse.Namespace, python: str) -> list[Point]:
    """Every combination; raises UsageError for what does not parse."""
    if args.size:
        if args.signature is not None:
            raise UsageError("--size says what the arguments are, and so does --signature; give one of them")
        found = list(_sized(args, python))
    else:
        planned = argparse.Namespace(
            **{**dict.fromkeys(compile_command.OPTIONS), **vars(args)},
            kernels=[args.kernel],
            env=[],
            skip_pass=[],
            stop_after=None,
            llvm_passes=False,
            verify=False,
            timeout=None,
        )
        found = [Point(job.request, _settings(job.request)) for job in compile_command.plan(planned, python)]
    return list({point.identity(python): point for point in found}.values())


def _sized(args: argparse.Namespace, python: str) -> Iterator[Point]:
    targets = [Target.parse(text) for given in args.target for text in variants.split(given)]
    constants = variants.product(variants.assignments("--set", args.set))
    options = variants.product(variants.assignments("--option", args.option))
    config = int(args.config) if args.config and args.config.isdecimal() else args.config
    if config not in (None, "all") and not isinstance(config, int):
        raise UsageError(f"--config {config!r} is not understood; give a number from 0, or 'all'")
    kernel = kernel_reference.find(args.kernel)
    for target in targets or [compile_command.default_target()]:
        for chosen in constants:
            for given in options:
                asked = runs.Asked(
                    python, target, (), parse_sizes(args.size), constants=chosen, options=given, config=config
                )
                yield from sweep.of_sizes(kernel, asked)


def _settings(request: Request) -> dict[str, str]:
    config = {} if request.config is None else {"config": str(request.config)}
    return {**config, **request.constants, **request.options}


@contextmanager
def _executor(args: argparse.Namespace, points: int) -> Iterator[Executor]:
    """One process a core: recording a compile takes Python's lock as often as not. Or a cluster's."""
    if args.dask is None:
        workers = max(1, min(args.jobs or os.cpu_count() or 1, points))
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError:
        raise Missing("--dask needs Dask's scheduler; pip install 'tritonscope[dask]'") from None
    try:
        client = Client(args.dask, timeout="10s")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"there is no Dask scheduler at {args.dask} ({error}); start one with `dask scheduler`"
        ) from None
    with client:
        yield client.get_executor()


# -- what came of it


def _say_progress(done: int, of: int, row: Row) -> None:
    if sys.stderr.isatty():
        ended = "\n" if done == of else ""
        print(
            f"\r\x1b[K{done} of {of}  {terminal.escape(_words(row.settings))[:80]}",
            end=ended,
            file=sys.stderr,
            flush=True,
        )


def _run_all(points: Sequence[Point], rows: Sequence[Row], python: str) -> dict[str, RunResult]:
    """By identity, the run of each that compiled for this machine's GPU."""
    target = gpu.present()
    assert target is not None
    sizes = {point.identity(python): point.size for point in points}
    asked = runs.Asked(python, target, ("tritonscope", *sys.argv[1:]), seeds=(0,))
    runnable = [row for row in rows if row.status == "ok" and row.target == target.name and row.path]
    units = [
        runs.plan_capture(reader.open_capture(Path(row.path or "")), replace(asked, sizes=[sizes[row.identity]]))[0]
        for row in runnable
    ]
    found = runs.run(units, asked, lambda text: None)
    return {row.identity: result for row, result in zip(runnable, found, strict=True)}


def _show(rows: Sequence[Row], results: dict[str, RunResult], args: argparse.Namespace) -> None:
    if args.csv is not None:
        text = _as_csv(rows, results)
        if args.csv == "-":
            sys.stdout.write(text)
        else:
            terminal.write_file(Path(args.csv), text.encode(), "--csv")
    if args.json:
        for row in rows:
            run = {"run": to_json(results[row.identity]) if row.identity in results else None} if args.run else {}
            terminal.print_json_line({**asdict(row), **run})
    elif args.csv != "-":
        _print_table(rows, results, terminal.console())


def _as_csv(rows: Sequence[Row], results: dict[str, RunResult]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [each.name for each in fields(Row)]
    writer.writerow([*names, "ms", "tflops", "correct"])
    for row in rows:
        result = results.get(row.identity)
        values = asdict(row) | {"size": _words(row.size), "settings": _words(row.settings)}
        measured = [result.ms and result.ms["median"], result.tflops, result.correct] if result else ["", "", ""]
        writer.writerow([*(values[name] for name in names), *measured])
    return text.getvalue()


def _print_table(rows: Sequence[Row], results: dict[str, RunResult], console: "Console") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("target", "settings", "status"):
        table.add_column(name, overflow="fold")
    for name in ("s", *_COLUMNS, *(("ms", "TFLOP/s") if results else ())):
        table.add_column(name, justify="right", no_wrap=True)
    first = rows[0].settings if len(rows) > 1 else {}
    everywhere = {name: value for name, value in first.items() if all(row.settings.get(name) == value for row in rows)}
    apart = [{name: value for name, value in row.settings.items() if name not in everywhere} for row in rows]
    if everywhere:
        console.print(f"all with {terminal.escape(_words(everywhere))}", style="dim", soft_wrap=True, markup=False)
    for row, settings in zip(rows, apart, strict=True):
        result = results.get(row.identity)
        median = result.ms["median"] if result and result.ms else None
        measured = [_number(median), _number(result.tflops if result else None)]
        status = row.status if result is None or result.correct is not False else "WRONG"
        table.add_row(
            row.target,
            terminal.escape(_words(settings)),
            status,
            _number(row.seconds),
            *("" if (value := getattr(row, name)) is None else f"{value:,}" for name in _COLUMNS),
            *(measured if results else []),
        )
    console.print(table)
    for row, settings in zip(rows, apart, strict=True):
        if row.message:
            # What was refused may come with a suggestion in further lines; what failed, with the IR.
            lines = row.message.splitlines() if row.status == "refused" else row.message.splitlines()[:1]
            lines[0] = f"{f'{row.target} {_words(settings)}'.rstrip()}: {lines[0]}"
            for line in lines:
                console.print(terminal.escape(line), soft_wrap=True, markup=False)


def _words(settings: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
