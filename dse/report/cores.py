"""What more cores give: the best mapping that was found for each number of them, and whether several pay."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit
from dse.model.platform import Platform
from dse.model.study import Evaluation, Study
from dse.report.mapping_cells import ShownMappings
from dse.report.quantities import time_text
from dse.report.ranking import GAP, LEAST_MAPPING, WIDTH, width_of
from dse.report.tables import NamesTable

HARDLY = 1.05
"""A speed-up below this is hardly one: estimates are further from measured times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoresRow:
    """The best mapping that was found on so many CPU cores and GPUs. ``speedup``: over one core, None: unknown."""

    cores: int
    gpus: int
    makespan: int
    tick_unit: TickUnit
    speedup: float | None
    point: DesignPoint

    @property
    def label(self) -> str:
        """The cores as a table names them: ``2``, ``1 + GPU``."""
        gpus = ("", " + GPU")[self.gpus] if self.gpus < 2 else f" + {self.gpus} GPUs"
        return f"{self.cores}{gpus}"


def best_by_cores(study: Study, platform: Platform) -> tuple[CoresRow, ...]:
    """Return the best mapping that was found for each number of partitions, by that number.

    Empty where the makespan is not what ranks, or all mappings have one number of partitions.
    """
    if study.front is not None:
        return ()
    best: dict[int, Evaluation] = {}
    for evaluation in (*study.ranking, *_usable(study.baseline)):
        best.setdefault(evaluation.n_partitions, evaluation)
    if len(best) < 2:
        return ()
    return tuple(_row(best[number], study, platform) for number in sorted(best))


def _usable(baseline: Evaluation | None) -> tuple[Evaluation, ...]:
    return () if baseline is None or baseline.deadlock else (baseline,)


def _row(evaluation: Evaluation, study: Study, platform: Platform) -> CoresRow:
    point, (one,) = evaluation.point, _usable(study.baseline) or (None,)
    kinds = {unit.name: unit.kind for unit in platform.units}
    threads = [len(p.actors) if p.policy == "FULL_PARALLEL" else p.cores for p in point.partitions]
    gpus = sum(kinds.get(p.unit) == "gpu" for p in point.partitions)
    return CoresRow(
        cores=sum(n for n, p in zip(threads, point.partitions, strict=True) if kinds.get(p.unit) != "gpu"),
        gpus=gpus,
        makespan=evaluation.makespan,
        tick_unit=evaluation.tick_unit,
        speedup=one.makespan / evaluation.makespan if one is not None and evaluation.makespan else None,
        point=point,
    )


def pays_text(study: Study, rows: Sequence[CoresRow]) -> str:
    """Return that it does not pay to have several cores, where it is so; else nothing."""
    several = [row for row in rows if len(row.point.partitions) > 1]
    if not several or not _usable(study.baseline):
        return ""
    best = min(several, key=lambda row: row.makespan)
    (one,) = _usable(study.baseline)
    times = f"{time_text(one.makespan, one.tick_unit)} on one core"
    found = f"{time_text(best.makespan, best.tick_unit)} at best on several"
    if best.makespan >= one.makespan:
        return f"parallelising does not pay here: {times}, {found}"
    if one.makespan < HARDLY * best.makespan:
        return f"parallelising hardly pays here: {times}, {found} ({one.makespan / best.makespan:.2f}x)"
    return ""


def cores_table(rows: Sequence[CoresRow], texts: MappingTexts, width: int = WIDTH) -> Table:
    """Return the best for each number of cores as a table of ``width`` columns; there is at least one."""
    cells = [
        (row.label, time_text(row.makespan, row.tick_unit), "" if row.speedup is None else f"{row.speedup:.2f}x")
        for row in rows
    ]
    plain = _headed()
    for line in cells:
        plain.add_row(*line)
    largest = max((row.point for row in rows), key=lambda point: len(texts.of(point)))
    shown = ShownMappings.of(texts, largest, max(LEAST_MAPPING, width - width_of(plain) - GAP))
    mappings = [shown.full(row.point) for row in rows]
    table = _headed()
    table.add_column("mapping", no_wrap=True, min_width=max(len(text) for lines in mappings for text in lines))
    for line, mapping in zip(cells, mappings, strict=True):
        table.add_row_of_lines(*line, last=mapping)
    return table


def _headed() -> NamesTable:
    table = NamesTable()
    for name in ("cores", "makespan", "speed-up"):
        table.add_column(name, justify="right", no_wrap=True)
    return table
