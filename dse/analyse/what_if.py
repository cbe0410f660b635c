"""What if: the makespan of a mapping if an action, an actor, a FIFO or a link were better, by simulation.

A critical path tells where the time went, not what would be saved: when it gets shorter, another path is soon as long,
and the order of firings may change. Each change is therefore simulated again; what the path promises stands beside it.
The idea is the impact analysis of TURNUS (S. Casale-Brunet, "Analysis and optimization of dynamic dataflow programs",
thesis 6663, EPFL 2015), which shortens the path.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dse.estimate.engine import Engine
from dse.estimate.problem.changes import buffers_of_link, changed, refined
from dse.estimate.problem.tables import ProblemTables
from dse.model.changes import Change, Faster, FreeLink, FreeTransfers, Room, Uncontended
from dse.model.design_point import MOST_TOKENS, DesignPoint
from dse.model.estimate import Estimate
from dse.model.what_if import Curve, CurvePoint, Tried, WhatIf

SPEEDS: tuple[Fraction | None, ...] = (Fraction(11, 10), Fraction(2), None)
"""10 %, 2 times and infinitely faster."""
POOL = 20
"""Of so many changes that save most alone all pairs are tried,"""
PAIRED_SPEED = Fraction(2)
"""computing at this speed."""
_CURVE = ("1/2", "3/4", "9/10", "1", "11/10", "5/4", "3/2", "2", "3", "4", "8", "16")
CURVE_SPEEDS: tuple[Fraction | None, ...] = (*map(Fraction, _CURVE), None)
"""The speeds of a sensitivity curve; what is slower stands first."""

ENOUGH = Fraction(95, 100)
"""More room is good enough where it saves this share of what any room saves."""

Promise = Callable[[Change], Fraction | None]
"""What the critical path promises of a change: a makespan in ticks of the tables; None: it tells nothing."""


def no_promise(change: Change) -> Fraction | None:  # noqa: ARG001  (the signature of ``Promise``)
    """Return that nothing is promised."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRequest:
    """A curve that is asked for: over the speed of an actor or action, or over the capacity of a buffer."""

    name: str
    actor: int | None = None
    action: int | None = None
    buffer: int | None = None


class Laboratory:
    """Simulates a design point under changes, by ``workers`` threads; the engine releases the interpreter lock.

    ``scale``: ticks of the laboratory that are one of the tables it was given.
    """

    def __init__(self, engine: Engine, tables: ProblemTables, point: DesignPoint, workers: int) -> None:
        self.tables, self.scale = refined(tables)
        self.point = point
        self._engine = engine.with_tables(self.tables)
        self._workers = workers
        self._running: dict[int, Engine] = {}
        self._stopped = False
        self.simulations = 0
        self.estimate: Estimate = self._engine.estimate(point)

    def on(self, point: DesignPoint) -> "Laboratory":
        """Return a laboratory for another mapping of the same problem."""
        other = copy.copy(self)
        other.point, other.simulations, other.estimate = point, 0, self._engine.estimate(point)
        return other

    @property
    def makespan(self) -> Fraction:
        """The makespan without changes, in ticks of the given tables."""
        return Fraction(self.estimate.makespan, self.scale)

    def makespans(self, cases: Sequence[tuple[Change, ...]]) -> list[Fraction | None]:
        """Return the makespan of each case in ticks of the given tables, None of a deadlock."""
        self.simulations += len(cases)
        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            try:
                futures: list[Future[Fraction | None]] = [pool.submit(self._makespan, case) for case in cases]
                return [future.result() for future in futures]
            except BaseException:  # an interrupt: nobody waits for the rest
                pool.shutdown(wait=False, cancel_futures=True)
                self._stopped = True
                for engine in list(self._running.values()):
                    engine.stop()
                raise

    def _makespan(self, changes: tuple[Change, ...]) -> Fraction | None:
        tables, point = changed(self.tables, self.point, changes)
        engine = self._engine if tables is self.tables else self._engine.with_tables(tables)
        self._running[id(engine)] = engine
        try:
            estimate = None if self._stopped else engine.estimates([point])[0]
        finally:
            self._running.pop(id(engine), None)
        if estimate is None or estimate.deadlock is not None:
            return None
        return Fraction(estimate.makespan, self.scale)


def what_if(
    laboratory: Laboratory, *, curves: Sequence[CurveRequest] = (), promise: Promise = no_promise, pool: int = POOL
) -> WhatIf:
    """Return what single changes, the pairs of the ``pool`` best of them, and the curves asked for give.

    ``promise``: in ticks of the tables that the laboratory was given. The design point must not deadlock.
    """
    cases = list(single_changes(laboratory))
    makespans = laboratory.makespans([(change,) for change in cases])
    singles = tuple(
        Tried(changes=(change,), makespan=makespan, promised=promise(change))
        for change, makespan in zip(cases, makespans, strict=True)
    )
    best = _pool(singles, laboratory, pool)
    pairs = [(a.changes[0], b.changes[0]) for a, b in combinations(best, 2) if _apart(a.changes[0], b.changes[0])]
    together = laboratory.makespans(pairs)
    return WhatIf(
        point=laboratory.point,
        makespan=laboratory.makespan,
        unit=laboratory.tables.tick_unit,
        singles=singles,
        pool=best,
        pairs=tuple(Tried(changes=pair, makespan=makespan) for pair, makespan in zip(pairs, together, strict=True)),
        memory=_memory(laboratory, singles),
        curves=tuple(curve(laboratory, request) for request in curves),
        simulations=laboratory.simulations,
        untouched=tuple(b for b in range(len(laboratory.point.capacities)) if not cramped(laboratory, b)),
    )


def single_changes(laboratory: Laboratory) -> Iterator[Change]:
    """Yield the changes that are tried alone: of actors and actions that compute, of FIFOs and links that cost time."""
    yield from _of_actors(laboratory.tables)
    for buffer in range(len(laboratory.point.capacities)):
        yield from _of_fifo(laboratory, buffer)
    for index, link in enumerate(laboratory.tables.problem.platform.links):
        if buffers_of_link(laboratory.tables, laboratory.point, index):
            if link.shared:
                yield Uncontended(link=index)
            yield FreeLink(link=index)


def _of_actors(tables: ProblemTables) -> Iterator[Change]:
    """Yield the changes of actors that compute, and of their actions where several do."""
    for actor, of_actor in enumerate(tables.topology.actors):
        busy = [x for x in range(len(of_actor.actions)) if computes(tables, actor, x)]
        if busy:
            yield from (Faster(actor=actor, speed=speed) for speed in SPEEDS)
        if len(busy) > 1:
            yield from (Faster(actor=actor, action=x, speed=speed) for x in busy for speed in SPEEDS)


def _of_fifo(laboratory: Laboratory, buffer: int) -> Iterator[Change]:
    """Yield the changes of a FIFO that may give something."""
    tables, capacity = laboratory.tables, laboratory.point.capacities[buffer]
    if cramped(laboratory, buffer):
        sizes = (more_room(capacity), endless_room(tables, laboratory.point, buffer))
        yield from (Room(buffer=buffer, tokens=tokens) for tokens in dict.fromkeys(sizes))
    if costs_transfers(tables, buffer):
        yield FreeTransfers(buffer=buffer)


def computes(tables: ProblemTables, actor: int, action: int) -> bool:
    """Return whether an action fires and takes time on some unit."""
    column = int(tables.action_base[actor]) + action
    blocks = bool(tables.block_width[:, column].any())
    return bool(tables.count[column]) and (blocks or bool((tables.compute[:, column] > 0).any()))


def cramped(laboratory: Laboratory, buffer: int) -> bool:
    """Return whether more room could change anything: a firing may have found less than it asked for.

    A firing asks for room beside what is in the buffer, at most as much as its largest occupancy. Where that was there
    even then, every question for room was answered with yes, and would be with more. But where tokens travel, the size
    of their FIFO may say how long turns are.
    """
    tables, writes = laboratory.tables, laboratory.tables.writes
    entries = np.flatnonzero(writes.buffer == buffer)
    asked = int((writes.tokens[entries] * writes.width[entries]).max(initial=0))
    most = laboratory.estimate.buffers[buffer].max_tokens
    capacity = laboratory.point.capacities[buffer]
    paces = tables.arrival > 0 and bool(tables.turn_tokens[buffer] > 0)
    return (paces or most + asked > capacity) and endless_room(tables, laboratory.point, buffer) > capacity


def more_room(tokens: int) -> int:
    """Return a capacity with more room: twice as much."""
    return min(MOST_TOKENS, 2 * tokens)


def endless_room(tables: ProblemTables, point: DesignPoint, buffer: int) -> int:
    """Return a capacity that holds all tokens that ever go through a buffer, or the one it has where that is larger."""
    of = tables.topology.buffers[buffer]
    first = int(tables.action_base[of.source])
    actions = tables.topology.actors[of.source].actions
    written = sum(int(tables.count[first + x]) * action.writes[of.source_port] for x, action in enumerate(actions))
    return max(point.capacities[buffer], min(MOST_TOKENS, written + of.initial_tokens))


def costs_transfers(tables: ProblemTables, buffer: int) -> bool:
    """Return whether a read or a write of a buffer takes time somewhere."""
    return any(
        bool((side.ticks[:, np.repeat(side.buffer, side.width) == buffer] > 0).any())
        for side in (tables.reads, tables.writes)
    )


def is_paired(change: Change, capacities: Sequence[int]) -> bool:
    """Return whether pairs are made of a change: of the speeds of computing and of the sizes of a FIFO one counts."""
    match change:
        case Faster():
            return change.speed == PAIRED_SPEED
        case Room():
            return change.tokens == more_room(capacities[change.buffer])
        case _:
            return True


def _pool(singles: Sequence[Tried], laboratory: Laboratory, most: int) -> tuple[Tried, ...]:
    """Return the changes that save most alone, the best first, as pairs are made of them: one of each place.

    Of the speeds of an action or actor ``PAIRED_SPEED`` counts, and of the room of a FIFO twice as much. What saves
    nothing is left out.
    """
    paired = [tried for tried in singles if is_paired(tried.changes[0], laboratory.point.capacities)]
    found = [tried for tried in paired if tried.makespan is not None and tried.makespan < laboratory.makespan]
    return tuple(sorted(found, key=_least)[:most])


def _least(tried: Tried) -> Fraction:
    assert tried.makespan is not None, "what deadlocks saves nothing"
    return tried.makespan


def _memory(laboratory: Laboratory, singles: Sequence[Tried]) -> Tried | None:
    """Return the least room that saves nearly what any room saves, in the FIFO where that is most; None: in none."""
    rooms = [(t.makespan, t.changes[0]) for t in singles if isinstance(t.changes[0], Room)]
    found = [(makespan, change.buffer) for makespan, change in rooms if makespan is not None]
    best, buffer = min(found, default=(laboratory.makespan, -1))
    if best >= laboratory.makespan:
        return None
    tried = _larger(laboratory, buffer)
    most = laboratory.makespan - min(map(_least, tried))
    return next(of for of in tried if _least(of) <= laboratory.makespan - ENOUGH * most)


def _larger(laboratory: Laboratory, buffer: int) -> list[Tried]:
    """Return what larger capacities of a FIFO give, the least first; without those that deadlock."""
    capacity = laboratory.point.capacities[buffer]
    sizes = sorted({more_room(capacity), *(n for n in _sizes(laboratory, buffer) if n > capacity)})
    makespans = laboratory.makespans([(Room(buffer=buffer, tokens=n),) for n in sizes])
    return [
        Tried(changes=(Room(buffer=buffer, tokens=n),), makespan=makespan)
        for n, makespan in zip(sizes, makespans, strict=True)
        if makespan is not None
    ]


def _apart(a: Change, b: Change) -> bool:
    """Return whether two changes are of different places: an actor and its own action are not."""
    if isinstance(a, Faster) and isinstance(b, Faster):
        return a.actor != b.actor or (a.action is not None and b.action is not None)
    if isinstance(a, FreeLink | Uncontended) and isinstance(b, FreeLink | Uncontended):
        return a.link != b.link
    return True


def curve(laboratory: Laboratory, request: CurveRequest) -> Curve:
    """Return the makespan over the speed of an actor or action, or over the capacity of a buffer."""
    if request.buffer is None:
        assert request.actor is not None, "a curve is of an actor or a buffer"
        speeds = CURVE_SPEEDS
        cases: list[Change] = [Faster(actor=request.actor, action=request.action, speed=s) for s in speeds]
        makespans = laboratory.makespans([(case,) for case in cases])
        of_speeds = zip(speeds, makespans, strict=True)
        return Curve(name=request.name, points=tuple(CurvePoint(speed=s, makespan=m) for s, m in of_speeds))
    sizes = _sizes(laboratory, request.buffer)
    makespans = laboratory.makespans([(Room(buffer=request.buffer, tokens=tokens),) for tokens in sizes])
    of_sizes = zip(sizes, makespans, strict=True)
    return Curve(name=request.name, points=tuple(CurvePoint(tokens=n, makespan=m) for n, m in of_sizes))


def _sizes(laboratory: Laboratory, buffer: int) -> list[int]:
    """Return the capacities of a curve: from the least that every firing fits into, by doubling, to all tokens."""
    tables = laboratory.tables
    least, most = max(1, tables.least_capacity[buffer]), endless_room(tables, laboratory.point, buffer)
    sizes = {least, laboratory.point.capacities[buffer], most}
    while least < most:
        sizes.add(least)
        least *= 2
    return sorted(sizes)
