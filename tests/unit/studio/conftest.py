"""A small network that pages are opened on, and a desk whose answers can be looked at."""

import asyncio
import json
import queue
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from dse.flows.capacities import search_capacities
from dse.flows.estimate import one_core
from dse.flows.options import NOMINAL, ProblemOptions
from dse.flows.setting import Setting, load_setting
from dse.formats.mapping_text import mapping_text
from dse.studio.answers import Answer
from dse.studio.desk import Desk, Outside
from dse.studio.edits import Surroundings
from dse.studio.journal import open_journal
from dse.studio.start import identity_of

_T = TypeVar("_T")
PINGPONG = Path(__file__).parents[3] / "actors/pingpong/pingpong.xdf"


def in_a_loop(coroutine: Coroutine[Any, Any, _T], seconds: float = 60) -> _T:
    """Return what a coroutine does, in a loop of another thread: where a browser is open this one has one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(coroutine, seconds)).result()


@pytest.fixture(scope="session")
def setting() -> Setting:
    """Pingpong on the default platform at counted costs."""
    return load_setting(ProblemOptions(program=str(PINGPONG), weights=(NOMINAL,), engine="reference"))


@pytest.fixture
def around(setting: Setting) -> Surroundings:
    return Surroundings(topology=setting.trace.topology, platform=setting.platform)


@dataclass
class Watched:
    """A desk and the answers that it sends to all pages."""

    desk: Desk
    sent: "queue.Queue[Answer]"

    def say(self, **message: object) -> dict[str, Any] | None:
        """Say something, and return what is answered to this page alone."""
        answer = self.desk.receive(json.dumps(message))
        return None if answer is None else json.loads(answer.text)

    def hear(self, kind: str, until: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """Return the next answer of a kind for which ``until`` holds."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            answer = self.sent.get(timeout=30)
            found = json.loads(answer.text)
            if answer.kind == kind and until(found):
                return found
        raise AssertionError(f"no answer '{kind}' came")


@pytest.fixture
def open_desk(setting: Setting, tmp_path: Path) -> Iterator[Callable[[], Watched]]:
    """Opens desks on one folder, as one start after the other does."""
    opened: list[Desk] = []

    def opening() -> Watched:
        sent: queue.Queue[Answer] = queue.Queue()
        desk = Desk(setting, "reference", tmp_path, Outside(send=sent.put, post=lambda call: call()))
        opened.append(desk)
        topology = setting.trace.topology
        start = mapping_text(one_core(setting, search_capacities(setting).tokens), topology, None)
        desk.open(*open_journal(tmp_path, identity_of(setting), start, topology))
        return Watched(desk, sent)

    yield opening
    for desk in opened:
        desk.close()


@pytest.fixture
def watched(open_desk: Callable[[], Watched]) -> Watched:
    return open_desk()
