"""The parts of `run` that need neither triton nor torch: sizes, templates, ceilings, the text of results."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tritonscope import ceilings, device_state
from tritonscope.errors import KernelFileError, KernelNotFound, UsageError
from tritonscope.model import Check, RunResult
from tritonscope.run_text import print_result, print_table
from tritonscope.sizes import parse_sizes
from tritonscope.spec_template import template
from tritonscope.variants import single


@pytest.mark.parametrize(
    ("texts", "sizes"),
    [
        ([], [{}]),
        (["M=1,N=2"], [{"M": 1, "N": 2}]),
        (["M=1,2,N=3"], [{"M": 1, "N": 3}, {"M": 2, "N": 3}]),
        (["M=N=1k,2k"], [{"M": 1024, "N": 1024}, {"M": 2048, "N": 2048}]),
        (["M=1M", "dtype=fp16,bf16"], [{"M": 1 << 20, "dtype": "fp16"}, {"M": 1 << 20, "dtype": "bf16"}]),
        (["scale=0.5"], [{"scale": 0.5}]),
        (["M=1", "M=2"], [{"M": 2}]),
    ],
)
def test_sizes(texts: list[str], sizes: list[dict[str, Any]]) -> None:
    assert parse_sizes(texts) == sizes


@pytest.mark.parametrize("text", ["", "M", "=1", "M=", "M=1,,2", "1M=3", "M=N=", ",M=1"])
def test_sizes_that_are_not_understood(text: str) -> None:
    with pytest.raises(UsageError, match="--size"):
        parse_sizes([text])


KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add_one(out_ptr, x_ptr, n, stride_x, factor, BLOCK: tl.constexpr, FLAG: tl.constexpr = True):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at * stride_x, mask=at < n) * factor, mask=at < n)
"""


def test_a_template_is_python_that_names_every_argument(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL)
    text = template(path, "add_one")
    module = ast.parse(KERNEL + text)
    (declared,) = [node for node in module.body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(declared.value) == {"add_one": {"signature": "BLOCK=64", "spec": "AddOneSpec"}}
    for name in ("out_ptr", "x_ptr", "n", "stride_x", "factor"):
        assert f'            "{name}": ' in text
    assert 'outputs = {"out_ptr": "updated"}' in text
    assert "FLAG" not in text


def test_a_template_for_a_file_that_has_specs_adds_to_them(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL + '\nTRITONSCOPE = {"other": {}, "add_one": {"summary": "s"}}\n')
    scope: dict[str, Any] = {}
    added = template(path, "add_one")
    declaration = next(line for line in added.splitlines() if line.startswith("TRITONSCOPE"))
    exec('TRITONSCOPE = {"other": {}, "add_one": {"summary": "s"}}\n' + declaration, scope)
    assert scope["TRITONSCOPE"]["add_one"] == {"summary": "s", "signature": "BLOCK=64", "spec": "AddOneSpec"}
    assert "other" in scope["TRITONSCOPE"]


def test_templates_that_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    with pytest.raises(KernelNotFound, match="cannot be read"):
        template(path, "f")
    path.write_text(KERNEL)
    with pytest.raises(KernelNotFound, match="no function 'f'"):
        template(path, "f")
    path.write_text(KERNEL + template(path, "add_one"))
    with pytest.raises(KernelFileError, match="AddOneSpec already"):
        template(path, "add_one")
    path.write_text("def f(:")
    with pytest.raises(KernelFileError, match="not Python"):
        template(path, "f")


def test_ceilings_are_kept_by_device(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    assert ceilings.known(environment) == {}
    ceilings.remember("one", {"gbps": 1.0}, environment)
    ceilings.remember("two", {"gbps": 2.0}, environment)
    assert ceilings.known(environment) == {"one": {"gbps": 1.0}, "two": {"gbps": 2.0}}
    (file,) = (tmp_path / "tritonscope").iterdir()
    file.write_text("{broken")
    assert ceilings.known(environment) == {}
    ceilings.remember("one", {"gbps": 1.0}, {"XDG_CACHE_HOME": "/dev/null/nowhere"})  # costs the memory alone


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("1980, 3201, 133.25, 41", {"sm_mhz": 1980, "memory_mhz": 3201, "power_w": 133.25, "temperature_c": 41}),
        ("[N/A], 3201, 133.25, 41", None),
        ("No devices were found", None),
        ("", None),
    ],
)
def test_the_state_of_the_device(says: str, found: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho '{says}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert device_state.read("GPU-1") == found


def test_without_the_tool_there_is_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert device_state.read("") is None


def result(**fields: Any) -> RunResult:
    given: dict[str, Any] = {
        "capture": "k/sm_90-1",
        "kernel": "k",
        "target": "sm_90",
        "size": {"M": 1024, "dtype": "fp16"},
        "config": {},
        "device": {},
        "created": "2026-01-01T00:00:00+00:00",
        "command": ("tritonscope", "run"),
    }
    return RunResult(**{**given, **fields})


TIMED: dict[str, Any] = {
    "ms": {"median": 0.5, "q1": 0.49, "q3": 0.52, "n": 100},
    "tflops": 400.0,
    "gbps": 100.0,
    "ceilings": {"tflops": 800.0, "gbps": 4000.0},
    "of_ceiling": {"tflops": 0.5, "gbps": 0.025},
    "baselines": {"cuBLAS": {"ms": 0.45, "ratio": 0.9}},
}


def printed(*results: RunResult) -> str:
    console = Console(width=200, color_system=None, force_terminal=False)
    with console.capture() as capture:
        for each in results:
            print_result(each, console)
        if len(results) > 1:
            print_table(results, console)
    return capture.get()


def test_a_result_in_words() -> None:
    error = {"output": "c", "relative": 2e-4, "max_abs": 0.1, "max_relative": 0.01, "worst_index": [3, 4]}
    checks = (Check("reference", True, "close", 4), Check("bounds", True, "none", 4))
    text = printed(result(**TIMED, correct=True, checked_by="the spec's reference", checks=checks, error=error))
    assert "correct   by the spec's reference: c has relative error 2.00e-04, largest 1.00e-01 at (3, 4)" in text
    assert "0.5 ms (0.49 to 0.52, 100 launches), 400 TFLOP/s (50 % of the 800 measured here)" in text
    assert "cuBLAS    0.45 ms; the kernel is 0.900 x as fast" in text
    assert "passed    reference (4), bounds (4)" in text


def test_what_is_wrong_is_said() -> None:
    checks = (Check("written", False, "1 of 9 elements"), Check("bounds", True, "none"))
    text = printed(result(correct=False, checked_by="x", checks=checks))
    assert "WRONG" in text
    assert "FAILED    written: 1 of 9 elements" in text
    assert "FAULT     an illegal memory access" in printed(result(fault="an illegal memory access"))
    assert "unchecked nothing was checked" in printed(result(**TIMED))


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in printed(result(fault="\x1b[31m"), result(size={"dtype": "\x1b[2J"}))


def test_several_results_as_table_and_plot() -> None:
    slow = {**TIMED, "ms": {**TIMED["ms"], "median": 1.0}, "tflops": 200.0}
    text = printed(result(**TIMED, correct=True), result(**slow, size={"M": 2048, "dtype": "fp16"}, correct=False))
    table, plot = text.rpartition("cuBLAS \n")[2], text.splitlines()[-3:]
    assert "M=1024   correct" in table
    assert "WRONG" in table
    assert "90.0" in table
    bars = [line.count("█") for line in plot]
    assert bars[0] == pytest.approx(2 * bars[1], abs=2)
    assert "|" in plot[0]
    assert json.dumps(plot[2]).count("cuBLAS") == 1


def test_one_value_where_one_is_taken() -> None:
    assert single("--set", ["A=1", "B=x"]) == {"A": "1", "B": "x"}
    with pytest.raises(UsageError, match="--set A has several values"):
        single("--set", ["A=1,2"])
