"""Makes the pictures of the report in the docs: ``python -m tests.browser.pictures FOLDER``, where Chromium is."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from dse.cli.main import main as dse
from tests.browser.conftest import NAMES, QUIET
from tests.browser.reports import network, write_report


def jpeg(page: Any, folder: Path, out: Path) -> None:
    """The report of the JPEG decoder, from the choice of the mapping to the partitions."""
    network_file = Path(__file__).parents[2] / "actors" / "jpeg" / "jpeg.xdf"
    assert dse(["explore", str(network_file), "--weights", "nominal", "--out", str(folder / "jpeg")]) == 0
    _open(page, folder / "jpeg" / "report.html")
    page.get_by_label("search firings").fill("idct2d#4")
    page.get_by_label("search firings").press("Enter")
    page.get_by_role("button", name="show the selected firing").click()
    for _ in range(6):
        page.get_by_role("button", name="zoom out").click()
    _picture(page, out / "report.png", _top(page, "#network-sides") - 52, _top(page, "#partitions-sides") + 150)


def large(page: Any, folder: Path, out: Path) -> None:
    """110 actors on two mappings beside each other."""
    page.set_viewport_size({"width": 1700, "height": 1000})
    _open(page, write_report(folder / "large.html", network(110), firings=22_000, mappings=2))
    page.get_by_label("beside").select_option("1")
    page.wait_for_selector("html[data-ready='#1 #2']", state="attached")
    top = _top(page, "#network-sides") - 48
    _picture(page, out / "report-110.png", top, top + 950)


def _open(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")


def _top(page: Any, place: str) -> float:
    return float(page.locator(place).evaluate("e => e.getBoundingClientRect().top + scrollY"))


def _picture(page: Any, path: Path, top: float, bottom: float) -> None:
    page.wait_for_timeout(300)
    width = page.viewport_size["width"]
    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": top, "width": width, "height": bottom - top})
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def main() -> None:
    """Make them all."""
    out = Path(sys.argv[1])
    program = next(filter(None, map(shutil.which, NAMES)))
    with TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=program, args=list(QUIET))
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        jpeg(page, Path(folder), out)
        large(page, Path(folder), out)
        browser.close()


if __name__ == "__main__":
    main()
