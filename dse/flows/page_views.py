"""The views of the first mappings of a ranking, which a page shows: each is estimated once more, with all times."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.estimate.engine import Engine
from dse.flows.setting import Setting
from dse.model.critical_path import CriticalPath
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.steps import FiringSteps
from dse.model.study import Study
from dse.report.page.document import mapping_view
from dse.report.ranking import RankedRow
from dse.report.why import reason_lines, reasons_of

MOST_FIRINGS = 20_000_000
"""Estimating the mappings of a page simulates no more firings than this in all; the best one is there always."""
RECORDED_FIRINGS = 2_000_000
"""Of longer runs no steps are recorded, for their memory, and there is no critical path in the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What one run of a mapping gave; steps and path where they could be recorded."""

    estimate: Estimate
    steps: tuple[FiringSteps, ...] | None = None
    path: CriticalPath | None = None


def page_views(
    setting: Setting, study: Study, rows: Sequence[RankedRow], engine: Engine, best: Estimate
) -> tuple[dict[str, object], ...]:
    """Return the views of the first ``rows``; ``best``: the estimate of the first of them, with its firing times."""
    firings = max(1, setting.trace.n_firings)
    views = list[dict[str, object]]()
    for row in rows[: max(1, min(len(rows), MOST_FIRINGS // firings))]:
        run = _recorded(engine, row.point) if firings <= RECORDED_FIRINGS else None
        if run is None:
            run = _Run(estimate=best if row.rank == 1 else engine.estimate(row.point, firing_times=True))
        reasons = reasons_of(setting.trace.topology, row.point, run.estimate, study.lower_bounds)
        views.append(
            mapping_view(
                setting.trace,
                row.point,
                run.estimate,
                label=f"#{row.rank}",
                mapping=row.mapping,
                lines=reason_lines(reasons, run.estimate),
                path=None if run.path is None else run.path.segments,
                steps=run.steps,
            )
        )
    return tuple(views)


def _recorded(engine: Engine, point: DesignPoint) -> _Run | None:
    """Return a run with its steps and critical path; None where the engine records none."""
    if engine.name != "compiled":
        return None
    from dse.analyse.critical_path import path_of_record  # late: they load numba
    from dse.analyse.steps import steps_of_record
    from dse.estimate.compiled.engine import CompiledEngine

    assert isinstance(engine, CompiledEngine), "it is called so"
    estimate, record = engine.record(point)
    return _Run(estimate=estimate, steps=steps_of_record(record), path=path_of_record(record))
