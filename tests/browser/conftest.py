"""A real Chromium, driven by Playwright; without one, or without Playwright, the tests here are skipped."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser that is installed here. It is gone with its file's tests: others run event loops of their own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="install tritonscope[browser]")
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"there is no Chromium here: none of {', '.join(_NAMES)} is on PATH")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # which root cannot have
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=sandbox)
        yield chromium
        chromium.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """An empty page that keeps what it asked for, and what of that its policy refused; and what was let loose."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.requests, page.refused, page.trouble = [], [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("requestfailed", lambda request: request.failure == "csp" and page.refused.append(request.url))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("dialog", lambda dialog: (page.trouble.append(dialog.message), dialog.dismiss()))
    yield page
    page.close()
