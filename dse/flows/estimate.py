"""``dse estimate`` as a function: the makespans of given mappings, and where the time goes in each."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic, InfeasibleDesign
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.flows.capacities import read_capacities, search_capacities
from dse.flows.clocks import clock_domains, clocked_setting, clocks_of_points, fixed_clocks
from dse.flows.graphs import GRAPH
from dse.flows.mappings import beyond_cores, read_mappings
from dse.flows.options import EstimateOptions
from dse.flows.own_costs import deviations
from dse.flows.program import unheard
from dse.flows.setting import Setting, load_setting
from dse.formats.mapping_text import mapping_text
from dse.formats.tables import Column
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Estimate
from dse.model.platform import Platform
from dse.model.trace import Topology
from dse.report.accounts import NamedAccounts, named_accounts
from dse.report.quantities import ratio
from dse.report.why import Reasons, deadlock_lines, reasons_of

ONE_CORE = "all on one core"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingEstimate:
    """The estimate of one mapping, with the times of actors and FIFOs by name.

    ``deadlock``: in words, who waits for what; empty without one.
    """

    mapping: str
    point: DesignPoint
    estimate: Estimate
    reasons: Reasons
    accounts: NamedAccounts
    deadlock: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The outcome of ``estimate_mappings``, in the order in which the mappings were given.

    Where some came from a list of many, they are in the order of their makespans, deadlocks last.
    """

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
        OptionError: samples are asked for that the weights do not have.
        InfeasibleDesign: a mapping can never run, whatever its timing.
    """
    given = load_points(options, stage)
    setting = given.setting
    engine = make_engine(options.problem.engine, setting.tables)
    found = []
    for name, point in given.points:
        stage(f"estimating {name}")
        estimate = engine.estimate(point)
        found.append(mapping_estimate(name, point, estimate, setting))
    if given.listed:
        found.sort(key=lambda m: (bool(m.deadlock), m.estimate.makespan))
    return Estimated(setting=setting, mappings=tuple(found), assumed=given.assumed, warnings=given.warnings)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPoints:
    """Mappings that are given, by name, and what they are estimated with; ``listed``: some are of a list of many.

    ``assumed`` and ``warnings``: of the setting and of the mappings.
    """

    setting: Setting
    points: tuple[tuple[str, DesignPoint], ...]
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    listed: bool


def load_points(options: EstimateOptions, stage: Callable[[str], None] = unheard) -> GivenPoints:
    """Return the mappings of ``options``, or all actors on one core when there are none, and their setting.

    Raises: as ``estimate_mappings``.
    """
    setting = load_setting(options.problem, stage)
    given = _given(options, setting)
    used = {partition.unit for _, point in given.points for partition in point.partitions}
    chosen = clocks_of_points((point for _, point in given.points), setting.platform)
    setting = clocked_setting(setting, chosen, used=used, scaling=options.scaling)
    if options.samples:
        setting = _with_samples(setting, options.problem.weights)
    return GivenPoints(
        setting=setting,
        points=given.points,
        assumed=(*setting.assumed, *given.assumed),
        warnings=(*setting.warnings, *given.warnings),
        listed=given.listed,
    )


_NAMES = ("name", "state", "makespan", "unit", "partitions", "busiest_partition", "busiest_share", "mapping", "digest")


def estimate_columns(estimated: Estimated) -> tuple[Column, ...]:
    """Return the estimates as a table, whose texts ``--mapping`` takes; ``makespan``: in ticks of ``unit``."""
    rows = [_cells(mapping, estimated.setting) for mapping in estimated.mappings]
    values = zip(*rows, strict=True)
    return tuple(Column(name=name, values=column) for name, column in zip(_NAMES, values, strict=True))


def _cells(mapping: MappingEstimate, setting: Setting) -> tuple[str | int | float | None, ...]:
    """Return the values of the columns for one mapping."""
    busiest, estimate, point = mapping.reasons.busiest, mapping.estimate, mapping.point
    return (
        mapping.mapping,
        "deadlock" if mapping.deadlock else "exact",
        None if mapping.deadlock else estimate.makespan,
        estimate.tick_unit,
        len(point.partitions),
        None if busiest is None else busiest.partition,
        None if busiest is None else ratio(busiest.busy, busiest.core_time),
        _sized_text(point, setting.trace.topology, setting.platform),
        point.digest(),
    )


def _sized_text(point: DesignPoint, topology: Topology, platform: Platform) -> str:
    """Return the text of a mapping that says the sizes of all FIFOs."""
    return mapping_text(point, topology, platform, capacities=(0,) * len(point.capacities))


def _with_samples(setting: Setting, weights: Sequence[str]) -> Setting:
    """Return the setting with each firing's own cost. Raises: as ``deviations``, and ``FormatError`` with clocks."""
    own = deviations(weights, setting.trace, setting.problem.weights)
    problem = replace(setting.problem, deviations=own)
    note = f"each firing of {sum(len(of) > 0 for of in own)} of {len(own)} actors at its own cost, as it was profiled"
    return replace(setting, problem=problem, tables=build_tables(problem), assumed=(*setting.assumed, note))


def mapping_estimate(name: str, point: DesignPoint, estimate: Estimate, setting: Setting) -> MappingEstimate:
    """Return the estimate of a point with the reasons for it."""
    topology = setting.trace.topology
    return MappingEstimate(
        mapping=name,
        point=point,
        estimate=estimate,
        reasons=reasons_of(topology, point, estimate, ()),
        accounts=named_accounts(setting.trace, point, estimate),
        deadlock=()
        if estimate.deadlock is None
        else tuple(deadlock_lines(topology, estimate.deadlock, point.capacities)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The points to estimate by name, what is assumed in them, and warnings of their files.

    ``listed``: some are of a list of many.
    """

    points: tuple[tuple[str, DesignPoint], ...]
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    listed: bool = False


def _given(options: EstimateOptions, setting: Setting) -> _Given:
    """Return the points to estimate, as the options change them."""
    given = _of_mappings(options, setting) if options.mappings else _of_one_core(options, setting)
    tokens = read_capacities(options.buffers, setting).tokens if options.buffers else None
    clocks = fixed_clocks(clock_domains(options.clocks, setting.platform))

    def changed(point: DesignPoint) -> DesignPoint:
        return replace(
            point,
            capacities=point.capacities if tokens is None else tokens,
            release=options.release or point.release,
            transfers=options.transfers or point.transfers,
            partitions=tuple(replace(p, clock_mhz=clocks.get(p.unit, p.clock_mhz)) for p in point.partitions),
        )

    return replace(given, points=tuple((name, changed(point)) for name, point in given.points))


def _of_mappings(options: EstimateOptions, setting: Setting) -> _Given:
    """Return the points of the mappings that are given."""
    gather = Gatherer()
    usual = functools.cache(lambda: search_capacities(setting))
    given = read_mappings(
        options.mappings, setting.trace.topology, setting.platform, usual=lambda: usual().tokens, gather=gather
    )
    unsized = [mapping for mapping in given.mappings if not mapping.sized and not options.buffers]
    assumed = usual().assumed if any(mapping.text for mapping in unsized) else ()
    if any(not mapping.text for mapping in unsized):
        assumed = (*assumed, "FIFO capacities that a mapping does not give: those of the network, else 512 tokens")
    points = tuple((mapping.name, mapping.point) for mapping in given.mappings)
    assumed = (*assumed, *beyond_cores(points, setting.platform))
    return _Given(points=points, assumed=assumed, warnings=tuple(gather.warnings), listed=given.listed)


def _of_one_core(options: EstimateOptions, setting: Setting) -> _Given:
    """Return the mapping that stands in where no file is given."""
    of_graph = GRAPH in dict(setting.trace.made_by)  # it never ran, so nobody knows yet which sizes do
    capacities = search_capacities(setting) if of_graph and not options.buffers else read_capacities("", setting)
    assumed = (f"{ONE_CORE} (no --mapping)", *(() if options.buffers else capacities.assumed))
    return _Given(points=((ONE_CORE, one_core(setting, capacities.tokens)),), assumed=assumed)


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
