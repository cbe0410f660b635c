"""What a search leaves in its folder: mapping files of the best, the ranking, the report, the manifest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path

from dse.base.errors import ExecutionError, FormatError, OptionError
from dse.base.escaping import json_text
from dse.base.files import write_whole
from dse.base.numbers import json_count
from dse.base.staging import check_places, put_in_place, staged
from dse.flows.study_options import STUDY_FILE
from dse.formats.mapping_text import MappingTexts
from dse.formats.study_file import point_to_json
from dse.formats.study_place import made_aside
from dse.formats.xcf_write import XcfDialect, write_xcf
from dse.model.design_point import DesignPoint
from dse.model.study import Front, Study
from dse.model.uncertainty import Robust, RobustRow
from dse.report.accounts import NamedAccounts, accounts_json
from dse.report.cores import best_by_cores, cores_json
from dse.report.front import values_json
from dse.report.html import ReportInputs, report_page
from dse.report.measured import Measurements, measured_json
from dse.report.other_setting import other_json, screening_json
from dse.report.ranking import RankedRow, row_json
from dse.report.robust import drawn_json, robust_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The files that were written, and the rows of the ranking that they show."""

    folder: Path
    mappings: tuple[Path, ...]
    ranking: Path
    report: Path
    manifest: Path
    study: Path
    rows: tuple[RankedRow, ...]
    texts: MappingTexts


RANKING = "ranking.json"
"""The file in which the ranking of a search is, beside its study."""
_RESULT = re.compile(r"(best|pareto)-[0-9]{2,}\.xcf|ranking\.json|report\.html|manifest\.json")


def deliver(
    inputs: ReportInputs, *, out: Path, best: int, described: str | None, dialect: XcfDialect = "exelixi"
) -> Delivery:
    """Write everything into ``out`` and return what was written; ``dialect``: of the mapping files.

    ``described``: the text of the study file, None where the one that lies there is to stay.

    All files are written aside, and only then take the place of those of an earlier ranking: ``ranking.json`` goes
    first and comes last, so that whoever finds one finds all files that belong to it, and no others.
    Raises ``ExecutionError`` where they cannot be written.
    """
    study, texts = inputs.study, inputs.texts
    delivery = Delivery(
        folder=out,
        mappings=tuple(out / f"best-{rank:02d}.xcf" for rank in range(1, min(best, len(study.ranking)) + 1)),
        ranking=out / RANKING,
        report=out / "report.html",
        manifest=out / "manifest.json",
        study=out / STUDY_FILE,
        rows=inputs.rows,
        texts=inputs.texts,
    )
    page = report_page(inputs)
    try:
        with staged(out) as stage:
            write_front(study.front, study.network, texts, dialect, stage)
            for path, evaluation in zip(delivery.mappings, study.ranking, strict=False):
                _write_mapping(evaluation.point, study.network, texts, dialect, stage / path.name)
            write_whole(stage / delivery.report.name, page)
            write_whole(stage / delivery.manifest.name, json_text(dict(inputs.manifest)) + "\n")
            if described is not None:
                write_whole(stage / delivery.study.name, described)
            document = json_text(
                ranking_document(study, inputs.rows, inputs.texts, inputs.measured, inputs.accounts, inputs.robust)
            )
            write_whole(stage / delivery.ranking.name, document + "\n")
            _exchange(stage, out, delivery.ranking.name)
    except OSError as cause:
        where = f" '{cause.filename}'" if cause.filename else ""
        raise ExecutionError(
            f"cannot write the results{where}: {cause.strerror or cause}",
            expected="no evaluation is lost: make room and use --resume, or choose another folder with --out",
        ) from cause
    return delivery


def _exchange(stage: Path, out: Path, last: str) -> None:
    """Put the staged files in the place of those of an earlier ranking."""
    names = sorted(path.name for path in stage.iterdir())
    check_places(out, names)
    if (out / last).is_file() and not (out / last).is_symlink():
        (out / last).unlink()
    for stale in results_in(out):
        if stale.name not in names:
            stale.unlink()
    for name in names:
        if name != last:
            put_in_place(stage, out, name)
    put_in_place(stage, out, last)


def results_in(out: Path) -> list[Path]:
    """Return the files in a folder that a delivery wrote, or that one would replace."""
    return sorted(path for path in out.iterdir() if _RESULT.fullmatch(path.name) and not path.is_dir())


def set_results_aside(out: Path, study: Path | None) -> Path | None:
    """Move the results of an earlier search to the folder ``results-previous``, or ``-2`` and so on.

    They would else stand beside the study of another search until that is over. ``study``: what theirs is called now.
    Returns the folder, or None where there are no results. Raises ``OptionError`` where they cannot be moved.
    """
    try:
        results = results_in(out)
        if not results:
            return None
        folder = made_aside(out, "results-previous", study)
        for path in results:
            path.rename(folder / path.name)
    except OSError as cause:
        raise OptionError(
            f"cannot move earlier results in '{out}' aside: {cause.strerror or cause}",
            expected="choose another folder with --out",
        ) from cause
    return folder


def ranking_document(
    study: Study,
    rows: Sequence[RankedRow],
    texts: MappingTexts,
    measured: Measurements | None = None,
    accounts: Sequence[NamedAccounts] = (),
    robust: Robust | None = None,
) -> dict[str, object]:
    """Return the JSON of a study: the same for the same inputs and seed, on every machine and at every time.

    Only what was ``measured`` differs from time to time. ``accounts``: of the first rows, of none where it is empty.
    """
    listed = _listed(study, rows, texts, accounts, () if robust is None else robust.rows)
    front = {} if study.front is None else front_json(study.front, texts)
    one_core = None if measured is None else measured.one_core
    return {
        "network": study.network,
        "best": listed[0] if listed else None,
        "ranking": listed,
        "lower_bound": study.lower_bounds[0].makespan,
        "lower_bound_reason": study.lower_bounds[0].reason,
        "unit": None if not study.ranking else study.ranking[0].tick_unit,
        "best_by_cores": cores_json(best_by_cores(study, texts.platform), texts),
        "one_core_makespan": None if study.baseline is None or study.baseline.deadlock else study.baseline.makespan,
        **({} if one_core is None else {"one_core_measured": measured_json(one_core)}),
        "evaluations": study.evaluations,
        "excluded_by_bound": json_count(study.pruned),
        "cut_while_running": study.cut,
        "deadlocks": study.deadlocks,
        "space": json_count(study.space_size),
        "symmetric_skipped": json_count(study.symmetric),
        "identical_actors_skipped": json_count(study.symmetric_actors),
        "complete": study.complete,
        "stop": study.stop,
        "method": study.method,
        "seed": study.seed,
        "assumed": list(study.assumed),
        **other_json(study.other),
        **screening_json(study.screening),
        **({} if robust is None else {"robust": robust_json(robust)}),
        **front,
    }


def _listed(
    study: Study,
    rows: Sequence[RankedRow],
    texts: MappingTexts,
    accounts: Sequence[NamedAccounts],
    drawn: Sequence[RobustRow],
) -> list[dict[str, object]]:
    """Return the JSON of the rows; the first ones have accounts, and what draws say of them."""
    told = [chain(map(accounts_json, accounts), repeat({})), chain(map(drawn_json, drawn), repeat({}))]
    return [
        {**row_json(row), "design_point": point_to_json(evaluation.point, texts.topology), **times, **draws}
        for row, evaluation, times, draws in zip(rows, study.ranking, *told, strict=False)
    ]


FRONT_FILES = 50
"""At most so many points of a front get a mapping file."""


def write_front(front: Front | None, network: str, texts: MappingTexts, dialect: XcfDialect, out: Path) -> None:
    """Write ``pareto-NN.xcf`` for the points of a front in its order."""
    for number, point in enumerate(() if front is None else front.points[:FRONT_FILES], start=1):
        path = out / f"pareto-{number:02d}.xcf"
        _write_mapping(point.evaluation.point, network, texts, dialect, path)


def _write_mapping(point: DesignPoint, network: str, texts: MappingTexts, dialect: XcfDialect, path: Path) -> None:
    """Write a mapping file. Raises ``OSError`` where the system does not let it be written."""
    try:
        named = replace(point, name=f"{network} {path.stem}")
        write_xcf(named, texts.topology, str(path), platform=texts.platform, dialect=dialect)
    except FormatError as error:
        if isinstance(error.__cause__, OSError):  # what is wrong with a file that has not got its name yet
            raise error.__cause__ from None
        raise


def front_json(front: Front, texts: MappingTexts) -> dict[str, object]:
    """Return the keys that a front adds to the ranking document."""
    return {
        "objectives": [
            {"name": axis.name, "unit": axis.unit, "maximise": axis.maximise, "limit": limit}
            for axis, limit in zip(front.axes, front.limits or (None,) * len(front.axes), strict=True)
        ],
        "pareto": [
            {
                "values": values_json(front, point.values),
                "evaluation": point.evaluation.ordinal,
                "mapping": texts.of(point.evaluation.point),
                "digest": point.evaluation.digest,
                "design_point": point_to_json(point.evaluation.point, texts.topology),
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
