"""From the evaluations of a search to its Pareto front, and the adapter that lets any method search by objectives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.errors import OptionError
from dse.explore.evaluator import Budget
from dse.explore.method import SearchContext, SearchMethod
from dse.explore.objectives.objectives import Basis, Objective, make_objective
from dse.explore.objectives.pareto import Costs, ParetoArchive, hypervolume
from dse.explore.objectives.registry import MAKESPAN
from dse.explore.space.placement import Placement
from dse.explore.space.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation, Front, FrontPoint, ObjectiveAxis

MAKESPAN_ONLY = (MAKESPAN,)
MEASURED = 4
"""The hypervolume looks at so many objectives, the first ones: its cost grows exponentially with their number."""
HISTORY = 64
"""At most about so many fronts on the way are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goals:
    """The objectives of a search, in the order in which the user named them; the first one ranks."""

    axes: tuple[ObjectiveAxis, ...]
    objectives: tuple[Objective, ...]

    @property
    def of_makespan(self) -> bool:
        """Whether the cost of every objective is the makespan itself, so that its bounds hold for all of them."""
        return all(objective.of_makespan for objective in self.objectives)

    def costs(self, evaluation: Evaluation) -> Costs:
        """Return the costs of an evaluation without deadlock."""
        point = evaluation.point
        return tuple(objective.cost(point, evaluation) for objective in self.objectives)

    def least(self, space: Space) -> Costs:
        """Return costs that no point of a space beats; 0 where nothing is known."""
        cores = space.n_actors if "FULL_PARALLEL" in space.options.policies else min(space.most, space.n_actors)
        return tuple(objective.least(space.options, cores) for objective in self.objectives)

    def limits(self, least: Costs) -> tuple[float | None, ...]:
        """Return such costs as people read them, None where nothing is known."""
        pairs = zip(self.objectives, least or (0,) * len(self.objectives), strict=True)
        return tuple(objective.value(cost) if cost else None for objective, cost in pairs)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said of the costs, in words."""
        return tuple(filter(None, (objective.remark for objective in self.objectives)))

    def values(self, costs: Costs) -> tuple[float, ...]:
        """Return costs as people read them."""
        return tuple(objective.value(cost) for objective, cost in zip(self.objectives, costs, strict=True))


def make_goals(names: Sequence[str], basis: Basis) -> Goals | None:
    """Return the goals of the named objectives; None where the makespan is the only one.

    Raises:
        OptionError: an objective is unknown, named twice, or needs what the problem does not give.
    """
    if not names:
        raise OptionError("no objective is named", expected="--objectives makespan,memory")
    if len(set(names)) < len(names):
        raise OptionError(f"an objective is named twice: {', '.join(names)}", expected="name each once")
    if tuple(names) == MAKESPAN_ONLY:
        return None
    objectives = tuple(make_objective(name, basis) for name in names)
    axes = tuple(
        ObjectiveAxis(name=name, unit=objective.unit, maximise=objective.maximise)
        for name, objective in zip(names, objectives, strict=True)
    )
    return Goals(axes=axes, objectives=objectives)


PROVING = ("branch-and-bound", "integer-program", "portfolio")
"""Methods whose proofs rest on bounds of the makespan."""
ALL_POINTS = 5_000
"""Up to this many points ``auto`` estimates all of them, which gives the whole front."""


def choose_method_for(goals: Goals, space: Space, budget: Budget) -> tuple[str, str]:
    """Return the method that ``auto`` stands for when the makespan is not the only objective, and why in words."""
    limit = ALL_POINTS if budget.evaluations is None else min(ALL_POINTS, budget.evaluations)
    if space.size < limit:
        bounded = len(goals.axes) == 1 and any(goals.least(space))
        why = "every point that its bound does not exclude" if bounded else "every point, as no bound excludes any"
        return "exhaustive", why
    if len(goals.axes) == 1:
        return "local-search", "the space is too large to cover"
    return "pareto-search", "several objectives, and the space is too large to cover"


def check_method_for(goals: Goals, method: str) -> None:
    """Raise ``OptionError`` where a method only knows the makespan."""
    if method in PROVING:
        names = ", ".join(axis.name for axis in goals.axes)
        raise OptionError(
            f"method '{method}' works with bounds of the makespan, the objectives are {names}",
            expected="--method pareto-search, nsga2 or exhaustive, or --objectives makespan",
        )


def by_goals(context: SearchContext, goals: Goals) -> SearchContext:
    """Return the context of a search by goals. Bounds of the makespan say nothing about others.

    Where there is one objective its own bounds leave points out; of several each may be better in another one.
    """
    (first, *others), to_point = goals.objectives, context.space.to_point

    def bounds(candidates: Sequence[Candidate]) -> list[int]:
        return [0 if others else first.bound(to_point(candidate)) for candidate in candidates]

    return replace(context, bounds=bounds, placement=Placement(), objectives=len(goals.axes))


class ByGoals:
    """A method that is told costs instead of makespans: what it takes for the makespan is the first objective."""

    ceiling = None
    """Every makespan: objectives are computed from exact evaluations."""

    def __init__(self, method: SearchMethod, goals: Goals, least: int = 0) -> None:
        """``least``: a cost of the only objective that no point beats; 0 says nothing."""
        self._method = method
        self._goals = goals
        self._least = least
        self._met = False

    @property
    def done(self) -> bool:
        """See ``SearchMethod``; also done where a point is as good as any can be."""
        return self._method.done or (self._met and not self._method.exact)

    @property
    def exact(self) -> bool:
        """See ``SearchMethod``; so are those that leave nothing out, and any that has met what none can beat."""
        return self._met or self._method.exact

    @property
    def proven(self) -> int:
        """Nothing: what the method proves is about the first objective, not about the makespan."""
        return 0

    @property
    def pruned(self) -> int:
        """See ``SearchMethod``."""
        return self._method.pruned

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """See ``SearchMethod``."""
        return self._method.ask(n)

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Tell the costs of the results."""
        seen = [self._seen(result) for result in results]
        self._met = self._met or any(not e.deadlock and e.costs[0] <= self._least for e in seen if self._least)
        self._method.tell(seen)

    def _seen(self, result: Evaluation) -> Evaluation:
        if result.deadlock:
            return result
        costs = self._goals.costs(result)
        return replace(result, makespan=costs[0], costs=costs)


def ranked_by(goals: Goals, evaluations: Sequence[Evaluation]) -> tuple[Evaluation, ...]:
    """Return the evaluations without deadlock, best first: objectives in turn, fewer partitions, the earlier one.

    Cut ones, which only objectives of the makespan have, are left out: as many as are shown are ahead of them.
    """
    alive = [e for e in evaluations if not e.deadlock and not e.cut]
    return tuple(sorted(alive, key=lambda e: (goals.costs(e), e.n_partitions, e.ordinal)))


def front_of(goals: Goals, evaluations: Sequence[Evaluation], least: Costs = ()) -> Front | None:
    """Return the front of evaluations in the order in which they were made; None where all deadlock.

    ``least``: costs that no point beats (``Goals.least``).

    Cut ones are not on it, and their costs are not known: the worst values are those of the others.
    """
    costs = {e.ordinal: goals.costs(e) for e in evaluations if not e.deadlock and not e.cut}
    if not costs:
        return None
    of_objective = list(zip(*costs.values(), strict=True))
    ideal, worst = tuple(map(min, of_objective)), tuple(map(max, of_objective))
    archive = ParetoArchive()
    fronts = [(count, [c[:MEASURED] for _, c in front]) for count, front in _grown(archive, costs, evaluations)]
    history = _history(fronts, ideal, worst)
    by_ordinal = {e.ordinal: e for e in evaluations}
    return Front(
        axes=goals.axes,
        points=tuple(
            FrontPoint(evaluation=by_ordinal[ordinal], values=goals.values(of_point))
            for ordinal, of_point in archive.front
        ),
        reference=goals.values(worst),
        ideal=goals.values(ideal),
        hypervolume=history[-1][1],
        history=history,
        limits=goals.limits(least),
    )


def _grown(
    archive: ParetoArchive, costs: Mapping[int, Costs], evaluations: Sequence[Evaluation]
) -> Iterator[tuple[int, list[tuple[int, Costs]]]]:
    """Add the evaluations that have costs to an archive; yield each new front, with how many evaluations made it."""
    for count, evaluation in enumerate(evaluations, start=1):
        if evaluation.ordinal in costs and archive.add(evaluation.ordinal, costs[evaluation.ordinal]):
            yield count, list(archive.front)


def _history(fronts: list[tuple[int, list[Costs]]], ideal: Costs, worst: Costs) -> tuple[tuple[int, float], ...]:
    """Return the hypervolume of some of the fronts, the last one among them, with how many evaluations made it."""
    reference = tuple(cost + 1 for cost in worst)[:MEASURED]
    whole = hypervolume([ideal[:MEASURED]], reference)
    step = -(-len(fronts) // HISTORY)
    shown = [*fronts[:-1][::step], fronts[-1]]
    return tuple((count, float(Fraction(hypervolume(front, reference), whole))) for count, front in shown)
