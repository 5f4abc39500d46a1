"""What tracing costs a program for each launch after the first: 10,000 launches of a small kernel, traced and not.

    python benchmarks/trace.py           about ten seconds on an NVIDIA GPU

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. One process
launches in turns inside a trace and outside of any, 10,000 times each: two processes differ by more than a trace costs.
The ratio is that of the medians. It prints "met" or "missed" beside the bar, and puts the figures, with versions, into
benchmarks/trace.json.
"""

import json
import platform
import statistics
import sys
import tempfile
import time
from contextlib import nullcontext
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
    kernel = triton.jit(add)

    def seconds(traced: bool) -> float:
        compiled = kernel[(4,)](x, y, out, 1024, BLOCK=256)
        assert hasattr(compiled._run, "counts_for_tritonscope") is traced
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            kernel[(4,)](x, y, out, 1024, BLOCK=256)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    times: dict[str, list[float]] = {"plain": [], "traced": []}
    with tempfile.TemporaryDirectory() as dumps:
        with tritonscope.trace(dumps) as outcome:
            seconds(True)
        seconds(False)
        (capture,) = outcome.captures
        assert sum(each.count for each in capture.launches) == LAUNCHES + 1
        for number in range(ROUNDS):
            for name in ("plain", "traced") if number % 2 else ("traced", "plain"):
                with tritonscope.trace(dumps) if name == "traced" else nullcontext():
                    times[name].append(seconds(name == "traced"))
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
                "command": "python benchmarks/trace.py",
                "measured": time.strftime("%Y-%m-%d"),
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
