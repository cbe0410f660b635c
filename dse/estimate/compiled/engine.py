"""The compiled engine: packs a design point, runs the kernel, reads the accounts."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from dse.base.apart import apart
from dse.estimate.accounts import core_time
from dse.estimate.compiled import layout as at
from dse.estimate.compiled.burst import BURST_KINDS, BurstKind, Bursts, bursts_of
from dse.estimate.compiled.burst_layout import REFUSED
from dse.estimate.compiled.encode import EncodedPoint, PointEncoder
from dse.estimate.compiled.kernel import simulate
from dse.estimate.compiled.pack import Ints, Kind, Packed, draw_costs, pack_point, pack_problem, repack
from dse.estimate.compiled.place_kernel import PART_CORES, account
from dse.estimate.compiled.ready import is_burst_compiled, is_link_compiled, is_plain_compiled, is_travel_compiled
from dse.estimate.compiled.record import Recorder, RunRecord
from dse.estimate.deadlock import FinalState, diagnose
from dse.estimate.draws import DrawnCosts
from dse.estimate.problem.build import tables_of
from dse.estimate.problem.prepare import Prepared, prepare
from dse.estimate.problem.tables import ProblemTables
from dse.estimate.stopping import EstimateStopped
from dse.model.design_point import DesignPoint
from dse.model.estimate import (
    Accounts,
    ActorAccount,
    BufferAccount,
    Deadlock,
    Estimate,
    FiringTimes,
    LinkAccount,
    Outcome,
    PartitionAccount,
)
from dse.model.problem import Problem

_NO_TIMES: Ints = np.zeros((2, 0), dtype=np.int64)
_APART_FIRINGS = 1_000_000
"""Runs of more firings are made in another thread while the main thread listens to signals: tens of milliseconds."""
_LOOK_AGAIN = 16
"""Every so many calls an engine looks whether a kernel has been compiled meanwhile."""
_Made = TypeVar("_Made")


class _Stoppable(Protocol):
    """A call of a kernel under way."""

    def stop(self) -> None: ...

    @property
    def stopped(self) -> bool: ...


@dataclass(slots=True)
class _Run:
    """Simulations under way in one call of the kernel."""

    memories: list[Ints]
    deviations: Ints
    kinds: tuple[Kind, ...]
    """What each memory has: which kernel makes it."""
    stopped: bool = False

    def make(self, packed: Packed, times: Ints) -> list[int]:
        """Return the time of the last event of each. The kernel has only their addresses: this object keeps them."""
        addresses = np.array([memory.ctypes.data for memory in self.memories], dtype=np.int64)
        ends = np.empty(len(addresses), dtype=np.int64)
        for kind in dict.fromkeys(self.kinds):
            of_kind = np.array([one == kind for one in self.kinds], dtype=bool)
            some = ends[of_kind]
            _kernel_of(kind)(addresses[of_kind], some, packed.firings, times, self.deviations)
            ends[of_kind] = some
        makespans: list[int] = ends.tolist()
        return makespans

    def stop(self) -> None:
        """Have the kernel leave each of them at its next instant, and begin no other."""
        self.stopped = True
        for memory in self.memories:
            memory[at.STOPPED] = 1


def _kernel_of(kind: Kind) -> Callable[..., None]:
    """Return the kernel for memories of a kind."""
    if kind == "general":
        return simulate
    from dse.estimate.compiled.plain_kernel import simulate_plain, simulate_still  # late: compiled if they were not yet

    return simulate_plain if kind == "plain" else simulate_still


class _Readiness:
    """Whether what is compiled beside was found compiled."""

    _known: ClassVar[set[Callable[[], bool]]] = set()
    """Of what this process has found compiled, the functions that tell it: to look takes a millisecond."""

    def __init__(self) -> None:
        self._found, self._asked = False, 0

    def __bool__(self) -> bool:
        return self._found

    def now(self, is_compiled: Callable[[], bool]) -> bool:
        """Return whether it is compiled, which is looked at once in ``_LOOK_AGAIN`` times until it is."""
        if not self._found:
            self._asked += 1
            self._found = is_compiled in self._known or (self._asked % _LOOK_AGAIN == 1 and is_compiled())
            if self._found:
                self._known.add(is_compiled)
        return self._found


class CompiledEngine:
    """The fast engine. Estimates of one engine may run in several threads at once."""

    name = "compiled"

    def __init__(self, problem: Problem | ProblemTables) -> None:
        self.packed = pack_problem(tables_of(problem))
        """What all estimates share."""
        self.encoder = PointEncoder(self.packed.tables)
        self._running: dict[int, _Stoppable] = {}
        """The calls of the kernels under way, each under a number of its own."""
        self._burst_board: tuple[Bursts | None] | None = None
        """What the burst kernel needs, None in it where that cannot serve; None while it is not compiled."""
        self._burst_ready = _Readiness()
        self._plain_ready = _Readiness()
        """Of the kernels for plain and still memories."""
        self._travel_ready = _Readiness()
        """Of the burst kernel for points where tokens travel."""
        self._link_ready = _Readiness()
        """Of that for points with shared links."""

    def with_tables(self, tables: ProblemTables) -> "CompiledEngine":
        """Return an engine for changed tables that shares the trace and what is known of points (see ``Engine``)."""
        engine = copy.copy(self)
        engine.packed, engine._running = repack(self.packed, tables), {}
        engine._burst_board, engine._burst_ready = None, _Readiness()
        return engine

    def estimate(self, point: DesignPoint, *, firing_times: bool = False) -> Estimate:
        """Return the estimate of ``point`` (see ``Engine``)."""
        encoded = self.encoder.encode(point)
        memory = pack_point(self.packed, encoded)
        if not firing_times:
            return self._estimate(encoded, memory, self._simulate([encoded], [memory])[0])
        times = np.full((2, len(self.packed.firings)), at.NONE, dtype=np.int64)
        makespan = self._simulate([encoded], [memory], times)[0]
        return replace(
            self._estimate(encoded, memory, makespan), firing_times=_firing_times(self.packed.firing_base, times)
        )

    def record(self, point: DesignPoint) -> tuple[Estimate, RunRecord]:
        """Return the estimate of ``point`` with its firing times, and the record of all that the run did.

        Raises: as ``estimate``.
        """
        encoded = self.encoder.encode(point)
        memory = pack_point(self.packed, encoded)
        recorder = Recorder.attached(self.packed, encoded, memory)
        makespan = self._simulate([encoded], [memory], recorder.times)[0]
        estimate = self._estimate(encoded, memory, makespan)
        times = _firing_times(self.packed.firing_base, recorder.times)
        complete = estimate.deadlock is None
        record = recorder.record(self.packed, encoded, memory, makespan=makespan, complete=complete)
        return replace(estimate, firing_times=times), record

    def estimates(self, points: Sequence[DesignPoint]) -> list[Estimate]:
        """Return the estimates of points (see ``Engine``): all run in one go, without the interpreter lock."""
        encoded = [self.encoder.encode(point) for point in points]
        memories = [pack_point(self.packed, point) for point in encoded]
        makespans = self._simulate(encoded, memories)
        return [
            self._estimate(point, memory, makespan, explain=False)
            for point, memory, makespan in zip(encoded, memories, makespans, strict=True)
        ]

    def estimate_within(self, point: DesignPoint, limit: int) -> Estimate | None:
        """Return the estimate of a point that completes by ``limit``, else None (see ``Engine``)."""
        return self.estimates_within([point], limit)[0]

    def estimates_within(self, points: Sequence[DesignPoint], limit: int) -> list[Estimate | None]:
        """Return the estimates of points that complete by ``limit``, else None (see ``Engine``)."""
        encoded = [self.encoder.encode(point) for point in points]
        memories = [pack_point(self.packed, point, limit) for point in encoded]
        makespans = self._simulate(encoded, memories)
        return [
            self._estimate(point, memory, makespan) if makespan <= limit and self._complete(memory) else None
            for point, memory, makespan in zip(encoded, memories, makespans, strict=True)
        ]

    def outcomes(self, points: Sequence[DesignPoint], limit: int | None = None) -> list[Outcome | None]:
        """Return the outcomes of points (see ``Engine``), those that suit from the burst kernel if it is compiled."""
        encoded = [self.encoder.encode(point) for point in points]
        found = self._in_bursts(encoded, limit)
        rest = [number for number in range(len(encoded)) if number not in found]
        found |= zip(rest, self._general([encoded[number] for number in rest], limit), strict=True)
        return [found[number] for number in range(len(encoded))]

    def _in_bursts(self, encoded: Sequence[EncodedPoint], limit: int | None) -> dict[int, Outcome | None]:
        """Return the outcomes from the burst kernel, by the numbers of the points."""
        bursts = self._bursts()
        if bursts is None:
            return {}
        kinds = [bursts.kernel_of(one) for one in encoded]
        found: dict[int, Outcome | int] = {}
        for kind in BURST_KINDS:
            found |= self._of_kind(kind, bursts, {n: encoded[n] for n, one in enumerate(kinds) if one == kind}, limit)
        return {number: _within(outcome, limit) for number, outcome in found.items() if outcome != REFUSED}

    def _of_kind(
        self, kind: BurstKind, bursts: Bursts, encoded: dict[int, EncodedPoint], limit: int | None
    ) -> dict[int, Outcome | int]:
        """Return what came of points of one kind, by their numbers; nothing while its kernel is not compiled."""
        if not encoded or not self._is_ready(kind):
            return {}
        run = bursts.run(kind, list(encoded.values()), limit)
        return dict(zip(encoded, self._stoppable(run, run.make, len(encoded)), strict=True))

    def _is_ready(self, kind: BurstKind) -> bool:
        """Return whether a burst kernel is compiled; of the first one ``_bursts`` knows."""
        if kind == "linked":
            return self._link_ready.now(is_link_compiled)
        return kind == "still" or self._travel_ready.now(is_travel_compiled)

    def _bursts(self) -> Bursts | None:
        """Return what the burst kernel needs, None while it is not compiled, or where it can do nothing."""
        if self._burst_board is None:
            if not self._burst_ready.now(is_burst_compiled):
                return None
            self._burst_board = (bursts_of(self.packed),)
        return self._burst_board[0]

    def _general(self, encoded: Sequence[EncodedPoint], limit: int | None) -> list[Outcome | None]:
        """Return the outcomes of points from the general kernel."""
        memories = [pack_point(self.packed, point, limit) for point in encoded]
        makespans = self._simulate(encoded, memories) if memories else []
        runs = zip(encoded, memories, makespans, strict=True)
        return [None if _is_left(run[1], run[2], limit) else _within(self._outcome(*run), limit) for run in runs]

    def _outcome(self, encoded: EncodedPoint, memory: Ints, makespan: int) -> Outcome:
        of_actors, partitions, complete = self._read(encoded, memory, makespan)
        return Outcome(
            makespan=makespan,
            tick_unit=self.packed.tables.tick_unit,
            partitions=partitions,
            waiting=tuple(of_actors[:, _IDLE].tolist()),
            deadlock=not complete,
        )

    def drawn(self, point: DesignPoint, costs: DrawnCosts) -> Ints:
        """Return the makespan under each set of costs (see ``Engine``): all run in one go."""
        encoded, packed = self.encoder.encode(point), self.packed
        memories = np.repeat(pack_point(packed, encoded)[None], len(costs.compute), axis=0)
        draw_costs(packed, encoded, costs, memories)
        encodeds = [encoded] * len(memories)
        found = np.array(self._simulate(encodeds, list(memories), deviations=costs.deviations), dtype=np.int64)
        rows = memories[:, packed.actors.first : packed.actors.end].reshape(len(memories), -1, at.ACTOR_FIELDS)
        found[(rows[:, :, at.POSITION] != rows[:, :, at.FIRING_END]).any(axis=1)] = -1
        return found

    def _simulate(
        self,
        encoded: Sequence[EncodedPoint],
        memories: list[Ints],
        times: Ints = _NO_TIMES,
        *,
        deviations: Ints | None = None,
    ) -> list[int]:
        more = self.packed.tables.deviations if deviations is None else deviations
        run = _Run(memories, more, self._kinds(encoded, times, more))
        return self._stoppable(run, lambda: run.make(self.packed, times), len(memories))

    def _kinds(self, encoded: Sequence[EncodedPoint], times: Ints, deviations: Ints) -> tuple[Kind, ...]:
        """Return which kernel makes each point: the general one while the others are not compiled."""
        quick = not times.size and not len(deviations) and self._is_plain_ready()
        return tuple(self.packed.kind_of(one) if quick else "general" for one in encoded)

    def _is_plain_ready(self) -> bool:
        return self._plain_ready.now(is_plain_compiled)

    def _stoppable(self, run: _Stoppable, make: Callable[[], _Made], n_points: int) -> _Made:
        """Return what a call of a kernel makes. Raises ``EstimateStopped``."""
        self._running[id(run)] = run
        try:
            few = n_points * len(self.packed.firings) < _APART_FIRINGS
            made = make() if few else apart(make, run.stop)
        finally:
            del self._running[id(run)]
        if run.stopped:
            raise EstimateStopped
        return made

    def stop(self) -> None:
        """End the estimates under way in other threads (see ``Engine``)."""
        for run in list(self._running.values()):
            run.stop()

    def _complete(self, memory: Ints) -> bool:
        rows = self.packed.actors.view(memory)
        return not memory[at.STOPPED] and bool(np.all(rows[:, at.POSITION] == rows[:, at.FIRING_END]))

    def _estimate(self, encoded: EncodedPoint, memory: Ints, makespan: int, *, explain: bool = True) -> Estimate:
        """Read the accounts of a run that is over; ``explain``: look for what would end a deadlock."""
        of_actors, partitions, complete = self._read(encoded, memory, makespan)
        fifos = self.packed.fifos.view(memory)
        return Estimate(
            makespan=makespan,
            tick_unit=self.packed.tables.tick_unit,
            actors=Accounts(ActorAccount, of_actors),
            partitions=partitions,
            buffers=Accounts(BufferAccount, fifos[:, at.MAX_TOKENS : at.WRITE_BLOCKED + 1].copy()),
            links=self._link_accounts(memory) if self.encoder.servers else (),
            deadlock=None if complete else self._deadlock(encoded.point, memory, explain=explain),
        )

    def _read(
        self, encoded: EncodedPoint, memory: Ints, makespan: int
    ) -> tuple[Ints, tuple[PartitionAccount, ...], bool]:
        """Return the accounts of actors, shape (n_actors, n_fields), and partitions, and whether all firings ended."""
        of_actors = np.empty((len(encoded.members), len(ActorAccount._fields)), dtype=np.int64)
        of_partitions = np.empty((len(encoded.parts), _SPENT), dtype=np.int64)
        complete: bool = account(memory, encoded.parts, encoded.members, makespan, of_actors, of_partitions)
        spent, cores = of_partitions.tolist(), encoded.parts[:, PART_CORES].tolist()
        return of_actors, tuple(core_time(s, n, makespan) for s, n in zip(spent, cores, strict=True)), complete

    def _link_accounts(self, memory: Ints) -> tuple[LinkAccount, ...]:
        rows = memory[memory[at.LINKS] : memory[at.LINKS_END]].reshape(-1, at.LINK_FIELDS).tolist()
        return tuple(
            LinkAccount(name=server.name, busy=row[at.BUSY], waiting=row[at.WAITED], transfers=row[at.TRANSFERS])
            for server, row in zip(self.encoder.servers, rows, strict=True)
        )

    def _deadlock(self, point: DesignPoint, memory: Ints, *, explain: bool) -> Deadlock | None:
        prepared = prepare(self.packed.tables, point)
        return diagnose(prepared, self._final_state(memory), self._rerun if explain else None)

    def _rerun(self, prepared: Prepared) -> FinalState:
        """Return the final state of another run."""
        encoded = self.encoder.of(prepared)
        memory = pack_point(self.packed, encoded)
        self._simulate([encoded], [memory])
        return self._final_state(memory)

    def _final_state(self, memory: Ints) -> FinalState:
        actors, fifos = self.packed.actors.view(memory), self.packed.fifos.view(memory)
        return (actors[:, at.POSITION] - actors[:, at.FIRING_BASE]).tolist(), fifos[:, at.VISIBLE].tolist()


_SPENT = 5
"""What actors spend core time on: the first fields of ``ActorAccount`` and of ``PartitionAccount``."""
_IDLE = ActorAccount._fields.index("idle")


def _is_left(memory: Ints, makespan: int, limit: int | None) -> bool:
    """Return whether a run was left because of a limit, or is over after it: nobody asks for its accounts."""
    return limit is not None and (bool(memory[at.STOPPED]) or makespan > limit)


def _within(outcome: Outcome | int, limit: int | None) -> Outcome | None:
    """Return the outcome of a run that completes by a limit, where there is one; an integer tells why it was left."""
    if isinstance(outcome, int) or (limit is not None and (outcome.deadlock or outcome.makespan > limit)):
        return None
    return outcome


def _firing_times(base: Ints, times: Ints) -> tuple[FiringTimes, ...]:
    return tuple(
        FiringTimes(start=times[0, begin:end], end=times[1, begin:end])
        for begin, end in zip(base[:-1].tolist(), base[1:].tolist(), strict=True)
    )
