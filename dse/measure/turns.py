"""Visits that are timed in turns: how many of a run, what they take more than on one core, and what timing adds.

Two readings of the counter and a record take 25 ns of a visit of 100. On one core that is told from the costs, but on
several cores each waits for the other's: timed runs of fine programs took 1.2 to 1.5 times as long as plain ones. Where
one visit in 8 is timed, at random, ten mappings of one program took 1.06 times as long, and 1.21 where all were. Such a
visit takes longer than one among others that are timed, since the processor did not expect it: how much, runs on one
core tell that are timed in turns too.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.measure.looks import Called, looks_of
from dse.measure.profile import Profile
from dse.measure.samples import ActorVisits, Samples, visits_of_actor
from dse.model.trace import FiringIds

FloatArray = NDArray[np.float64]
MOST_TIMING = 0.01
"""Readings may take this share of what visits take."""
MOST_APART = 8
"""At least one visit of so many is timed."""
FEWEST_TIMED = 20_000
"""So many visits of a run are timed, if it has them: those of some ends of FIFOs are few."""
INTERRUPTED_S = 20e-6
"""What a visit takes more at most; a page fault takes a microsecond, another process that runs some hundred."""
_FEWEST_TOLD = 100
"""Of fewer visits of an actor nothing is told."""
_MOST_ADDED = 4.0
"""Timing a visit adds at most so many readings; what is above is no timing."""


def visits_apart(profile: Profile, runs: Sequence[Samples]) -> int:
    """Return of how many visits one is to be timed, by the profile of ``runs`` on one core."""
    visits = sum(len(thread.visits.actor) for run in runs for thread in run.threads) // max(len(runs), 1)
    if not visits or not profile.closure.plain:
        return 1
    timing = 2 * profile.facts.cost * visits / profile.closure.plain
    return max(1, min(math.ceil(timing / MOST_TIMING), MOST_APART, visits // FEWEST_TIMED))


def local_and_more(profile: Profile, actor: int, visits: ActorVisits, between: float) -> tuple[FloatArray, FloatArray]:
    """Return what visits of an actor would take by its profile, and what they took more, in its scale; shape (n,) each.

    ``between``: what the scheduler takes from one visit to the next, in counts as they were read.
    """
    costs = profile.actors[actor]
    steps = (visits.inside(profile.facts.cost) + between) * profile.closure.factor
    local = costs.visit + visits.counts @ costs.means()
    return local, np.minimum(steps - local, INTERRUPTED_S * profile.facts.hz)


def timing_costs(profile: Profile, alone: Sequence[Samples], firings: Sequence[FiringIds]) -> tuple[float, ...]:
    """Return what a visit of each actor takes more that is timed among others that are not, in the scale of a profile.

    ``alone``: runs on one core in which visits were timed in turns; ``firings``: of each actor in them. The median
    counts, since interruptions are in what crossing takes and not in this. Where there are none, or few visits of an
    actor, nothing. Raises ``ValueError`` where the records of one do not fit the firings.
    """
    between = looks_of([Called(samples=samples) for samples in alone], profile.facts.cost).between

    def of_actor(actor: int) -> float:
        actions = len(profile.actors[actor].actions)
        visited = [visits_of_actor(samples, actor, firings[actor], actions) for samples in alone]
        more = [local_and_more(profile, actor, visits, between)[1] for visits in visited]
        found = np.concatenate([np.zeros(0), *more])
        most = _MOST_ADDED * profile.facts.cost
        return float(np.clip(np.median(found), 0.0, most)) if len(found) >= _FEWEST_TOLD else 0.0

    return tuple(of_actor(actor) for actor in range(len(profile.actors)))
