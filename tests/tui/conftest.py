"""An application over the reference captures, and its screen as text."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from textual.worker import WorkerCancelled

from tritonscope import bundled_kernels
from tritonscope.store import reader
from tritonscope.tui.app import ScopeApp
from tritonscope.tui.browse import BrowseScreen
from tritonscope.tui.session import Session

SIZES = [(80, 24), (120, 40), (200, 60)]
SNAPSHOTS = Path(__file__).resolve().parents[1] / "data" / "tui"


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """Nobody's remembered captures, and none of ours left behind."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)


_DIFFS = {}


@pytest.fixture(autouse=True)
def diffs_once(monkeypatch):
    """Each pass of a reference capture is compared once for all tests, not once for each."""
    original = Session.diff

    def diff(self, step):
        key = (self.capture.path, step.step)
        if key not in _DIFFS:
            _DIFFS[key] = original(self, step)
        return _DIFFS[key]

    monkeypatch.setattr(Session, "diff", diff)
    monkeypatch.setattr(Session, "stat", lambda self, step: diff(self, step).stat)


@pytest.fixture
def dumps(tmp_path):
    """An empty folder: what is shown then are the reference captures."""
    return tmp_path / "dumps"


def reference(kernel, target):
    folder = bundled_kernels.reference_dumps()
    return reader.resolve(folder, f"{kernel}/{target}").capture


async def settled(pilot):
    """Everything that was asked for is on screen: no worker is at work, no message waits."""
    with suppress(WorkerCancelled):  # another capture was opened, and its own follow
        await pilot.app.workers.wait_for_complete()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def text_of(app):
    """The screen, line by line, without colours."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def driven(app, size, script: Callable[..., Awaitable[None]]):
    """Run `script(pilot)` in the application, on a terminal of that size."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await script(pilot)

    asyncio.run(run())


def browse(app) -> BrowseScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, BrowseScreen))


def check_snapshot(name, lines):
    """Compare with tests/data/tui/<name>.txt; TRITONSCOPE_UPDATE=1 writes it instead."""
    path = SNAPSHOTS / f"{name}.txt"
    found = "\n".join(lines) + "\n"
    if os.environ.get("TRITONSCOPE_UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == found, f"see {path}; TRITONSCOPE_UPDATE=1 writes what is there now"


async def check_sizes(pilot, name):
    """The screen that is shown, on terminals of three sizes."""
    for width, height in SIZES:
        await pilot.resize_terminal(width, height)
        await settled(pilot)
        check_snapshot(f"{name}-{width}x{height}", text_of(pilot.app))


@pytest.fixture
def matmul(dumps):
    return ScopeApp(dumps, reference("matmul", "sm_90"))


@pytest.fixture
def attention(dumps):
    return ScopeApp(dumps, reference("attention", "sm_100"))
