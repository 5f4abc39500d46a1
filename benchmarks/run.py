"""How fast the bundled kernels are on this GPU, beside cuBLAS and cuDNN, as `tritonscope run` measures it, three times.

    python benchmarks/run.py             all of it, about four minutes on an H200
    python benchmarks/run.py matmul      the parts whose name begins so

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. Every
kernel and size is checked first, in the same child: a figure without a passing check is none. A ratio is the baseline's
time over the kernel's, both timed in turns on the same tensors; what counts is the median of the ratios of three runs.
It prints "met" or "missed" beside each bar, and puts everything, with clocks, versions, and the command that measures a
row alone, into benchmarks/run.json. Standard library and tritonscope only.
"""

import argparse
import itertools
import json
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tritonscope import bundled_kernels, gpu, kernel_reference, runs  # noqa: E402
from tritonscope.errors import TritonscopeError  # noqa: E402
from tritonscope.model import RunResult, to_json  # noqa: E402
from tritonscope.sizes import parse_sizes  # noqa: E402

RESULTS = Path(__file__).with_name("run.json")
RUNS = 3
LAUNCHES = 50  # of each contender in a run


@dataclass(frozen=True)
class Part:
    """Kernels at sizes, beside a baseline: `bar` is the least ratio wanted, None where only the figure is."""

    name: str
    kernels: tuple[str, ...]
    sizes: tuple[str, ...]
    baseline: str
    bar: float | None = None

    @property
    def runs(self) -> int:
        """How often each size is run: what has a bar to meet, three times."""
        return RUNS if self.bar is not None else 1


HEADS = ("head_dim=64,128", "causal=0,1")
LENGTHS = {"4k": "tokens=4096,batch=4", "16k": "tokens=16384,batch=1"}
PARTS = (
    Part("matmul fp16, bf16", ("matmul",), ("M=N=K=4096,8192", "dtype=fp16,bf16"), "cuBLAS", 0.98),
    Part("matmul fp8", ("matmul",), ("M=N=K=4096,8192", "dtype=fp8e4m3", "layout=nt"), "cuBLAS", 0.95),
    *(
        Part(f"attention forward {length}", ("attention/gluon",), (size, *HEADS), "cuDNN", 0.90)
        for length, size in LENGTHS.items()
    ),
    *(
        Part(f"attention backward {length}", ("attention/backward",), (size, *HEADS), "cuDNN", 0.70)
        for length, size in LENGTHS.items()
    ),
    Part("matmul ladder", tuple(each.name for each in bundled_kernels.ladder("matmul")), ("M=N=K=4096",), "cuBLAS"),
    Part("matmul layouts", ("matmul",), ("M=N=K=4096", "dtype=fp16,fp32", "layout=nn,nt,tn,tt"), "cuBLAS"),
    Part("attention, portable", ("attention", "attention/tma"), (LENGTHS["16k"], *HEADS), "cuDNN"),
)


def planned(part: Part, asked: runs.Asked, dumps: Path, scratch: Path) -> list[runs.Unit]:
    """Every kernel and size of a part, compiled; the awkward sizes are checked once for a kernel, in its first part."""
    units = []
    for name in part.kernels:
        first = next(each for each in PARTS if name in each.kernels) is part
        mine = replace(asked, sizes=parse_sizes(part.sizes), seeds=asked.seeds if first else ())
        try:
            found = runs.plan(kernel_reference.find(name), mine, dumps, scratch)
        except TritonscopeError as error:
            print(f"{part.name}: {error}", flush=True)
            continue
        units += [unit if number == 0 else replace(unit, checked=(unit.main,)) for number, unit in enumerate(found)]
    return units


def repeated(part: Part, units: Sequence[runs.Unit]) -> list[runs.Unit]:
    """Each unit as often as it is run, the first time with its checks."""
    return [*units, *[replace(unit, checked=()) for unit in units] * (part.runs - 1)]


def progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def row(part: Part, results: Sequence[RunResult]) -> dict[str, Any]:
    check = results[0]
    ratios = [each.baselines[part.baseline]["ratio"] if part.baseline in each.baselines else None for each in results]
    whole = [ratio for ratio in ratios if ratio is not None]
    ratio = statistics.median(whole) if len(whole) == part.runs and check.correct else None
    kernel = next(name for name in part.kernels if kernel_reference.find(name).name == check.kernel)
    size = ",".join(f"{name}={value}" for name, value in check.size.items())
    return {
        "part": part.name,
        "command": f"tritonscope run {kernel} --size {size}",
        "kernel": kernel,
        "size": dict(check.size),
        "correct": check.correct,
        "error": check.error,
        "baseline": part.baseline,
        "ratios": ratios,
        "ratio": ratio,
        "bar": part.bar,
        "met": None if part.bar is None or ratio is None else ratio >= part.bar,
        "tflops": statistics.median(each.tflops or 0.0 for each in results),
        "runs": [to_json(each) for each in results],
    }


def print_row(found: dict[str, Any]) -> None:
    size = " ".join(f"{name}={value}" for name, value in found["size"].items())
    ratio = "none" if found["ratio"] is None else f"{found['ratio']:.3f}"
    verdict = {None: "", True: "met", False: f"missed ({found['bar']})"}[found["met"]]
    correct = "" if found["correct"] else f"NOT CORRECT {found['runs'][0]['fault'] or ''} "
    rate = f"{found['tflops']:7.1f} TFLOP/s"
    print(f"{correct}{ratio} x {found['baseline']}  {rate}  {found['kernel']} {size}  {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", nargs="*", default=[""], help="only the parts whose name begins so")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go")
    arguments = parser.parse_args()
    target = gpu.present()
    if target is None:
        raise SystemExit("there is no GPU here to measure")
    asked = runs.Asked(sys.executable, target, ("benchmarks/run.py", *sys.argv[1:]), seeds=(0,), repetitions=LAUNCHES)
    parts = [part for part in PARTS if part.name.startswith(tuple(arguments.prefix))]
    kept = json.loads(arguments.results.read_text()) if arguments.results.exists() else {"rows": []}
    with tempfile.TemporaryDirectory() as dumps, tempfile.TemporaryDirectory() as scratch:
        with ThreadPoolExecutor(len(parts)) as pool:
            units = list(pool.map(lambda part: planned(part, asked, Path(dumps), Path(scratch)), parts))
        every = [each for part, mine in zip(parts, units, strict=True) for each in repeated(part, mine)]
        results = runs.run(every, asked, progress)
        for part, mine in zip(parts, units, strict=True):
            found = list(itertools.islice(results, part.runs * len(mine)))
            rows = [row(part, found[number :: len(mine)]) for number in range(len(mine))]
            for each in rows:
                print_row(each)
            kept["rows"] = [each for each in kept["rows"] if each["part"] != part.name] + rows
            kept["machine"] = {"platform": platform.platform(), "python": platform.python_version()}
            arguments.results.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
