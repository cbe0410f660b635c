"""What searches do for every drawn step, against its plain meaning: names of mappings, lists of steps, even loads."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dse.explore.method import SearchContext
from dse.explore.moves import generators
from dse.explore.moves.generators import View
from dse.explore.moves.load_model import SHARPNESS, SWEEPS, LoadModel
from dse.explore.moves.moves import Moves, Position, moved, position_of, random_candidate, swapped, targets
from dse.explore.space.space import Space
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import context_of, space_of

SEEDS = range(24)


def case_of(seed: int) -> SearchContext:
    problem = problem_of(seed, clock=(None, 500)[seed % 2], given_host=bool(seed % 3))
    policies = ("NON_PREEMPTIVE", "ROUND_ROBIN") if seed % 4 == 1 else ("NON_PREEMPTIVE",)
    space = space_of(problem, policies=policies, policy_per_partition=seed % 4 == 1)
    if seed % 4 == 2:  # not everything may run everywhere, and not on one core or on all
        allowed = tuple(units[:1] if a % 3 == 0 else units for a, units in enumerate(space.allowed))
        most = max(2, space.most - 1)
        space = Space(units=space.units, allowed=allowed, least=2, most=most, options=space.options, alike=space.alike)
    return context_of(problem, space, seed=seed)


def drawn_slots(known: SearchContext) -> tuple[int, ...]:
    """Any slots, allowed or not."""
    slots, rng = len(known.space.unit_of_slot), known.rng
    pool = rng.permutation(slots)[: int(rng.integers(1, slots + 1))]
    return tuple(rng.choice(pool, known.space.n_actors).tolist())


def plain_canonical(space: Space, slots: tuple[int, ...]) -> tuple[int, ...] | None:
    """Actor by actor, as the module says it."""
    name_of: dict[int, int] = {}
    twin_of: dict[int, int] = {}
    opened = [0] * len(space.units)
    for actor, slot in enumerate(slots):
        unit = space.unit_of_slot[slot]
        if unit not in space.allowed[actor]:
            return None
        if unit not in twin_of:
            alike = [u for u, first in enumerate(space.alike) if first == space.alike[unit]]
            twin_of[unit] = min(u for u in alike if u not in twin_of.values())
        if slot not in name_of:
            name_of[slot] = space.slots_of_unit(twin_of[unit]).start + opened[twin_of[unit]]
            opened[twin_of[unit]] += 1
    for unit in space.units:
        if sum(n for n, other in zip(opened, space.units, strict=True) if other.unit == unit.unit) > unit.slots:
            return None
    return tuple(name_of[slot] for slot in slots) if space.least <= len(name_of) <= space.most else None


@pytest.mark.parametrize("seed", SEEDS)
def test_mappings_are_named_and_refused_as_said(seed: int) -> None:
    known = case_of(seed)
    held = 0
    for _ in range(200):
        slots = drawn_slots(known) if known.rng.random() < 0.5 else random_candidate(known).assignment
        expected = plain_canonical(known.space, slots)
        assert known.space.canonical(slots) == expected
        assert known.space.holds(slots) == (expected is not None)
        held += expected is not None
    assert held


@pytest.mark.parametrize("seed", SEEDS)
def test_points_have_the_actors_of_each_slot_in_order(seed: int) -> None:
    known = case_of(seed)
    for _ in range(20):
        candidate = random_candidate(known)
        point = known.space.to_point(candidate)
        used = sorted(set(candidate.assignment))
        assert [p.actors for p in point.partitions] == [
            tuple(a for a, slot in enumerate(candidate.assignment) if slot == s) for s in used
        ]
        units = [known.space.units[known.space.unit_of_slot[s]] for s in used]
        assert [p.unit for p in point.partitions] == [unit.unit for unit in units]
        assert len({p.name for p in point.partitions}) == len(used)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_know_their_points_when_asked(seed: int) -> None:
    known = case_of(seed)
    space, position = known.space, position_of(random_candidate(known))
    for actor, slot in itertools.product(range(space.n_actors), range(len(space.unit_of_slot))):
        slots = (*position.slots[:actor], slot, *position.slots[actor + 1 :])
        step = moved(space, position, actor, slot)
        assert (step is None) == (slot == position.slots[actor] or space.canonical(slots) is None)
        if step is not None:
            assert step.left == ((actor, position.slots[actor]),)
            assert step.position.slots == slots
            assert step.candidate == space.candidate(slots)
    for a, b in itertools.combinations(range(space.n_actors), 2):
        step = swapped(space, position, a, b)
        if step is not None:
            assert step.candidate == space.candidate(step.position.slots)
            assert (step.position.slots[a], step.position.slots[b]) == (position.slots[b], position.slots[a])


def test_moves_lead_to_what_one_alone_leads_to() -> None:
    """From canonical mappings and from others; most keep the numbers of all slots, which is seen without a look."""
    seen = made = 0
    for known in map(case_of, SEEDS):
        space, slots = known.space, drawn_slots(known)
        drawn = [Position(slots=slots)] if space.holds(slots) else []
        for position in (position_of(random_candidate(known)), *drawn):
            moves = Moves(space, position)
            for actor, slot in itertools.product(range(space.n_actors), range(len(space.unit_of_slot))):
                alone, step = moved(space, position, actor, slot), moves.to(actor, slot)
                assert moves.has(actor, slot) == (step is not None) == (alone is not None)
                if step is not None and alone is not None:
                    made += 1
                    seen += moves.renumbered(actor, slot) is not None
                    assert (step.candidate, step.position) == (alone.candidate, alone.position)
    assert 0 < seen < made


def view_of_random(known: SearchContext, position: Position) -> View:
    """A view with times that are often equal."""
    used, rng = list(dict.fromkeys(position.slots)), known.rng
    return View(
        context=known, position=position, busy={s: int(rng.integers(3)) for s in used},
        idle={s: int(rng.integers(3)) for s in used},
        waiting=tuple(rng.integers(3, size=known.space.n_actors).tolist()),
    )  # fmt: skip


def plain_idle(view: View) -> Iterator[tuple[int, int]]:
    waiting = [a for a in range(view.context.space.n_actors) if view.waiting[a]]
    for actor in sorted(waiting, key=lambda a: -view.waiting[a]):
        slots = list(targets(view.context.space, view.position.slots, actor))
        used = [s for s in slots if s in view.idle]
        yield from ((actor, s) for s in ([max(used, key=lambda s: view.idle[s])] if used else []))
        yield from ((actor, s) for s in slots if s not in view.idle)


def plain_balancing(view: View) -> Iterator[tuple[int, int]]:
    busiest = max(view.busy, key=lambda s: (view.busy[s], -s))
    for actor in (a for a, slot in enumerate(view.position.slots) if slot == busiest):
        slots = list(targets(view.context.space, view.position.slots, actor))
        used = [s for s in slots if s in view.busy]
        yield from ((actor, s) for s in ([min(used, key=lambda s: (view.busy[s], s))] if used else []))
        yield from ((actor, s) for s in slots if s not in view.busy)


def plain_communication(view: View) -> Iterator[tuple[int, int]]:
    slots, gains = view.position.slots, list[tuple[int, int, int]]()
    for actor in range(view.context.space.n_actors):
        tokens = [0] * len(view.context.space.unit_of_slot)
        for edge in view.context.traffic:
            if edge.source != edge.target and actor in (edge.source, edge.target):
                tokens[slots[edge.source + edge.target - actor]] += edge.tokens
        own = tokens[slots[actor]]
        gains += [(own - n, actor, slot) for slot, n in enumerate(tokens) if n > own]
    yield from ((actor, slot) for _, actor, slot in sorted(gains))


@pytest.mark.parametrize("seed", SEEDS)
def test_generators_list_the_steps_that_they_promise(seed: int) -> None:
    known = case_of(seed)
    for _ in range(5):
        view = view_of_random(known, position_of(random_candidate(known)))
        for generator, plain in (
            (generators.idle, plain_idle), (generators.balancing, plain_balancing),
            (generators.communication, plain_communication),
        ):  # fmt: skip
            expected = [moved(known.space, view.position, actor, slot) for actor, slot in plain(view)]
            found = [(step.left, step.candidate) for step in generator(view)]
            assert found == [(step.left, step.candidate) for step in expected if step is not None]


def plainly_evened(known: SearchContext, model: LoadModel) -> tuple[int, ...]:
    """Even out by moves that look at all loads, one after the other."""
    space, share = known.space, max(1.0, sum(model.loads) / max(1, known.space.most))

    def height() -> float:
        return sum((load / share) ** SHARPNESS for load in model.loads)

    for _ in range(SWEEPS):
        before = model.slots
        for actor in known.rng.permutation(space.n_actors).tolist():
            where, least = model.slots[actor], height() * (1 - 1e-9)
            for slot in list(targets(space, model.slots, actor)):
                model.move(actor, slot)
                if height() < least:
                    where, least = slot, height()
            model.move(actor, where)
        if model.slots == before:
            break
    return model.slots


@pytest.mark.parametrize("seed", SEEDS)
def test_loads_are_evened_out_as_by_plain_moves(seed: int) -> None:
    known = case_of(seed)
    origin = random_candidate(known).assignment
    fast, slow = LoadModel(known, origin), LoadModel(known, origin)
    fast.even_out(np.random.default_rng(seed))
    plain = plainly_evened(replace(known, rng=np.random.default_rng(seed)), slow)
    assert fast.slots == plain
    assert fast.loads == LoadModel(known, plain).loads
