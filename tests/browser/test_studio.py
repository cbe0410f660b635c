"""The live page in a browser: drag, undo, keys alone, names for screen readers, several pages, hostile names."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dse.estimate.engine import make_engine
from dse.flows.options import ProblemOptions
from dse.flows.program import GivenProgram
from dse.flows.setting import AtHand, Setting, load_setting
from dse.formats.mapping_text import read_mapping_text
from dse.formats.study_file import create_study
from dse.model.platform import Platform, Unit
from dse.model.study import Evaluation
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, WeightTable
from dse.studio.start import Opened, StudioOptions, identity_of, serve_setting
from tests.property.hostile_names import ANYWHERE, HOSTILE

PLAIN = ("read", "filter", "scale", "write")


def trace_of(names: tuple[str, ...]) -> Trace:
    """Return a pipeline of actors with these names; each fires ten times."""
    last = len(names) - 1
    actors = tuple(
        TraceActor(
            name=name,
            class_name=name,
            inputs=(f"I{name}",) if k else (),
            outputs=(f"O{name}",) if k < last else (),
            actions=(TraceAction(name=name, reads=(1,) if k else (), writes=(1,) if k < last else ()),),
        )
        for k, name in enumerate(names)
    )
    buffers = tuple(
        TraceBuffer(source=k, source_port=0, target=k + 1, target_port=0, token_bytes=4, token_bits=32)
        for k in range(last)
    )
    return make_trace(Topology(name=names[0], actors=actors, buffers=buffers), [[0] * 10 for _ in names])


@dataclass
class Served:
    """A page that is served; ``open`` opens it in the browser."""

    address: str
    folder: Path
    setting: Setting
    open: Callable[..., Any]


@pytest.fixture
def serve(browser: Any, tmp_path: Path) -> Iterator[Callable[[tuple[str, ...]], Served]]:
    """Serves pages of pipelines; after the test none of them has said anything, or asked for anything elsewhere."""
    ends: list[Callable[[], None]] = []
    heard, contexts = list[str](), list[Any]()

    def serving(names: tuple[str, ...] = PLAIN) -> Served:
        trace = trace_of(names)
        clock = Fraction(1000)
        weights = WeightTable(
            name="w",
            compute={
                (n, n, "cpu"): Cost(mean_cycles=Fraction(1000 + k), frequency_mhz=clock) for k, n in enumerate(names)
            },
            has_scheduling=False,
            has_transfers=False,
        )
        unit = Unit(name=names[-1], kind="cpu", cores=4, clock_mhz=clock)
        platform = Platform(name=names[0], units=(unit,))
        program = GivenProgram(path="p", network=None, trace=trace)
        problem = ProblemOptions(program="p", engine="reference")
        setting = load_setting(problem, at_hand=AtHand(program=program, platform=platform, weights=weights))
        ready, found, cancels = threading.Event(), list[Opened](), list[Callable[[], object]]()

        def opened(page: Opened) -> None:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            cancels.append(lambda: loop.call_soon_threadsafe(task.cancel))
            found.append(page)
            ready.set()

        def run() -> None:
            with contextlib.suppress(asyncio.CancelledError):
                serve_setting(StudioOptions(problem=problem), setting, tmp_path, opened)

        thread = threading.Thread(target=run)
        thread.start()
        assert ready.wait(20)

        def end() -> None:
            cancels[0]()
            thread.join(20)

        ends.append(end)
        base = found[0].address.split("#")[0]

        def open_page(address: str = found[0].address) -> Any:
            context = browser.new_context(viewport={"width": 1240, "height": 900})
            contexts.append(context)
            context.set_default_timeout(20_000)
            page = context.new_page()
            page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: heard.append(str(error)))
            page.on("dialog", lambda dialog: (heard.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.on(
                "request",
                lambda request: None if request.url.startswith((base, "data:")) else heard.append(request.url),
            )
            page.goto(address)
            return page

        return Served(found[0].address, tmp_path, setting, open_page)

    yield serving
    for context in contexts:
        context.close()
    for end in ends:
        end()
    assert heard == []


def shown(page: Any, revision: int) -> str:
    """Wait until a revision is shown, and return its makespan as text."""
    page.wait_for_selector(f'html[data-shown="{revision}"]', state="attached")
    return str(page.inner_text("#makespan"))


def drag(page: Any, actor: int, target: Any) -> None:
    """Drag an actor onto an element."""
    start, end = page.locator(f'[data-actor="{actor}"]').bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def test_an_actor_is_dragged_and_put_back(serve: Callable[..., Served]) -> None:
    page = serve().open()
    before = shown(page, 0)
    drag(page, 1, page.locator(".chip.new"))
    after = shown(page, 1)
    assert after != before
    assert before in page.inner_text("#change")
    assert page.locator('[data-actor="1"]').get_attribute("aria-label") == "filter on P1"
    drag(page, 2, page.locator('[data-actor="1"]'))  # to the partition of another actor
    shown(page, 2)
    assert page.inner_text("#mapping") == "P0:read,write P1:filter,scale"
    page.click("#undo")
    assert shown(page, 3) == after
    page.click("#undo")
    assert shown(page, 4) == before
    page.click("#redo")
    assert shown(page, 5) == after


def test_keys_alone_do_everything(serve: Callable[..., Served]) -> None:
    page = serve().open()
    before = shown(page, 0)
    page.focus('[data-actor="3"]')
    page.keyboard.press("Enter")
    assert "write" in page.inner_text("#actor")
    page.focus("#move-to")
    page.keyboard.press("ArrowDown")
    after = shown(page, 1)
    assert after != before
    assert page.evaluate("document.activeElement.id") == "move-to"  # drawn anew, the focus stays
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    shown(page, 2)
    assert page.is_checked("#fixed")
    page.focus('[data-actor="3"]')
    page.keyboard.press("m")
    assert shown(page, 3) == before
    page.focus("#scale-3-0")
    page.keyboard.press("Control+a")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    assert shown(page, 4) != before
    page.focus("#undo")
    page.keyboard.press("Control+z")
    assert shown(page, 5) == before


def test_wrong_values_are_told_and_taken_back(serve: Callable[..., Served]) -> None:
    page = serve().open()
    shown(page, 0)
    page.fill("#cores-0", "many")
    page.keyboard.press("Enter")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "field 'cores'" in page.inner_text("#trouble")
    assert page.input_value("#cores-0") == "1"


def test_each_control_has_a_name(serve: Callable[..., Served]) -> None:
    page = serve().open()
    shown(page, 0)
    page.click('[data-actor="1"]')
    page.click("summary")
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    roles = {"button", "textbox", "searchbox", "combobox", "checkbox", "application", "region", "group"}
    nodes = [n for n in tree["nodes"] if not n["ignored"] and n["role"]["value"] in roles]
    unnamed = [
        n["role"]["value"] for n in nodes if not n.get("name", {}).get("value") and n["role"]["value"] != "group"
    ]
    assert unnamed == []
    names = {n["name"]["value"] for n in nodes if n.get("name", {}).get("value")}
    assert {"undo", "pin", "filter on P0", "search from here"} <= names


def test_all_pages_show_the_same(serve: Callable[..., Served]) -> None:
    served = serve()
    first, second = served.open(), served.open()
    shown(first, 0)
    shown(second, 0)
    drag(first, 1, first.locator(".chip.new"))
    assert shown(first, 1) == shown(second, 1)
    second.click("#undo")
    assert shown(first, 2) == shown(second, 2)
    second.reload()
    assert shown(second, 2) == shown(first, 2)


def test_a_search_is_followed_and_taken(serve: Callable[..., Served]) -> None:
    served = serve()
    page = served.open()
    before = shown(page, 0)
    page.click("#start-search")
    page.wait_for_selector('#search-said[data-state="proven"]')
    page.click("#take-search")
    assert shown(page, 1) != before
    page.click("#save")
    page.wait_for_selector("#saved:not(:empty)")
    assert (served.folder / "studio-01.xcf").is_file()


def test_the_search_of_another_process_is_followed_and_taken(serve: Callable[..., Served]) -> None:
    served = serve()
    page, setting = served.open(), served.setting
    before = shown(page, 0)
    best = read_mapping_text("P0:read P1:filter P2:scale P3:write", setting.trace.topology, setting.platform)
    found = make_engine("reference", setting.problem).estimate(best)
    store = create_study(served.folder / "study.sqlite", setting.trace.topology, identity_of(setting), {})
    store.add(
        Evaluation.of(
            ordinal=0, point=best, digest=best.digest(), makespan=found.makespan, tick_unit=found.tick_unit,
            deadlock=False, partitions=found.partitions, seconds=0.0,
        )
    )  # fmt: skip
    store.finish()
    page.wait_for_selector('#explore-said[data-state="ended"]')
    assert "has ended: 1 mapping, the best takes" in page.inner_text("#explore-said")
    page.click("#take-explore")
    after = shown(page, 1)
    assert after != before
    assert after in page.inner_text("#explore-said")


def test_110_actors(serve: Callable[..., Served]) -> None:
    page = serve(tuple(f"actor{k}" for k in range(110))).open()
    before = shown(page, 0)
    boxes = page.evaluate(
        "[...document.querySelectorAll('.actor rect:not(.round)')].map(e => e.getBoundingClientRect())"
        ".map(r => [r.left, r.top, r.right, r.bottom])"
    )
    assert len(boxes) == 110
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= 1240
        for other in boxes[k + 1 :]:
            assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1], "boxes lie apart"
    drag(page, 20, page.locator(".chip.new"))
    assert shown(page, 1) != before
    drag(page, 21, page.locator('[data-actor="20"]'))
    shown(page, 2)
    assert page.locator(".actor[aria-label$='on P1']").count() == 2


def test_without_the_token_nothing_is_shown(serve: Callable[..., Served]) -> None:
    served = serve()
    page = served.open(served.address.split("#")[0])
    page.wait_for_selector("#trouble:not([hidden])")
    assert "without its token" in page.inner_text("#trouble")
    assert page.is_hidden("#main")


@pytest.mark.parametrize("part", [0, 1])
def test_names_are_text(serve: Callable[..., Served], part: int) -> None:
    names = (*HOSTILE, *ANYWHERE)
    page = serve(tuple(dict.fromkeys(names))[part::2]).open()
    shown(page, 0)
    page.focus('[data-actor="1"]')
    page.keyboard.press("Enter")
    page.click("summary")
    page.focus("#move-to")
    page.keyboard.press("ArrowDown")
    shown(page, 1)
    assert page.locator("img, iframe, script:not([src]), a").count() == 0
