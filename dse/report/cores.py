"""What more cores give: the best mapping that was found for each number of them, and whether several pay."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit
from dse.model.platform import Platform
from dse.model.study import Evaluation, Study
from dse.report.mapping_table import WIDTH, MappingRow, mapping_table
from dse.report.quantities import time_text

_HEADS = ("cores", "makespan", "speed-up")
HARDLY = 1.05
"""A speed-up below this is hardly one: estimates are further from measured times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoresRow:
    """The best mapping that was found on so many CPU cores and GPUs, with its makespan in ticks.

    ``speedup``: over one core, None: unknown.
    """

    cores: int
    gpus: int
    makespan: int
    tick_unit: TickUnit
    speedup: float | None
    point: DesignPoint

    def __repr__(self) -> str:
        over = "" if self.speedup is None else f", {self.speedup:.2f}x"
        return f"<CoresRow {self.label}: {time_text(self.makespan, self.tick_unit)}{over}>"

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


def cores_title(study: Study) -> str:
    """Return what the table is called: a search for the best of all leaves out others, on any number of cores."""
    title = "the best that was found for each number of cores"
    proven = study.complete and not study.pruned and not study.cut
    return title if proven else f"{title} (--partitions N-N searches one number)"


def cores_json(rows: Sequence[CoresRow], texts: MappingTexts) -> list[dict[str, object]]:
    """Return the rows as JSON, makespans in ticks of ``unit``."""
    return [
        {
            "cores": row.cores,
            "gpus": row.gpus,
            "makespan": row.makespan,
            "unit": row.tick_unit,
            "speedup": row.speedup,
            "mapping": texts.of(row.point),
            "digest": row.point.digest(),
        }
        for row in rows
    ]


def cores_table(rows: Sequence[CoresRow], texts: MappingTexts, width: int = WIDTH) -> Table:
    """Return the best for each number of cores as a table of ``width`` columns; there is at least one."""
    listed = [
        MappingRow(
            cells=(
                row.label,
                time_text(row.makespan, row.tick_unit),
                "" if row.speedup is None else f"{row.speedup:.2f}x",
            ),
            point=row.point,
        )
        for row in rows
    ]
    return mapping_table(_HEADS, listed, texts, width=width, whole="ranking.json", differences=False)[0]
