"""The bundled kernels are right for any shape: by Triton's interpreter here, on a GPU in tests/gpu."""

import os
import subprocess
import sys

import pytest

from tests.compile.conftest import ROOT

pytest.importorskip("torch")


def test_the_bundled_kernels_agree_with_float64_for_awkward_shapes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "tests" / "kernel_shapes.py"), "cpu"],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path)},
    )
    assert "WRONG" not in done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("right") >= 20


def test_a_kernel_file_without_torch_still_compiles(tmp_path):
    """Nothing in the bundled files imports torch: they compile where it cannot be imported."""
    (tmp_path / "torch.py").write_text("raise ImportError('torch is not here')")
    done = subprocess.run(
        [sys.executable, "-m", "tritonscope", "compile", "matmul", "attention", "-t", "sm_90"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
