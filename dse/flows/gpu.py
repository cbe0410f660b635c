"""GPU costs of C kernels: predict, advise, compare accelerators. The API behind ``dse gpu``."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dse.base.errors import ModelNotApplicable, OptionError
from dse.flows.kernels import Block, KernelSource, default_trace_size
from dse.formats.device_yaml import load_device
from dse.formats.fpga_yaml import load_fpga
from dse.gpu.advise.advice import Advice, Subject, advise
from dse.gpu.advise.choose import Accelerator, Choice, choose, host_seconds
from dse.gpu.default_device import DEFAULT_DEVICE, DEFAULT_MODEL
from dse.gpu.fpga.estimate import estimate_on_fpga
from dse.gpu.models import KERNEL_COST_MODELS
from dse.gpu.models.hierarchy import GlobalLoads, compiled_with
from dse.gpu.models.memory_pipeline import MemoryPipeline, PipelineInputs, PipelineTime, ReadCycle, pipeline_time
from dse.gpu.models.seam import KernelCostModel
from dse.model.device import ConstantOrigin, Device
from dse.model.fpga import Fpga, FpgaEstimate
from dse.model.kernel import Kernel, KernelFeatures
from dse.model.kernel_cost import KernelCost


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions:
    """A C file and what to make of it. ``trace_size`` None: 128 for two parallel loops, 1024 for one."""

    path: str
    function: str | None = None
    defines: tuple[tuple[str, str], ...] = ()
    block: Block | None = None
    trace_size: int | None = None
    promote_accumulators: bool = True
    tiles: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()
    """Names of the loops whose iterations are threads; none: as a pragma says, else found."""
    text: str | None = None
    """What stands in the file; None: it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model, and what only ``memory_pipeline`` takes."""

    name: str = DEFAULT_MODEL
    read_cycle: ReadCycle = "timing"
    launches: int = 1
    loads: GlobalLoads | None = None
    """How loads of global memory are compiled, which only ``hierarchy`` knows; None: as the device file has it."""

    def device(self, name: str) -> Device:
        """Return a device as it runs programs compiled so. Raises ``FormatError``, ``OptionError``."""
        if self.loads and self.name != "hierarchy":
            raise OptionError(f"'{self.name}' knows no L1", expected="--model hierarchy takes --dlcm")
        return compiled_with(load_device(name), self.loads)

    def load(self) -> KernelCostModel:
        """Return the model. Raises ``OptionError`` for an unknown name."""
        model: KernelCostModel = KERNEL_COST_MODELS.load(self.name)
        if isinstance(model, MemoryPipeline):
            return MemoryPipeline(self.read_cycle, self.launches)
        if self.read_cycle != "timing" or self.launches != 1:
            raise OptionError(
                f"'{self.name}' takes no read cycle and no launches", expected="--model memory_pipeline takes them"
            )
        return model


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions:
    """What to predict. ``sensitivity``: also at half and a quarter of every size."""

    kernels: KernelOptions
    device: str = DEFAULT_DEVICE
    model: ModelOptions = ModelOptions()
    advice: bool = True
    sensitivity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedKernel:
    """A kernel, its features, its cost and what could be changed."""

    features: KernelFeatures
    cost: KernelCost
    advice: tuple[Advice, ...] = ()
    seconds: float = 0.0
    """Wall time of the prediction, without advice."""

    @property
    def time_s(self) -> float:
        """Of all its launches."""
        return self.features.launches * self.cost.time_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePoint:
    """A work size and the predicted time there; ``kernels``: the cost of each kernel."""

    sizes: tuple[tuple[str, int], ...]
    time_s: float
    kernels: tuple[KernelCost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The kernels of a file on a device. ``assumed``: constants of the device that are assumptions."""

    path: str
    device: Device
    model: str
    kernels: tuple[PredictedKernel, ...]
    sensitivity: tuple[SizePoint, ...] = ()
    assumed: tuple[ConstantOrigin, ...] = ()
    moved_bytes: int = 0
    """Bytes of all global arrays."""

    @property
    def time_s(self) -> float:
        """The sum over the kernels."""
        return sum(k.time_s for k in self.kernels)

    @property
    def longest(self) -> PredictedKernel:
        """The kernel that takes most of the time."""
        return max(self.kernels, key=lambda k: k.time_s)


def predict(options: PredictOptions) -> Prediction:
    """Return the predicted time of every kernel of a C file on a device.

    Raises:
        SourceError: the C is wrong or not supported.
        ModelNotApplicable: the model does not cover a kernel.
        OptionError, FormatError: unknown device or model, a constant is missing, an option is impossible.
    """
    device, model = options.model.device(options.device), options.model.load()
    source = _source(options.kernels)
    kernels = tuple(_predicted(source, at, options, device, model) for at in range(len(source.work())))
    return Prediction(
        path=options.kernels.path,
        device=device,
        model=model.name,
        kernels=kernels,
        sensitivity=tuple(_sensitivity(source, options, device, model)) if options.sensitivity else (),
        assumed=device.assumed(model.constants),
        moved_bytes=source.array_bytes(),
    )


def _source(options: KernelOptions) -> KernelSource:
    return KernelSource(
        options.path,
        options.defines,
        options.function,
        promote=options.promote_accumulators,
        tiles=options.tiles,
        parallel=options.parallel,
        text=options.text,
    )


def _predicted(
    source: KernelSource, at: int, options: PredictOptions, device: Device, model: KernelCostModel
) -> PredictedKernel:
    start = time.perf_counter()
    work = source.work()[at]
    size = options.kernels.trace_size or default_trace_size(work)
    trace = source.traced(size)[at]
    machine = device.trace_machine(model.name)

    def analyse(work_kernel: Kernel, trace_kernel: Kernel, block: Block | None) -> KernelFeatures:
        return source.features(work_kernel, trace_kernel, block, machine)

    features = analyse(work, trace, options.kernels.block)
    if features.dependences:
        race = features.dependences[0]
        raise ModelNotApplicable(
            f"threads of {work.name} race: {race.text}",
            span=race.span,
            expected="name other loops with --parallel, or write it so that threads do not meet",
        )
    cost = model.predict(features, device)
    seconds = time.perf_counter() - start
    subject = Subject(work=work, trace=trace, features=features, cost=cost)
    advice = advise(subject, device, model, analyse, source.moved) if options.advice else ()
    return PredictedKernel(features=features, cost=cost, advice=advice, seconds=seconds)


def _sensitivity(
    source: KernelSource, options: PredictOptions, device: Device, model: KernelCostModel
) -> Iterator[SizePoint]:
    """Yield the time at the work size, at half and at a quarter of it (figure 8)."""
    plain = replace(options, advice=False, sensitivity=False)
    for divisor in (1, 2, 4):
        smaller = source.scaled(divisor)
        found = tuple(_predicted(smaller, at, plain, device, model) for at in range(len(smaller.work())))
        costs = tuple(k.cost for k in found)
        yield SizePoint(sizes=smaller.sizes(), time_s=sum(k.time_s for k in found), kernels=costs)


def predict_by_hand(inputs: PipelineInputs, device_name: str, read_cycle: ReadCycle) -> tuple[Device, PipelineTime]:
    """Return the time of the memory pipeline from inputs given by hand. Raises ``FormatError``, ``OptionError``."""
    device = load_device(device_name)
    return device, pipeline_time(inputs, device, read_cycle)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseOptions:
    """What to compare: devices, FPGAs to estimate, and times in milliseconds that the user knows."""

    kernels: KernelOptions
    devices: tuple[str, ...]
    model: ModelOptions = ModelOptions()
    fpgas: tuple[str, ...] = ()
    fpga_ms: float | None = None
    cpu_ms: float | None = None
    with_host: bool = False


def choose_accelerator(options: ChooseOptions) -> Choice:
    """Return the devices and the given times, the quickest first. Raises as ``predict``."""
    accelerators = []
    names = _each_once({name: options.model.device(name) for name in options.devices})  # wrong ones are told first
    fpgas = {name: load_fpga(name) for name in options.fpgas}
    for name in names:
        predicted = predict(PredictOptions(kernels=options.kernels, device=name, model=options.model, advice=False))
        accelerators.append(
            Accelerator(
                name=predicted.device.name,
                kind="gpu",
                time_s=predicted.time_s,
                origin=f"predicted by {predicted.model}",
                costs=tuple(k.cost for k in predicted.kernels),
                host_s=host_seconds(
                    predicted.device, sum(k.features.launches for k in predicted.kernels), predicted.moved_bytes
                ),
            )
        )
    accelerators += [_on_fpga(options.kernels, fpgas[name]) for name in _each_once(fpgas)]
    if options.fpga_ms is not None:
        accelerators.append(Accelerator(name="FPGA", kind="fpga", time_s=options.fpga_ms * 1e-3, origin="given"))
    if options.cpu_ms is not None:
        accelerators.append(Accelerator(name="CPU", kind="cpu", time_s=options.cpu_ms * 1e-3, origin="given"))
    return choose(tuple(accelerators), with_host=options.with_host)


def _each_once(named: Mapping[str, object]) -> list[str]:
    """Return the names of different things: ``zc702`` and ``ZC702`` are one."""
    things = list(named.values())
    return [name for k, name in enumerate(named) if things[k] not in things[:k]]


def _on_fpga(kernels: KernelOptions, fpga: Fpga) -> Accelerator:
    estimates = fpga_estimates(kernels, fpga)
    longest = max(estimates, key=lambda e: e.time_s)
    lanes = "1 lane" if longest.lanes == 1 else f"{longest.lanes} lanes"
    return Accelerator(
        name=fpga.name,
        kind="fpga",
        time_s=sum(e.time_s for e in estimates),
        origin=f"estimated: {lanes}, II {longest.interval_cycles}, tiles of {longest.tile}",
        estimates=estimates,
    )


def fpga_estimates(kernels: KernelOptions, fpga: Fpga) -> tuple[FpgaEstimate, ...]:
    """Return what each kernel of a C file would take on an FPGA. Raises as ``predict``."""
    return tuple(estimate_on_fpga(kernel, fpga) for kernel in _source(kernels).work())
