"""``dse estimate`` as a function: the makespans of given mappings, and where the time goes in each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic, InfeasibleDesign
from dse.estimate.engine import make_engine
from dse.flows.clocks import clock_domains, clocked_setting, clocks_of_points, fixed_clocks
from dse.flows.options import EstimateOptions
from dse.flows.program import Setting, load_setting, read_capacities, unheard
from dse.formats.xcf import read_xcf, states_sizes
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Estimate
from dse.model.platform import Platform
from dse.report.why import Reasons, deadlock_lines, reasons_of

ONE_CORE = "all on one core"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingEstimate:
    """The estimate of one mapping. ``deadlock``: in words, who waits for what; empty without one."""

    mapping: str
    point: DesignPoint
    estimate: Estimate
    reasons: Reasons
    deadlock: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The outcome of ``estimate_mappings``, in the order in which the mappings were given."""

    setting: Setting
    mappings: tuple[MappingEstimate, ...]
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def all_deadlock(self) -> bool:
        """Whether no mapping completes."""
        return all(m.deadlock for m in self.mappings)


def estimate_mappings(options: EstimateOptions, stage: Callable[[str], None] = unheard) -> Estimated:
    """Estimate the mappings of ``options``, or all actors on one core when there are none.

    Raises:
        FormatError: a mapping does not fit the network or the platform, or another file is wrong.
        InfeasibleDesign: a mapping can never run, whatever its timing.
    """
    setting = load_setting(options.problem, stage)
    points, assumed, warnings = _points(options, setting)
    used = {partition.unit for _, point in points for partition in point.partitions}
    chosen = clocks_of_points((point for _, point in points), setting.platform)
    setting = clocked_setting(setting, chosen, used=used)
    engine = make_engine(options.problem.engine, setting.problem)
    found = []
    for name, point in points:
        stage(f"estimating {name}")
        estimate = engine.estimate(point)
        found.append(_mapping_estimate(name, point, estimate, setting))
    return Estimated(
        setting=setting,
        mappings=tuple(found),
        assumed=(*setting.assumed, *assumed),
        warnings=(*setting.warnings, *warnings),
    )


def _mapping_estimate(name: str, point: DesignPoint, estimate: Estimate, setting: Setting) -> MappingEstimate:
    topology = setting.trace.topology
    return MappingEstimate(
        mapping=name,
        point=point,
        estimate=estimate,
        reasons=reasons_of(topology, point, estimate, ()),
        deadlock=()
        if estimate.deadlock is None
        else tuple(deadlock_lines(topology, estimate.deadlock, point.capacities)),
    )


def _points(
    options: EstimateOptions, setting: Setting
) -> tuple[list[tuple[str, DesignPoint]], tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return the named points to estimate, what is assumed in them, and warnings of their files."""
    assumed: tuple[str, ...] = ()
    if options.mappings:
        gather = Gatherer()
        named = [(path, read_xcf(path, setting.trace.topology, setting.platform, gather)) for path in options.mappings]
        warnings = tuple(gather.warnings)
        if not options.buffers and not all(states_sizes(path) for path in options.mappings):
            assumed = ("FIFO capacities that a mapping does not give: those of the network, else 512 tokens",)
    else:
        capacities = read_capacities("", setting)
        named, warnings = [(ONE_CORE, one_core(setting, capacities.tokens))], ()
        assumed = (f"{ONE_CORE} (no --mapping)", *(capacities.assumed if not options.buffers else ()))
    if options.buffers:
        tokens = read_capacities(options.buffers, setting).tokens
        named = [(name, replace(point, capacities=tokens)) for name, point in named]
    clocks = fixed_clocks(clock_domains(options.clocks, setting.platform))
    changed = [
        (
            name,
            replace(
                point,
                release=options.release or point.release,
                transfers=options.transfers or point.transfers,
                partitions=tuple(replace(p, clock_mhz=clocks.get(p.unit, p.clock_mhz)) for p in point.partitions),
            ),
        )
        for name, point in named
    ]
    return changed, assumed, warnings


def one_core(setting: Setting, capacities: tuple[int, ...]) -> DesignPoint:
    """Return the mapping of all actors in one partition on one core of the first CPU unit."""
    cpu = next((unit for unit in setting.platform.units if unit.kind == "cpu"), None)
    if cpu is None:
        raise no_cpu(setting.platform)
    actors = tuple(range(len(setting.trace.topology.actors)))
    return DesignPoint(partitions=(Partition(name="P0", actors=actors, unit=cpu.name),), capacities=capacities)


def no_cpu(platform: Platform) -> InfeasibleDesign:
    """Return the error for a platform without a CPU."""
    return InfeasibleDesign(
        f"platform '{platform.name}' has no CPU unit to put all actors on", expected="give a mapping with --mapping"
    )
