"""Where a condition first holds in the snapshots of a capture."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope.bisection import brought_by, first_holding, judge_by
from tritonscope.cli import main
from tritonscope.conditions import parse_condition
from tritonscope.model import Capture
from tritonscope.store import reader


@pytest.fixture
def made(capture: Callable[..., Path]) -> Capture:
    return reader.open_capture(capture())


def found_for(made: Capture, text: str) -> tuple[str, str | None, str | None] | None:
    found = first_holding(made, judge_by(parse_condition(text)))
    if found is None:
        return None
    return (
        found.first.name,
        found.inner.step if found.inner else None,
        found.until.name if found.until else None,
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("convert_layout>0", ("step 2, tritongpu-coalesce (ttgir)", None, "step 3, llvm.to_module (llir)")),
        ("ttg.convert_layout>=1", ("step 2, tritongpu-coalesce (ttgir)", None, "step 3, llvm.to_module (llir)")),
        ("layout>0", None),
        ("contains(constant 2)", ("step 0, inline (ttir)", None, "step 2, tritongpu-coalesce (ttgir)")),
        ("not contains(constant 1)", ("step 0, inline (ttir)", "0.1", None)),
        ("arith.constant>0", ("stage source", None, "step 2, tritongpu-coalesce (ttgir)")),
        ("add>0", ("step 3, llvm.to_module (llir)", None, "step 4, llvm.optimize_module (llir)")),
        ("convert_layout<1 and constant<1", ("step 3, llvm.to_module (llir)", None, None)),
        ("/^\\s*ret;$/", ("stage ptx", None, None)),
        ("/DILocation/", None),  # locations are no part of it
    ],
)
def test_the_first_place_is_exact(made: Capture, condition: str, expected: tuple[str, ...] | None) -> None:
    assert found_for(made, condition) == expected


def test_the_lines_are_those_that_are_new(made: Capture) -> None:
    condition = parse_condition("convert_layout>0")
    found = first_holding(made, judge_by(condition))
    assert found is not None
    ((number, text),) = brought_by(found, condition)
    assert "ttg.convert_layout" in text
    assert found.first.text.split("\n")[number - 1] == text


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_command_judges_as_for_git_bisect(made: Capture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = script(tmp_path / "check", 'echo seen "$1"; grep -q inline "$1"; ! grep -q convert_layout "$1"')
    assert main(["bisect", made.path, "--check", check, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["first"]
    assert (first["step"], first["pass"], first["lines"]) == ("2", "tritongpu-coalesce", [])
    skips = script(tmp_path / "skips", 'grep -q convert_layout "$1" && exit 125; grep -q "arith.constant" "$1"')
    assert main(["bisect", made.path, "--check", skips, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first"]["pass"] == "llvm.to_module"
    assert main(["bisect", made.path, "--check", "true"]) == 1
    assert main(["bisect", made.path, "--check", script(tmp_path / "bad", "exit 200")]) == 2
    assert "ended with 200" in capsys.readouterr().err
    assert main(["bisect", made.path, "--check", "/nowhere/at-all"]) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--fail-if", "convert_layout>0 and registers>1"], 2, "one after the other"),
        (["--fail-if", "registers>64"], 1, "does not hold"),
        (["--fail-if", "local_load>0"], 1, "write ttg.local_load for the operation"),
        (["--fail-if", "nothing_like_it>0"], 1, "never holds"),
        (["--fail-if", "spills>"], 2, "not understood"),
        (["--fail-if", "tmem>0"], 2, "does not say its tmem"),
        (["--fail-if", "x>0", "--set", "A=1"], 2, "made already"),
    ],
)
def test_what_cannot_be_found(
    made: Capture, arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bisect", made.path, *arguments]) == code
    assert said in capsys.readouterr().err
