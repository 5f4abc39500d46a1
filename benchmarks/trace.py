"""What tracing costs a program for each launch after the first: 10,000 launches of a small kernel, traced and not.

    python benchmarks/trace.py           about ten seconds on an NVIDIA GPU

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. The same
kernel is compiled twice, once before a trace begins and once in it, so that launches of the one are counted and those
of the other are not; both are launched in turns in one process. The ratio is that of the medians. It prints "met" or
"missed" beside the bar, and puts the figures, with versions, into benchmarks/trace.json.
"""

import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import triton
import triton.language as tl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tritonscope  # noqa: E402

RESULTS = Path(__file__).with_name("trace.json")
BAR = 1.05
LAUNCHES = 10_000
ROUNDS = 15


def add(x, y, out, n, BLOCK: tl.constexpr):
    """A kernel so small that a launch takes the processor longer than the GPU."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


def main() -> int:
    """Measure, print, keep; 1 where the bar is missed, 5 without a GPU."""
    if not torch.cuda.is_available():
        print("there is no GPU here that PyTorch can use", file=sys.stderr)
        return 5
    x, y, out = (torch.rand(1024, device="cuda") for _ in range(3))
    plain, traced = triton.jit(add), triton.jit(add)

    def launch(kernel: Callable[..., object]) -> None:
        kernel[(4,)](x, y, out, 1024, BLOCK=256)

    def seconds(kernel: Callable[..., object]) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            launch(kernel)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    launch(plain)
    times: dict[str, list[float]] = {"plain": [], "traced": []}
    with tempfile.TemporaryDirectory() as dumps, tritonscope.trace(dumps) as outcome:
        launch(traced)
        time.sleep(10)  # the capture itself has ended by then
        seconds(plain), seconds(traced)
        for number in range(ROUNDS):
            order = [("plain", plain), ("traced", traced)]
            for name, kernel in order if number % 2 else reversed(order):
                times[name].append(seconds(kernel))
    (capture,) = outcome.captures
    counted = sum(each.count for each in capture.launches)
    assert counted == 1 + (ROUNDS + 1) * LAUNCHES, counted
    medians = {name: statistics.median(values) / LAUNCHES * 1e6 for name, values in times.items()}
    ratio = medians["traced"] / medians["plain"]
    verdict = "met" if ratio <= BAR else "missed"
    print(
        f"a launch: {medians['plain']:.2f} us, traced {medians['traced']:.2f} us; ratio {ratio:.3f}, {verdict} ({BAR})"
    )
    versions = {"python": platform.python_version(), "triton": triton.__version__, "torch": torch.__version__}
    RESULTS.write_text(
        json.dumps(
            {
                "device": torch.cuda.get_device_name(),
                "versions": versions,
                "launches": LAUNCHES,
                "rounds": ROUNDS,
                "microseconds": medians,
                "ratio": ratio,
                "bar": BAR,
                "all_seconds": times,
            },
            indent=1,
        )
        + "\n"
    )
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
