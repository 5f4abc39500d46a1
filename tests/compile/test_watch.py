"""`tritonscope watch`: a save is compiled, and compared with the last that compiled."""

import subprocess
import sys

KERNEL = """\
import triton
import triton.language as tl

TRITONSCOPE = {"add": {"signature": "x=*fp32:16, n=i32, BLOCK=64"}}


@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
"""


def test_a_save_is_compared_with_the_one_before(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    command = [sys.executable, "-m", "tritonscope", "watch", "kernel.py:add", "-t", "sm_90", "--saves", "1"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, stdout=subprocess.PIPE) as watch:
        assert watch.stderr is not None
        for line in watch.stderr:
            if "watching" in line:
                break
        file.write_text(KERNEL.replace("+ 1", "+ 2"))
        out, _ = watch.communicate(timeout=120)
    assert watch.returncode == 0
    first, second = out.split("  ok\n")[1:]
    assert "registers" in first
    assert "ttir " in second
    assert "lines differ" in second
    assert "first apart after" in second
    assert f"tritonscope diff {tmp_path}" in second
