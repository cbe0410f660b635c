"""Generators of steps that look at where the time of the current point went (Michalska et al. 2016).

Each takes a ``View`` of the evaluated current point and returns steps from it, the most promising first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dse.explore.method import SearchContext
from dse.explore.moves.moves import Moves, Position, Step, reachable_slots, some_swaps
from dse.model.study import Evaluation, unpack_times


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The current point as generators see it, all by raw slot or actor."""

    context: SearchContext
    position: Position
    busy: dict[int, int]
    """Core time in ticks that each used slot is busy."""
    idle: dict[int, int]
    """Core time in ticks that each used slot is unoccupied."""
    waiting: tuple[int, ...]
    """For each actor the ticks that it was ready while no core was free for it."""


Generator: TypeAlias = Callable[[View], list[Step]]


@dataclass(slots=True)
class Offered:
    """Moves of one actor each, as (actor, slot), the most promising first: each is made a step when it is taken."""

    moves: Moves
    pairs: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.pairs)

    def pop(self, index: int, /) -> Step:
        """Take the move with this index."""
        return self._step(*self.pairs.pop(index))

    def steps(self) -> list[Step]:
        """Return all of them."""
        return [self._step(actor, slot) for actor, slot in self.pairs]

    def _step(self, actor: int, slot: int) -> Step:
        step = self.moves.to(actor, slot)
        assert step is not None, "only moves that there are are offered"
        return step


def view_of(context: SearchContext, position: Position, evaluation: Evaluation) -> View:
    """Return the view of an evaluated point."""
    slot_of = [position.slots[actor] for actor in evaluation.packed.first_actors()]
    partitions, waiting = unpack_times(evaluation.times)
    accounts = list(zip(slot_of, partitions, strict=True))
    return View(
        context=context,
        position=position,
        busy={slot: account.busy for slot, account in accounts},
        idle={slot: account.unoccupied for slot, account in accounts},
        waiting=waiting or (0,) * context.space.n_actors,
    )


def swap(view: View) -> list[Step]:
    """Every exchange of two actors, or thousands of drawn ones where there are more."""
    rng = view.context.rng
    return _shuffled(some_swaps(view.context.space, view.position, rng), rng)


def random(view: View) -> list[Step]:
    """One random move of each actor, actors in random order."""
    space, rng = view.context.space, view.context.rng
    reachable, moves = reachable_slots(space, view.position.slots), Moves(space, view.position)
    found = []
    for actor in rng.permutation(space.n_actors).tolist():
        slots = [s for s in reachable[space.allowed[actor]] if s != view.position.slots[actor]]
        if slots:
            found.append(moves.to(actor, slots[int(rng.integers(len(slots)))]))
    return [step for step in found if step is not None]


def idle(view: View) -> list[Step]:
    """The actors that waited for a core the longest, each to the most idle partition and to a new one."""
    return idle_moves(view).steps()


def idle_moves(view: View) -> Offered:
    """Return the moves of ``idle``."""
    actors = [a for a, ticks in enumerate(view.waiting) if ticks > 0]
    return _relieved(view, sorted(actors, key=lambda a: -view.waiting[a]), lambda s: (-view.idle[s],))


def communication(view: View) -> list[Step]:
    """The actors with more tokens to another partition than to their own, each to that one; the largest gain first."""
    return communication_moves(view).steps()


def communication_moves(view: View) -> Offered:
    """Return the moves of ``communication``."""
    space, slots = view.context.space, np.array(view.position.slots, dtype=np.int64)
    actors, others, exchanged = view.context.exchanges
    tokens = np.zeros((space.n_actors, len(space.unit_of_slot)), dtype=np.int64)
    np.add.at(tokens, (actors, slots[others]), exchanged)
    own = tokens[np.arange(space.n_actors), slots]
    actor, slot = np.nonzero(tokens > own[:, None])
    order = np.lexsort((slot, actor, own[actor] - tokens[actor, slot]))
    moves = Moves(space, view.position)
    pairs = zip(actor[order].tolist(), slot[order].tolist(), strict=True)
    return Offered(moves, [pair for pair in pairs if moves.has(*pair)])


def balancing(view: View) -> list[Step]:
    """The actors of the busiest partition, each to the least busy partition and to a new one."""
    return balancing_moves(view).steps()


def balancing_moves(view: View) -> Offered:
    """Return the moves of ``balancing``."""
    busiest = max(view.busy, key=lambda s: (view.busy[s], -s))
    actors = [a for a, slot in enumerate(view.position.slots) if slot == busiest]
    return _relieved(view, actors, lambda s: (view.busy[s], s))


def _relieved(view: View, actors: Sequence[int], rank: Callable[[int], tuple[int, ...]]) -> Offered:
    """Return the moves of some actors, each to the used slot that ranks first and to every new one."""
    space, slots = view.context.space, view.position.slots
    ranked = {units: _by_rank(view, there, rank) for units, there in reachable_slots(space, slots).items()}
    moves, found = Moves(space, view.position), list[tuple[int, int]]()
    for actor in actors:
        used, fresh = ranked[space.allowed[actor]]
        own = slots[actor]
        first = [s for s in used[:2] if s != own][:1]
        found += [(actor, slot) for slot in (*first, *fresh) if moves.has(actor, slot)]
    return Offered(moves, found)


def _by_rank(view: View, slots: Iterable[int], rank: Callable[[int], tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """Return the used ones of some slots by their rank, and the new ones."""
    there = list(slots)
    return sorted((s for s in there if s in view.busy), key=rank), [s for s in there if s not in view.busy]


def _shuffled(steps: list[Step], rng: np.random.Generator) -> list[Step]:
    return [steps[i] for i in rng.permutation(len(steps)).tolist()]
