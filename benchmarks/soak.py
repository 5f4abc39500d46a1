"""Compiles that are killed at random moments: nothing published is lost, and nothing is left behind.

    python benchmarks/soak.py [COUNT] [--seconds S] [--seed N] [--out FILE]

Each round compiles a tiny kernel into one dumps folder and, at a moment chosen at random, ends the child (SIGKILL) or
the command (SIGKILL, SIGTERM, SIGINT), or neither. One round in four compiles in this process instead, and kills the
child alone, so that descriptors and memory of a long-lived process show. After every round

- all processes of the round are gone, and the temporary folder is empty;
- every capture in the folder is readable: what ended well before still says so, what was cut off says that.

It needs Linux and a Python that has Triton, prints "met" or "missed", and puts the figures into benchmarks/soak.json.
"""

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).with_name("soak.json")
BOOT = ROOT / "tritonscope" / "engine" / "boot.py"
MARK = "TRITONSCOPE_SOAK"
GONE_WITHIN = 20.0  # seconds; a machine under load takes a while to end a process
MEMORY = 30.0  # MB that this process may grow from the first quarter of its own compiles to the end

KERNEL = """\
import triton
import triton.language as tl

@triton.jit
def add(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)
"""
ENDED_EARLY = ("interrupted", "crashed")


class Soak:
    """One run: its folder, what happened, and what went wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.dumps, self.temporary = folder / "dumps", folder / "tmp"
        self.temporary.mkdir()
        (folder / "add.py").write_text(KERNEL)
        self.random = random.Random(seed)
        os.environ.update(
            {"PYTHONPATH": str(ROOT), "TMPDIR": str(self.temporary), "XDG_CACHE_HOME": str(folder / "cache")}
        )
        tempfile.tempdir = None
        self.typical = 1.0
        self.finished: dict[str, int] = {}
        self.happened: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.memory: list[float] = []

    def round(self, number: int) -> None:
        """One compile, and the look at what it left."""
        block = 2 ** (4 + number % 5)
        if number % 4 == 3:
            self._in_this_process(block)
        else:
            self._command(number, block)
        self._look(number)

    # -- as a command

    def _command(self, number: int, block: int) -> None:
        mark = f"{os.getpid()}.{number}"
        command = [sys.executable, "-m", "tritonscope", "compile", f"{self.folder}/add.py:add", "-t", "sm_90"]
        command += ["--signature", f"x=*fp32, BLOCK={block}", "-o", str(self.dumps), "--json"]
        victim, name = self.random.choice(
            [("child", "SIGKILL"), ("command", "SIGKILL"), ("command", "SIGTERM"), ("command", "SIGINT"), ("", "")]
        )
        if not number:
            victim, name = "", ""
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, MARK: mark},
            start_new_session=True,
        )
        if victim:
            time.sleep(self.random.uniform(0, self.typical * 1.1))
            for pid in [process.pid] if victim == "command" else compilers(process.pid):
                kill(pid, signal.Signals[name])
        out, err = process.communicate(timeout=120)
        if not victim:
            self.typical = time.monotonic() - started
        if process.returncode == 0:
            self._note(json.loads(out)["path"], block)
        elif not victim:
            self.wrong.append(f"round {number}: ended with {process.returncode} unharmed: {err[-300:]}")
        elif victim == "child" and process.returncode not in (2, 4):
            self.wrong.append(
                f"round {number}: ended with {process.returncode} after its child was killed: {err[-300:]}"
            )
        # Before it can answer, Python itself answers a Ctrl-C, with a traceback that no program can prevent.
        elif "Traceback" in err and "tritonscope" in err and name != "SIGINT":
            self.wrong.append(f"round {number}: a traceback after {victim} {name}: {err[-300:]}")
        self.happened[f"{victim or 'none'} {name}".strip() + (", finished" if process.returncode == 0 else "")] += 1
        if left := still_there(mark):
            self.wrong.append(f"round {number}: processes {left} are left after {victim} {name}")
            for pid in left:
                kill(pid, signal.SIGKILL)

    # -- in this process

    def _in_this_process(self, block: int) -> None:
        from tritonscope import api
        from tritonscope.model import KernelRef, Request, Target

        request = Request(
            KernelRef("add", f"{self.folder}/add.py", "add"), Target.parse("sm_90"), f"x=*fp32, BLOCK={block}"
        )
        descriptors = open_descriptors()
        killer = None
        if self.random.random() < 0.7:
            delay = self.random.uniform(0.1, self.typical)
            killer = threading.Timer(delay, lambda: [kill(pid, signal.SIGKILL) for pid in compilers(os.getpid())])
            killer.start()
        try:
            capture = api.capture(request, self.dumps, python=sys.executable, command=["soak"], timeout=120)
            status = capture.status
            if status == "ok":
                self._note(capture.path, block)
            elif status not in ENDED_EARLY:
                self.wrong.append(f"in this process: status {status}")
        except Exception as error:
            from tritonscope.errors import TritonscopeError

            if not isinstance(error, TritonscopeError):
                self.wrong.append(f"in this process: {type(error).__name__}: {error}")
            status = "refused"
        finally:
            if killer:
                killer.cancel()
                killer.join()
        self.happened[f"in this process, {status}"] += 1
        if (now := open_descriptors()) != descriptors:
            self.wrong.append(f"in this process: {descriptors} descriptors became {now}")
        self.memory.append(resident())

    # -- afterwards

    def _note(self, path: str, block: int) -> None:
        self.finished[path] = block

    def _look(self, number: int) -> None:
        """Hold everything in the folder against what is known of it."""
        from tritonscope.store import layout, reader

        if not wait_for(lambda: not any(self.temporary.iterdir())):
            left = [path.name for path in self.temporary.iterdir()]
            self.wrong.append(f"round {number}: {left} are left in the temporary folder")
            for path in self.temporary.iterdir():
                subprocess.run(["rm", "-rf", str(path)], check=True)
        captures, unreadable = reader.list_captures(self.dumps)
        self.wrong += [f"round {number}: {problem}" for problem in unreadable]
        by_path = {capture.path: capture for capture in captures}
        for path, block in self.finished.items():
            capture = by_path.get(path)
            if capture is None or capture.status != "ok":
                self.wrong.append(f"round {number}: {path} is lost: {capture and capture.status}")
            elif f"tensor<{block}xf32" not in reader.stage_text(capture, "ttir"):
                self.wrong.append(f"round {number}: {path} holds another kernel")
        for capture in captures:
            if capture.path not in self.finished and capture.status not in ENDED_EARLY:
                # The command was killed before it could say so; where it had not published it yet, that is no capture
                # to keep: the next compile of the same takes its place.
                if capture.status != "ok":
                    self.wrong.append(f"round {number}: {capture.path} says {capture.status}")
                elif not layout.is_running(Path(capture.path)):
                    self._note(capture.path, int(capture.components["constants"]["BLOCK"]))
            for stage in capture.stages:
                reader.stage_bytes(capture, stage.stage)
            for record in capture.passes:
                if record.file and record.stage not in ("cubin", "sass"):
                    reader.after(capture, record)

    def grown(self) -> float:
        """By how many MB this process grew over its own compiles, the first quarter left out."""
        if len(self.memory) < 4:
            return 0.0
        return round(self.memory[-1] - self.memory[len(self.memory) // 4], 1)


def compilers(pid: int) -> list[int]:
    """The children that `pid` started to compile in, and not those that end them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if parent == pid and str(BOOT).encode() in words:
                found.append(int(entry.name))
    return found


def still_there(mark: str) -> list[int]:
    """The processes of a round that do not end in time."""
    left: list[int] = []

    def none() -> bool:
        left[:] = marked(mark)
        return not left

    wait_for(none)
    return left


def marked(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment:
                found.append(int(entry.name))
    return found


def wait_for(condition: Any) -> bool:
    """Whether `condition` comes true in time."""
    until = time.monotonic() + GONE_WITHIN
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def kill(pid: int, signal_: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal_)


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def resident() -> float:
    """The memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), args.seed)
        done = 0
        while done < args.count and time.monotonic() - started < args.seconds:
            soak.round(done)
            done += 1
        kept = len(soak.finished)
    grown = soak.grown()
    if grown > MEMORY:
        soak.wrong.append(f"this process grew by {grown} MB")
    verdict = "missed" if soak.wrong else "met"
    print(
        f"{done} compiles, {len(soak.happened)} ways to end, {kept} captures kept, "
        f"{grown} MB grown, {len(soak.wrong)} things wrong: {verdict}"
    )
    for line in soak.wrong[:20]:
        print(f"  {line}")
    result = {
        "compiles": done,
        "seed": args.seed,
        "seconds": round(time.monotonic() - started, 1),
        "happened": dict(sorted(soak.happened.items())),
        "finished_captures": kept,
        "memory_grown_mb": grown,
        "wrong": soak.wrong,
        "verdict": verdict,
        "versions": {name: version(name) for name in ("triton",)},
        "machine": {
            "platform": platform.platform(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
        },
    }
    args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
