"""What the server says to pages: JSON objects with a ``type``, made here and nowhere else.

``hello``: the network and the platform; ``state``: the design and what can be undone; ``estimate``: the view of the
design, or why there is none; ``search``, ``explore``: how far a search is; ``saved``; ``error``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dse.base.errors import DseError
from dse.base.escaping import shown, shown_message
from dse.flows.setting import Setting
from dse.formats.decimals import format_decimal
from dse.formats.mapping_text import mapping_text
from dse.model.design_point import POLICIES, DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology
from dse.studio.edits import clock_of
from dse.studio.following import Followed
from dse.studio.searching import Found
from dse.studio.session import Session


class Answer(NamedTuple):
    """An answer as it is sent. ``kind``: its type; of most types only the newest is of use."""

    kind: str
    text: str


LASTING = ("error", "saved")
"""The types of answers that a page wants all of."""


def answer_of(entries: Mapping[str, object]) -> Answer:
    """Return an answer as it is sent."""
    return Answer(str(entries["type"]), json.dumps(entries, separators=(",", ":")))


def hello(setting: Setting, network: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return what does not change: the network, the units, what is assumed, where results go."""
    return {
        "type": "hello",
        "network": network,
        "platform": shown(setting.platform.name),
        "units": [_unit(unit) for unit in setting.platform.units],
        "policies": list(POLICIES),
        "assumed": [shown(text) for text in setting.assumed],
        "folder": shown(str(folder)),
        "firings": setting.trace.n_firings,
    }


def _unit(unit: Unit) -> dict[str, object]:
    span = None if unit.scaling is None else unit.scaling.range_mhz
    return {
        "id": unit.name,
        "name": shown(unit.name),
        "kind": unit.kind,
        "cores": unit.cores,
        "clock": None if unit.clock_mhz is None else format_decimal(unit.clock_mhz),
        "range": None if span is None else [format_decimal(clock) for clock in span],
    }


def state(session: Session, topology: Topology, platform: Platform) -> dict[str, object]:
    """Return the design; names as they can be shown, and as messages say them (``id``)."""
    design = session.design
    point = design.point
    return {
        "type": "state",
        "revision": session.revision,
        "undo": session.undoable,
        "redo": session.redoable,
        "pinned": session.pinned is not None,
        "partitions": [_partition(partition) for partition in point.partitions],
        "capacities": list(point.capacities),
        "release": point.release,
        "transfers": point.transfers,
        "clocks": {unit.name: _clock(point, unit.name) for unit in platform.units},
        "scales": [[actor, action, format_decimal(factor)] for (actor, action), factor in design.scales.items()],
        "fixed": sorted(design.fixed),
        "mapping": shown(mapping_text(point, topology, platform)),
    }


def _partition(partition: Partition) -> dict[str, object]:
    return {
        "id": partition.name,
        "name": shown(partition.name),
        "unit": partition.unit,
        "policy": partition.policy,
        "cores": partition.cores,
        "actors": list(partition.actors),
    }


def _clock(point: DesignPoint, unit: str) -> str | None:
    clock = clock_of(point, unit)
    return None if clock is None else format_decimal(clock)


def search(found: Found, topology: Topology, platform: Platform) -> dict[str, object]:
    """Return how far a search is."""
    return {
        "type": "search",
        "state": found.state,
        "evaluations": found.evaluations,
        "seconds": round(found.seconds, 1),
        "start": found.start,
        "best": found.best,
        "bound": found.bound,
        "unit": found.tick_unit,
        "mapping": None if found.point is None else shown(mapping_text(found.point, topology, platform)),
        "message": shown(found.message),
    }


def explore(found: Followed, topology: Topology, platform: Platform) -> dict[str, object]:
    """Return what a search of another process has found."""
    point = found.point if found.same else None
    return {
        "type": "explore",
        "evaluations": found.evaluations,
        "deadlocks": found.deadlocks,
        "steps": [list(step) for step in found.steps],
        "unit": found.tick_unit,
        "same": found.same,
        "running": found.running,
        "mapping": None if point is None else shown(mapping_text(point, topology, platform)),
    }


def error(cause: DseError) -> dict[str, object]:
    """Return an error: what is wrong, and what to do."""
    found = cause.first_error
    return {"type": "error", "message": shown_message(found.message), "expected": shown_message(found.expected)}


def saved(path: Path, kind: str) -> dict[str, object]:
    """Return where something was written."""
    return {"type": "saved", "kind": kind, "file": shown(str(path))}
