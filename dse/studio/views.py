"""The view of a design: estimated, drawn up for the page, and compared with the design before. For one thread."""

import time
from collections import OrderedDict
from dataclasses import dataclass

from dse.base.errors import DseError
from dse.flows.estimate import mapping_estimate
from dse.formats.mapping_text import mapping_text
from dse.model.estimate import Estimate
from dse.report.page.document import mapping_view
from dse.report.page.timeline import Detail
from dse.report.why import reason_lines
from dse.studio import answers
from dse.studio.comparison import Summary, comparison_json, summary_of
from dse.studio.design import Design
from dse.studio.estimation import Estimation, Timed

DETAIL = Detail(all_firings=200_000, packed=False)
KEPT = 64
"""So many summaries of designs are kept to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A design to be shown, and the one that it is compared with, if any; ``pinned``: whether that was pinned."""

    revision: int
    design: Design
    compared: Design | None
    pinned: bool


class Views:
    """Makes the answer ``estimate`` of designs."""

    def __init__(self, estimation: Estimation) -> None:
        self._estimation = estimation
        self._known: OrderedDict[str, Summary] = OrderedDict()

    def answer(self, asked: Asked) -> dict[str, object]:
        """Return the answer for a design. Raises ``EstimateStopped`` where nobody waits for it any more."""
        started = time.perf_counter()
        head = {"type": "estimate", "revision": asked.revision}
        try:
            timed = self._estimation.timed(asked.design)
            view = view_of(self._estimation, asked.design, timed, "the design", DETAIL)
            change = self._change(asked, timed.estimate)
        except DseError as error:
            return {**head, "error": answers.error(error)}
        return {**head, "view": view, "change": change, "seconds": round(time.perf_counter() - started, 4)}

    def _change(self, asked: Asked, estimate: Estimate) -> dict[str, object] | None:
        now = self._note(asked.design, summary_of(estimate))
        if asked.compared is None:
            return None
        before = self._summary(asked.compared)
        topology = self._estimation.setting.trace.topology
        return {"pinned": asked.pinned, **comparison_json(topology, before, now)}

    def _summary(self, design: Design) -> Summary:
        known = self._known.get(_key(design))
        if known is None:
            known = summary_of(self._estimation.estimate(design, firing_times=False))
        return self._note(design, known)

    def _note(self, design: Design, summary: Summary) -> Summary:
        key = _key(design)
        self._known[key] = summary
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return summary


def design_view(estimation: Estimation, design: Design, label: str, detail: Detail) -> dict[str, object]:
    """Return the view of a design. Raises: as ``Engine.estimate``."""
    return view_of(estimation, design, estimation.timed(design), label, detail)


def view_of(estimation: Estimation, design: Design, timed: Timed, label: str, detail: Detail) -> dict[str, object]:
    """Return the view of a design whose estimate is at hand."""
    setting, estimate = estimation.basis(design).setting, timed.estimate
    found = mapping_estimate(label, design.point, estimate, setting)
    return mapping_view(
        setting.trace,
        design.point,
        estimate,
        label=label,
        mapping=mapping_text(design.point, setting.trace.topology, setting.platform),
        lines=found.deadlock or tuple(reason_lines(found.reasons, estimate)),
        path=timed.path,
        steps=timed.steps,
        detail=detail,
    )


def _key(design: Design) -> str:
    """Return what an estimate of a design depends on."""
    return f"{design.point.digest()} {sorted(design.scales.items())}"
