"""Estimates of designs: the engine of each choice of scaled costs and clocks, made once for the last few."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.flows.clocks import clocked_setting
from dse.flows.setting import Setting
from dse.model.critical_path import Segments
from dse.model.estimate import Estimate
from dse.model.steps import FiringSteps
from dse.studio.design import Design, scaled_weights

KEPT = 4
"""So many engines are kept: each holds the trace and its tables."""
_Key: TypeAlias = tuple[tuple[tuple[tuple[int, int], Fraction], ...], tuple[tuple[str, Fraction], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What the estimates of designs with equal costs and clocks rest on."""

    setting: Setting
    engine: Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """An estimate with its firing times, the steps of all firings and the critical path, where they are known."""

    estimate: Estimate
    steps: tuple[FiringSteps, ...] | None = None
    path: Segments | None = None


class Estimation:
    """Estimates designs of one setting. For one thread; ``stop`` may be called from any."""

    def __init__(self, setting: Setting, engine: str) -> None:
        self._setting = setting
        self._name = engine
        self._known: OrderedDict[_Key, Basis] = OrderedDict()
        self._running: Engine | None = None

    @property
    def setting(self) -> Setting:
        """What the costs are without any change."""
        return self._setting

    def basis(self, design: Design) -> Basis:
        """Return setting and engine for a design. Raises ``FormatError`` where its costs are too large."""
        key = (tuple(design.scales.items()), design.clocks)
        found = self._known.get(key)
        if found is None:
            setting = changed_setting(self._setting, design)
            found = Basis(setting=setting, engine=make_engine(self._name, setting.tables))
        self._known[key] = found
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return found

    def estimate(self, design: Design, *, firing_times: bool = True) -> Estimate:
        """Return the estimate of a design. Raises: as ``Engine.estimate``, and ``EstimateStopped`` after ``stop``."""
        engine = self.basis(design).engine
        self._running = engine
        try:
            return engine.estimate(design.point, firing_times=firing_times)
        finally:
            self._running = None

    def timed(self, design: Design) -> Timed:
        """Return the estimate of a design with all that its timeline shows. Raises: as ``estimate``.

        The reference engine records no steps: without them there is no critical path.
        """
        if self._name != "compiled":
            return Timed(estimate=self.estimate(design))
        from dse.analyse.critical_path import path_of_record  # late: it loads numba, and compiles where it has to
        from dse.analyse.steps import steps_of_record
        from dse.estimate.compiled.engine import CompiledEngine

        engine = self.basis(design).engine
        assert isinstance(engine, CompiledEngine), "the registry knows it by this name"
        self._running = engine
        try:
            estimate, record = engine.record(design.point)
        finally:
            self._running = None
        return Timed(estimate=estimate, steps=steps_of_record(record), path=path_of_record(record).segments)

    def stop(self) -> None:
        """End the estimate that is under way."""
        engine = self._running
        if engine is not None:
            engine.stop()


def changed_setting(setting: Setting, design: Design) -> Setting:
    """Return a setting with the scaled costs and the clocks of a design."""
    if design.scales:
        weights = scaled_weights(setting.problem.weights, setting.trace.topology, design.scales)
        problem = replace(setting.problem, weights=weights)
        note = f"the costs of {len(design.scales)} actions as they were scaled on the page"
        setting = replace(setting, problem=problem, assumed=(*setting.assumed, note))
        if not design.clocks:
            return replace(setting, tables=build_tables(problem))
    return clocked_setting(setting, design.clocks)


def feasibility(setting: Setting) -> Callable[[Design], None]:
    """Return the check of a design: it raises ``FormatError`` or ``InfeasibleDesign`` where the design can never run.

    Clocks and scaled costs change nothing in that.
    """

    def check(design: Design) -> None:
        plain = tuple(replace(partition, clock_mhz=None) for partition in design.point.partitions)
        prepare(setting.tables, replace(design.point, partitions=plain))

    return check
