"""Software profiles of StreamBlocks: what its multicore programs write with ``--with-complexity --generate=F.xml``.

The file is a configuration whose ``<instance id="..." complexity="..."/>`` say how many ticks of the processor's
counter each actor took, all its firings together. Bandwidths and sizes of connections are left out. Bezati, Emami,
Janneck and Larus, "StreamBlocks: A compiler for heterogeneous dataflow computing", 2021.
"""

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.registry import nearest_names
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, shorten
from dse.formats.xml_source import local_name
from dse.model.trace import Topology


def read_profile(path: str, topology: Topology) -> tuple[int, ...]:
    """Return the ticks of each actor of a network; shape (n_actors,). Slashes in names may be underscores in the file.

    Raises:
        FormatError: with everything that is wrong: an actor that is missing, unknown or there twice, or no ticks.
    """
    gather = Gatherer()
    reader = open_xml(path, gather)
    if local_name(reader.root).lower() != "configuration":
        tag = local_name(reader.root)
        reader.error(f"the root element is '{tag}'", reader.root, "expected 'configuration': this is no profile")
    raise_errors(gather)
    ticks: dict[str, int] = {}
    for element in reader.root.iter():
        if local_name(element).lower() == "instance":
            _read_instance(reader, element, topology, ticks)
    missing = [actor.name for actor in topology.actors if actor.name not in ticks]
    if missing and not gather.errors:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        what = f"the profile has no ticks of actor '{missing[0]}'{more}"
        reader.error(what, reader.root, "expected a profile of this network")
    raise_errors(gather)
    return tuple(ticks[actor.name] for actor in topology.actors)


def _read_instance(reader: XmlReader, element: etree._Element, topology: Topology, ticks: dict[str, int]) -> None:
    """Read the ticks of one actor."""
    name = reader.required(element, "id")
    if name is None:
        return
    names = tuple(actor.name for actor in topology.actors)
    own = next((known for known in names if known.replace("/", "_") == name.replace("/", "_")), None)
    if own is None:
        reader.error(f"the network has no actor '{shorten(name)}'", element, nearest_names(name, names), "id")
    elif own in ticks:
        reader.error(f"actor '{shorten(own)}' is there twice", element, "expected each once", "id")
    else:
        found = reader.integer(element, "complexity")
        if reader.required(element, "complexity") is not None and found is not None:
            ticks[own] = found
