"""How fast the bundled kernels are on this GPU, beside cuBLAS and cuDNN: what `tritonscope run` says, three times over.

    python benchmarks/run.py             all of it, about five minutes on an H200
    python benchmarks/run.py matmul      the parts whose name begins so

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. Every run
checks the results before it times them; a figure without a passing check is none. A ratio is the baseline's time over
the kernel's, both timed in turns in one run, on the same tensors; what counts is the median of the three runs' ratios.
It prints "met" or "missed" beside each bar, and puts everything, the commands and clocks included, into
benchmarks/run.json. Standard library only.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("run.json")
RUNS = 3


@dataclass(frozen=True)
class Part:
    """One command: its name here, the kernel, its sizes, the baseline, and the least ratio wanted."""

    name: str
    kernel: str
    arguments: tuple[str, ...]
    baseline: str
    bar: float | None


def sized(*texts: str) -> tuple[str, ...]:
    return tuple(word for text in texts for word in ("--size", text))


ATTENTION = ("head_dim=64,128", "causal=0,1")
PARTS = (
    Part("matmul fp16, bf16", "matmul", (*sized("M=N=K=4096,8192", "dtype=fp16,bf16"),), "cuBLAS", 0.98),
    Part("matmul fp8", "matmul", (*sized("M=N=K=4096,8192", "dtype=fp8e4m3", "layout=nt")), "cuBLAS", 0.95),
    Part("attention 4k", "attention", (*sized("tokens=4096,batch=4", *ATTENTION)), "cuDNN", 0.90),
    Part("attention 16k", "attention", (*sized("tokens=16384,batch=1", *ATTENTION)), "cuDNN", 0.90),
    Part("attention/backward 4k", "attention/backward", (*sized("tokens=4096,batch=4", *ATTENTION)), "cuDNN", 0.70),
    Part("attention/backward 16k", "attention/backward", (*sized("tokens=16384,batch=1", *ATTENTION)), "cuDNN", 0.70),
    Part("ladder", "matmul", ("--ladder",), "cuBLAS", None),
)


def measured(part: Part, folder: str) -> Iterator[dict[str, Any]]:
    """One row for each size (rung, for the ladder): the ratio of every run, and each run's whole result."""
    words = ["run", *([part.kernel] * RUNS), *part.arguments, "--seeds", "1", "--json"]
    command = [sys.executable, "-m", "tritonscope", *words, "-o", folder]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"{part.name}: exit code {done.returncode} {done.stderr.strip()}", flush=True)
    runs: dict[str, list[dict[str, Any]]] = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        runs.setdefault(json.dumps([result["kernel"], result["size"]]), []).append(result)
    for results in runs.values():
        ratios = [each["baselines"].get(part.baseline, {}).get("ratio") for each in results]
        checked = all(each["correct"] is True for each in results)
        whole = [ratio for ratio in ratios if ratio is not None]
        ratio = statistics.median(whole) if len(whole) == RUNS and checked else None
        yield {
            "part": part.name,
            "command": " ".join(["tritonscope", *words]),
            "kernel": results[0]["kernel"],
            "size": results[0]["size"],
            "correct": checked,
            "baseline": part.baseline,
            "ratios": ratios,
            "ratio": ratio,
            "bar": part.bar,
            "met": None if part.bar is None or ratio is None else ratio >= part.bar,
            "tflops": statistics.median(each["tflops"] or 0.0 for each in results),
            "runs": list(results),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", nargs="?", default="", help="only the parts whose name begins so")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go")
    arguments = parser.parse_args()
    chosen = [part for part in PARTS if part.name.startswith(arguments.prefix)]
    kept = json.loads(arguments.results.read_text()) if arguments.results.exists() else {"rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for part in chosen:
            rows = list(measured(part, folder))
            kept["rows"] = [row for row in kept["rows"] if row["part"] != part.name] + rows
            for row in rows:
                print_row(row)
            kept["parts"] = [asdict(each) for each in PARTS]
            kept["machine"] = {"platform": platform.platform(), "python": platform.python_version()}
            arguments.results.write_text(json.dumps(kept, indent=1) + "\n")


def print_row(row: dict[str, Any]) -> None:
    size = " ".join(f"{name}={value}" for name, value in row["size"].items())
    ratio = "none" if row["ratio"] is None else f"{row['ratio']:.3f}"
    verdict = {None: "", True: "met", False: f"missed ({row['bar']})"}[row["met"]]
    correct = "" if row["correct"] else "WRONG "
    print(
        f"{correct}{ratio} x {row['baseline']}  {row['tflops']:7.1f} TFLOP/s  {row['kernel']} {size}  {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
