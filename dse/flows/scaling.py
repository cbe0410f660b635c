"""``dse gpu scaling`` as functions: train a model, predict kernels with it, judge how good such models are."""

from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.formats.scaling_model import read_scaling_model
from dse.formats.scaling_sets import KernelCounters, read_counters, read_scaling_set
from dse.gpu.scaling.classify import cluster_of, power_surface, time_surface
from dse.gpu.scaling.judge import Judged, judge
from dse.gpu.scaling.train import TrainOptions, train
from dse.model.scaling import Configuration, Reals, ScalingModel, ScalingSet


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOptions:
    """A training set: its files, the base configuration, and what makes a model of it."""

    files: tuple[str, ...]
    base: Configuration
    options: TrainOptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictedScaling:
    """A kernel at all configurations, over its value at the base. ``power``: None where the model knows none."""

    kernel: KernelCounters
    time: Reals
    power: Reals | None
    clusters: tuple[int, ...]
    """Of time: one for each number of compute units, then the one over them where they vary."""


def train_model(options: SetOptions, card: str) -> tuple[ScalingModel, ScalingSet]:
    """Return a model of a training set, and the set.

    Raises:
        FormatError, OptionError: a file is wrong, has no counters or too few kernels, or scikit-learn is missing.
    """
    given = read_scaling_set(options.files, options.base)
    _check_kernels(given, options.options)
    if given.counters is None:
        raise OptionError(
            "the set has no counters, so nothing could choose a cluster for a new kernel",
            expected="add a column for each counter; `dse gpu scaling judge` tells what the best cluster would give",
        )
    source = ", ".join(Path(path).name for path in options.files)
    return train(given, options.options, card, f"{len(given.kernels)} kernels of {source}"), given


def judge_set(options: SetOptions) -> tuple[tuple[Judged, ...], ScalingSet]:
    """Return each kernel of a set by models of all others, for time and power, and the set. Raises as above."""
    given = read_scaling_set(options.files, options.base)
    _check_kernels(given, options.options)
    return judge(given, options.options), given


def _check_kernels(given: ScalingSet, options: TrainOptions) -> None:
    """Raise ``OptionError`` where there are too few kernels, or configurations."""
    least = max(3, (options.clusters or 0) + 1)
    if len(given.kernels) < least:
        raise OptionError(
            f"the set has {len(given.kernels)} kernels, and at least {least} are needed", expected="measure more"
        )
    if given.grid.shape.count(1) == len(given.grid.shape):
        raise OptionError("the set has one configuration", expected="measure the kernels at several clocks")


def predict_scaling(model_file: str, counters_file: str) -> tuple[ScalingModel, tuple[PredictedScaling, ...]]:
    """Return a model and what it says of the kernels of a file. Raises ``FormatError`` where one of them is wrong."""
    model = read_scaling_model(model_file)
    kernels = read_counters(counters_file, model.counter_names, model.base)
    return model, tuple(_predicted(model, kernel) for kernel in kernels)


def _predicted(model: ScalingModel, kernel: KernelCounters) -> PredictedScaling:
    sets = [*model.time.by_clocks, *([] if model.time.by_units is None else [model.time.by_units])]
    return PredictedScaling(
        kernel=kernel,
        time=time_surface(model, kernel.counters),
        power=power_surface(model, kernel.counters),
        clusters=tuple(cluster_of(found, kernel.counters) for found in sets),
    )


def at_configuration(model: ScalingModel, configuration: Configuration) -> tuple[int, int, int]:
    """Return where a configuration is on the grid of a model. Raises ``OptionError`` where it is not on it."""
    found = model.grid.index(configuration)
    if found is None:
        grid = model.grid
        axes = [f"{_list(grid.core_mhz)} MHz of the core", f"{_list(grid.memory_mhz)} of the memory"]
        if grid.compute_units:
            axes.insert(0, f"{_list(grid.compute_units)} compute units")
        raise OptionError(
            f"the model was not trained at {configuration}, and does not guess beyond its grid",
            expected=f"it knows {', '.join(axes)}",
        )
    return found


def _list(values: tuple[object, ...]) -> str:
    return ", ".join(f"{float(value):.11g}" for value in values)  # type: ignore[arg-type]
