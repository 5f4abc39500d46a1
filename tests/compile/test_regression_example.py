"""What docs/regression.md says, found again."""

import json
import os
import sys
from pathlib import Path

import pytest

from tritonscope.cli import main
from tritonscope.store import reader

pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]
CACHES = [ROOT.parent / "shared" / "cases" / f"triton-cache-v{version}" for version in ("3.1.0", "3.4.0")]


@pytest.mark.skipif(not all(path.is_dir() for path in CACHES), reason="the two cache folders are not here")
def test_the_caches(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["stats", *map(str, CACHES), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    if "sass" not in found["left"]["code"]:
        pytest.skip("this Triton has no disassembler")
    assert [found[side]["resources"]["registers"] for side in ("left", "right")] == [208, 167]
    loops = [
        next(loop for loop in found[side]["code"]["sass"]["loops"] if loop["classes"].get("tensor_core") == 64)
        for side in ("left", "right")
    ]
    assert [loop["instructions"] for loop in loops] == [196, 225]
    more = {name: loops[1]["classes"][name] - loops[0]["classes"][name] for name in loops[0]["classes"]}
    assert {name: count for name, count in more.items() if count} == {"integer": 20, "move": 9}


@pytest.mark.skipif("TRITONSCOPE_OTHER_PYTHON" not in os.environ, reason="needs a Python with Triton 3.6, beside 3.9")
def test_the_pass(capsys, tmp_path):
    command = ["compare", "matmul/pipelined", "-t", "sm_89", "--python", os.environ["TRITONSCOPE_OTHER_PYTHON"]]
    tiles = [word for name, size in (("M", 64), ("N", 128), ("K", 64)) for word in ("--set", f"BLOCK_{name}={size}")]
    options = ["--option", "num_stages=4", "--option", "num_warps=4"]
    assert main([*command, "--python", sys.executable, *tiles, *options, "-o", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    left, right = (reader.resolve(tmp_path, found[side]).capture for side in ("left", "right"))
    if (left.versions["triton"], right.versions["triton"].rpartition(".")[0]) != ("3.6.0", "3.9"):
        pytest.skip("the example is of Triton 3.6 and 3.9")
    parted = [each for each in found["partings"] if each["operations"]]
    assert parted[1]["pass_name"] == "tritongpu-prefetch"
    assert parted[1]["operations"]["tt.dot"] == 4
    ours, theirs = (
        next(record for record in capture.passes if record.name == "tritongpu-prefetch") for capture in (left, right)
    )
    assert not ours.changed
    assert theirs.changed
