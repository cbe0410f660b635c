"""GPU weights predicted from the program: ``dse weights predict`` as a function, and what a search does without any."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.errors import OptionError
from dse.flows.defaults import outside_actors
from dse.formats.device_yaml import builtin_devices, load_device
from dse.gpu.actors.firing import LaunchShape
from dse.gpu.actors.weights import PredictedWeights, predict_weights
from dse.gpu.default_device import DEFAULT_MODEL
from dse.model.device import Device
from dse.model.platform import Platform, Unit
from dse.model.trace import Trace
from dse.model.weights import Cost, FifoKind, SchedulingKey, TransferKey, WeightTable, merge_weights
from dse.program.network import Network

_OWN_FIFOS: tuple[FifoKind, ...] = ("local", "cpu_cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuOutlook:
    """What is known of GPU costs without measuring: a prediction, or none and why, in words ("" for no GPU)."""

    predicted: PredictedWeights | None
    why_not: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Why nothing is predicted, if there is anything to say."""
        return (self.why_not,) if self.why_not else ()


def predict_for_device(
    network: Network,
    trace: Trace,
    device: Device,
    platform: Platform,
    *,
    shape: LaunchShape | None = None,
    cpu_clock_mhz: Fraction | None = None,
    model: str = DEFAULT_MODEL,
    stage: Callable[[str], None] = lambda _: None,
) -> PredictedWeights:
    """Return the weights of a network on a device, and the CPU's side of host FIFOs.

    ``cpu_clock_mhz``: the clock of the CPU's side, by default that of the platform's first CPU. ``model``: the name of
    the kernel cost model that prices loops.

    Raises:
        ModelNotApplicable: no actor can run on a GPU. FormatError: the device lacks a constant.
        OptionError: the device cannot hold the threads of ``shape``; the model prices no firings.
    """
    if shape is not None:
        _check_shape(shape, device)
    own = next((unit.clock_mhz for unit in platform.units if unit.kind == "cpu"), None)
    return predict_weights(
        network,
        trace,
        device,
        leave_out=left_out_actors(network, platform),
        shape=shape,
        cost_model=model,
        stage=stage,
        cpu_clock_mhz=cpu_clock_mhz or own,
    )


def left_out_actors(network: Network, platform: Platform) -> frozenset[str]:
    """Return the actors that cannot run on the GPU: they call natives, or the platform names others."""
    return outside_actors(network) | {i.name for i in network.instances if not platform.may_use_gpu(i.name)}


def _check_shape(shape: LaunchShape, device: Device) -> None:
    most = device.threads_per_block or 1024
    if shape.blocks < 1 or not 1 <= shape.threads <= most:
        raise OptionError(
            f"{shape.text} threads are not possible on {device.name}",
            expected=f"--threads THxBL: TH blocks of 1 to {most} threads, such as 22x256",
        )


def gpu_outlook(
    network: Network,
    trace: Trace,
    platform: Platform,
    given: WeightTable | None,
    stage: Callable[[str], None] = lambda _: None,
) -> GpuOutlook:
    """Return the predicted weights of the platform's GPU, or why there are none.

    There are none where no GPU names a device, where GPU weights are given, or clocks are not known.
    Raises ``OptionError`` for an unknown device, ``FormatError`` for one that lacks a constant.
    """
    gpu = platform.predicted_gpu
    if gpu is None or (given is not None and has_gpu_compute(given)):
        return GpuOutlook(predicted=None)
    no_clock = _without_clock(platform, given)
    if no_clock:
        return GpuOutlook(predicted=None, why_not=f"no prediction for unit {gpu.name}: {no_clock}")
    left_out = left_out_actors(network, platform)
    if all(instance.name in left_out for instance in network.instances):
        return GpuOutlook(predicted=None)
    device = _device_of(gpu, platform)
    clock = None if given is None else _weights_clock(given)
    predicted = predict_for_device(network, trace, device, platform, cpu_clock_mhz=clock, stage=stage)
    return GpuOutlook(predicted=predicted)


def _without_clock(platform: Platform, given: WeightTable | None) -> str:
    """Return in words what has no clock, so that cycles of the CPUs cannot be compared with those of a GPU."""
    if given is None:
        silent = any(unit.clock_mhz is None for unit in platform.units if unit.kind == "cpu")
        return "a CPU of the platform has no clock" if silent else ""
    return "the weights have no clock" if any(c.frequency_mhz is None for c in given.compute.values()) else ""


def _weights_clock(given: WeightTable) -> Fraction | None:
    """Return the clock of given weights: that of the first one."""
    return next((cost.frequency_mhz for cost in given.compute.values()), None)


def has_gpu_compute(table: WeightTable) -> bool:
    """Return whether a table knows what some action costs on a GPU."""
    return any(key[2] == "gpu" for key in (*table.compute, *table.simd))


def _device_of(gpu: Unit, platform: Platform) -> Device:
    """Return the device of a unit, at the clock of the unit."""
    assert gpu.device is not None, "only units with a device are asked for it"
    try:
        device = load_device(gpu.device)
    except OptionError as error:
        raise OptionError(
            f"unit '{gpu.name}' of platform '{platform.name}' has the unknown device '{gpu.device}'",
            expected=f"a device file (.yaml) or one of {', '.join(builtin_devices())}; without 'device' GPU costs are"
            " nominal",
        ) from error
    return device if gpu.clock_mhz is None else replace(device, clock_mhz=float(gpu.clock_mhz))


def clocked_platform(platform: Platform, outlook: GpuOutlook) -> Platform:
    """Return the platform with the clock of the device for a GPU that has none of its own."""
    if outlook.predicted is None:
        return platform
    clock = Fraction(str(outlook.predicted.device.clock_mhz))
    units = tuple(replace(u, clock_mhz=clock) if u.kind == "gpu" and u.clock_mhz is None else u for u in platform.units)
    return replace(platform, units=units)


def beside_given(given: WeightTable, predicted: PredictedWeights, network: Network) -> WeightTable:
    """Return given weights of CPUs with predicted ones of the GPU; a given entry goes before a predicted one.

    Where scheduling or communication is not given at all it stays free on the CPU, though the GPU has costs.
    """
    clock = _weights_clock(given)
    free = Cost(mean_cycles=Fraction(0), frequency_mhz=clock, origin="zero")
    scheduling: dict[SchedulingKey, Cost] = {}
    if not given.has_scheduling:
        for instance in network.instances:
            scheduling |= {(instance.name, "", action.name, "cpu"): free for action in instance.actor.actions}
    transfers: dict[TransferKey, Cost] = {}
    if not given.has_transfers:
        transfers = dict.fromkeys(_own_fifos(network), free)
    filled = WeightTable(name="", scheduling=scheduling, transfers=transfers)
    return replace(merge_weights(predicted.table, filled, given), name=given.name)


def _own_fifos(network: Network) -> list[TransferKey]:
    """Return the keys of every FIFO between CPUs."""
    keys: list[TransferKey] = []
    for connection in network.connections:
        source, target = network.instances[connection.source], network.instances[connection.target]
        ports = source.actor.outputs[connection.source_port].name, target.actor.inputs[connection.target_port].name
        for fifo in _OWN_FIFOS:
            keys.append((source.name, ports[0], target.name, ports[1], fifo, "cpu", "read"))
            keys.append((source.name, ports[0], target.name, ports[1], fifo, "cpu", "write"))
    return keys


def assumption(predicted: PredictedWeights) -> tuple[str, ...]:
    """Return in words what a result with predicted weights assumes."""
    return (
        f"predicted GPU weights ({predicted.model} on {predicted.device.name}, confidence {predicted.confidence}:"
        f" {predicted.confidence_text})",
        f"host FIFOs at {dict(predicted.table.manifest)['host FIFOs']}",
    )


def parse_shape(text: str) -> LaunchShape:
    """Return the threads of ``22x256``. Raises ``OptionError``."""
    blocks, sign, threads = text.lower().partition("x")
    if not (sign and blocks.isdigit() and threads.isdigit()):
        raise OptionError(
            f"threads '{text}' are not understood", expected="--threads THxBL: TH blocks of BL threads, such as 22x256"
        )
    return LaunchShape(blocks=int(blocks), threads=int(threads))
