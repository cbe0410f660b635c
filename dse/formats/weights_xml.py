"""Weights as XML: compute (.exdf), scheduling (.sxdf), communication (.cxdf); formats.md, section Weights.

Read are the dialect of TURNUS and its relatives (misspelt ``clockcyles``, ``clockcycles-variance``, elements and
attributes of any letter case, unknown ones ignored) and the project's own. The kind of a file follows from its root
element and its entries, never from its suffix.

The project's own dialect adds

* ``frequency-unit="MHz"``; ``frequency`` may stand at any element, and holds for what is in it and has none;
* ``origin`` (measured, predicted, nominal, zero, unknown) at the root or at an entry;
* ``spread="visits"`` where minimum, maximum and variance are not of firings, but of visits to the actor;
* for an action the cost of a SIMD block of k firings, ``<block size="k" clockcycles="..."/>``;
* for a transfer ``fifo`` (local, cpu_cpu, cuda, host), ``unit`` (cpu, gpu: the side that pays),
  ``latency-per-token``, ``latency-min``, ``latency-max``, ``latency-var`` and ``count``;
* ``<arrival latency="..." turn-firings="..." turn-parts="..."/>`` in the root of a .cxdf: how tokens get from one CPU
  core to another (``dse.model.weights.Arrival``);
* in it ``<visits look="..." wake="...">``, in it an ``<entry side="..." latency="..." .../>`` for each end of a FIFO,
  named as at a ``buffer``: what calls of a scheduler cost there (``dse.model.weights.Visits``), in cycles of the
  clock of the arrival.

The memory levels of TURNUS (``memory`` with ``read`` and ``write`` of type hit and miss and their share of the
accesses) become one cost for each transfer, the sum of ``percentage * latency`` over all levels and types: that is what
TURNUS's simulator charges. Entries of one sum with different clocks are converted to the clock of the first. Without
``fifo``, an entry of a CPU file serves ``local`` and ``cpu_cpu``, of a GPU file ``cuda``, of a HostFifo file ``host``.

An entry with ``firings="0"`` and a mean of 0 is a place holder of a profiler that saw no firing: it is no weight.
Numbers are exact decimals; a mean outside its minimum and maximum is refused.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.numbers import CLOCK_MHZ
from dse.base.source import Span
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors
from dse.formats.xml_source import local_name
from dse.model.weights import (
    Arrival,
    ComputeKey,
    Cost,
    EntryKey,
    FifoKind,
    Origin,
    SchedulingKey,
    SimdCost,
    SpreadOf,
    TransferKey,
    UnitKind,
    Visits,
    WeightTable,
)

_GPU_FILE = re.compile(r"gpu(?![a-z])|gpu(?=host)")
_MHZ = {"hz": Fraction(1, 10**6), "khz": Fraction(1, 1000), "mhz": Fraction(1), "ghz": Fraction(1000)}
_UNIT_NAMES = ("MHz", "GHz", "kHz", "Hz")
_FIFO_UNIT: dict[FifoKind, UnitKind] = {"local": "cpu", "cpu_cpu": "cpu", "cuda": "gpu"}
Side: TypeAlias = Literal["read", "write"]


def canonical_name(name: str) -> str:
    """Return an attribute name as the reader asks for it: lower case, known misspellings and synonyms corrected."""
    bare = name.lower().replace("clockcyles", "clockcycles").replace("clockcycle-", "clockcycles-")
    bare = bare.removesuffix("-mean").replace("-variance", "-var")
    return {"min": "latency-min", "max": "latency-max", "var": "latency-var", "variance": "latency-var"}.get(bare, bare)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRole:
    """What a weight file is about and does not say itself: the unit kind, and whether it prices host FIFOs."""

    kind: UnitKind = "cpu"
    host: bool = False


def role_of_name(path: str) -> FileRole:
    """Return the role that a file name tells (``weights-GPU-HostFifo.cxdf``); a CPU file if it tells nothing."""
    stem = Path(path).stem.lower().replace("_", "-")
    host = "hostfifo" in stem.replace("-", "")
    return FileRole(kind="gpu" if _GPU_FILE.search(stem) else "cpu", host=host)


def read_weight_file(path: str, role: FileRole | None = None, origin: Origin = "unknown") -> WeightTable:
    """Return the weights of one file of any of the three kinds; ``role`` defaults to what the file name tells.

    ``origin`` is that of entries which say nothing themselves.

    Raises:
        FormatError: the file is no weight file, or with everything that is wrong in it.
    """
    gather = Gatherer()
    reader = open_xml(path, gather, canonical_name)
    weights = _Weights(reader, role or role_of_name(path), origin)
    match local_name(reader.root).lower():
        case "network":
            weights.read_network()
        case "communication":
            weights.read_communication()
        case _:
            expected = "expected 'network' (.exdf, .sxdf) or 'communication' (.cxdf): this is no weight file"
            reader.error(f"the root element is '{local_name(reader.root)}'", reader.root, expected)
    raise_errors(gather)
    return weights.table()


@dataclass(slots=True)
class _Part:
    """One ``read`` or ``write`` of the memory levels of a buffer."""

    element: etree._Element
    latency: Fraction
    percentage: Fraction | None
    frequency_mhz: Fraction | None


@dataclass(slots=True)
class _Weights:
    """Reads one document into the tables of a ``WeightTable``."""

    reader: XmlReader
    role: FileRole
    origin: Origin
    compute: dict[ComputeKey, Cost] = field(default_factory=dict)
    scheduling: dict[SchedulingKey, Cost] = field(default_factory=dict)
    transfers: dict[TransferKey, Cost] = field(default_factory=dict)
    simd: dict[ComputeKey, SimdCost] = field(default_factory=dict)
    arrival: Arrival | None = None
    places: dict[object, Span] = field(default_factory=dict)
    clocks: dict[etree._Element, Fraction | None] = field(default_factory=dict)
    """Of the elements that have a ``frequency``: each is read, and what is wrong with it told, once."""
    is_scheduling: bool = False
    is_communication: bool = False

    def table(self) -> WeightTable:
        """Return what was read."""
        root = self.reader.root
        name = self.reader.text(root, "network" if self.is_communication else "name")
        return WeightTable(
            name=name or "",
            compute=self.compute,
            scheduling=self.scheduling,
            transfers=self.transfers,
            simd=self.simd,
            has_scheduling=self.is_scheduling,
            has_transfers=self.is_communication,
            arrival=self.arrival,
        )

    # Compute and scheduling

    def read_network(self) -> None:
        """Read an .exdf or .sxdf, or a file that holds entries of both."""
        reader = self.reader
        self._root_origin()
        has_entries = False
        for actor in reader.children(reader.root, "actor"):
            name = reader.required(actor, "id")
            self._frequency(actor)  # what is wrong with it is said in the order of the file
            for entry in reader.children(actor, "action", "scheduling"):
                has_entries = True
                if local_name(entry).lower() == "scheduling":
                    self.is_scheduling = True
                if name is None:
                    continue
                if local_name(entry).lower() == "scheduling":
                    self._read_scheduling(entry, name)
                else:
                    self._read_action(entry, name)
        if not has_entries:  # an empty file says nothing but its name
            self.is_scheduling = Path(reader.source.path).suffix.lower() == ".sxdf"

    def _read_action(self, entry: etree._Element, actor: str) -> None:
        action = self.reader.required(entry, "id")
        cost = self._cycles(entry)
        if action is None or cost is None:
            return
        key: ComputeKey = (actor, action, self.role.kind)
        if self._is_new(key, entry, f"action '{action}' of actor '{actor}'"):
            self.compute[key] = cost
            self._read_blocks(entry, key, cost)

    def _read_scheduling(self, entry: etree._Element, actor: str) -> None:
        source = self.reader.required(entry, "source", may_be_empty=True)
        target = self.reader.required(entry, "target")
        cost = self._cycles(entry)
        if source is None or target is None or cost is None:
            return
        key: SchedulingKey = (actor, source, target, self.role.kind)
        if self._is_new(key, entry, f"scheduling from '{source}' to '{target}' of actor '{actor}'"):
            self.scheduling[key] = cost

    def _cycles(self, entry: etree._Element) -> Cost | None:
        """Return the cost of an entry; None if it is wrong or only a place holder."""
        reader = self.reader
        if reader.attribute(entry, "clockcycles") is None:
            tag = local_name(entry)
            reader.error(f"'{tag}' has no 'clockcycles'", entry, f"expected '<{tag} ... clockcycles=\"MEAN\"/>'")
            return None
        mean = reader.number(entry, "clockcycles")
        count = reader.integer(entry, "firings")
        if mean is None or (count == 0 and mean == 0):
            return None
        low, high = reader.number(entry, "clockcycles-min"), reader.number(entry, "clockcycles-max")
        self._check_order(entry, "clockcycles", low, mean, high)
        return Cost(
            mean_cycles=mean,
            frequency_mhz=self._frequency(entry),
            min_cycles=low,
            max_cycles=high,
            variance_cycles2=reader.number(entry, "clockcycles-var"),
            count=count,
            origin=self._entry_origin(entry),
            spread=cast(SpreadOf, reader.choice(entry, "spread", get_args(SpreadOf)) or "firings"),
        )

    def _read_blocks(self, entry: etree._Element, key: ComputeKey, cost: Cost) -> None:
        """Read the costs of SIMD blocks of an action."""
        reader, cycles, clock = self.reader, list[Fraction](), cost.frequency_mhz
        for block in reader.children(entry, "block"):
            size, mean = reader.integer(block, "size", least=1), reader.number(block, "clockcycles")
            if size != len(cycles) + 1 or mean is None:
                reader.error(
                    "a block out of order", block, f"expected '<block size=\"{len(cycles) + 1}\" clockcycles=...>'"
                )
                return
            cycles.append(mean)
            clock = self._frequency(block)
        if cycles:
            self.simd[key] = SimdCost(block_cycles=tuple(cycles), frequency_mhz=clock)

    # Communication

    def read_communication(self) -> None:
        """Read a .cxdf."""
        reader = self.reader
        self.is_communication = True
        self._root_origin()
        for buffer in reader.children(reader.root, "buffer"):
            names = self._buffer_names(buffer)
            accesses = list(reader.children(buffer, "read", "write"))
            for memory in reader.children(buffer, "memory"):
                accesses += reader.children(memory, "read", "write")
            if names is not None:
                self._read_buffer(names, accesses)
        for arrival in reader.children(reader.root, "arrival"):
            self._read_arrival(arrival)

    def _buffer_names(self, element: etree._Element) -> tuple[str, str, str, str] | None:
        """Return the ends of the buffer that an element names; None, and errors, where one is not given."""
        names = [self.reader.required(element, name) for name in ("source-actor", "source-port")]
        names += [self.reader.required(element, name) for name in ("target-actor", "target-port")]
        given = tuple(name for name in names if name is not None)
        return given if len(given) == 4 else None

    def _read_arrival(self, entry: etree._Element) -> None:
        """Read how tokens get from one CPU core to another."""
        reader = self.reader
        if not self._is_new("arrival", entry, "the arrival"):
            return
        given = reader.required(entry, "latency") is not None
        cycles = reader.number(entry, "latency", positive=True) if given else None
        turn = reader.integer(entry, "turn-firings", least=1)
        parts = reader.integer(entry, "turn-parts", least=0)
        clock, visits = self._frequency(entry), self._visits(entry)
        if cycles is not None:
            self.arrival = Arrival(
                cycles=cycles, frequency_mhz=clock, turn_firings=turn or 1, turn_parts=parts or 0, visits=visits
            )

    def _visits(self, arrival: etree._Element) -> Visits | None:
        """Return what visits cost where tokens arrive; None where the arrival says nothing of it."""
        reader, found = self.reader, None
        for element in reader.children(arrival, "visits"):
            if not self._is_new("visits", element, "what visits cost"):
                continue
            self._refuse_clock(element)
            entries = [self._entry(entry) for entry in reader.children(element, "entry")]
            found = Visits(
                look_cycles=reader.number(element, "look") or Fraction(0),
                wake_cycles=reader.number(element, "wake") or Fraction(0),
                glance_cycles=reader.number(element, "glance"),
                entries=dict(entry for entry in entries if entry is not None),
            )
        return found

    def _entry(self, entry: etree._Element) -> tuple[EntryKey, Fraction] | None:
        """Return what one end of a buffer takes once a visit; None if it is wrong."""
        reader = self.reader
        self._refuse_clock(entry)
        names = self._buffer_names(entry)
        given = [reader.required(entry, name) for name in ("side", "latency")]
        side = cast(Side | None, reader.choice(entry, "side", get_args(Side)) if given[0] else None)
        cycles = reader.number(entry, "latency") if given[1] else None
        if names is None or side is None or cycles is None:
            return None
        what = f"entry for the {side} of buffer {names[0]}.{names[1]}->{names[2]}.{names[3]}"
        key: EntryKey = (*names, side)
        return (key, cycles) if self._is_new(key, entry, what) else None

    def _refuse_clock(self, element: etree._Element) -> None:
        """Refuse a clock where cycles are those of the arrival's."""
        for name in ("frequency", "frequency-unit"):
            if self.reader.attribute(element, name) is not None:
                message = f"'{local_name(element)}' has a '{name}' of its own"
                expected = "expected cycles of the clock of 'arrival': give 'frequency' there"
                self.reader.error(message, element, expected, name)

    def _read_buffer(self, names: tuple[str, str, str, str], accesses: list[etree._Element]) -> None:
        """Add the costs of one buffer, one for each side, FIFO kind and paying unit."""
        groups: dict[tuple[Side, FifoKind | None, UnitKind], list[_Part]] = {}
        for access in accesses:
            part = self._part(access)
            fifo = cast(FifoKind | None, self.reader.choice(access, "fifo", get_args(FifoKind)))
            unit = cast(UnitKind | None, self.reader.choice(access, "unit", get_args(UnitKind)))
            kind = unit or (_FIFO_UNIT.get(fifo, self.role.kind) if fifo else self.role.kind)
            if part is not None:
                groups.setdefault((cast(Side, local_name(access).lower()), fifo, kind), []).append(part)
        for (side, fifo, kind), parts in groups.items():
            cost = self._sum(parts)
            for served in self._served(fifo):
                key: TransferKey = (*names, served, kind, side)
                what = f"{side} of buffer {names[0]}.{names[1]}->{names[2]}.{names[3]} ({served})"
                if cost is not None and self._is_new(key, parts[0].element, what):
                    self.transfers[key] = cost

    def _served(self, fifo: FifoKind | None) -> tuple[FifoKind, ...]:
        """Return the FIFO kinds that an entry serves."""
        if fifo is not None:
            return (fifo,)
        if self.role.host:
            return ("host",)
        return ("cuda",) if self.role.kind == "gpu" else ("local", "cpu_cpu")

    def _part(self, access: etree._Element) -> _Part | None:
        """Return latency, share and clock of one access."""
        reader, tag = self.reader, local_name(access)
        self.reader.choice(access, "type", ("hit", "miss"))
        if reader.attribute(access, "latency") is None:
            reader.error(f"'{tag}' has no 'latency'", access, f"expected '<{tag} ... latency=\"CYCLES\"/>'")
            return None
        latency = reader.number(access, "latency")
        percentage = reader.number(access, "percentage", most=1)
        frequency = self._frequency(access)
        if latency is None:
            return None
        return _Part(element=access, latency=latency, percentage=percentage, frequency_mhz=frequency)

    def _sum(self, parts: list[_Part]) -> Cost | None:
        """Return the cost of the accesses of one side: the sum over memory levels of share * latency."""
        reader, first = self.reader, parts[0]
        if len(parts) == 1 and first.percentage in (None, 1):
            return self._single(first)
        mean, per_token = Fraction(0), Fraction(0)
        for part in parts:
            if part.percentage is None:
                if reader.attribute(part.element, "percentage") is None:
                    reader.error(
                        "one of several accesses has no 'percentage'", part.element, "expected its share, 0 to 1"
                    )
                return None
            factor = self._clock_factor(part, first)
            if factor is None:
                return None
            mean += part.percentage * part.latency * factor
            per_token += part.percentage * (reader.number(part.element, "latency-per-token") or 0) * factor
        origin = self._entry_origin(first.element)
        return Cost(mean_cycles=mean, per_token_cycles=per_token, frequency_mhz=first.frequency_mhz, origin=origin)

    def _clock_factor(self, part: _Part, first: _Part) -> Fraction | None:
        """Return what cycles of ``part`` are worth in cycles of ``first``."""
        if part.frequency_mhz == first.frequency_mhz:
            return Fraction(1)
        if part.frequency_mhz is None or first.frequency_mhz is None:
            message = "accesses with and without a clock are mixed in one buffer"
            self.reader.error(message, part.element, "expected 'frequency' at all of them or at none")
            return None
        return first.frequency_mhz / part.frequency_mhz

    def _single(self, part: _Part) -> Cost:
        """Return the cost of a transfer that is one entry: with its statistics."""
        reader, entry = self.reader, part.element
        low, high = reader.number(entry, "latency-min"), reader.number(entry, "latency-max")
        self._check_order(entry, "latency", low, part.latency, high)
        return Cost(
            mean_cycles=part.latency,
            frequency_mhz=part.frequency_mhz,
            per_token_cycles=reader.number(entry, "latency-per-token") or Fraction(0),
            min_cycles=low,
            max_cycles=high,
            variance_cycles2=reader.number(entry, "latency-var"),
            count=reader.integer(entry, "count"),
            origin=self._entry_origin(entry),
        )

    # Common

    def _check_order(
        self, entry: etree._Element, name: str, low: Fraction | None, mean: Fraction, high: Fraction | None
    ) -> None:
        """Refuse a mean outside its minimum and maximum."""
        if low is not None and low > mean:
            self.reader.error(
                f"{name}-min is above the mean", entry, "expected minimum <= mean <= maximum", f"{name}-min"
            )
        if high is not None and high < mean:
            self.reader.error(
                f"{name}-max is below the mean", entry, "expected minimum <= mean <= maximum", f"{name}-max"
            )

    def _frequency(self, element: etree._Element) -> Fraction | None:
        """Return the clock of an element in MHz: its own, else that of the nearest element around it that has one."""
        for place in (element, *element.iterancestors()):
            if self.reader.attribute(place, "frequency") is not None:
                if place not in self.clocks:
                    self.clocks[place] = self._own_frequency(place)
                return self.clocks[place]
        return None

    def _own_frequency(self, element: etree._Element) -> Fraction | None:
        value = self.reader.number(element, "frequency", positive=True)
        if value is None:
            return None
        for place in (element, *element.iterancestors()):
            if self.reader.attribute(place, "frequency-unit") is not None:
                unit = self.reader.choice(place, "frequency-unit", _UNIT_NAMES)
                return self._clock(element, value * _MHZ[unit.lower()]) if unit else None
        return self._clock(element, value)

    def _clock(self, element: etree._Element, clock_mhz: Fraction) -> Fraction | None:
        """Return a clock in MHz; None, and an error, where nothing has such a clock."""
        if CLOCK_MHZ.holds(clock_mhz):
            return clock_mhz
        message = f"frequency of '{local_name(element)}' is {float(clock_mhz):g} MHz"
        self.reader.error(message, element, f"expected a clock of {CLOCK_MHZ}", "frequency")
        return None

    def _root_origin(self) -> None:
        self.origin = self._entry_origin(self.reader.root)
        self._frequency(self.reader.root)

    def _entry_origin(self, element: etree._Element) -> Origin:
        return cast(Origin, self.reader.choice(element, "origin", get_args(Origin)) or self.origin)

    def _is_new(
        self, key: ComputeKey | SchedulingKey | TransferKey | EntryKey | str, element: etree._Element, what: str
    ) -> bool:
        """Record the place of an entry; a second one is an error."""
        span = self.reader.span(element)
        first = self.places.setdefault(key, span)
        if first is span:
            return True
        self.reader.error(f"{what} is given twice", element, f"the first is in line {first.line}")
        return False
