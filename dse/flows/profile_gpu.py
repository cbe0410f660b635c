"""The journey of ``dse profile --cuda``: weights of actors on a GPU, and of FIFOs between it and the processor.

Static, as in section 4.2 and figure 6 of paper 004: all actors on one core, all that can on the GPU, one at a time, and
both again with FIFOs as between processor and GPU everywhere. Dynamic, as in section 4.4: one mapping as it is. Where
the GPU is emulated, all weights of the set are called so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dse.base.errors import OptionError
from dse.flows.bench import Bench, open_bench
from dse.flows.build import device_build
from dse.flows.cuda_request import CudaRequest
from dse.flows.gpu_actors import abilities_of
from dse.flows.profile import ProfiledNetwork, ProfileSettings, check_settings, profile_on_bench, run_capacities
from dse.flows.profile_manifest import Pairs, profile_manifest
from dse.flows.program import unheard
from dse.flows.static_mapping import GPU
from dse.formats.mapping_text import mapping_text
from dse.formats.xcf_write import write_xcf
from dse.measure.gpu_runs import GpuRuns, steady_runs, times_of
from dse.measure.gpu_times import GpuTimes, added
from dse.measure.gpu_weights import GpuRunFacts, accounted_ns, gpu_weights
from dse.measure.host_fifos import host_prices
from dse.measure.machine import machine_moment, unsteady
from dse.measure.platform import this_machine
from dse.measure.profile_weights import SIDES, local_weights, transfer_key
from dse.measure.profiling import Profiler
from dse.measure.runs import FifoChoice, Program, RunOrder, RunRecord
from dse.model.design_point import DesignPoint, Partition
from dse.model.origins import with_origin
from dse.model.platform import Platform
from dse.model.trace import FiringIds, Topology
from dse.model.weights import Cost, FifoKind, Origin, TransferKey, WeightTable, merge_weights
from dse.program.network import Network
from dse.run.options import RunOptions


def profile_gpu_program(
    network: Network,
    run: RunOptions,
    settings: ProfileSettings,
    cuda: CudaRequest,
    stage: Callable[[str], None] = unheard,
) -> ProfiledNetwork:
    """Measure the weights of a network on processor and GPU; with ``settings.mapping``, in that very configuration.

    Raises:
        BuildError: there is no compiler, or it fails. NoNativeForm: an actor has no C++ form.
        ExecutionError: a run fails, or there is no GPU. OptionError: no actor can run on one.
    """
    check_settings(settings)
    able_actors(network)
    device, _ = device_build(cuda)
    with open_bench(network, run, replace(settings.bench, device=device), stage) as bench:
        return profile_gpu_on_bench(bench, run, settings, stage)


def able_actors(network: Network) -> frozenset[int]:
    """Return the actors that can run on a GPU. Raises ``OptionError`` where none can."""
    able = frozenset(k for k, actor in enumerate(abilities_of(network)) if actor.able)
    if not able:
        raise OptionError(
            f"no actor of {network.name} can run on a GPU", expected="`dse check --gpu` tells why; leave out --cuda"
        )
    return able


def profile_gpu_on_bench(
    bench: Bench, run: RunOptions, settings: ProfileSettings, stage: Callable[[str], None] = unheard
) -> ProfiledNetwork:
    """Measure the weights of a network on a bench whose programs have device code; as ``profile_gpu_program``."""
    check_settings(settings)
    journey = _GpuJourney(bench, run, settings, able_actors(bench.network), stage)
    return journey.static() if settings.mapping is None else journey.dynamic(settings.mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithFifos:
    """A program whose FIFOs all lie in one way."""

    program: Program
    fifos: FifoChoice

    def run(self, order: RunOrder) -> RunRecord:
        """Run it; as ``Program``."""
        return self.program.run(replace(order, fifos=self.fifos))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnGpu:
    """What runs of one mapping gave. ``words``: which mapping."""

    words: str
    runs: GpuRuns
    times: GpuTimes
    table: WeightTable


class _GpuJourney:
    """The stages of one profile."""

    def __init__(
        self,
        bench: Bench,
        run: RunOptions,
        settings: ProfileSettings,
        able: frozenset[int],
        stage: Callable[[str], None],
    ) -> None:
        cpu = this_machine(bench.facts, len(bench.cores)).units[0]
        self.platform = Platform(name="this machine", units=(cpu, GPU))
        self._bench = bench
        self._run = run
        self._settings = settings
        self._able = able
        self._stage = stage

    # Static -----------------------------------------------------------------------------------------------------------

    def static(self) -> ProfiledNetwork:
        """Profile the four configurations of figure 6."""
        topology = self._bench.topology
        self._stage("profiling on the GPU: trying")
        point = self._all_on_gpu()
        path = self._written(point, "all-on-gpu")
        first = times_of(self._bench.program.run(self._order(path, "special")))  # whether there is one at all
        kinds = [self._kind(index, static=True) for index in range(len(topology.buffers))]
        firings = self._profiler().firings(path)
        near = self._on_gpu("all on the GPU", self._order(path, "special"), kinds, firings)
        hosts: list[FifoKind] = ["host"] * len(kinds)
        far = self._on_gpu("all on the GPU, HostFifo", self._order(path, "host"), hosts, firings)
        plain = profile_on_bench(self._bench, self._run, self._settings, self._stage)
        host_cpu = self._host_on_cpu(plain)
        origin: Origin = "emulated" if first.emulated else "measured"
        crossing = WeightTable(name=topology.name, transfers=far.table.transfers)
        table = merge_weights(near.table, crossing, WeightTable(name=topology.name, transfers=host_cpu), plain.table)
        pairs = (
            *_renamed(plain.table.manifest, origin),
            ("gpu configurations", "all on one core; all that can on the GPU, one at a time; both with HostFifo"),
            *_gpu_pairs((near, far)),
        )
        table = replace(with_origin(table, origin), manifest=pairs)
        states = tuple(replace(state, table=table) for state in plain.states[:1])
        return replace(
            plain,
            table=table,
            states=states,
            platform=self.platform,
            warnings=(*plain.warnings, *_doubts((near, far))),
        )

    def _all_on_gpu(self) -> DesignPoint:
        """Return the mapping with all actors on the GPU that can run there, one at a time, and all others on a core."""
        actors = range(len(self._bench.topology.actors))
        rest = tuple(a for a in actors if a not in self._able)
        chosen = tuple(a for a in actors if a in self._able)
        host = (Partition(name="P0", actors=rest, unit="cpu", policy="NON_PREEMPTIVE"),) if rest else ()
        gpu = Partition(name="PG", actors=chosen, unit="gpu", policy="NON_PREEMPTIVE")
        capacities = self._settings.capacities or run_capacities(self._bench.topology, self._run.fifo_tokens)
        return DesignPoint(partitions=(*host, gpu), capacities=capacities)

    def _kind(self, index: int, *, static: bool, on_gpu: frozenset[int] | None = None) -> FifoKind:
        """Return the kind of a buffer at its end on the GPU; ``static``: with the special FIFO inside the GPU."""
        chosen = self._able if on_gpu is None else on_gpu
        buffer = self._bench.topology.buffers[index]
        return "cuda" if static and {buffer.source, buffer.target} <= chosen else "host"

    def _on_gpu(self, words: str, order: RunOrder, kinds: Sequence[FifoKind], firings: Sequence[FiringIds]) -> _OnGpu:
        self._stage(f"profiling: {words}")
        runs = steady_runs(lambda: self._bench.program.run(order), self._settings.runs)
        times = added(runs.times)
        facts = GpuRunFacts(
            times=times,
            runs=len(runs.records),
            firings=firings,
            kinds=kinds,
            origin="emulated" if times.emulated else "measured",
        )
        return _OnGpu(words=words, runs=runs, times=times, table=gpu_weights(self._bench.topology, facts))

    def _host_on_cpu(self, plain: ProfiledNetwork) -> dict[TransferKey, Cost]:
        """Return what FIFOs between processor and GPU cost the processor: those that an end can leave."""
        profiler = self._profiler(WithFifos(program=self._bench.program, fifos="pinned"))
        rng = np.random.default_rng(self._settings.seed)
        found = profiler.profile(self._settings.runs, rng, heard=lambda text: self._stage(f"{text}, HostFifo"))
        return host_prices(self._bench.topology, plain.runs, found, self._able)

    # Dynamic ----------------------------------------------------------------------------------------------------------

    def dynamic(self, point: DesignPoint) -> ProfiledNetwork:
        """Profile one mapping as it is; what actors cost on either side is merged."""
        bench, topology = self._bench, self._bench.topology
        on_gpu = frozenset(
            actor for part in point.partitions if self.platform.units[1].name == part.unit for actor in part.actors
        )
        if not on_gpu:
            raise OptionError("the mapping has no actor on a GPU", expected="a partition PG; or leave out --cuda")
        before = machine_moment()
        path = self._written(point, "profiled")
        self._stage("profiling on the GPU: trying")
        firings = self._profiler().firings(path)
        kinds = [self._kind(index, static=False, on_gpu=on_gpu) for index in range(len(topology.buffers))]
        gpu = self._on_gpu("in the mapping", self._order(path, "host"), kinds, firings)
        rng = np.random.default_rng(self._settings.seed)
        profiler = Profiler(bench.program, topology, bench.facts, self._run.input, bench.scratch, elsewhere=on_gpu)
        found = profiler.profile(self._settings.runs, rng, mapping=path, heard=self._stage)
        origin: Origin = "emulated" if gpu.times.emulated else "measured"
        cpu = _own_ends(local_weights(found.profile, topology, found.firings), topology, on_gpu)
        after = machine_moment()
        known = profile_manifest(bench, self._run, found, "in one mapping with a GPU", (before, after))
        pairs = (
            *(pair for pair in _renamed(known, origin) if pair[0] != "closure"),
            ("mapping", mapping_text(point, topology, self.platform)),
            ("crossing", "contained in the actions and transfers: this is a profile of one configuration"),
            *_gpu_pairs((gpu,)),
        )
        both = merge_weights(cpu, _inside(gpu.table, topology, on_gpu))
        table = replace(with_origin(both, origin), manifest=pairs)
        return ProfiledNetwork(
            topology=topology,
            table=table,
            states=(),
            platform=self.platform,
            facts=bench.facts,
            runs=found,
            owners=(),
            crossings="",
            moments=(before, after),
            warnings=(*unsteady(before, after, 0.0), *_doubts((gpu,))),
            seconds=0.0,
        )

    # Both -------------------------------------------------------------------------------------------------------------

    def _profiler(self, program: Program | None = None) -> Profiler:
        bench = self._bench
        return Profiler(program or bench.program, bench.topology, bench.facts, self._run.input, bench.scratch)

    def _order(self, path: Path, fifos: FifoChoice) -> RunOrder:
        return RunOrder(input=self._run.input, mapping=path, timed=True, fifos=fifos)

    def _written(self, point: DesignPoint, name: str) -> Path:
        path = self._bench.scratch / f"{name}.xcf"
        write_xcf(point, self._bench.topology, str(path), platform=self.platform)
        return path


def _own_ends(table: WeightTable, topology: Topology, on_gpu: frozenset[int]) -> WeightTable:
    """Return the weights of a mapping's actors on processors: of transfers only what they pay themselves.

    In one mapping a FIFO is what it is there, so its price holds whatever kind an estimate takes it to be.
    """
    transfers: dict[TransferKey, Cost] = {}
    for index, buffer in enumerate(topology.buffers):
        crosses = (buffer.source in on_gpu) != (buffer.target in on_gpu)
        kinds: tuple[FifoKind, ...] = ("host",) if crosses else ("local", "cpu_cpu", "host")
        for side in SIDES:
            if (buffer.target if side == "read" else buffer.source) not in on_gpu:
                price = table.transfers[transfer_key(topology, index, "cpu_cpu", side)]
                transfers |= {transfer_key(topology, index, kind, side): price for kind in kinds}
    return replace(table, transfers=transfers)


def _inside(table: WeightTable, topology: Topology, on_gpu: frozenset[int]) -> WeightTable:
    """Return weights of one mapping in which FIFOs inside the GPU cost what they cost there, of whatever kind."""
    transfers = dict(table.transfers)
    for index, buffer in enumerate(topology.buffers):
        if {buffer.source, buffer.target} <= on_gpu:
            for side in SIDES:
                transfers[*topology.ends(index), "cuda", "gpu", side] = transfers[
                    *topology.ends(index), "host", "gpu", side
                ]
    return replace(table, transfers=transfers)


def _renamed(pairs: Pairs, origin: Origin) -> Pairs:
    """Return pairs of a manifest with the origin in the word with which ``how`` begins."""
    return tuple((k, v.replace("measured", origin, 1) if k == "how" else v) for k, v in pairs)


def _gpu_pairs(parts: Sequence[_OnGpu]) -> Iterator[tuple[str, str]]:
    """Yield which GPU it was, its clock, and how much of the runs the visits of its actors were."""
    first = parts[0].times
    yield "gpu", first.card
    yield (
        "gpu clock",
        "; ".join(
            f"{clock.mhz:.1f} MHz ({part.words}; between {clock.least_mhz:.1f} and {clock.most_mhz:.1f}, "
            f"{part.runs.repeated} runs made again, {part.runs.unsteady} kept although it moved)"
            for part in parts
            if (clock := part.times.clock) is not None
        ),
    )
    yield "gpu readings", f"{first.reading:.0f} cycles each, taken out"
    shares = (
        (part.words, accounted_ns(part.times) / sum(record.run_ns for record in part.runs.records)) for part in parts
    )
    yield "gpu visits", "; ".join(f"{100 * share:.0f} % of the timed runs ({words})" for words, share in shares)


def _doubts(parts: Sequence[_OnGpu]) -> list[str]:
    """Return in words what makes the times of the GPU doubtful."""
    found = [
        f"the clock of the GPU moved by more than 1 % in {part.runs.unsteady} of {len(part.runs.records)} runs "
        f"({part.words}), also when they were made again: lock it, if you may (nvidia-smi --lock-gpu-clocks)"
        for part in parts
        if part.runs.unsteady
    ]
    if parts[0].times.emulated:
        found.append("the GPU was emulated: these times say nothing of a card")
    return found
