"""How quick the full-screen interface is, headless: its first frame, and from a key to the frame that answers it.

    python benchmarks/tui.py

Run it on an otherwise idle machine, with a Python that has Triton: it compiles attention with LLVM's passes for the
large capture (over 400,000 lines in all), and takes the reference matmul for the small one. It prints "met" or "missed"
beside each bar, and puts every figure into benchmarks/tui.json.
"""

import asyncio
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).with_name("tui.json")
SIZE = (120, 40)
REPEATS = 15
# What a reader does, and the keys for it; search is typed beforehand, and n goes to the next match.
GESTURES = {
    "scroll": ("j",),
    "page": ("space",),
    "jump to the end": ("G",),
    "next changed pass": ("right_curly_bracket",),
    "search": ("n",),
}
BARS = {"first frame": 2.0, "gesture": 1.3, "memory": 150.0}

FIRST_FRAME = """
import asyncio
import os
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tritonscope.cli import open as command
from tritonscope.store import reader
from tritonscope import bundled_kernels

async def main():
    capture = reader.resolve(bundled_kernels.reference_dumps(), "matmul/sm_90").capture
    app = command.application(Path("nothing-here"), capture)
    display = app._display

    def first(screen, frame):
        display(screen, frame)
        views = screen.query("IrView")
        if views and views.first().rows:
            if {checked} and "tt.func" not in "".join(strip.text for strip in screen._compositor.render_strips()):
                raise SystemExit("the first frame does not have the IR in it")
            os._exit(0)

    app._display = first
    async with app.run_test(size=(120, 40)):
        await asyncio.sleep(60)
    raise SystemExit("no frame had the IR in it")

asyncio.run(main())
"""


def seconds(program: str) -> float:
    """Wall time of a Python process that runs `program`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return time.perf_counter() - start


def first_frame() -> dict[str, float]:
    """Process against process, in turns: ours until the IR is in a frame, and one that imports textual's application.

    Both leave by os._exit, so that neither pays for taking itself down.
    """
    ours, bare = [], []
    seconds(FIRST_FRAME.format(root=str(ROOT), checked=True))  # reading the screen takes its time: once, beforehand
    for _ in range(15):
        ours.append(seconds(FIRST_FRAME.format(root=str(ROOT), checked=False)))
        bare.append(seconds("import textual.app, os; os._exit(0)"))
    return {"ours_s": statistics.median(ours), "import_textual_s": statistics.median(bare)}


def large_capture(folder: str) -> str:
    """Attention with LLVM's passes, compiled here."""
    command = [sys.executable, "-m", "tritonscope", "compile", "attention", "-t", "sm_100", "--llvm-passes", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "-o", folder], capture_output=True, text=True, check=True, env=environment)
    return str(json.loads(done.stdout)["path"])


async def gestures(path: str) -> dict[str, float]:
    """Milliseconds from a key to the frame after it, the median, for each gesture."""
    from tritonscope.store import reader
    from tritonscope.tui.app import ScopeApp

    capture = reader.open_capture(Path(path))
    app = ScopeApp(Path("nothing-here"), capture)
    found: dict[str, list[float]] = {name: [] for name in GESTURES}
    async with app.run_test(size=SIZE) as pilot:
        await app.workers.wait_for_complete()
        for name, keys in GESTURES.items():
            await pilot.press("4", "g")
            if name == "search":
                await pilot.press("slash", *"arith", "enter")
            await pilot.pause()
            for _ in range(REPEATS):
                if name == "jump to the end":
                    await pilot.press("g")
                start = time.perf_counter()
                await pilot.press(*keys)
                await pilot.pause()
                found[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(times) for name, times in found.items()}


def in_a_process(path: str) -> dict[str, Any]:
    """The gestures in a process of their own, and the most memory that it had."""
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import tui; tui.child({path!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def child(path: str) -> None:
    times = asyncio.run(gestures(path))
    print(json.dumps({"ms": times, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def textual_alone() -> float:
    """The memory, in MB, of a process with an empty Textual application."""
    program = (
        "import asyncio, resource\nfrom textual.app import App\n\nasync def main():\n"
        "    async with App().run_test(size=(120, 40)) as pilot:\n        await pilot.pause()\n\n"
        "asyncio.run(main())\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def verdict(value: float, bar: float) -> str:
    return "met" if value <= bar else "missed"


def main() -> None:
    from tritonscope import bundled_kernels
    from tritonscope.store import reader

    rows: dict[str, Any] = {}
    frame = first_frame()
    ratio = frame["ours_s"] / frame["import_textual_s"]
    say(rows, "first frame / import textual", ratio, BARS["first frame"], frame)
    reference = bundled_kernels.reference_dumps()
    assert reference is not None
    small_capture = reader.resolve(reference, "matmul/sm_90").capture
    with tempfile.TemporaryDirectory() as folder:
        large = large_capture(folder)
        lines = sum(_lines(Path(large)))
        on_small, on_large = in_a_process(small_capture.path), in_a_process(large)
    for name in GESTURES:
        small_ms, large_ms = on_small["ms"][name], on_large["ms"][name]
        both = {"small_ms": small_ms, "large_ms": large_ms}
        say(rows, f"{name}: large / small", large_ms / small_ms, BARS["gesture"], both)
    alone = textual_alone()
    memory = on_large["peak_mb"] - alone
    say(rows, "memory over Textual's own, MB", memory, BARS["memory"], {"large": on_large["peak_mb"], "textual": alone})
    rows["lines of the large capture"] = {"value": lines}
    versions = {name: version(name) for name in ("textual", "rich", "triton")}
    machine = {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()}
    RESULTS.write_text(json.dumps({"rows": rows, "versions": versions, "machine": machine}, indent=1) + "\n")


def _lines(folder: Path) -> list[int]:
    from tritonscope.store import reader

    capture = reader.open_capture(folder)
    texts = [record for record in capture.passes if record.file and ".cubin" not in record.file]
    return [reader.after(capture, record).count("\n") for record in texts]


def say(rows: dict[str, Any], name: str, value: float, bar: float, details: Mapping[str, float]) -> None:
    rows[name] = {"value": value, "bar": bar, "met": value <= bar, **details}
    told = "  ".join(f"{key} {each:.3g}" for key, each in details.items())
    print(f"{name:40} {value:7.2f}  bar {bar:g}: {verdict(value, bar)}   {told}", flush=True)


if __name__ == "__main__":
    main()
