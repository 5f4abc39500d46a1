"""How well `tritonscope sweep` uses the cores: the same compiles one at a time, and one a core.

    python benchmarks/sweep.py

Run it on an otherwise idle machine, with a Python that has Triton. Efficiency is what one at a time takes, over what
all cores take times their number; a core that shares its caches, clock or host with busy ones is slower than one by
itself, so the bar is for the same with "one at a time" done on every core at once, each for itself: what a sweep loses
by starting, handing out and collecting. It prints "met" or "missed" beside the bar, and puts all figures into
benchmarks/sweep.json.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("sweep.json")
BAR = 0.9
ROUNDS = 3
POINTS_A_CORE = 10


def seconds(jobs: int, points: int, sweeps: int = 1) -> float:
    """Wall time of so many sweeps at once, each with so many compiles at a time."""
    with ThreadPoolExecutor(sweeps) as pool:
        start = time.perf_counter()
        for each in [pool.submit(sweep, jobs, points) for _ in range(sweeps)]:
            each.result()
        return time.perf_counter() - start


def sweep(jobs: int, points: int) -> None:
    """One sweep, with so many compiles at a time."""
    blocks = "16,32,64,128"
    stages = ",".join(str(2 + number) for number in range(-(-points // 4)))
    with tempfile.TemporaryDirectory() as dumps:
        command = [sys.executable, "-m", "tritonscope", "sweep", "matmul/tiled", "-t", "sm_80", "-o", dumps]
        command += ["--set", f"BLOCK_K={blocks}", "--option", f"num_stages={stages}", "-j", str(jobs), "--csv", "-"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    if done.stdout.count(",ok,") < points:
        raise SystemExit(f"the sweep failed: {done.stderr}")


def main() -> None:
    cores = os.cpu_count() or 1
    points = 4 * -(-POINTS_A_CORE * cores // 4)
    rounds = []
    for _ in range(ROUNDS):
        one, apart, all_ = seconds(1, points), seconds(1, points, cores), seconds(cores, points)
        rounds.append({"one": one, "each core for itself": apart, "all": all_})
    of_one = statistics.median(each["one"] / (cores * each["all"]) for each in rounds)
    of_cores = statistics.median(each["each core for itself"] / (cores * each["all"]) for each in rounds)
    met = of_cores >= BAR
    verdict = "met" if met else "missed"
    print(
        f"efficiency {of_cores:.2f} of {cores} busy cores, bar {BAR}: {verdict}; {of_one:.2f} of {cores} times one core"
    )
    found = {
        "efficiency": {"value": of_cores, "bar": BAR, "met": met, "of_one_core": of_one},
        "points": points,
        "seconds": rounds,
        "versions": {"triton": version("triton"), "python": platform.python_version()},
        "machine": {"platform": platform.platform(), "cores": cores},
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
