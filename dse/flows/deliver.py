"""What a search leaves in its folder: mapping files of the best, the ranking, the report, the manifest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.escaping import json_text
from dse.base.files import write_whole
from dse.formats.study_file import point_to_json
from dse.formats.xcf_write import write_xcf
from dse.model.platform import Platform
from dse.model.study import Front, Study
from dse.model.trace import Topology
from dse.report.front import values_json
from dse.report.html import ReportInputs, report_page
from dse.report.ranking import RankedRow, mapping_text, row_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The files that were written, and the rows of the ranking that they show."""

    folder: Path
    mappings: tuple[Path, ...]
    ranking: Path
    report: Path
    manifest: Path
    rows: tuple[RankedRow, ...]


def deliver(inputs: ReportInputs, platform: Platform, *, out: Path, best: int) -> Delivery:
    """Write everything into ``out`` and return what was written. Raises ``OptionError`` where it cannot be."""
    study, topology = inputs.study, inputs.trace.topology
    delivery = Delivery(
        folder=out,
        mappings=tuple(out / f"best-{rank:02d}.xcf" for rank in range(1, min(best, len(study.ranking)) + 1)),
        ranking=out / "ranking.json",
        report=out / "report.html",
        manifest=out / "manifest.json",
        rows=inputs.rows,
    )
    page = report_page(inputs)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for stale in sorted(out.glob("best-*.xcf")):
            stale.unlink()
        write_front(study.front, study.network, topology, platform, out)
        for path, evaluation in zip(delivery.mappings, study.ranking, strict=False):
            write_xcf(
                replace(evaluation.point, name=f"{study.network} {path.stem}"),
                topology,
                str(path),
                platform=platform,
            )
        write_whole(delivery.ranking, json_text(ranking_document(study, inputs.rows, topology)) + "\n")
        write_whole(delivery.report, page)
        write_whole(delivery.manifest, json_text(dict(inputs.manifest)) + "\n")
    except OSError as cause:
        where = f" '{cause.filename}'" if cause.filename else ""
        raise OptionError(
            f"cannot write the results{where}: {cause.strerror or cause}",
            expected="no evaluation is lost: make room and use --resume, or choose another folder with --out",
        ) from cause
    return delivery


def ranking_document(study: Study, rows: Sequence[RankedRow], topology: Topology) -> dict[str, object]:
    """Return the JSON of a study: the same for the same inputs and seed, on every machine and at every time."""
    listed = [
        {**row_json(row), "design_point": point_to_json(evaluation.point, topology)}
        for row, evaluation in zip(rows, study.ranking, strict=False)
    ]
    front = {} if study.front is None else front_json(study.front, topology)
    return {
        "network": study.network,
        "best": listed[0] if listed else None,
        "ranking": listed,
        "lower_bound": study.lower_bounds[0].makespan,
        "lower_bound_reason": study.lower_bounds[0].reason,
        "unit": None if not study.ranking else study.ranking[0].tick_unit,
        "one_core_makespan": None if study.baseline is None or study.baseline.deadlock else study.baseline.makespan,
        "evaluations": study.evaluations,
        "excluded_by_bound": study.pruned,
        "cut_while_running": study.cut,
        "deadlocks": study.deadlocks,
        "space": study.space_size,
        "symmetric_skipped": study.symmetric,
        "identical_actors_skipped": study.symmetric_actors,
        "complete": study.complete,
        "stop": study.stop,
        "method": study.method,
        "seed": study.seed,
        "assumed": list(study.assumed),
        **front,
    }


FRONT_FILES = 50
"""At most so many points of a front get a mapping file."""


def write_front(front: Front | None, network: str, topology: Topology, platform: Platform, out: Path) -> None:
    """Write ``pareto-NN.xcf`` for the points of a front in its order; those of an earlier search go."""
    for stale in sorted(out.glob("pareto-*.xcf")):
        stale.unlink()
    for number, point in enumerate(() if front is None else front.points[:FRONT_FILES], start=1):
        path = out / f"pareto-{number:02d}.xcf"
        named = replace(point.evaluation.point, name=f"{network} {path.stem}")
        write_xcf(named, topology, str(path), platform=platform)


def front_json(front: Front, topology: Topology) -> dict[str, object]:
    """Return the keys that a front adds to the ranking document."""
    return {
        "objectives": [{"name": a.name, "unit": a.unit, "maximise": a.maximise} for a in front.axes],
        "pareto": [
            {
                "values": values_json(front, point.values),
                "evaluation": point.evaluation.ordinal,
                "mapping": mapping_text(point.evaluation.point, topology),
                "digest": point.evaluation.digest,
                "design_point": point_to_json(point.evaluation.point, topology),
            }
            for point in front.points
        ],
        "hypervolume": {
            "share": front.hypervolume,
            "reference": values_json(front, front.reference),
            "ideal": values_json(front, front.ideal),
            "over_evaluations": [list(entry) for entry in front.history],
        },
    }
