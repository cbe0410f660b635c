"""What the readers in C++ make of a file, beside what lxml and the readers in Python make of it."""

from pathlib import Path
from typing import Any, TypeAlias

from dse.base.errors import FormatError
from dse.formats.bxdf import read_bxdf
from dse.formats.xcf import read_xcf
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology
from tests.native.config.documents import Tree, tree_by_lxml
from tests.native.config.readers import Readers, network_fields

PLATFORM = Platform(
    name="p", units=(Unit(name="cpu", kind="cpu", cores=4), Unit(name="little cpu", kind="cpu", cores=2))
)
Fact: TypeAlias = tuple[str, str, list[int]]
"""Message, advice and place of an error."""

_ONLY_OURS = ("a document type declaration is not read here", "the encoding is", "this is no UTF-8", "elements are")
_ABOUT_UNITS = ("unit", "GPU", "FPGA", "processing element", "STATIC_ORDER partition", "clock of the partition")
_ABOUT_XML = (
    *("well-formed", "UTF-", "not an XML document", "is empty", "encoding", "nested", "declaration", "binary"),
    *("too many attributes", "no such file"),
)


def as_answer(point: DesignPoint, topology: Topology) -> dict[str, Any]:
    """Return what the readers should say of a design point."""
    names = [actor.name for actor in topology.actors]
    return {
        "partitions": [
            {
                "name": p.name,
                "policy": p.policy,
                "cores": p.cores,
                "actors": [names[a] for a in p.actors],
                "order": [names[a] for a in p.static_order],
            }
            for p in point.partitions
        ],
        "capacities": list(point.capacities),
    }


def tree(found: dict[str, Any]) -> Tree:
    """Return the tree in an answer."""
    attributes = tuple((name, value) for name, value, _ in found["attributes"])
    return found["tag"], found["text"], attributes, tuple(tree(child) for child in found["children"])


def same_as_lxml(readers: Readers, data: bytes) -> bool:
    """Whether both made the same of a document; only the kinds named above may be refused that lxml reads."""
    found, wanted = readers.ask("xml", data), tree_by_lxml(data)
    if "errors" in found:
        return wanted in ("refused", "undecided") or found["errors"][0]["message"].startswith(_ONLY_OURS)
    return wanted in ("undecided", tree(found["tree"]))


def difference(readers: Readers, path: Path, topology: Topology) -> str | None:
    """Return how the readings of a mapping file, or a file of sizes, differ; None where they are equal.

    Errors must have the same words and places, but those that the platform decides, and those of the XML parser.
    """
    kind = path.suffix.removeprefix(".")
    answer = readers.ask(kind, str(path), path.read_bytes(), *network_fields(topology))
    found: list[Fact] = [(e["message"], e["expected"], e["place"]) for e in answer.get("errors", ())]
    try:
        wanted_answer = _read(path, topology)
    except FormatError as error:
        wanted = [(d.message, d.expected, list(d.span[1:])) for d in error.diagnostics]
        if any(word in wanted[0][0] for word in _ABOUT_XML):
            return None if found else f"Python says: {wanted[0]}"
        same = found != [] and _of_both(found) == _of_both(wanted)
        return None if same else f"{_of_both(found)}\nPython says: {_of_both(wanted)}"
    if any(message.startswith(_ONLY_OURS) for message, _, _ in found):
        return None
    if _of_both(found):
        return f"{_of_both(found)}\nPython reads it"
    return None if found or answer == wanted_answer else f"{answer}\nPython reads: {wanted_answer}"


def _read(path: Path, topology: Topology) -> dict[str, Any]:
    if path.suffix == ".bxdf":
        return {"partitions": [], "capacities": list(read_bxdf(str(path), topology))}
    return as_answer(read_xcf(str(path), topology, PLATFORM), topology)


def _of_both(found: list[Fact]) -> list[Fact]:
    """Return the errors that do not depend on the platform. Digits of other scripts are no cores for us."""
    odd_cores = [d for d in found if d[0].startswith("pe of") and not d[0].isascii()]
    return [d for d in found if d not in odd_cores and not any(word in d[0] for word in _ABOUT_UNITS)]
