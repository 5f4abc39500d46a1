"""Nsight Compute on a GPU; skipped without either, and where its counters may not be read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import gpu, ncu
from tritonscope.errors import Missing


def _has_ncu() -> bool:
    try:
        return bool(ncu.find(None))
    except Missing:
        return False


pytestmark = [
    pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here"),
    pytest.mark.skipif(not _has_ncu(), reason="Nsight Compute is not installed"),
]


def _tritonscope(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tritonscope", "profile", *arguments, "-o", str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_matmul_waits_where_its_tensor_core_instructions_are(tmp_path: Path) -> None:
    done = _tritonscope(tmp_path, "matmul", "--size", "M=N=K=1024", "--json")
    if "ERR_NVGPUCTRPERM" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["size"]["M"] == 1024
    assert value["samples"] > 100
    assert sum(line["samples"] for line in value["stages"]["sass"]) == value["samples"]
    dot = sum(line["samples"] for line in value["python"] if "tl.dot" in (line["text"] or ""))
    assert dot > 0
    executed = [line["executed"] for line in value["stages"]["sass"] if "MMA" in line["text"]]
    assert executed
    assert min(executed) > 0
    again = _tritonscope(tmp_path, "matmul", "--last", "--json")
    assert json.loads(again.stdout) == value
