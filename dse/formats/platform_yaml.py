"""Platform files (formats.md, section Platform and study): reader, writer and the built-in platforms.

A platform names its units and links. Each constant may say where it comes from, ``clock_mhz: {value: 2900, source:
"data sheet"}``, or its unit or link has one ``source`` for all. A unit can say what changing its clock means
(``ClockScaling``): ``clock_range_mhz: [800, 3600]``, ``power_static_watt``, ``power_exponent``, or measured powers
``power_watt_at_mhz: {1200: 4.5, 2900: 21}``. ``gpu_capable`` lists the actors that may run on the
GPU; without it, or with ``auto``, all may.
"""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast, get_args

import yaml

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.escaping import name_of_file
from dse.base.files import write_whole
from dse.base.numbers import (
    ANY_NUMBER,
    BANDWIDTH_GB_S,
    CLOCK_MHZ,
    CORES,
    EXPONENT,
    LATENCY_NS,
    MEMORY_BYTES,
    POWER_WATT,
    Bounds,
)
from dse.base.registry import nearest_names
from dse.base.source import file_span
from dse.formats.builtin import builtin_file, builtin_names
from dse.formats.decimals import format_decimal
from dse.formats.slam import is_slam, read_slam
from dse.formats.yaml_source import Entries, YamlSource, format_error, parse_yaml, quoted, yaml_document
from dse.model.platform import CUBE, ClockScaling, Link, Platform, Unit
from dse.model.weights import UnitKind

_PLATFORM_KEYS = ("name", "units", "links", "dynamic_network", "gpu_capable", "source")
_SCALING_KEYS = ("clock_range_mhz", "power_static_watt", "power_exponent", "power_watt_at_mhz")
_UNIT_KEYS = (
    "kind",
    "cores",
    "clock_mhz",
    "device",
    "partition",
    "power_watt",
    "memory_bytes",
    *_SCALING_KEYS,
    "source",
)
_LINK_KEYS = ("between", "latency_ns", "bandwidth_gb_s", "shared", "directions", "emulated", "source")
_CONSTANT_KEYS = ("value", "source")
DEFAULT_PLATFORM = "default"
_BEGINNING = 4096
"""Bytes of a file by which it is told what it is."""


def read_platform(path: str) -> Platform:
    """Return the platform of a YAML file. Raises ``FormatError`` with everything that is wrong in it."""
    gather = Gatherer()
    source = parse_yaml(path, gather)
    platform = _Reader(source).platform() if source is not None else None
    if platform is None or gather.errors:
        raise format_error(gather)
    return platform


def builtin_platforms() -> tuple[str, ...]:
    """Return the names of the platforms that are installed with the program."""
    return builtin_names("platforms")


def load_platform(name: str = DEFAULT_PLATFORM) -> Platform:
    """Return the platform of a file (YAML, or an architecture of PREESM), or the built-in one of that name.

    Raises:
        FormatError: neither a file nor a built-in platform; or the file is wrong.
    """
    if Path(name).exists():
        return read_slam(name) if _is_slam(Path(name)) else read_platform(name)
    known = builtin_platforms()
    if name not in known:
        expected = f"expected a platform file, or a built-in platform: {nearest_names(name, known)}"
        raise FormatError(f"there is no platform '{name}'", span=file_span(name, 0), expected=expected)
    with builtin_file("platforms", name) as file:
        return read_platform(file)


def _is_slam(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return is_slam(file.read(_BEGINNING))
    except OSError:
        return False  # the reader of YAML says what is wrong with it


class _Reader:
    """Reads one document; what is wrong goes to the gatherer of the source."""

    def __init__(self, source: YamlSource) -> None:
        self.source = source

    def platform(self) -> Platform | None:
        """Return the platform, or None when there is an error."""
        source = self.source
        entries = source.mapping(source.root, "a platform", _PLATFORM_KEYS)
        if "units" not in entries:
            source.error("the platform has no 'units'", source.root, "expected 'units:' with at least one unit")
            return None
        units = self._units(entries["units"][1])
        links = self._links(entries["links"][1], tuple(u.name for u in units)) if "links" in entries else ()
        name = source.text(entries["name"][1], "name") if "name" in entries else name_of_file(source.path)
        dynamic = (
            source.boolean(entries["dynamic_network"][1], "dynamic_network") if "dynamic_network" in entries else 0
        )
        capable = self._gpu_capable(entries["gpu_capable"][1]) if "gpu_capable" in entries else None
        if source.gather.errors or name is None:
            return None
        return Platform(name=name, units=units, links=links, dynamic_network=bool(dynamic), gpu_capable=capable)

    def _units(self, node: yaml.Node) -> tuple[Unit, ...]:
        source = self.source
        units = []
        entries = source.mapping(node, "units", None)
        if not entries and isinstance(node, yaml.MappingNode):
            source.error("there is no unit", node, "expected at least one, such as 'cpu: {kind: cpu, cores: 4}'")
        for name, (_, value) in entries.items():
            unit = self._unit(name, value)
            if unit is not None:
                units.append(unit)
        return tuple(units)

    def _unit(self, name: str, node: yaml.Node) -> Unit | None:
        source, what = self.source, f"unit {name}"
        if not isinstance(node, yaml.MappingNode):
            source.mapping(node, what, _UNIT_KEYS)
            return None
        constants = _Constants(source, source.mapping(node, what, _UNIT_KEYS), what)
        kind = constants.choice("kind", get_args(UnitKind))
        if kind is None:
            if "kind" not in constants.entries:
                source.error(f"{what} has no 'kind'", node, "expected 'kind: cpu' or 'kind: gpu'")
            return None
        cores = constants.integer("cores", CORES)
        if kind == "gpu" and cores not in (None, 1):
            source.error(
                f"{what} has {cores} cores", constants.entries["cores"][1], "a GPU is one partition: no 'cores'"
            )
        clock_mhz, power_watt = constants.number("clock_mhz", CLOCK_MHZ), constants.number("power_watt", POWER_WATT)
        return Unit(
            name=name,
            kind=cast(UnitKind, kind),
            cores=cores or 1,
            clock_mhz=clock_mhz,
            device=constants.text("device"),
            partition=constants.text("partition"),
            power_watt=power_watt,
            memory_bytes=constants.integer("memory_bytes", MEMORY_BYTES),
            source=constants.source_text(),
            scaling=self._scaling(constants, clock_mhz, power_watt),
        )

    def _scaling(  # ways: each pair of constants that may contradict each other
        self, constants: "_Constants", clock_mhz: Fraction | None, power_watt: Fraction | None
    ) -> ClockScaling | None:
        """Return what a unit says about changing its clock, None where it says nothing."""
        given = {key: constants.entries[key][1] for key in _SCALING_KEYS if key in constants.entries}
        if not given:
            return None
        source, what = self.source, constants.what
        span = constants.range("clock_range_mhz")
        if span is not None and clock_mhz is not None and not span[0] <= clock_mhz <= span[1]:
            source.error(f"clock_mhz of {what} is outside its clock_range_mhz", given["clock_range_mhz"], "widen it")
        static = constants.number("power_static_watt", POWER_WATT, positive=False)
        if static is not None and (power_watt is None or static > power_watt):
            expected = "it is the part of 'power_watt' that does not change with the clock"
            message = f"power_static_watt of {what} is {'above its' if power_watt else 'given without'} power_watt"
            source.error(message, given["power_static_watt"], expected)
        exponent, points = constants.integer("power_exponent", EXPONENT), constants.points("power_watt_at_mhz")
        if points and (static is not None or exponent is not None):
            node = given["power_watt_at_mhz"]
            source.error(f"{what} has measured powers and a rule for them", node, "leave out one of the two")
        return ClockScaling(range_mhz=span, static_watt=static or Fraction(0), exponent=exponent or CUBE, points=points)

    def _links(self, node: yaml.Node, units: tuple[str, ...]) -> tuple[Link, ...]:
        entries = self.source.mapping(node, "links", None)
        links = (self._link(name, value, units) for name, (_, value) in entries.items())
        return tuple(link for link in links if link is not None)

    def _link(self, name: str, node: yaml.Node, units: tuple[str, ...]) -> Link | None:
        source, what = self.source, f"link {name}"
        if not isinstance(node, yaml.MappingNode):
            source.mapping(node, what, _LINK_KEYS)
            return None
        constants = _Constants(source, source.mapping(node, what, _LINK_KEYS), what)
        between = self._between(constants.entries, node, what, units)
        latency = constants.number("latency_ns", LATENCY_NS, positive=False)
        bandwidth = constants.number("bandwidth_gb_s", BANDWIDTH_GB_S)
        shared, directions = constants.boolean("shared"), constants.integer("directions")
        if directions is not None and directions > 2:
            source.error(f"directions of {what} is {directions}", constants.entries["directions"][1], "expected 1 or 2")
        if between is None:
            return None
        return Link(
            name=name,
            between=between,
            latency_ns=latency if latency is not None else Fraction(0),
            bandwidth_gb_s=bandwidth,
            shared=bool(shared),
            directions=directions or 1,
            source=constants.source_text(),
            emulated=bool(constants.boolean("emulated")),
        )

    def _between(self, entries: Entries, node: yaml.Node, what: str, units: tuple[str, ...]) -> tuple[str, str] | None:
        source = self.source
        if "between" not in entries:
            source.error(f"{what} has no 'between'", node, "expected the two units, such as 'between: [cpu, gpu]'")
            return None
        items = source.items(entries["between"][1], f"between of {what}")
        names = [source.text(item, f"a unit of {what}") for item in items]
        for item, name in zip(items, names, strict=True):
            if name is not None and name not in units:
                source.error(f"unknown unit '{name}' in {what}", item, nearest_names(name, units))
        if len(names) != 2 or names[0] == names[1]:
            source.error(f"between of {what} must name two units", entries["between"][1], "expected [cpu, gpu]")
            return None
        first, second = names
        return (first, second) if first is not None and second is not None else None

    def _gpu_capable(self, node: yaml.Node) -> tuple[str, ...] | None:
        source = self.source
        if isinstance(node, yaml.ScalarNode) and node.value == "auto":
            return None
        names = [source.text(item, "an actor of gpu_capable") for item in source.items(node, "gpu_capable")]
        return tuple(name for name in names if name is not None)


class _Constants:
    """The constants of one unit or link, each a value or ``{value: ..., source: ...}``."""

    def __init__(self, source: YamlSource, entries: Entries, what: str) -> None:
        self.source = source
        self.what = what
        self.entries: Entries = {}
        self._sources: list[str] = []
        for key, (key_node, node) in entries.items():
            self.entries[key] = (key_node, self._plain(key, node))

    def _plain(self, key: str, node: yaml.Node) -> yaml.Node:
        """Return the value of a constant that may carry a source."""
        if not isinstance(node, yaml.MappingNode) or key == "power_watt_at_mhz":
            return node
        inner = self.source.mapping(node, f"{key} of {self.what}", _CONSTANT_KEYS)
        if "source" in inner:
            text = self.source.text(inner["source"][1], f"source of {key}")
            self._sources.append(f"{key}: {text}")
        if "value" not in inner:
            self.source.error(f"{key} of {self.what} has no 'value'", node, "expected {value: ..., source: ...}")
            return node
        return inner["value"][1]

    def source_text(self) -> str:
        """Return the source of the whole and of single constants, joined."""
        general = self.text("source")
        return "; ".join(([general] if general else []) + self._sources)

    def text(self, key: str) -> str | None:
        """Return a text, or None where it is not given."""
        return self.source.text(self.entries[key][1], f"{key} of {self.what}") if key in self.entries else None

    def number(self, key: str, bounds: Bounds = ANY_NUMBER, *, positive: bool = True) -> Fraction | None:
        """Return a number, or None where it is not given."""
        if key not in self.entries:
            return None
        return self.source.number(self.entries[key][1], f"{key} of {self.what}", positive=positive, bounds=bounds)

    def integer(self, key: str, bounds: Bounds = ANY_NUMBER) -> int | None:
        """Return an integer above 0, or None where it is not given."""
        if key not in self.entries:
            return None
        return self.source.integer(self.entries[key][1], f"{key} of {self.what}", bounds)

    def range(self, key: str) -> tuple[Fraction, Fraction] | None:
        """Return the two numbers of a range, or None where it is not given."""
        if key not in self.entries:
            return None
        node, what = self.entries[key][1], f"{key} of {self.what}"
        numbers = [self.source.number(item, what, bounds=CLOCK_MHZ) for item in self.source.items(node, what)]
        if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None and numbers[0] <= numbers[1]:
            return numbers[0], numbers[1]
        if isinstance(node, yaml.SequenceNode) and None not in numbers:
            self.source.error(f"{what} is no range", node, "expected the least and the highest, such as [800, 3600]")
        return None

    def points(self, key: str) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return the pairs of a table ``number: number``, ascending; none where it is not given."""
        if key not in self.entries:
            return ()
        what = f"{key} of {self.what}"
        pairs = [
            (
                self.source.number(key_node, f"a key of {what}", bounds=CLOCK_MHZ),
                self.source.number(value, what, bounds=POWER_WATT),
            )
            for key_node, value in self.source.mapping(self.entries[key][1], what, None).values()
        ]
        return tuple(sorted((a, b) for a, b in pairs if a is not None and b is not None))

    def boolean(self, key: str) -> bool | None:
        """Return a truth value, or None where it is not given."""
        return self.source.boolean(self.entries[key][1], f"{key} of {self.what}") if key in self.entries else None

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        """Return one of ``known``, or None where it is not given."""
        return self.source.choice(self.entries[key][1], f"{key} of {self.what}", known) if key in self.entries else None


def write_platform(platform: Platform, path: str) -> None:
    """Write a platform file: one line a unit and a link."""
    write_whole(path, platform_text(platform))


def platform_text(platform: Platform) -> str:
    """Return the text of a platform file."""
    return yaml_document(_lines(platform))


def _lines(platform: Platform) -> Iterator[str]:
    yield f"name: {quoted(platform.name)}"
    yield "units:"
    for unit in platform.units:
        yield f"  {quoted(unit.name)}: {{{', '.join(_unit_items(unit))}}}"
    if platform.links:
        yield "links:"
    for link in platform.links:
        yield f"  {quoted(link.name)}: {{{', '.join(_link_items(link))}}}"
    if platform.dynamic_network:
        yield "dynamic_network: true"
    if platform.gpu_capable is not None:
        yield f"gpu_capable: [{', '.join(quoted(name) for name in platform.gpu_capable)}]"


def _unit_items(unit: Unit) -> Iterator[str]:
    yield f"kind: {unit.kind}"
    if unit.kind == "cpu":
        yield f"cores: {unit.cores}"
    if unit.clock_mhz is not None:
        yield f"clock_mhz: {format_decimal(unit.clock_mhz)}"
    for key, text in (("device", unit.device), ("partition", unit.partition)):
        if text is not None:
            yield f"{key}: {quoted(text)}"
    if unit.power_watt is not None:
        yield f"power_watt: {format_decimal(unit.power_watt)}"
    if unit.memory_bytes is not None:
        yield f"memory_bytes: {unit.memory_bytes}"
    if unit.scaling is not None:
        yield from _scaling_items(unit.scaling)
    if unit.source:
        yield f"source: {quoted(unit.source)}"


def _scaling_items(scaling: ClockScaling) -> Iterator[str]:
    if scaling.range_mhz is not None:
        yield f"clock_range_mhz: [{', '.join(map(format_decimal, scaling.range_mhz))}]"
    if scaling.points:
        points = (f"{format_decimal(mhz)}: {format_decimal(watt)}" for mhz, watt in scaling.points)
        yield f"power_watt_at_mhz: {{{', '.join(points)}}}"
        return
    if scaling.static_watt:
        yield f"power_static_watt: {format_decimal(scaling.static_watt)}"
    yield f"power_exponent: {scaling.exponent}"


def _link_items(link: Link) -> Iterator[str]:
    yield f"between: [{quoted(link.between[0])}, {quoted(link.between[1])}]"
    if link.latency_ns:
        yield f"latency_ns: {format_decimal(link.latency_ns)}"
    if link.bandwidth_gb_s is not None:
        yield f"bandwidth_gb_s: {format_decimal(link.bandwidth_gb_s)}"
    if link.shared:
        yield "shared: true"
    yield f"directions: {link.directions}"
    if link.emulated:
        yield "emulated: true"
    if link.source:
        yield f"source: {quoted(link.source)}"
