"""A browser for the tests of pages: the Chromium of the system, one process for each worker; nothing is downloaded."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
)  # fmt: skip
"""It asks nobody for anything, and works for root and without a screen. The first name takes half of the time."""

Opened: TypeAlias = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser. Skips where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make setup, make test")
    program = os.environ.get("DSE_TEST_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium: apt install chromium, or name one in DSE_TEST_BROWSER")
    with driver.sync_playwright() as player:
        started = player.chromium.launch(executable_path=program, headless=True, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Opened]:
    """Open a file as a page of its own; after the test: it said no error and asked for nothing but itself."""
    contexts, heard, asked, files = [], list[str](), list[str](), list[str]()

    def opened(path: Path, *, wait: bool = True, width: int = 1240, height: int = 900, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        context.set_default_timeout(60_000)  # machines are busy at times
        page = context.new_page()
        page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        files.append(path.as_uri())
        page.goto(path.as_uri())
        if wait:
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert heard == []
    assert asked == files
