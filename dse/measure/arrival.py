"""Arrival: how long tokens take to another core, and how long it takes a core that waited to be at work with them.

Tokens are published when the visit that wrote them ends. A core that is at work sees them at its next look, half a
round trip of a cache line later. One that has nothing to do asks again and again whether some have come; the line with
the indices has to travel to it, and its scheduler has to find the actor. What that takes together is seen in
calibration runs, wherever a thread had nothing to do when the last token was published that the next firing of it
needed; what it takes more than half a round trip is the waking of the core.

A thread that has nothing to do waits in an estimate from the end of its last visit on. In the program it asks all its
actors first, and counts as waiting from the second pass on: half of the tokens come before, and are found sooner. So
all that came behind the end of a visit count, and their mean, since an estimate adds them up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

import numpy as np
from numpy.typing import NDArray

from dse.measure.counter import CounterFacts
from dse.measure.crossing import Calibration
from dse.measure.looks import Looks
from dse.measure.machine import RoundTrip
from dse.measure.profile_weights import exact
from dse.measure.samples import MOST_VAIN, ActorVisits, Samples, visits_of_actor
from dse.measure.turns import INTERRUPTED_S
from dse.model.trace import FiringIds, Topology
from dse.model.weights import Arrival, EntryKey, Visits

TURN_FIRINGS = 64
"""Firings of a visit at most, after which its tokens are published: ``visit_firings`` of the runtime."""
TURN_PARTS = 4
"""And after the firings that may move a quarter of a FIFO to or from another core: ``shown_every`` of the runtime."""
_LACKED_TOKENS = 1
"""The end of a visit (``Visits.ending``) after which an actor waits for tokens, not for room."""
_LACKED_ROOM = 2
_FEWEST_WAITS = 100
"""Of fewer waits nothing is told."""
_LEAST = Fraction(1, 100)
"""Counts that an arrival takes at least: an estimate wants it above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long arrivals took where a core had nothing to do, in counts: mean and quartiles of ``count`` of them."""

    mean: float
    quartiles: tuple[float, float]
    count: int


def waits_of(steps: NDArray[np.float64], hz: float) -> Waits | None:
    """Return what arrivals took, shape (n,), in one; None where too few were seen. ``hz``: counts in a second.

    What is above 20 us was an interruption, and counts as 20 us.
    """
    if len(steps) < _FEWEST_WAITS:
        return None
    mean = float(np.minimum(steps, INTERRUPTED_S * hz).mean())
    low, high = np.percentile(steps, [25, 75]).tolist()
    return Waits(mean=mean, quartiles=(low, high), count=len(steps))


def calibrated_arrival(
    calibrations: Sequence[Calibration],
    waits: Waits | None,
    looks: Looks,
    entries: dict[EntryKey, Fraction],
    facts: CounterFacts,
) -> Arrival | None:
    """Return the arrival with what visits cost, for estimates; None where no round trip was measured around the runs.

    ``looks``, ``entries``: in counts, scaled as the other costs are. A core that waited takes the mean of the
    waits, less what lies between two visits, which is in what its visit costs; where there are none, waking takes
    nothing.
    """
    arrival = ping_pong_arrival([trip for calibration in calibrations for trip in calibration.trips], facts)
    if arrival is None:
        return None
    wake = Fraction(0) if waits is None else max(exact(waits.mean - looks.between) - arrival.cycles, Fraction(0))
    glance = None if looks.glance is None else exact(looks.glance)
    visits = Visits(look_cycles=exact(looks.look), glance_cycles=glance, wake_cycles=wake, entries=entries)
    return replace(arrival, visits=visits)


def ping_pong_arrival(trips: Sequence[RoundTrip], facts: CounterFacts) -> Arrival | None:
    """Return the arrival by half of the median round trip of a cache line; None where none was measured.

    The cores may stand near each other for a moment: a least round trip of 34 ns was seen among those of 240.
    """
    measured = [ns for trip in trips for ns in (trip.before_ns, trip.after_ns)]
    if not measured:
        return None
    cycles = max(exact(median(measured) / 2 * facts.hz / 1e9), _LEAST)
    return Arrival(cycles=cycles, frequency_mhz=exact(facts.mhz), turn_firings=TURN_FIRINGS, turn_parts=TURN_PARTS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrivals:
    """What a calibration says of arrivals.

    ``steps``: how long each took, in counts, shape (n,). ``there``: by thread, shape (n_visits,), of which visits it is
    known that all that the first firing needed from other cores lay there when the visit before it on the thread ended.
    """

    steps: NDArray[np.float64]
    there: tuple[NDArray[np.bool_], ...]


def arrivals_of(calibration: Calibration, topology: Topology, reading: float = 0.0) -> Arrivals:
    """Return the arrivals in a calibration.

    An arrival is from the end of the visit that published the last token which the first firing of another visit
    needed, to the start of that one. It counts where the reader's actor was short of tokens, and all these visits and
    the one before on its thread are recorded; the moment must lie after the end of the latter, so that the thread had
    nothing to do. What was published during the visit already takes 0. ``reading``: what a reading of the counter
    takes; a thread makes some for each actor that it asks in vain (``Visits.vain_readings``), and their share of that
    time is taken out.

    Raises ``ValueError`` where the records do not fit the firings.
    """
    visits = [
        visits_of_actor(calibration.samples, a, calibration.firings[a], len(actor.actions))
        for a, actor in enumerate(topology.actors)
    ]
    there = tuple(np.zeros(len(thread.visits.actor), dtype=np.bool_) for thread in calibration.samples.threads)
    steps = [np.zeros(0)]
    for actor, mine in enumerate(visits):
        published, known = _published(calibration, topology, visits, actor)
        before, recorded, readings, told = _before(calibration.samples, mine)
        steps.append(_waited(mine, published, before, recorded & known, reading * readings.astype(np.float64), told))
        lay = recorded & known & (published <= before) & (mine.before != _LACKED_ROOM)
        for number, marked in enumerate(there):
            marked[mine.row[mine.thread == number]] = lay[mine.thread == number]
    return Arrivals(steps=np.concatenate(steps), there=there)


def _waited(
    mine: ActorVisits,
    published: NDArray[np.int64],
    before: NDArray[np.int64],
    known: NDArray[np.bool_],
    read: NDArray[np.float64],
    told: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the arrivals at one actor, shape (n_waits,).

    ``published``, ``known``: as ``_published`` has them; ``before``, ``read``, ``told``: as ``_before`` has them, the
    readings as counts that they took.
    """
    rows = known & (mine.before == _LACKED_TOKENS) & (published > before)
    start = mine.start.astype(np.int64)
    told = told & rows
    waiting = float((start - before)[told].sum())
    share = min(float(read[told].sum()) / waiting, 1.0) if waiting else 0.0
    return np.asarray(np.maximum(start - published, 0)[rows] * (1.0 - share), dtype=np.float64)


def _published(
    calibration: Calibration, topology: Topology, visits: Sequence[ActorVisits], actor: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return when the last token from another core was published that each visit needed, and whether that is known.

    Shape (n,) each. 0 where the first firing of a visit needed none; unknown where the visit that published it is not
    recorded.
    """
    mine, owner = visits[actor], calibration.partition_of
    action = calibration.firings[actor][mine.first]
    last, known = np.zeros(len(mine.first), dtype=np.int64), np.ones(len(mine.first), dtype=np.bool_)
    for buffer in topology.buffers:
        if buffer.target != actor or owner[buffer.source] == owner[actor]:
            continue
        reads = np.array([one.reads[buffer.target_port] for one in topology.actors[actor].actions], dtype=np.int64)
        writes = np.array(
            [one.writes[buffer.source_port] for one in topology.actors[buffer.source].actions], dtype=np.int64
        )
        peer = visits[buffer.source]
        needed = _moved(calibration.firings[actor], reads, mine.first) + reads[action]
        before = buffer.initial_tokens + _moved(calibration.firings[buffer.source], writes, peer.first)
        # Initial tokens are there from the start.
        ends = np.append(0, peer.end.astype(np.int64))
        written = np.append(buffer.initial_tokens, before + peer.counts @ writes)
        visit = np.minimum(np.searchsorted(written, needed), len(ends) - 1)
        known &= (reads[action] == 0) | (visit == 0) | (needed > np.append(0, before)[visit])
        last = np.maximum(last, np.where(reads[action] > 0, ends[visit], 0))
    return last, known


def _moved(firings: FiringIds, rates: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tokens that an actor moves before some of its firings, shape (n,); ``rates``: of its actions."""
    moved: NDArray[np.int64] = np.append(0, np.cumsum(rates[firings]))[first]
    return moved


def _before(
    samples: Samples, visits: ActorVisits
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64], NDArray[np.bool_]]:
    """Return of each visit the end of the one before it on its thread, whether that is recorded, the readings of the
    counter since in visits in vain, and whether all of these were counted; shape (n,) each.
    """
    ends = np.zeros(len(visits.row), dtype=np.int64)
    recorded = np.zeros(len(visits.row), dtype=np.bool_)
    readings = np.zeros(len(visits.row), dtype=np.int64)
    counted = np.zeros(len(visits.row), dtype=np.bool_)
    for number, thread in enumerate(samples.threads):
        here = (visits.thread == number) & (visits.row > 0)
        rows = visits.row[here]
        ends[here] = thread.visits.end[rows - 1].astype(np.int64)
        recorded[here] = thread.visits.follows[rows]
        readings[here] = thread.visits.vain_readings * thread.visits.vain[rows].astype(np.int64)
        counted[here] = thread.visits.vain[rows] < MOST_VAIN
    return ends, recorded, readings, counted
