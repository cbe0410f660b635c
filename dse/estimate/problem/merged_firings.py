"""A shorter problem that stands for a long one: firings that one core makes in a row become one firing.

With all actors on one core an actor fires for as long as it can, and then another one does. What an actor fires in a
row had all its tokens and all its room when it began, as nobody else fired in between. So the runs, each as one firing
that reads, computes and writes what all of its firings do, are a trace too: it has an order in which it completes, and
as tokens and room decide alone which firings come about, every mapping with this much room completes it. A prefix of
the trace, which is as short, says less: it leaves out whole phases, and filling and draining are most of it.

It is for ranking, not for results: tokens are there when a whole run has been made, and no sooner. What a transfer
costs besides its tokens is spread over the tokens of the buffer, so that each buffer costs what it did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import ProblemTables
from dse.model.estimate import FiringTimes
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, make_trace
from dse.model.weights import ComputeKey, Cost, TransferKey, WeightTable

IntArray = NDArray[np.int64]
MOST_KINDS = 256
"""Runs of an actor are of no more kinds, where that can be: engines copy a cost for each pair of them a point."""
LENGTHS = (16, 4, 1)
"""An actor with more kinds, such as a parser, gets runs of at most so many firings, the first that are few enough."""
_PS_MHZ = Fraction(10**6)
"""A clock whose cycles are picoseconds."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of one actor: ``counts[k]``, shape (n_kinds, n_actions), firings of each action in a run of kind k;
    ``kinds``, shape (n_runs,), the kind of each run."""

    counts: IntArray
    kinds: IntArray


def can_merge(problem: Problem) -> bool:
    """Return whether the costs of a problem can be added up: CPUs at the clocks of the weights, no costs of one firing.

    Blocks of a GPU are made of firings that are ready together, which runs on one core do not tell.
    """
    return not (problem.platform.has_gpu or problem.clocks or problem.deviations)


def merged_firings(
    tables: ProblemTables, on_one_core: Sequence[FiringTimes], *, longest: int, most: int
) -> Problem | None:
    """Return the problem of at most ``most`` runs, each of at most about ``longest`` ticks; None where it has more.

    ``on_one_core``: when each firing began and ended with all actors on one core, under NON_PREEMPTIVE.
    """
    problem, topology = tables.problem, tables.topology
    actors = _all_runs(tables, on_one_core, longest, most)
    if actors is None:
        return None
    merged = tuple(_merged_actor(actor, runs) for actor, runs in zip(topology.actors, actors, strict=True))
    trace = make_trace(replace(topology, actors=merged), [runs.kinds for runs in actors])
    return replace(problem, trace=trace, weights=_weights(tables, merged, actors))


def _all_runs(tables: ProblemTables, on_one_core: Sequence[FiringTimes], longest: int, most: int) -> list[_Runs] | None:
    """Return the runs of each actor, None where they are more than ``most``."""
    problem, topology = tables.problem, tables.topology
    looped = {b.source for b in topology.buffers if b.source == b.target}
    run_of = [_run_of(times, longest, alone=a in looped) for a, times in enumerate(on_one_core)]
    if sum(int(runs[-1]) + 1 for runs in run_of if len(runs)) > most:
        return None
    actors = [
        _few_kinds(runs, firings, len(actor.actions))
        for runs, firings, actor in zip(run_of, problem.trace.firings, topology.actors, strict=True)
    ]
    if sum(len(runs.kinds) for runs in actors) > most:
        return None
    return actors


def _run_of(times: FiringTimes, longest: int, *, alone: bool) -> IntArray:
    """Return the number of the run of each firing; ``alone``: each firing is one, as it may read what it wrote."""
    start, end = times.start, times.end
    if alone or not len(start):
        return np.arange(len(start), dtype=np.int64)
    begins = np.append(True, start[1:] != end[:-1])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(start)), 0))
    piece = (start - start[first]) // max(1, longest)
    begins[1:] |= piece[1:] != piece[:-1]
    found: IntArray = np.cumsum(begins) - 1
    return found


def _few_kinds(run_of: IntArray, firings: NDArray[np.uint8] | NDArray[np.uint16], n_actions: int) -> _Runs:
    """Return the runs of an actor, cut into shorter ones where they are of too many kinds."""
    found = _runs(run_of, firings, n_actions)
    for length in LENGTHS:
        if len(found.counts) <= MOST_KINDS:
            break
        first = np.maximum.accumulate(np.where(np.diff(run_of, prepend=-1) > 0, np.arange(len(run_of)), 0))
        cut = np.cumsum((np.arange(len(run_of)) - first) % length == 0) - 1
        found = _runs(cut, firings, n_actions)
    return found


def _runs(run_of: IntArray, firings: NDArray[np.uint8] | NDArray[np.uint16], n_actions: int) -> _Runs:
    if not len(run_of):
        return _Runs(np.zeros((1, n_actions), dtype=np.int64), np.zeros(0, dtype=np.int64))
    n_runs = int(run_of[-1]) + 1
    cells = np.bincount(run_of * n_actions + firings, minlength=n_runs * n_actions)
    rows = cells.reshape(n_runs, n_actions)
    mixed = rows @ np.random.default_rng(0).integers(1 << 62, size=n_actions)  # one number sorts faster than a row
    _, first, kinds = np.unique(mixed, return_index=True, return_inverse=True)
    counts = rows[first]
    if (counts[kinds] != rows).any():  # two kinds have one number
        counts, kinds = np.unique(rows, axis=0, return_inverse=True)
    return _Runs(counts, kinds.ravel())


def _merged_actor(actor: TraceActor, runs: _Runs) -> TraceActor:
    """Return the actor with an action for each kind of run."""
    n = len(actor.actions)
    reads = np.array([action.reads for action in actor.actions], dtype=np.int64).reshape(n, len(actor.inputs))
    writes = np.array([action.writes for action in actor.actions], dtype=np.int64).reshape(n, len(actor.outputs))
    pairs = zip((runs.counts @ reads).tolist(), (runs.counts @ writes).tolist(), strict=True)
    actions = tuple(
        TraceAction(name=f"run{k}", reads=tuple(read), writes=tuple(written)) for k, (read, written) in enumerate(pairs)
    )
    return replace(actor, actions=actions)


def _weights(tables: ProblemTables, merged: Sequence[TraceActor], runs: Sequence[_Runs]) -> WeightTable:
    """Return the weights of runs on a CPU: what their firings compute and schedule, in ticks, and the transfers."""
    row, given = UNIT_KINDS.index("cpu"), tables.problem.weights
    costs = np.maximum(tables.compute[row], 0) + np.maximum(tables.first_scheduling[row], 0)
    clock = _PS_MHZ if tables.tick_unit == "ps" else None
    compute: dict[ComputeKey, Cost] = {}
    for a, (actor, own) in enumerate(zip(merged, runs, strict=True)):
        ticks = own.counts @ costs[tables.action_base[a] : tables.action_base[a + 1]]
        for action, mean in zip(actor.actions, ticks.tolist(), strict=True):
            compute[actor.name, action.name, "cpu"] = Cost(mean_cycles=Fraction(mean), frequency_mhz=clock)
    per_token = _transfers_per_token(tables.problem.trace)
    return WeightTable(
        name=given.name,
        compute=compute,
        transfers={key: _spread(cost, per_token.get(_end_of(key))) for key, cost in given.transfers.items()},
        has_scheduling=False,
        has_transfers=given.has_transfers,
        arrival=given.arrival,
    )


_End = tuple[str, str, str, str, str]
"""Source actor and port, target actor and port, and the side."""


def _end_of(key: TransferKey) -> _End:
    return (*key[:4], key[6])


def _spread(cost: Cost, per_token: Fraction | None) -> Cost:
    """Return a cost of a transfer by tokens alone; ``per_token``: transfers for each token, None: there are none."""
    more = cost.mean_cycles * (per_token or 0)
    return Cost(
        mean_cycles=Fraction(0),
        per_token_cycles=cost.per_token_cycles + more,
        frequency_mhz=cost.frequency_mhz,
        origin=cost.origin,
    )


def _transfers_per_token(trace: Trace) -> dict[_End, Fraction]:
    """Return for each end of each buffer how many transfers it makes for each token."""
    topology: Topology = trace.topology
    counts = [
        np.bincount(firings, minlength=len(actor.actions)).tolist()
        for firings, actor in zip(trace.firings, topology.actors, strict=True)
    ]
    found: dict[_End, Fraction] = {}
    for index, buffer in enumerate(topology.buffers):
        written = [action.writes[buffer.source_port] for action in topology.actors[buffer.source].actions]
        read = [action.reads[buffer.target_port] for action in topology.actors[buffer.target].actions]
        for side, rates, count in (("write", written, counts[buffer.source]), ("read", read, counts[buffer.target])):
            tokens = sum(rate * times for rate, times in zip(rates, count, strict=True))
            transfers = sum(times for rate, times in zip(rates, count, strict=True) if rate)
            if tokens:
                found[*topology.ends(index), side] = Fraction(transfers, tokens)
    return found
