"""What tracing costs a program for each launch after the first: 10,000 launches of a small kernel, traced and not.

    python benchmarks/trace.py           about half a minute on an NVIDIA GPU

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. The same
program runs twice at once, as `python` and as `tritonscope trace`, and the two take turns, 10,000 launches each. The
ratio is that of the medians. It prints "met" or "missed" beside the bar, and puts the figures, with versions, into
benchmarks/trace.json.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("trace.json")
BAR = 1.05
LAUNCHES = 10_000
ROUNDS = 15

PROGRAM = """
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


x, y, out = (torch.rand(1024, device="cuda") for _ in range(3))
add[(4,)](x, y, out, 1024, BLOCK=256)
print(torch.cuda.get_device_name(), torch.__version__, triton.__version__, sep="\\t", flush=True)
for line in sys.stdin:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(int(line)):
        add[(4,)](x, y, out, 1024, BLOCK=256)
    torch.cuda.synchronize()
    print(time.perf_counter() - start, flush=True)
"""


def main() -> int:
    """Measure, print, keep; 1 where the bar is missed, 5 without a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "launches.py")
        program.write_text(PROGRAM)
        tracer = ["-m", "tritonscope", "trace", "--json", "-o", str(Path(folder, "dumps"))]
        plain, traced = started([str(program)]), started([*tracer, str(program)])
        greetings = [read(plain), read(traced)]
        if not all(greetings):
            plain.communicate(), traced.communicate()
            print("the program did not start; there may be no GPU here that PyTorch can use", file=sys.stderr)
            return 5
        device, torch, triton = greetings[0].split("\t")
        times: dict[str, list[float]] = {"plain": [], "traced": []}
        both = [("plain", plain), ("traced", traced)]
        seconds(plain), seconds(traced)
        for number in range(ROUNDS):
            for name, child in both if number % 2 else reversed(both):
                times[name].append(seconds(child))
        plain.communicate()
        said = traced.communicate()[1]
    (capture,) = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    counted = sum(each["count"] for each in capture["launches"])
    assert counted == 1 + (ROUNDS + 1) * LAUNCHES, counted
    medians = {name: statistics.median(values) / LAUNCHES * 1e6 for name, values in times.items()}
    ratio = medians["traced"] / medians["plain"]
    verdict = "met" if ratio <= BAR else "missed"
    print(
        f"a launch: {medians['plain']:.2f} us, traced {medians['traced']:.2f} us; ratio {ratio:.3f}, {verdict} ({BAR})"
    )
    found: dict[str, Any] = {
        "command": "python benchmarks/trace.py",
        "measured": time.strftime("%Y-%m-%d"),
        "device": device,
        "versions": {"python": platform.python_version(), "triton": triton, "torch": torch},
        "launches": LAUNCHES,
        "rounds": ROUNDS,
        "microseconds": medians,
        "ratio": ratio,
        "bar": BAR,
        "all_seconds": times,
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if ratio <= BAR else 1


def started(arguments: list[str]) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    )


def read(child: "subprocess.Popen[str]") -> str:
    output: IO[str] = child.stdout  # type: ignore[assignment]
    return output.readline().strip()


def seconds(child: "subprocess.Popen[str]") -> float:
    """How long the program took for all launches of one turn."""
    turn: IO[str] = child.stdin  # type: ignore[assignment]
    turn.write(f"{LAUNCHES}\n")
    turn.flush()
    return float(read(child))


if __name__ == "__main__":
    sys.exit(main())
