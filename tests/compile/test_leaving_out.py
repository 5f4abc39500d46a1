"""Passes left out, and compiles that stop early, against a backend that never adds the pass."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import KERNELS, artefact, request_for
from tritonscope import api
from tritonscope.cli import main
from tritonscope.errors import UsageError
from tritonscope.model import Capture
from tritonscope.store import reader

KERNEL, TARGET = "matmul_grouped", "sm_90"

#: The plain compile of oracle.py, with one of the backend's functions that add a pass made to add none.
WITHOUT = """
import runpy, sys
from triton.backends.nvidia import compiler

class Without:
    def __init__(self, real):
        self.real = real
    def __getattr__(self, name):
        if name == "add_coalesce":
            return lambda *arguments: None
        value = getattr(self.real, name)
        return Without(value) if type(value).__name__ == "module" else value

compiler.passes = Without(compiler.passes)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    dumps = tmp_path_factory.mktemp("dumps")

    def compiled(*skip: str, stop_after: str | None = None) -> Capture:
        request = request_for(KERNEL, TARGET, skip=skip, stop_after=stop_after)
        return api.capture(request, dumps, python=sys.executable, command=["test"], timeout=300)

    return compiled


@pytest.fixture(scope="module")
def without_coalesce(made) -> Capture:
    return made("tritongpu-coalesce")


def test_a_pass_left_out_gives_what_a_backend_without_it_gives(without_coalesce: Capture, tmp_path: Path) -> None:
    oracle = Path(__file__).with_name("oracle.py")
    subprocess.run(
        [sys.executable, "-c", WITHOUT, str(oracle), str(KERNELS[KERNEL]), KERNEL, TARGET, str(tmp_path)],
        check=True,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
    )
    for stage in ("ttir", "ttgir", "llir", "ptx", "cubin"):
        assert artefact(without_coalesce, stage) == (tmp_path / stage).read_bytes(), stage


def test_it_keeps_its_number_and_is_marked(capture, without_coalesce: Capture) -> None:
    full = capture(KERNEL, TARGET)
    there = [(p.step, p.name) for p in full.passes if "." not in p.step]
    assert [(p.step, p.name) for p in without_coalesce.passes if "." not in p.step] == there
    skipped = [p for p in without_coalesce.passes if p.method == "skipped"]
    assert [(p.name, p.changed, p.file, p.ms) for p in skipped] == [("tritongpu-coalesce", False, None, None)]
    assert artefact(without_coalesce, "ptx") != artefact(full, "ptx")


def test_its_capture_is_another_one_of_the_same_key(
    capture, without_coalesce: Capture, capsys: pytest.CaptureFixture[str]
) -> None:
    full = capture(KERNEL, TARGET)
    assert without_coalesce.key == full.key
    assert Path(without_coalesce.path).name != Path(full.path).name
    assert main(["key", full.path, without_coalesce.path]) == 0
    said = capsys.readouterr().out
    assert said.startswith("The same key")
    assert "without tritongpu-coalesce" in said.splitlines()[0]
    assert main(["show", without_coalesce.path]) == 0
    assert "without tritongpu-coalesce" in capsys.readouterr().out.splitlines()[0]


def test_diff_aligns_it_with_the_whole(capture, without_coalesce: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    full = capture(KERNEL, TARGET)
    assert main(["diff", full.path, without_coalesce.path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["first"] == {"stage": "ttgir", "pass": "tritongpu-coalesce"}
    assert all(row["left_step"] == row["right_step"] for row in found["steps"])
    assert main(["diff", full.path, without_coalesce.path]) == 0
    assert "skipped in +++" in capsys.readouterr().out


def test_passes_that_changed_nothing_are_not_missed(capture, made) -> None:
    full = capture(KERNEL, TARGET)
    outer = [p for p in full.passes if "." not in p.step and not p.changed and p.stage in ("ttir", "ttgir")]
    idle = [p.step for p in outer if not any(q.step.startswith(f"{p.step}.") for q in full.passes)]
    assert len(idle) > 5
    for stage in ("ttgir", "ptx", "cubin"):
        assert artefact(made(*idle), stage) == artefact(full, stage), stage


def test_a_pass_that_is_needed_fails_in_a_sentence(made) -> None:
    found = made("convert-triton-to-tritongpu")
    assert found.status == "failed"
    assert found.failure is not None
    assert found.failure.message


def test_what_is_stopped_keeps_what_came_before(capture, made) -> None:
    full, stopped = capture(KERNEL, TARGET), made(stop_after="tritongpu-coalesce")
    assert (stopped.status, stopped.failure) == ("ok", None)
    last = reader.find_step(full, "tritongpu-coalesce")
    assert [p.step for p in stopped.passes] == [p.step for p in full.passes[: full.passes.index(last) + 1]]
    assert reader.after(stopped, stopped.passes[-1]) == reader.after(full, last)
    assert [stage.stage for stage in stopped.stages] == ["python", "ast", "source", "ttir"]
    assert any("Stopped after step" in note for note in stopped.notes)


def test_a_name_that_no_pass_has_leaves_no_capture(tmp_path: Path) -> None:
    request = request_for(KERNEL, TARGET, skip=("coalesce",))
    with pytest.raises(UsageError, match=r"did you mean .*tritongpu-coalesce"):
        api.capture(request, tmp_path, python=sys.executable, command=["test"])
    assert list(tmp_path.iterdir()) == []
    request = request_for(KERNEL, TARGET, skip=("cse",), env={"TRITONSCOPE_INTERCEPT": "0"})
    with pytest.raises(UsageError, match="cannot be run one by one"):
        api.capture(request, tmp_path, python=sys.executable, command=["test"])
