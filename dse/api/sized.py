"""Sizes of FIFOs as a user sees them: by name, with their memory and the makespan they give."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dse.api.estimated import EstimatedMapping
from dse.api.frames import DataFrame, Row, frame
from dse.api.markup import block, line, table
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.formats.bxdf import write_bxdf
from dse.model.estimate import TickUnit
from dse.model.trace import Topology
from dse.report.quantities import time_text
from dse.sizing.buffers import BufferSizing, Sizing

SHOWN = 40
"""So many FIFOs are shown in a notebook; ``to_frame`` has all."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SizedFifos:
    """The sizes that ``Program.size_buffers`` found, in tokens, beside the least and the most that are of use."""

    sizing: BufferSizing
    """The sizing with all that was tried, as ``dse.sizing`` has it."""
    topology: Topology
    estimate: Callable[[tuple[int, ...]], EstimatedMapping]
    """Estimates the mapping with other sizes of all FIFOs, in tokens."""

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes in tokens by the names of the FIFOs: what ``buffers=`` takes."""
        return {name: tokens for name, tokens, _, _ in self._lines()}

    @property
    def memory_bytes(self) -> int:
        """The memory of the tokens of all FIFOs."""
        return self.sizing.chosen.memory_bytes

    @property
    def makespan(self) -> int:
        """The makespan with these sizes, in ticks of ``tick_unit``."""
        return self.sizing.chosen.makespan

    @property
    def tick_unit(self) -> TickUnit:
        """The unit of all times: ps, or cycles where no clock is known."""
        return self.sizing.tick_unit

    @cached_property
    def best(self) -> EstimatedMapping:
        """The mapping with these sizes, and its estimate."""
        return self.estimate(self.sizing.chosen.capacities)

    @property
    def curve(self) -> tuple[Sizing, ...]:
        """Of all sizes that were tried those that no other beats in both memory and makespan, by rising memory."""
        return self.sizing.curve

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the sizes to a ``.bxdf`` file and return its path. Raises ``OptionError`` where that is impossible."""
        place = Path(path)
        try:
            write_bxdf(self.sizing.chosen.capacities, self.topology, str(place))
        except OSError as cause:
            raise OptionError(f"cannot write '{place}': {cause.strerror}", expected="choose another place") from cause
        return place

    def to_frame(self) -> DataFrame:
        """Return a table of pandas, a line for each FIFO: its size, the minimal and the maximal one, in tokens."""
        return frame([self._row(*cells) for cells in self._lines()], "name")

    def _lines(self) -> Iterator[tuple[str, int, int, int]]:
        found = self.sizing
        sizes = zip(found.chosen.capacities, found.minimal.capacities, found.maximal.capacities, strict=True)
        for buffer, (chosen, least, most) in enumerate(sizes):
            yield self.topology.buffer_name(buffer), chosen, least, most

    @staticmethod
    def _row(name: str, chosen: int, least: int, most: int) -> Row:
        return {"name": name, "tokens": chosen, "minimal": least, "maximal": most}

    def _summary(self) -> str:
        return f"{self.memory_bytes:,} B, {time_text(self.makespan, self.tick_unit)}"

    def __repr__(self) -> str:
        return shown(f"<SizedFifos of {self.topology.name}, {self.sizing.method}: {self._summary()}>")

    def _repr_html_(self) -> str:
        lines = list(self._lines())
        rows = ((f"{chosen:,}", f"{least:,}", f"{most:,}", name) for name, chosen, least, most in lines[:SHOWN])
        more = f"<p>and {len(lines) - SHOWN:,} more: to_frame() has all</p>" if len(lines) > SHOWN else ""
        heads = ("tokens", "minimal", "maximal", "FIFO")
        return block(line(self._summary(), strong=f"{self.sizing.method} sizes"), table(heads, rows), more)
