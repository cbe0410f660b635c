"""The views of the first mappings of a ranking, which a page shows: each is estimated once more, with all times."""

from collections.abc import Sequence

from dse.estimate.engine import Engine
from dse.flows.setting import Setting
from dse.model.estimate import Estimate
from dse.model.study import Study
from dse.report.page.document import mapping_view
from dse.report.ranking import RankedRow
from dse.report.why import reason_lines, reasons_of

MOST_FIRINGS = 20_000_000
"""Estimating the mappings of a page simulates no more firings than this in all; the best one is there always."""


def page_views(
    setting: Setting, study: Study, rows: Sequence[RankedRow], engine: Engine, best: Estimate
) -> tuple[dict[str, object], ...]:
    """Return the views of the first ``rows``; ``best``: the estimate of the first of them, with its firing times."""
    count = max(1, min(len(rows), MOST_FIRINGS // max(1, setting.trace.n_firings)))
    views = list[dict[str, object]]()
    for row in rows[:count]:
        estimate = best if row.rank == 1 else engine.estimate(row.point, firing_times=True)
        reasons = reasons_of(setting.trace.topology, row.point, estimate, study.lower_bounds)
        views.append(
            mapping_view(
                setting.trace,
                row.point,
                estimate,
                label=f"#{row.rank}",
                mapping=row.mapping,
                lines=reason_lines(reasons, estimate),
            )
        )
    return tuple(views)
