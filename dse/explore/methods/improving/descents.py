"""Descents, shakes and new starts: what an iterated search and its legs have in common.

``iterated_search`` tells what they are for. A descent goes down on the *height* of points: the makespan and the loads
of the cores, so that it also learns from steps that only make room for later ones. What is kept as the best of a
descent is the best makespan.
"""

import collections.abc
import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Protocol

from dse.estimate.bounds.slot_loads import Annealing
from dse.explore.method import cost
from dse.explore.methods.scripted import Scripted
from dse.explore.moves import generators
from dse.explore.moves.generators import View, view_of
from dse.explore.moves.load_model import LoadAnnealer, LoadModel
from dse.explore.moves.moves import (
    Position,
    Step,
    all_moves,
    candidate_of,
    gathered,
    moved,
    position_of,
    random_candidate,
    replaced,
    reset,
    some_swaps,
    swapped,
    targets,
)
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation

CUT_WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""What it counts that all buffers are cut when loads are annealed, by turns: they do not say what waiting costs."""
STAGES = (1, 2, 4, 8)
"""In how many stages the loads are evened out, by turns: many where filling and draining a pipeline takes long."""
STAGE_WEIGHT = 0.75
LEAST_OF_STAGE = 4
"""Stages of fewer actors are not made."""
STEPS_OF_START = 400
"""So many steps for each actor make a start."""
STEPS_OF_REBUILDING = 150
"""So many steps for each actor that moves, of ``LEAST_REBUILT`` to ``MOST_REBUILT`` actors, make a step."""
LEAST_REBUILT, MOST_REBUILT = 3, 5
HOT, COLD = 0.1, 0.002
"""The temperatures of a start; those of a step are ``WARM`` and ``COOL``."""
WARM, COOL = 0.03, 0.003
TRIED_AT_ONCE = 4
"""Fewer keep fewer threads busy, more learn later: after 600 evaluations eight were a quarter further from the best."""
DRAWS = 6 * TRIED_AT_ONCE
"""So many draws without enough promising steps leave a batch short."""
LEAST_TRIED = 24
"""At a local optimum at least so many steps were tried, and half as many as there are actors."""
SLIDES = 25
"""So many slides in a row without a new best of the descent end it."""
LOAD_WEIGHT = 1.5
"""How much the root mean square of the loads of all cores counts in a height, beside the makespan."""
GROUP = 5
"""At most so many neighbouring actors of one slot move together."""
POLISHED_AT_ONCE = 8
"""So many of them are tried before it is looked at whether one is better."""
MEMORY = 60
"""After so many steps of a kind its successes count half."""
EMPTY_BATCHES = 4


@dataclass(frozen=True, slots=True)
class State:
    """An evaluated point. ``height``: what a descent goes down on, no deadlock, then the makespan and the loads."""

    candidate: Candidate
    evaluation: Evaluation
    height: tuple[bool, float]


@dataclass(frozen=True, slots=True)
class Model:
    """How loads are annealed: what it counts that all buffers are cut, and in how many stages."""

    cut_weight: float
    stages: int


@dataclass(slots=True)
class Kind:
    """A kind of step: how often it was tried and how often it helped.

    Draws that give nothing to try do not count: where each counted as 0.3 of a step in vain, the mean gap of 26
    searches was 0.2 points less after 1,000 evaluations and 0.2 more after 5,000, and an evaluation took as long.
    """

    name: str
    tried: float = 4.0
    helped: float = 1.0

    def note(self, *, helped: bool) -> None:
        """Count a step of this kind."""
        self.tried += 1
        self.helped += helped
        if self.tried > MEMORY:
            self.tried, self.helped = self.tried / 2, self.helped / 2


class Steps(Protocol):
    """Steps of which some are taken."""

    def __len__(self) -> int: ...

    def pop(self, index: int, /) -> Step:
        """Take a step."""


@dataclass(slots=True)
class _Trial:
    """A step to evaluate, and the kind that it came from; None where several steps were put together."""

    step: Step
    kind: Kind | None


@dataclass(slots=True)
class Descent:
    """Where a descent stands. ``tried``: what was evaluated since the last move, ``sieved``: so many others were not
    worth it; ``left``: what it has moved from."""

    state: State
    best: State
    lowest: State
    """The best point by height."""
    tried: list[State] = field(default_factory=list)
    left: set[Candidate] = field(default_factory=set)
    empty: int = 0
    slides: int = 0
    sieved: int = 0

    @classmethod
    def of(cls, start: State) -> "Descent":
        """Return one that begins."""
        return cls(state=start, best=start, lowest=start)

    def copied(self) -> "Descent":
        """Return a copy, which can go on for itself."""
        return replace(self, tried=list(self.tried), left=set(self.left))

    def move_to(self, state: State) -> None:
        """Go on from another point."""
        self.left.add(self.state.candidate)
        self.state = state
        self.tried, self.empty, self.sieved = [], 0, 0
        if cost_of(state) < cost_of(self.best):
            self.best = state
        if state.height < self.lowest.height:
            self.lowest, self.slides = state, 0

    def slide(self) -> bool:
        """Move to the best of the points just tried; returns whether there was one."""
        here = [state for state in self.tried if state.candidate not in self.left]
        if self.slides >= SLIDES or not here:
            return False
        self.slides += 1
        self.move_to(min(here, key=height_of))
        return True


def _note(trials: list[_Trial], states: list[State], before: State) -> None:
    """Tell the kinds of steps which of them helped."""
    for trial, state in zip(trials, states, strict=True):
        if trial.kind is not None:
            trial.kind.note(helped=state.height < before.height)


class Descending(Scripted):
    """A search that goes down from points; what is known of kinds of steps and of models goes from one to the next."""

    _annealer: LoadAnnealer
    _models: list[Model]
    _kinds: list[Kind]

    def _is_known(self, candidate: Candidate) -> bool:
        """Return whether there is nothing to learn of a point any more."""
        return candidate in self._known

    def _states(self, candidates: list[Candidate], results: list[Evaluation]) -> list[State]:
        return [State(c, result, self._height(result)) for c, result in zip(candidates, results, strict=True)]

    def _height(self, evaluation: Evaluation) -> tuple[bool, float]:
        if evaluation.deadlock:
            return True, 0.0
        squares = sum(partition.busy**2 for partition in evaluation.partitions)
        return False, evaluation.makespan + LOAD_WEIGHT * math.sqrt(squares / self._space.most)

    # Starts -----------------------------------------------------------------------------------------------------------

    def _annealing_from(self, origin: Candidate, model: Model) -> collections.abc.Callable[[], Candidate | None]:
        """Return what anneals the loads of a point; any thread may call it, once."""
        slots = self._annealer.prepared(
            origin.assignment,
            Annealing(cut_weight=model.cut_weight, stage_weight=STAGE_WEIGHT, hot=HOT, cold=COLD),
            steps=STEPS_OF_START * self._space.n_actors,
            stages=model.stages,
        )
        return lambda: candidate_of(self._space, replace(position_of(origin), slots=slots()))

    def _new_start(self) -> Candidate:
        origin = random_candidate(self._context)
        return self._annealing_from(origin, self._drawn_model())() or origin

    def _drawn_model(self) -> Model:
        return self._models[int(self._context.rng.integers(len(self._models)))]

    def _shaken(self, candidate: Candidate) -> Candidate:
        """Return a point with one or two actors elsewhere; half of them with the loads evened out in one round."""
        rng = self._context.rng
        for _ in range(TRIED_AT_ONCE):
            model = LoadModel(self._context, candidate.assignment)
            for actor in rng.permutation(self._space.n_actors)[: int(rng.integers(1, 3))].tolist():
                slots = list(targets(self._space, model.slots, actor))
                if slots:
                    model.move(actor, slots[int(rng.integers(len(slots)))])
            if rng.random() < 0.5:
                model.even_out(rng, 1)
            shaken = candidate_of(self._space, replace(position_of(candidate), slots=model.slots))
            if shaken is not None and not self._is_known(shaken):
                return shaken
        return random_candidate(self._context)

    # Descent ----------------------------------------------------------------------------------------------------------

    def _descent(
        self, now: Descent, most: int | None = None
    ) -> collections.abc.Generator[list[Candidate], list[Evaluation], bool]:
        """Go down until sliding no longer helps, or ``most`` evaluations were made; returns whether it is over."""
        enough = max(LEAST_TRIED, self._space.n_actors // 2)
        together, begun = list[_Trial](), len(self._known)
        while True:
            if (len(now.tried) + now.sieved >= enough or now.empty >= EMPTY_BATCHES) and not now.slide():
                return True
            if most is not None and len(self._known) - begun >= most and not together:
                return False
            sieved = now.sieved
            trials = [*together, *self._trials(now)]
            together = []
            if not trials:
                now.empty += now.sieved == sieved
                continue
            candidates = [trial.step.candidate for trial in trials]
            states = self._states(candidates, (yield candidates))
            now.tried += states
            _note(trials, states, now.state)
            together = self._gone_on(now, trials, states)

    def _gone_on(self, now: Descent, trials: list[_Trial], states: list[State]) -> list[_Trial]:
        """Go to the lowest of the points tried unless it is above the present one; return what to try together next."""
        order = sorted(range(len(trials)), key=lambda i: (states[i].height, i))
        better = [i for i in order if states[i].height < now.state.height]
        lowest = states[order[0]]
        if better:
            together = self._together(now.state, [trials[i].step for i in better])
            now.move_to(lowest)
            return together
        if lowest.height == now.state.height:  # sideways: what was tried here stays in mind
            now.left.add(now.state.candidate)
            now.state = lowest
        return []

    def _polished(
        self, start: State, most: int | None = None
    ) -> collections.abc.Generator[list[Candidate], list[Evaluation], tuple[State, bool]]:
        """Go down until no move of an actor and no exchange of two is better; of very many exchanges only some count.

        Those with the smallest bounds come first: nearly all that are better do not raise the largest load. Returns
        where it came to, and whether it is over: not where it has made ``most`` evaluations.
        """
        state, begun = start, len(self._known)
        while not state.evaluation.deadlock:
            tried = self._untried(state)
            for begin in range(0, len(tried), POLISHED_AT_ONCE):
                if most is not None and len(self._known) - begun >= most:
                    return state, False
                batch = self._worth_it(state, tried[begin : begin + POLISHED_AT_ONCE])
                least = min([state, *self._states(batch, (yield batch))], key=cost_of)
                if least is not state:
                    state = least
                    break
            else:
                break
        return state, True

    def _worth_it(self, state: State, candidates: list[Candidate]) -> list[Candidate]:
        sieve = self._context.sieve
        if sieve is None:
            return candidates
        return [c for c, passed in zip(candidates, sieve.passes(state.candidate, candidates), strict=True) if passed]

    def _untried(self, state: State) -> list[Candidate]:
        """Return what may be better around a point and is not known, the smallest bounds first."""
        space, position = self._space, position_of(state.candidate)
        steps = [*all_moves(space, position), *some_swaps(space, position, self._context.rng)]
        unknown = list(dict.fromkeys(step.candidate for step in steps if not self._is_known(step.candidate)))
        bounds = self._context.bounds(unknown) if unknown else []
        order = sorted(range(len(unknown)), key=lambda i: (bounds[i], i))
        return [unknown[i] for i in order if bounds[i] < state.evaluation.makespan]

    def _together(self, state: State, steps: list[Step]) -> list[_Trial]:
        """Return the point with all of some steps made, the first ones where several move the same actor."""
        position = position_of(state.candidate)
        slots, moved_from = list(position.slots), dict[int, int]()
        made = 0
        for step in steps:
            actors = [actor for actor, _ in step.left]
            if actors and moved_from.keys().isdisjoint(actors):
                made += 1
                moved_from.update(step.left)
                for actor in actors:
                    slots[actor] = step.position.slots[actor]
        together = replace(position, slots=tuple(slots))
        candidate = candidate_of(self._space, together) if made > 1 else None
        if candidate is None or self._is_known(candidate):
            return []
        return [_Trial(Step(position=together, candidate=candidate, left=tuple(moved_from.items())), None)]

    # Steps ------------------------------------------------------------------------------------------------------------

    def _trials(self, now: Descent) -> list[_Trial]:
        """Return up to ``TRIED_AT_ONCE`` unknown steps whose bound does not exclude an improvement."""
        state = now.state
        view = view_of(self._context, position_of(state.candidate), state.evaluation)
        offered: dict[str, Steps] = {}
        drawn: dict[Candidate, _Trial] = {}
        found: list[_Trial] = []
        draws = 0
        while draws < DRAWS and len(found) < TRIED_AT_ONCE:
            drawn.clear()
            seen = {trial.step.candidate for trial in found}
            while draws < DRAWS and len(found) + len(drawn) < TRIED_AT_ONCE:
                draws += 1
                kind = self._drawn_kind()
                step = self._step(kind.name, view, offered)
                if step is not None and not self._is_known(step.candidate) and step.candidate not in seen:
                    drawn[step.candidate] = _Trial(step, kind)
            promising = self._promising(list(drawn.values()), state.evaluation)
            passed = self._sieved(state, promising)
            now.sieved += len(promising) - len(passed)
            found += passed
        return found

    def _sieved(self, state: State, trials: list[_Trial]) -> list[_Trial]:
        """Return the steps that are worth an estimate; the others count as tried in vain."""
        sieve = self._context.sieve
        if sieve is None or state.evaluation.deadlock or not trials:
            return trials
        passes = sieve.passes(state.candidate, [trial.step.candidate for trial in trials])
        for trial, passed in zip(trials, passes, strict=True):
            if not passed and trial.kind is not None:
                trial.kind.note(helped=False)
        return [trial for trial, passed in zip(trials, passes, strict=True) if passed]

    def _promising(self, trials: list[_Trial], evaluation: Evaluation) -> list[_Trial]:
        if evaluation.deadlock or not trials:
            return trials
        bounds = self._context.bounds([trial.step.candidate for trial in trials])
        return [trial for trial, bound in zip(trials, bounds, strict=True) if bound < evaluation.makespan]

    def _drawn_kind(self) -> Kind:
        """Return a kind of step, drawn by how often each has helped."""
        chances = [kind.helped / kind.tried for kind in self._kinds]
        value = self._context.rng.random() * sum(chances)
        for kind, chance in zip(self._kinds, chances, strict=True):
            value -= chance
            if value < 0:
                return kind
        return self._kinds[-1]

    def _step(  # ways: one case for each kind of step
        self, kind: str, view: View, offered: dict[str, Steps]
    ) -> Step | None:
        """Return a step of a kind. ``offered``: what is left of the lists of the generators at this point."""
        rng, space, position = self._context.rng, self._space, view.position
        actor = int(rng.integers(space.n_actors))
        match kind:
            case "move":
                slots = list(targets(space, position.slots, actor))
                return moved(space, position, actor, slots[int(rng.integers(len(slots)))]) if slots else None
            case "swap":
                return swapped(space, position, actor, int(rng.integers(space.n_actors)))
            case "relieve":
                busiest = max(view.busy, key=lambda slot: (view.busy[slot], -slot), default=position.slots[actor])
                there = [a for a, slot in enumerate(position.slots) if slot == busiest]
                return swapped(space, position, there[int(rng.integers(len(there)))], actor)
            case "join" | "pair" | "group":
                return self._with_a_neighbour(kind, position, actor)
            case "rebuild":
                return self._rebuilt(position, actor, Model(CUT_WEIGHTS[int(rng.integers(len(CUT_WEIGHTS)))], 1))
            case "restage":
                return self._rebuilt(position, actor, self._drawn_model())
        if kind not in offered:
            offered[kind] = LISTS[kind](view)
        # Mostly from the front: these generators list the most promising first.
        steps = offered[kind]
        return steps.pop(int(len(steps) * rng.random() ** 2)) if steps else None

    def _rebuilt(self, position: Position, actor: int, model: Model) -> Step | None:
        """Return a step that anneals the loads of some actors, which are neighbours or anywhere, and nobody else's."""
        rng, partners = self._context.rng, self._context.partners
        size = min(self._space.n_actors, int(rng.integers(LEAST_REBUILT, MOST_REBUILT + 1)))
        group = [actor]
        if rng.random() < 0.5:
            for member in group:  # it grows on the way
                others = dict.fromkeys(a for a, _ in partners[member] if a not in group)
                group += itertools.islice(others, size - len(group))
        else:
            group = rng.permutation(self._space.n_actors)[:size].tolist()
        annealing = Annealing(cut_weight=model.cut_weight, stage_weight=STAGE_WEIGHT, hot=WARM, cold=COOL)
        steps = STEPS_OF_REBUILDING * len(group)
        slots = self._annealer.annealed(position.slots, annealing, steps=steps, stages=model.stages, actors=group)
        return replaced(self._space, position, slots)

    def _with_a_neighbour(self, kind: str, position: Position, actor: int) -> Step | None:
        """Return a step of an actor and one that it exchanges tokens with, None where there is none.

        join: to the slot of that one. pair: both to another slot. group: with others of its slot that exchange tokens
        with each other to the slot of that one.
        """
        rng, space, partners = self._context.rng, self._space, self._context.partners
        if not partners[actor]:
            return None
        near = partners[actor][int(rng.integers(len(partners[actor])))][0]
        there = position.slots[near]
        if kind == "join":
            return moved(space, position, actor, there)
        if kind == "pair":
            slots = list(targets(space, position.slots, actor))
            return gathered(space, position, (actor, near), slots[int(rng.integers(len(slots)))]) if slots else None
        if there == position.slots[actor]:
            return None
        group, size = [actor], int(rng.integers(2, GROUP + 1))
        for member in group:  # it grows on the way
            here = (a for a, _ in partners[member] if position.slots[a] == position.slots[actor] and a not in group)
            group += itertools.islice(dict.fromkeys(here), size - len(group))
        return gathered(space, position, group, there)


def models_of(n_actors: int) -> list[Model]:
    """Return all ways of annealing, so mixed that the first few differ in both."""
    stages = [n for n in STAGES if n == 1 or n * LEAST_OF_STAGE <= n_actors]
    count = math.lcm(len(stages), len(CUT_WEIGHTS))
    return [Model(CUT_WEIGHTS[i % len(CUT_WEIGHTS)], stages[i % len(stages)]) for i in range(count)]


def _settings(view: View) -> list[Step]:
    return reset(view.context.space, view.position)


STEPS = ("move", "swap", "relieve", "join", "pair", "group", "rebuild", "restage")
"""The kinds of steps that are drawn, before those that come from lists."""
LISTS: dict[str, collections.abc.Callable[[View], Steps]] = {
    "idle": generators.idle_moves,
    "balancing": generators.balancing_moves,
    "communication": generators.communication_moves,
    "setting": _settings,
}


def cost_of(state: State) -> tuple[bool, int]:
    """Return the cost of an evaluated point, as searches minimise it."""
    return cost(state.evaluation)


def height_of(state: State) -> tuple[bool, float]:
    """Return what a descent goes down on."""
    return state.height
