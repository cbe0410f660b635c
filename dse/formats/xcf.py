"""Mapping files (.xcf): reading; formats.md, section Mapping configuration. Writing is in ``xcf_write``.

Four dialects are read without being told which, in any letter case: ``exelixi`` (the paper's tool and TURNUS
``master``), ``turnus`` (2023.6: ``pe`` = cores), ``streamblocks`` (network as an element, ``pe`` x86_64 or FPGA, buffer
sizes in ``connections``) and ``art`` (the runtime file of StreamBlocks: ids are thread affinities). The project's own
attributes and elements stand in the namespace ``NAMESPACE`` beside any of them, so that one file reruns a design point:

* at the root ``release``, ``transfers``, ``name`` and ``digest`` of the design point;
* at a partition ``name``, ``unit``, ``cores`` and the ``clock-mhz`` chosen for its unit, and an element ``order`` with
  the cyclic list of a static schedule;
* an element ``buffers`` with the size of each buffer, where the dialect has no ``connections``.

What a file does not say: a partition whose id is the ``partition`` of a unit of the platform (``PG``) is on that unit,
any other on the first CPU unit; the policy is that of the network element, else NON_PREEMPTIVE; a size is the
``bufferSize`` of the network, else 512 tokens. A partition without instances is left out unless it names its unit.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast, get_args

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.escaping import name_of_file
from dse.base.numbers import CLOCK_MHZ, parse_decimal
from dse.base.registry import nearest_names
from dse.formats.connections import Buffers, read_sizes
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, shorten, xml_text
from dse.formats.xml_source import local_name
from dse.model.design_point import POLICIES, DesignPoint, Partition, Policy, ReleaseMode, TransferMode
from dse.model.platform import Platform
from dse.model.trace import Topology
from dse.model.weights import UnitKind

NAMESPACE = "urn:dse:design-point:1"
_CPU_ELEMENTS = ("x86_64", "x86", "arm", "aarch64", "cpu", "sw")
_GPU_ELEMENTS = ("gpu", "cuda")
_HARDWARE_ELEMENTS = ("fpga", "hw")


def own(name: str) -> str:
    """Return a name in the project's namespace."""
    return f"{{{NAMESPACE}}}{name}"


def states_sizes(path: str) -> bool:
    """Return whether a mapping file that ``read_xcf`` accepts gives the size of any buffer."""
    groups = ("connections", "buffers")
    return any(local_name(e).lower() in groups and len(e) > 0 for e in open_xml(path, Gatherer()).root)


def read_xcf(path: str, topology: Topology, platform: Platform, gather: Gatherer | None = None) -> DesignPoint:
    """Return the design point of a mapping file; its name is the one in the file, else the file's.

    ``gather`` receives warnings: that the file names another network, or no longer holds the design point whose digest
    it carries.

    Raises:
        FormatError: with everything that is wrong: unknown, repeated and missing actors, unknown policies, units,
            buffers and sizes, each with its line and the nearest names.
    """
    return read_xcf_and_text(path, topology, platform, gather)[0]


def read_xcf_and_text(
    path: str, topology: Topology, platform: Platform, gather: Gatherer | None = None
) -> tuple[DesignPoint, str]:
    """Return the design point of a mapping file, and what the file says; it is read once. Else as ``read_xcf``."""
    errors = Gatherer()
    reader = open_xml(path, errors)
    if local_name(reader.root).lower() != "configuration":
        tag = local_name(reader.root)
        reader.error(f"the root element is '{tag}'", reader.root, "expected 'Configuration': this is no mapping file")
    raise_errors(errors)
    point = _Reader(reader, topology, platform).design_point()
    raise_errors(errors)
    if gather is not None:
        _warn(reader, topology, point, gather)
    return point, xml_text(reader.root)


def _warn(reader: XmlReader, topology: Topology, point: DesignPoint, gather: Gatherer) -> None:
    """Warn of a file that was written for another network, and of one that was changed after it was written."""
    digest = reader.attribute(reader.root, own("digest"))
    if digest is not None and digest[0] != point.digest():
        message = "the file was changed after it was written: it holds another design point than its digest says"
        gather.warning(message, digest[1], "its estimate differs from the one reported with it")
    elements = reader.children(reader.root, "network")
    named = reader.attribute(reader.root, "network") or next((reader.attribute(e, "id") for e in elements), None)
    if named is not None and _last_name(named[0]) != _last_name(topology.name):
        message = f"the file was written for network '{shorten(named[0])}', and this is '{topology.name}'"
        gather.warning(message, named[1], "its actors fit; is it the file that you mean?")


def _last_name(network: str) -> str:
    """Return the name of a network without the packages in front of it, which some tools write."""
    return re.split(r"[./]", network.strip())[-1].lower()


@dataclass(slots=True)
class _Reader:
    """Reads one document against a network and a platform; errors go to the reader's gatherer."""

    reader: XmlReader
    topology: Topology
    platform: Platform

    def design_point(self) -> DesignPoint:
        """Return what the document says; only of use when no error was gathered."""
        reader, root = self.reader, self.reader.root
        partitions = self._partitions()
        buffers = Buffers(self.topology)
        sizes = read_sizes(reader, self._size_elements(), buffers)
        release = reader.choice(root, own("release"), get_args(ReleaseMode))
        transfers = reader.choice(root, own("transfers"), get_args(TransferMode))
        return DesignPoint(
            partitions=partitions,
            capacities=buffers.capacities(sizes),
            release=cast(ReleaseMode, release or "reading"),
            transfers=cast(TransferMode, transfers or "sequential"),
            name=reader.text(root, own("name")) or name_of_file(reader.source.path),
        )

    def _size_elements(self) -> list[etree._Element]:
        """Return the elements that give buffer sizes."""
        reader, found = self.reader, list[etree._Element]()
        for group in reader.children(reader.root, "connections", "buffers"):
            found += reader.children(group, "connection", "fifo-connection", "buffer")
        return found

    # Partitions

    def _partitions(self) -> tuple[Partition, ...]:
        reader, owners = self.reader, dict[int, etree._Element]()
        groups = list(reader.children(reader.root, "partitioning"))
        if not groups:
            reader.error("there is no 'Partitioning'", reader.root, "expected '<Partitioning>' with partitions")
            return ()
        partitions, named = [], dict[str, etree._Element]()
        for element in (e for group in groups for e in reader.children(group, "partition")):
            partition = self._partition(element, owners, named)
            if partition.actors or reader.attribute(element, own("unit")) is not None:
                partitions.append(partition)
        missing = [f"'{actor.name}'" for index, actor in enumerate(self.topology.actors) if index not in owners]
        if missing:
            message = f"actors in no partition: {', '.join(missing)}"
            reader.error(message, groups[0], "expected each actor in one partition")
        return tuple(self._with_names(partitions))

    def _partition(
        self, element: etree._Element, owners: dict[int, etree._Element], named: dict[str, etree._Element]
    ) -> Partition:
        """Return a partition. ``owners``: of the actors before it; ``named``: the partitions before it, by id."""
        identity = self.reader.required(element, "id") or ""
        first = named.setdefault(identity, element)
        if identity and first is not element:
            where = f"the first is in line {self.reader.span(first).line}; give each an id of its own, or make them one"
            self.reader.error(f"partition '{shorten(identity)}' is there twice", element, where, "id")
        instances = list(self.reader.children(element, "instance"))
        actors = [index for i in instances if (index := self._actor(i)) is not None and self._claim(index, i, owners)]
        policy = self._policy(element)
        unit = self._unit(element, identity) if instances or self.reader.attribute(element, own("unit")) else ""
        return Partition(
            name=self.reader.text(element, own("name")) or identity,
            actors=tuple(actors),
            unit=unit,
            policy=policy,
            cores=self._cores(element),
            static_order=self._order(element, policy, tuple(actors)),
            clock_mhz=self._clock(element),
        )

    @staticmethod
    def _with_names(partitions: list[Partition]) -> list[Partition]:
        """Return partitions with distinct names: one's own name may be another's id."""
        seen: set[str] = set()
        named = []
        for index, partition in enumerate(partitions):
            name = partition.name if partition.name not in seen else f"{partition.name}#{index}"
            seen.add(name)
            named.append(replace(partition, name=name))
        return named

    def _actor(self, element: etree._Element) -> int | None:
        """Return the index of the actor that an instance names; ``/`` in its path may be written ``_`` or ``.``."""
        name = self.reader.required(element, "id")
        if name is None:
            return None
        index = self.topology.actor_index(name)
        if index is None:
            found = {i for i, a in enumerate(self.topology.actors) if name in (a.name.replace("/", s) for s in "_.")}
            index = found.pop() if len(found) == 1 else None
        if index is None:
            known = tuple(actor.name for actor in self.topology.actors)
            message = f"there is no actor '{shorten(name)}' in network '{self.topology.name}'"
            self.reader.error(message, element, nearest_names(name, known), "id")
        return index

    def _claim(self, index: int, element: etree._Element, owners: dict[int, etree._Element]) -> bool:
        """Record the owner of an actor; a second one is an error."""
        first = owners.setdefault(index, element)
        if first is element:
            return True
        message = f"actor '{self.topology.actors[index].name}' is placed twice"
        self.reader.error(message, element, f"the first place is in line {self.reader.span(first).line}", "id")
        return False

    def _policy(self, element: etree._Element) -> Policy:
        """Return the policy of a partition, else that of the network element, else NON_PREEMPTIVE."""
        reader = self.reader
        for place in (element, *reader.children(reader.root, "network")):
            found = reader.attribute(place, "scheduling")
            if found is None:
                continue
            name = found[0].strip().upper().replace("-", "_").replace(" ", "_")
            for policy in POLICIES:
                if policy == name:
                    return policy
            reader.error(f"unknown policy '{shorten(found[0])}'", place, nearest_names(name, POLICIES), "scheduling")
            break
        return "NON_PREEMPTIVE"

    def _cores(self, element: etree._Element) -> int:
        """Return the cores of a partition: the project's attribute, or an integer ``pe`` of the turnus dialect."""
        reader = self.reader
        name = own("cores") if reader.attribute(element, own("cores")) is not None else "pe"
        text = reader.text(element, name)
        if text is None or (name == "pe" and not text.strip().lstrip("-").isdecimal()):
            return 1
        return reader.integer(element, name, least=1) or 1

    def _clock(self, element: etree._Element) -> Fraction | None:
        """Return the clock chosen for the unit of a partition in MHz, if one was."""
        text = self.reader.text(element, own("clock-mhz"))
        value = None if text is None else parse_decimal(text)
        if text is not None and (value is None or value <= 0 or not CLOCK_MHZ.holds(value)):
            message = f"the clock of the partition is '{shorten(text)}'"
            wanted = f"a number from {CLOCK_MHZ}" if value is not None and value > 0 else "MHz, a number above 0"
            self.reader.error(message, element, f"expected {wanted}", own("clock-mhz"))
            return None
        return value

    def _order(self, element: etree._Element, policy: Policy, actors: tuple[int, ...]) -> tuple[int, ...]:
        """Return the cyclic list of a static schedule."""
        reader, order = self.reader, list[int]()
        for group in reader.children(element, "order"):
            for instance in reader.children(group, "instance"):
                index = self._actor(instance)
                if index is not None and index not in actors:
                    name = self.topology.actors[index].name
                    reader.error(
                        f"actor '{name}' of the order is not in the partition", instance, "add it to both", "id"
                    )
                elif index is not None:
                    order.append(index)
        if policy == "STATIC_ORDER" and set(order) != set(actors):
            reader.error("the static order leaves out actors", element, "expected 'order' with every instance")
        return tuple(order)

    # Units

    def _unit(self, element: etree._Element, identity: str) -> str:  # ways: each way in which a dialect names a unit
        """Return the name of the unit of a partition; "" after an error."""
        reader, names = self.reader, tuple(unit.name for unit in self.platform.units)
        given = reader.text(element, own("unit"))
        if given is not None:
            if given not in names:
                message = f"there is no unit '{shorten(given)}' in platform '{self.platform.name}'"
                reader.error(message, element, nearest_names(given, names), own("unit"))
            return given
        fixed = next(
            (u.name for u in self.platform.units if (u.partition or "").lower() == identity.lower() != ""), None
        )
        if fixed is not None:
            return fixed
        if identity.upper() == "PG":
            return self._first("gpu", element, "id", f"partition '{identity}' is on a GPU")
        element_kind = (reader.text(element, "pe") or "").strip()
        if element_kind in names:
            return element_kind
        if element_kind.lower() in _GPU_ELEMENTS:
            return self._first("gpu", element, "pe", f"partition '{identity}' is on a GPU")
        if element_kind.lower() in _CPU_ELEMENTS or not element_kind or element_kind.lstrip("-").isdecimal():
            return self._first("cpu", element, "id", f"partition '{identity}' is on a CPU")
        if element_kind.lower() in _HARDWARE_ELEMENTS:
            message = f"partition '{identity}' is on an FPGA, which no platform here has"
            reader.error(message, element, "place it on a CPU (x86_64) or a GPU", "pe")
            return ""
        message = f"unknown processing element '{shorten(element_kind)}'"
        known = tuple(dict.fromkeys((*names, *_CPU_ELEMENTS, *_GPU_ELEMENTS)))
        reader.error(message, element, nearest_names(element_kind, known), "pe")
        return ""

    def _first(self, kind: UnitKind, element: etree._Element, attribute: str, what: str) -> str:
        """Return the first unit of a kind; that there is none is an error."""
        found = next((unit.name for unit in self.platform.units if unit.kind == kind), None)
        if found is None:
            known = ", ".join(f"'{unit.name}' ({unit.kind})" for unit in self.platform.units)
            message = f"{what}, but platform '{self.platform.name}' has no {kind} unit"
            self.reader.error(message, element, f"its units: {known}; choose a platform with --platform", attribute)
        return found or ""
