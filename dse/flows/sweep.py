"""``dse gpu sweep`` as a function: predicted times over sizes, strides, blocks, warps, for kernels, devices, models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePath

from dse.base.errors import OptionError
from dse.flows.gpu import (
    KernelOptions,
    ModelOptions,
    PredictedKernel,
    Prediction,
    PredictOptions,
    predict,
    predict_by_hand,
)
from dse.flows.kernels import Block
from dse.formats.device_yaml import load_device
from dse.formats.sweep_csv import MeasuredPoint, read_measured
from dse.gpu.models.memory_pipeline import PipelineInputs, ReadCycle, pipeline_time
from dse.model.sweep import BY_HAND, Sweep, SweepAxis, SweepPoint

SIMPLE_CACHE = "simple_cache"
"""The name of what CGPredict compares itself with in its figure 9: latencies by the miss rate alone, (24) and (25)."""
BLOCK = "block"
INPUTS = ("requests", "transactions", "warps")
_PIPELINE = "memory_pipeline"
_MOST_POINTS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """``kernels``: none for inputs of the memory pipeline by hand, then ``by_hand`` has those that do not vary.

    ``axes``: one or two; macros, ``block`` with ``blocks`` by how they are written, or inputs by hand.
    """

    kernels: tuple[KernelOptions, ...]
    axes: tuple[SweepAxis, ...]
    devices: tuple[str, ...]
    models: tuple[str, ...]
    blocks: tuple[tuple[str, Block], ...] = ()
    by_hand: tuple[tuple[str, float], ...] = ()
    read_cycle: ReadCycle = "timing"
    launches: int = 1
    measured: str | None = None


@dataclass(slots=True)
class _Runs:
    """Predictions that two models share are made once."""

    options: SweepOptions
    done: dict[tuple[int, str, str, tuple[str, ...]], Prediction] = field(default_factory=dict)

    def point(self, at: int, device: str, model: str, values: tuple[str, ...]) -> SweepPoint:
        """Return a point. Raises as ``predict``."""
        if not self.options.kernels:
            return _by_hand(self.options, device, values)
        return _point(self.options, model, values, self.prediction(at, device, model, values))

    def prediction(self, at: int, device: str, model: str, values: tuple[str, ...]) -> Prediction:
        """Return the prediction of a file at a point. Raises as ``predict``."""
        name = "cgpredict" if model == SIMPLE_CACHE else model
        key = at, device, name, values
        if key not in self.done:
            pipeline = name == _PIPELINE
            chosen = ModelOptions(
                name=name,
                read_cycle=self.options.read_cycle if pipeline else "timing",
                launches=self.options.launches if pipeline else 1,
            )
            kernels = _at(self.options, self.options.kernels[at], values)
            self.done[key] = predict(PredictOptions(kernels=kernels, device=device, model=chosen, advice=False))
        return self.done[key]


def sweep(options: SweepOptions) -> Sweep:
    """Return the predicted time at every combination of values.

    Raises:
        OptionError: an axis is impossible, or there are too many points. Else as ``predict``.
    """
    _check(options)
    points = tuple(_points(options))
    if options.measured is not None:
        names = tuple(axis.name for axis in options.axes)
        points = _with_measured(points, read_measured(options.measured, names), options.measured)
    return Sweep(axes=options.axes, points=points)


def _check(options: SweepOptions) -> None:
    """Raise ``OptionError`` for what cannot be swept, before the first prediction."""
    names = [axis.name for axis in options.axes]
    if len(set(names)) < len(names):
        raise OptionError(f"--over {names[0]} is given twice", expected="two different things that vary")
    count = max(1, len(options.kernels)) * len(options.devices) * len(options.models)
    for axis in options.axes:
        count *= len(axis.values)
    if count > _MOST_POINTS:
        raise OptionError(f"that is {count:,} predictions", expected=f"fewer values, at most {_MOST_POINTS:,} in all")
    if not options.kernels:
        _check_by_hand(names, options)
    for device in options.devices:
        load_device(device)


def _check_by_hand(names: Sequence[str], options: SweepOptions) -> None:
    """Raise ``OptionError`` where an input is missing, or what varies is none."""
    known = {*names, *(name for name, _ in options.by_hand)}
    missing = [name for name in INPUTS if name not in known]
    odd = [name for name in names if name not in INPUTS]
    if odd or missing:
        why = f"{odd[0]} is no input by hand" if odd else f"{missing[0]} is not given by hand"
        raise OptionError(
            f"no kernel is given, and {why}",
            expected="a C file, or each of requests, transactions and warps by an option or by --over",
        )


def _points(options: SweepOptions) -> Iterator[SweepPoint]:
    outer = options.axes[1].values if len(options.axes) > 1 else None
    runs = _Runs(options)
    for at, device, model in product(range(max(1, len(options.kernels))), options.devices, options.models):
        for second in ("",) if outer is None else outer:
            for first in options.axes[0].values:
                values = (first,) if outer is None else (first, second)
                yield runs.point(at, device, model, values)


def _at(options: SweepOptions, kernels: KernelOptions, values: tuple[str, ...]) -> KernelOptions:
    """Return the options of a file at a point."""
    defines, block = dict(kernels.defines), kernels.block
    for axis, value in zip(options.axes, values, strict=True):
        if axis.name == BLOCK:
            block = dict(options.blocks)[value]
        else:
            defines[axis.name] = value
    return replace(kernels, defines=tuple(defines.items()), block=block)


def _point(options: SweepOptions, model: str, values: tuple[str, ...], found: Prediction) -> SweepPoint:
    longest = found.longest
    time_s = sum(_simple_s(kernel) for kernel in found.kernels) if model == SIMPLE_CACHE else found.time_s
    features = longest.features
    warps = features.blocks * -(-features.block_threads // found.device.warp)
    requests_hz = None
    if model == _PIPELINE:
        one = PipelineInputs(transactions=features.transactions, requests=1, warps=1)
        requests_hz = pipeline_time(one, found.device, options.read_cycle).throughput_hz
    return SweepPoint(
        kernel=PurePath(found.path).stem,
        device=found.device.name,
        model=model,
        values=values,
        time_s=time_s,
        bottleneck=longest.cost.bottleneck,
        warps=warps,
        transactions=features.transactions,
        requests_hz=requests_hz,
    )


def _simple_s(kernel: PredictedKernel) -> float:
    """Return the time by the simple cache model. Raises ``OptionError`` where it has no form for the kernel."""
    if kernel.cost.baseline is None:
        raise OptionError(
            f"{SIMPLE_CACHE} has no form for {kernel.cost.kernel}", expected="a kernel of global memory, without tiles"
        )
    return kernel.features.launches * kernel.cost.baseline.time_s


def _by_hand(options: SweepOptions, device: str, values: tuple[str, ...]) -> SweepPoint:
    given = dict(options.by_hand) | {a.name: float(v) for a, v in zip(options.axes, values, strict=True)}
    inputs = PipelineInputs(
        transactions=given["transactions"],
        requests=given["requests"],
        warps=given["warps"],
        launches=options.launches,
    )
    machine, answer = predict_by_hand(inputs, device, options.read_cycle)
    return SweepPoint(
        kernel=BY_HAND,
        device=machine.name,
        model=_PIPELINE,
        values=values,
        time_s=answer.time_s,
        bottleneck="memory",
        warps=inputs.warps,
        transactions=inputs.transactions,
        requests_hz=answer.throughput_hz,
    )


def _with_measured(
    points: tuple[SweepPoint, ...], measured: tuple[MeasuredPoint, ...], path: str
) -> tuple[SweepPoint, ...]:
    """Return the points with what was measured there. Raises ``OptionError`` where nothing fits, or two rows do."""
    joined = tuple(replace(p, measured_s=_measured_at(p, measured, path)) for p in points)
    if all(point.measured_s is None for point in joined):
        raise OptionError(f"no row of '{path}' is one of these points", expected="values as in --over; kernel, device")
    return joined


def _measured_at(point: SweepPoint, measured: tuple[MeasuredPoint, ...], path: str) -> float | None:
    """Return what was measured at a point, None for nothing. Raises ``OptionError`` where two rows say so."""
    found = [row for row in measured if row.fits(point)]
    if len(found) > 1:
        lines = " and ".join(str(row.line) for row in found[:2])
        raise OptionError(
            f"lines {lines} of '{path}' are both of {point.kernel or 'no kernel'} on {point.device} at "
            f"{', '.join(point.values)}",
            expected="one row for each point, such as the median of its runs; kernel and device tell rows apart",
        )
    return found[0].seconds if found else None
