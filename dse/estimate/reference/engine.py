"""The reference engine: builds the coupled model of a design point, runs it, and reads the accounts."""

import copy
from collections.abc import Callable, Sequence

import numpy as np

from dse.estimate.accounts import partition_account
from dse.estimate.deadlock import FinalState, diagnose
from dse.estimate.draws import DrawnCosts
from dse.estimate.problem.build import tables_of
from dse.estimate.problem.prepare import Prepared, prepare
from dse.estimate.problem.tables import IntArray, ProblemTables, run_ends
from dse.estimate.reference.actor import ActorModel
from dse.estimate.reference.coupled import Coupled, Firings, couple
from dse.estimate.reference.simulator import Simulator
from dse.estimate.stopping import EstimateStopped
from dse.model.design_point import DesignPoint
from dse.model.estimate import ActorAccount, BufferAccount, Deadlock, Estimate, FiringTimes, LinkAccount, Outcome
from dse.model.problem import Problem


class ReferenceEngine:
    """The engine to be read: DEVS atomic models, one SimPy event a step."""

    name = "reference"

    def __init__(self, problem: Problem | ProblemTables) -> None:
        self._tables = tables_of(problem)
        marked = bool(self._tables.block_width.any())
        self._firings = [
            Firings(actions=firings.tolist(), run_ends=run_ends(firings).tolist() if marked else ())
            for firings in self._tables.problem.trace.firings
        ]
        self._running: dict[int, Simulator] = {}
        """The runs under way, each under a number of its own."""

    def with_tables(self, tables: ProblemTables) -> "ReferenceEngine":
        """Return an engine for changed tables (see ``Engine``)."""
        engine = copy.copy(self)
        engine._tables, engine._running = tables, {}
        return engine

    def drawn(self, point: DesignPoint, costs: DrawnCosts) -> IntArray:
        """Return the makespan under each set of costs (see ``Engine``)."""
        found = np.full(len(costs.compute), -1, dtype=np.int64)
        for n in range(len(found)):
            estimate = self.with_tables(costs.put_into(self._tables, n))._estimated(point, None)
            found[n] = -1 if estimate.deadlock is not None else estimate.makespan
        return found

    def stop(self) -> None:
        """End the estimates under way in other threads (see ``Engine``)."""
        for simulator in list(self._running.values()):
            simulator.stopped = True

    def _run(self, model: Coupled, limit: int | None = None) -> int:
        """Return the makespan of a model, or with a ``limit`` the time of its last event that is not later.

        Raises ``EstimateStopped``.
        """
        simulator = Simulator(model)
        self._running[id(simulator)] = simulator
        try:
            makespan = simulator.run(limit)
        finally:
            del self._running[id(simulator)]
        if simulator.stopped:
            raise EstimateStopped
        if all(actor.finished for actor in model.actors):  # tokens that nobody reads may have arrived later
            return max((actor.last_end for actor in model.actors), default=0)
        return makespan

    def estimate(self, point: DesignPoint, *, firing_times: bool = False) -> Estimate:
        """Return the estimate of ``point`` (see ``Engine``)."""
        return self._estimated(point, self._rerun, firing_times=firing_times)

    def _estimated(
        self, point: DesignPoint, rerun: Callable[[Prepared], FinalState] | None, *, firing_times: bool = False
    ) -> Estimate:
        """Return the estimate of a point; without ``rerun`` nobody looks for what would end a deadlock."""
        prepared = prepare(self._tables, point)
        model = couple(prepared, self._firings, record_times=firing_times)
        makespan = self._run(model)
        return self._estimate(prepared, model, makespan, diagnose(prepared, _final_state(model), rerun))

    def estimates(self, points: Sequence[DesignPoint]) -> list[Estimate]:
        """Return the estimates of points (see ``Engine``)."""
        return [self._estimated(point, None) for point in points]

    def estimate_within(self, point: DesignPoint, limit: int) -> Estimate | None:
        """Return the estimate of a point that completes by ``limit``, else None (see ``Engine``)."""
        prepared = prepare(self._tables, point)
        model = couple(prepared, self._firings, record_times=False)
        makespan = self._run(model, limit)
        if makespan > limit or not all(actor.finished for actor in model.actors):
            return None
        return self._estimate(prepared, model, makespan, None)

    def estimates_within(self, points: Sequence[DesignPoint], limit: int) -> list[Estimate | None]:
        """Return the estimates of points that complete by ``limit``, else None (see ``Engine``)."""
        return [self.estimate_within(point, limit) for point in points]

    def outcomes(self, points: Sequence[DesignPoint], limit: int | None = None) -> list[Outcome | None]:
        """Return the outcomes of points (see ``Engine``)."""
        found = [*self.estimates(points)] if limit is None else self.estimates_within(points, limit)
        return [None if estimate is None else estimate.outcome for estimate in found]

    def _estimate(self, prepared: Prepared, model: Coupled, makespan: int, deadlock: Deadlock | None) -> Estimate:
        """Read the accounts of a run that is over."""
        for actor in model.actors:
            if actor.waits:
                actor.charge(makespan)
        actors = tuple(_actor_account(actor, makespan) for actor in model.actors)
        return Estimate(
            makespan=makespan,
            tick_unit=self._tables.tick_unit,
            actors=actors,
            partitions=tuple(
                partition_account([actors[a] for a in partition.actors], cores, makespan)
                for partition, cores in zip(prepared.point.partitions, prepared.cores, strict=True)
            ),
            buffers=tuple(
                BufferAccount(
                    max_tokens=fifo.max_tokens,
                    read_blockings=fifo.read_blockings,
                    read_blocked=fifo.read_blocked,
                    write_blockings=fifo.write_blockings,
                    write_blocked=fifo.write_blocked,
                )
                for fifo in model.fifos
            ),
            links=tuple(
                LinkAccount(name=server.name, busy=link.busy, waiting=link.waiting, transfers=link.transfers)
                for server, link in zip(prepared.servers, model.links, strict=True)
            ),
            deadlock=deadlock,
            firing_times=_all_times(model),
        )

    def _rerun(self, prepared: Prepared) -> FinalState:
        """Return the final state of another run."""
        model = couple(prepared, self._firings, record_times=False)
        self._run(model)
        return _final_state(model)


def _final_state(model: Coupled) -> FinalState:
    return [actor.position for actor in model.actors], [fifo.visible for fifo in model.fifos]


def _actor_account(actor: ActorModel, makespan: int) -> ActorAccount:
    account = ActorAccount(
        scheduling=actor.scheduling,
        reading=actor.reading,
        processing=actor.processing,
        writing=actor.writing,
        link_waiting=actor.link_waiting,
        blocked_reading=actor.blocked_reading,
        blocked_writing=actor.blocked_writing,
        idle=actor.idle,
        finished=makespan - actor.last_end if actor.finished else 0,
        firings=actor.position,
    )
    assert account.total == makespan, f"the account of actor {actor.index} does not add up to the makespan"
    return account


def _all_times(model: Coupled) -> tuple[FiringTimes, ...] | None:
    """Return the times of all firings where they were recorded."""
    if any(actor.start_times is None for actor in model.actors):
        return None
    return tuple(map(_times, model.actors))


def _times(actor: ActorModel) -> FiringTimes:
    """Return start and end of each firing, -1 for those that were never made."""
    assert actor.start_times is not None, "the times were not recorded"
    start, end = (np.full(actor.n_firings, -1, dtype=np.int64) for _ in range(2))
    start[: actor.position] = actor.start_times
    end[: actor.position] = actor.end_times
    return FiringTimes(start=start, end=end)
