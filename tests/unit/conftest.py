"""Captures for the tests of what reads and writes them, and which examples Hypothesis tries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.unit.synthetic import VERSIONS, request, write_events
from tritonscope.store.writer import CaptureWriter

# The same examples on every machine, however busy it is.
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.load_profile("same")


@pytest.fixture
def dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty dumps folder that the commands use by default, and no reference captures."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    monkeypatch.setenv("TRITONSCOPE_DUMPS", str(folder))
    monkeypatch.setattr("tritonscope.bundled_kernels.reference_dumps", lambda: None)
    return folder


@pytest.fixture
def start(dumps: Path) -> Callable[..., CaptureWriter]:
    """Start a capture: only its request is written."""

    def start(kernel: str = "matmul", target: str = "sm_90") -> CaptureWriter:
        return CaptureWriter.create(dumps, request(kernel, target), ["tritonscope", "compile", kernel], VERSIONS)

    return start


@pytest.fixture
def capture(start: Callable[..., CaptureWriter]) -> Callable[..., Path]:
    """Write a whole capture, with any further events before its end; gives its folder."""

    def capture(
        id_: str = "0123456789", kernel: str = "matmul", target: str = "sm_90", status: str = "ok", events: Any = ()
    ) -> Path:
        writer = start(kernel, target)
        write_events(writer, id_)
        for event in events:
            writer.append(event)
        return writer.publish(status, 1.75)

    return capture
