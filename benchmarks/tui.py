"""How quick the full-screen interface is, in a terminal of its own: its first frame, and from a key to the end of the
frame that answers it.

    python benchmarks/tui.py

Run it on an otherwise idle machine, with a Python that has Triton: it compiles attention with LLVM's passes for the
large capture (over 400,000 lines in all), and takes the reference matmul for the small one. It prints "met" or "missed"
beside each bar, and puts every figure into benchmarks/tui.json.
"""

import fcntl
import json
import os
import platform
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).with_name("tui.json")
COLUMNS, ROWS = 120, 40
STARTS = 15
REPEATS = 25
IDLE_MS = 50.0  # of the processor in a second
PATIENCE = 10.0  # seconds for the first of it
QUIET = 0.2  # seconds without output after which a frame is taken to be whole
HELD = 100  # what a key that is held down for three seconds sends
# What a reader does: the keys before it, and the key for it. 4 is TTIR, 6 LLVM IR, thousands of lines.
GESTURES = {
    "scroll": (b"6g", b"j"),
    "scroll at the edge": (b"6g" + b"j" * ROWS, b"j"),
    "page": (b"6g", b" "),
    "jump to the end": (b"6", b"G"),
    "next changed pass": (b"4g", b"}"),
    "search": (b"6g/add\r", b"n"),
}
BARS = {"first frame": 2.0, "key": 33.0, "gesture": 1.3, "held": 330.0, "memory": 150.0}
FIRST = b"tt.func"  # in the IR that is shown first


def environment(home: Path) -> dict[str, str]:
    """Nothing remembered, and bytecode kept: an installed program is compiled once, and not at every start."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**kept, **terminal, "XDG_STATE_HOME": str(home), "PYTHONPATH": str(ROOT)}


class Terminal:
    """`tritonscope open` in a terminal that only counts what is written to it."""

    def __init__(self, capture: str, home: Path) -> None:
        self._started = time.perf_counter()
        command = [sys.executable, "-m", "tritonscope", "open", capture]
        self.pid, self._line = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.chdir(home)
            os.execve(command[0], command, environment(home))

    def first(self, text: bytes) -> float:
        """Seconds from the start of the process until `text` was written."""
        found = b""
        while text not in found:
            found += os.read(self._line, 1 << 16)
        return time.perf_counter() - self._started

    def settle(self, seconds: float) -> tuple[float, int]:
        """Read until nothing was written for so long: when the last of it came, and how many bytes there were."""
        last, count = time.perf_counter(), 0
        while select.select([self._line], [], [], seconds)[0]:
            count += len(os.read(self._line, 1 << 16))
            last = time.perf_counter()
        return last, count

    def idle(self) -> None:
        """Wait until it has nothing to do: the passes are compared in a thread."""
        before = -IDLE_MS
        while self.cpu_ms - before >= IDLE_MS:
            before = self.cpu_ms
            self.settle(1.0)

    def press(self, keys: bytes) -> tuple[float, int]:
        """Milliseconds from the keys to the last of what they had written, and how many bytes that was."""
        start = time.perf_counter()
        os.write(self._line, keys)
        if not select.select([self._line], [], [], PATIENCE)[0]:
            raise SystemExit(f"{keys!r} was not answered")
        last, count = self.settle(QUIET)
        return (last - start) * 1000, count

    @property
    def cpu_ms(self) -> float:
        """What its threads have taken of the processor, which other programs on the machine change less."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e6

    @property
    def peak_mb(self) -> float:
        """The most memory that it had."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024

    def close(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        try:
            while os.read(self._line, 1 << 16):
                pass
        except OSError:  # it has ended
            pass
        os.waitpid(self.pid, 0)
        os.close(self._line)


def first_frame(home: Path) -> dict[str, float]:
    """Process against process, in turns: the command until the IR is on the screen, and one that imports textual's
    application and leaves by os._exit, so as not to pay for taking itself down."""
    ours, bare = [], []
    for _ in range(STARTS + 1):
        one = Terminal("matmul/sm_90", home)
        ours.append(one.first(FIRST))
        one.close()
        start = time.perf_counter()
        program = "import textual.app, os; os._exit(0)"
        subprocess.run([sys.executable, "-c", program], check=True, env=environment(home))
        bare.append(time.perf_counter() - start)
    # The first of each may have compiled what the others find as bytecode.
    return {"ours_s": statistics.median(ours[1:]), "import_textual_s": statistics.median(bare[1:])}


def large_capture(folder: str) -> str:
    """Attention with LLVM's passes, compiled here."""
    command = [sys.executable, "-m", "tritonscope", "compile", "attention", "-t", "sm_100", "--llvm-passes", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "-o", folder], capture_output=True, text=True, check=True, env=environment)
    return str(json.loads(done.stdout)["path"])


def gestures(paths: Sequence[str], home: Path) -> list[dict[str, Any]]:
    """Of each capture, for each gesture the median of what a key costs: milliseconds, those of the processor, bytes.
    Beside them the milliseconds of many keys at once, and the most memory.

    The captures are open at the same time, and take turns: the machine is not as quick from one minute to the next.
    """
    all_ = [Terminal(path, home) for path in paths]
    for one in all_:
        one.first(FIRST)
        one.press(b"6g")
    found = [{"scroll while passes are compared": presses([one], b"j")[0]} for one in all_]
    for name, (before, key) in GESTURES.items():
        for one in all_:
            one.press(before)
        for one in all_:
            one.idle()
        costs = presses(all_, key, b"g" if name == "jump to the end" else b"")
        for values, cost in zip(found, costs, strict=True):
            values[name] = cost
    for values, one in zip(found, all_, strict=True):
        one.press(b"g")
        values["held"] = one.press(b"j" * HELD)[0]
        values["peak_mb"] = one.peak_mb
        one.close()
    return found


def presses(all_: Sequence[Terminal], key: bytes, back: bytes = b"") -> list[dict[str, float]]:
    """For each terminal the medians for a key that is pressed again and again, after `back`, whose cost counts not."""
    found: list[list[tuple[float, float, int]]] = [[] for _ in all_]
    for _ in range(REPEATS):
        for one, costs in zip(all_, found, strict=True):
            if back:
                one.press(back)
            before = one.cpu_ms
            ms, count = one.press(key)
            costs.append((ms, one.cpu_ms - before, count))
    names = ("ms", "cpu_ms", "bytes")
    return [dict(zip(names, map(statistics.median, zip(*costs, strict=True)), strict=True)) for costs in found]


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
    rows: dict[str, Any] = {}
    load = os.getloadavg()[0]  # of the machine before: others' work
    with tempfile.TemporaryDirectory() as home:
        frame = first_frame(Path(home))
    ratio = frame["ours_s"] / frame["import_textual_s"]
    say(rows, "first frame / import textual", ratio, BARS["first frame"], frame)
    with tempfile.TemporaryDirectory() as folder:
        path = large_capture(folder)
        lines = sum(_lines(Path(path)))
        on_small, on_large = gestures(("matmul/sm_90", path), Path(folder))
    for name in GESTURES:
        small, large = on_small[name], on_large[name]
        say(rows, f"{name}: large / small", large["ms"] / small["ms"], BARS["gesture"], {})
        for size, each in (("small", small), ("large", large)):
            say(rows, f"{name}, {size}: ms", each.pop("ms"), BARS["key"], each)
        say(rows, f"{name}: large / small, of the processor", large["cpu_ms"] / small["cpu_ms"], BARS["gesture"], {})
    comparing = "scroll while passes are compared"
    say(rows, f"{comparing}, large: ms", on_large[comparing].pop("ms"), BARS["key"], on_large[comparing])
    say(rows, f"{HELD} lines at once: ms", on_large["held"], BARS["held"], {"small": on_small["held"]})
    alone = textual_alone()
    memory = on_large["peak_mb"] - alone
    say(rows, "memory over Textual's own, MB", memory, BARS["memory"], {"large": on_large["peak_mb"], "textual": alone})
    rows["lines of the large capture"] = {"value": lines}
    versions = {name: version(name) for name in ("textual", "rich", "triton")}
    machine: dict[str, Any] = {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    machine["load_before"] = load
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
