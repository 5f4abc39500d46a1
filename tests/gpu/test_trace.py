"""`tritonscope trace` of programs that use the GPU, and running what it captured; skipped without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import gpu

pytestmark = pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here")

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"

INDUCTOR = """
import torch

@torch.compile
def f(x, y):
    return torch.relu(x + y) * 2

x, y = (torch.rand(1000, 100, device="cuda") for _ in range(2))
for _ in range(3):
    f(x, y)
"""


def tritonscope(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tritonscope", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def captured(done: subprocess.CompletedProcess[str]) -> list[dict]:
    return [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    done = tritonscope("trace", "--json", PROGRAMS / "kernels_of_all_kinds.py", cwd=folder)
    assert done.returncode == 7, done.stderr
    return folder, captured(done)


def test_the_winner_is_marked_among_the_times_of_all_configurations(program):
    _, captures = program
    tunings = [entry for each in captures if each["kernel"] == "tuned" for entry in each["tuning"]]
    assert len(tunings) == 2
    best = min(tunings, key=lambda entry: entry["ms"])
    assert [entry["best"] for entry in tunings] == [entry is best for entry in tunings]


def test_a_traced_capture_runs_with_its_recorded_call_without_further_flags(program):
    folder, captures = program
    for kernel in ("scale", "described", "in_gluon"):
        path = next(each["path"] for each in captures if each["kernel"] == kernel)
        done = tritonscope("run", path, "--json", cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads(done.stdout)
        assert result["ms"]["median"] > 0
        assert "called as the traced program did" in result["notes"][0]


def test_what_torch_compile_generates_is_captured_with_its_launches(tmp_path):
    (tmp_path / "compiled.py").write_text(INDUCTOR)
    done = tritonscope("trace", "--json", "compiled.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (capture,) = [each for each in captured(done) if sum(launch["count"] for launch in each["launches"]) >= 3]
    assert capture["kernel"].startswith("triton_")
    assert capture["status"] == "ok"
