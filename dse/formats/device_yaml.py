"""GPU device files (formats.md, section Platform and study): the reader and the built-in devices.

A device has scalar keys (``sms``, ``clock_mhz``, ``inst_cycle``) and sections of constants. Every constant may carry
where it comes from, ``{value: 332, source: "micro-benchmark", assumed: true}``; a section may have one ``source`` and
one ``assumed`` for all its constants. A constant that is left out is unknown: the model that needs it says so.
"""

import functools
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import yaml

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.escaping import name_of_file
from dse.base.numbers import DEVICE_CONSTANT, Bounds
from dse.base.registry import nearest_names
from dse.base.source import Span, file_span
from dse.formats.builtin import builtin_file, builtin_names
from dse.formats.yaml_source import Entries, YamlSource, format_error, parse_yaml
from dse.model.device import DEVICE_KEYS, ConstantOrigin, Device
from dse.model.kernel import ACCESS_CLASSES, ByClass

_FOLDER = "platforms/devices"
_ORIGIN_KEYS = ("source", "assumed")
_CONSTANT_KEYS = ("value", *_ORIGIN_KEYS)
_REQUIRED = ("sms", "clock_mhz")
_INTEGERS = frozenset(
    {
        "sms",
        "warp",
        "l2_bytes",
        "l2_line_bytes",
        "l2_ways",
        "threads_per_sm",
        "blocks_per_sm",
        "threads_per_block",
        "shared_bytes",
        "memory_bytes",
        "dram_partitions",
        "registers_per_sm",
    }
)
_MOST = {
    "sms": 1 << 20,
    "warp": 1024,
    "l2_bytes": 1 << 30,
    "l2_line_bytes": 1 << 16,
    "l2_ways": 1 << 20,
    "threads_per_sm": 1 << 20,
    "blocks_per_sm": 1 << 20,
    "threads_per_block": 1 << 20,
    "shared_bytes": 1 << 30,
    "dram_efficiency": 2,
}
_MOST_ELSE = 1e15
"""No device has more; the caches and warps of a trace are arrays of these sizes."""
_AT_LEAST = Bounds(least=DEVICE_CONSTANT.least)
"""The most is another one for each constant."""
_MAY_BE_FREE = ("load_store.", "l2_store.")
"""Sections of constants that may be 0: what costs nothing there is paid for elsewhere."""
_CLASS_FIELDS: tuple[Literal["transactions", "bank_conflicts"], ...] = ("transactions", "bank_conflicts")
_FIELD_OF = {key: field for field, key in DEVICE_KEYS.items()}


def read_device(path: str) -> Device:
    """Return the device of a YAML file. Raises ``FormatError`` with everything that is wrong in it."""
    return _with_known(_read(path))


def _read(path: str) -> Device:
    gather = Gatherer()
    source = parse_yaml(path, gather)
    device = _Reader(source).device() if source is not None else None
    if device is None or gather.errors:
        raise format_error(gather)
    return device


def _with_known(device: Device) -> Device:
    """Return a device that can say which built-in ones have a constant that it lacks itself."""
    absent = [field for field in DEVICE_KEYS if getattr(device, field) is None]
    if not absent:
        return device
    return replace(device, known_in=tuple((field, _having(field)) for field in absent))


def _having(field: str) -> tuple[str, ...]:
    return tuple(device.name for device in _all_builtin() if getattr(device, field) is not None)


@functools.cache
def _all_builtin() -> tuple[Device, ...]:
    return tuple(_builtin(name) for name in builtin_devices())


def _builtin(name: str) -> Device:
    with builtin_file(_FOLDER, name) as file:
        return replace(_read(file), places=())  # an error must not show where the program is installed


def builtin_devices() -> tuple[str, ...]:
    """Return the names of the devices that are installed with the program."""
    return builtin_names(_FOLDER)


def load_device(name: str) -> Device:
    """Return the device of a file, or the built-in one of that name, however it is spelled (``rtx2070-super``).

    Raises:
        OptionError: neither a file nor a built-in device.
        FormatError: the file is wrong.
    """
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_device(name)
    known = builtin_devices()
    same = {plain_name(one): one for one in known}
    name = name if name in known else same.get(plain_name(name), name)
    if name not in known:
        expected = f"expected a device file (.yaml), or a built-in device: {nearest_names(name, known)}"
        raise OptionError(f"unknown device '{name}'", expected=expected)
    return _with_known(_builtin(name))


def plain_name(name: str) -> str:
    """Return a name without what people spell in several ways: ``GTX1080-Ti`` is ``gtx1080ti``, ``SUPER`` an s.

    Drivers say ``NVIDIA GeForce RTX 2070 SUPER``.
    """
    plain = name.lower().replace("-", "").replace("_", "").replace(" ", "").replace("super", "s")
    return plain.removeprefix("nvidia").removeprefix("geforce")


class _Reader:
    """Reads one document; what is wrong goes to the gatherer of the source."""

    def __init__(self, source: YamlSource) -> None:
        self.source = source
        self.origins: list[ConstantOrigin] = []
        self.places: list[tuple[str, Span]] = [("", file_span(source.path, 0))]

    def device(self) -> Device | None:
        """Return the device, or None when there is an error."""
        source = self.source
        top = source.mapping(source.root, "a device", ("name", *_sections(), *_ORIGIN_KEYS))
        general = self._origin(top, "the device")
        numbers: dict[str, float] = {}
        classes: dict[str, ByClass | None] = {}
        for name, (key_node, node) in top.items():
            if name in _sections():
                self.places.append((name, source.span(key_node)))
            if name in _CLASS_SECTIONS:
                classes[name] = self._classes(name, node, general)
            elif name in _section_keys():
                self._section(name, node, general, numbers)
            elif name in _FIELD_OF:
                self._constant(name, node, general, numbers)
        for key in _REQUIRED:
            if key not in top:
                source.error(f"the device has no '{key}'", source.root, f"expected '{key}: ...', with its source")
        name_text = self._name(top)
        if source.gather.errors or name_text is None:
            return None
        return self._build(name_text, numbers, classes)

    def _name(self, top: Entries) -> str | None:
        """Return the name of the device: that of its file where it gives none; None after an error."""
        return self.source.text(top["name"][1], "name") if "name" in top else name_of_file(self.source.path)

    def _build(self, name: str, numbers: dict[str, float], classes: dict[str, ByClass | None]) -> Device:
        def real(key: str) -> float | None:
            return numbers.get(key)

        def whole(key: str) -> int | None:
            return int(numbers[key]) if key in numbers else None

        return Device(
            name=name,
            sms=int(numbers["sms"]),
            clock_mhz=numbers["clock_mhz"],
            warp=whole("limits.warp") or 32,
            inst_cycle=real("inst_cycle"),
            latency_l2_cycles=real("latency_cycles.l2"),
            latency_dram_cycles=real("latency_cycles.dram"),
            latency_shared_cycles=real("latency_cycles.shared"),
            shared_load_cycles=real("latency_cycles.shared_load"),
            latency_arithmetic_cycles=real("latency_cycles.arithmetic"),
            delay_l2_cycles=real("departure_delay_cycles.l2"),
            delay_dram_cycles=real("departure_delay_cycles.dram"),
            transactions=classes.get("transactions_per_warp"),
            bank_conflicts=classes.get("bank_conflicts"),
            latency_l1_cycles=real("latency_cycles.l1"),
            l1_bytes=whole("l1.bytes"),
            l2_bytes=whole("l2.bytes"),
            l2_line_bytes=whole("l2.line_bytes"),
            l2_ways=whole("l2.ways"),
            threads_per_sm=whole("limits.threads_per_sm"),
            blocks_per_sm=whole("limits.blocks_per_sm"),
            threads_per_block=whole("limits.threads_per_block"),
            shared_bytes=whole("limits.shared_bytes"),
            memory_bytes=whole("limits.memory_bytes"),
            dram_t_ras_cycles=real("dram.t_ras_cycles"),
            dram_t_rp_cycles=real("dram.t_rp_cycles"),
            dram_clock_mhz=real("dram.clock_mhz"),
            dram_partitions=whole("dram.partitions"),
            dram_read_cycles=real("dram.read_cycles"),
            dram_bandwidth_gb_s=real("dram.bandwidth_gb_s"),
            dram_efficiency=real("dram.efficiency"),
            registers_per_sm=whole("limits.registers_per_sm"),
            issue_per_cycle=real("throughput.issue"),
            fp32_lanes=real("throughput.fp32"),
            fp64_lanes=real("throughput.fp64"),
            special_lanes=real("throughput.special"),
            latency_memory_cycles=real("latency_cycles.memory"),
            load_line_cycles=real("load_store.load_line"),
            load_sector_cycles=real("load_store.load_sector"),
            store_line_cycles=real("load_store.store_line"),
            store_whole_cycles=real("l2_store.whole"),
            store_partial_cycles=real("l2_store.partial"),
            store_lone_cycles=real("l2_store.lone"),
            kernel_start_us=real("host.kernel_start_us"),
            launch_us=real("host.launch_us"),
            synchronise_us=real("host.synchronise_us"),
            transfer_latency_us=real("host.transfer_latency_us"),
            transfer_gb_s=real("host.transfer_gb_s"),
            origins=tuple(self.origins),
            places=tuple(self.places),
        )

    def _section(self, name: str, node: yaml.Node, general: ConstantOrigin, numbers: dict[str, float]) -> None:
        known = _section_keys()[name]
        entries = self.source.mapping(node, name, (*known, *_ORIGIN_KEYS))
        origin = self._origin(entries, name, general)
        for key, (_, value) in entries.items():
            if key in known:
                self._constant(f"{name}.{key}", value, origin, numbers)

    def _constant(self, key: str, node: yaml.Node, general: ConstantOrigin, numbers: dict[str, float]) -> None:
        """Read one constant; its own source goes before that of the section."""
        source, origin = self.source, general
        if isinstance(node, yaml.MappingNode):
            inner = source.mapping(node, key, _CONSTANT_KEYS)
            origin = self._origin(inner, key, general)
            if "value" not in inner:
                source.error(f"{key} has no 'value'", node, "expected {value: ..., source: ...}")
                return
            node = inner["value"][1]
        value = self._value(key, node)
        most = _MOST.get(_FIELD_OF[key], _MOST_ELSE)
        if value is not None and value > most:
            source.error(f"{key} is '{node.value}'", node, f"no device has more than {most:.15g}")
        elif value is not None:
            numbers[key] = float(value)
            self.origins.append(ConstantOrigin(key=key, source=origin.source, assumed=origin.assumed))

    def _value(self, key: str, node: yaml.Node) -> Fraction | int | None:
        if _FIELD_OF[key] in _INTEGERS:
            return self.source.integer(node, key)
        if key.startswith(_MAY_BE_FREE):
            return self.source.number(node, key, positive=False)
        return self.source.number(node, key, bounds=_AT_LEAST)

    def _classes(self, name: str, node: yaml.Node, general: ConstantOrigin) -> ByClass | None:
        source = self.source
        entries = source.mapping(node, name, (*ACCESS_CLASSES, *_ORIGIN_KEYS))
        origin = self._origin(entries, name, general)
        numbers = {}
        for kind in ACCESS_CLASSES:
            if kind not in entries:
                source.error(f"{name} has no '{kind}'", node, f"expected {', '.join(ACCESS_CLASSES)}")
                continue
            number = source.number(entries[kind][1], f"{name}.{kind}", bounds=DEVICE_CONSTANT)
            if number is not None:
                numbers[kind] = float(number)
        if len(numbers) < len(ACCESS_CLASSES):
            return None
        self.origins.append(ConstantOrigin(key=name, source=origin.source, assumed=origin.assumed))
        return ByClass(**numbers)

    def _origin(self, entries: Entries, what: str, general: ConstantOrigin | None = None) -> ConstantOrigin:
        """Return the source and the assumption mark of some entries, else those of ``general``."""
        source = self.source
        text = source.text(entries["source"][1], f"source of {what}") if "source" in entries else None
        mark = source.boolean(entries["assumed"][1], f"assumed of {what}") if "assumed" in entries else None
        if text is None and mark is None and general is not None:
            return general
        return ConstantOrigin(key=what, source=text or "", assumed=bool(mark))


def _section_keys() -> dict[str, tuple[str, ...]]:
    """Return the sections of a device file and the constants of each."""
    sections: dict[str, tuple[str, ...]] = {}
    for key in _FIELD_OF:
        section, dot, constant = key.partition(".")
        if dot:
            sections[section] = (*sections.get(section, ()), constant)
    return sections


def _sections() -> tuple[str, ...]:
    """Return the keys of the top level that hold constants, in the order of ``DEVICE_KEYS``."""
    return tuple(dict.fromkeys(key.partition(".")[0] for key in _FIELD_OF))


_CLASS_SECTIONS = {DEVICE_KEYS[field]: field for field in _CLASS_FIELDS}
