"""How well `tritonscope sweep` uses the cores: the same compiles one at a time, and one a core.

    python benchmarks/sweep.py

Run it on an otherwise idle machine, with a Python that has Triton. Efficiency is what one at a time takes, over what
all cores take times their number. It prints "met" or "missed" beside the bar, and puts the figures into
benchmarks/sweep.json.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("sweep.json")
BAR = 0.9
ROUNDS = 3
POINTS_A_CORE = 6


def seconds(jobs: int, points: int) -> float:
    """Wall time of a sweep with so many compiles at a time."""
    blocks = "16,32,64,128"
    stages = ",".join(str(2 + number) for number in range(-(-points // 4)))
    with tempfile.TemporaryDirectory() as dumps:
        command = [sys.executable, "-m", "tritonscope", "sweep", "matmul/tiled", "-t", "sm_80", "-o", dumps]
        command += ["--set", f"BLOCK_K={blocks}", "--option", f"num_stages={stages}", "-j", str(jobs), "--csv", "-"]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        taken = time.perf_counter() - start
    if done.stdout.count(",ok,") < points:
        raise SystemExit(f"the sweep failed: {done.stderr}")
    return taken


def main() -> None:
    cores = os.cpu_count() or 1
    points = 4 * -(-POINTS_A_CORE * cores // 4)
    rounds = [{"one": seconds(1, points), "all": seconds(cores, points)} for _ in range(ROUNDS)]
    efficiencies = sorted(each["one"] / (cores * each["all"]) for each in rounds)
    efficiency = efficiencies[ROUNDS // 2]
    met = efficiency >= BAR
    print(f"efficiency {efficiency:.2f} on {cores} cores, bar {BAR}: {'met' if met else 'missed'}   {rounds}")
    found = {
        "efficiency": {"value": efficiency, "bar": BAR, "met": met, "of_each_round": efficiencies},
        "points": points,
        "seconds": rounds,
        "versions": {"triton": version("triton"), "python": platform.python_version()},
        "machine": {"platform": platform.platform(), "cores": cores},
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
