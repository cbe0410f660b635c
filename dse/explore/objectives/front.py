"""From the evaluations of a search to its Pareto front, and the adapter that lets any method search by objectives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.errors import OptionError
from dse.estimate.problem.tables import ProblemTables
from dse.explore.evaluator import Budget
from dse.explore.method import SearchContext, SearchMethod
from dse.explore.objectives.objectives import Objective, make_objective
from dse.explore.objectives.pareto import Costs, ParetoArchive, hypervolume
from dse.explore.objectives.registry import MAKESPAN
from dse.explore.space.placement import Placement
from dse.explore.space.space import Space
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

    def values(self, costs: Costs) -> tuple[float, ...]:
        """Return costs as people read them."""
        return tuple(objective.value(cost) for objective, cost in zip(self.objectives, costs, strict=True))


def make_goals(names: Sequence[str], tables: ProblemTables) -> Goals | None:
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
    objectives = tuple(make_objective(name, tables) for name in names)
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
        return "exhaustive", "every point, as no bound excludes any"
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


def unbounded(context: SearchContext, goals: Goals) -> SearchContext:
    """Return the context of a search by goals: without bounds, as those of the makespan say nothing about others."""
    return replace(
        context, bounds=lambda candidates: [0] * len(candidates), placement=Placement(), objectives=len(goals.axes)
    )


class ByGoals:
    """A method that is told costs instead of makespans: what it takes for the makespan is the first objective."""

    ceiling = None
    """Every makespan: objectives are computed from exact evaluations."""

    def __init__(self, method: SearchMethod, goals: Goals) -> None:
        self._method = method
        self._goals = goals

    @property
    def done(self) -> bool:
        """See ``SearchMethod``."""
        return self._method.done

    @property
    def exact(self) -> bool:
        """See ``SearchMethod``; only a method that leaves nothing out says so, as bounds say nothing here."""
        return self._method.exact

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
        self._method.tell([self._seen(result) for result in results])

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


def front_of(goals: Goals, evaluations: Sequence[Evaluation]) -> Front | None:
    """Return the front of evaluations in the order in which they were made; None where all deadlock.

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
