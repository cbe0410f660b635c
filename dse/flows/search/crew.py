"""Who walks the legs of a search (``dse.explore.methods.in_legs``): processes of this machine, or a cluster."""

import time
from collections.abc import Sequence

from dse.explore.distribution.cluster import ClusterEstimator, ClusterHand
from dse.explore.distribution.crew import Crew, Hand
from dse.explore.distribution.processes import process_hands
from dse.explore.evaluator import Estimator, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.improving.iterated_search import LANES, SOLO
from dse.flows.options import ExploreOptions
from dse.flows.setting import Setting

LEGGED_FIRINGS = 100_000
"""Traces of up to so many firings are searched in legs. With longer ones a leg takes many seconds, and threads are kept
busy by the estimates alone: there proposals are a hundredth of the time."""


PROCESS_SECONDS = 1.0
"""After so long a process can walk."""


def goes_in_legs(setting: Setting) -> bool:
    """Return whether a search of the makespan goes on in legs. No result depends on who walks them, but on this."""
    return setting.trace.n_firings <= LEGGED_FIRINGS


def crew_of(
    options: ExploreOptions, setting: Setting, estimator: Estimator, evaluator: Evaluator, context: SearchContext
) -> Crew:
    """Return those who walk the legs of a search; they begin when it has any. Close it."""
    cluster = estimator if isinstance(estimator, ClusterEstimator) else None
    most, seconds = evaluator.evaluations_left, evaluator.seconds_left
    brief = (most is not None and most <= SOLO) or (seconds is not None and seconds <= PROCESS_SECONDS)
    crew = Crew(
        context,
        estimator,
        [] if brief else _hands(options, setting, cluster, context),
        clock=time.perf_counter,
        walks=cluster is None,
    )
    if evaluator.resumes:
        crew.replay(evaluator.stored)
    return crew


def _hands(
    options: ExploreOptions, setting: Setting, cluster: ClusterEstimator | None, context: SearchContext
) -> Sequence[Hand]:
    if cluster is not None:
        return [ClusterHand(cluster, context) for _ in range(LANES)]
    others = min(options.workers, LANES) - 1  # this process walks too
    return process_hands(setting.problem, options.problem.engine, context, others, LANES)
