"""What importing a large file costs, in memory at most and in time: a trace, and a compiler's dump, of a gigabyte.

    python benchmarks/import.py [MIB]

The files are made of the reference capture of matmul, again and again under other names. Nothing is compiled, and
machine code is left alone. It prints "met" or "missed" beside each bar, and puts the figures into
benchmarks/import.json.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).with_name("import.json")
MEMORY = 300.0  # MB, of the whole process
LAUNCHES = 2000  # for each compilation of the trace


def trace() -> Iterator[bytes]:
    """The lines of a trace, without end: a compilation, then launches of it."""
    capture, texts = _reference()
    content = {f"matmul.{stage}": texts[stage] for stage in ("ttir", "ttgir", "llir", "ptx")}
    launch = json.dumps({"event_type": "launch", "grid": [64, 64, 1], "extracted_args": {"M": 4096} | arguments()})
    number = 0
    while True:
        number += 1
        payload = {
            "metadata": {**capture.metadata, "hash": f"{number:064x}"},
            "file_content": {name: f"{text}\n" for name, text in content.items()},
        }
        yield json.dumps({"event_type": "compilation", "payload": payload}).encode() + b"\n"
        for _ in range(LAUNCHES):
            yield launch.encode() + b"\n"


def arguments() -> dict[str, Any]:
    """Arguments as tritonparse writes them."""
    tensor = {"type": "tensor", "shape": [4096, 4096], "dtype": "torch.float16", "device": "cuda:0", "numel": 1 << 24}
    return dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), tensor)


def printed() -> Iterator[bytes]:
    """What MLIR_ENABLE_DUMP prints, without end: one kernel after the other, each of another name."""
    from tritonscope.store import reader

    capture, _ = _reference()
    passes = [p for p in capture.passes if "." not in p.step and p.stage in ("ttir", "ttgir", "llir")]
    passes = [p for p in passes if not p.name.startswith("llvm.")]
    header = "// -----// IR Dump Before X: {} ('builtin.module' operation) //----- //\n"
    dumps = [f"{header.format(p.name)}{reader.before(capture, p)}\n\n" for p in passes]
    number = 0
    while True:
        number += 1
        yield from (text.replace("@matmul(", f"@matmul{number}(").encode() for text in dumps)


def _reference() -> tuple[Any, dict[str, str]]:
    from tritonscope import bundled_kernels
    from tritonscope.store import reader

    reference = bundled_kernels.reference_dumps()
    assert reference is not None
    capture = reader.resolve(reference, "matmul/sm_90").capture
    return capture, {s.stage: reader.stage_text(capture, s.stage) for s in capture.stages if s.lines is not None}


def measure(make: Callable[[], Iterator[bytes]], mib: int) -> dict[str, Any]:
    """Import a file of `mib` MiB in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path, size = Path(folder, "file"), 0
        with path.open("wb") as file:
            for piece in make():
                size += file.write(piece)
                if size >= mib << 20:
                    break
        command = [sys.executable, "-m", "tritonscope", "import", str(path), "--no-sass", "--json", "-o", f"{folder}/d"]
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert process.stdout is not None
        captures = sum(1 for _ in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return {
            "mib": size >> 20,
            "captures": captures,
            "peak_mb": round(usage.ru_maxrss / 1024, 1),
            "seconds": round(time.perf_counter() - start, 1),
        }


def main() -> None:
    mib = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    rows: dict[str, Any] = {}
    for name, make in (("trace", trace), ("MLIR_ENABLE_DUMP", printed)):
        found = measure(make, mib)
        verdict = "met" if found["peak_mb"] <= MEMORY else "missed"
        rows[name] = {**found, "bar_mb": MEMORY, "verdict": verdict}
        print(
            f"{name}: {found['mib']} MiB, {found['captures']} captures, {found['seconds']} s, "
            f"{found['peak_mb']} MB at most (bar {MEMORY:.0f}): {verdict}",
            flush=True,
        )
    machine = {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()}
    RESULTS.write_text(json.dumps({"rows": rows, "machine": machine}, indent=1) + "\n")


if __name__ == "__main__":
    main()
