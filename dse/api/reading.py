"""From mappings as a user gives them to design points, and what calls change in them."""

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import get_args

from dse.api.given import (
    GivenBuffers,
    GivenClocks,
    GivenMapping,
    HasPoint,
    clocks_of,
    one_of,
    partitions_text,
    path_text,
    size_text,
)
from dse.api.warned import warn
from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.flows.capacities import Capacities, read_capacities, search_capacities
from dse.flows.clocks import clock_domains, fixed_clocks
from dse.flows.estimate import ONE_CORE, one_core
from dse.flows.mappings import beyond_cores, read_mappings
from dse.flows.setting import Setting
from dse.model.design_point import MOST_TOKENS, DesignPoint, ReleaseMode, TransferMode

SIZES_UNSAID = "FIFO capacities that a mapping does not give: those of the network, else 512 tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMapping:
    """A mapping as it was given: what it is called, its design point, what was assumed in it."""

    name: str
    point: DesignPoint
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a call changes in mappings: sizes of all FIFOs or of some by index, clocks by unit, modes. None: nothing."""

    tokens: tuple[int, ...] | None = None
    some: tuple[tuple[int, int], ...] = ()
    clocks: Mapping[str, Fraction] = field(default_factory=dict)
    release: ReleaseMode | None = None
    transfers: TransferMode | None = None

    def applied(self, point: DesignPoint) -> DesignPoint:
        """Return a design point with the changes."""
        capacities = list(point.capacities if self.tokens is None else self.tokens)
        for buffer, tokens in self.some:
            capacities[buffer] = tokens
        return replace(
            point,
            capacities=tuple(capacities),
            release=self.release or point.release,
            transfers=self.transfers or point.transfers,
            partitions=tuple(replace(p, clock_mhz=self.clocks.get(p.unit, p.clock_mhz)) for p in point.partitions),
        )


class MappingReader:
    """Reads the mappings of one problem, of every sort."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    @functools.cached_property
    def _usual(self) -> Capacities:
        """The sizes of FIFOs of which a text says nothing."""
        return search_capacities(self._setting)

    @property
    def usual_tokens(self) -> tuple[int, ...]:
        """The sizes of FIFOs of which a text says nothing."""
        return self._usual.tokens

    def changes(
        self,
        buffers: GivenBuffers | None,
        clocks: GivenClocks | None,
        release: ReleaseMode | None,
        transfers: TransferMode | None,
    ) -> Changes:
        """Return what the options of a call ask for. Raises ``OptionError``, and ``FormatError`` for a wrong file."""
        if release is not None:
            one_of("release", release, get_args(ReleaseMode))
        if transfers is not None:
            one_of("transfers", transfers, get_args(TransferMode))
        some = buffers if isinstance(buffers, Mapping) else {}
        return Changes(
            tokens=None if buffers is None or isinstance(buffers, Mapping) else self._sizes(size_text(buffers)),
            some=self._some(some),
            clocks=fixed_clocks(clock_domains(clocks_of(clocks), self._setting.platform)),
            release=release,
            transfers=transfers,
        )

    def _sizes(self, text: str) -> tuple[int, ...]:
        return read_capacities(text, self._setting).tokens

    def _some(self, sizes: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """Return index and size of FIFOs by name. Raises ``OptionError``."""
        topology = self._setting.trace.topology
        index_of = {topology.buffer_name(b): b for b in range(len(topology.buffers))}
        found = []
        for name, tokens in sizes.items():
            if name not in index_of:
                raise OptionError(f"there is no FIFO '{name}'", expected=nearest_names(str(name), tuple(index_of)))
            if not isinstance(tokens, int) or not 1 <= tokens <= MOST_TOKENS:
                raise OptionError(
                    f"FIFO '{name}' cannot hold {tokens!r} tokens", expected=f"a whole number from 1 to {MOST_TOKENS}"
                )
            found.append((index_of[name], tokens))
        return tuple(found)

    def read(self, mapping: GivenMapping | None, *, sized: bool) -> ReadMapping:
        """Return the one mapping that is given; ``sized``: the call says the sizes of all FIFOs.

        Raises:
            FormatError: it does not fit the network or the platform. OptionError: it is none, or a list of many.
        """
        found = self.read_all([mapping], sized=sized)
        if len(found) != 1:
            raise OptionError(
                f"'{mapping}' holds {len(found)} mappings, not one", expected="compare() takes a list of many"
            )
        return found[0]

    def read_all(self, mappings: Iterable[GivenMapping | None], *, sized: bool) -> list[ReadMapping]:
        """Return the mappings that are given; errors as ``read``."""
        return [one for mapping in mappings for one in self._of(mapping, sized=sized)]

    def _of(self, mapping: GivenMapping | None, *, sized: bool) -> list[ReadMapping]:
        if mapping is None:
            assumed = () if sized else self._usual.assumed
            point = one_core(self._setting, self._usual.tokens)
            return [ReadMapping(name=ONE_CORE, point=point, assumed=(f"{ONE_CORE} (no mapping)", *assumed))]
        if isinstance(mapping, DesignPoint):
            return [ReadMapping(name=mapping.name or "design point", point=mapping)]
        if isinstance(mapping, HasPoint):
            return [ReadMapping(name=_name_of(mapping), point=mapping.point)]
        text = partitions_text(mapping) if isinstance(mapping, Mapping) else path_text(mapping, "mapping")
        return self._of_text(text, sized=sized)

    def _of_text(self, text: str, *, sized: bool) -> list[ReadMapping]:
        """Return the mappings of a text or a file."""
        gather = Gatherer()
        trace, platform = self._setting.trace, self._setting.platform
        given = read_mappings([text], trace.topology, platform, usual=lambda: self._usual.tokens, gather=gather)
        warn(gather.warnings)
        found = []
        for one in given.mappings:
            unsized = () if one.sized or sized else self._usual.assumed if one.text else (SIZES_UNSAID,)
            beyond = beyond_cores([(one.name, one.point)], platform)
            found.append(ReadMapping(name=one.name, point=one.point, assumed=(*unsized, *beyond)))
        return found


def _name_of(mapping: HasPoint) -> str:
    name = getattr(mapping, "name", None) or getattr(mapping, "mapping", None)
    return name if isinstance(name, str) else "a result"


def each_of(mappings: GivenMapping | Iterable[GivenMapping | None]) -> Iterable[GivenMapping | None]:
    """Return several mappings: those of an iterable, or the one that is given. Raises ``OptionError`` for neither."""
    if isinstance(mappings, (str, os.PathLike, DesignPoint, HasPoint, Mapping)):
        return [mappings]
    if not isinstance(mappings, Iterable):
        raise OptionError(f"{mappings!r} is no mapping", expected="a text, a path, partitions, a result, or several")
    return mappings
