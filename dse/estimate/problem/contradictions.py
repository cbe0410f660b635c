"""Problems that contradict themselves, as programs can put them together: refused before anything is estimated."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from dse.base.errors import FormatError
from dse.estimate.problem.failures import raise_gathered
from dse.model.platform import Platform
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace
from dse.model.weights import WeightTable


def check_problem(problem: Problem) -> None:
    """Raise ``FormatError`` with everything in a problem that contradicts the rest of it."""
    found = [*_of_weights(problem.weights), *_of_platform(problem.platform), *_of_trace(problem.trace)]
    found += [
        f"a clock is chosen for unit '{unit}', which platform '{problem.platform.name}' does not have"
        for unit, _ in problem.clocks
        if problem.platform.unit(unit) is None
    ]
    if found:
        raise_gathered(FormatError, found, expected="make them agree")


def _of_weights(weights: WeightTable) -> Iterator[str]:
    """Yield where weights say that there are none of a kind, and hold some."""
    if weights.scheduling and not weights.has_scheduling:
        yield f"has_scheduling is False, but the weights hold {len(weights.scheduling):,} costs of scheduling"
    if weights.transfers and not weights.has_transfers:
        yield f"has_transfers is False, but the weights hold {len(weights.transfers):,} costs of transfers"


def _of_platform(platform: Platform) -> Iterator[str]:
    """Yield names of units that stand twice, and links between units that there are not."""
    names = [unit.name for unit in platform.units]
    yield from (f"platform '{platform.name}' has two units '{name}'" for name in _twice(names))
    for link in platform.links:
        absent = [end for end in link.between if end not in names]
        yield from (f"link '{link.name}' leads to unit '{end}', which the platform does not have" for end in absent)


def _of_trace(trace: Trace) -> Iterator[str]:
    """Yield actors that stand twice, firings of actions that there are not, FIFOs between ports that there are not."""
    topology = trace.topology
    yield from (f"the trace has two actors '{name}'" for name in _twice(a.name for a in topology.actors))
    if len(trace.firings) != len(topology.actors):
        yield f"the trace has firings of {len(trace.firings)} actors, and {len(topology.actors)} actors"
        return
    for actor, firings in zip(topology.actors, trace.firings, strict=True):
        if len(firings) and int(np.max(firings)) >= len(actor.actions):
            yield f"actor '{actor.name}' fires action {int(np.max(firings))}, and has {len(actor.actions)} actions"
    yield from (f"FIFO {index} leads from or to a port that there is not" for index in _loose_fifos(topology))


def _loose_fifos(topology: Topology) -> Iterator[int]:
    for index, b in enumerate(topology.buffers):
        actors = len(topology.actors)
        ends = 0 <= b.source < actors and 0 <= b.target < actors
        ports = ends and (
            0 <= b.source_port < len(topology.actors[b.source].outputs)
            and 0 <= b.target_port < len(topology.actors[b.target].inputs)
        )
        if not ports:
            yield index


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
