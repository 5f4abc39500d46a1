"""`tritonscope ablate` on a GPU; skipped without one."""

import json
import subprocess
import sys

import pytest

from tritonscope import gpu

pytestmark = pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here")

PASSES = ("convert-triton-to-tritongpu", "tritongpu-coalesce", "allocate-shared-memory-nv", "cse#1")


def test_passes_are_left_out_run_and_timed(tmp_path):
    passes = [word for name in PASSES for word in ("--pass", name)]
    size = ["--size", "M=N=K=1024", "--reps", "20"]
    command = [sys.executable, "-m", "tritonscope", "ablate", "matmul/pipelined", *size, *passes, "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    whole, *rows = json.loads(done.stdout)
    assert (whole["outcome"], whole["ratio"]) == ("baseline", 1.0)
    assert whole["ms"] > 0
    found = {row["pass"]: row for row in rows}
    assert set(found) == set(PASSES)
    assert found["convert-triton-to-tritongpu"]["outcome"] == "required"
    assert found["tritongpu-coalesce"]["outcome"] == "slower"
    assert found["tritongpu-coalesce"]["ratio"] > 1.02
    assert found["cse#1"]["identical"]
