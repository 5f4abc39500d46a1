"""`tritonscope compare`: one kernel compiled in two ways."""

import json
import os
import sys
from pathlib import Path

import pytest

from tritonscope.cli import main
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.stats import op_counts
from tritonscope.store import reader

pytest.importorskip("triton")

WRONG = Path(__file__).resolve().parents[1] / "kernels" / "wrong.py"
COMMAND = ["compare", f"{WRONG}:right", "-t", "sm_90"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """One warp and four: the layouts of the loads, and all that follows, are others."""
    dumps = tmp_path_factory.mktemp("compare")
    out = dumps / "found.json"
    with out.open("w") as file:
        saved, sys.stdout = sys.stdout, file
        try:
            code = main([*COMMAND, "--option", "num_warps=1,4", "-o", str(dumps), "--json"])
        finally:
            sys.stdout = saved
    assert code == 0
    return dumps, json.loads(out.read_text())


def test_where_they_part(compared):
    dumps, found = compared
    left, right = (reader.resolve(dumps, found[side]).capture for side in ("left", "right"))
    assert "num_warps" in found["summary"]
    assert [left.metadata["num_warps"], right.metadata["num_warps"]] == [1, 4]
    assert found["first"]["pass"] == "convert-triton-to-tritongpu"
    verdicts = {each["stage"]: each["verdict"] for each in found["stages"]}
    assert verdicts["ttir"] == "identical"
    assert verdicts["ttgir"] == "differs"
    assert found["stats"]["left"]["resources"]["threads"] == 32
    assert found["stats"]["right"]["resources"]["threads"] == 128


def test_operations_that_one_has_more_of(compared):
    """Each parting is the difference of two counts; they are counted here anew."""
    dumps, found = compared
    left, right = (reader.resolve(dumps, found[side]).capture for side in ("left", "right"))
    assert found["partings"]
    for each in found["partings"]:
        counts = []
        for capture, step in ((left, each["left_step"]), (right, each["right_step"])):
            record = reader.find_step(capture, step)
            kind = kind_of(reader.file_after(capture, record))
            counts.append(op_counts(strip_debug(reader.after(capture, record), kind), kind))
        assert each["operations"] == {
            name: counts[1][name] - counts[0][name]
            for name in {*counts[0], *counts[1]}
            if counts[1][name] != counts[0][name]
        }


def test_as_text(compared, capsys):
    dumps, found = compared
    assert main([*COMMAND, "--option", "num_warps=1,4", "-o", str(dumps)]) == 0
    said = capsys.readouterr().out
    assert "the IR is first another after convert-triton-to-tritongpu" in said
    assert found["left"] in said
    assert "threads" in said


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "give one thing two values"),
        (("--option", "num_warps=1,2,4"), 2, "3 were asked for"),
        (("--option", "num_warps=1,2", "--size", "n=1", "-s", "*fp32"), 2, "give one of them"),
        (("--option", "num_warps=1,2", "--run"), 5, "no GPU here"),
        (("--set", "BLOCK=64,63"), 3, "did not compile"),
    ],
)
def test_what_is_refused(arguments, code, says, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tritonscope.gpu.present", lambda: None)
    assert main([*COMMAND, "-o", str(tmp_path), *arguments]) == code
    assert says in capsys.readouterr().err


def test_one_size(tmp_path, capsys):
    pytest.importorskip("torch")
    command = [*COMMAND, "-o", str(tmp_path), "--option", "num_warps=1,2", "--json", "--size"]
    assert main([*command, "n=1,2"]) == 2
    assert "2 sizes" in capsys.readouterr().err
    assert main([*command, "n=64"]) == 0
    found = json.loads(capsys.readouterr().out)
    components = reader.resolve(tmp_path, found["left"]).capture.components
    assert "tt.divisibility" in components["attributes"]["n"]


@pytest.mark.skipif("TRITONSCOPE_OTHER_PYTHON" not in os.environ, reason="needs a Python with another Triton")
def test_two_tritons(tmp_path, capsys):
    other = os.environ["TRITONSCOPE_OTHER_PYTHON"]
    assert main([*COMMAND, "--python", sys.executable, "--python", other, "-o", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    versions = [reader.resolve(tmp_path, found[side]).capture.versions["triton"] for side in ("left", "right")]
    assert versions[0] != versions[1]
    assert found["only_left"]
    assert found["only_right"]
