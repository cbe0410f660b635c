"""A profile: what every actor costs on one core, scaled to a run of the program that was not timed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dse.measure.action_costs import ActorCosts, Outliers, actor_costs, quicker_mean, singles_of_actor
from dse.measure.counter import CounterFacts
from dse.measure.samples import Samples, visits_of_actor
from dse.model.trace import FiringIds, Topology

MOST_CLOSURE_ERROR = 0.02
"""A profile whose sum differs more from the run that was not timed is not to be trusted."""
MOST_READING = 2.0
"""In a program a reading takes at most so many times what it takes beside other readings; at least it takes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """How the sum of all costs compares with a run that was not timed, in counts.

    ``summed`` rests on what each visit takes in the quicker half of the runs where it is not interrupted, which leaves
    out what others do now and then. So ``plain`` leaves it out too: it is the time that plain runs had their core for,
    in the mean of the quicker half, and not their lengths, which are half as long again in bad minutes. On several
    cores costs do not add up to the run: there both are such means of the lengths, of timed runs and of plain ones.
    """

    summed: float
    plain: float

    @property
    def error(self) -> float:
        """How much larger the sum is than the plain run, as a share; negative where it is smaller."""
        return self.summed / self.plain - 1.0 if self.plain else 0.0

    @property
    def factor(self) -> float:
        """By what the costs are multiplied to give the plain run."""
        return self.plain / self.summed if self.summed else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InVain:
    """Visits to an actor in which nothing fired, of one run: how many, and what one takes, in counts."""

    visits: float
    steps: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """What the actors of a network cost, in counts of a counter, after scaling. One entry of each an actor.

    What visits in vain take is a part of the cost of the visit that came next. ``facts.cost``: what a reading takes in
    the program, see ``make_profile``.
    """

    facts: CounterFacts
    actors: tuple[ActorCosts, ...]
    in_vain: tuple[InVain, ...]
    closure: Closure
    runs: int

    @property
    def outliers(self) -> Outliers:
        """The outliers of all actors."""
        return sum((costs.outliers for costs in self.actors), Outliers())


def make_profile(
    runs: Sequence[Samples],
    topology: Topology,
    firings: Sequence[FiringIds],
    plain_ns: Sequence[float],
    facts: CounterFacts,
    visits: Sequence[Samples] = (),
    *,
    alone: bool = True,
) -> Profile:
    """Return the profile of at least one timed run with the trace ``firings``, and at least one plain run.

    ``plain_ns``: what runs of the program without timing took. ``visits``: timed runs in which no
    firing was timed singly. What an actor takes in all is told by them, since timing single firings takes time in all
    firings of the actor; ``runs`` tell how it is spread over actions and phases. ``facts.cost`` is what a reading takes
    beside others. In a program it takes longer where the instructions before and behind it overlap less, and what was
    read is written down; it takes less where a processor goes on with them meanwhile. On one core the two kinds of runs
    tell how much, at most ``MOST_READING`` times as long. Not ``alone``: a GPU had actors too, so what cores did is not
    all of the run, and nothing is scaled to it.
    Raises ``ValueError`` where the records do not fit the trace.
    """
    plain = quicker_mean(plain_ns) * facts.hz / 1e9
    actors = _merged_costs(runs, visits, topology, firings, facts)
    if alone and all(len(run.threads) == 1 for run in runs):
        cost = _reading_in_place(visits or runs, _total(actors), plain, facts.cost)
        if cost != facts.cost:
            facts = replace(facts, cost=cost)
            actors = _merged_costs(runs, visits, topology, firings, facts)
        summed = _total(actors)
    else:
        summed = quicker_mean([float(run.run_ns) for run in runs]) * facts.hz / 1e9 if alone else plain
    closure = Closure(summed=summed, plain=plain)
    return Profile(
        facts=facts,
        actors=tuple(costs.scaled(closure.factor) for costs in actors),
        in_vain=tuple(_in_vain(runs, a, facts) for a in range(len(actors))),
        closure=closure,
        runs=len(runs),
    )


def _total(actors: Sequence[ActorCosts]) -> float:
    return sum(costs.total for costs in actors)


def _merged_costs(
    runs: Sequence[Samples],
    visits: Sequence[Samples],
    topology: Topology,
    firings: Sequence[FiringIds],
    facts: CounterFacts,
) -> list[ActorCosts]:
    """Return the costs of each actor, not scaled to the plain run; ``visits``: as in ``make_profile``.

    Raises ``ValueError`` where the records do not fit the trace.
    """

    of_actors = list(zip(topology.actors, firings, strict=True))

    def costs_of(actor: int, records: Sequence[Samples]) -> ActorCosts:
        of_actor, ids = of_actors[actor]
        visited = [visits_of_actor(samples, actor, ids, len(of_actor.actions)) for samples in records]
        singles = singles_of_actor([[t.singles for t in run.threads] for run in records], actor, facts.cost)
        return actor_costs(actor, visited, singles, facts)

    found = [costs_of(actor, runs) for actor in range(len(of_actors))]
    if not visits:
        return found
    return [
        costs.scaled(costs_of(actor, visits).total / costs.total) if costs.total > 0 and _has_singles(costs) else costs
        for actor, costs in enumerate(found)
    ]


def _has_singles(costs: ActorCosts) -> bool:
    return any(action is not None and action.choosing is not None for action in costs.actions)


def _reading_in_place(runs: Sequence[Samples], summed: float, plain: float, cost: float) -> float:
    """Return what a reading takes in a program, in counts, if that is why its visits do not add up to a plain run.

    ``summed``: what they add up to where a reading takes ``cost``.
    """
    readings = sum(int(thread.visits.readings.sum()) for run in runs for thread in run.threads) / len(runs)
    more = (summed - plain) / readings if readings else 0.0
    return min(max(cost + more, 0.0), MOST_READING * cost)


def _in_vain(runs: Sequence[Samples], actor: int, facts: CounterFacts) -> InVain:
    """Return the visits in vain of one run, in the mean of all."""
    rows = [thread.fruitless for run in runs for thread in run.threads]
    visits = sum(float(f.visits[f.actor == actor].sum()) for f in rows)
    steps = sum(float(f.steps[f.actor == actor].sum()) for f in rows)
    return InVain(visits=visits / len(runs), steps=max(steps / visits - facts.cost, 0.0) if visits else 0.0)
