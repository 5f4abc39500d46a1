"""What needs a GPU; skipped without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import gpu

pytestmark = pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here")

ROOT = Path(__file__).resolve().parents[2]


def test_the_bundled_kernels_agree_with_float64():
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "kernel_shapes.py"), "cuda"], capture_output=True, text=True
    )
    assert "WRONG" not in done.stdout
    assert done.returncode == 0, done.stderr


def test_the_default_target_is_the_gpu_that_is_there(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tritonscope", "compile", "matmul", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    present = gpu.present()
    assert present is not None
    assert json.loads(done.stdout)["target"] == present.name
    assert present.name in done.stderr
