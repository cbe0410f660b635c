"""Mappings that were run on this machine as a user sees them: measured times beside the estimates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from dse.api.estimated import EstimatedMapping
from dse.api.frames import DataFrame, Row, frame
from dse.api.markup import block, note, table
from dse.base.errors import ExecutionError
from dse.base.escaping import shown
from dse.model.design_point import DesignPoint
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.report.measured import state_text

_NS_PER_S = 1e9


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeasuredMapping:
    """A mapping that was run, with its estimate."""

    estimated: EstimatedMapping
    """The estimate of the same mapping."""
    measured: MeasuredPoint
    """The times in each state of the machine (whether cores shared a cache), that with the most runs first."""

    @property
    def name(self) -> str:
        """What the mapping was called."""
        return self.estimated.name

    @property
    def point(self) -> DesignPoint:
        """The design point."""
        return self.estimated.point

    @property
    def times(self) -> StateTimes | None:
        """Median and quartiles in the state that most runs had, in nanoseconds; None where nothing was measured."""
        return self.measured.times[0] if self.measured.times else None

    @property
    def seconds(self) -> float | None:
        """The median in seconds; None where nothing was measured."""
        return None if self.times is None else self.times.median_ns / _NS_PER_S

    @property
    def error(self) -> float | None:
        """By what share of the measured time the estimate is longer; None without both, and for a deadlock."""
        estimated, measured = None if self.estimated.deadlock else self.estimated.seconds, self.seconds
        return None if estimated is None or not measured else estimated / measured - 1

    @property
    def missing(self) -> str:
        """Why nothing was measured, in words; empty where it was."""
        return self.measured.missing

    def row(self) -> Row:
        """Return the line of a table, times in seconds."""
        times = self.times
        return {
            "mapping": self.name,
            "estimated": None if self.estimated.deadlock else self.estimated.seconds,
            "measured": self.seconds,
            "lower_quartile": None if times is None else times.lower_ns / _NS_PER_S,
            "upper_quartile": None if times is None else times.upper_ns / _NS_PER_S,
            "runs": 0 if times is None else times.runs,
            "error": self.error,
            "missing": self.missing,
        }

    @property
    def time(self) -> str:
        """The measured time as people read it, with half of the distance of the quartiles, or why there is none."""
        return self.missing if self.times is None else state_text(self.times)

    def __repr__(self) -> str:
        return shown(f"<MeasuredMapping: {self.time}, estimated {self.estimated.time}, {self.name[:100]}>")


class MeasuredMappings(Sequence[MeasuredMapping]):
    """Several mappings with their measured times, in the order in which they were given."""

    def __init__(self, mappings: Sequence[MeasuredMapping]) -> None:
        self._mappings = tuple(mappings)

    @overload
    def __getitem__(self, index: int) -> MeasuredMapping: ...
    @overload
    def __getitem__(self, index: slice) -> "MeasuredMappings": ...
    def __getitem__(self, index: int | slice) -> "MeasuredMapping | MeasuredMappings":
        found = self._mappings[index]
        return found if isinstance(found, MeasuredMapping) else MeasuredMappings(found)

    def __len__(self) -> int:
        return len(self._mappings)

    @property
    def best(self) -> MeasuredMapping:
        """The one that ran quickest. Raises ``ExecutionError`` where none ran."""
        ran = [m for m in self._mappings if m.seconds is not None]
        if not ran:
            raise ExecutionError("none of the mappings ran", expected="`missing` of each says why")
        return min(ran, key=lambda m: m.seconds or 0.0)

    def to_frame(self) -> DataFrame:
        """Return a table of pandas, a line for each mapping, times in seconds."""
        return frame([m.row() for m in self._mappings], "mapping")

    def __repr__(self) -> str:
        ran = [m for m in self._mappings if m.times is not None]
        best = f", the quickest {self.best.time}" if ran else ", none ran" if self._mappings else ""
        return shown(f"<{len(self)} measured mappings{best}>")

    def __str__(self) -> str:
        return "\n".join(shown(f"{m.time:>20}  {m.estimated.time:>12}  {m.name}") for m in self._mappings)

    def _repr_html_(self) -> str:
        rows = (
            (m.time, m.estimated.time, "" if m.error is None else f"{100 * m.error:+.1f} %", m.name[:100])
            for m in self._mappings
        )
        assumed = self._mappings[0].estimated.assumed if self._mappings else ()
        return block(table(("measured", "estimated", "error", "mapping"), rows), note(assumed))
