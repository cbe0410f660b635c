"""Cuts a timeline into stretches of time with about equally many slices, so that long files take little memory too.

A window holds the slices that start in it, in the order of their exact starts, of which files only show nanoseconds;
slices of no length come before others at the same time, and those that write tokens before those that read them. So
whoever keeps this order shows a cause before what it caused; only a firing of no length, to which tokens come as soon
as another one begins, stands before that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.trace import Topology
from dse.report.timeline.slices import ActorSlices, Numbers, TokenBounds, TokenBreaks
from dse.report.timeline.timeline import Ticks, Timeline

WINDOW_SLICES = 50_000
"""About so many slices are in a window."""
_SAMPLES = 200
"""Of the starts of each actor, so many for each window are looked at to find where windows end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """Slices in the order of a file; all arrays of shape (n,), times in ns.

    ``name``: an index into ``slice_names``; ``firing``: of the first one in the actor's trace; ``firings``: how many.
    ``phases``: how long each of ``PHASES`` took, in ns; they add up to the slice. Empty where that is not known.
    """

    start: Numbers
    end: Numbers
    core: Numbers
    name: Numbers
    firing: Numbers
    firings: Numbers
    phases: tuple[Numbers, ...] = ()


PHASES = ("scheduling", "reading", "processing", "writing")
"""What the time of a firing goes into, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flows:
    """Ends of flows, all arrays of shape (n,), by slice: tokens of one slice that another one takes are one flow.

    ``slice``: its place in the window; ``flow``: what both ends have in common and no other flow of the timeline;
    ``buffer``: the FIFO; ``leaves``: whether it is the end at the slice that wrote the tokens.
    """

    slice: Numbers
    flow: Numbers
    buffer: Numbers
    leaves: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """Tokens that take room in FIFOs from a time on, in ns; all arrays of shape (n,), by FIFO and then by time."""

    buffer: Numbers
    time: Numbers
    tokens: Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """What a stretch of time holds. ``path``: first and last segment of the timeline's track of segments in it."""

    slices: Slices
    flows: Flows
    levels: Levels
    path: tuple[int, int]


def slice_names(topology: Topology) -> tuple[str, ...]:
    """Return what slices are called, ``actor.action``: of all actions of the first actor, then of the second."""
    return tuple(f"{actor.name}.{action.name}" for actor in topology.actors for action in actor.actions)


def windows(timeline: Timeline, size: int = WINDOW_SLICES) -> Iterator[Window]:
    """Yield the windows of a timeline in the order of time, of about ``size`` slices each."""
    cutter = _Cutter(timeline)
    for end in _ends(timeline, size):
        yield cutter.window(end)


def _ends(timeline: Timeline, size: int) -> list[int]:
    """Return the first tick behind each window."""
    last = max((int(t.end.max(initial=0)) for t in timeline.times), default=0) + 1
    step = max(1, size // _SAMPLES)
    sampled = np.sort(np.concatenate([t.start[::step] for t in timeline.times]))
    inner = np.unique(sampled[size // step :: size // step])
    return [*inner[(inner > 0) & (inner < last)].tolist(), last]


class _Cutter:
    """Walks over a timeline once."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._slices = [ActorSlices(times) for times in timeline.times]
        self._at = [0] * len(self._slices)
        self._ranks = _ranks(timeline.topology)
        names = np.cumsum([0, *(len(actor.actions) for actor in timeline.topology.actors)])
        self._first_name: list[int] = names.tolist()
        self._fifos, flows = list[_Fifo](), 0
        for buffer in range(len(timeline.topology.buffers)):
            self._fifos.append(_Fifo(timeline, self._slices, buffer, first_flow=flows))
            flows += self._fifos[-1].tokens
        self._path = 0

    def window(self, end: int) -> Window:
        """Return the next window, up to a tick."""
        counts = [slices.before(end) - at for slices, at in zip(self._slices, self._at, strict=True)]
        parts = [self._part(actor, count) for actor, count in enumerate(counts)]
        start, ends, core, name, firing, firings, *inner = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        order = np.lexsort((np.repeat(self._ranks, counts), ends, start))
        ns = self._timeline.ticks_per_ns
        slices = Slices(
            start=start[order] // ns,
            end=ends[order] // ns,
            core=core[order],
            name=name[order],
            firing=firing[order],
            firings=firings[order],
            phases=_phases([edge[order] // ns for edge in (start, *inner, ends)]) if inner else (),
        )
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        window = Window(
            slices=slices, flows=self._flows(counts, place), levels=self._levels(end), path=self._segments(end)
        )
        self._at = [at + count for at, count in zip(self._at, counts, strict=True)]
        return window

    def _part(self, actor: int, count: int) -> tuple[Numbers, ...]:
        """Return the columns of the next slices of an actor: start, end, core, name, firing, number of firings.

        Behind them stand the ends of their phases, but the last one, where these are known of all actors.
        """
        times, ids, begin = self._timeline.times[actor], self._timeline.firings[actor], self._at[actor]
        firsts = self._slices[actor].first(begin, begin + count)
        at = firsts[:-1]
        names = ids[at].astype(np.int64) + self._first_name[actor]
        inner = (times.phases or ()) if self._timeline.has_phases else ()
        columns = (times.start[at], times.end[at], times.core[at].astype(np.int64), names, at, np.diff(firsts))
        return (*columns, *(edge[at] for edge in inner))

    def _flows(self, counts: list[int], place: Numbers) -> Flows:
        """Return the ends of flows at the next slices; ``place``: where they are, those of actor after actor."""
        before = np.concatenate([[0], np.cumsum(counts)])
        at, flow, buffer, leaves = [place[:0]], [place[:0]], [place[:0]], [np.zeros(0, dtype=np.bool_)]
        for index, fifo in enumerate(self._fifos):
            for is_source, actor in ((True, fifo.source), (False, fifo.target)):
                local, flows = fifo.sent(counts[actor]) if is_source else fifo.received(counts[actor])
                at.append(place[before[actor] + local])
                flow.append(flows)
                buffer.append(np.full(len(flows), index))
                leaves.append(np.full(len(flows), is_source))
        where = np.concatenate(at)
        order = np.argsort(where, kind="stable")
        columns = (np.concatenate(column)[order] for column in (flow, buffer))
        flows, buffers = columns
        return Flows(slice=where[order], flow=flows, buffer=buffers, leaves=np.concatenate(leaves)[order])

    def _levels(self, end: int) -> Levels:
        found = [fifo.levels(end) for fifo in self._fifos]
        none = np.zeros(0, dtype=np.int64)
        return Levels(
            buffer=np.repeat(np.arange(len(found)), [len(time) for time, _ in found]),
            time=np.concatenate([none, *(time for time, _ in found)]) // self._timeline.ticks_per_ns,
            tokens=np.concatenate([none, *(tokens for _, tokens in found)]),
        )

    def _segments(self, end: int) -> tuple[int, int]:
        path = self._timeline.path
        first = self._path
        if path is not None:
            self._path = int(np.searchsorted(path.start, end, side="left"))
        return first, self._path


def _phases(edges: list[Numbers]) -> tuple[Numbers, ...]:
    """Return how long phases take; ``edges``: when the first one begins, and when each ends."""
    return tuple(np.diff(np.stack(edges), axis=0))


def _ranks(topology: Topology) -> list[int]:
    """Return the place of each actor in an order in which writers come before their readers, but in loops."""
    feeds = {(b.source, b.target) for b in topology.buffers if b.source != b.target}
    left, ranks = list(range(len(topology.actors))), [0] * len(topology.actors)
    for rank in range(len(left)):
        fed = {target for source, target in feeds if source in left}
        chosen = next((actor for actor in left if actor not in fed), left[0])
        left.remove(chosen)
        ranks[chosen] = rank
    return ranks


class _Fifo:
    """One FIFO as the windows go by: which slices pass tokens to which, and how full it is.

    The tokens of a FIFO are numbered, the initial ones first. A flow is named for the first of its tokens.
    """

    def __init__(self, timeline: Timeline, slices: list[ActorSlices], index: int, first_flow: int) -> None:
        topology = timeline.topology
        buffer = topology.buffers[index]
        self.source, self.target = buffer.source, buffer.target
        writes = np.array([a.writes[buffer.source_port] for a in topology.actors[self.source].actions] or [0])
        reads = np.array([a.reads[buffer.target_port] for a in topology.actors[self.target].actions] or [0])
        sources, targets = slices[self.source], slices[self.target]
        ids_of_source, ids_of_target = timeline.firings[self.source], timeline.firings[self.target]
        self._initial = buffer.initial_tokens
        self._sent = TokenBounds(sources, ids_of_source, writes, self._initial)
        self._sent_breaks = TokenBreaks(TokenBounds(sources, ids_of_source, writes, self._initial))
        self._received = TokenBounds(targets, ids_of_target, reads, 0)
        self._received_breaks = TokenBreaks(TokenBounds(targets, ids_of_target, reads, 0))
        self._given = _Moves(timeline.times[self.source].given, ids_of_source, writes)
        self._taken = _Moves(timeline.times[self.target].taken, ids_of_target, -reads)
        self.tokens = self._initial + self._given.total
        self._received_at_all = -self._taken.total
        self._first_flow = first_flow
        self._level: int | None = None

    def sent(self, count: int) -> tuple[Numbers, Numbers]:
        """Return the flows that begin at the next ``count`` slices of the source: places of the slices, flows."""
        bounds = self._sent.following(count)
        starts = self._starts(bounds, self._received_breaks)
        return self._named(bounds, starts[starts < self._received_at_all])

    def received(self, count: int) -> tuple[Numbers, Numbers]:
        """Return the flows that end at the next ``count`` slices of the target: places of the slices, flows."""
        bounds = self._received.following(count)
        starts = self._starts(bounds, self._sent_breaks)
        return self._named(bounds, starts[starts >= self._initial])

    @staticmethod
    def _starts(bounds: Numbers, breaks: TokenBreaks) -> Numbers:
        """Return the first tokens of flows among those that slices move."""
        inner = breaks.between(int(bounds[0]), int(bounds[-1]))
        return np.unique(np.concatenate([bounds[:-1][np.diff(bounds) > 0], inner]))

    def _named(self, bounds: Numbers, starts: Numbers) -> tuple[Numbers, Numbers]:
        return np.searchsorted(bounds, starts, side="right") - 1, starts + self._first_flow

    def levels(self, end: int) -> tuple[Ticks, Numbers]:
        """Return how full the FIFO is from which ticks on, up to the tick ``end``; at first, how full it is at 0."""
        given_at, given = self._given.before(end)
        taken_at, taken = self._taken.before(end)
        times = np.concatenate([taken_at, given_at])  # of moves at one time, those that make room come first
        order = np.argsort(times, kind="stable")
        times, moves = times[order], np.concatenate([taken, given])[order]
        if self._level is None:
            self._level = self._initial
            times, moves = np.append([0], times), np.append([0], moves)
        tokens = self._level + np.cumsum(moves)
        if len(tokens):
            self._level = int(tokens[-1])
        lasts = np.append(times[1:] != times[:-1], [True])[: len(times)]
        return times[lasts], tokens[lasts]


class _Moves:
    """When tokens move into a FIFO or out of it; ``rates``: by how much each action changes what is in it."""

    def __init__(self, times: Ticks, ids: NDArray[np.uint8] | NDArray[np.uint16], rates: Numbers) -> None:
        self._times = times
        self._ids = ids
        self._rates = rates
        self._at = 0
        self.total = int(np.bincount(ids[: len(times)], minlength=len(rates)) @ rates)

    def before(self, end: int) -> tuple[Ticks, Numbers]:
        """Return the moves from the last ``end`` on to this one: ticks, and changes in tokens."""
        last = int(np.searchsorted(self._times, end, side="left"))
        times, changes = self._times[self._at : last], self._rates[self._ids[self._at : last]]
        self._at = last
        return times[changes != 0], changes[changes != 0]
