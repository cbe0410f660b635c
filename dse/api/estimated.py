"""Estimated mappings as a user sees them: times by name, pictures, tables."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args, overload

from dse.api.by_name import AccountsByName, actors_by_name, fifos_by_name, partitions_by_name
from dse.api.frames import DataFrame, Row, frame, seconds_of
from dse.api.given import one_of
from dse.api.markup import block, line, note, table
from dse.api.picture import Picture
from dse.base.errors import DeadlockError, OptionError
from dse.base.escaping import shown
from dse.base.registry import nearest_names
from dse.flows.estimate import MappingEstimate
from dse.flows.setting import Setting
from dse.formats.mapping_text import mapping_text
from dse.formats.xcf_write import XcfDialect, write_xcf
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, TickUnit
from dse.model.trace import tokens_of_buffers
from dse.report.accounts import ActorTimes, FifoTimes
from dse.report.comparison_picture import ComparedMapping, comparison_picture
from dse.report.gantt import gantt_picture, occupancy_picture, steady_window
from dse.report.network_picture import network_picture
from dse.report.quantities import percent_text, time_text
from dse.report.svg import Bar, stacked_bars
from dse.report.why import CORE_CATEGORIES, PartitionTime, Reasons, reason_lines

PictureKind: TypeAlias = Literal["network", "partitions", "occupancy", "timeline"]
"""What ``EstimatedMapping.plot`` draws."""
PICTURE_ACTORS = 120
"""The picture of a larger network is drawn when it is asked for, not with each result in a notebook."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EstimatedMapping:
    """A mapping and its estimate. All times are ticks of ``tick_unit``: ps, or cycles where no clock is known."""

    name: str
    """What the mapping was called: a file, a text, a rank."""
    found: MappingEstimate
    """The design point, the estimate and its reasons, as the flows have them."""
    setting: Setting
    """What it was estimated with: trace, weights, platform."""
    timed: Callable[[DesignPoint], Estimate]
    """Estimates a point once more, with the time of every firing."""
    usual: tuple[int, ...]
    """The sizes of FIFOs, in tokens, that a mapping as text need not say."""
    assumed: tuple[str, ...]
    """What was assumed, in words."""

    @property
    def mapping(self) -> str:
        """The mapping as text, in one line: ``Program.estimate`` and ``--mapping`` read the same one from it."""
        return mapping_text(self.point, self.setting.trace.topology, self.setting.platform, capacities=self.usual)

    @property
    def point(self) -> DesignPoint:
        """The design point: partitions, sizes of the FIFOs, modes."""
        return self.found.point

    @property
    def makespan(self) -> int:
        """The time that the run takes, in ticks; where it deadlocks, until the last event."""
        return self.found.estimate.makespan

    @property
    def tick_unit(self) -> TickUnit:
        """The unit of all times: ps, or cycles where no clock is known."""
        return self.found.estimate.tick_unit

    @property
    def seconds(self) -> float | None:
        """The makespan in seconds; None where ticks are cycles without a clock."""
        return self.seconds_of(self.makespan)

    def seconds_of(self, ticks: int) -> float | None:
        """Return any time of this estimate in seconds; None where ticks are cycles without a clock."""
        return seconds_of(ticks, self.tick_unit)

    @property
    def deadlock(self) -> tuple[str, ...]:
        """Who waits for what, in words, and what would help; empty where the run completes."""
        return self.found.deadlock

    @property
    def reasons(self) -> Reasons:
        """Why it takes this long: the busiest partition, who waits longest, which FIFOs block most."""
        return self.found.reasons

    @property
    def verdict(self) -> str:
        """What limits the mapping, in a sentence."""
        return "; ".join(self.deadlock) if self.deadlock else self.reasons.verdict

    @cached_property
    def actors(self) -> AccountsByName[ActorTimes]:
        """Where the time of each actor went, by its name."""
        return actors_by_name(self.found.accounts)

    @cached_property
    def fifos(self) -> AccountsByName[FifoTimes]:
        """What each FIFO carried and whom it kept waiting, by its name: ``source.port->target.port``."""
        return fifos_by_name(self.found.accounts)

    @cached_property
    def partitions(self) -> AccountsByName[PartitionTime]:
        """Core time of each partition by category, by its name."""
        return partitions_by_name(self.reasons.partitions, self.tick_unit)

    def plot(self, kind: PictureKind = "network") -> Picture:
        """Return a picture: the mapped network, the times of the partitions, their occupancy, or firings in a window.

        Raises:
            OptionError: there is no such kind. DeadlockError: a deadlock has no timeline.
        """
        if kind not in get_args(PictureKind):
            raise OptionError(f"unknown picture '{kind}'", expected=nearest_names(str(kind), get_args(PictureKind)))
        trace, point = self.setting.trace, self.point
        if kind == "network":
            return Picture(network_picture(trace.topology, point, tokens_of_buffers(trace)))
        if kind == "partitions":
            return Picture(self._bars())
        if self.deadlock:
            raise DeadlockError("a mapping that deadlocks has no timeline", expected="plot('network') shows it")
        estimate = self.timed(point)
        assert estimate.firing_times is not None, "asked for"
        if kind == "occupancy":
            return Picture(occupancy_picture(point, estimate))
        window = steady_window(estimate.firing_times, estimate.makespan)
        return Picture(gantt_picture(trace, point, estimate, window))

    def _bars(self) -> str:
        parts = self.reasons.partitions
        bars = [Bar(label=p.name, parts=tuple(zip(CORE_CATEGORIES, p.ticks, strict=True))) for p in parts]
        return stacked_bars(bars, "core time of the partitions by category")

    def save(self, path: str | os.PathLike[str], *, dialect: XcfDialect = "exelixi") -> Path:
        """Write the mapping to an XCF file and return its path. Raises ``FormatError`` where that is impossible.

        Raises ``OptionError`` for a dialect that is not known.
        """
        one_of("dialect", dialect, get_args(XcfDialect))
        place, trace = Path(path), self.setting.trace
        named = replace(self.point, name=f"{trace.topology.name} {place.stem}")
        write_xcf(named, trace.topology, str(place), platform=self.setting.platform, dialect=dialect)
        return place

    def to_frame(self) -> DataFrame:
        """Return a table of pandas with one line; those of the parts are ``actors.to_frame()`` and so on."""
        return frame([self.row()], "mapping")

    def row(self) -> Row:
        """Return the line of a table: what several mappings are compared by."""
        busiest = self.reasons.busiest
        return {
            "mapping": self.name,
            "makespan": None if self.deadlock else self.makespan,
            "unit": self.tick_unit,
            "seconds": None if self.deadlock else self.seconds,
            "deadlock": bool(self.deadlock),
            "partitions": len(self.point.partitions),
            "busiest": None if busiest is None else busiest.partition,
            "busiest_share": None if busiest is None else busiest.busy / busiest.core_time,
            "digest": self.point.digest(),
        }

    @property
    def time(self) -> str:
        """The makespan as people read it, or ``deadlock``."""
        return "deadlock" if self.deadlock else time_text(self.makespan, self.tick_unit)

    def __repr__(self) -> str:
        return f"<EstimatedMapping: {self.time}, {_cut(shown(self.mapping))}>"

    def __str__(self) -> str:
        lines = [f"{self.time}: {self.mapping}"]
        lines += self.deadlock or reason_lines(self.reasons, self.found.estimate)
        return "\n".join(map(shown, lines))

    def _repr_html_(self) -> str:
        parts = [line(self.mapping, strong=self.time)]
        parts += [line(text) for text in self.deadlock or (f"what limits it: {self.reasons.verdict}",)]
        if len(self.setting.trace.topology.actors) <= PICTURE_ACTORS:
            parts.append(self.plot("network").svg)
        return block(*parts, self._bars(), note(self.assumed))


def _cut(text: str, most: int = 100) -> str:
    """Return a text of a line, cut where it is long."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


class EstimatedMappings(Sequence[EstimatedMapping]):
    """Several mappings with their estimates, in the order in which they were given."""

    def __init__(self, mappings: Sequence[EstimatedMapping]) -> None:
        self._mappings = tuple(mappings)

    @overload
    def __getitem__(self, index: int) -> EstimatedMapping: ...
    @overload
    def __getitem__(self, index: slice) -> "EstimatedMappings": ...
    def __getitem__(self, index: int | slice) -> "EstimatedMapping | EstimatedMappings":
        found = self._mappings[index]
        return found if isinstance(found, EstimatedMapping) else EstimatedMappings(found)

    def __len__(self) -> int:
        return len(self._mappings)

    @property
    def best(self) -> EstimatedMapping:
        """The one of the smallest makespan, the first of equals. Raises ``DeadlockError`` where none completes.

        Raises ``OptionError`` where there is no mapping at all.
        """
        if not self._mappings:
            raise OptionError("there are no mappings, and so no best one", expected="give compare() at least one")
        alive = [m for m in self._mappings if not m.deadlock]
        if not alive:
            raise DeadlockError("none of the mappings completes", expected="`deadlock` of each says why")
        return min(alive, key=lambda m: m.makespan)

    def sorted(self) -> "EstimatedMappings":
        """Return the mappings with the fastest first, those that deadlock last."""
        return EstimatedMappings(sorted(self._mappings, key=lambda m: (bool(m.deadlock), m.makespan)))

    def plot(self) -> Picture:
        """Return a picture: a bar for each mapping, as long as it takes, with the shares of what its cores did."""
        return Picture(comparison_picture([_compared(m) for m in self._mappings]))

    def to_frame(self) -> DataFrame:
        """Return a table of pandas, a line for each mapping."""
        return frame([m.row() for m in self._mappings], "mapping")

    def __repr__(self) -> str:
        alive = [m for m in self._mappings if not m.deadlock]
        best = f", best {self.best.time}" if alive else ", all deadlock" if self._mappings else ""
        return f"<{len(self)} estimated mappings{best}>"

    def __str__(self) -> str:
        return "\n".join(shown(f"{m.time:>12}  {m.name}") for m in self._mappings)

    def _repr_html_(self) -> str:
        rows = (
            (m.time, "" if m.reasons.busiest is None else _busiest(m), str(len(m.point.partitions)), _cut(m.name))
            for m in self._mappings
        )
        assumed = self._mappings[0].assumed if self._mappings else ()
        heads = ("makespan", "busiest", "partitions", "mapping")
        return block(table(heads, rows), self.plot().svg, note(assumed))


def _busiest(mapping: EstimatedMapping) -> str:
    found = mapping.reasons.busiest
    return "" if found is None else f"{found.partition} {percent_text(found.busy, found.core_time)}"


def _compared(mapping: EstimatedMapping) -> ComparedMapping:
    totals = [sum(p.ticks[c] for p in mapping.reasons.partitions) for c in range(len(CORE_CATEGORIES))]
    parts = tuple(zip(CORE_CATEGORIES, totals, strict=True))
    return ComparedMapping(
        label=mapping.name,
        makespan=None if mapping.deadlock else mapping.makespan,
        time=mapping.time,
        parts=parts,
    )
