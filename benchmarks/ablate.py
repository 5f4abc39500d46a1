"""What each pass buys a pipelined matmul and attention on this GPU, as `tritonscope ablate` finds it.

    python benchmarks/ablate.py             both, about a minute and a half on an H200 with 16 cores
    python benchmarks/ablate.py matmul      the parts whose name begins so
    python benchmarks/ablate.py --static    without a GPU: machine code alone, for sm_90

Run it with the Python whose Triton and PyTorch are to be measured; tritonscope is taken from this checkout. Each pass
that changed the IR is left out by itself; what then compiles to other machine code is checked and timed after the whole
compile, in one child. It prints the tables and puts them, with the device, versions and clocks, into
benchmarks/ablate.json. Standard library and tritonscope only.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tritonscope import ablation, api, gpu, kernel_reference, runs  # noqa: E402
from tritonscope.ablation import Ablated, Plan  # noqa: E402
from tritonscope.ablation_text import by_worth  # noqa: E402
from tritonscope.model import Capture, Request, Target, to_json  # noqa: E402
from tritonscope.sizes import parse_sizes  # noqa: E402
from tritonscope.store import layout  # noqa: E402

RESULTS = Path(__file__).with_name("ablate.json")
LAUNCHES = 30
SECONDS = 20.0  # without a sign of life: a kernel that lacks a barrier may hang
SECONDS_OF_A_COMPILE = 120.0


@dataclass(frozen=True)
class Part:
    """A kernel at a size: `config` is one of its spec's, `options` and `constants` go beside it."""

    name: str
    kernel: str
    size: str
    config: int
    options: dict[str, str]
    constants: dict[str, str]

    @property
    def command(self) -> str:
        """What a user types for the same."""
        words = [f"--set {name}={value}" for name, value in self.constants.items()]
        words += [f"--{name.replace('_', '-')} {value}" for name, value in self.options.items()]
        return " ".join([f"tritonscope ablate {self.kernel} --size {self.size} --config {self.config}", *words])


MATMUL = {"BLOCK_M": "128", "BLOCK_N": "256", "BLOCK_K": "64"}
PARTS = (
    Part("matmul", "matmul/pipelined", "M=N=K=4096", 0, {"num_warps": "8", "num_stages": "3"}, MATMUL),
    Part("attention", "attention", "tokens=4096,batch=4,head_dim=128,causal=0", 0, {}, {}),
)


def ready(part: Part, target: Target, dumps: Path, static: bool) -> tuple[Capture, runs.Unit | None, runs.Asked]:
    """The whole compile, and how it is run."""
    kernel = kernel_reference.find(part.kernel)
    asked = runs.Asked(
        sys.executable,
        target,
        ("benchmarks/ablate.py", *sys.argv[1:]),
        sizes=() if static else parse_sizes([part.size]),
        seeds=(0,),
        repetitions=LAUNCHES,
        baselines=False,
        constants=part.constants,
        options=part.options,
        config=part.config,
        timeout=SECONDS,
    )
    if static:
        request = Request(kernel, target, constants=part.constants, options=part.options)
        return api.capture(request, dumps, python=sys.executable, command=list(asked.command)), None, asked
    (unit,) = runs.plan(kernel, replace(asked, seeds=()), dumps, dumps)
    return unit.main.capture, replace(unit, checked=(unit.main,)), asked


def measured(part: Part, target: Target, static: bool) -> tuple[dict[str, Any], list[Ablated]]:
    """What goes into the results, and the rows."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as dumps, tempfile.TemporaryDirectory() as scratch:
        baseline, unit, asked = ready(part, target, Path(dumps), static)
        records = [record for record in ablation.optional_passes(baseline) if record.changed]
        variants = ablation.variants_of(baseline, records)
        plan = Plan(baseline, unit, asked, Path(scratch), timeout=SECONDS_OF_A_COMPILE)
        rows = by_worth(list(ablation.ablate(plan, variants, progress)))
        runs_file = Path(baseline.path) / layout.RUNS
        ran = json.loads(runs_file.read_text().splitlines()[-1]) if runs_file.exists() else {}
    found = {
        "part": part.name,
        "command": part.command,
        "target": target.name,
        "triton": baseline.versions.get("triton"),
        "static": static,
        "seconds": round(time.monotonic() - started, 1),
        "device": ran.get("device"),
        "clocks": ran.get("clocks"),
        "rows": [to_json(row) for row in rows],
    }
    return found, rows


def progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def line(row: Ablated) -> str:
    time_ = "" if row.ratio is None else f"{row.ratio:.2f} x"
    rate = "" if row.tflops is None else f"{row.tflops:.0f}"
    numbers = "".join(f"{'' if n is None else n:>8}" for n in (row.registers, row.spills, row.shared, row.instructions))
    same = " (identical)" if row.identical else ""
    return f"{row.pass_ or '(nothing)':48}{row.outcome:9}{time_:>8}{rate:>6}{numbers}  {row.detail or same}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", nargs="*", default=[""], help="only the parts whose name begins so")
    parser.add_argument("--static", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go")
    arguments = parser.parse_args()
    target = Target.parse("sm_90") if arguments.static else gpu.present()
    if target is None:
        raise SystemExit("there is no GPU here to measure; --static compares machine code")
    kept = json.loads(arguments.results.read_text()) if arguments.results.exists() else {"parts": []}
    for part in PARTS:
        if not part.name.startswith(tuple(arguments.prefix)):
            continue
        found, rows = measured(part, target, arguments.static)
        print(f"{part.name}: {found['command']}  ({found['seconds']} s)", flush=True)
        for row in rows:
            print(line(row), flush=True)
        kept["parts"] = [each for each in kept["parts"] if each["part"] != part.name] + [found]
        machine = {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()}
        kept["machine"] = machine
        arguments.results.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
