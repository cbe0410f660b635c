"""Iterated local search (Lourenço, Martin and Stützle 2003), for large spaces and few evaluations.

It starts from the constructed mappings and from mappings whose loads were evened out without a simulation
(``dse.explore.load_model``). From a point it tries small batches of steps, drawn from six kinds in proportion to how
often each has helped, and moves to the best improvement, or sideways to a point as good; steps that improved together
are also tried all at once. At a local optimum it slides to the best of the points just tried, some times in a row,
then shakes the best point by one or two actors; when that has failed it alternates between a new start and its best.
"""

import collections.abc
from dataclasses import dataclass, field, replace

from dse.explore import generators
from dse.explore.generators import Generator, View, view_of
from dse.explore.load_model import LoadModel
from dse.explore.method import cost
from dse.explore.methods.greedy import constructed
from dse.explore.moves import Step, candidate_of, moved, position_of, random_candidate, reset, swapped, targets
from dse.explore.scripted import Script, Scripted
from dse.explore.space import Candidate
from dse.model.study import Evaluation

EVENED_STARTS = tuple(share for share in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5) for _ in range(2))
"""One start for each, with this share for a cut buffer (``LoadModel``)."""
TRIED_AT_ONCE = 4
"""Fewer keep fewer threads busy, more learn later: after 600 evaluations eight were a quarter further from the best."""
DRAWS = 6 * TRIED_AT_ONCE
"""So many draws without enough promising steps leave a batch short."""
LEAST_TRIED = 24
"""At a local optimum at least so many steps were tried, and half as many as there are actors."""
SLIDES = 20
"""So many slides in a row without a new best of the descent end it."""
SHAKES = 2
"""So many shaken points in a row without an improvement lead to another start."""
MEMORY = 60
"""After so many steps of a kind its successes count half."""
EMPTY_BATCHES = 4

_State = tuple[Candidate, Evaluation]


@dataclass(slots=True)
class _Kind:
    """A kind of step: how often it was tried and how often it helped."""

    name: str
    tried: float = 4.0
    helped: float = 1.0

    def note(self, *, helped: bool) -> None:
        self.tried += 1
        self.helped += helped
        if self.tried > MEMORY:
            self.tried, self.helped = self.tried / 2, self.helped / 2


@dataclass(slots=True)
class _Trial:
    """A step to evaluate, and the kind that it came from; None where several steps were put together."""

    step: Step
    kind: _Kind | None


@dataclass(slots=True)
class _Descent:
    """Where a descent stands. ``tried``: what was evaluated since the last move; ``left``: what it has moved from."""

    state: _State
    best: _State
    tried: list[_State] = field(default_factory=list)
    left: set[Candidate] = field(default_factory=set)
    empty: int = 0
    slides: int = 0

    def move_to(self, state: _State) -> None:
        self.left.add(self.state[0])
        self.state = state
        self.tried, self.empty = [], 0
        if _cost_of(state) < _cost_of(self.best):
            self.best, self.slides = state, 0

    def slide(self) -> bool:
        """Move to the best of the points just tried; returns whether there was one."""
        here = [state for state in self.tried if state[0] not in self.left]
        if self.slides >= SLIDES or not here:
            return False
        self.slides += 1
        self.move_to(min(here, key=_cost_of))
        return True


class IteratedSearch(Scripted):
    """Descents with slides, shakes and new starts; see the module."""

    def _script(self) -> Script:
        names = ["move", "swap", "relieve", "idle", "balancing", "communication"]
        if reset(self._space, position_of(constructed(self._context)[0])):
            names.append("setting")
        self._kinds = [_Kind(name) for name in names]
        starts = list(dict.fromkeys([*constructed(self._context), *self._evened()]))
        results = yield starts
        best = home = state = min(zip(starts, results, strict=True), key=_cost_of)
        failures = restarts = 0
        while True:
            end = yield from self._descent(state)
            best = min(best, end, key=_cost_of)
            failures = failures + 1 if _cost_of(end) >= _cost_of(home) else 0
            home = min(home, end, key=_cost_of)
            if failures < SHAKES:
                candidate = self._shaken(home[0])
            else:
                failures, restarts = 0, restarts + 1
                candidate = self._new_start() if restarts % 2 else self._shaken(best[0])
            state = candidate, (yield [candidate])[0]
            if failures == 0:
                home = state if restarts % 2 else best

    # Starts -----------------------------------------------------------------------------------------------------------

    def _evened(self) -> list[Candidate]:
        """Return mappings with even loads, from the largest constructed ones and from random ones."""
        largest = constructed(self._context)[::-1]
        origins = [
            random_candidate(self._context) if index % 2 else largest[index // 2 % len(largest)]
            for index in range(len(EVENED_STARTS))
        ]
        evened = [self._evened_from(c, share) for c, share in zip(origins, EVENED_STARTS, strict=True)]
        return [candidate for candidate in evened if candidate is not None]

    def _evened_from(self, origin: Candidate, cut_share: float) -> Candidate | None:
        model = LoadModel(self._context, origin.assignment, cut_share=cut_share)
        model.even_out(self._context.rng)
        return candidate_of(self._space, replace(position_of(origin), slots=model.slots))

    def _new_start(self) -> Candidate:
        origin = random_candidate(self._context)
        share = EVENED_STARTS[int(self._context.rng.integers(len(EVENED_STARTS)))]
        return self._evened_from(origin, share) or origin

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
            if shaken is not None and shaken not in self._known:
                return shaken
        return random_candidate(self._context)

    # Descent ----------------------------------------------------------------------------------------------------------

    def _descent(self, start: _State) -> collections.abc.Generator[list[Candidate], list[Evaluation], _State]:
        """Go down from a point until sliding no longer helps; returns the best point on the way."""
        enough = max(LEAST_TRIED, self._space.n_actors // 2)
        now, together = _Descent(state=start, best=start), list[_Trial]()
        while True:
            if (len(now.tried) >= enough or now.empty >= EMPTY_BATCHES) and not now.slide():
                return now.best
            trials = [*together, *self._trials(now.state)]
            together = []
            if not trials:
                now.empty += 1
                continue
            results = yield [trial.step.candidate for trial in trials]
            value = cost(now.state[1])
            for trial, result in zip(trials, results, strict=True):
                now.tried.append((trial.step.candidate, result))
                if trial.kind is not None:
                    trial.kind.note(helped=cost(result) < value)
            order = sorted(range(len(trials)), key=lambda i: (cost(results[i]), i))
            better = [i for i in order if cost(results[i]) < value]
            first = order[0]
            if better:
                together = self._together(now.state, [trials[i].step for i in better])
                now.move_to((trials[first].step.candidate, results[first]))
            elif cost(results[first]) == value:  # sideways: what was tried here stays in mind
                now.left.add(now.state[0])
                now.state = trials[first].step.candidate, results[first]

    def _together(self, state: _State, steps: list[Step]) -> list[_Trial]:
        """Return the point with all of some steps made, the first ones where several move the same actor."""
        position = position_of(state[0])
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
        if candidate is None or candidate in self._known:
            return []
        return [_Trial(Step(position=together, candidate=candidate, left=tuple(moved_from.items())), None)]

    # Steps ------------------------------------------------------------------------------------------------------------

    def _trials(self, state: _State) -> list[_Trial]:
        """Return up to ``TRIED_AT_ONCE`` unknown steps whose bound does not exclude an improvement."""
        view = view_of(self._context, position_of(state[0]), state[1])
        offered: dict[str, list[Step]] = {}
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
                if step is not None and step.candidate not in self._known and step.candidate not in seen:
                    drawn[step.candidate] = _Trial(step, kind)
            found += self._promising(list(drawn.values()), state[1])
        return found

    def _promising(self, trials: list[_Trial], evaluation: Evaluation) -> list[_Trial]:
        if evaluation.deadlock or not trials:
            return trials
        bounds = self._context.bounds([trial.step.candidate for trial in trials])
        return [trial for trial, bound in zip(trials, bounds, strict=True) if bound < evaluation.makespan]

    def _drawn_kind(self) -> _Kind:
        """Return a kind of step, drawn by how often each has helped."""
        chances = [kind.helped / kind.tried for kind in self._kinds]
        value = self._context.rng.random() * sum(chances)
        for kind, chance in zip(self._kinds, chances, strict=True):
            value -= chance
            if value < 0:
                return kind
        return self._kinds[-1]

    def _step(self, kind: str, view: View, offered: dict[str, list[Step]]) -> Step | None:
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
        if kind not in offered:
            offered[kind] = LISTS[kind](view)
        # Mostly from the front: these generators list the most promising first.
        steps = offered[kind]
        return steps.pop(int(len(steps) * rng.random() ** 2)) if steps else None


def _settings(view: View) -> list[Step]:
    return reset(view.context.space, view.position)


LISTS: dict[str, Generator] = {
    "idle": generators.idle, "balancing": generators.balancing, "communication": generators.communication,
    "setting": _settings,
}  # fmt: skip


def _cost_of(state: _State) -> tuple[bool, int]:
    return cost(state[1])
