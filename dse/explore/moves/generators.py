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


def view_of(context: SearchContext, position: Position, evaluation: Evaluation) -> View:
    """Return the view of an evaluated point."""
    slot_of = [position.slots[partition.actors[0]] for partition in evaluation.point.partitions]
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
    actors = [a for a in range(view.context.space.n_actors) if view.waiting[a] > 0]
    return _relieved(view, sorted(actors, key=lambda a: -view.waiting[a]), lambda s: (-view.idle[s],))


def communication(view: View) -> list[Step]:
    """The actors with more tokens to another partition than to their own, each to that one; the largest gain first."""
    space, slots = view.context.space, view.position.slots
    gains: list[tuple[int, int, int]] = []
    for actor in range(space.n_actors):
        tokens = tokens_to_slots(view.context, slots, actor)
        own = tokens.get(slots[actor], 0)
        gains += [(own - n, actor, slot) for slot, n in tokens.items() if n > own]
    moves = Moves(space, view.position)
    found = [moves.to(actor, slot) for _, actor, slot in sorted(gains)]
    return [step for step in found if step is not None]


def balancing(view: View) -> list[Step]:
    """The actors of the busiest partition, each to the least busy partition and to a new one."""
    busiest = max(view.busy, key=lambda s: (view.busy[s], -s))
    actors = [a for a, slot in enumerate(view.position.slots) if slot == busiest]
    return _relieved(view, actors, lambda s: (view.busy[s], s))


def _relieved(view: View, actors: Sequence[int], rank: Callable[[int], tuple[int, ...]]) -> list[Step]:
    """Return the moves of some actors, each to the used slot that ranks first and to every new one."""
    space, slots = view.context.space, view.position.slots
    ranked = {units: _by_rank(view, there, rank) for units, there in reachable_slots(space, slots).items()}
    moves, found = Moves(space, view.position), []
    for actor in actors:
        used, fresh = ranked[space.allowed[actor]]
        first = [s for s in used[:2] if s != slots[actor]][:1]
        found += [moves.to(actor, slot) for slot in (*first, *fresh)]
    return [step for step in found if step is not None]


def _by_rank(view: View, slots: Iterable[int], rank: Callable[[int], tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """Return the used ones of some slots by their rank, and the new ones."""
    there = list(slots)
    return sorted((s for s in there if s in view.busy), key=rank), [s for s in there if s not in view.busy]


def tokens_to_slots(context: SearchContext, slots: tuple[int, ...], actor: int) -> dict[int, int]:
    """Return the tokens that an actor exchanges with the other actors of each slot."""
    found: dict[int, int] = {}
    for other, tokens in context.partners[actor]:
        slot = slots[other]
        found[slot] = found.get(slot, 0) + tokens
    return found


def _shuffled(steps: list[Step], rng: np.random.Generator) -> list[Step]:
    return [steps[i] for i in rng.permutation(len(steps)).tolist()]
