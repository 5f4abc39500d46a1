"""How much of a textual diff the rename-aware one shows, and what it costs.

    python benchmarks/diff.py                   compiles both bundled kernels for sm_90 and sm_100 first, about a minute
    python benchmarks/diff.py --dumps FOLDER    takes the captures that are in FOLDER

For every changing TTIR and TTGIR pass: lines shown over the lines that `git diff --no-index` shows of the
same two texts, both without locations. Lines count as git counts them: a changed line, one whose layouts changed and
one that moved are two each, an old and a new one. Then the time of each pair beside git's, and that of the largest
texts there are. The bar for a pair is 5 times git's time, which has to start a process, and 30 ms on top; of the
repeats of either the least counts, since anything else the machine does only ever adds. Where the machine is
busy the CPU times beside them tell more.

It prints a table and puts every figure into benchmarks/diff.json. It asserts nothing: it says "met" or "missed" beside
each bar. Standard library and tritonscope only; the captures need Triton.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tritonscope.ir.diff import diff  # noqa: E402
from tritonscope.ir.kinds import kind_of  # noqa: E402
from tritonscope.ir.locations import strip_debug  # noqa: E402
from tritonscope.model import Capture, PassRecord  # noqa: E402
from tritonscope.store import reader  # noqa: E402

RESULTS = Path(__file__).with_name("diff.json")
CASES = [("matmul", "sm_90"), ("matmul", "sm_100"), ("attention", "sm_90"), ("attention", "sm_100")]
MOST_SHOWN = 0.40
AIM = 0.25
MOST_TIMES_GIT = 5
AND_MILLISECONDS = 30
MOST_SECONDS_LARGE = 2.0
LARGE = 1_000_000
_NAME = re.compile(r"%[\w.$-]+|\^[\w.$-]+", re.ASCII)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dumps", type=Path, help="a folder of captures; without it they are made first")
    parser.add_argument("--repeats", type=int, default=5, help="how often each pair is timed, by default 5")
    arguments = parser.parse_args()
    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryDirectory() as folder:
        dumps = arguments.dumps or compile_all(Path(folder) / "dumps")
        captures = find_captures(dumps)
        pairs = [row for capture in captures for row in measure_passes(capture, Path(folder), arguments.repeats)]
        renumbered = [row for capture in captures for row in renumber(capture)]
        large = [row for capture in captures for row in measure_large(capture)] + measure_assembly(captures)
    bars = judge(pairs, renumbered, large)
    report(pairs, large, bars)
    result = {
        "command": ["python", "benchmarks/diff.py", *sys.argv[1:]],
        "versions": {
            "python": platform.python_version(),
            "triton": captures[0].versions.get("triton"),
            "git": run_text("git", "--version").strip().removeprefix("git version "),
        },
        "machine": {
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "architecture": platform.machine(),
            "load_at_start": load,
        },
        "bars": bars,
        "passes": pairs,
        "large": large,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


def compile_all(dumps: Path) -> Path:
    """Make the captures, in `dumps`."""
    command = [
        sys.executable,
        "-m",
        "tritonscope",
        "compile",
        "matmul",
        "attention",
        "-t",
        "sm_90,sm_100",
        "--jobs",
        "1",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*command, "--dumps", str(dumps)], check=True, env=environment, stdout=subprocess.DEVNULL)
    return dumps


def find_captures(dumps: Path) -> list[Capture]:
    """The newest capture of each case."""
    found, _ = reader.list_captures(dumps)
    newest = {(capture.kernel, capture.target): capture for capture in reversed(found)}
    if missing := [case for case in CASES if case not in newest]:
        sys.exit(f"{dumps} has no capture of {', '.join(' for '.join(case) for case in missing)}")
    return [newest[case] for case in CASES]


def changing(capture: Capture, stages: tuple[str, ...]) -> Iterator[PassRecord]:
    """The passes at the top level, in these stages, that left another text in the same language."""
    for step in capture.passes:
        before = reader.file_before(capture, step)
        if not (step.changed and step.file and before and step.stage in stages and "." not in step.step):
            continue
        if kind_of(step.file) == kind_of(before) and kind_of(before) in ("mlir", "llir"):
            yield step


def measure_passes(capture: Capture, folder: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """For each changing TTIR and TTGIR pass, what is shown and how long it takes, beside git."""
    left, right = folder / "left", folder / "right"
    for step in changing(capture, ("ttir", "ttgir")):
        before, after = (
            strip_debug(text, "mlir") for text in (reader.before(capture, step), reader.after(capture, step))
        )
        left.write_text(before)
        right.write_text(after)
        ours, gits, cpu = [], [], []
        for _ in range(repeats):  # in turns, so that a busy moment of the machine meets both
            started, busy = time.perf_counter(), time.process_time()
            found = diff(before, after, "mlir")
            ours.append(time.perf_counter() - started)
            cpu.append(time.process_time() - busy)
            started = time.perf_counter()
            text = run_text("git", "diff", "--no-index", "--no-color", "--histogram", str(left), str(right))
            gits.append(time.perf_counter() - started)
        plain = run_text("git", "diff", "--no-index", "--no-color", str(left), str(right))
        yield {
            "kernel": capture.kernel,
            "target": capture.target,
            "step": step.step,
            "pass": step.name,
            "git_lines": count_lines(plain),
            "git_histogram_lines": count_lines(text),
            "shown": found.stat.lines,
            "stat": {name: getattr(found.stat, name) for name in found.stat.__dataclass_fields__},
            "only_renumbered": canonical(before) == canonical(after),
            "ms": round(min(ours) * 1e3, 2),
            "cpu_ms": round(min(cpu) * 1e3, 2),
            "git_ms": round(min(gits) * 1e3, 2),
        }


def canonical(text: str) -> list[str]:
    """`text` with its names numbered as they come and its indentation gone: equal where only the numbering differs."""
    numbers: dict[str, str] = {}
    text = _NAME.sub(lambda match: numbers.setdefault(match[0], f"{match[0][0]}v{len(numbers)}"), text)
    return [line.strip() for line in text.splitlines()]


def renumber(capture: Capture) -> Iterator[dict[str, Any]]:
    """Each TTIR and TTGIR snapshot against itself with every name renumbered: the lines shown, which is to be none."""
    for step in changing(capture, ("ttir", "ttgir")):
        text = strip_debug(reader.after(capture, step), "mlir")
        yield {"step": step.step, "shown": diff(text, "\n".join(canonical(text)), "mlir").stat.lines}


def measure_large(capture: Capture) -> Iterator[dict[str, Any]]:
    """The passes over LLVM dialect with more than a megabyte on either side."""
    for step in changing(capture, ("llir",)):
        kind = kind_of(step.file or "")
        before, after = (
            strip_debug(text, kind) for text in (reader.before(capture, step), reader.after(capture, step))
        )
        if max(len(before), len(after)) > LARGE:
            yield time_one(f"{capture.kernel} {capture.target}: {step.name}", before, after, kind)


def measure_assembly(captures: list[Capture]) -> list[dict[str, Any]]:
    """Whole PTX and SASS files: of one target against the other, and of one kernel against the other."""
    rows = []
    by_case = {(capture.kernel, capture.target): capture for capture in captures}
    for stage in ("ptx", "sass"):
        for one, other in ((CASES[0], CASES[1]), (CASES[2], CASES[3]), (CASES[0], CASES[2])):
            before, after = (strip_debug(reader.stage_text(by_case[case], stage), stage) for case in (one, other))
            name = f"{' '.join(one)} and {' '.join(other)}: {stage}"
            rows.append(time_one(name, before, after, stage))
    return rows


def time_one(name: str, before: str, after: str, kind: str) -> dict[str, Any]:
    """The time of one diff, the least of three."""
    seconds, cpu = [], []
    for _ in range(3):
        started, busy = time.perf_counter(), time.process_time()
        found = diff(before, after, kind)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - busy)
    return {
        "name": name,
        "kind": kind,
        "bytes": [len(before), len(after)],
        "seconds": round(min(seconds), 3),
        "cpu_seconds": round(min(cpu), 3),
        "shown": found.stat.lines,
    }


def judge(
    pairs: list[dict[str, Any]], renumbered: list[dict[str, Any]], large: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Every bar with its figure."""
    shown, git = sum(row["shown"] for row in pairs), sum(row["git_lines"] for row in pairs)
    only = [row for row in pairs if row["only_renumbered"]]
    slowest = max(large, key=lambda row: row["seconds"])
    over_git = max(row["ms"] - MOST_TIMES_GIT * row["git_ms"] for row in pairs)
    ratios = [row["ms"] / row["git_ms"] for row in pairs]
    bars = [
        bar("lines shown over git's", shown / git, MOST_SHOWN, shown=shown, git=git),
        bar("the same, the aim", shown / git, AIM),
        bar("lines shown where a pass only renumbered", sum(row["shown"] for row in only), 0, passes=len(only)),
        bar("lines shown of a text renumbered", sum(row["shown"] for row in renumbered), 0, texts=len(renumbered)),
        bar("ms over 5 times git's, the worst pair", over_git, AND_MILLISECONDS),
        figure("times git's, the median pair", statistics.median(ratios)),
        figure("times git's, the worst pair", max(ratios)),
        figure("ms, the median pair", statistics.median(row["ms"] for row in pairs)),
        figure("ms, the worst pair", max(row["ms"] for row in pairs)),
        figure("ms of CPU, the median pair", statistics.median(row["cpu_ms"] for row in pairs)),
        figure("ms of CPU, the worst pair", max(row["cpu_ms"] for row in pairs)),
        figure("seconds of CPU, the worst large text", max(row["cpu_seconds"] for row in large)),
        bar("seconds, the worst large text", slowest["seconds"], MOST_SECONDS_LARGE, text=slowest["name"]),
    ]
    for kernel, target in CASES:
        of_case = [row for row in pairs if (row["kernel"], row["target"]) == (kernel, target)]
        ratio = sum(row["shown"] for row in of_case) / sum(row["git_lines"] for row in of_case)
        bars.append(figure(f"lines shown over git's, {kernel} {target}", ratio))
    return bars


def bar(name: str, value: float, limit: float, **details: Any) -> dict[str, Any]:
    """One figure, the most that it may be, and whether it is."""
    return {"name": name, "value": round(value, 4), "bar": limit, "met": value <= limit, **details}


def figure(name: str, value: float) -> dict[str, Any]:
    """A figure without a bar."""
    return {"name": name, "value": round(value, 4)}


def report(pairs: list[dict[str, Any]], large: list[dict[str, Any]], bars: list[dict[str, Any]]) -> None:
    """Print it all."""
    for row in pairs:
        print(
            f"{row['kernel']:9} {row['target']:6} {row['step']:>3} {row['pass'][:42]:42}"
            f" shown {row['shown']:5} git {row['git_lines']:5}  {row['ms']:6.1f} ms, git {row['git_ms']:5.1f}"
        )
    for row in large:
        print(f"{row['name'][:62]:62} {sum(row['bytes']) / 1e6:5.2f} MB {row['seconds']:6.2f} s")
    for row in bars:
        verdict = f"bar {row['bar']:<5} {'met' if row['met'] else 'MISSED'}" if "bar" in row else ""
        print(f"{row['name']:48} {row['value']:9.3f}  {verdict}".rstrip())


def count_lines(text: str) -> int:
    """The lines that a diff says were taken out or put in."""
    return sum(line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")) for line in text.splitlines())


def run_text(*command: str) -> str:
    """What `command` prints; git says 1 where files differ."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main()
