"""How long a drag takes on the live page: from the message of a move to the answer with the new view.

usage: python benchmarks/studio.py [--moves N] [--browser] [FIRINGS ...]

A server is made in this process, with a pipeline of actors at costs that differ, on four cores; a client on a socket
moves one actor after the other to another partition and waits for the estimate of that revision. What is shown is the
median and the worst of all moves, and how large the last answer was. Drawing it in the browser is not in it, but with
``--browser``: then the mouse drags actors in the Chromium of the system, from the button let go to the frame drawn, and
beside it to the moment at which the page has all of the answer and hands it to the browser to draw.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from dse.model.platform import Platform, Unit
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, WeightTable

ACTORS = 16
TOKENS = 64


def pipeline(firings: int) -> Trace:
    """Return a pipeline whose actors fire equally often, as many times in all."""
    each = max(1, firings // ACTORS)
    actors = tuple(
        TraceActor(
            name=f"stage{k}",
            class_name="Stage",
            inputs=("In",) if k else (),
            outputs=("Out",) if k + 1 < ACTORS else (),
            actions=(
                TraceAction(name="work", reads=(1,) if k else (), writes=(1,) if k + 1 < ACTORS else ()),
                TraceAction(name="more", reads=(1,) if k else (), writes=(1,) if k + 1 < ACTORS else ()),
            ),
        )
        for k in range(ACTORS)
    )
    buffers = tuple(
        TraceBuffer(source=k, source_port=0, target=k + 1, target_port=0, token_bytes=4, token_bits=32, capacity=TOKENS)
        for k in range(ACTORS - 1)
    )
    rng = np.random.default_rng(1)
    ids = [rng.integers(0, 2, size=each) for _ in actors]
    return make_trace(Topology(name="pipeline", actors=actors, buffers=buffers), ids)


def weights_of(trace: Trace) -> WeightTable:
    """Return costs that differ from actor to actor and from action to action; scheduling and transfers are free."""
    return WeightTable(
        name="made up",
        compute={
            (actor.name, action.name, "cpu"): Cost(
                mean_cycles=Fraction(500 + 137 * (k * 7 % ACTORS) + 400 * x), frequency_mhz=Fraction(2000)
            )
            for k, actor in enumerate(trace.topology.actors)
            for x, action in enumerate(actor.actions)
        },
        has_scheduling=False,
        has_transfers=False,
    )


PLATFORM = Platform(name="four", units=(Unit(name="cpu", kind="cpu", cores=4, clock_mhz=Fraction(2000)),))


def moves_of(count: int) -> Iterator[tuple[int, int]]:
    """Yield so many moves of an actor to another partition; none gets empty. At first P1 to P3 have one actor each."""
    rng = np.random.default_rng(2)
    owner = [0] * ACTORS
    for unit in range(3):
        owner[unit * 4] = unit + 1
    made = 0
    while made < count:
        actor = int(rng.integers(ACTORS))
        target = int(rng.choice([p for p in range(4) if p != owner[actor]]))
        if owner.count(owner[actor]) > 1:
            owner[actor] = target
            made += 1
            yield actor, target


async def drag(address: str, moves: int) -> tuple[list[float], str]:
    """Return the seconds of each move, and in words how large the last answer was."""
    base, token = address.split("/#")
    request = HTTPRequest(base.replace("http", "ws") + "/live", headers={"Origin": base})
    page = await websocket_connect(request, subprotocols=["dse-studio", token], max_message_size=1 << 30)
    size = 0

    async def until(revision: int) -> None:
        nonlocal size
        while True:
            text = str(await page.read_message())
            if text.startswith('{"type":"estimate"') and json.loads(text[:60].split(",")[1].split(":")[1]) >= revision:
                size = len(text)
                return

    await until(0)
    revision, times = 0, []
    for unit in range(3):  # four partitions to begin with
        await page.write_message(json.dumps({"type": "move", "actor": unit * 4, "unit": "cpu"}))
        revision += 1
        await until(revision)
    for actor, target in moves_of(moves):
        started = time.perf_counter()
        await page.write_message(json.dumps({"type": "move", "actor": actor, "partition": f"P{target}"}))
        revision += 1
        await until(revision)
        times.append(time.perf_counter() - started)
    page.close()
    return times, f"{size / 1e6:.2f} MB"


_WATCH = """
window.released = 0;
addEventListener("pointerup", () => { window.released = performance.now(); }, { capture: true });
new MutationObserver(() => requestAnimationFrame(() => {
  const channel = new MessageChannel(); // its message comes when the frame is drawn
  channel.port1.onmessage = () => {
    window.took = performance.now() - window.released;
    document.documentElement.dataset.drawn = document.documentElement.dataset.shown;
  };
  channel.port2.postMessage(0);
})).observe(document.documentElement, { attributeFilter: ["data-shown"] });
"""


async def drag_in_browser(address: str, moves: int) -> tuple[list[float], str]:
    """Return the seconds of each move in a browser, drawing included, and in words those without it."""
    from playwright.async_api import async_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    async with async_playwright() as player:
        browser = await player.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = await browser.new_page(viewport={"width": 1240, "height": 1400})
        await page.goto(address)
        await page.wait_for_selector('html[data-shown="0"]', state="attached", timeout=120_000)
        await page.evaluate(_WATCH)

        handed = list[float]()

        async def to(actor: int, target: str, revision: int) -> float:
            start = await page.locator(f'[data-actor="{actor}"]').bounding_box()
            end = await page.locator(target).bounding_box()
            assert start is not None, "the actor is shown"
            assert end is not None, "the partition is shown"
            await page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
            await page.mouse.down()
            await page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=2)
            await page.mouse.up()
            await page.wait_for_selector(f'html[data-drawn="{revision}"]', state="attached", timeout=120_000)
            handed.append(float(await page.evaluate("document.documentElement.dataset.latency")))
            return float(await page.evaluate("window.took")) / 1000

        for unit in range(3):
            await to(unit * 4, ".chip.new", unit + 1)
        found = enumerate(moves_of(moves), start=4)
        times = [await to(actor, f'.chip[data-partition="{target}"]', revision) for revision, (actor, target) in found]
        await browser.close()
    moved = handed[-moves:]
    return times, f"{statistics.median(moved):.1f} ms, {max(moved):.1f} ms at worst"


def measured(firings: int, moves: int, *, browser: bool) -> tuple[list[float], str]:
    """Serve a pipeline of so many firings, and drag its actors."""
    from dse.base.errors import DseError
    from dse.flows.options import ProblemOptions
    from dse.flows.program import GivenProgram
    from dse.flows.setting import AtHand, load_setting
    from dse.studio.start import StudioOptions, serve_setting

    trace = pipeline(firings)
    at_hand = AtHand(
        program=GivenProgram(path="pipeline", network=None, trace=trace), platform=PLATFORM, weights=weights_of(trace)
    )
    problem = ProblemOptions(program="pipeline")
    setting = load_setting(problem, at_hand=at_hand)
    addresses, ready = list[str](), threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        options = StudioOptions(problem=problem, mapping="P0:*")

        def opened(page: object) -> None:
            addresses.append(page.address)  # type: ignore[attr-defined]
            ready.set()

        def run() -> None:
            try:
                serve_setting(options, setting, Path(folder), opened)
            except DseError as error:
                print(error, file=sys.stderr)
            finally:
                ready.set()

        threading.Thread(target=run, daemon=True).start()
        ready.wait()
        return asyncio.run((drag_in_browser if browser else drag)(addresses[0], moves))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("firings", metavar="FIRINGS", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--browser", action="store_true", help="in Chromium, with the drawing")
    args = parser.parse_args()
    print(f"| firings | median | worst of all | {'handed to draw, median' if args.browser else 'answer'} |")
    print("|---|---|---|---|")
    for firings in args.firings:
        times, besides = measured(firings, args.moves, browser=args.browser)
        median, worst = 1000 * statistics.median(times), 1000 * max(times)
        print(f"| {firings:,} | {median:.1f} ms | {worst:.1f} ms | {besides} |", flush=True)


if __name__ == "__main__":
    main()
