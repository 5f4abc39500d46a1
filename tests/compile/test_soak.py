"""Twenty compiles, killed at random moments: `benchmarks/soak.py`, which does as many as it is asked for."""

import json
import subprocess
import sys

import pytest

from tests.compile.conftest import ROOT


@pytest.mark.slow
def test_kills_lose_nothing_and_leave_nothing(tmp_path):
    out = tmp_path / "soak.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "soak.py"), "20", "--out", str(out)], capture_output=True, text=True
    )
    found = json.loads(out.read_text())
    folders = [each for each in found["wrong"] if each.endswith("are left in the temporary folder")]
    assert [each for each in found["wrong"] if each not in folders] == [], done.stderr
    assert done.returncode == bool(folders), done.stderr
    assert sum(found["happened"].values()) == 20
    assert any("SIG" in how for how in found["happened"])
    assert found["finished_captures"] > 0
    if folders:  # a known fault, see CHANGELOG
        pytest.xfail(folders[0])
