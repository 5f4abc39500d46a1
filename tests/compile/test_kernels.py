"""The bundled kernels compile by themselves; that they are right is in test_interpret.py, and on a GPU in tests/gpu."""

import os
import subprocess
import sys


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
