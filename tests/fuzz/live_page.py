"""What pages say to the server of the live page, changed by chance: an answer or an error, and a journal that holds."""

import functools
import json
import random
import tempfile
import traceback
from pathlib import Path
from typing import Any

from dse.flows.capacities import search_capacities
from dse.flows.estimate import one_core
from dse.flows.options import NOMINAL, ProblemOptions
from dse.flows.setting import Setting, load_setting
from dse.formats.mapping_text import mapping_text
from dse.studio.answers import Answer
from dse.studio.desk import Desk, Outside
from dse.studio.journal import open_journal
from dse.studio.session import Session
from dse.studio.start import identity_of
from tests.fuzz.behaviour import SECONDS, Hang, bounded
from tests.fuzz.mutations import mutate_bytes, mutate_tree

ACTORS = Path(__file__).parents[2] / "actors"
SAID: tuple[dict[str, Any], ...] = (
    {"type": "move", "actor": 1, "unit": "cpu"},
    {"type": "move", "actor": 2, "partition": "P1"},
    {"type": "resize", "tokens": 7, "fifo": 2},
    {"type": "policy", "policy": "STATIC_ORDER", "partition": "P0"},
    {"type": "cores", "partition": "P0", "cores": 2},
    {"type": "unit", "partition": "P0", "unit": "cpu"},
    {"type": "clock", "unit": "cpu", "mhz": "1200.5"},
    {"type": "modes", "release": "processing", "transfers": "parallel"},
    {"type": "scale", "actor": 0, "action": 0, "factor": "0.5"},
    {"type": "fix", "actor": 0, "fixed": True},
    {"type": "mapping", "mapping": "P0:Prod,Merger P1/round-robin:* buffers=9"},
    {"type": "pin", "pinned": True},
    {"type": "undo"},
    {"type": "redo"},
    {"type": "take", "found_by": "search"},
    {"type": "save"},
)


@functools.cache
def _setting() -> Setting:
    program = str(ACTORS / "pingpong/pingpong.xdf")
    return load_setting(ProblemOptions(program=program, weights=(NOMINAL,), engine="reference"))


def attack(rng: random.Random, folder: Path) -> str | None:
    """Say some things, most of them as they should not be; return the fault."""
    setting = _setting()
    try:
        with bounded(SECONDS), tempfile.TemporaryDirectory(dir=folder) as place:
            session = _said(setting, Path(place), [_text(rng) for _ in range(rng.choice((1, 4, 12)))])
            again = _said(setting, Path(place), [])
            assert again.design == session.design, "the journal leads to another design"
    except Hang:
        return f"takes more than {SECONDS:g} s\n{traceback.format_exc()}"
    except Exception:
        return traceback.format_exc()
    return None


def _text(rng: random.Random) -> str:
    """Return a message: as it is, with other values, or with other bytes."""
    entries = dict(rng.choice(SAID))
    match rng.randrange(4):
        case 0:
            return json.dumps(entries)
        case 1:
            return mutate_bytes(rng, json.dumps(entries).encode()).decode("utf-8", "replace")
        case _:
            return json.dumps(mutate_tree(rng, entries), default=str)


def _said(setting: Setting, folder: Path, texts: list[str]) -> Session:
    """Open a desk, say something, and return its session; each answer is one."""
    desk = Desk(setting, "reference", folder, Outside(send=_checked, post=lambda _: None))
    try:
        topology = setting.trace.topology
        start = mapping_text(one_core(setting, search_capacities(setting).tokens), topology, None)
        desk.open(*open_journal(folder, identity_of(setting), start, topology))
        for text in texts:
            answer = desk.receive(text)
            if answer is not None:
                _checked(answer)
        return desk.session
    finally:
        desk.close()


def _checked(answer: Answer) -> None:
    """Look at an answer: JSON, of its kind."""
    assert json.loads(answer.text)["type"] == answer.kind
