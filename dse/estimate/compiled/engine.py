"""The compiled engine: packs a design point, runs the kernel, reads the accounts."""

from collections.abc import Sequence

import numpy as np

from dse.estimate.accounts import partition_account
from dse.estimate.compiled import layout as at
from dse.estimate.compiled.kernel import simulate
from dse.estimate.compiled.pack import Ints, Run, pack_point, pack_problem
from dse.estimate.deadlock import FinalState, diagnose
from dse.estimate.prepare import Prepared, prepare
from dse.estimate.tables import build_tables
from dse.model.design_point import DesignPoint
from dse.model.estimate import ActorAccount, BufferAccount, Deadlock, Estimate, FiringTimes, LinkAccount
from dse.model.problem import Problem

_NO_TIMES: Ints = np.zeros((2, 0), dtype=np.int64)


class CompiledEngine:
    """The fast engine. Estimates of one engine may run in several threads at once."""

    name = "compiled"

    def __init__(self, problem: Problem) -> None:
        self.packed = pack_problem(build_tables(problem))
        """What all estimates share."""

    def estimate(self, point: DesignPoint, *, firing_times: bool = False) -> Estimate:
        """Return the estimate of ``point`` (see ``Engine``)."""
        prepared = prepare(self.packed.tables, point)
        run = pack_point(self.packed, prepared)
        times = np.full((2, len(self.packed.firings) if firing_times else 0), at.NONE, dtype=np.int64)
        makespan = self._simulate([run], times)[0]
        return self._estimate(prepared, run, makespan, times if firing_times else None)

    def estimates(self, points: Sequence[DesignPoint]) -> list[Estimate]:
        """Return the estimates of points (see ``Engine``): all run in one go, without the interpreter lock."""
        prepared = [prepare(self.packed.tables, point) for point in points]
        runs = [pack_point(self.packed, p) for p in prepared]
        makespans = self._simulate(runs, _NO_TIMES)
        return [self._estimate(p, r, m, None) for p, r, m in zip(prepared, runs, makespans, strict=True)]

    def estimate_within(self, point: DesignPoint, limit: int) -> Estimate | None:
        """Return the estimate of a point that completes by ``limit``, else None (see ``Engine``)."""
        return self.estimates_within([point], limit)[0]

    def estimates_within(self, points: Sequence[DesignPoint], limit: int) -> list[Estimate | None]:
        """Return the estimates of points that complete by ``limit``, else None (see ``Engine``)."""
        prepared = [prepare(self.packed.tables, point) for point in points]
        runs = [pack_point(self.packed, p, limit) for p in prepared]
        makespans = self._simulate(runs, _NO_TIMES)
        return [
            self._estimate(p, run, makespan, None) if makespan <= limit and _complete(run) else None
            for p, run, makespan in zip(prepared, runs, makespans, strict=True)
        ]

    def _simulate(self, runs: list[Run], times: Ints) -> list[int]:
        ends = np.empty(len(runs), dtype=np.int64)
        addresses = np.array([run.memory.ctypes.data for run in runs], dtype=np.int64)
        simulate(addresses, ends, self.packed.firings, times)
        makespans: list[int] = ends.tolist()
        return makespans

    def _estimate(self, prepared: Prepared, run: Run, makespan: int, times: Ints | None) -> Estimate:
        """Read the accounts of a run that is over."""
        actors = _actor_accounts(run, makespan)
        return Estimate(
            makespan=makespan,
            tick_unit=self.packed.tables.tick_unit,
            actors=actors,
            partitions=tuple(
                partition_account([actors[a] for a in partition.actors], cores, makespan)
                for partition, cores in zip(prepared.point.partitions, prepared.cores, strict=True)
            ),
            buffers=_buffer_accounts(run),
            links=tuple(
                LinkAccount(
                    name=server.name, busy=row[at.BUSY], waiting=row[at.WAITED], transfers=row[at.TRANSFERS]
                )
                for server, row in zip(prepared.servers, run.links.tolist(), strict=True)
            ),
            deadlock=self._deadlock(prepared, run),
            firing_times=None if times is None else _firing_times(self.packed.firing_base, times),
        )  # fmt: skip

    def _deadlock(self, prepared: Prepared, run: Run) -> Deadlock | None:
        if _complete(run):
            return None
        return diagnose(prepared, _final_state(run), self._rerun)

    def _rerun(self, prepared: Prepared) -> FinalState:
        """Return the final state of another run."""
        run = pack_point(self.packed, prepared)
        self._simulate([run], _NO_TIMES)
        return _final_state(run)


def _complete(run: Run) -> bool:
    return not run.memory[at.STOPPED] and bool(np.all(run.actors[:, at.POSITION] == run.actors[:, at.FIRING_END]))


def _final_state(run: Run) -> FinalState:
    positions = run.actors[:, at.POSITION] - run.actors[:, at.FIRING_BASE]
    return positions.tolist(), run.fifos[:, at.VISIBLE].tolist()


def _actor_accounts(run: Run, makespan: int) -> tuple[ActorAccount, ...]:
    positions, bases = run.actors[:, at.POSITION].tolist(), run.actors[:, at.FIRING_BASE].tolist()
    rows = run.actors[:, at.FIRING_END : at.LINK_WAITING + 1].tolist()
    accounts = []
    for position, base, row in zip(positions, bases, rows, strict=True):
        end, last_end, _, scheduling, idle, blocked_reading, blocked_writing, reading, processing, writing, waiting = (
            row
        )
        accounts.append(
            ActorAccount(
                scheduling=scheduling,
                reading=reading,
                processing=processing,
                writing=writing,
                link_waiting=waiting,
                blocked_reading=blocked_reading,
                blocked_writing=blocked_writing,
                idle=idle,
                finished=makespan - last_end if position == end else 0,
                firings=position - base,
            )
        )
    return tuple(accounts)


def _buffer_accounts(run: Run) -> tuple[BufferAccount, ...]:
    return tuple(
        BufferAccount(
            max_tokens=row[at.MAX_TOKENS],
            read_blockings=row[at.READ_BLOCKINGS],
            read_blocked=row[at.READ_BLOCKED],
            write_blockings=row[at.WRITE_BLOCKINGS],
            write_blocked=row[at.WRITE_BLOCKED],
        )
        for row in run.fifos[:, : at.WRITE_BLOCKED + 1].tolist()
    )


def _firing_times(base: Ints, times: Ints) -> tuple[FiringTimes, ...]:
    return tuple(
        FiringTimes(start=times[0, begin:end], end=times[1, begin:end])
        for begin, end in zip(base[:-1].tolist(), base[1:].tolist(), strict=True)
    )
