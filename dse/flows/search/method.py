"""The method of a search: which one, what it is told of the problem, and how it sees the objectives."""

from dataclasses import dataclass

import numpy as np

from dse.base.errors import OptionError
from dse.estimate.engine import ENGINES
from dse.explore.evaluator import Budget
from dse.explore.mapping_bound import AtLeast, MappingBound
from dse.explore.method import SearchContext, SearchMethod, Traffic
from dse.explore.methods.choose import choose_method
from dse.explore.methods.registry import METHODS
from dse.explore.objectives.front import ByGoals, Goals, by_goals, check_method_for, choose_method_for
from dse.explore.space.space import Space
from dse.flows.options import ExploreOptions
from dse.flows.robust import AMONG, asked_robust
from dse.flows.setting import Setting
from dse.model.trace import Trace, tokens_of_buffers

KEPT = 10
"""So many of the best are exact and shown: no bound excludes a mapping that could be among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodChoice:
    """The name of a method in ``METHODS``, and why it is this one."""

    name: str
    reason: str


def kept(options: ExploreOptions) -> int:
    """Return how many of the best points have to be exact."""
    return max(KEPT, options.best, options.measure or 0, 0 if options.robust is None else AMONG)


def choose(options: ExploreOptions, space: Space, goals: Goals | None, budget: Budget) -> MethodChoice:
    """Return the method that ``options`` ask for. Raises ``OptionError`` where it cannot do what they ask for."""
    searched = searched_goals(goals)
    if options.method == "auto":
        name, reason = choose_method_for(searched, space, budget) if searched else choose_method(space)
        return MethodChoice(name=name, reason=reason)
    METHODS.load(options.method)
    if options.policy_per_partition and options.method == "integer-program":
        raise OptionError(
            "method 'integer-program' knows one policy for all partitions", expected="leave out --policy-per-partition"
        )
    if searched is not None:
        check_method_for(searched, options.method)
    return MethodChoice(name=options.method, reason="as asked")


def looks(options: ExploreOptions) -> bool:
    """Return whether a search is followed by a look: nobody chose policies, sizes or another objective."""
    usual = ExploreOptions(problem=options.problem)
    chosen = (options.policies, options.policy_per_partition, options.buffers, options.objectives, options.robust)
    return chosen == (usual.policies, usual.policy_per_partition, usual.buffers, usual.objectives, usual.robust)


def check_options(options: ExploreOptions) -> None:
    """Raise ``OptionError`` for what is wrong whatever the network is, before time goes into it."""
    if options.method != "auto":
        METHODS.load(options.method)
    ENGINES.load(options.problem.engine)
    _check_numbers(options)
    if options.cuda is not None and options.measure is None and not options.refine and options.problem.weights:
        raise OptionError("--cuda says what is measured and run here, and nothing is", expected="--measure or --refine")
    asked_robust(options)


def _check_numbers(options: ExploreOptions) -> None:
    """Raise ``OptionError`` where a number of the options is too small."""
    if options.workers < 1:
        raise OptionError(f"{options.workers} threads estimate nothing", expected="--workers takes 1 or more")
    if options.batch < 1:
        raise OptionError(f"batches of {options.batch} mappings hold nothing", expected="--batch takes 1 or more")
    if options.best < 1:
        raise OptionError(f"{options.best} best mappings are asked for", expected="--best takes 1 or more")
    if options.measure is not None and options.measure < 1:
        raise OptionError(f"{options.measure} mappings are to be measured", expected="--measure takes 1 or more")
    if options.refine < 0:
        raise OptionError(f"a search cannot be refined {options.refine} times", expected="--refine takes 0 or more")
    if options.seed < 0:
        raise OptionError(f"a seed of {options.seed} is below 0", expected="--seed takes 0 or more")


def searched_goals(goals: Goals | None) -> Goals | None:
    """Return the goals that the search itself has to know: none where the makespan, or a function of it, is all."""
    return None if goals is None or goals.of_makespan else goals


def make_method(name: str, context: SearchContext, goals: Goals | None) -> SearchMethod:
    """Return a method in its context; one that searches by ``goals`` takes costs for makespans."""
    searched = searched_goals(goals)
    if searched is None:
        method: SearchMethod = METHODS.load(name)(context)
        return method
    least = searched.least(context.space)[0] if len(searched.axes) == 1 else 0
    return ByGoals(METHODS.load(name)(by_goals(context, searched)), searched, least)


def search_context(
    setting: Setting, space: Space, seed: int, keep: int, least: int, bound: MappingBound | None = None
) -> SearchContext:
    """Return what a method may know; ``least``: a makespan that no point of the space can beat.

    ``bound``: the bounds of the space where they have been built: that takes longer than all else here.
    """
    return bounded_context(setting.trace, space, bound or MappingBound(setting.tables, space), seed, keep, least)


def bounded_context(trace: Trace, space: Space, bound: MappingBound, seed: int, keep: int, least: int) -> SearchContext:
    """Return what a method may know of a space with these bounds; for the rest see ``search_context``."""
    return SearchContext(
        space=space,
        rng=np.random.default_rng(seed),
        loads=bound.unit_loads,
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=n, port=b.source_port)
            for b, n in zip(trace.topology.buffers, tokens_of_buffers(trace), strict=True)
        ),
        bounds=AtLeast(bound, least),
        keep=keep,
        placement=bound.placement(least),
    )
