"""`ablate` without a GPU, with the real compiler."""

import json
from pathlib import Path

import pytest

from tritonscope.cli import main

PASSES = ("convert-triton-to-tritongpu", "tritongpu-coalesce", "triton-licm", "triton-licm,tritongpu-coalesce")


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dumps")


def ablated(dumps: Path, *more: str) -> int:
    passes = [word for name in PASSES for word in ("--pass", name)]
    return main(["ablate", "matmul/tiled", "-t", "sm_90", "--static", "-j", "1", "-o", str(dumps), *passes, *more])


def test_static_differences_and_resuming(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ablated(dumps, "--json") == 0
    whole, *rows = json.loads(capsys.readouterr().out)
    assert (whole["pass"], whole["outcome"]) == (None, "baseline")
    assert whole["registers"] > 0
    found = {row["pass"]: row for row in rows}
    assert found["convert-triton-to-tritongpu"]["outcome"] == "required"
    assert found["convert-triton-to-tritongpu"]["detail"]
    coalesce = found["tritongpu-coalesce"]
    assert (coalesce["outcome"], coalesce["identical"]) == ("differs", False)
    assert coalesce["classes"]["global_load"] > whole["classes"]["global_load"]
    assert found["triton-licm"]["outcome"] == "same"
    assert found["triton-licm"]["identical"]
    together = found["triton-licm, tritongpu-coalesce"]
    assert {**together, "pass": 0, "step": 0} == {**coalesce, "pass": 0, "step": 0}
    assert len(list((dumps / "matmul_tiled").glob("sm_90-*"))) == 1
    assert ablated(dumps, "--resume") == 0
    text = capsys.readouterr().out
    assert "bought nothing here" in text
    (log,) = dumps.glob("*/*/ablate.jsonl")
    assert len(log.read_text().splitlines()) == len(PASSES)  # nothing was compiled again


def test_a_name_that_no_pass_has(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", "matmul/tiled", "-t", "sm_90", "--static", "-o", str(dumps), "--pass", "coalesce"]) == 2
    assert "did you mean tritongpu-coalesce" in capsys.readouterr().err


def test_a_size_is_for_what_is_run(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", "matmul/tiled", "-t", "sm_90", "--static", "-o", str(dumps), "--size", "M=1"]) == 2
    assert "--size is for what is run" in capsys.readouterr().err


def test_bisect_compiles_and_looks_it_up(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = ["bisect", "matmul/tiled", "-t", "sm_90", "-o", str(dumps)]
    assert main([*name, "--fail-if", "convert_layout>0", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["first"]
    assert first["before"] == {"convert_layout": 0}
    assert first["after"]["convert_layout"] > 0
    assert any("ttg.convert_layout" in line["text"] for line in first["lines"])
