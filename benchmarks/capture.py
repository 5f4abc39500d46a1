"""What a capture costs: time over a plain compile, warm and cold, bytes on disk, memory, and the reading commands.

    python benchmarks/capture.py            all of it, about five minutes on two cores
    python benchmarks/capture.py --quick    fewer repeats, and no attention with LLVM's passes

Run it with the Python whose Triton is to be measured; tritonscope is taken from this checkout. It prints a table, and
puts every figure into benchmarks/capture.json under that Triton's version. It asserts nothing: it says "met" or
"missed" beside each bar. Both sides of a ratio run in turns, and the ratio is that of their medians. Standard library
and tritonscope only.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tritonscope import kernel_reference  # noqa: E402
from tritonscope.engine.record import Recorder  # noqa: E402
from tritonscope.model import Capture, Request, Target  # noqa: E402
from tritonscope.store import reader  # noqa: E402
from tritonscope.store.writer import CaptureWriter  # noqa: E402

RESULTS = Path(__file__).with_name("capture.json")
WARM_CHILD = Path(__file__).with_name("warm_child.py")
CASES = [("matmul", "sm_90"), ("matmul", "sm_100"), ("attention", "sm_90"), ("attention", "sm_100")]

PLAIN_SCRIPT = """\
import importlib.util
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

sys.path.insert(0, str(Path({path!r}).parent))
spec = importlib.util.spec_from_file_location({module!r}, {path!r})
module = importlib.util.module_from_spec(spec)
sys.modules[{module!r}] = module
spec.loader.exec_module(module)
source = ASTSource(module.{function}, {signature}, {constants}, {attributes})
triton.compile(source, target=GPUTarget(*{target}), options={options})
"""


class Results:
    """Every figure, in the order measured; each is printed as it comes."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, name: str, value: float, unit: str, *, bar: float | None = None, **details: Any) -> None:
        """Take one figure in; with a `bar`, the most that it may be."""
        row = {"name": name, "value": round(value, 4), "unit": unit}
        verdict = ""
        if bar is not None:
            row |= {"bar": bar, "met": value <= bar}
            verdict = f"bar {bar:g}: {'met' if value <= bar else 'MISSED'}"
        self.rows.append({**row, **details})
        shown = ", ".join(f"{key} {text(item)}" for key, item in details.items() if not isinstance(item, list))
        print(f"{name:64} {text(value):>10} {unit:8} {verdict:18} {shown}".rstrip(), flush=True)

    def ratio(self, name: str, pairs: list[tuple[float, float]], bar: float, **details: Any) -> None:
        """Take in the ratio of the medians of (ours, plain) seconds, and what it is made of."""
        ours, plain = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        a, b = statistics.median(ours), statistics.median(plain)
        runs = {"ours_runs": rounded(ours), "plain_runs": rounded(plain)}
        self.add(name, a / b, "times", bar=bar, ours_s=a, plain_s=b, **details, **runs)


# -- warm


def warm(results: Results, repeats: int, folder: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Capture over plain compile in one warm process a case; gives what a plain script needs, by case.

    Timed is, in the child, from the call of `triton.compile` to its return, stages, snapshots and events included on
    our side; SASS and the other things that follow the compilation are in the cold figures only. The Recorder in this
    process works at the same time, on another core if there is one.
    """
    recipes = {}
    for kernel, target in CASES:
        child = WarmChild(kernel, target, folder)
        with child:
            child.plain(), child.capture()  # the first compile in a process pays for what later ones find ready
            pairs = [in_turns(index, child.capture, child.plain) for index in range(repeats)]
            recipes[kernel, target] = child.recipe
        results.ratio(f"warm: capture / compile, {kernel} {target}", pairs, 1.6, aim=1.25)
    return recipes


class WarmChild:
    """A process that compiles one kernel again and again, with a Recorder listening to it as in a real capture."""

    def __init__(self, kernel: str, target: str, folder: Path) -> None:
        self._request = Request(kernel=kernel_reference.find(kernel), target=Target.parse(target))
        self._dumps = folder / "warm"
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, str(WARM_CHILD), kernel, target, str(writing)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(writing,),
            env=environment(),
        )
        os.close(writing)
        self._events = os.fdopen(reading, encoding="utf-8")
        self.recipe: Mapping[str, Any] = json.loads(self._events.readline())

    def __enter__(self) -> "WarmChild":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._events.close()

    def plain(self) -> float:
        """Seconds of `triton.compile`, from a fresh cache folder."""
        return self._ask("plain", lambda event: None)

    def capture(self) -> float:
        """Seconds of the same under interception, every artefact and snapshot written and every event sent."""
        writer = CaptureWriter.create(self._dumps, self._request, ["benchmark"], {})
        recorder = Recorder(writer, self._request)
        seconds = self._ask(f"capture {writer.folder}", recorder.take)
        recorder.close()
        writer.discard()
        return seconds

    def _ask(self, command: str, take: Callable[[dict[str, Any]], None]) -> float:
        assert self._process.stdin
        self._process.stdin.write(f"{command}\n".encode())
        self._process.stdin.flush()
        for line in self._events:
            event = json.loads(line)
            if event["event"] == "timed":
                return float(event["seconds"])
            take(event)
        raise SystemExit(f"the warm child ended at {command!r}")


# -- cold


def cold(results: Results, repeats: int, folder: Path, recipe: Mapping[str, Any]) -> None:
    """The whole command over a script that compiles the same, process against process.

    Once as it is from the second command on, when Triton's hash of its own files is remembered, and once as the very
    first command of a user.
    """
    script = plain_script(folder, recipe)

    def command(**variables: str) -> float:
        with fresh(folder) as dumps:
            return seconds(tool("compile", "matmul", "--target", "sm_90", "--dumps", str(dumps)), **variables)

    def first() -> float:
        with fresh(folder) as home:
            return command(XDG_CACHE_HOME=str(home))

    def plain() -> float:
        with fresh(folder) as cache:
            return seconds([sys.executable, str(script)], TRITON_CACHE_DIR=str(cache))

    for name, ours in (("", command), (", first command ever", first)):
        ours(), plain()
        pairs = [in_turns(index, ours, plain) for index in range(repeats)]
        results.ratio(f"cold: command / plain script, matmul sm_90{name}", pairs, bar=1.6)


def llvm_passes(results: Results, repeats: int, folder: Path, case: tuple[str, str], recipe: Mapping[str, Any]) -> None:
    """`--llvm-passes` over Triton's own LLVM_IR_ENABLE_DUMP into a pipe that is read and thrown away; its size, too."""
    script = plain_script(folder, recipe)
    kept = folder / "llvm"
    raw = 0

    def ours() -> float:
        shutil.rmtree(kept, ignore_errors=True)
        return seconds(tool("compile", case[0], "--target", case[1], "--llvm-passes", "--dumps", str(kept)))

    def plain() -> float:
        nonlocal raw
        with fresh(folder) as cache:
            took, raw = drained([sys.executable, str(script)], TRITON_CACHE_DIR=str(cache), LLVM_IR_ENABLE_DUMP="1")
            return took

    pairs = [in_turns(index, ours, plain) for index in range(repeats)]
    name = " ".join(case)
    results.ratio(f"LLVM passes: command / raw dump, {name}", pairs, bar=1.3)
    capture = only_capture(kept)
    names = {record.file for record in capture.passes if record.method == "dumped" and record.stage in ("llir", "ptx")}
    passes = sum(size(Path(capture.path, file)) for file in names if file)
    results.add(f"LLVM passes: bytes / raw dump, {name}", 100 * passes / raw, "%", bar=10, bytes=passes, raw=raw)


# -- disk and memory


def sizes_and_memory(results: Results, folder: Path) -> Path:
    """One capture a case: what it takes on the disk and in memory. Gives the folder with the captures."""
    kept = folder / "kept"
    for kernel, target in CASES:
        dumps = kept / f"{kernel}-{target}"
        peaks = peak_memory(tool("compile", kernel, "--target", target, "--dumps", str(dumps)))
        capture = only_capture(dumps)
        path = Path(capture.path)
        files = [file for file in path.rglob("*") if file.is_file()]
        results.add(
            f"disk: MLIR passes, {kernel} {target}",
            sum(size(file) for file in files if file.parent.name == "passes") / 1e6,
            "MB",
            whole_capture_MB=sum(map(size, files)) / 1e6,
            files=len(files),
            passes=len(capture.passes),
            changed=sum(record.changed for record in capture.passes),
        )
        results.add(f"memory: peak of the parent, {kernel} {target}", peaks["parent"] / 1024, "MiB")
        results.add(f"memory: peak of the child, {kernel} {target}", peaks["child"] / 1024, "MiB")
    return kept / "matmul-sm_90"


def peak_memory(command: list[str]) -> dict[str, int]:
    """The peak resident kB (VmHWM) of the command and of the largest process below it, polled until it ends."""
    peaks = {"parent": 0, "child": 0}
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        peaks["parent"] = max(peaks["parent"], high_water(process.pid))
        for child in children(process.pid):
            peaks["child"] = max(peaks["child"], high_water(child))
        time.sleep(0.005)
    return peaks


def high_water(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def children(pid: int) -> list[int]:
    """The children of every thread of a process: those of the compiler's threads are started by one of them."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:
            continue
    return found


# -- reading commands


def reading(results: Results, repeats: int, folder: Path, captured: Path) -> None:
    """Start-up of `--help`, and `ls` where there is much to list."""
    many = folder / "many"
    source = Path(only_capture(captured).path)
    for number in range(200):
        shutil.copytree(source, many / source.parent.name / f"sm_90-{number:010x}")

    def ours() -> float:
        return seconds(tool("--help"))

    def plain() -> float:
        return seconds([sys.executable, "-c", "pass"])

    pairs = [in_turns(index, ours, plain) for index in range(3 * repeats)]
    results.ratio("tritonscope --help / python -c pass", pairs, bar=3)
    listed = [seconds(tool("ls", "--dumps", str(many))) for _ in range(repeats)]
    results.add("ls over 200 captures", statistics.median(listed), "s", runs=rounded(listed))


# -- parts


def plain_script(folder: Path, recipe: Mapping[str, Any]) -> Path:
    """Write the script that compiles what `recipe`, of the warm child, describes."""
    script = folder / f"plain_{recipe['function']}.py"
    script.write_text(PLAIN_SCRIPT.format(**recipe, module=Path(recipe["path"]).stem))
    return script


def tool(*words: str) -> list[str]:
    return [sys.executable, "-m", "tritonscope", *words]


def environment(**more: str) -> dict[str, str]:
    """Ours, less what names another Python, so that the command compiles with the Triton that is measured."""
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def seconds(command: list[str], **variables: str) -> float:
    """The wall time of a command that must succeed, from before its start to after its end."""
    start = time.perf_counter()
    subprocess.run(
        command, env=environment(**variables), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - start


def drained(command: list[str], **variables: str) -> tuple[float, int]:
    """The same, with standard error read from a pipe and thrown away; the number of bytes that it had, too."""
    total = 0
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment(**variables), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr
        descriptor = process.stderr.fileno()
        while chunk := os.read(descriptor, 1 << 20):
            total += len(chunk)
    if process.returncode:
        raise SystemExit(f"{command} failed with {process.returncode}")
    return time.perf_counter() - start, total


def in_turns(index: int, ours: Callable[[], float], plain: Callable[[], float]) -> tuple[float, float]:
    """One of each, every other time the other way round."""
    if index % 2:
        b = plain()
        return ours(), b
    a = ours()
    return a, plain()


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """A folder that is there and empty, and gone afterwards."""
    made = Path(tempfile.mkdtemp(dir=folder))
    try:
        yield made
    finally:
        # Removing it is nobody's time.
        threading.Thread(target=shutil.rmtree, args=(made, True)).start()


def only_capture(dumps: Path) -> Capture:
    captures, unreadable = reader.list_captures(dumps)
    if len(captures) != 1 or unreadable or captures[0].status != "ok":
        raise SystemExit(f"{dumps} does not hold one good capture")
    return captures[0]


def size(file: Path) -> int:
    return file.stat().st_size


def rounded(values: list[float]) -> list[float]:
    return [round(value, 4) for value in values]


def text(value: Any) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": model,
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": rounded(list(os.getloadavg())),
    }


def keep(path: Path, version: str, entry: Mapping[str, Any]) -> None:
    """Put this run's figures in the place of the last one's with the same Triton."""
    everything = json.loads(path.read_text()) if path.exists() else {}
    everything[version] = entry
    path.write_text(json.dumps(dict(sorted(everything.items())), indent=1) + "\n")


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and no attention with LLVM's passes")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the JSON file to put the figures into")
    args = parser.parse_args()
    repeats = 3 if args.quick else 9
    started, about = time.time(), machine()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="tritonscope-benchmark-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        recipes = warm(results, repeats, folder)
        cold(results, repeats, folder, recipes["matmul", "sm_90"])
        captured = sizes_and_memory(results, folder)
        reading(results, repeats, folder, captured)
        llvm_passes(results, 1 if args.quick else 3, folder, ("matmul", "sm_90"), recipes["matmul", "sm_90"])
        if not args.quick:
            llvm_passes(results, 1, folder, ("attention", "sm_100"), recipes["attention", "sm_100"])
    version = recipes["matmul", "sm_90"]["triton"]
    entry = {
        "command": " ".join(["python", "benchmarks/capture.py", *sys.argv[1:]]),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "took_s": round(time.time() - started, 1),
        "versions": {"python": platform.python_version(), "triton": version},
        "machine": {**about, "load_after": rounded(list(os.getloadavg()))},
        "figures": results.rows,
    }
    keep(args.output, version, entry)


if __name__ == "__main__":
    main()
