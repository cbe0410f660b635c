"""Running the best mappings of a search on this machine, to set measured times beside the estimates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.flows.bench import BenchSettings
from dse.flows.build import device_build
from dse.flows.measure import EMULATED_TIMES, refuse_other_origin
from dse.flows.measure_points import MeasureSettings, cannot_run, measure_points
from dse.flows.measured import IMPOSSIBLE, run_of, why_not
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.setting import Setting
from dse.measure.machine import cpu_model
from dse.model.design_point import DesignPoint
from dse.model.measurement import MeasuredPoint
from dse.model.platform import Platform
from dse.model.study import Study
from dse.report.measured import Measurements

_ROUNDS = 15
_SECONDS = 60.0
"""Mappings are run so often, unless it takes longer than this."""
MEASURE_ON_TOP = f"--measure runs mappings for up to about {_SECONDS:.0f} s"
"""What a search with a budget in seconds says before it begins."""
_LOOKED_AT = 50
"""Among so many of the best, at least, those are looked for that this machine can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBest:
    """What running the best mappings gave; ``found`` None: nothing was run. ``notes``: in words, what was missing."""

    found: Measurements | None
    notes: tuple[str, ...] = ()


def run_best(options: ExploreOptions, setting: Setting, study: Study, stage: Callable[[str], None]) -> RunBest:
    """Run the best mappings of a study, and the one on one core, on this machine, as ``options`` ask for."""
    if options.measure is None:
        return RunBest(found=None)
    gpu = options.cuda is not None
    listed = _to_run(study, setting.platform, options.measure, gpu=gpu)
    one = None if study.baseline is None or study.baseline.deadlock else study.baseline.point
    wanted = listed if one is None else [*listed, (one, _unable(one, setting.platform, gpu=gpu))]
    try:
        found = _times(options, setting, wanted, stage)
    except IMPOSSIBLE as error:
        return RunBest(found=None, notes=(why_not(error),))
    ranked = tuple((point.digest(), found[point.digest()]) for point, _ in listed)
    measurements = Measurements(ranked=ranked, one_core=None if one is None else found[one.digest()])
    emulated = options.cuda is not None and options.cuda.emulated
    return RunBest(found=measurements, notes=(EMULATED_TIMES,) if emulated else ())


_Listed: TypeAlias = tuple[DesignPoint, str]
"""A mapping, and why it cannot run here, empty where it can."""


def _to_run(study: Study, platform: Platform, count: int, *, gpu: bool) -> list[_Listed]:
    """Return the best mappings until ``count`` of them can run here."""
    listed = list[_Listed]()
    for evaluation in study.ranking[: max(count, _LOOKED_AT)]:
        listed.append((evaluation.point, _unable(evaluation.point, platform, gpu=gpu)))
        count -= not listed[-1][1]
        if not count:
            break
    return listed


def _unable(point: DesignPoint, platform: Platform, *, gpu: bool) -> str:
    """Return in words why this machine cannot run a mapping; empty where it can. ``gpu``: it has one that is used."""
    if any(partition.clock_mhz is not None for partition in point.partitions):
        return "its clocks cannot be set here"
    return cannot_run(point, platform, len(usable_cores()), gpu=gpu)


def _times(
    options: ExploreOptions, setting: Setting, wanted: Sequence[_Listed], stage: Callable[[str], None]
) -> dict[str, MeasuredPoint]:
    """Return what running mappings gave, or why they were not run, by digest. Raises what ``IMPOSSIBLE`` holds."""
    if setting.network is None:
        raise OptionError("a trace cannot be run", expected="name its network")
    problem = options.problem
    if not _is_here(problem, setting.platform):
        raise OptionError(f"the platform '{setting.platform.name}' is not this machine")
    refuse_other_origin(setting.problem.weights, options.cuda)
    skipped = {point.digest(): MeasuredPoint(skipped=why) for point, why in wanted if why}
    points = {point.digest(): point for point, why in wanted if not why}
    device = None if options.cuda is None else device_build(options.cuda)[0]
    run = run_of(setting.trace, setting.input, problem)
    settings = MeasureSettings(rounds=_ROUNDS, seconds=_SECONDS, bench=BenchSettings(device=device))
    times = measure_points(setting.network, setting.platform, tuple(points.values()), run, settings, stage)
    return skipped | dict(zip(points, times, strict=True))


def _is_here(problem: ProblemOptions, platform: Platform) -> bool:
    """Return whether a platform may stand for this machine: none was named, or the one of this machine."""
    return problem.platform is None or any(unit.source.startswith(f"{cpu_model()}, ") for unit in platform.units)
