"""A look at what nobody asked for: would the best mappings take less time with another policy or other FIFO sizes?

A search without ``--policy`` and ``--buffers`` keeps to the defaults. When it is over, the first mappings of its
ranking are estimated once with the other policies and some sizes, the last of which are those of ``maximal``: with
more of them nothing changes. The ranking stays as it is; what is gained, and how to ask for it, is one line.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dse.base.errors import DseError
from dse.base.time_limit import TimeLimit, TimeSpent
from dse.estimate.engine import Engine
from dse.explore.each_number import LOOK_SHARE
from dse.flows.buffers import parse_sizing_method, sized_capacities
from dse.flows.capacities import read_capacities
from dse.flows.search.method import looks
from dse.flows.search.study import Search
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS, DesignPoint, Policy
from dse.model.study import Evaluation, OtherSetting, Study

POLICIES: tuple[Policy, ...] = ("NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN")
"""Those that a core can have; FULL_PARALLEL has as many cores as it likes."""
MOST_LOOKS = 200
DOUBLINGS = 4
MOST_ACTORS = 1_000
"""With more actors only policies are looked at: to find the sizes of ``maximal`` took minutes and 3 GB with 5,000."""
WORTH = 0.01
"""A gain below is not worth a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """Capacities of all buffers, and the value of ``--buffers`` that gives them; empty: the default."""

    text: str
    tokens: tuple[int, ...]


def with_look(search: Search, study: Study, engine: Engine, limit: TimeLimit) -> Study:
    """Return the study with what the look found, if that is worth a line and there was time for it."""
    budget = search.plan.budget.evaluations
    most = MOST_LOOKS if budget is None else min(MOST_LOOKS, budget // LOOK_SHARE)
    if not looks(search.options) or study.stop == "interrupted" or not study.ranking:
        return study
    try:
        with limit.enforced():
            return replace(study, other=_look(search, study.ranking, engine, most))
    except TimeSpent:
        return study


def _look(search: Search, ranking: Sequence[Evaluation], engine: Engine, most: int) -> OtherSetting | None:
    """Return the quickest other setting of the first mappings, with at most so many estimates; None: none is worth it.

    Of equally quick ones it is that of the least memory, then the one with the default policy.
    """
    sizes = _sizes(search)
    settings = [pair for pair in itertools.product(POLICIES, sizes) if pair != (POLICIES[0], sizes[0])]
    memory_of = search.setting.trace.topology.memory_bytes
    than, usual = ranking[0].makespan, memory_of(sizes[0].tokens)
    limit = int(than * (1 - WORTH))
    found: list[tuple[int, int, int, OtherSetting]] = []
    for evaluation in ranking[: most // max(1, len(settings))]:
        points = [_with(evaluation.point, policy, of.tokens) for policy, of in settings]
        estimates = engine.outcomes(points, limit)
        for number, ((policy, of), estimate) in enumerate(zip(settings, estimates, strict=True)):
            if estimate is not None:
                memory = memory_of(of.tokens)
                other = OtherSetting(
                    policy=None if policy == POLICIES[0] else policy,
                    buffers=of.text,
                    more_bytes=memory - usual,
                    makespan=estimate.makespan,
                    than=than,
                )
                found.append((estimate.makespan, memory, number, other))
    return min(found, key=lambda entry: entry[:3])[3] if found else None


def _with(point: DesignPoint, policy: Policy, tokens: tuple[int, ...]) -> DesignPoint:
    partitions = tuple(replace(partition, policy=policy) for partition in point.partitions)
    return replace(point, partitions=partitions, capacities=tokens)


def _sizes(search: Search) -> list[_Sizes]:
    """Return the default sizes, then others: doubled ones below those of ``maximal``, and these."""
    (usual,) = search.space.options.capacities
    return [_Sizes(text="", tokens=usual), *_others(search, usual)]


def _others(search: Search, usual: tuple[int, ...]) -> Iterator[_Sizes]:
    setting = search.setting
    if len(setting.trace.topology.actors) > MOST_ACTORS:
        return
    try:
        largest = sized_capacities(parse_sizing_method("maximal"), setting, search.options.problem.engine).tokens
    except DseError:
        return  # an actor cannot be on a core: what nobody asked for is no error
    for doubling in range(DOUBLINGS):
        tokens = read_capacities(str(DEFAULT_CAPACITY_TOKENS << doubling), setting).tokens
        fits = all(map(int.__ge__, tokens, setting.tables.least_capacity))
        if fits and tokens != usual and any(map(int.__lt__, tokens, largest)):
            yield _Sizes(text=str(tokens[0]), tokens=tokens)
    if largest != usual:
        yield _Sizes(text="maximal", tokens=largest)
