"""The outcome of a search as a user sees it: the best mapping, the ranking, pictures, tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import overload

from dse.api.estimated import PICTURE_ACTORS, EstimatedMapping
from dse.api.frames import DataFrame, Row, frame, seconds_of
from dse.api.markup import block, line, note, table
from dse.api.picture import Picture
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.base.numbers import about_count
from dse.flows.explore import Explored
from dse.flows.rounds import Refinement
from dse.formats.mapping_text import mapping_text
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit
from dse.model.study import Front, LowerBound, StopReason, Study
from dse.model.uncertainty import Robust, RobustRow
from dse.report.cores import CoresRow, best_by_cores
from dse.report.front_picture import front_scatter
from dse.report.history_picture import Found, history_picture
from dse.report.mapping_table import WIDTH
from dse.report.quantities import time_text
from dse.report.ranking import RankedRow, ranked_rows, ranking_table, render
from dse.report.robust import rank_text, robust_lines, robust_table

SHOWN = 10
"""So many of the best mappings are shown; ``to_frame`` has all."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankedMapping:
    """A mapping of the ranking. Give it to ``Program.estimate`` for where its time went."""

    rank: int
    point: DesignPoint
    mapping: str
    """The mapping as text, in one line: ``Program.estimate`` and ``--mapping`` read the same one from it."""
    makespan: int
    """In ticks of ``tick_unit``."""
    tick_unit: TickUnit
    speedup: float | None
    """How much faster than all on one core it is; None where that is impossible."""
    gap: float | None
    """How far above the lower bound it is, as a share of that; None where the bound is 0."""
    values: tuple[tuple[str, float], ...]
    """What it is worth in each objective of the search, by name; empty where that is the makespan alone."""
    digest: str
    drawn: RobustRow | None = None
    """With ``explore(robust=...)``: what drawn weights say of it, of the first mappings; times in ticks."""

    @property
    def seconds(self) -> float | None:
        """The makespan in seconds; None where ticks are cycles without a clock."""
        return seconds_of(self.makespan, self.tick_unit)

    def row(self) -> Row:
        """Return the line of a table."""
        return {
            "rank": self.rank,
            "makespan": self.makespan,
            "unit": self.tick_unit,
            "seconds": self.seconds,
            "speedup": self.speedup,
            "gap": self.gap,
            **{name: value for name, value in self.values if name != "makespan"},
            "partitions": len(self.point.partitions),
            "mapping": self.mapping,
            "digest": self.digest,
            **self._drawn(),
        }

    def _drawn(self) -> Row:
        """Return what drawn weights say of it, as far as they were drawn."""
        drawn = self.drawn
        if drawn is None:
            return {}
        return {
            "drawn_mean": drawn.mean,
            "drawn_low": drawn.low,
            "drawn_high": drawn.high,
            "first": drawn.first,
            "regret": drawn.regret,
            "tied_with": None if drawn.tied is None else drawn.tied + 1,
        }

    def __repr__(self) -> str:
        time = time_text(self.makespan, self.tick_unit)
        return f"<RankedMapping {self.rank}: {time}, {shown(self.mapping[:100])}>"


class Ranking(Sequence[RankedMapping]):
    """The mappings that a search found, the best first; those that deadlock, and cut simulations, are not in it."""

    def __init__(self, found: Explored, usual: tuple[int, ...]) -> None:
        self._found, self._usual = found, usual
        self._drawn = () if found.robust is None else found.robust.rows

    def __len__(self) -> int:
        return len(self._found.study.ranking)

    @overload
    def __getitem__(self, index: int) -> RankedMapping: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RankedMapping, ...]: ...
    def __getitem__(self, index: int | slice) -> RankedMapping | tuple[RankedMapping, ...]:
        if isinstance(index, slice):
            return tuple(self._at(k) for k in range(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(f"the ranking has {len(self)} mappings, and no number {index}")
        return self._at(range(len(self))[index])

    def _at(self, index: int) -> RankedMapping:
        study, topology = self._found.study, self._found.setting.trace.topology
        evaluation, bound = study.ranking[index], study.lower_bounds[0].makespan
        alone = None if study.baseline is None or study.baseline.deadlock else study.baseline.makespan
        return RankedMapping(
            rank=index + 1,
            point=evaluation.point,
            mapping=mapping_text(evaluation.point, topology, self._found.setting.platform, capacities=self._usual),
            makespan=evaluation.makespan,
            tick_unit=evaluation.tick_unit,
            speedup=None if alone is None or not evaluation.makespan else alone / evaluation.makespan,
            gap=evaluation.makespan / bound - 1 if bound else None,
            values=_values(study, index),
            digest=evaluation.digest,
            drawn=self._drawn[index] if index < len(self._drawn) else None,
        )

    def __repr__(self) -> str:
        return f"<Ranking of {len(self):,} mappings of {shown(self._found.study.network)}>"


def _values(study: Study, index: int) -> tuple[tuple[str, float], ...]:
    if study.front is None:
        return ()
    return tuple(zip((axis.name for axis in study.front.axes), study.values[index], strict=True))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exploration:
    """The outcome of a search."""

    found: Explored
    """The study, its space, the estimate of the best, as the flows have them."""
    estimated: Callable[[DesignPoint, str], EstimatedMapping]
    """Estimates a point, with the name that it gets."""
    usual: tuple[int, ...]
    """The sizes of FIFOs, in tokens, that a mapping as text need not say."""
    folder: Path | None
    """Where mapping files, ranking, report and study are kept; None where nothing is."""
    rounds: tuple[Refinement, ...] = ()
    """What each round of ``refine`` changed."""
    ended: str = ""
    """Why there were no more rounds, in words; empty where all that were asked for were made, or none."""

    @property
    def study(self) -> Study:
        """The study: all that is ranked, the bounds, how the search ended."""
        return self.found.study

    @property
    def ranking(self) -> Ranking:
        """The mappings that were found, the best first."""
        return Ranking(self.found, self.usual)

    @cached_property
    def best(self) -> EstimatedMapping:
        """The best mapping with its estimate."""
        return self.estimated(self.study.ranking[0].point, "the best")

    @property
    def bound(self) -> LowerBound:
        """The largest makespan, in ticks, that is proven to be beaten by no mapping of the space; and why."""
        return self.study.lower_bounds[0]

    @property
    def by_cores(self) -> tuple[CoresRow, ...]:
        """The best mapping that was found for each number of partitions; empty where other objectives rank."""
        return best_by_cores(self.study, self.found.setting.platform)

    @property
    def front(self) -> Front | None:
        """The trade-offs of several objectives; None where the makespan is the only one."""
        return self.study.front

    @property
    def robust(self) -> Robust | None:
        """How sure the ranking is under drawn weights, and what was drawn; None where that was not asked for."""
        return self.found.robust

    @property
    def complete(self) -> bool:
        """Whether no mapping of the space is better than the best."""
        return self.study.complete

    @property
    def stop(self) -> StopReason:
        """Why the search ended: complete, a budget, or that it was interrupted."""
        return self.study.stop

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was assumed, in words."""
        return self.study.assumed

    @property
    def notes(self) -> tuple[str, ...]:
        """How the weights came to be, and what was not measured, in words."""
        return (*self.found.setting.notes, *self.found.notes)

    @property
    def outcome(self) -> str:
        """How much of the space is known, in a sentence."""
        study = self.study
        parts = [f"{study.evaluations:,} mappings estimated in {study.seconds:.1f} s"]
        if study.pruned:
            parts.append(f"{about_count(study.pruned)} excluded by a bound")
        if study.deadlocks:
            parts.append(f"{study.deadlocks:,} deadlock")
        ends = {"interrupted": "interrupted", "evaluations": "the budget ended it", "seconds": "the budget ended it"}
        parts.append("no mapping of the space is better" if study.complete else ends.get(study.stop, "ended"))
        return ", ".join(parts)

    def plot(self) -> Picture:
        """Return a picture: the makespans in the order of their estimation, the best so far, and the bound."""
        study = self.study
        found = [Found(ordinal=e.ordinal, makespan=e.makespan) for e in study.ranking]
        unit = study.ranking[0].tick_unit
        return Picture(history_picture(found, study.evaluations, self.bound.makespan, unit))

    def plot_front(self) -> Picture:
        """Return a picture of the trade-offs of the first two objectives. ``OptionError`` where there is only one."""
        if self.front is None or len(self.front.axes) < 2:
            raise OptionError(
                "there is no trade-off: the search had one objective",
                expected="explore(objectives='makespan,memory') or the like",
            )
        return Picture(front_scatter(self.front))

    def to_frame(self, most: int | None = None) -> DataFrame:
        """Return a table of pandas, a line for each mapping of the ranking, or for the first ``most``."""
        return frame([ranked.row() for ranked in self.ranking[:most]], "rank")

    def rows(self, most: int = SHOWN) -> tuple[RankedRow, ...]:
        """Return the first lines of the ranking, as the command line prints them."""
        return ranked_rows(self.study, self.found.delivery.texts, most, self.found.measured)

    def __repr__(self) -> str:
        best = self.ranking[0]
        faster = "" if best.speedup is None else f", {best.speedup:.2f}x one core"
        gap = "" if best.gap is None else f", {100 * best.gap:.1f} % above the bound"
        time = time_text(best.makespan, best.tick_unit)
        return f"<Exploration of {shown(self.study.network)}: best {time}{faster}{gap}; {self.outcome}>"

    def __str__(self) -> str:
        texts, robust = self.found.delivery.texts, self.robust
        if robust is None:
            return f"{render(ranking_table(self.rows(), texts)[0])}\n\n{self.outcome}"
        told = robust_table(self.rows(), robust, texts, WIDTH)[0]
        return "\n\n".join((render(told), "\n".join(robust_lines(robust)), self.outcome))

    def _repr_html_(self) -> str:
        robust = self.robust
        rows = (
            (
                str(m.rank) if robust is None or m.drawn is None else rank_text(m.rank - 1, robust),
                time_text(m.makespan, m.tick_unit),
                "" if m.speedup is None else f"{m.speedup:.2f}x",
                "" if m.gap is None else f"+{100 * m.gap:.1f} %",
                m.mapping,
            )
            for m in self.ranking[:SHOWN]
        )
        parts = [line(self.outcome, strong=self.study.network)]
        parts.append(table(("#", "makespan", "speed-up", "to bound", "mapping"), rows))
        if len(self.found.setting.trace.topology.actors) <= PICTURE_ACTORS:
            parts.append(self.best.plot("network").svg)
        if robust is not None:
            parts += map(line, robust_lines(robust))
        return block(*parts, note(self.assumed))
