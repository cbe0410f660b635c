"""The report in a browser: choose, compare, zoom, search, by pointer and by keys, large networks, hostile names."""

import json
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.browser.conftest import Opened
from tests.browser.reports import network, write_report
from tests.property.hostile_names import ANYWHERE, HOSTILE


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder / "report.html", network(11), firings=2_200, front=True)


def shown_time(page: Any, side: int = 0) -> tuple[int, int]:
    """Return the time that a timeline shows, in ticks."""
    data = page.locator("#timeline-sides > .side").nth(side).evaluate("e => ({...e.dataset})")
    return int(data["from"]), int(data["to"])


def said(page: Any) -> str:
    return str(page.locator("#timeline-sides .said").first.text_content())


def until(found: Callable[[], bool]) -> None:
    """Wait for what the page does a moment later."""
    for _ in range(1200):  # a minute: machines are busy at times
        if found():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def timeline(page: Any) -> Any:
    return page.get_by_role("application")


def test_any_mapping_can_be_chosen_alone_or_beside_another(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    fills = "[...document.querySelectorAll('#network-sides .actor')].map(e => e.style.getPropertyValue('--fill'))"
    before = page.evaluate(fills)
    assert len(before) == 11
    assert set(before) == {f"var(--partition-{k})" for k in range(4)}
    page.get_by_label("mapping", exact=True).select_option("1")
    page.wait_for_selector("html[data-ready='#2']", state="attached")
    after = page.evaluate(fills)
    assert after != before
    page.get_by_label("beside").select_option("0")
    page.wait_for_selector("html[data-ready='#2 #1']", state="attached")
    assert page.evaluate(fills) == [*after, *before]
    assert page.locator("canvas[role=application]").count() == 2
    document = json.loads(page.locator("#document").text_content())
    one, two = (view["makespan"] for view in document["mappings"][:2])
    assert page.locator("#choice i").text_content() == f"({100 * (one / two - 1):+.1f} %)".replace("-", "\u2212")
    page.locator("#timeline-sides").get_by_role("button", name="zoom in").first.click()
    assert shown_time(page, 0) == shown_time(page, 1), "both show the same time"
    page.get_by_label("beside").select_option("-1")
    page.wait_for_selector("html[data-ready='#2']", state="attached")
    assert page.locator("canvas[role=application]").count() == 1


def test_the_timeline_zooms_from_the_whole_run_to_one_firing(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    whole = shown_time(page)
    assert whole[0] == 0
    timeline(page).scroll_into_view_if_needed()
    box = timeline(page).bounding_box()
    page.mouse.move(box["x"] + 600, box["y"] + 60)
    page.keyboard.down("Control")
    for _ in range(8):
        page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(lambda: 30 * (shown_time(page)[1] - shown_time(page)[0]) < whole[1])
    start, end = shown_time(page)
    page.mouse.move(box["x"] + 700, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 60, steps=4)
    page.mouse.up()
    assert shown_time(page)[0] > start, "dragging moves what is shown"
    assert shown_time(page)[1] - shown_time(page)[0] == pytest.approx(end - start, rel=0.01)
    page.get_by_label("search firings").fill("actor3#42")
    page.get_by_label("search firings").press("Enter")
    page.get_by_role("button", name="show the selected firing").click()
    assert said(page).startswith("actor3.work, firing 42 of 200 on P")
    start, end = shown_time(page)
    assert 0 < end - start < 6000, "a firing takes 500 to 3000 ticks"
    page.get_by_role("button", name="show the whole run").click()
    assert shown_time(page) == whole


def test_a_search_goes_from_firing_to_firing(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    field = page.get_by_label("search firings")
    field.fill("actor5.rest")
    assert page.locator(".found").text_content().startswith("100 firings")
    for number in (1, 3, 5):
        field.press("Enter")
        assert said(page).startswith(f"actor5.rest, firing {number} of 200")
    field.press("Shift+Enter")
    assert said(page).startswith("actor5.rest, firing 3 of 200")
    field.fill("nothing of this name")
    assert page.locator(".found").text_content().startswith("0 firings")


def test_the_critical_path_is_on_the_timeline(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    field = page.get_by_label("search firings")
    for name, ending in (("actor10#7", "; on the critical path"), ("actor5#7", ")")):
        field.fill(name)
        field.press("Enter")
        assert said(page).endswith(ending)
        assert "(scheduling " in said(page)
    shown = timeline(page).screenshot()
    page.get_by_label("critical path").uncheck()
    until(lambda: timeline(page).screenshot() != shown)
    page.get_by_label("critical path").check()
    until(lambda: timeline(page).screenshot() == shown)
    page.get_by_role("columnheader", name="on path").get_by_role("button").click()
    assert page.locator("#actors-sides tbody th").first.text_content() in ("actor0", "actor10")


def test_the_keyboard_alone_is_enough(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    page.keyboard.press("Tab")
    seen = []
    for _ in range(60):
        seen.append(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))
        if seen[-1].startswith("timeline from"):
            break
        page.keyboard.press("Tab")
    assert {"chosen", "compared", "actor0 on P0", "search firings", "zoom in", "go to a long wait"} <= set(seen)
    assert seen[-1].startswith("timeline from"), seen
    whole = shown_time(page)
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert said(page).startswith("actor0.work, firing 2 of 200")
    page.keyboard.press("ArrowDown")
    assert not said(page).startswith("actor0.")
    page.keyboard.press("Enter")
    near = shown_time(page)
    assert near[1] - near[0] < 6000
    page.keyboard.press("Shift+ArrowRight")
    assert shown_time(page)[0] > near[0]
    page.keyboard.press("-")
    assert shown_time(page)[1] - shown_time(page)[0] == pytest.approx(2 * (near[1] - near[0]), abs=2)
    page.keyboard.press("w")
    assert page.get_by_label("go to a long wait").input_value() == "0"
    page.keyboard.press("Home")
    assert shown_time(page) == whole
    header = page.get_by_role("columnheader", name="firings").get_by_role("button")
    header.focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("columnheader", name="firings").get_attribute("aria-sort") == "descending"


def test_tables_sort(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    rows = page.locator("#fifos-sides tbody tr")
    names = rows.locator("th").all_text_contents()
    page.get_by_role("columnheader", name="reader waits").get_by_role("button").click()
    assert rows.locator("th").all_text_contents() == names[::-1]
    page.get_by_role("columnheader", name="FIFO").get_by_role("button").click()
    first = page.locator("#fifos-sides tbody th").first.text_content()
    assert first.startswith("actor0."), "numbers in names sort as numbers"


def test_a_screen_reader_hears_names(small: Path, open_page: Opened) -> None:
    page = open_page(small)
    for k in range(11):
        assert page.get_by_role("button", name=f"actor{k} on P", exact=False).count() >= 1
    tables = (
        "Where the time of the actors went",
        "What the FIFOs carried",
        "Where the core time of the partitions went",
    )
    for name in tables:
        assert page.get_by_role("region", name=name).count() == 1
    assert page.get_by_role("img", name="3 mappings estimated, the best takes").count() == 1
    assert page.get_by_role("img", name="3 points of the front: memory over energy").count() == 1
    for role in ("button", "combobox", "searchbox", "checkbox", "application", "img", "region"):
        unnamed = [one for one in page.get_by_role(role).all() if f"- {role}\n" in one.aria_snapshot() + "\n"]
        assert unnamed == [], f"a {role} has no name"


@pytest.mark.parametrize(
    ("n_actors", "partitions", "width"), [(11, 4, 1240), (42, 20, 1240), (110, 8, 1240), (110, 32, 390)]
)
def test_networks_stay_readable(n_actors: int, partitions: int, width: int, open_page: Opened, tmp_path: Path) -> None:
    report = write_report(
        tmp_path / "r.html", network(n_actors), firings=10 * n_actors, mappings=1, partitions=partitions
    )
    page = open_page(report, width=width)
    boxes = page.evaluate(
        "[...document.querySelectorAll('.actor')].map(e => {"
        " const of = (x) => e.querySelector(x).getBoundingClientRect(), r = of('rect'), t = of('text');"
        " return [r.left, r.top, r.right, r.bottom, t.width, t.height]; })"
    )
    assert len(boxes) == n_actors
    for k, (left, top, right, bottom, text_width, text_height) in enumerate(boxes):
        assert 0 <= left < right <= width, "wrapped, not scrolled"
        assert text_height > 11
        assert text_width <= right - left
        for other in boxes[k + 1 :]:
            assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1], "boxes lie apart"
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page does not scroll sideways"
    looks = page.evaluate(
        "[...document.querySelectorAll('.actor')].map(e => [e.getAttribute('aria-label').split(' on ')[1],"
        " e.style.getPropertyValue('--fill') + e.querySelector('.round').style.fill])"
    )
    assert len({look for _, look in looks}) == len({name for name, _ in looks}) == partitions, "each has its look"
    assert len({tuple(pair) for pair in looks}) == partitions
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    sheets = page.evaluate("[...document.querySelectorAll('.gantt-pages canvas')].map(e => [e.width, e.height])")
    assert sum(height / 2 - 22 for _, height in sheets) == 22 * (n_actors + partitions), "all lanes are on paper"
    assert all(height <= 1.2 * wide for wide, height in sheets), "no sheet is higher than a page"


def test_a_million_firings(open_page: Opened, tmp_path: Path) -> None:
    report = write_report(tmp_path / "r.html", network(42), firings=1_050_000, mappings=2)
    assert report.stat().st_size < 20_000_000
    page = open_page(report)
    note = page.locator("#timeline-sides .note").text_content()
    assert note.startswith("1,050,000 firings: ")
    assert "the other firings are left out" in note
    page.get_by_label("go to a long wait").select_option("0")
    assert ", firing " in said(page)
    page.get_by_role("button", name="show the selected firing").click()
    start, end = shown_time(page)
    assert 0 < end - start < 6000


def test_a_page_that_would_be_too_large_says_what_it_leaves_out(small: Path, open_page: Opened, tmp_path: Path) -> None:
    most = small.stat().st_size - 100
    page = open_page(write_report(tmp_path / "r.html", network(11), firings=2_200, front=True, most_bytes=most))
    left_out = page.locator("#left-out").inner_text()
    assert left_out.startswith("The timeline and critical path of the last of them are left out: the page would be")
    page.get_by_label("mapping", exact=True).select_option("2")
    page.wait_for_selector("html[data-ready='#3']", state="attached")
    assert page.get_by_text("This page does not hold the firings of this mapping.").is_visible()
    assert page.locator(".actor").count() == 11


def test_hostile_names_are_text(open_page: Opened, tmp_path: Path) -> None:
    topology = network(len(HOSTILE), name=ANYWHERE[0])
    actors = tuple(
        type(a)(
            name=name, class_name=name, inputs=a.inputs, outputs=a.outputs,
            actions=tuple(type(x)(name=name, reads=x.reads, writes=x.writes) for x in a.actions),
        )
        for a, name in zip(topology.actors, HOSTILE, strict=True)
    )  # fmt: skip
    hostile = type(topology)(name=topology.name, actors=actors, buffers=topology.buffers)
    page = open_page(write_report(tmp_path / "r.html", hostile, firings=40 * len(HOSTILE)))
    plain = open_page(write_report(tmp_path / "p.html", network(len(HOSTILE)), firings=40 * len(HOSTILE)))
    for one in (page, plain):
        for _ in range(3):
            one.get_by_label("search firings").fill("a")
            one.get_by_label("search firings").press("Enter")
    count = "[...new Set([...document.querySelectorAll('*')].map(e => e.tagName))].sort().join()"
    assert page.evaluate(count) == plain.evaluate(count), "a name brought an element"
    names = page.locator("#actors-sides tbody th").all_text_contents()
    assert set(names) >= {name for name in HOSTILE if name.isprintable()}


def test_light_dark_and_print(small: Path, open_page: Opened) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = open_page(small, color_scheme="dark")

    def corner() -> Any:
        return Image.open(BytesIO(timeline(page).screenshot())).convert("RGB").getpixel((2, 2))

    assert page.evaluate(ground) == "rgb(21, 23, 27)"
    assert corner() == (21, 23, 27)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert corner() == (255, 255, 255), "paper is white"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    until(lambda: page.evaluate(ground) == "rgb(21, 23, 27)")
    page.emulate_media(color_scheme="light")
    until(lambda: page.evaluate(ground) == "rgb(255, 255, 255)")
    until(lambda: corner() == (255, 255, 255))


def test_without_scripts_the_tables_are_there(small: Path, open_page: Opened) -> None:
    page = open_page(small, wait=False, java_script_enabled=False)
    assert page.locator("noscript p").inner_text().startswith("Without JavaScript this page shows its tables only")
    assert page.get_by_role("cell", name="P0:").first.is_visible()
    assert page.get_by_text("what limits it").first.is_visible()
    assert not page.get_by_role("heading", name="The timeline").is_visible()
