"""From a profile to a weight set: what the firings, their choice and their transfers on one core cost.

A visit of the program to an actor becomes scheduling after another actor (``source=""``): entering, leaving, and the
test that failed at the end. Scheduling after an own action is what choosing takes where it was timed; else it is
contained in computing. Transfers inside a core have a price only at actors with actions that were timed singly; all
others are contained in computing, and their entries are 0. What firings take together is as it was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from dse.measure.action_costs import ActionCosts, Spread
from dse.measure.port_prices import PortPrice, TimedPhase, port_prices
from dse.measure.profile import Profile
from dse.model.trace import FiringIds, Topology, TraceActor, TraceBuffer
from dse.model.weights import ComputeKey, Cost, FifoKind, SchedulingKey, TransferKey, WeightTable

Side: TypeAlias = Literal["read", "write"]
SIDES: tuple[Side, ...] = ("read", "write")
_PLACES = 10**4
"""Weights are written with four decimals: a count is a fraction of a nanosecond."""


def exact(value: float) -> Fraction:
    """Return a number of counts as the rational that a file holds."""
    return Fraction(round(value * _PLACES), _PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorPrices:
    """Prices of the ports of an actor inside a core, and costs of its actions without them (None: it never fired)."""

    reads: tuple[PortPrice, ...]
    writes: tuple[PortPrice, ...]
    actions: tuple[ActionCosts | None, ...]


def actor_prices(actor: TraceActor, actions: Sequence[ActionCosts | None]) -> ActorPrices:
    """Return the costs of an actor apart by phase, so that they add up to what was measured."""
    reads = port_prices(_phases(actor, actions, "read"), len(actor.inputs), _moved_tokens(actor, actions, "read"))
    writes = port_prices(_phases(actor, actions, "write"), len(actor.outputs), _moved_tokens(actor, actions, "write"))
    apart: list[ActionCosts | None] = []
    for action, costs in zip(actor.actions, actions, strict=True):
        if costs is None:
            apart.append(None)
            continue
        moved = sum(price.of(n) for price, n in zip(reads, action.reads, strict=True))
        moved += sum(price.of(n) for price, n in zip(writes, action.writes, strict=True))
        timed = sum(phase.mean for phase in (costs.reading, costs.writing) if phase is not None)
        apart.append(replace(costs, computing=_moved(costs.computing, timed - moved)))
    return ActorPrices(reads=reads, writes=writes, actions=tuple(apart))


def _phases(actor: TraceActor, actions: Sequence[ActionCosts | None], side: Side) -> list[TimedPhase]:
    found = []
    for action, costs in zip(actor.actions, actions, strict=True):
        phase = None if costs is None else costs.reading if side == "read" else costs.writing
        if costs is not None and phase is not None:
            rates = action.reads if side == "read" else action.writes
            found.append(TimedPhase(rates=rates, mean=phase.mean, firings=costs.firings))
    return found


def _moved_tokens(actor: TraceActor, actions: Sequence[ActionCosts | None], side: Side) -> list[int]:
    """Return how many tokens an actor moves in a run on each port of a side."""
    ports = len(actor.inputs if side == "read" else actor.outputs)
    moved = [0] * ports
    for action, costs in zip(actor.actions, actions, strict=True):
        rates = action.reads if side == "read" else action.writes
        for port, rate in enumerate(rates):
            moved[port] += rate * (0 if costs is None else costs.firings)
    return moved


def _moved(spread: Spread, by: float) -> Spread:
    """Return a spread whose values are all larger by so much, and not below 0."""
    mean, least, most = (max(value + by, 0.0) for value in (spread.mean, spread.least, spread.most))
    return replace(spread, mean=mean, least=least, most=most)


def local_weights(profile: Profile, topology: Topology, firings: Sequence[FiringIds]) -> WeightTable:
    """Return the weights of a network on one core; transfers between cores cost what those inside one do."""
    mhz = exact(profile.facts.mhz)
    compute: dict[ComputeKey, Cost] = {}
    scheduling: dict[SchedulingKey, Cost] = {}
    prices = []
    for actor, costs, ids in zip(topology.actors, profile.actors, firings, strict=True):
        own = actor_prices(actor, costs.actions)
        prices.append(own)
        for action, of_action in zip(actor.actions, own.actions, strict=True):
            if of_action is not None:
                compute[actor.name, action.name, "cpu"] = _cost(of_action.computing, mhz)
        scheduling |= _scheduling(actor, own.actions, costs.visit, ids, mhz)
    kinds: tuple[FifoKind, ...] = ("local", "cpu_cpu")
    transfers = {}
    for (index, buffer), kind, side in product(enumerate(topology.buffers), kinds, SIDES):
        price = _price(buffer, side, prices, topology)
        transfers[transfer_key(topology, index, kind, side)] = Cost(
            mean_cycles=exact(price.fixed), per_token_cycles=exact(price.each), frequency_mhz=mhz
        )
    return WeightTable(name=topology.name, compute=compute, scheduling=scheduling, transfers=transfers)


def transfer_key(topology: Topology, index: int, kind: FifoKind, side: Side) -> TransferKey:
    """Return the key of the transfers of a buffer that a CPU pays."""
    return (*topology.ends(index), kind, "cpu", side)


def _price(buffer: TraceBuffer, side: Side, prices: Sequence[ActorPrices], topology: Topology) -> PortPrice:
    """Return the price of a buffer; writing a port with several readers is paid in equal parts by their buffers."""
    if side == "read":
        return prices[buffer.target].reads[buffer.target_port]
    port = prices[buffer.source].writes[buffer.source_port]
    same = [b for b in topology.buffers if (b.source, b.source_port) == (buffer.source, buffer.source_port)]
    return PortPrice(fixed=port.fixed / len(same), each=port.each / len(same))


def _scheduling(
    actor: TraceActor, actions: Sequence[ActionCosts | None], visit: float, ids: FiringIds, mhz: Fraction
) -> dict[SchedulingKey, Cost]:
    """Return the scheduling of each action after another actor, and after each action that it follows in the trace."""
    n = len(actor.actions)
    wide = ids.astype(np.int64)
    pairs = np.bincount(wide[:-1] * n + wide[1:], minlength=n * n).reshape(n, n)
    found: dict[SchedulingKey, Cost] = {}
    for x, (action, costs) in enumerate(zip(actor.actions, actions, strict=True)):
        if costs is None:
            continue
        choosing = costs.choosing or Spread(
            mean=0.0, least=0.0, most=0.0, variance=0.0, count=costs.firings, of_visits=True
        )
        found[actor.name, "", action.name, "cpu"] = _cost(_moved(choosing, visit), mhz)
        for q in np.flatnonzero(pairs[:, x]).tolist():
            key = (actor.name, actor.actions[q].name, action.name)
            found[*key, "cpu"] = _cost(replace(choosing, count=int(pairs[q, x])), mhz)
    return found


def _cost(spread: Spread, mhz: Fraction) -> Cost:
    """Return a cost with its statistics; rounding leaves the mean between the least and the most."""
    mean = exact(spread.mean)
    return Cost(
        mean_cycles=mean,
        frequency_mhz=mhz,
        min_cycles=min(exact(spread.least), mean),
        max_cycles=max(exact(spread.most), mean),
        variance_cycles2=exact(spread.variance),
        count=spread.count,
        spread="visits" if spread.of_visits else "firings",
    )
