"""The compiled engine: packs a design point, runs the kernel, reads the accounts."""

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


class CompiledEngine:
    """The fast engine. Estimates of one engine may run in several threads at once."""

    name = "compiled"

    def __init__(self, problem: Problem) -> None:
        self._packed = pack_problem(build_tables(problem))

    def estimate(self, point: DesignPoint, *, firing_times: bool = False) -> Estimate:
        """Return the estimate of ``point`` (see ``Engine``)."""
        prepared = prepare(self._packed.tables, point)
        run = pack_point(self._packed, prepared)
        times = np.full((2, len(self._packed.firings) if firing_times else 0), at.NONE, dtype=np.int64)
        makespan = int(simulate(run.memory, self._packed.firings, times))
        actors = _actor_accounts(run, makespan)
        return Estimate(
            makespan=makespan,
            tick_unit=self._packed.tables.tick_unit,
            actors=actors,
            partitions=tuple(
                partition_account([actors[a] for a in partition.actors], cores, makespan)
                for partition, cores in zip(point.partitions, prepared.cores, strict=True)
            ),
            buffers=_buffer_accounts(run),
            links=tuple(
                LinkAccount(
                    name=server.name, busy=row[at.BUSY], waiting=row[at.WAITED], transfers=row[at.TRANSFERS]
                )
                for server, row in zip(prepared.servers, run.links.tolist(), strict=True)
            ),
            deadlock=self._deadlock(prepared, run),
            firing_times=_firing_times(self._packed.firing_base, times) if firing_times else None,
        )  # fmt: skip

    def _deadlock(self, prepared: Prepared, run: Run) -> Deadlock | None:
        if bool(np.all(run.actors[:, at.POSITION] == run.actors[:, at.FIRING_END])):
            return None
        return diagnose(prepared, _final_state(run), self._rerun)

    def _rerun(self, prepared: Prepared) -> FinalState:
        """Return the final state of another run."""
        run = pack_point(self._packed, prepared)
        simulate(run.memory, self._packed.firings, np.zeros((2, 0), dtype=np.int64))
        return _final_state(run)


def _final_state(run: Run) -> FinalState:
    positions = run.actors[:, at.POSITION] - run.actors[:, at.FIRING_BASE]
    return positions.tolist(), run.fifos[:, at.VISIBLE].tolist()


def _actor_accounts(run: Run, makespan: int) -> tuple[ActorAccount, ...]:
    accounts = []
    for row in run.actors.tolist():
        done = row[at.POSITION] == row[at.FIRING_END]
        accounts.append(
            ActorAccount(
                scheduling=row[at.SCHEDULING],
                reading=row[at.READING],
                processing=row[at.PROCESSING],
                writing=row[at.WRITING],
                link_waiting=row[at.LINK_WAITING],
                blocked_reading=row[at.BLOCKED_READING],
                blocked_writing=row[at.BLOCKED_WRITING],
                idle=row[at.IDLE],
                finished=makespan - row[at.LAST_END] if done else 0,
                firings=row[at.POSITION] - row[at.FIRING_BASE],
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
        for row in run.fifos.tolist()
    )


def _firing_times(base: Ints, times: Ints) -> tuple[FiringTimes, ...]:
    return tuple(
        FiringTimes(start=times[0, begin:end], end=times[1, begin:end])
        for begin, end in zip(base[:-1].tolist(), base[1:].tolist(), strict=True)
    )
