"""Looks: what a scheduler takes from one visit to the next, and how much of it are calls of actors in vain.

On several cores a scheduler asks each actor with a FIFO to another core in every pass, and calls it if something has
come there, ready or not; both count as a call in vain. A thread that has work pays for such calls, one that waits does
not: so they are told apart from the visit that comes next. A call of an actor with a FIFO from another core looks at a
cache line that the other core writes, a call of one that has only FIFOs to other cores seldom does: 80 and 22 ns were
seen in one program.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.measure.regression import split_durations
from dse.measure.samples import MOST_VAIN, Samples
from dse.model.trace import Topology

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What lies between two visits of a thread that had work all the time, in counts; by ``gaps`` such pairs.

    ``between``: without a call in vain; ``look``: what a call in vain takes more; ``glance``: one of an actor that has
    only FIFOs to other cores, None: not told from others.
    """

    between: float = 0.0
    look: float = 0.0
    glance: float | None = None
    gaps: int = 0

    def scaled(self, factor: float) -> "Looks":
        """Return what lies between visits where all costs are so many times as large."""
        glance = None if self.glance is None else factor * self.glance
        return replace(self, between=factor * self.between, look=factor * self.look, glance=glance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Called:
    """A timed run: its records, and the actors that are called in every pass, by their partitions.

    ``partition_of``: of each actor; ``from_others``, ``to_others``: whether a FIFO comes there from another partition,
    or only such FIFOs go out. In a pass actors come in the order of their numbers. ``there``: as in ``Arrivals``, by
    thread; none: all was there, as on one core.
    """

    samples: Samples
    partition_of: tuple[int, ...] = ()
    from_others: tuple[bool, ...] = ()
    to_others: tuple[bool, ...] = ()
    there: tuple[NDArray[np.bool_], ...] = ()


def called(
    samples: Samples, partition_of: tuple[int, ...], topology: Topology, there: tuple[NDArray[np.bool_], ...]
) -> Called:
    """Return a timed run of a mapping, with what is called in it; ``there``: as in ``Called``."""
    crossing = [b for b in topology.buffers if partition_of[b.source] != partition_of[b.target]]
    targets, sources = {b.target for b in crossing}, {b.source for b in crossing}
    actors = range(len(topology.actors))
    return Called(
        samples=samples,
        partition_of=partition_of,
        from_others=tuple(a in targets for a in actors),
        to_others=tuple(a in sources - targets for a in actors),
        there=there,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gaps:
    """What lies between n pairs of visits: ``steps``, and the calls in vain: ``vain``, ``looks`` of them, ``glances``.

    The last two are 0 where it is not known who was called.
    """

    steps: FloatArray
    vain: FloatArray
    looks: FloatArray
    glances: FloatArray

    def only(self, rows: NDArray[np.bool_]) -> "_Gaps":
        """Return some of them."""
        return _Gaps(steps=self.steps[rows], vain=self.vain[rows], looks=self.looks[rows], glances=self.glances[rows])


def looks_of(runs: Sequence[Called], reading: float) -> Looks:
    """Return what lies between visits in some runs; ``reading``: what a reading takes.

    Pairs without a call in vain tell what lies there anyway, and the others what each call takes more: the first calls
    take less than later ones, so that a line through all pairs would put too much between visits. Where each pair had
    calls in vain both have the same part; where none had, ``look`` is 0.
    """
    found = [_of_thread(run, number, reading) for run in runs for number in range(len(run.samples.threads))]
    gaps = _Gaps(
        steps=np.concatenate([np.zeros(0), *(gap.steps for gap in found)]),
        vain=np.concatenate([np.zeros(0), *(gap.vain for gap in found)]),
        looks=np.concatenate([np.zeros(0), *(gap.looks for gap in found)]),
        glances=np.concatenate([np.zeros(0), *(gap.glances for gap in found)]),
    )
    if not len(gaps.steps):
        return Looks()
    at_once = gaps.vain == 0
    if not at_once.any():
        (between, look) = _costs(gaps.steps, np.ones(len(gaps.steps)), gaps.vain)
        return Looks(between=between, look=look, gaps=len(gaps.steps))
    (between,) = _costs(gaps.steps[at_once], np.ones(int(at_once.sum())))
    look, glance = _of_calls(gaps.only(~at_once), between)
    return Looks(between=between, look=look, glance=glance, gaps=len(gaps.steps))


def _of_calls(gaps: _Gaps, between: float) -> tuple[float, float | None]:
    """Return what calls in vain take, of all actors, or looks and glances where these are told apart."""
    if not len(gaps.steps):
        return 0.0, None
    known = gaps.only(gaps.looks + gaps.glances == gaps.vain)
    if known.looks.any() and known.glances.any():
        look, glance = _costs(known.steps - between, known.looks, known.glances)
        return look, glance
    (look,) = _costs(gaps.steps - between, gaps.vain)
    return look, None


def _costs(steps: FloatArray, *columns: FloatArray) -> tuple[float, ...]:
    return tuple(np.nan_to_num(split_durations(steps, np.column_stack(columns)).costs).tolist())


def _of_thread(run: Called, number: int, reading: float) -> _Gaps:
    """Return how far visits of a thread are from the one before them, without readings, and the calls in vain between.

    Only visits that follow at once, of which the calls were counted, and whose tokens were there: else the thread asks
    in vain until they come, and what that takes is no price of a call.
    """
    visits = run.samples.threads[number].visits
    told = visits.behind & (visits.vain < MOST_VAIN)
    if run.there:
        told &= run.there[number]
    rows = np.flatnonzero(told)
    vain = visits.vain[rows].astype(np.float64)
    gap = (visits.start[rows].astype(np.int64) - visits.end[rows - 1].astype(np.int64)).astype(np.float64)
    last, here = visits.actor[rows - 1].astype(np.int64), visits.actor[rows].astype(np.int64)
    return _Gaps(
        steps=gap - reading * (1.0 + visits.vain_readings * vain),
        vain=vain,
        looks=_passed(run.from_others, run.partition_of, last, here),
        glances=_passed(run.to_others, run.partition_of, last, here),
    )


def _passed(
    marked: Sequence[bool], partition_of: Sequence[int], last: NDArray[np.int64], here: NDArray[np.int64]
) -> FloatArray:
    """Return how many marked actors of a partition come between two of it in a pass, for pairs of shape (n,)."""
    if not marked:
        return np.zeros(len(here))
    counts, owner = np.array(marked, dtype=np.int64), np.array(partition_of)
    before, total = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
    for partition in set(partition_of):
        members = owner == partition
        before[members] = np.cumsum(counts[members]) - counts[members]
        total[members] = counts[members].sum()
    passed = before[here] - before[last] - counts[last]
    return np.where(here > last, passed, passed + total[here]).astype(np.float64)
