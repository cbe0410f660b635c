"""What crossing costs: how much longer visits take whose tokens come from another core or go to one.

Calibration runs put actors on several cores. A visit there is compared with what the same firings take on one core; the
rest is split over the buffers that cross and on which it moved tokens: entries, of which a visit takes the largest, and
tokens (``dse.measure.entries``). A visit counts from its own start, and what a scheduler takes between two visits is
added: calls in vain are no part of crossing (``dse.measure.looks``). Nothing is left out as an outlier, since plain
runs have such visits too, but one counts 20 us more than on one core at most: what is above was an interruption.

Where a mapping was measured in place, since its own estimate is wanted, what crosses in it costs what it cost there,
whatever it cost elsewhere. Buffers that crossed in no calibration get the means of those that did, by side and bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dse.measure.entries import EndPrices, end_prices
from dse.measure.looks import Looks
from dse.measure.machine import RoundTrip
from dse.measure.port_prices import PortPrice
from dse.measure.profile import Profile
from dse.measure.profile_weights import SIDES, Side, exact, transfer_key
from dse.measure.samples import Samples, visits_of_actor
from dse.measure.turns import local_and_more
from dse.model.trace import FiringIds, Topology
from dse.model.weights import Cost, EntryKey, WeightTable

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """A timed run on several cores: the partition of each actor, the records, the firings of each actor in it.

    ``in_place``: it is of a mapping whose own estimate is wanted. ``trips``: the round trips around the run.
    """

    partition_of: tuple[int, ...]
    samples: Samples
    firings: tuple[FiringIds, ...]
    in_place: bool = False
    trips: tuple[RoundTrip, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What one side of a buffer costs more where it crosses, in counts.

    ``entry``: of a visit that moves tokens there, if no other end of it has a larger one, by so many ``visits``;
    ``each``: a token, by so many ``transfers``. With no transfers it crossed in no calibration, and the costs are those
    of others.
    """

    entry: float
    each: float
    visits: int = 0
    transfers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossings:
    """The crossing costs of all buffers, by buffer.

    ``unexplained``: what the calibrations took more than these prices and the costs on one core together, as a share of
    the busy time; calls in vain are no part of either.
    """

    reads: tuple[Crossing, ...]
    writes: tuple[Crossing, ...]
    unexplained: float

    def of(self, side: Side, buffer: int) -> Crossing:
        """Return the crossing cost of one side of a buffer."""
        return (self.reads if side == "read" else self.writes)[buffer]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    """One side of a buffer, as its actor sees it: the tokens that each action moves, and the actor at the other end."""

    side: Side
    buffer: int
    rates: tuple[int, ...]
    peer: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Observed:
    """The visits of an actor in a calibration, n of them, with p ports.

    ``local``: shape (n,), what they would take on one core; ``more``: shape (n,), what they took more; ``tokens``:
    shape (n, p), how many tokens crossed; ``transfers``: shape (n, p), the firings that moved some.
    """

    local: FloatArray
    more: FloatArray
    tokens: FloatArray
    transfers: FloatArray


def crossing_costs(
    profile: Profile,
    topology: Topology,
    calibrations: Sequence[Calibration],
    looks: Looks,
    timing: Sequence[float] = (),
) -> Crossings:
    """Return the crossing costs by some calibrations, which were recorded in one state of the machine.

    ``looks``: what lay between visits in them. ``timing``: what timing adds to a visit of each actor where visits were
    timed in turns, none: nothing.

    Raises ``ValueError`` where the records of one do not fit its firings.
    """
    found: dict[tuple[Side, int], Crossing] = {}
    busy, left = 0.0, 0.0
    for a in range(len(topology.actors)):
        ports = _ports(topology, a)
        added = timing[a] if timing else 0.0
        observed = [_observed(profile, a, ports, calibration, looks.between, added) for calibration in calibrations]
        prices = _fitted(ports, observed)
        if not prices:
            continue
        prices |= _fitted(ports, [some for some, of in zip(observed, calibrations, strict=True) if of.in_place])
        found |= prices
        for some in observed:
            busy += float((some.local + some.more).sum())
            left += float((some.more - _paid(ports, some, prices)).sum())
    return Crossings(
        reads=_completed("read", found, topology),
        writes=_completed("write", found, topology),
        unexplained=left / busy if busy else 0.0,
    )


def _ports(topology: Topology, actor: int) -> list[_Port]:
    """Return the sides of buffers that an actor pays, inputs first."""
    actions = topology.actors[actor].actions
    inputs, outputs = [], []
    for i, b in enumerate(topology.buffers):
        if b.target == actor:
            rates = tuple(action.reads[b.target_port] for action in actions)
            inputs.append(_Port(side="read", buffer=i, rates=rates, peer=b.source))
        if b.source == actor:
            rates = tuple(action.writes[b.source_port] for action in actions)
            outputs.append(_Port(side="write", buffer=i, rates=rates, peer=b.target))
    return inputs + outputs


def _observed(
    profile: Profile, actor: int, ports: Sequence[_Port], calibration: Calibration, between: float, timing: float
) -> _Observed:
    """Return what a calibration says of an actor, in the scale of the profile.

    ``between``: as in ``local_and_more``; ``timing``: what timing adds to a visit, if not all were timed.
    """
    ids, actions = calibration.firings[actor], len(profile.actors[actor].actions)
    visits = visits_of_actor(calibration.samples, actor, ids, actions)
    local, more = local_and_more(profile, actor, visits, between)
    rates = np.array([port.rates for port in ports], dtype=np.float64).reshape(len(ports), actions).T
    owner = calibration.partition_of
    crosses = np.array([float(owner[port.peer] != owner[actor]) for port in ports])
    tokens = (visits.counts @ rates) * crosses
    transfers = (visits.counts @ (rates > 0)) * crosses
    return _Observed(
        local=local,
        more=more if calibration.samples.every == 1 else more - timing,
        tokens=tokens,
        transfers=transfers,
    )


def _fitted(ports: Sequence[_Port], observed: Sequence[_Observed]) -> dict[tuple[Side, int], Crossing]:
    """Return the crossing costs of the ports of one actor that crossed."""
    if not any(some.tokens.any() for some in observed):
        return {}
    tokens = np.concatenate([some.tokens for some in observed])
    prices = end_prices(np.concatenate([some.more for some in observed]), tokens)
    transfers = sum(some.transfers.sum(axis=0) for some in observed)
    return {
        (ports[p].side, ports[p].buffer): Crossing(
            entry=float(prices.entries[p]),
            each=float(prices.each[p]),
            visits=int((tokens[:, p] > 0).sum()),
            transfers=int(transfers[p]),
        )
        for p in np.flatnonzero(transfers).tolist()
    }


def _paid(ports: Sequence[_Port], some: _Observed, prices: dict[tuple[Side, int], Crossing]) -> FloatArray:
    """Return what each visit pays for crossing by the prices, shape (n,)."""
    of_ports = [prices.get((port.side, port.buffer)) for port in ports]
    entries = np.array([0.0 if of is None else of.entry for of in of_ports])
    each = np.array([0.0 if of is None else of.each for of in of_ports])
    return EndPrices(entries=entries, each=each).paid(some.tokens)


def _completed(side: Side, found: dict[tuple[Side, int], Crossing], topology: Topology) -> tuple[Crossing, ...]:
    """Return the costs of one side of all buffers; those that never crossed get the means of the others."""
    known = [(topology.buffers[i].token_bytes, crossing) for (s, i), crossing in found.items() if s == side]
    visits = sum(crossing.visits for _, crossing in known)
    entry = sum(crossing.entry * crossing.visits for _, crossing in known) / max(visits, 1)
    weighed = sum(crossing.each * crossing.transfers for _, crossing in known)
    moved = sum(token_bytes * crossing.transfers for token_bytes, crossing in known)
    per_byte = weighed / moved if moved else 0.0
    others = [Crossing(entry=entry, each=per_byte * b.token_bytes) for b in topology.buffers]
    return tuple(found.get((side, i), other) for i, other in enumerate(others))


def with_crossings(table: WeightTable, crossings: Crossings, topology: Topology) -> WeightTable:
    """Return the weights with ``cpu_cpu`` transfers that cost what local ones do and what each token that crosses does.

    What crossing costs once a visit are the ``entries``.
    """
    transfers = dict(table.transfers)
    for index in range(len(topology.buffers)):
        for side in SIDES:
            local = table.transfers[transfer_key(topology, index, "local", side)]
            crossing = crossings.of(side, index)
            cost = replace(dearer(local, PortPrice(each=crossing.each)), count=crossing.transfers)
            transfers[transfer_key(topology, index, "cpu_cpu", side)] = cost
    return replace(table, transfers=transfers)


def entries_of(crossings: Crossings, topology: Topology) -> dict[EntryKey, Fraction]:
    """Return the entries of ends of buffers that cross, in counts; without those that take nothing."""
    found = {
        (*topology.ends(index), side): exact(crossings.of(side, index).entry)
        for index in range(len(topology.buffers))
        for side in SIDES
    }
    return {key: counts for key, counts in found.items() if counts}


def dearer(cost: Cost, price: PortPrice) -> Cost:
    """Return a cost with the price of crossing on top."""
    return replace(
        cost,
        mean_cycles=cost.mean_cycles + exact(price.fixed),
        per_token_cycles=cost.per_token_cycles + exact(price.each),
    )
