"""The table of `tritonscope passes` at the widths that terminals have."""

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit.synthetic import record
from tritonscope.cli import passes, terminal

LONG = "triton-nvidia-optimize-descriptor-encoding"
OPTIONS = "cse-between-iterations=false max-iterations=10 max-num-rewrites=-1 region-simplify=normal"


@pytest.mark.parametrize("width", [80, 120, 200])
def test_names_of_passes_stay_whole(capture: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    numbers: dict[str, Any] = {"ops_before": 1234, "ops_after": 1230, "changed": True, "ms": 123.4}
    folder = capture(events=[record("6", "ttgir", LONG, options=OPTIONS, **numbers)])
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "console", lambda: Console(file=shown, width=width))
    args = argparse.Namespace(capture=str(folder), dumps=None, json=False, changed=False, sort="step")
    assert passes.run(args) == 0
    lines = shown.getvalue().split("\n")
    (line,) = [line for line in lines if LONG in line]
    assert "1234 -> 1230" in line
    assert ("changed" if width > 80 else "*") in line
    assert ("cse-between" in line) == (width > 80)
    assert max(map(len, lines)) <= width
