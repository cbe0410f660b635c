"""What a critical path is made of: sums by action, actor, FIFO and link, and how much slack the firings have.

Everything is read off one path and the slack of one run. Times are ticks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.critical_path import Cause, CriticalPath, SegmentKind, Segments
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, TickUnit
from dse.model.trace import Trace

_Ints = NDArray[np.int64]
_KINDS = len(SegmentKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathShare:
    """What an action or an actor has of the path. ``ticks``: by ``SegmentKind``. ``firings``: of it on the path."""

    name: str
    partition: str
    ticks: tuple[int, ...]
    firings: int

    @property
    def total(self) -> int:
        """All its time on the path."""
        return sum(self.ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoShare:
    """What a FIFO has of the path.

    ``moving``: reads and writes of it; ``arrival``: its tokens, or its room, on their way to another core.
    ``empty`` and ``full``: how often the path comes through it because its reader waited for tokens, its writer for
    room; and the time in which only that kept a firing from beginning (where two waits overlap it counts once).
    """

    name: str
    capacity_tokens: int
    moving: int
    arrival: int
    empty: int
    empty_waited: int
    full: int
    full_waited: int

    @property
    def cost(self) -> int:
        """What it cost: its transfers, and the waits that it alone caused."""
        return self.moving + self.arrival + self.empty_waited + self.full_waited


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkShare:
    """What a link has of the path: ``moving`` in ticks, and how often and how long a transfer waited for it."""

    name: str
    moving: int
    waits: int
    waited: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorSlack:
    """How much later the firings of an actor may begin, all else in its order, without a longer run.

    ``least`` and ``median`` in ticks, of the firings that were made; None without any. ``critical``: without slack.
    """

    name: str
    firings: int
    critical: int
    least: int | None
    median: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseShare:
    """How often the path comes into a firing or transfer for one ``cause``, and how long only that kept it."""

    cause: Cause
    times: int
    waited: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottlenecks:
    """What the critical path of a mapping is made of. Lists of shares are sorted, the largest first."""

    makespan: int
    tick_unit: TickUnit
    deadlock: bool
    segments: int
    kinds: tuple[int, ...]
    """Ticks by ``SegmentKind``."""
    causes: tuple[CauseShare, ...]
    actions: tuple[PathShare, ...]
    actors: tuple[PathShare, ...]
    fifos: tuple[FifoShare, ...]
    links: tuple[LinkShare, ...]
    slack: tuple[ActorSlack, ...]
    """For each actor, in declared order."""
    slack_at_least: bool
    """Whether transfers ask links: where they share one, the true slack may be more."""


def bottlenecks_of(
    trace: Trace, point: DesignPoint, estimate: Estimate, path: CriticalPath, slack: Sequence[_Ints]
) -> Bottlenecks:
    """Return the sums of a path; ``slack``: of each firing, as ``dse.analyse.critical_path`` gives it."""
    s = path.segments
    return Bottlenecks(
        makespan=path.makespan,
        tick_unit=path.tick_unit,
        deadlock=path.deadlock,
        segments=len(s),
        kinds=tuple(_sums(s.kind, s.ticks, _KINDS).tolist()),
        causes=_causes(s),
        actions=_actions(trace, point, s),
        actors=_actors(trace, point, s),
        fifos=_fifos(trace, point, s),
        links=tuple(_link(s, index, link.name) for index, link in enumerate(estimate.links)),
        slack_at_least=any(link.transfers for link in estimate.links),
        slack=tuple(_slack(actor.name, of) for actor, of in zip(trace.topology.actors, slack, strict=True)),
    )


def _sums(index: _Ints, values: _Ints, size: int) -> _Ints:
    """Return the sum of the values of each index, exactly."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, index, values)
    return sums


def _causes(s: Segments) -> tuple[CauseShare, ...]:
    times = np.bincount(s.cause, minlength=len(Cause))
    shares = [
        CauseShare(cause=c, times=int(times[c]), waited=_waited(s, s.cause == c)) for c in Cause if c > Cause.STEP
    ]
    return tuple(sorted((share for share in shares if share.times), key=lambda share: -share.times))


def _waited_by_fifo(s: Segments, mine: NDArray[np.bool_], n: int) -> _Ints:
    """Return as ``_waited`` of the segments of each FIFO, shape (n,)."""
    at = np.flatnonzero(mine)
    at = at[np.argsort(s.cause_buffer[at], kind="stable")]
    groups = np.split(at, np.searchsorted(s.cause_buffer[at], np.arange(1, n)))
    return np.array([_waited(s, group) for group in groups[:n]], dtype=np.int64)


def _waited(s: Segments, mine: NDArray[np.bool_] | _Ints) -> int:
    """Return the time in which one or more of some segments were kept by their cause alone."""
    end = s.start[mine]
    begin = end - s.waited[mine]
    if not len(end):
        return 0
    later = np.minimum.accumulate(begin[::-1])[::-1]  # ends ascend: what stands behind covers all from here on
    uncovered = np.minimum(end[:-1], later[1:]) - begin[:-1]
    return int(np.maximum(uncovered, 0).sum() + end[-1] - begin[-1])


def _begins(s: Segments) -> NDArray[np.bool_]:
    """Return which segments are the first of a firing on the path."""
    if not len(s):
        return np.zeros(0, dtype=bool)
    other = (s.actor[1:] != s.actor[:-1]) | (s.firing[1:] != s.firing[:-1])
    begins: NDArray[np.bool_] = np.append(True, other) & (s.kind != SegmentKind.ARRIVAL)
    return begins


def _actions(trace: Trace, point: DesignPoint, s: Segments) -> tuple[PathShare, ...]:
    actors = trace.topology.actors
    base = np.cumsum([0, *(len(actor.actions) for actor in actors)])
    first = np.cumsum([0, *map(len, trace.firings)])
    ids = np.concatenate([*(of.astype(np.int64) for of in trace.firings), np.zeros(0, np.int64)])
    column = base[s.actor] + ids[first[s.actor] + s.firing] if len(s) else s.actor
    owner = point.partition_of(len(actors))
    names = [
        (f"{actor.name}.{action.name}", point.partitions[owner[a]].name)
        for a, actor in enumerate(actors)
        for action in actor.actions
    ]
    return _shares(s, column, names)


def _actors(trace: Trace, point: DesignPoint, s: Segments) -> tuple[PathShare, ...]:
    actors = trace.topology.actors
    owner = point.partition_of(len(actors))
    return _shares(s, s.actor, [(actor.name, point.partitions[owner[a]].name) for a, actor in enumerate(actors)])


def _shares(s: Segments, column: _Ints, names: Sequence[tuple[str, str]]) -> tuple[PathShare, ...]:
    """Return the shares of those that are on the path, the largest first."""
    ticks = _sums(column * _KINDS + s.kind, s.ticks, len(names) * _KINDS).reshape(-1, _KINDS)
    firings = np.bincount(column[_begins(s)], minlength=len(names))
    found = [
        PathShare(name=name, partition=partition, ticks=tuple(ticks[x].tolist()), firings=int(firings[x]))
        for x, (name, partition) in enumerate(names)
        if firings[x] or ticks[x].any()
    ]
    return tuple(sorted(found, key=lambda share: -share.total))


def _fifos(trace: Trace, point: DesignPoint, s: Segments) -> tuple[FifoShare, ...]:
    topology = trace.topology
    n = len(topology.buffers)
    moves = (s.kind == SegmentKind.READING) | (s.kind == SegmentKind.WRITING)
    arrives = s.kind == SegmentKind.ARRIVAL
    empty, full = s.cause == Cause.TOKENS, s.cause == Cause.ROOM
    columns = (
        _sums(s.buffer[moves], s.ticks[moves], n),
        _sums(s.buffer[arrives], s.ticks[arrives], n),
        np.bincount(s.cause_buffer[empty], minlength=n),
        _waited_by_fifo(s, empty, n),
        np.bincount(s.cause_buffer[full], minlength=n),
        _waited_by_fifo(s, full, n),
    )
    found = [
        FifoShare(
            name=topology.buffer_name(b),
            capacity_tokens=point.capacities[b],
            moving=moving,
            arrival=arrival,
            empty=times_empty,
            empty_waited=empty_waited,
            full=times_full,
            full_waited=full_waited,
        )
        for b, (moving, arrival, times_empty, empty_waited, times_full, full_waited) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        )
        if moving or arrival or times_empty or times_full
    ]
    return tuple(sorted(found, key=lambda share: -share.cost))


def _link(s: Segments, index: int, name: str) -> LinkShare:
    mine = s.link == index
    waits = mine & (s.cause == Cause.LINK)
    return LinkShare(name=name, moving=int(s.ticks[mine].sum()), waits=int(waits.sum()), waited=_waited(s, waits))


def _slack(name: str, slack: _Ints) -> ActorSlack:
    made = slack[slack >= 0]
    return ActorSlack(
        name=name,
        firings=len(slack),
        critical=int((made == 0).sum()),
        least=int(made.min()) if len(made) else None,
        median=int(np.sort(made)[(len(made) - 1) // 2]) if len(made) else None,
    )
