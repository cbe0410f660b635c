"""What a change did: the makespans before and after, and whose time changed most."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.escaping import shown
from dse.model.estimate import ActorAccount, Estimate, TickUnit
from dse.model.trace import Topology
from dse.report.quantities import time_text

TOLD = 6
"""So many changes of actors' times are told."""
_WORDS = {
    "scheduling": "scheduling",
    "reading": "reading",
    "processing": "computing",
    "writing": "writing",
    "link_waiting": "waiting for a link",
    "blocked_reading": "waiting for tokens",
    "blocked_writing": "waiting for room",
    "idle": "waiting for its core",
}
"""What is told of the categories of an actor's time; what is left is that it has finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is kept of an estimate to compare others with; times in ticks."""

    makespan: int
    tick_unit: TickUnit
    deadlock: bool
    actors: tuple[ActorAccount, ...]


def summary_of(estimate: Estimate) -> Summary:
    """Return what of an estimate is compared."""
    return Summary(
        makespan=estimate.makespan,
        tick_unit=estimate.tick_unit,
        deadlock=estimate.deadlock is not None,
        actors=tuple(estimate.actors),
    )


def comparison_json(topology: Topology, before: Summary, after: Summary) -> dict[str, object]:
    """Return a comparison as JSON: ``makespan`` before in ticks, ``deadlock``, and ``lines`` in words."""
    comparable = not before.deadlock and not after.deadlock and before.tick_unit == after.tick_unit
    return {
        "makespan": before.makespan,
        "unit": before.tick_unit,
        "deadlock": before.deadlock,
        "lines": [shown(line) for line in _lines(topology, before, after)] if comparable else [],
    }


def _lines(topology: Topology, before: Summary, after: Summary) -> Sequence[str]:
    """Return the largest changes of actors' times, the largest first."""
    found = []
    for actor, (old, new) in enumerate(zip(before.actors, after.actors, strict=True)):
        for category, words in _WORDS.items():
            was, now = getattr(old, category), getattr(new, category)
            if was != now:
                found.append((-abs(now - was), actor, words, was, now))
    unit = after.tick_unit
    return [
        f"{topology.actors[actor].name}: {words} {time_text(was, unit)} -> {time_text(now, unit)}"
        for _, actor, words, was, now in sorted(found)[:TOLD]
    ]
