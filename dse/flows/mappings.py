"""Mappings as every verb takes them: mapping files, CSV files with many, and mappings as text, of files too (.txt)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import assert_never

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError, OptionError
from dse.base.escaping import shown
from dse.formats.mapping_csv import read_mapping_csv, read_text
from dse.formats.mapping_text import read_mapping_text, states_buffers
from dse.formats.mapping_words import TextOrigin
from dse.formats.xcf import read_xcf, states_sizes
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform
from dse.model.trace import Topology

_LONGEST_PATH = 4096


class _Sort(Enum):
    """What a mapping is written as."""

    XCF = "xcf"
    CSV = "csv"
    TEXT = "text"
    TEXT_FILE = "text file"


def unsaid() -> None:
    """Return no sizes: those of the network, else 512 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMapping:
    """A mapping that was given: what it is called, whether it says the size of any FIFO, whether it is a text."""

    name: str
    point: DesignPoint
    sized: bool
    text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMappings:
    """The mappings that were given, in that order; ``listed``: whether some came from a list, so that order is none."""

    mappings: tuple[GivenMapping, ...]
    listed: bool

    @property
    def all_sized(self) -> bool:
        """Whether each of them says the size of a FIFO."""
        return all(mapping.sized for mapping in self.mappings)


def read_mappings(
    given: Sequence[str],
    topology: Topology,
    platform: Platform,
    *,
    usual: Callable[[], tuple[int, ...] | None] = unsaid,
    gather: Gatherer | None = None,
) -> GivenMappings:
    """Return the mappings of ``--mapping``: of files, or of texts where no file is called so.

    ``usual``: returns the sizes in tokens of FIFOs of which a text says nothing; None: those of the network, else 512.
    ``gather`` receives warnings.

    Raises:
        FormatError: with everything that is wrong in all of them.
    """
    reader = _Reader(topology, platform, usual, gather)
    errors, found, listed = Gatherer(), list[GivenMapping](), False
    for number, text in enumerate(given, start=1):
        sort = _sort(text)
        listed = listed or sort is _Sort.CSV
        try:
            found += reader.of(sort, text, "mapping" if len(given) == 1 else f"mapping {number}")
        except FormatError as error:
            errors.extend(error.diagnostics)
    _raise(errors)
    return GivenMappings(mappings=tuple(found), listed=listed)


def read_mapping(
    given: str,
    topology: Topology,
    platform: Platform,
    *,
    usual: Callable[[], tuple[int, ...] | None] = unsaid,
    gather: Gatherer | None = None,
) -> GivenMapping:
    """Return the one mapping of a file or a text; as ``read_mappings``. Raises ``OptionError`` for a list of many."""
    mappings = read_mappings([given], topology, platform, usual=usual, gather=gather).mappings
    if len(mappings) != 1:
        raise OptionError(f"'{given}' holds {len(mappings)} mappings, not one", expected="give one of them as text")
    return mappings[0]


def beyond_cores(points: Sequence[tuple[str, DesignPoint]], platform: Platform) -> tuple[str, ...]:
    """Return in words which mappings, by name, want more cores of a CPU unit than it has: what is assumed in them."""
    found = []
    for unit in platform.units:
        wanted = [(name, sum(p.cores for p in point.partitions if p.unit == unit.name)) for name, point in points]
        beyond = [(name, cores) for name, cores in wanted if unit.kind == "cpu" and cores > unit.cores]
        if beyond:
            name, cores = beyond[0]
            more = f", and {len(beyond) - 1} more mappings do" if len(beyond) > 1 else ""
            found.append(
                f"cores enough for each partition: '{shown(name)}' takes {cores} of unit '{unit.name}', "
                f"which has {unit.cores}{more}"
            )
    return tuple(found)


def looks_like_mapping(text: str) -> bool:
    """Return whether a text that is no file is meant as a mapping, rather than as the name of a file."""
    named = text.strip().lower().endswith((".xcf", ".csv", ".xml")) and " " not in text.strip()
    return not named and (":" in text or any(c.isspace() for c in text.strip()))


@dataclass(slots=True)
class _Reader:
    """Reads mappings of every sort for one network and platform."""

    topology: Topology
    platform: Platform
    usual: Callable[[], tuple[int, ...] | None]
    gather: Gatherer | None

    def of(self, sort: _Sort, given: str, called: str) -> list[GivenMapping]:
        """Return the mappings of one ``--mapping``; ``called``: how messages call the text."""
        match sort:
            case _Sort.XCF:
                point = read_xcf(given, self.topology, self.platform, self.gather)
                return [GivenMapping(name=given, point=point, sized=states_sizes(given), text=False)]
            case _Sort.CSV:
                return self._of_csv(given)
            case _Sort.TEXT_FILE:
                mapping = self._of_text(read_text(given), TextOrigin(path=given, in_file=True))
                return [replace(mapping, name=given)]
            case _Sort.TEXT:
                return [self._of_text(given, TextOrigin(path=called))]
            case _:
                assert_never(sort)

    def _of_text(self, text: str, origin: TextOrigin) -> GivenMapping:
        point = read_mapping_text(text, self.topology, self.platform, capacities=self.usual(), origin=origin)
        return GivenMapping(name=" ".join(text.split()), point=point, sized=states_buffers(text), text=True)

    def _of_csv(self, path: str) -> list[GivenMapping]:
        errors, found = Gatherer(), list[GivenMapping]()
        for row in read_mapping_csv(path, self.gather):
            try:
                mapping = self._of_text(row.text, row.origin)
            except FormatError as error:
                errors.extend(error.diagnostics)
            else:
                found.append(replace(mapping, name=row.name or mapping.name))
        _raise(errors)
        return found


def _raise(errors: Gatherer) -> None:
    """Raise what was gathered, in the order in which the mappings were given."""
    if errors.errors:
        raised = FormatError(errors.errors[0].message)
        raised.diagnostics = tuple(errors.diagnostics)
        raise raised


def _sort(given: str) -> _Sort:
    """Return what a mapping is written as: by what a file begins with, else by its name; else by the text."""
    suffix = given[given.rfind(".") :].strip().lower()
    if not _exists(given):
        return _Sort.TEXT if looks_like_mapping(given) else _Sort.XCF  # whose reader says that there is no such file
    if _begins_as_xml(given) or suffix not in (".csv", ".txt"):
        return _Sort.XCF
    return _Sort.CSV if suffix == ".csv" else _Sort.TEXT_FILE


def _exists(path: str) -> bool:
    """Return whether there is a file or a folder of that name; not where it can be no name, as it is too long."""
    try:
        return len(path) <= _LONGEST_PATH and Path(path).exists()
    except (OSError, ValueError):
        return False


def _begins_as_xml(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    except OSError:
        return True  # the reader of XML says what is wrong with it
