"""Clocks that a user chooses or lets a search choose: from the text of ``--clocks`` to units of a platform.

``UNIT=MHZ[,MHZ]``. A unit may be named by itself; a kind (``cpu``, ``gpu``) that no unit is called stands for all units
of that kind, each with a clock of its own; ``a+b`` are units that have one clock in common.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import get_args

from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.estimate.problem.build import build_tables
from dse.explore.space.clocks import ClockDomain
from dse.flows.gpu_scaling import scaled
from dse.flows.options import ClockRequest, ScalingFiles
from dse.flows.setting import Setting
from dse.formats.decimals import format_decimal
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.weights import UnitKind, WeightTable


def clock_domains(requests: Sequence[ClockRequest], platform: Platform) -> tuple[ClockDomain, ...]:
    """Return the domains of some requests. Raises ``OptionError`` where they do not fit the platform."""
    domains = [domain for request in requests for domain in _domains(request, platform)]
    _check_once([name for domain in domains for name in domain.units])
    for domain in domains:
        for clock in domain.clocks_mhz:
            check_clocks(((name, clock) for name in domain.units), platform)
    return tuple(domains)


def _check_once(units: Sequence[str]) -> None:
    """Raise ``OptionError`` where a unit is named twice."""
    twice = next((name for name in units if units.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"the clocks of unit '{twice}' are given twice", expected="name each unit in one --clocks")


def _domains(request: ClockRequest, platform: Platform) -> list[ClockDomain]:
    """Return the domains of one request: of a kind each unit is one by itself, units that are joined are one."""
    units = [_named(name, platform) for name in request.names]
    if len(units) == 1:
        return [ClockDomain(units=(unit.name,), clocks_mhz=request.clocks_mhz) for unit in units[0]]
    together = tuple(dict.fromkeys(unit.name for some in units for unit in some))
    return [ClockDomain(units=together, clocks_mhz=request.clocks_mhz)]


def clocks_of_domains(domains: Iterable[ClockDomain]) -> tuple[tuple[str, Fraction], ...]:
    """Return (unit, MHz) of every clock of some domains."""
    return tuple((unit, clock) for domain in domains for unit in domain.units for clock in domain.clocks_mhz)


def _named(name: str, platform: Platform) -> list[Unit]:
    """Return the unit called ``name``, else all units of that kind."""
    unit = platform.unit(name)
    found = [unit] if unit is not None else [u for u in platform.units if u.kind == name]
    if not found:
        known = tuple(dict.fromkeys((*(u.name for u in platform.units), *(u.kind for u in platform.units))))
        what = "unit of kind" if name in get_args(UnitKind) else "unit or kind"
        raise OptionError(f"platform '{platform.name}' has no {what} '{name}'", expected=nearest_names(name, known))
    return found


def check_clocks(clocks: Iterable[tuple[str, Fraction]], platform: Platform) -> None:
    """Raise ``OptionError`` where a unit has no clock that could be changed, or cannot have one of these clocks."""
    for name, clock in clocks:
        unit = platform.unit(name)
        if unit is None or unit.clock_mhz is None:
            raise OptionError(
                f"unit '{name}' of platform '{platform.name}' has no clock to change",
                expected="add `clock_mhz` to the unit: the clock that its `power_watt` is for",
            )
        span = None if unit.scaling is None else unit.scaling.range_mhz
        if span is not None and not span[0] <= clock <= span[1]:
            least, most = map(format_decimal, span)
            raise OptionError(
                f"unit '{name}' of platform '{platform.name}' does not run at {format_decimal(clock)} MHz",
                expected=f"its `clock_range_mhz` is {least} to {most}",
            )


def clocked_setting(
    setting: Setting,
    clocks: Iterable[tuple[str, Fraction]],
    *,
    used: Collection[str] | None = None,
    scaling: ScalingFiles | None = None,
) -> Setting:
    """Return the setting with costs for more clocks of units; the same where there are none.

    ``used``: the units that are looked at, None for all. ``scaling``: how costs of the GPU follow its clock.

    Raises:
        OptionError: the weights have no clock, or as ``gpu_scaling``.
    """
    pairs = tuple(dict.fromkeys(clocks))
    chosen = {unit for unit, _ in pairs}
    left = [u for u in setting.platform.units if u.name not in chosen and (used is None or u.name in used)]
    setting = replace(setting, assumed=(*setting.assumed, *_not_told_apart(setting, left)))
    if not pairs and scaling is None:
        return setting
    if setting.tables.tick_unit != "ps":
        raise OptionError(
            "no clock can be chosen: the weights are cycles without a clock",
            expected="give weights with a frequency; nominal ones have one where every unit has a `clock_mhz`",
        )
    problem = scaled(replace(setting.problem, clocks=pairs), pairs, scaling)
    notes = ["a chosen clock changes the times of computing and scheduling, not of transfers", *_of_gpus(problem)]
    return replace(setting, problem=problem, tables=build_tables(problem), assumed=(*setting.assumed, *notes))


def _of_gpus(problem: Problem) -> list[str]:
    """Return in words how the costs of GPUs follow chosen clocks, nothing where none is chosen."""
    if problem.scaling is not None:
        return [f"GPU times and power at other clocks by the scaling model of {problem.scaling.name}"]
    gpus = [unit.name for unit in problem.platform.units if unit.kind == "gpu"]
    if not any(name in gpus for name, _ in problem.clocks):
        return []
    return ["GPU cycles are the same at every clock (no --scaling model)"]


def _not_told_apart(setting: Setting, units: Sequence[Unit]) -> list[str]:
    """Return in words which of some units have a clock that weights, which are for a kind of unit, do not know."""
    notes = []
    for kind in get_args(UnitKind):
        clocks = {unit.clock_mhz for unit in setting.platform.units if unit.kind == kind}
        others = _of_another_clock(setting.problem.weights, kind, units)
        if len(clocks) > 1 and others:
            names = ", ".join(f"{name} {format_decimal(clock)} MHz" for name, clock in others)
            notes.append(f"the clock of the {kind} weights for units with another one ({names}; see --clocks)")
    return notes


def _of_another_clock(weights: WeightTable, kind: UnitKind, units: Sequence[Unit]) -> list[tuple[str, Fraction]]:
    """Return name and clock of the units of a kind whose clock is not the one of its weights."""
    of_weights = {cost.frequency_mhz for key, cost in weights.compute.items() if key[2] == kind}
    clocked = [(unit.name, unit.clock_mhz) for unit in units if unit.kind == kind]
    return [(name, clock) for name, clock in clocked if clock is not None and {clock} != of_weights]


def clocks_of_points(points: Iterable[DesignPoint], platform: Platform) -> tuple[tuple[str, Fraction], ...]:
    """Return (unit, MHz) of all clocks chosen in some points. Raises ``OptionError`` as ``check_clocks``."""
    pairs = ((p.unit, p.clock_mhz) for point in points for p in point.partitions)
    chosen = tuple(dict.fromkeys((unit, clock) for unit, clock in pairs if clock is not None))
    check_clocks(chosen, platform)
    return chosen


def fixed_clocks(domains: Sequence[ClockDomain]) -> dict[str, Fraction]:
    """Return the clock of each unit where every domain has one. Raises ``OptionError`` where one has several."""
    for domain in domains:
        if len(domain.clocks_mhz) > 1:
            raise OptionError(
                f"unit '{domain.units[0]}' is given {len(domain.clocks_mhz)} clocks, one can be estimated",
                expected="name one; `dse explore --clocks` chooses among several",
            )
    return {unit: domain.clocks_mhz[0] for domain in domains for unit in domain.units}


def domains_text(domains: Sequence[ClockDomain]) -> str:
    """Return domains as ``--clocks`` would say them, in a fixed order."""
    return " ".join(f"{'+'.join(d.units)}={','.join(map(format_decimal, d.clocks_mhz))}" for d in domains)
