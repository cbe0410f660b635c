"""FPGA files: the reader and the built-in FPGAs. A format of this project, in the manner of the files of GPU devices.

``clock_mhz`` and sections of constants, each as a value or as ``{value: 220, source: "data sheet", assumed: true}``; a
section may have one ``source`` and one ``assumed`` for all of it. An operator is a mapping of latency and resources.
Operators may be left out; a kernel that needs one says so.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import yaml

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.escaping import name_of_file
from dse.base.numbers import BANDWIDTH_GB_S, CLOCK_MHZ, Bounds
from dse.base.registry import nearest_names
from dse.formats.builtin import builtin_file, builtin_names
from dse.formats.yaml_source import Entries, YamlSource, format_error, parse_yaml
from dse.model.fpga import OPERATORS, Fpga, FpgaConstant, Operator, Resources

_FOLDER = "platforms/fpgas"
_ORIGIN = ("source", "assumed")
_WHOLE = Bounds(least=Fraction(1), most=Fraction(10**9))
_SECTIONS = {
    "memory": ("gb_s", "overlap"),
    "resources": ("dsp", "lut", "ff", "bram"),
    "bram": ("bytes", "read_ports", "write_ports", "load_cycles", "store_cycles"),
}
_OF_FPGAS = ("resources", "bram", "operators")
_OF_OPERATOR = ("latency_cycles", "dsp", "lut", "ff")


def builtin_fpgas() -> tuple[str, ...]:
    """Return the names of the FPGAs that are installed with the program."""
    return builtin_names(_FOLDER)


def load_fpga(name: str) -> Fpga:
    """Return the FPGA of a file, or the built-in one of that name.

    Raises:
        OptionError: neither a file nor a built-in FPGA.
        FormatError: the file is wrong.
    """
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_fpga(name)
    known = builtin_fpgas()
    if name.lower() not in known:
        expected = f"expected an FPGA file (.yaml), or a built-in FPGA: {nearest_names(name, known)}"
        raise OptionError(f"unknown FPGA '{name}'", expected=expected)
    with builtin_file(_FOLDER, name.lower()) as file:
        return read_fpga(file)


def is_fpga_file(name: str) -> bool:
    """Return whether a name is that of a YAML file with what only FPGAs have; a wrong file is none."""
    if not (name.endswith((".yaml", ".yml")) or "/" in name):
        return False
    source = parse_yaml(name, Gatherer())
    if source is None or not isinstance(source.root, yaml.MappingNode):
        return False
    return any(key.value in _OF_FPGAS for key, _ in source.root.value)


def read_fpga(path: str) -> Fpga:
    """Return the FPGA of a YAML file. Raises ``FormatError`` with everything that is wrong in it."""
    gather = Gatherer()
    source = parse_yaml(path, gather)
    fpga = None if source is None else _Reader(source).fpga()
    if fpga is None or gather.errors:
        raise format_error(gather)
    return fpga


@dataclass(frozen=True, slots=True)
class _Origin:
    source: str = ""
    assumed: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads one document; what is wrong goes to the gatherer of the source."""

    source: YamlSource
    constants: list[FpgaConstant] = field(default_factory=list)

    def fpga(self) -> Fpga | None:
        """Return the FPGA, or None when there is an error."""
        source = self.source
        top = source.mapping(source.root, "an FPGA", ("name", "clock_mhz", *_SECTIONS, "operators", *_ORIGIN))
        general = self._origin(top, _Origin())
        if "clock_mhz" in top:
            self._constant("clock_mhz", top["clock_mhz"][1], general)
        for name, keys in _SECTIONS.items():
            if name in top:
                self._section(name, keys, top[name][1], general)
        operators = self._operators(top["operators"][1], general) if "operators" in top else []
        title = source.text(top["name"][1], "name") if "name" in top else name_of_file(source.path)
        found = {one.key: one.value for one in self.constants}
        self._complete(found)
        return None if source.gather.errors or title is None else self._build(title, found, operators)

    def _complete(self, found: dict[str, float]) -> None:
        """Report constants that are not there, unless something else is wrong."""
        needed = ("clock_mhz", *(f"{section}.{key}" for section, keys in _SECTIONS.items() for key in keys))
        for key in needed if not self.source.gather.errors else ():
            if key not in found:
                self.source.error(f"the FPGA has no '{key}'", self.source.root, f"expected '{key}', with its source")

    def _build(self, name: str, found: dict[str, float], operators: list[tuple[str, Operator]]) -> Fpga:
        return Fpga(
            name=name,
            clock_mhz=found["clock_mhz"],
            memory_gb_s=found["memory.gb_s"],
            overlap=bool(found["memory.overlap"]),
            resources=Resources(
                dsp=int(found["resources.dsp"]),
                lut=int(found["resources.lut"]),
                ff=int(found["resources.ff"]),
                bram=int(found["resources.bram"]),
            ),
            bram_bytes=int(found["bram.bytes"]),
            read_ports=int(found["bram.read_ports"]),
            write_ports=int(found["bram.write_ports"]),
            load_cycles=int(found["bram.load_cycles"]),
            store_cycles=int(found["bram.store_cycles"]),
            operators=tuple(operators),
            constants=tuple(self.constants),
        )

    def _section(self, name: str, keys: tuple[str, ...], node: yaml.Node, general: _Origin) -> None:
        entries = self.source.mapping(node, name, (*keys, *_ORIGIN))
        origin = self._origin(entries, general)
        for key in keys:
            if key in entries:
                self._constant(f"{name}.{key}", entries[key][1], origin)

    def _constant(self, key: str, node: yaml.Node, origin: _Origin) -> None:
        """Read one constant; its own source goes before that of the section."""
        if isinstance(node, yaml.MappingNode):
            inner = self.source.mapping(node, key, ("value", *_ORIGIN))
            origin = self._origin(inner, origin)
            if "value" not in inner:
                self.source.error(f"{key} has no 'value'", node, "expected {value: ..., source: ...}")
                return
            node = inner["value"][1]
        value = self._value(key, node)
        if value is not None:
            self.constants.append(FpgaConstant(key, float(value), origin.source, origin.assumed))

    def _value(self, key: str, node: yaml.Node) -> Fraction | int | None:
        match key:
            case "clock_mhz":
                return self.source.number(node, key, bounds=CLOCK_MHZ)
            case "memory.gb_s":
                return self.source.number(node, key, bounds=BANDWIDTH_GB_S)
            case "memory.overlap":
                return self.source.boolean(node, key)
            case _:
                return self.source.integer(node, key, _WHOLE, positive=not key.startswith(("resources.", "operators.")))

    def _operators(self, node: yaml.Node, general: _Origin) -> list[tuple[str, Operator]]:
        entries = self.source.mapping(node, "operators", (*OPERATORS, *_ORIGIN))
        origin, found = self._origin(entries, general), []
        for name in OPERATORS:
            if name in entries:
                found += [(name, one) for one in self._operator(name, entries[name][1], origin)]
        return found

    def _operator(self, name: str, node: yaml.Node, general: _Origin) -> list[Operator]:
        """Return an operator, none after an error."""
        inner = self.source.mapping(node, name, (*_OF_OPERATOR, *_ORIGIN))
        origin, key = self._origin(inner, general), f"operators.{name}"
        if missing := [one for one in _OF_OPERATOR if one not in inner]:
            self.source.error(f"{key} has no '{missing[0]}'", node, "expected latency_cycles, dsp, lut and ff")
            return []
        numbers = {one: self._value(f"{key}.{one}", inner[one][1]) for one in _OF_OPERATOR}
        if None in numbers.values():
            return []
        whole = {one: int(value) for one, value in numbers.items() if value is not None}
        self.constants += [
            FpgaConstant(f"{key}.{one}", float(value), origin.source, origin.assumed) for one, value in whole.items()
        ]
        return [Operator(latency_cycles=whole["latency_cycles"], dsp=whole["dsp"], lut=whole["lut"], ff=whole["ff"])]

    def _origin(self, entries: Entries, general: _Origin) -> _Origin:
        """Return the source and the assumption mark of some entries, else those of ``general``."""
        source = self.source
        text = source.text(entries["source"][1], "source") if "source" in entries else None
        mark = source.boolean(entries["assumed"][1], "assumed") if "assumed" in entries else None
        return general if text is None and mark is None else _Origin(text or "", bool(mark))
