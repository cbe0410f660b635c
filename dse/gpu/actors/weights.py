"""Weights of a network's GPU side, predicted from its actors' source and one trace: no GPU is needed.

* Compute: ``dse.gpu.actors.firing``. Stateless actions have a table of SIMD blocks.
* Scheduling: choosing an action costs its tests by one thread. Where another actor ran before (no previous action), the
  actor's kernel is launched and the host waits for it when it gives control back: ``launch_us`` and ``synchronise_us``
  of the device file. Where the actor itself fired last, its kernel is still running and nothing is launched.
* Communication: a FIFO on the GPU costs two loads of its indices; the tokens of threads that work together are copied
  by whole warps, those of a lone thread one by one. A FIFO between host and device lies in host memory: each transfer
  of the GPU's side costs ``transfer_latency_us`` and its bytes by ``transfer_gb_s``; the CPU's side is a FIFO between
  two cores.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from dse.base.errors import ModelNotApplicable
from dse.gpu.actors.firing import Confidence, FiringCost, FiringModel, LaunchShape, constants_of, exact, rounded
from dse.gpu.actors.kept_costs import KeptCosts
from dse.gpu.default_device import DEFAULT_MODEL
from dse.gpu.models.cgpredict import class_delay
from dse.model.device import Device
from dse.model.rounds import BRANCH
from dse.model.trace import FiringIds, Trace
from dse.model.weights import ComputeKey, Cost, FifoKind, SimdCost, TransferKey, UnitKind, WeightTable
from dse.passes.analyses.nominal import TRANSFERS, scheduling_steps, token_cycles
from dse.program.network import Connection, Network
from dse.program.types import bytes_of

_SIDES: tuple[Literal["read"], Literal["write"]] = ("read", "write")


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedAction:
    """An action of an instance. ``firings``: in the trace; ``longest_run``: of them in a row."""

    actor: str
    firings: int
    longest_run: int
    cost: FiringCost


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedWeights:
    """The weights, and how each compute weight came about, in the order of the network. ``model``: its name."""

    table: WeightTable
    actions: tuple[PredictedAction, ...]
    device: Device
    shape: LaunchShape
    model: str
    confidence: Confidence
    confidence_text: str


def predict_weights(
    network: Network,
    trace: Trace,
    device: Device,
    *,
    leave_out: Collection[str] = (),
    cpu_clock_mhz: Fraction | None = None,
    shape: LaunchShape | None = None,
    cost_model: str = DEFAULT_MODEL,
    stage: Callable[[str], None] = lambda _: None,
) -> PredictedWeights:
    """Return predicted weights of every instance but those in ``leave_out``, which cannot run on a GPU.

    ``cpu_clock_mhz``: also the CPU's side of FIFOs between host and device, in cycles of that clock. ``shape``: the
    threads that actors are launched with, by default all that the device holds. ``cost_model``: prices loops.

    Raises:
        ModelNotApplicable: no actor is left. FormatError: the device lacks a constant. OptionError: no such model.
    """
    chosen = [k for k, instance in enumerate(network.instances) if instance.name not in leave_out]
    if not chosen:
        raise ModelNotApplicable(
            f"no actor of '{network.name}' can run on a GPU: all of them read files, print or display",
            expected="separate what computes from what reads and prints",
        )
    model = FiringModel(device, shape, cost_model)
    kept, actions = KeptCosts(model), list[PredictedAction]()
    for k in chosen:
        stage(f"predicting {network.instances[k].name} on {device.name}")
        actions += _actions(network, trace, k, kept)
    table = _table(network, chosen, actions, model, cpu_clock_mhz)
    fired = [a for a in actions if a.firings]
    confidence: Confidence = "low" if any(a.cost.confidence == "low" for a in fired) else "medium"
    text = _confidence_text(fired, model)
    manifest = (
        ("how", f"predicted, {model.model.name} on {device.name} from the actors' source and a trace"),
        ("model", f"{model.model.name} (dse.gpu), actors launched as {model.shape.text} threads"),
        ("device", f"{device.name}, {device.clock_mhz:g} MHz, {device.sms} multiprocessors"),
        ("confidence", f"{confidence}: {text}"),
        ("trace", f"{trace.digest[:16]}, {trace.n_firings} firings"),
        *_rounds_text(network, trace, chosen),
        ("host FIFOs", _host_text(device)),
        ("launch", f"{_launch_us(device):g} us where another actor ran before (launch_us + synchronise_us)"),
    )
    return PredictedWeights(
        table=replace(table, manifest=manifest),
        actions=tuple(actions),
        device=device,
        shape=model.shape,
        model=model.model.name,
        confidence=confidence,
        confidence_text=text,
    )


def _table(
    network: Network,
    chosen: list[int],
    actions: list[PredictedAction],
    model: FiringModel,
    cpu_clock_mhz: Fraction | None,
) -> WeightTable:
    """Return the weights of the chosen instances."""
    table, clock = WeightTable(name=network.name), exact(model.device.clock_mhz)
    for action in actions:
        _add_action(table, action, clock)
    _add_scheduling(table, network, chosen, model, clock)
    parallel = {a.actor for a in actions if a.cost.parallel}
    _add_transfers(table, network, chosen, model, parallel, cpu_clock_mhz)
    return table


def _add_action(table: WeightTable, action: PredictedAction, clock: Fraction) -> None:
    """Add the compute weight of an action, and its SIMD blocks; ``table`` is still under construction."""
    key: ComputeKey = (action.actor, action.cost.action, "gpu")
    table.compute[key] = _cost(action.cost.cycles, clock)
    if action.cost.simd_cycles:
        table.simd[key] = SimdCost(block_cycles=action.cost.simd_cycles, frequency_mhz=clock)


def _actions(network: Network, trace: Trace, k: int, kept: KeptCosts) -> list[PredictedAction]:
    """Return the costs of the actions of one instance."""
    instance = network.instances[k]
    index = trace.topology.actor_index(instance.name)
    assert index is not None, "the trace is of this network"
    rounds = trace.rounds[index] if trace.rounds else {}
    stateless, ids = trace.topology.actors[index].stateless, trace.firings[index]
    counts = np.bincount(ids, minlength=len(instance.actor.actions))
    runs = [longest_run(ids, n) if counts[n] else 0 for n in range(len(instance.actor.actions))]
    costs = kept.costs(instance.actor, runs if stateless else [0] * len(runs), rounds)
    return [
        PredictedAction(actor=instance.name, firings=int(counts[n]), longest_run=runs[n], cost=cost)
        for n, cost in enumerate(costs)
    ]


def _rounds_text(network: Network, trace: Trace, chosen: list[int]) -> tuple[tuple[str, str], ...]:
    """Return what the manifest says of loops and branches that data decide: the mean rounds of each loop in the run."""
    found = [
        f"{network.instances[k].name} line {span.line}: {float(mean):.4g}"
        for k in chosen
        if trace.rounds
        for (span, name), mean in sorted(trace.rounds[k].items())
        if name != BRANCH
    ]
    branches = sum(name == BRANCH for k in chosen if trace.rounds for _, name in trace.rounds[k])
    texts = [("rounds of loops", f"means of the run: {', '.join(found)}")] if found else []
    texts += [("shares of branches", f"of the run, {branches} branches")] if branches else []
    return tuple(texts)


def longest_run(ids: FiringIds, action: int) -> int:
    """Return how often at most an action fires in a row in an actor's firings."""
    others = np.flatnonzero(ids != action)
    return int(np.diff(others, prepend=-1, append=len(ids)).max()) - 1


def _cost(cycles: Fraction, clock: Fraction, per_token: Fraction = Fraction(0)) -> Cost:
    return Cost(mean_cycles=cycles, frequency_mhz=clock, per_token_cycles=per_token, origin="predicted")


def _launch_us(device: Device) -> float:
    return device.require("launch_us", "scheduling") + device.require("synchronise_us", "scheduling")


def _host_text(device: Device) -> str:
    latency, rate = device.require("transfer_latency_us", "host"), device.require("transfer_gb_s", "host")
    return f"{latency:g} us a transfer and {rate:g} GB/s, of the device file; the platform's link only says who waits"


def _add_scheduling(
    table: WeightTable, network: Network, chosen: list[int], model: FiringModel, clock: Fraction
) -> None:
    """Add the scheduling steps; ``table`` is still under construction."""
    launch = rounded(_launch_us(model.device) * float(clock))
    for k in chosen:
        instance = network.instances[k]
        for previous, action, cycles in scheduling_steps(instance.actor, model.prices):
            whole = cycles if previous else cycles + launch
            table.scheduling[instance.name, previous, action, "gpu"] = _cost(whole, clock)


def _add_transfers(
    table: WeightTable,
    network: Network,
    chosen: list[int],
    model: FiringModel,
    parallel: set[str],
    cpu_clock_mhz: Fraction | None,
) -> None:
    """Add the GPU's side of every FIFO of the chosen actors, and the CPU's side of those that may cross."""
    clock = exact(model.device.clock_mhz)
    for connection in network.connections:
        ends = {"write": connection.source, "read": connection.target}
        for side in _SIDES:
            other = ends["read" if side == "write" else "write"]
            if ends[side] in chosen:
                together = network.instances[ends[side]].name in parallel
                fixed, token = _on_device(model, connection, together=together)
                table.transfers[_key(network, connection, "cuda", "gpu", side)] = _cost(fixed, clock, token)
                fixed, token = _across(model.device, connection, clock)
                table.transfers[_key(network, connection, "host", "gpu", side)] = _cost(fixed, clock, token)
            if cpu_clock_mhz is not None and other in chosen:
                fixed, token = _on_host(connection)
                cost = _cost(fixed, cpu_clock_mhz, token)
                table.transfers[_key(network, connection, "host", "cpu", side)] = cost


def _key(
    network: Network, connection: Connection, fifo: FifoKind, kind: UnitKind, side: Literal["read", "write"]
) -> TransferKey:
    source, target = network.instances[connection.source], network.instances[connection.target]
    ports = source.actor.outputs[connection.source_port].name, target.actor.inputs[connection.target_port].name
    return source.name, ports[0], target.name, ports[1], fifo, kind, side


def _on_device(model: FiringModel, connection: Connection, *, together: bool) -> tuple[Fraction, Fraction]:
    """Return the cycles of a transfer and of a token in a FIFO on the GPU."""
    load, store = Fraction(model.prices["load"]), Fraction(model.prices["store"])
    if not together:
        return 2 * load, load + store
    delay = exact(class_delay("coalesced", 0.0, model.device))
    words = Fraction(max(4, bytes_of(connection.type)), 4)
    return 3 * load + store, 2 * delay * words / model.device.warp


def _across(device: Device, connection: Connection, clock: Fraction) -> tuple[Fraction, Fraction]:
    """Return the cycles of a transfer and of a token between host and device."""
    latency = exact(device.require("transfer_latency_us", "host"))
    rate = exact(device.require("transfer_gb_s", "host"))
    return latency * clock, bytes_of(connection.type) * clock / (rate * 1000)  # 1 GB/s is 1000 bytes a microsecond


def _on_host(connection: Connection) -> tuple[Fraction, Fraction]:
    """Return the cycles of a CPU's transfer, and of a token, with a FIFO that another processor uses."""
    fixed, token, line = next((f, t, n) for fifo, _, f, t, n in TRANSFERS if fifo == "cpu_cpu")
    return Fraction(fixed), token_cycles(token, line, bytes_of(connection.type))


def _confidence_text(fired: list[PredictedAction], model: FiringModel) -> str:
    """Return in words how the costs of the actions that fire came about."""
    kinds = Counter(_kind(action.cost) for action in fired)
    counts = (
        (kinds["lone"], f"of {len(fired)} actions that fire are one thread"),
        (kinds["made up"], "depend on made-up data"),
        (kinds["loops"], "are parallel loops"),
        (kinds["blocks"], "fire side by side"),
        (len(model.device.assumed(constants_of(model.model))), "constants of the device are assumptions"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _kind(cost: FiringCost) -> Literal["lone", "made up", "loops", "blocks"]:
    """Return how the cost of an action came about."""
    if cost.made_up:
        return "made up"
    if cost.confidence == "low":
        return "lone"
    return "loops" if cost.threads > 1 else "blocks"
