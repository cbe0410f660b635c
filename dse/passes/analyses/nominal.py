"""Nominal weights: cycles counted from the program, for when nothing was measured or predicted.

They rank actors by the work they do and are no prediction of a time. Every entry has the origin ``nominal``; the
manifest says what was assumed. Operations are counted in the IR (``operations``), each costs its latency with nothing
overlapped: see ``CPU_CYCLES`` and ``GPU_CYCLES`` for the numbers, their sources and which of them are assumptions.

Scheduling costs what the tests before a firing cost: in the state after the previous action, the token counts and
guards of every action that is tried until the one that fires. A transfer costs a fixed part and a part for each token.
Costs of ``host`` FIFOs are not made up: the estimation derives them from latency and bandwidth of the platform's link.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from dse.model.platform import Platform
from dse.model.rounds import LoopKey, Rounds
from dse.model.weights import (
    ComputeKey,
    Cost,
    FifoKind,
    SchedulingKey,
    TransferKey,
    UnitKind,
    WeightTable,
)
from dse.passes.analyses.operations import ASSUMED_TRIPS, Operation, OperationCounter, OperationCounts
from dse.program.ir import Actor, Transition
from dse.program.network import Network
from dse.program.types import bytes_of

CPU_CYCLES: dict[Operation, int] = {
    "integer": 1,  # Intel Skylake, latency of ADD, AND, CMP, SHL (A. Fog, Instruction tables)
    "multiply": 3,  # the same, IMUL
    "divide": 26,  # the same, IDIV of 32 bits
    "float": 4,  # the same, ADDSS and MULSS
    "float_divide": 11,  # the same, DIVSS
    "load": 4,  # L1 hit (Intel, Optimization Reference Manual)
    "store": 1,  # throughput of one store; nothing waits for it
    "branch": 1,  # predicted
    "call": 4,  # assumed: call, return and two moves
    "native": 100,  # assumed: what a native does is not in the program
    "print": 500,  # assumed: buffered formatting
}
GPU_CYCLES: dict[Operation, int] = {
    "integer": 4,  # Volta and Turing, dependent issue (Jia et al. 2018, Dissecting the NVIDIA Volta GPU, table 4.1)
    "multiply": 5,  # the same, IMAD
    "divide": 70,  # assumed: a sequence of about sixteen instructions
    "float": 4,  # as integer
    "float_divide": 40,  # assumed: a sequence of about ten instructions
    "load": 28,  # L1 hit (the same paper, section 3.1)
    "store": 4,  # issue; nothing waits for it
    "branch": 10,  # assumed: no prediction, instruction fetch
    "call": 20,  # assumed
    "native": 400,  # assumed
    "print": 2000,  # assumed
}
"""One thread that runs an action alone: a GPU's worst case. A cost model of the kernel replaces it."""
Prices: TypeAlias = Mapping[Operation, int | Fraction]
"""Cycles of each operation."""
_CYCLES: dict[UnitKind, Prices] = {"cpu": CPU_CYCLES, "gpu": GPU_CYCLES}

TRANSFERS: tuple[tuple[FifoKind, UnitKind, int, int, int], ...] = (
    ("local", "cpu", 4, 5, 0),  # load the indices from L1; load (4) and store (1) each token
    ("cpu_cpu", "cpu", 44, 5, 40),  # the same, with the other core's index and each line of 64 bytes from its cache
    ("cuda", "gpu", 56, 32, 0),  # two loads of indices; load and store each token
)
"""FIFO kind, unit kind, cycles of a transfer, of a token, and of 64 bytes. 40 cycles: an L3 hit on Skylake."""

_ActorKey: TypeAlias = tuple[int, tuple[tuple[LoopKey, Fraction], ...]]
"""The identity of an actor, and the rounds of its loops."""
FillMode: TypeAlias = Literal["zero", "nominal"]


def nominal_weights(network: Network, platform: Platform | None = None, rounds: tuple[Rounds, ...] = ()) -> WeightTable:
    """Return nominal weights of every action, scheduling step and FIFO of a network.

    With a platform, there are entries for the kinds of its units, in cycles of the clock of the first unit of a kind,
    if all units have clocks; without one, CPU entries in raw cycles. ``rounds``: of the loops of each instance in a
    run, where they were counted (``Trace.rounds``).
    """
    clocks = _clocks(platform)
    table = WeightTable(name=network.name)
    assumed_loops = 0
    counted: dict[_ActorKey, _ActorCosts] = {}
    for number, instance in enumerate(network.instances):
        of_run: Rounds = rounds[number] if rounds else {}
        key = (id(instance.actor), tuple(sorted(of_run.items())))
        if key not in counted:
            counted[key] = _ActorCosts.of(instance.actor, of_run)
            assumed_loops += counted[key].assumed_loops
        costs = counted[key]
        for kind, clock in clocks.items():
            _add_actor(table, instance.name, costs, kind, clock)
    for kind, clock in clocks.items():
        _add_transfers(table, network, kind, clock)
    manifest = [("how", "nominal: operations counted in the program, latencies not overlapped")]
    if assumed_loops:
        manifest.append(
            ("assumed", f"{ASSUMED_TRIPS} iterations of {assumed_loops} loops whose bounds are no constants")
        )
    return replace(table, manifest=tuple(manifest))


def _clocks(platform: Platform | None) -> dict[UnitKind, Fraction | None]:
    """Return the unit kinds to make weights for, and their clocks in MHz."""
    if platform is None:
        return {"cpu": None}
    clocked = all(unit.clock_mhz is not None for unit in platform.units)
    clocks: dict[UnitKind, Fraction | None] = {}
    for unit in platform.units:
        clocks.setdefault(unit.kind, unit.clock_mhz if clocked else None)
    return clocks


@dataclass(frozen=True, slots=True, kw_only=True)
class _ActorCosts:
    """The counted operations of one actor."""

    actor: Actor
    bodies: tuple[OperationCounts, ...]
    guards: tuple[OperationCounts, ...]

    @classmethod
    def of(cls, actor: Actor, rounds: Rounds | None = None) -> "_ActorCosts":
        """Count an actor."""
        counter = OperationCounter(actor, rounds)
        return cls(
            actor=actor,
            bodies=tuple(counter.body(action) for action in actor.actions),
            guards=tuple(counter.guards(action) for action in actor.actions),
        )

    @property
    def assumed_loops(self) -> int:
        """Number of loops whose iterations are assumed."""
        return sum(counts.assumed_loops for counts in (*self.bodies, *self.guards))


def cycles_alone(counts: OperationCounts, prices: Prices) -> Fraction:
    """Return the cycles of operations, nothing overlapped."""
    return sum((count * prices[op] for op, count in counts.counts.items()), start=Fraction(0))


def scheduling_steps(actor: Actor, prices: Prices) -> Iterator[tuple[str, str, Fraction]]:
    """Yield (previous action or "", action, cycles of choosing it), for every action that may follow another."""
    costs = _ActorCosts.of(actor)
    for previous, index, cycles in _scheduling(costs, prices, every=True):
        yield previous, actor.actions[index].name, cycles


def _add_actor(table: WeightTable, name: str, costs: _ActorCosts, kind: UnitKind, clock: Fraction | None) -> None:
    """Add compute and scheduling entries of one instance; ``table`` is still under construction."""
    actor = costs.actor
    for action, counts in zip(actor.actions, costs.bodies, strict=True):
        key: ComputeKey = (name, action.name, kind)
        table.compute[key] = _nominal(max(Fraction(1), cycles_alone(counts, _CYCLES[kind])), clock)
    for previous, action_index, cycles in _scheduling(costs, _CYCLES[kind]):
        step: SchedulingKey = (name, previous, actor.actions[action_index].name, kind)
        table.scheduling[step] = _nominal(cycles, clock)


def _nominal(cycles: Fraction, clock: Fraction | None) -> Cost:
    return Cost(mean_cycles=cycles, frequency_mhz=clock, origin="nominal")


def _scheduling(costs: _ActorCosts, prices: Prices, *, every: bool = False) -> Iterator[tuple[str, int, Fraction]]:
    """Yield (previous action or "", index of the action, cycles): the mean over the states that it may happen in.

    Testing one port, and entering the scheduler of an actor in its state, are a load, a comparison and a branch each.
    Pairs that cost what "" costs are left out, unless ``every`` one is asked for.
    """
    actor = costs.actor
    test = Fraction(prices["load"] + prices["integer"] + prices["branch"])
    tests = [
        len(action.inputs) * test + cycles_alone(guards, prices)
        for action, guards in zip(actor.actions, costs.guards, strict=True)
    ]
    in_state = [_cumulative(candidates, tests) for candidates in actor.transitions]
    other = [test + _mean_of_states(index, in_state) for index in range(len(actor.actions))]
    yield from (("", index, cycles) for index, cycles in enumerate(other))
    for previous in _told_apart(actor, every=every):
        for index, cycles in _reached(actor, previous, in_state).items():
            if every or test + cycles != other[index]:
                yield actor.actions[previous].name, index, test + cycles


def _told_apart(actor: Actor, *, every: bool) -> Iterable[int]:
    """Return the actions behind which a choice may cost something else than on the mean."""
    actions = range(len(actor.actions))
    if every:
        return actions
    if not actor.has_fsm:
        return ()  # one state: what ran before changes nothing
    return (action for action in actions if action not in actor.initializers)  # those run once: the mean will do


def _mean_of_states(action: int, in_state: list[dict[int, Fraction]]) -> Fraction:
    """Return the cycles of the tests until an action, the mean of the states that it may happen in; 0 without any."""
    found = [of_state[action] for of_state in in_state if action in of_state]
    return _mean(found) if found else Fraction(0)


def _reached(actor: Actor, previous: int, in_state: list[dict[int, Fraction]]) -> dict[int, Fraction]:
    """Return the actions that may follow one, and the cycles of the tests until each, a mean over the states."""
    if previous in actor.initializers:
        return dict.fromkeys(actor.initializers, Fraction(0)) | in_state[actor.initial_state]
    states = sorted({c.target for candidates in actor.transitions for c in candidates if c.action == previous})
    reached: dict[int, list[Fraction]] = {}
    for state in states:
        for index, cycles in in_state[state].items():
            reached.setdefault(index, []).append(cycles)
    return {index: _mean(found) for index, found in reached.items()}


def _cumulative(candidates: tuple[Transition, ...], tests: list[Fraction]) -> dict[int, Fraction]:
    """Return for each candidate of a state the cycles of all tests up to and including its own."""
    total, found = Fraction(0), dict[int, Fraction]()
    for candidate in candidates:
        total += tests[candidate.action]
        found.setdefault(candidate.action, total)
    return found


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, start=Fraction(0)) / len(values)


def _add_transfers(table: WeightTable, network: Network, kind: UnitKind, clock: Fraction | None) -> None:
    """Add the transfers of every FIFO that units of a kind pay."""
    for connection in network.connections:
        source, target = network.instances[connection.source], network.instances[connection.target]
        ends = (
            source.name,
            source.actor.outputs[connection.source_port].name,
            target.name,
            target.actor.inputs[connection.target_port].name,
        )
        for fifo, payer, fixed, token, line in TRANSFERS:
            if payer != kind:
                continue
            per_token = token_cycles(token, line, bytes_of(connection.type))
            cost = replace(_nominal(Fraction(fixed), clock), per_token_cycles=per_token)
            sides: tuple[Literal["read", "write"], ...] = ("read", "write")
            for side in sides:
                key: TransferKey = (*ends, fifo, kind, side)
                table.transfers[key] = cost


def token_cycles(token: int, line: int, token_bytes: int) -> Fraction:
    """Return the cycles of a token of a row of ``TRANSFERS``: its own, and its share of 64 bytes."""
    return token + Fraction(line * token_bytes, 64)


def fill_missing(weights: WeightTable, nominal: WeightTable, mode: FillMode) -> tuple[WeightTable, int]:
    """Return ``weights`` with what ``nominal`` has and they lack, and how many entries that is.

    ``mode`` zero fills in zeros instead. What was not given at all (no scheduling file, no communication file) costs
    nothing and is not filled in; neither is an action with a table of SIMD blocks. Entries without a clock stay among
    their like: if no given weight has a clock, those filled in have none.
    """
    given = (*weights.compute.values(), *weights.scheduling.values(), *weights.transfers.values())
    unclocked = bool(given) and all(cost.frequency_mhz is None for cost in given)

    def filled(cost: Cost) -> Cost:
        clock = None if unclocked else cost.frequency_mhz
        if mode == "zero":
            return Cost(mean_cycles=Fraction(0), frequency_mhz=clock, origin="zero")
        return replace(cost, frequency_mhz=clock)

    compute = {
        key: filled(cost)
        for key, cost in nominal.compute.items()
        if key not in weights.compute and key not in weights.simd
    }
    scheduling = {key: filled(cost) for key, cost in _missing_steps(weights, nominal)}
    transfers = {key: filled(cost) for key, cost in _missing_transfers(weights, nominal)}
    table = replace(
        weights,
        compute=weights.compute | compute,
        scheduling=weights.scheduling | scheduling,
        transfers=weights.transfers | transfers,
    )
    return table, len(compute) + len(scheduling) + len(transfers)


def _missing_steps(weights: WeightTable, nominal: WeightTable) -> Iterator[tuple[SchedulingKey, Cost]]:
    """Yield the scheduling steps that weights lack, and lack for any previous action too."""
    if weights.has_scheduling:
        for key, cost in nominal.scheduling.items():
            if key not in weights.scheduling and (key[0], "", *key[2:]) not in weights.scheduling:
                yield key, cost


def _missing_transfers(weights: WeightTable, nominal: WeightTable) -> Iterator[tuple[TransferKey, Cost]]:
    if weights.has_transfers:
        yield from ((key, cost) for key, cost in nominal.transfers.items() if key not in weights.transfers)
