"""Architectures of PREESM (.slam) as platforms: Pelcat et al., "A system-level architecture model for rapid prototyping
of heterogeneous multicore embedded systems", DASIP 2009; the files are IP-XACT (IEEE 1685) designs.

Each type of operator becomes a unit with as many cores as the design has instances of it; a GPU has one each. What
connects them (communication nodes, memories, DMA, links) is left out: what transfers between cores cost is a matter of
weights.
"""

from collections import Counter
from pathlib import Path

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.numbers import CORES
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, shorten
from dse.formats.xml_source import local_name
from dse.model.platform import Platform, Unit

_CPU = ("operator", "cpu")
_GPU = "gpu"
_BETWEEN = ("comnode", "mem", "dma", "enabler")
"""How the types of components end that connect operators."""


def is_slam(beginning: bytes) -> bool:
    """Return whether the beginning of a file is that of an IP-XACT design."""
    return b"spiritconsortium" in beginning and b":design" in beginning


def read_slam(path: str) -> Platform:
    """Return the platform of an architecture of PREESM.

    Raises:
        FormatError: with everything that is wrong: no operator, an operator of a kind that dse does not know.
    """
    gather = Gatherer()
    reader = open_xml(path, gather)
    types = {name.lower(): kind for name, kind in _described(reader)}
    instances = [name for name in map(_component, _all(reader, "componentinstance")) if name]
    units = _units(reader, types, Counter(instances))
    if not units and not gather.errors:
        reader.error("the architecture has no operator", reader.root, "expected a component of type 'Operator'")
    raise_errors(gather)
    return Platform(name=_name(reader) or Path(path).stem, units=units)


def _all(reader: XmlReader, tag: str) -> list[etree._Element]:
    return [element for element in reader.root.iter(etree.Element) if local_name(element).lower() == tag]


def _name(reader: XmlReader) -> str:
    found = (e for e in reader.root if isinstance(e.tag, str) and local_name(e).lower() == "name")
    return next(((e.text or "").strip() for e in found), "")


def _component(instance: etree._Element) -> str:
    """Return which component an instance is of; empty where it does not say."""
    refs = [e for e in instance.iter(etree.Element) if local_name(e).lower() == "componentref"]
    names = (str(value) for e in refs for key, value in e.attrib.items() if _bare(key) == "name")
    return next(names, "") or next(((e.text or "").strip() for e in refs), "")


def _bare(attribute: str | bytes) -> str:
    """Return the name of an attribute without its namespace."""
    return str(attribute).rpartition("}")[2].lower()


def _described(reader: XmlReader) -> list[tuple[str, str]]:
    """Return the type of each component by its name, in lower case."""
    found = []
    for element in _all(reader, "componentdescription"):
        values = {_bare(key): str(value) for key, value in element.attrib.items()}
        name, kind = values.get("componentref", ""), values.get("componenttype", "").lower()
        if not name or not kind:
            reader.error("a component has no name or no type", element, "expected componentRef and componentType")
        elif kind not in (*_CPU, _GPU) and not kind.endswith(_BETWEEN):
            message = f"component '{shorten(name)}' is of type '{shorten(kind)}', which dse cannot map actors to"
            reader.error(message, element, f"expected {', '.join((*_CPU, _GPU))}, or what connects them")
        found.append((name, kind))
    return found


def _units(reader: XmlReader, types: dict[str, str], instances: Counter[str]) -> tuple[Unit, ...]:
    """Return the units, in the order in which the design names them."""
    units: list[Unit] = []
    for name, count in instances.items():
        kind = types.get(name.lower())
        if kind is None:
            reader.error(f"component '{shorten(name)}' is not described", reader.root, "expected its type")
        elif kind in _CPU and count <= CORES.most:
            units.append(Unit(name=name, kind="cpu", cores=count))
        elif kind in _CPU:
            reader.error(f"there are {count:,} of '{shorten(name)}'", reader.root, f"expected {CORES}")
        elif kind == _GPU:
            units += (_gpu(name, number) for number in range(1, count + 1))
    return tuple(units)


def _gpu(name: str, number: int) -> Unit:
    """Return a GPU; the first one has the usual partition of GPUs."""
    return Unit(name=name if number == 1 else f"{name}-{number}", kind="gpu", partition="PG" if number == 1 else None)
