"""What needs a GPU; skipped without one."""

import json
import subprocess
import sys

import pytest

from tritonscope import gpu

pytestmark = pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here")


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
