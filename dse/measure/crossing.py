"""What crossing costs: how much longer visits take whose tokens come from another core or go to one.

Calibration runs put actors on several cores. A visit there is compared with what the same firings take on one core; the
rest is split over the buffers that cross, for each by the visits that moved tokens on it (the indices and the first
cache line travel once) and by the tokens. An estimate pays for each transfer of a firing, so what a visit pays once is
spread over the transfers of the longest visit that was seen: an end that makes short visits waits for the other one,
and has time for what it pays more. Where a mapping was measured in place, since its own estimate is wanted, what
crosses in it costs what it cost there, whatever it cost elsewhere. Buffers that crossed in no calibration get the means
of those that did, by side and bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.measure.port_prices import PortPrice
from dse.measure.profile import Profile
from dse.measure.profile_weights import SIDES, Side, exact, transfer_key
from dse.measure.regression import split_durations
from dse.measure.samples import Samples, visits_of_actor
from dse.model.trace import FiringIds, Topology
from dse.model.weights import Cost, WeightTable

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """A timed run on several cores: the partition of each actor, the records, the firings of each actor in it.

    ``in_place``: it is of a mapping whose own estimate is wanted.
    """

    partition_of: tuple[int, ...]
    samples: Samples
    firings: tuple[FiringIds, ...]
    in_place: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What one side of a buffer costs more where it crosses, in counts; ``transfers`` that it was measured with.

    With no transfers it crossed in no calibration, and the price is that of others.
    """

    price: PortPrice
    transfers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossings:
    """The crossing costs of all buffers, by buffer.

    ``unexplained``: what the calibrations took more than these prices and the costs on one core together, as a share of
    the busy time; it holds the waiting in short visits, which the prices leave out.
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

    ``local``: shape (n,), what they would take on one core; ``more``: shape (n,), what they took more; ``active``:
    shape (n, p), 1 where tokens crossed on a port; ``tokens``: shape (n, p), how many; ``transfers``: shape (n, p), the
    firings that moved some. The last three are 0 for ports that do not cross.
    """

    local: FloatArray
    more: FloatArray
    active: FloatArray
    tokens: FloatArray
    transfers: FloatArray


def crossing_costs(profile: Profile, topology: Topology, calibrations: Sequence[Calibration]) -> Crossings:
    """Return the crossing costs by some calibrations, which were recorded in one state of the machine.

    Raises ``ValueError`` where the records of one do not fit its firings.
    """
    found: dict[tuple[Side, int], Crossing] = {}
    busy, left = 0.0, 0.0
    for a in range(len(topology.actors)):
        ports = _ports(topology, a)
        observed = [_observed(profile, a, ports, calibration) for calibration in calibrations]
        everywhere = _fitted(ports, observed)
        if everywhere is None:
            continue
        in_place = _fitted(ports, [some for some, of in zip(observed, calibrations, strict=True) if of.in_place])
        prices = everywhere.crossings | (in_place.crossings if in_place is not None else {})
        found |= prices
        more, paid = _more(observed), _paid(ports, observed, prices)
        busy += float((_local(observed) + more)[everywhere.kept].sum())
        left += float((more - paid)[everywhere.kept].sum())
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


def _observed(profile: Profile, actor: int, ports: Sequence[_Port], calibration: Calibration) -> _Observed:
    """Return what a calibration says of an actor, in the scale of the profile."""
    costs, ids = profile.actors[actor], calibration.firings[actor]
    visits = visits_of_actor(calibration.samples, actor, ids, len(costs.actions))
    steps = visits.taken(profile.facts.cost) * profile.closure.factor
    local = costs.visit + visits.counts @ costs.means()
    rates = np.array([port.rates for port in ports], dtype=np.float64).reshape(len(ports), len(costs.actions)).T
    owner = calibration.partition_of
    crosses = np.array([float(owner[port.peer] != owner[actor]) for port in ports])
    tokens = (visits.counts @ rates) * crosses
    transfers = (visits.counts @ (rates > 0)) * crosses
    return _Observed(
        local=local,
        more=steps - local,
        active=(tokens > 0).astype(np.float64),
        tokens=tokens,
        transfers=transfers,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """The crossing costs of one actor. ``kept``: shape (n,), the visits of all calibrations that are no outliers."""

    crossings: dict[tuple[Side, int], Crossing]
    kept: NDArray[np.bool_]


def _fitted(ports: Sequence[_Port], observed: Sequence[_Observed]) -> _Fitted | None:
    """Return the crossing costs of the ports of one actor that cross; None where none does."""
    n = len(ports)
    if not any(some.tokens.any() for some in observed):
        return None
    columns = np.concatenate([np.column_stack([some.active, some.tokens]) for some in observed])
    split = split_durations(_more(observed), columns, optional=tuple(range(n)))
    costs = np.nan_to_num(split.costs)
    transfers = _transfers(observed)
    fixed = costs[:n] / np.maximum(transfers.max(axis=0), 1.0)
    crossings = {}
    for p in np.flatnonzero(transfers.any(axis=0)).tolist():
        price = PortPrice(fixed=float(fixed[p]), each=float(costs[n + p]))
        crossings[ports[p].side, ports[p].buffer] = Crossing(price=price, transfers=int(transfers[:, p].sum()))
    return _Fitted(crossings=crossings, kept=split.kept)


def _paid(
    ports: Sequence[_Port], observed: Sequence[_Observed], prices: dict[tuple[Side, int], Crossing]
) -> FloatArray:
    """Return what each visit pays for crossing by the prices, shape (n,)."""
    of_ports = [prices.get((port.side, port.buffer)) for port in ports]
    fixed = np.array([0.0 if of is None else of.price.fixed for of in of_ports])
    each = np.array([0.0 if of is None else of.price.each for of in of_ports])
    paid: FloatArray = _transfers(observed) @ fixed + np.concatenate([some.tokens for some in observed]) @ each
    return paid


def _more(observed: Sequence[_Observed]) -> FloatArray:
    return np.concatenate([some.more for some in observed])


def _local(observed: Sequence[_Observed]) -> FloatArray:
    return np.concatenate([some.local for some in observed])


def _transfers(observed: Sequence[_Observed]) -> FloatArray:
    return np.concatenate([some.transfers for some in observed])


def _completed(side: Side, found: dict[tuple[Side, int], Crossing], topology: Topology) -> tuple[Crossing, ...]:
    """Return the costs of one side of all buffers; those that never crossed get the means of the others."""
    known = [(topology.buffers[i].token_bytes, crossing) for (s, i), crossing in found.items() if s == side]
    transfers = sum(crossing.transfers for _, crossing in known)
    fixed = sum(crossing.price.fixed * crossing.transfers for _, crossing in known) / max(transfers, 1)
    weighed = sum(crossing.price.each * crossing.transfers for _, crossing in known)
    moved = sum(token_bytes * crossing.transfers for token_bytes, crossing in known)
    per_byte = weighed / moved if moved else 0.0
    others = [
        Crossing(price=PortPrice(fixed=fixed, each=per_byte * b.token_bytes), transfers=0) for b in topology.buffers
    ]
    return tuple(found.get((side, i), other) for i, other in enumerate(others))


def with_crossings(table: WeightTable, crossings: Crossings, topology: Topology) -> WeightTable:
    """Return the weights with ``cpu_cpu`` transfers that cost what local ones do and the crossing."""
    transfers = dict(table.transfers)
    for index in range(len(topology.buffers)):
        for side in SIDES:
            local = table.transfers[transfer_key(topology, index, "local", side)]
            crossing = crossings.of(side, index)
            cost = replace(dearer(local, crossing.price), count=crossing.transfers)
            transfers[transfer_key(topology, index, "cpu_cpu", side)] = cost
    return replace(table, transfers=transfers)


def dearer(cost: Cost, price: PortPrice) -> Cost:
    """Return a cost with the price of crossing on top."""
    return replace(
        cost,
        mean_cycles=cost.mean_cycles + exact(price.fixed),
        per_token_cycles=cost.per_token_cycles + exact(price.each),
    )
