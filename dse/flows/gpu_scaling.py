"""``--scaling MODEL --counters FILE``: how costs and power of the GPU follow its clock in a search, by a trained model.

The rows of the counters are called ``ACTOR.ACTION``. Clocks are those of the core; memory clock and compute units stay
as at the base of the model.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.digests import file_digest, text_digest
from dse.base.errors import OptionError
from dse.flows.options import ScalingFiles
from dse.flows.scaling import at_configuration
from dse.formats.device_yaml import load_device, plain_name
from dse.formats.scaling_model import read_scaling_model
from dse.formats.scaling_sets import KernelCounters, read_counters
from dse.gpu.scaling.classify import power_surface, time_surface
from dse.model.platform import Platform, Unit
from dse.model.problem import GpuAt, GpuScaling, Problem
from dse.model.scaling import Reals, ScalingModel

_EXACT = 10**9
"""Ratios are fractions with denominators up to this: costs stay exact."""
_LISTED = 8
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Action:
    """An action of the GPU: the clock of its weight, its surfaces over the base, its power at the base."""

    mhz: Fraction
    time: Reals
    power: Reals | None
    base_watt: float | None


def gpu_scaling(problem: Problem, clocks: Iterable[tuple[str, Fraction]], files: ScalingFiles) -> GpuScaling:
    """Return how the GPU of a problem follows some of (unit, MHz).

    Raises:
        FormatError: a file is wrong.
        OptionError: no clock of a GPU is chosen, the model is of another card, was not trained at a clock, or the
            counters of an action are missing.
    """
    model = read_scaling_model(files.model)
    gpus = {unit.name: unit for unit in problem.platform.units if unit.kind == "gpu"}
    chosen = tuple(dict.fromkeys(clock for name, clock in clocks if name in gpus))
    if not chosen:
        raise OptionError(
            "--scaling says how a GPU follows its clock, and none is chosen", expected="--clocks gpu=MHZ,MHZ"
        )
    _check_card(problem.platform, model)
    actions = _actions(problem, model, read_counters(files.counters, model.counter_names, model.base))
    unit = next(iter(gpus.values()))
    at = {clock: _at(model, actions, clock, unit) for clock in (None, *chosen)}
    digest = text_digest(f"{file_digest(files.model)} {file_digest(files.counters)}")
    return GpuScaling(name=f"{model.card}, {model.source}", digest=digest, at=at)


def scaled(problem: Problem, clocks: Iterable[tuple[str, Fraction]], files: ScalingFiles | None) -> Problem:
    """Return the problem with the scaling of some files; the same where none are given."""
    return problem if files is None else replace(problem, scaling=gpu_scaling(problem, clocks, files))


def _check_card(platform: Platform, model: ScalingModel) -> None:
    """Raise ``OptionError`` where a GPU is not the card that the model was trained on."""
    for unit in platform.units:
        if unit.kind != "gpu":
            continue
        name = None if unit.device is None else load_device(unit.device).name
        if name is None or plain_name(name) != plain_name(model.card):
            has = "names no device" if name is None else f"is of device '{name}'"
            raise OptionError(
                f"the scaling model is of card '{model.card}', and unit '{unit.name}' {has}",
                expected="train a model on that card, or give the unit the `device` that was measured",
            )


def _actions(problem: Problem, model: ScalingModel, kernels: tuple[KernelCounters, ...]) -> dict[_Key, _Action]:
    """Return the actions that fire and may run on a GPU. Raises ``OptionError`` for counters that are missing."""
    by_name, found, missing = {kernel.name: kernel for kernel in kernels}, dict[_Key, _Action](), list[str]()
    for key, mhz in _weighed(problem):
        kernel = by_name.get(f"{key[0]}.{key[1]}")
        if kernel is None:
            missing.append(f"{key[0]}.{key[1]}")
            continue
        found[key] = _Action(
            mhz=mhz,
            time=time_surface(model, kernel.counters),
            power=power_surface(model, kernel.counters),
            base_watt=kernel.power_watt,
        )
    if missing:
        more = ", ..." if len(missing) > _LISTED else ""
        raise OptionError(
            f"the counters of {len(missing)} actions of the GPU are missing: {', '.join(missing[:_LISTED])}{more}",
            expected=f"a row for each in the file of --counters, measured at {model.base}",
        )
    return found


def _weighed(problem: Problem) -> Iterable[tuple[_Key, Fraction]]:
    """Yield the actions that may run on the GPU and have weights there, with the clock of those."""
    for actor, firings in zip(problem.trace.topology.actors, problem.trace.firings, strict=True):
        if not problem.platform.may_use_gpu(actor.name) or not len(firings):
            continue
        for action in actor.actions:
            key = (actor.name, action.name, "gpu")
            cost = problem.weights.simd.get(key) or problem.weights.compute.get(key)  # type: ignore[arg-type]
            if cost is not None and cost.frequency_mhz is not None:
                yield (actor.name, action.name), cost.frequency_mhz


def _at(model: ScalingModel, actions: dict[_Key, _Action], clock: Fraction | None, unit: Unit) -> GpuAt:
    times, watts = {}, {}
    for key, action in actions.items():
        start = at_configuration(model, replace(model.base, core_mhz=action.mhz))
        end = start if clock is None else at_configuration(model, replace(model.base, core_mhz=clock))
        times[key] = _exact(float(action.time[end] / action.time[start]))
        if action.power is not None:
            watts[key] = _watt(action, float(action.power[end]), float(action.power[start]), unit)
    known = {key: watt for key, watt in watts.items() if watt is not None}
    return GpuAt(times=times, watts=known if len(known) == len(actions) else None)


def _watt(action: _Action, end: float, start: float, unit: Unit) -> Fraction | None:
    """Return the power during an action: from that at the base, else from that of the unit at the clock of weights."""
    if action.base_watt is not None:
        return _exact(action.base_watt * end)
    return None if unit.power_watt is None else unit.power_watt * _exact(end / start)


def _exact(value: float) -> Fraction:
    return Fraction(value).limit_denominator(_EXACT)
