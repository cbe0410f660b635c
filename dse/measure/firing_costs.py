"""What every single firing cost, by its place in the trace: for costs that depend on data.

A firing that was timed singly has its own time, the mean over the runs. Any other has the mean of its action, times how
much longer than predicted the visit took in which it fired; so the sum over a visit is right, its parts are guesses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.measure.action_costs import ActorCosts, SingleFirings, merged_visits, singles_of_actor
from dse.measure.profile import Profile
from dse.measure.samples import ActorVisits, Samples, visits_of_actor
from dse.model.trace import FiringIds, Topology


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiringCosts:
    """The cost of each firing of an actor in counts, shape (n_firings,), float32, in the scale of the profile."""

    name: str
    counts: NDArray[np.float32]


def firing_costs(
    profile: Profile, runs: Sequence[Samples], topology: Topology, firings: Sequence[FiringIds]
) -> list[FiringCosts]:
    """Return the costs of all firings, one entry an actor. Raises ``ValueError`` where records do not fit the trace."""
    found = []
    for a, (actor, ids) in enumerate(zip(topology.actors, firings, strict=True)):
        visits = [visits_of_actor(run, a, ids, len(actor.actions)) for run in runs]
        singles = singles_of_actor([[t.singles for t in run.threads] for run in runs], a, profile.facts.cost)
        found.append(FiringCosts(name=actor.name, counts=_of_actor(profile, profile.actors[a], ids, visits, singles)))
    return found


def _of_actor(
    profile: Profile, costs: ActorCosts, ids: FiringIds, visits: Sequence[ActorVisits], singles: SingleFirings
) -> NDArray[np.float32]:
    """Return the cost of each firing of one actor."""
    factor, means = costs.factor, costs.means()
    choosing = np.array([0.0 if a is None or a.choosing is None else a.choosing.mean for a in costs.actions])
    timed = np.array([a is not None and a.choosing is not None for a in costs.actions], dtype=np.bool_)
    short = np.where(timed, choosing, means)  # what of a firing is in the rest of its visit
    merged = merged_visits(visits, singles, profile.facts)
    predicted = costs.visit + merged.counts @ short
    ratio = np.ones(len(predicted))
    np.divide(merged.rest * factor, predicted, out=ratio, where=predicted > 0)
    shape = visits[0] if merged.repeated or len(visits) == 1 else None
    each = short[ids]
    if shape is not None:
        each = each * np.repeat(ratio, shape.counts.sum(axis=1))
    own = (singles.reading + singles.computing + singles.writing) * factor
    many = np.bincount(singles.firing, minlength=len(ids))
    total = np.bincount(singles.firing, weights=own, minlength=len(ids))
    each = each + np.where(many > 0, total / np.maximum(many, 1), np.where(timed[ids], (means - choosing)[ids], 0.0))
    return each.astype(np.float32)
