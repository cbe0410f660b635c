"""Writing weights as XML: the dialect of TURNUS with the project's own attributes (see ``weights_xml``)."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeVar

from lxml import etree

from dse.formats.decimals import format_decimal
from dse.formats.weights_xml import canonical_name
from dse.formats.xml_keep import ElementKind, keep_unknown
from dse.formats.xml_reading import refuse_unwritable, write_xml
from dse.model.weights import (
    Arrival,
    ComputeKey,
    Cost,
    FifoKind,
    SchedulingKey,
    SimdCost,
    UnitKind,
    Visits,
    WeightTable,
)

_Key = TypeVar("_Key", ComputeKey, SchedulingKey)
_CYCLES = (
    "clockcycles",
    "clockcycles-min",
    "clockcycles-max",
    "clockcycles-var",
    "firings",
    "frequency",
    "origin",
    "spread",
)
_CLOCK = ("frequency", "frequency-unit", "origin")
_LATENCY = ("type", "percentage", "latency", "latency-per-token", "latency-min", "latency-max", "latency-var", "count")
_BLOCK = ElementKind(tag="block", identity=("size",), attributes=("clockcycles", *_CLOCK))
_ACTION = ElementKind(tag="action", identity=("id",), attributes=_CYCLES + _CLOCK, children=(_BLOCK,))
_SCHEDULING = ElementKind(tag="scheduling", identity=("source", "target"), attributes=_CYCLES + _CLOCK)
_ACTOR = ElementKind(tag="actor", identity=("id",), attributes=_CLOCK, children=(_ACTION, _SCHEDULING))
_NETWORK = ElementKind(tag="network", attributes=("name", *_CLOCK), children=(_ACTOR,))
_ACCESSES = tuple(
    ElementKind(tag=tag, identity=("fifo", "unit"), attributes=_LATENCY + _CLOCK) for tag in ("read", "write")
)
_ENDS = ("source-actor", "source-port", "target-actor", "target-port")
_BUFFER = ElementKind(
    tag="buffer",
    identity=_ENDS,
    children=(*_ACCESSES, ElementKind(tag="memory", identity=("level",), children=_ACCESSES)),
)
_ENTRY = ElementKind(tag="entry", identity=(*_ENDS, "side"), attributes=("latency", *_CLOCK))
_VISITS = ElementKind(tag="visits", attributes=("look", "wake", *_CLOCK), children=(_ENTRY,))
_ARRIVAL = ElementKind(
    tag="arrival", attributes=("latency", "turn-firings", "turn-parts", *_CLOCK), children=(_VISITS,)
)
_COMMUNICATION = ElementKind(tag="communication", attributes=("network", *_CLOCK), children=(_BUFFER, _ARRIVAL))


def write_compute(table: WeightTable, kind: UnitKind, path: str, *, keep: str | None = None) -> None:
    """Write the compute weights of one unit kind (.exdf); unknown parts of the file ``keep`` are carried over."""
    refuse_unwritable(path, _names(table))
    root = etree.Element("network", {"name": table.name, "frequency-unit": "MHz"})
    plain = {key: Cost(mean_cycles=s.block_cycles[0], frequency_mhz=s.frequency_mhz) for key, s in table.simd.items()}
    groups = _by_actor((key, cost) for key, cost in (plain | table.compute).items() if key[2] == kind)
    for actor, entries in groups.items():
        element, clock = _actor(root, actor, [cost for _, cost in entries])
        for key, cost in entries:
            action = etree.SubElement(element, "action", {"id": key[1]} | _cycles(cost, clock))
            if key in table.simd:
                _blocks(action, table.simd[key], cost.frequency_mhz)
    _finish(root, path, keep, _NETWORK)


def write_scheduling(table: WeightTable, kind: UnitKind, path: str, *, keep: str | None = None) -> None:
    """Write the scheduling weights of one unit kind (.sxdf)."""
    refuse_unwritable(path, _names(table))
    root = etree.Element("network", {"name": table.name, "frequency-unit": "MHz"})
    groups = _by_actor((key, cost) for key, cost in table.scheduling.items() if key[3] == kind)
    for actor, entries in groups.items():
        element, clock = _actor(root, actor, [cost for _, cost in entries])
        for key, cost in entries:
            names = {"source": key[1], "target": key[2]}
            etree.SubElement(element, "scheduling", names | _cycles(cost, clock))
    _finish(root, path, keep, _NETWORK)


def write_communication(
    table: WeightTable, fifos: tuple[FifoKind, ...], kind: UnitKind, path: str, *, keep: str | None = None
) -> None:
    """Write the communication weights of some FIFO kinds that units of ``kind`` pay (.cxdf).

    Where ``local`` and ``cpu_cpu`` cost the same they become one entry without ``fifo``, which TURNUS reads as it is;
    TURNUS would add up the two entries of a side.
    """
    refuse_unwritable(path, _names(table))
    root = etree.Element("communication", {"network": table.name, "frequency-unit": "MHz"})
    buffers: dict[tuple[str, ...], dict[tuple[str, FifoKind], Cost]] = {}
    for key, cost in table.transfers.items():
        if key[4] in fifos and key[5] == kind:
            buffers.setdefault(key[:4], {})[key[6], key[4]] = cost
    for names, costs in buffers.items():
        attributes = dict(zip(_ENDS, names, strict=True))
        memory = etree.SubElement(etree.SubElement(root, "buffer", attributes), "memory", {"level": "all"})
        for side in ("read", "write"):
            _add_accesses(memory, side, {f: costs[side, f] for f in fifos if (side, f) in costs}, kind)
    if table.arrival is not None and "cpu_cpu" in fifos:
        _add_arrival(root, table.arrival)
    _finish(root, path, keep, _COMMUNICATION)


def _add_arrival(root: etree._Element, arrival: Arrival) -> None:
    attributes = {"latency": format_decimal(arrival.cycles), "turn-firings": str(arrival.turn_firings)}
    if arrival.turn_parts:
        attributes["turn-parts"] = str(arrival.turn_parts)
    if arrival.frequency_mhz is not None:
        attributes["frequency"] = format_decimal(arrival.frequency_mhz)
    element = etree.SubElement(root, "arrival", attributes)
    if arrival.visits is not None:
        _add_visits(element, arrival.visits)


def _add_visits(arrival: etree._Element, visits: Visits) -> None:
    attributes = {"look": format_decimal(visits.look_cycles), "wake": format_decimal(visits.wake_cycles)}
    if visits.glance_cycles is not None:
        attributes["glance"] = format_decimal(visits.glance_cycles)
    element = etree.SubElement(arrival, "visits", attributes)
    for (*ends, side), cycles in visits.entries.items():
        named = dict(zip(_ENDS, ends, strict=True))
        etree.SubElement(element, "entry", named | {"side": side, "latency": format_decimal(cycles)})


def _names(table: WeightTable) -> Iterator[str]:
    yield table.name
    for key in (*table.compute, *table.scheduling, *table.transfers, *table.simd):
        yield from (part for part in key if part is not None)
    if table.arrival is not None and table.arrival.visits is not None:
        yield from (part for key in table.arrival.visits.entries for part in key)


def _add_accesses(memory: etree._Element, side: str, costs: dict[FifoKind, Cost], kind: UnitKind) -> None:
    """Add an entry for each FIFO kind, one for both that are not on a GPU if they cost the same."""
    if set(costs) == {"local", "cpu_cpu"} and costs["local"] == costs["cpu_cpu"]:
        etree.SubElement(memory, side, _latency(costs["local"]))
        return
    for fifo, cost in costs.items():
        unit = {"unit": kind} if fifo == "host" else {}
        etree.SubElement(memory, side, {"fifo": fifo} | unit | _latency(cost))


def _finish(root: etree._Element, path: str, keep: str | None, shape: ElementKind) -> None:
    _hoist_origin(root)
    if keep is not None:
        keep_unknown(keep, root, shape, canonical_name)
    write_xml(root, path)


def _hoist_origin(root: etree._Element) -> None:
    """Move the origin of the entries to the root where they all have the same."""
    entries = [element for element in root.iter() if "origin" in element.attrib]
    origins = list(dict.fromkeys(element.get("origin", "") for element in entries))
    if len(origins) == 1:
        for element in entries:
            del element.attrib["origin"]
        root.set("origin", origins[0])


def _by_actor(entries: Iterable[tuple[_Key, Cost]]) -> dict[str, list[tuple[_Key, Cost]]]:
    """Return entries by actor, actors in the order of their first entry."""
    groups: dict[str, list[tuple[_Key, Cost]]] = {}
    for key, cost in entries:
        groups.setdefault(key[0], []).append((key, cost))
    return groups


def _actor(root: etree._Element, name: str, costs: list[Cost]) -> tuple[etree._Element, Fraction | None]:
    """Add an actor with the clock that all its entries share; return it with that clock, None where they differ."""
    clock = costs[0].frequency_mhz
    shared = clock if all(cost.frequency_mhz == clock for cost in costs) else None
    element = etree.SubElement(root, "actor", {"id": name})
    if shared is not None:
        element.set("frequency", format_decimal(shared))
    return element, shared


def _cycles(cost: Cost, clock: Fraction | None) -> dict[str, str]:
    """Return the attributes of a compute or scheduling entry below an actor with ``clock``."""
    statistics = _statistics(cost, "clockcycles", "firings")
    statistics |= {} if cost.spread == "firings" else {"spread": cost.spread}
    return statistics | ({} if cost.frequency_mhz == clock else _clock(cost)) | {"origin": cost.origin}


def _latency(cost: Cost) -> dict[str, str]:
    """Return the attributes of a transfer."""
    statistics = _statistics(cost, "latency", "count")
    if cost.per_token_cycles:
        statistics["latency-per-token"] = format_decimal(cost.per_token_cycles)
    return {"type": "hit", "percentage": "1"} | statistics | _clock(cost) | {"origin": cost.origin}


def _clock(cost: Cost) -> dict[str, str]:
    return {} if cost.frequency_mhz is None else {"frequency": format_decimal(cost.frequency_mhz)}


def _statistics(cost: Cost, name: str, count: str) -> dict[str, str]:
    """Return mean, minimum, maximum, variance and count, as far as they are known."""
    values = {
        name: cost.mean_cycles,
        f"{name}-min": cost.min_cycles,
        f"{name}-max": cost.max_cycles,
        f"{name}-var": cost.variance_cycles2,
    }
    written = {key: format_decimal(value) for key, value in values.items() if value is not None}
    return written if cost.count is None else written | {count: str(cost.count)}


def _blocks(action: etree._Element, simd: SimdCost, clock: Fraction | None) -> None:
    """Add the costs of SIMD blocks."""
    for size, cycles in enumerate(simd.block_cycles, start=1):
        block = etree.SubElement(action, "block", {"size": str(size), "clockcycles": format_decimal(cycles)})
        if simd.frequency_mhz is not None and simd.frequency_mhz != clock:
            block.set("frequency", format_decimal(simd.frequency_mhz))
