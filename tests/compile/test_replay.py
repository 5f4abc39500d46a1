"""A pass of a capture run again: against what the capture has, with debug output, and where it cannot be."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import request_for
from tritonscope import api
from tritonscope.cli import main
from tritonscope.ir.locations import strip_locations
from tritonscope.model import Capture
from tritonscope.store import reader

FILE = Path(__file__).parents[1] / "kernels" / "scale.py"


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    dumps = tmp_path_factory.mktemp("dumps")
    return api.capture(request_for("scale", "sm_90", FILE), dumps, python=sys.executable, command=["test"], timeout=300)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["replay", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("name", ["tritongpu-coalesce", "convert-triton-to-tritongpu", "symbol-dce#2"])
def test_a_pass_again_leaves_what_it_left(captured: Capture, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, captured.path, "--pass", name, "--json")
    told = json.loads(out)
    assert (code, told["outcome"], told["same"]) == (0, "passed", True)
    assert told["stat"]["changed"] == told["stat"]["added"] == told["stat"]["removed"] == 0
    assert told["step"] == reader.find_step(captured, name).step


def test_the_ir_goes_to_standard_output_or_as_a_diff(captured: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, captured.path, "--pass", "tritongpu-coalesce")
    assert code == 0
    assert "tt.func public @scale" in out
    assert out.rstrip() == strip_locations(out).rstrip()
    assert "tritongpu-coalesce passed (as recorded)" in err
    code, out, _ = run(capsys, captured.path, "--pass", "tritongpu-coalesce", "--diff")
    assert "tt.func" not in out
    assert "nothing to show" in out


def test_its_debug_output_is_shown(captured: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    name = "tritongpu-coalesce"
    code, out, err = run(capsys, captured.path, "--pass", name, "--debug-only", name)
    assert code == 0
    assert f"[{name}]" in err or "nothing was printed" in err
    assert f"[{name}]" not in out
    _, _, err = run(capsys, captured.path, "--pass", name, "--debug-only", "no-such-type")
    assert "nothing was printed for no-such-type" in err


def test_what_the_compiler_is_asked_to_print_is_shown(captured: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, captured.path, "--pass", "inline", "--env", "MLIR_ENABLE_DUMP=1")
    assert "IR Dump Before" in err
    assert "IR Dump Before" not in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no pass of scale/.* failed"),
        (["--pass", "ptxas"], "is no pass over MLIR"),
        (["--pass", "llvm.to_module"], "is no pass over MLIR"),
        (["--pass", "0.1"], "runs inside step 0"),
        (["--pass", "nope"], "has no pass 'nope'"),
    ],
)
def test_what_cannot_be_run_again(
    captured: Capture, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    code, out, err = run(capsys, captured.path, *arguments)
    assert (code, out) == (2, "")
    assert re.search(says, err)
    assert len(err.splitlines()) == 1


def test_the_pass_that_failed_needs_no_name(capture, capsys: pytest.CaptureFixture[str]) -> None:
    failed = capture("warp_specialized", "sm_90")
    code, out, _ = run(capsys, failed.path, "--json")
    told = json.loads(out)
    assert code == 3
    assert (told["pass"], told["outcome"], told["same"]) == ("nvgpu-warp-specialization", "failed", True)
    assert told["message"] == failed.failure.message
