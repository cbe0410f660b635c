"""The coupled model of a design point: its atomic models and the connections between their ports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dse.estimate.policies import policy_state
from dse.estimate.problem.prepare import NO_SERVER, Prepared, VisitCosts, turn_firings, visit_costs
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import TransferTable
from dse.estimate.reference.actor import ActorModel
from dse.estimate.reference.fifo import FifoModel
from dse.estimate.reference.firing import ActionPlan, Ask, BlockPlan, Transfer, plan_transfers
from dse.estimate.reference.link import LinkModel
from dse.estimate.reference.partition import PartitionModel
from dse.estimate.reference.visits import Scheduler, SchedulerCosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupled:
    """The atomic models, by index."""

    actors: tuple[ActorModel, ...]
    fifos: tuple[FifoModel, ...]
    partitions: tuple[PartitionModel, ...]
    links: tuple[LinkModel, ...]
    """One for each link server of the platform; only shared ones are ever asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firings:
    """The firings of one actor as Python lists: actions, and the end of the run of equal actions at each position."""

    actions: Sequence[int]
    run_ends: Sequence[int]


def couple(prepared: Prepared, firings: Sequence[Firings], *, record_times: bool) -> Coupled:
    """Return the coupled model of a design point, connected but for the ports to the simulator."""
    buffers = prepared.tables.topology.buffers
    visits = visit_costs(prepared)
    fifos = tuple(
        FifoModel(
            index=b,
            capacity=prepared.capacities[b],
            initial_tokens=buffer.initial_tokens,
            arrival=prepared.tables.arrival if prepared.fifo_kind[b] == "cpu_cpu" else 0,
            entries=None if visits is None else visits.entries[b],
        )
        for b, buffer in enumerate(buffers)
    )
    links = tuple(LinkModel(index=s) for s in range(len(prepared.servers)))
    planner = _Planner(prepared, fifos, links)
    turns = turn_firings(prepared)
    actors: list[ActorModel] = []
    for a in range(len(firings)):
        partition = prepared.partition_of[a]
        actors.append(
            ActorModel(
                index=a,
                partition=partition,
                place=prepared.point.partitions[partition].actors.index(a),
                actions=firings[a].actions,
                run_ends=firings[a].run_ends,
                plans=planner.plans(a),
                release_early=prepared.point.release == "reading",
                parallel=prepared.point.transfers == "parallel",
                turn_firings=turns[a],
                deviations=_deviations(prepared, a),
                record_times=record_times,
            )
        )
    for fifo, buffer in zip(fifos, buffers, strict=True):
        fifo.on_tokens = actors[buffer.target].answered
        fifo.on_space = actors[buffer.source].answered
        if fifo.travels:
            actors[buffer.source].far_outputs.append(fifo)
            if visits is not None:
                actors[buffer.target].far_inputs.append(fifo)
    partitions = tuple(_partition(prepared, p, actors, visits) for p in range(len(prepared.point.partitions)))
    return Coupled(actors=tuple(actors), fifos=fifos, partitions=partitions, links=links)


def _partition(
    prepared: Prepared, index: int, actors: Sequence[ActorModel], visits: VisitCosts | None
) -> PartitionModel:
    """Return a partition connected to its actors."""
    declared = prepared.point.partitions[index]
    buffers = prepared.tables.topology.buffers
    here = declared.actors
    partition = PartitionModel(
        index=index,
        cores=prepared.cores[index],
        core_per_actor=declared.policy == "FULL_PARALLEL",
        policy=policy_state(declared.policy, declared, _finished(here, actors)),
        successors=[[here.index(b.target) for b in buffers if b.source == a and b.target in here] for a in here],
        scheduler=_scheduler(prepared, index, actors, visits),
        predecessors=[[here.index(b.source) for b in buffers if b.target == a and b.source in here] for a in here],
    )
    for a in here:
        partition.starts.append(actors[a].start)
        actors[a].out.ready = partition.actor_ready
        actors[a].out.ended = partition.firing_ended
        actors[a].out.fresh = partition.is_fresh
    return partition


def _scheduler(
    prepared: Prepared, index: int, actors: Sequence[ActorModel], visits: VisitCosts | None
) -> Scheduler | None:
    """Return what knows of the visits of a partition, None where nobody does."""
    if visits is None:
        return None
    declared = prepared.point.partitions[index]
    here, alone = declared.actors, prepared.cores[index] == 1
    looks = alone and declared.policy in ("NON_PREEMPTIVE", "ROUND_ROBIN")
    return Scheduler(
        costs=SchedulerCosts(
            calls=tuple(visits.calls[a] if looks else 0 for a in here),
            wake=visits.wake if alone else 0,
            polled=tuple(visits.polled[a] for a in here),
        ),
        longest=prepared.tables.turn_firings if alone and declared.policy == "NON_PREEMPTIVE" else 0,
        visitors=tuple(actors[a] for a in here),
    )


def _deviations(prepared: Prepared, actor: int) -> Sequence[int]:
    """Return what each firing of an actor computes more than its action says; only CPUs know of it."""
    if not len(prepared.tables.deviations) or UNIT_KINDS[prepared.unit_kind[actor]] != "cpu":
        return ()
    firings = prepared.tables.problem.trace.firings
    first = sum(len(of_actor) for of_actor in firings[:actor])
    found: list[int] = prepared.tables.deviations[first : first + len(firings[actor])].tolist()
    return found


def _finished(here: Sequence[int], actors: Sequence[ActorModel]) -> Callable[[int], bool]:
    return lambda place: actors[here[place]].finished


class _Planner:
    """Reads the plans of the actions from the tick tables."""

    def __init__(self, prepared: Prepared, fifos: Sequence[FifoModel], links: Sequence[LinkModel]) -> None:
        self.prepared = prepared
        self.fifos = fifos
        self.links = links

    def plans(self, actor: int) -> tuple[ActionPlan, ...]:
        """Return the plan of each action of an actor on its unit."""
        return tuple(self._action(actor, x) for x in range(self.prepared.tables.action_count(actor)))

    def _action(self, actor: int, action: int) -> ActionPlan:
        tables, row = self.prepared.tables, self.prepared.cost_row[actor]
        n = tables.action_count(actor)
        column = int(tables.action_base[actor]) + action
        pairs = int(tables.pair_base[actor])
        width = int(tables.block_width[row, column])
        if width:
            base = int(tables.block_base[row, column])
            compute = tables.block_ticks[base : base + width].tolist()
        else:
            compute = [int(tables.compute[row, column])]
        blocks = tuple(self._block(column, k, ticks) for k, ticks in enumerate(compute, start=1))
        reads, writes = blocks[0].reads.transfers, blocks[0].writes.transfers
        return ActionPlan(
            asks=(
                *(Ask(fifo=t.fifo, tokens=t.tokens, question=t.fifo.ask_tokens) for t in reads),
                *(Ask(fifo=t.fifo, tokens=t.tokens, question=t.fifo.ask_space) for t in writes),
            ),
            n_inputs=len(reads),
            first_scheduling=int(tables.first_scheduling[row, column]),
            pair_scheduling=tuple(tables.pair_scheduling[row, pairs + action : pairs + n * n : n].tolist()),
            blocks=blocks,
            simd=width > 0,
        )

    def _block(self, column: int, firings: int, compute: int) -> BlockPlan:
        """Return the plan of a block of firings of the action in ``column``."""
        tables = self.prepared.tables
        parallel = self.prepared.point.transfers == "parallel"
        reads = self._transfers(tables.reads, self.prepared.read_price, column, firings)
        writes = self._transfers(tables.writes, self.prepared.write_price, column, firings)
        carried = []
        for transfer in (*reads, *writes):
            server = self.prepared.server_of[transfer.fifo.index]
            if server != NO_SERVER and transfer.server is None:
                carried.append((self.links[server], transfer.ticks))
        return BlockPlan(
            firings=firings,
            reads=plan_transfers(reads, parallel=parallel),
            compute=compute,
            writes=plan_transfers(writes, parallel=parallel),
            carried=tuple(carried),
        )

    def _transfers(
        self, table: TransferTable, prices: Sequence[int], column: int, firings: int
    ) -> tuple[Transfer, ...]:
        """Return the reads or writes of a block of firings of the action in ``column``."""
        transfers: list[Transfer] = []
        for entry in range(int(table.first[column]), int(table.first[column + 1])):
            b = int(table.buffer[entry])
            server = self.prepared.server_of[b]
            shared = server != NO_SERVER and self.prepared.servers[server].shared
            transfers.append(
                Transfer(
                    fifo=self.fifos[b],
                    tokens=int(table.tokens[entry]) * firings,
                    ticks=int(table.ticks[prices[b], int(table.cost[entry]) + firings - 1]),
                    server=self.links[server] if shared else None,
                )
            )
        return tuple(transfers)
