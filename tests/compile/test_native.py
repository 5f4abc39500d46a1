"""The switches inside libtriton: what they speed up prints the same, and without them everything works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import KERNELS, ROOT
from tritonscope.ir.mlir_dump import Dump, read_dumps

COPY = """
import triton
import triton.language as tl

TRITONSCOPE = {"copy": {"signature": "x=*fp32:16, y=*fp32:16, n=i32, BLOCK=256", "options": {"num_warps": 4}}}


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""

# Runs oracle.py with the named switches on, and prints what they answered and how often this process wrote.
SCRIPT = """
import json, os, sys
import triton._C.libtriton
from triton.backends.amd import compiler as amd
from tritonscope.engine import native
from tests.compile import oracle

switches = [name for name in sys.argv[1].split(",") if name]
if "gfx" in sys.argv[4] and hasattr(amd, "get_amd_codegen_revision"):
    amd.get_amd_codegen_revision()  # loads the code generator, which has a buffer of its own
make = amd.HIPBackend.make_amdgcn
amd.HIPBackend.make_amdgcn = staticmethod(lambda *args: (native.flush_errs(), make(*args))[1])
answers = [getattr(native, name)() for name in switches]
oracle.main(*sys.argv[2:])
answers += [getattr(native, "un" + name)() for name in switches if name.startswith("buffer")]
counts = open("/proc/self/io").read() if os.path.exists("/proc/self/io") else ""
writes = next((int(line.split()[1]) for line in counts.splitlines() if line.startswith("syscw")), None)
print(json.dumps({"answers": answers, "writes": writes}))
"""


def run(
    switches: str, file: Path, name: str, target: str, out: Path, **env: str
) -> tuple[bytes, list[bool], int | None]:
    """What a compile with `switches` prints on stderr, what the switches answered, and how often it wrote."""
    out.mkdir()
    with (out / "stderr").open("w+b") as stderr:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, switches, str(file), name, target, str(out)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(out / "cache"), **env},
        )
    printed = (out / "stderr").read_bytes()
    assert done.returncode == 0, printed[-2000:]
    report = json.loads(done.stdout)
    return printed, report["answers"], report["writes"]


def evaluate(code: str, **env: str) -> str:
    """What a fresh process that has loaded libtriton prints after `code`."""
    start = "import triton._C.libtriton\nfrom tritonscope.engine import native\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    return done.stdout.strip()


def dumps(printed: bytes) -> list[Dump]:
    return [item for item in read_dumps(printed.splitlines(keepends=True)) if isinstance(item, Dump)]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_mlir_prints_the_same_without_its_verifier_and_buffered(target, printed, tmp_path):
    fast, answers, _ = run(
        "assume_verified,buffer_dbgs", KERNELS["matmul"], "matmul", target, tmp_path / "fast", MLIR_ENABLE_DUMP="1"
    )
    assert answers == [True, True, True]
    assert dumps(fast) == dumps(printed("matmul", target))
    assert all(dump.complete for dump in dumps(fast))


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_llvm_prints_the_same_buffered_in_far_fewer_writes(target, tmp_path):
    file = tmp_path / "copy_kernel.py"
    file.write_text(COPY)
    plain, _, often = run("", file, "copy", target, tmp_path / "plain", LLVM_IR_ENABLE_DUMP="1")
    buffered, answers, seldom = run("buffer_errs", file, "copy", target, tmp_path / "buffered", LLVM_IR_ENABLE_DUMP="1")
    assert answers == [True, True]
    assert buffered == plain
    assert buffered.count(b"*** IR Dump ") > 100
    if often is not None and seldom is not None:
        assert seldom * 10 < often


def test_switched_off_by_the_environment():
    names = [
        "assume_verified",
        "buffer_errs",
        "flush_errs",
        "unbuffer_errs",
        "buffer_dbgs",
        "flush_dbgs",
        "unbuffer_dbgs",
    ]
    code = f"print([getattr(native, name)() for name in {names}])"
    assert evaluate(code, TRITONSCOPE_NATIVE="0") == str([False] * 7)


@pytest.mark.parametrize(
    "condition",
    [
        "import platform; platform.machine = lambda: 'riscv64'",
        "import sys; sys.platform = 'darwin'",
        "native._libtriton = lambda: ''",
        "native._libtriton = lambda: '/no/such/libtriton.so'",
        "native._libtriton = lambda: __file__ if '__file__' in globals() else native.__file__",
        "native._FUNCTIONS = ()",
    ],
)
def test_off_where_it_cannot_work(condition):
    code = f"{condition}\nprint(native.assume_verified(), native.buffer_errs(), native.buffer_dbgs())"
    assert evaluate(code) == "False False False"


def test_an_option_that_the_library_does_not_know_is_never_given_to_it():
    assert evaluate("native._OPTION = 'mlir-no-such-option'\nprint(native.assume_verified())") == "False"


def test_asking_twice_is_asking_once():
    assert evaluate("print(native.assume_verified(), native.assume_verified())") == "True True"


@pytest.mark.parametrize("stream", ["errs", "dbgs"])
def test_flushing_and_going_back(stream):
    calls = ["flush", "unbuffer", "buffer", "flush", "flush", "buffer", "unbuffer", "unbuffer", "flush"]
    code = f"print(*(getattr(native, call + '_{stream}')() for call in {calls}))"
    assert evaluate(code) == "False False True True True True True False False"
