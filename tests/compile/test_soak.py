"""Twenty compiles, killed at random moments: `benchmarks/soak.py`, which does as many as it is asked for."""

import json
import subprocess
import sys

import pytest

from tests.compile.conftest import ROOT


@pytest.mark.any_triton
def test_kills_lose_nothing_and_leave_nothing(tmp_path):
    out = tmp_path / "soak.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "soak.py"), "20", "--out", str(out)], capture_output=True, text=True
    )
    found = json.loads(out.read_text())
    assert found["wrong"] == []
    assert done.returncode == 0, done.stderr
    assert sum(found["happened"].values()) == 20
    assert any("SIG" in how for how in found["happened"])
    assert found["finished_captures"] > 0
