"""Which weights a search takes: given, counted from the program or predicted; and what is assumed in them, in words."""

from collections.abc import Callable, Collection
from typing import Literal, TypeAlias

from dse.base.errors import OptionError
from dse.base.units import half_up
from dse.estimate.problem.build import derivable
from dse.estimate.problem.prices import UNIT_KINDS
from dse.flows.options import MissingMode
from dse.flows.predict import GpuOutlook, assumption, beside_given, clocked_platform, gpu_outlook
from dse.flows.program import GivenProgram, unheard
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable, merge_weights
from dse.passes.analyses.nominal import fill_missing, nominal_weights
from dse.program.network import Network

Weighed: TypeAlias = tuple[WeightTable, tuple[str, ...]]
"""Weights, and what is assumed in them."""


def choose_weights(
    program: GivenProgram,
    trace: Trace,
    platform: Platform,
    given: WeightTable | None,
    missing: MissingMode,
    stage: Callable[[str], None] = unheard,
) -> Weighed:
    """Return the weights to estimate with, and what is assumed in them.

    Without given weights nominal ones are counted from the program; ``zero`` and ``nominal`` fill what given ones lack.
    Unless one of these was asked for, costs on a GPU with a device are predicted where none are given.
    Of a trace without its program nothing can be counted: there ``zero`` is left to the estimation.
    """
    outlook = GpuOutlook(predicted=None)
    if missing == "error" and program.network is not None:
        outlook = gpu_outlook(program.network, trace, platform, given, stage)
    if given is None:
        return _counted(program, trace, platform, missing, outlook)
    if missing == "error":
        return _beside(given, program.network, outlook)
    return _filled(given, program, trace, platform, missing)


def _beside(given: WeightTable, network: Network | None, outlook: GpuOutlook) -> Weighed:
    """Return given weights, with predicted ones beside them where there are any."""
    if outlook.predicted is None or network is None:
        return given, (*_free_costs(given), *outlook.notes)
    both = beside_given(given, outlook.predicted, network)
    return both, (*_free_costs(given), *assumption(outlook.predicted))


def _filled(
    given: WeightTable,
    program: GivenProgram,
    trace: Trace,
    platform: Platform,
    missing: Literal["zero", "nominal"],
) -> Weighed:
    """Return given weights with zero or nominal ones for those that are missing."""
    if program.network is None and missing == "zero":
        return given, (f"zero for {_absent(trace, given)} missing compute weights", *_free_costs(given))
    nominal = nominal_weights(_counted_from(program), platform, trace.rounds)
    filled, count = fill_missing(given, nominal, missing)
    return filled, ((f"{missing} for {count} missing weights",) if count else ()) + _free_costs(given)


def _counted(
    program: GivenProgram, trace: Trace, platform: Platform, missing: MissingMode, outlook: GpuOutlook
) -> Weighed:
    """Return weights without any given: zero if asked for, else nominal ones, beside predicted ones of a GPU."""
    if missing == "zero":
        return WeightTable(name="zero", has_scheduling=False, has_transfers=False), ("all weights zero",)
    network = _counted_from(program)
    nominal = nominal_weights(network, clocked_platform(platform, outlook), trace.rounds)
    how = "operation counts, rounds of loops as in the run" if any(trace.rounds) else "operation counts"
    if outlook.predicted is not None:
        counted = (f"nominal CPU weights ({how})", *assumption(outlook.predicted))
        return merge_weights(nominal, outlook.predicted.table), counted
    kinds = dict.fromkeys(unit.kind.upper() for unit in platform.units)
    return nominal, (f"nominal {' and '.join(kinds)} weights ({how})", *outlook.notes)


def _counted_from(program: GivenProgram) -> Network:
    """Return the network that operations are counted in. Raises ``OptionError`` for a trace."""
    if program.network is None:
        raise OptionError(
            f"weights are needed: '{program.path}' is a trace, without the program to count operations in",
            expected="give weights with --weights, or take all as zero with --missing-weights zero",
        )
    return program.network


def _free_costs(given: WeightTable) -> tuple[str, ...]:
    """Return what given weights say nothing of at all and what is therefore free."""
    scheduling = () if given.has_scheduling else ("no scheduling costs (no .sxdf in the weights)",)
    transfers = () if given.has_transfers else ("no communication costs (no .cxdf in the weights)",)
    return scheduling + transfers + _rounded(given)


def _rounded(given: WeightTable) -> tuple[str, ...]:
    """Return in words by how much costs without a clock are off that are no whole cycles: a tick is one."""
    tables = (given.compute, given.scheduling, given.transfers)
    costs = [c.mean_cycles for table in tables for c in table.values() if c.frequency_mhz is None]
    costs += [cycles for of in given.simd.values() if of.frequency_mhz is None for cycles in of.block_cycles]
    shares = [abs(half_up(*cost.as_integer_ratio()) / cost - 1) for cost in costs if cost.denominator != 1]
    if not shares:
        return ()
    most = f"{100 * float(max(shares)):.3g} %"
    return (f"{len(shares)} of {len(costs)} costs rounded to whole cycles, by up to {most} (no clock to count in ps)",)


def derived_costs(trace: Trace, weights: WeightTable, platform: Platform, outside: Collection[str]) -> tuple[str, ...]:
    """Return in words from which links the costs of host FIFOs come that the weights do not give.

    ``outside``: the actors that stay on a CPU; a FIFO has a read and a write, each on either unit, as far as they go.
    """
    given = sum(fifo == "host" for _, _, _, _, fifo, _, _ in weights.transfers)
    links = [link.name for link in platform.links if derivable(link)]
    if not links or not platform.has_gpu or given >= _possible_host_costs(trace, outside):
        return ()
    which = "the missing costs" if given else "costs"
    return (f"{which} of host FIFOs from latency and bandwidth of {' and '.join(links)}",)


def _possible_host_costs(trace: Trace, outside: Collection[str]) -> int:
    """Return how many costs the host FIFOs of a network could have."""
    names = [actor.name for actor in trace.topology.actors]
    ends = [names[end] for buffer in trace.topology.buffers for end in (buffer.source, buffer.target)]
    return len(UNIT_KINDS) * sum(name not in outside for name in ends)


def _absent(trace: Trace, table: WeightTable) -> int:
    """Return how many actions fire for which a table has no CPU compute weight."""
    return sum(
        (actor.name, action.name, "cpu") not in table.compute
        for actor, firings in zip(trace.topology.actors, trace.firings, strict=True)
        for index, action in enumerate(actor.actions)
        if (firings == index).any()
    )
