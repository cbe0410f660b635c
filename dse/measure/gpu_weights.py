"""From the times of actors on a GPU to weights: what the firings, their choice and their transfers cost there.

Every firing is timed, each phase between two readings of the clock (paper 004, sections 4.1 and 4.2, figures 4 and
5). A transfer has the phase that moves its tokens, and its part of what an end of a FIFO takes once a visit: to look
how far the other end is, and to tell how far this one is. Scheduling after another actor (``source=""``) has the test
that failed at the end of a visit. What a group of the kernel does between two visits is in no weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dse.measure.action_costs import ActionCosts, Spread
from dse.measure.gpu_times import GpuActorTimes, GpuTimes, TimeSum
from dse.measure.port_prices import PortPrice
from dse.measure.profile_weights import SIDES, ActorPrices, Side, actor_prices, exact
from dse.model.trace import FiringIds, Topology, TraceActor
from dse.model.weights import ComputeKey, Cost, FifoKind, Origin, SchedulingKey, TransferKey, WeightTable

PHASES = 3
"""Reading, computing, writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRunFacts:
    """What weights are made of. ``times``: of all runs added up; ``firings``: of each actor in one of them.

    ``kinds``: the kind of each buffer in the runs.
    """

    times: GpuTimes
    runs: int
    firings: Sequence[FiringIds]
    kinds: Sequence[FifoKind]
    origin: Origin


def gpu_weights(topology: Topology, facts: GpuRunFacts) -> WeightTable:
    """Return the weights of the actors that ran on the GPU; transfers of the kinds that the buffers had."""
    assert facts.times.clock is not None, "actors that ran on a GPU have its clock"
    mhz = exact(facts.times.clock.mhz)
    compute: dict[ComputeKey, Cost] = {}
    scheduling: dict[SchedulingKey, Cost] = {}
    transfers: dict[TransferKey, Cost] = {}
    for times in facts.times.actors:
        found = _Actor(topology.actors[times.actor], times, facts, mhz)
        compute |= found.compute()
        scheduling |= found.scheduling()
        for (index, side), price in _prices(topology, found, facts).items():
            transfers[*topology.ends(index), facts.kinds[index], "gpu", side] = Cost(
                mean_cycles=exact(price.fixed),
                per_token_cycles=exact(price.each),
                frequency_mhz=mhz,
                origin=facts.origin,
            )
    return WeightTable(name=topology.name, compute=compute, scheduling=scheduling, transfers=transfers)


class _Actor:
    """The weights of one actor."""

    def __init__(self, actor: TraceActor, times: GpuActorTimes, facts: GpuRunFacts, mhz: Fraction) -> None:
        self.actor = actor
        self.times = times
        self.ids = facts.firings[times.actor].astype(np.int64)
        self._reading = facts.times.reading
        self._origin = facts.origin
        self._mhz = mhz
        self.prices: ActorPrices = actor_prices(actor, [self._action(x) for x in range(len(actor.actions))])

    def _action(self, x: int) -> ActionCosts | None:
        reading, computing, writing = self.times.phases[PHASES * x : PHASES * (x + 1)]
        if computing.count:
            of = [phase.spread(self._reading) for phase in (reading, computing, writing)]
            return ActionCosts(firings=computing.count, reading=of[0], computing=of[1], writing=of[2])
        if self.actor.actions[x].initializer and self.times.starting.count and (self.ids == x).any():
            spread = self.times.starting.spread(self._reading)
            return ActionCosts(firings=spread.count, computing=spread)
        return None

    def compute(self) -> dict[ComputeKey, Cost]:
        pairs = zip(self.actor.actions, self.prices.actions, strict=True)
        return {
            (self.actor.name, action.name, "gpu"): self._cost(costs.computing)
            for action, costs in pairs
            if costs is not None
        }

    def scheduling(self) -> dict[SchedulingKey, Cost]:
        """Return the scheduling of each action after another actor, and after each action that it follows in the trace.

        Where an action was never the first of a visit, or never within one after another, it has the mean of the actor.
        """
        n, name = len(self.actor.actions), self.actor.name
        follows = np.bincount(self.ids[:-1] * n + self.ids[1:], minlength=n * n).reshape(n, n)
        first, within = sum(self._row(0), TimeSum()), sum((s for q in range(n) for s in self._row(q + 1)), TimeSum())
        leaving = self.times.leaving.without(self._reading) / max(self.times.leaving.count, 1)
        found: dict[SchedulingKey, Cost] = {}
        for x, action in enumerate(self.actor.actions):
            if self.prices.actions[x] is None:
                continue
            found[name, "", action.name, "gpu"] = self._cost(self._spread(self._row(0)[x], first), more=leaving)
            for q in np.flatnonzero(follows[:, x]).tolist():
                spread = self._spread(self._row(q + 1)[x], within)
                found[name, self.actor.actions[q].name, action.name, "gpu"] = self._cost(spread)
        return found

    def _row(self, previous: int) -> tuple[TimeSum, ...]:
        n = len(self.actor.actions)
        return self.times.choosing[previous * n : (previous + 1) * n]

    def _spread(self, own: TimeSum, usual: TimeSum) -> Spread:
        of = own if own.count else usual
        return of.spread(self._reading) if of.count else Spread(mean=0.0, least=0.0, most=0.0, variance=0.0, count=0)

    def _cost(self, spread: Spread, *, more: float = 0.0) -> Cost:
        mean = exact(spread.mean + more)
        return Cost(
            mean_cycles=mean,
            frequency_mhz=self._mhz,
            min_cycles=min(exact(spread.least + more), mean),
            max_cycles=max(exact(spread.most + more), mean),
            variance_cycles2=exact(spread.variance),
            count=spread.count,
            origin=self._origin,
        )


def _prices(topology: Topology, actor: _Actor, facts: GpuRunFacts) -> dict[tuple[int, Side], PortPrice]:
    """Return the price of each buffer at an actor, on the actor's side."""
    found: dict[tuple[int, Side], PortPrice] = {}
    for index, buffer in enumerate(topology.buffers):
        for side in SIDES:
            owner, port = (buffer.target, buffer.target_port) if side == "read" else (buffer.source, buffer.source_port)
            if owner == actor.times.actor:
                found[index, side] = _price(topology, actor, facts, side, port, index)
    return found


def _price(topology: Topology, actor: _Actor, facts: GpuRunFacts, side: Side, port: int, index: int) -> PortPrice:
    """Return the price of one side of a buffer; several readers of an output pay in equal parts."""
    prices = actor.prices.reads if side == "read" else actor.prices.writes
    same = [
        k
        for k, b in enumerate(topology.buffers)
        if side == "write" and (b.source, b.source_port) == (actor.times.actor, port)
    ] or [index]
    ends = [facts.times.ends[k, side == "write"] for k in same if (k, side == "write") in facts.times.ends]
    visits = sum(e.refresh.without(facts.times.reading) + e.publish.without(facts.times.reading) for e in ends)
    moved = _transfers(actor, side, port)
    each_time = visits / moved if moved else 0.0
    return PortPrice(fixed=(prices[port].fixed + each_time) / len(same), each=prices[port].each / len(same))


def _transfers(actor: _Actor, side: Side, port: int) -> int:
    """Return how often firings of all runs moved tokens on a port."""
    return sum(
        costs.firings
        for action, costs in zip(actor.actor.actions, actor.prices.actions, strict=True)
        if costs is not None and (action.reads if side == "read" else action.writes)[port]
    )


def accounted_ns(times: GpuTimes) -> float:
    """Return what all visits took, in ns, in all runs together."""
    sums = [
        part
        for actor in times.actors
        for part in (*actor.choosing, *actor.phases, actor.leaving, actor.vain, actor.starting)
    ]
    sums += [part for end in times.ends.values() for part in (end.refresh, end.publish)]
    assert times.clock is not None, "actors that ran on a GPU have its clock"
    return 1e3 * sum(part.without(times.reading) for part in sums) / times.clock.mhz
