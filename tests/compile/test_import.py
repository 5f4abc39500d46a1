"""What the compiler itself leaves behind, imported: the same as our own capture of the same kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import run_oracle
from tritonscope import keydiff
from tritonscope.ir.locations import strip_locations
from tritonscope.model import Capture
from tritonscope.store import reader


def imported(path: Path, dumps: Path, *more: str, text: bytes | None = None) -> list[Capture]:
    done = subprocess.run(
        [sys.executable, "-m", "tritonscope", "import", str(path), "-o", str(dumps), "--json", *more],
        input=text,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    return [reader.open_capture(Path(json.loads(line)["path"])) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_cache_entry_is_the_capture_less_its_passes(capture, plain, tmp_path, target):
    ours = capture("matmul", target)
    (theirs,) = imported(plain("matmul", target) / "cache", tmp_path)
    assert theirs.kernel == "matmul"
    assert theirs.target == ours.target
    stages = [stage.stage for stage in ours.stages if stage.stage not in ("python", "ast")]
    assert [stage.stage for stage in theirs.stages] == stages
    for stage in stages:
        assert reader.stage_bytes(theirs, stage) == reader.stage_bytes(ours, stage), stage
    # A launch's empty attributes count in the key, which is not the same here for that.
    assert theirs.metadata == {**ours.metadata, "hash": theirs.key}
    assert theirs.versions["triton"] == ours.versions["triton"]
    known = {name: value for name, value in theirs.resources.items() if value is not None}
    assert known.items() <= ours.resources.items()
    assert "registers" in known
    mine = ours.components
    assert theirs.components["options"] == mine["options"]
    assert theirs.components["environment"] == mine["environment"]
    assert theirs.components["backend"]["name"] == mine["backend"]["name"]
    assert keydiff.compare(theirs.components, mine) == [], "of what is known, nothing differs"
    # Triton takes the kernel's tensor descriptors apart before TTIR: how it was called is not to be seen there.
    assert "signature" in theirs.components["unknown"]


def test_a_dump_folder(capture, tmp_path):
    run_oracle(
        "matmul", "sm_90", tmp_path, subprocess.DEVNULL, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(tmp_path / "dump")
    )
    (theirs,) = imported(tmp_path / "dump", tmp_path / "dumps", "--no-sass")
    assert theirs.target == "sm_90"
    for stage in ("ttir", "ttgir", "ptx", "cubin"):
        assert reader.stage_bytes(theirs, stage) == reader.stage_bytes(capture("matmul", "sm_90"), stage)


@pytest.mark.parametrize(("name", "target"), [("matmul", "sm_90"), ("matmul", "gfx942")])
def test_the_passes_of_a_dump_are_those_of_the_capture(capture, printed, tmp_path, name, target):
    ours = capture(name, target)
    (theirs,) = imported(Path("-"), tmp_path, text=printed(name, target))
    assert (theirs.kernel, theirs.target) == (ours.kernel, ours.target)
    assert reader.stage_text(theirs, "ttir") == reader.stage_text(ours, "ttir")
    # Our capture has LLVM's steps, too; what runs inside a pass stands in the same place, nested or not.
    mine = [p for p in ours.passes if not p.name.startswith("llvm.") and p.name not in ("ptxas", "amdgcn", "hsaco")]
    mine = [p for p in mine if p.stage in ("ttir", "ttgir", "llir")]
    assert [p.name for p in theirs.passes] == [p.name for p in mine]
    if any(p.options for p in theirs.passes):  # Triton 3.6's headers have none
        assert [p.options for p in theirs.passes] == [p.options for p in mine]
    compared = 0
    inside = {p.step.partition(".")[0] for p in (*ours.passes,) if "." in p.step}
    for a, b in zip(theirs.passes[:-1], mine[:-1], strict=True):
        if "." in b.step or b.step in inside:
            continue  # what these left only a capture can tell
        assert strip_locations(reader.after(theirs, a)) == strip_locations(reader.after(ours, b)), b.name
        assert a.changed == b.changed, b.name
        compared += 1
    assert compared > 50


def test_llvms_own_dump_after_mlirs(tmp_path):
    """Both at once, of a small kernel, twice in one stream."""
    script = tmp_path / "two.py"
    script.write_text(
        "import triton, triton.language as tl\n"
        "from triton.backends.compiler import GPUTarget\n"
        "from triton.compiler import ASTSource\n"
        "@triton.jit\n"
        "def add(x, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    tl.store(x + i, tl.load(x + i) + 1)\n"
        "for block in (64, 128):\n"
        "    source = ASTSource(add, {'x': '*fp32', 'BLOCK': 'constexpr'}, {(1,): block})\n"
        "    triton.compile(source, target=GPUTarget('cuda', 90, 32))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        check=True,
        env={
            **os.environ,
            "TRITON_CACHE_DIR": str(tmp_path / "cache"),
            "MLIR_ENABLE_DUMP": "1",
            "LLVM_IR_ENABLE_DUMP": "1",
        },
    )
    both = imported(Path("-"), tmp_path / "dumps", text=done.stderr)
    assert [(c.kernel, c.target) for c in both] == [("add", "sm_90")] * 2
    for each, block in zip(both, (64, 128), strict=True):
        assert f"tensor<{block}xf32" in reader.stage_text(each, "ttir")
        steps = {p.name: p.step for p in each.passes if p.name.startswith("llvm.")}
        assert list(steps) == ["llvm.optimize_module", "llvm.translate_to_asm"]
        for step in steps.values():
            assert sum(p.step.startswith(f"{step}.") for p in each.passes) > 20
    # The cache that this left holds both as well.
    entries = imported(tmp_path / "cache", tmp_path / "dumps", "--no-sass")
    assert [c.kernel for c in entries] == ["add", "add"]
    assert [c.components["signature"] for c in entries] == [{"x": "*fp32"}] * 2
