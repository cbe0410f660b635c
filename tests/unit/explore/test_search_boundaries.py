"""Evaluator, ranking, counting and moves exactly at their limits."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.explore.evaluator import COMMIT_SECONDS, Budget, Cutting, Evaluator, Progress
from dse.explore.moves.moves import (
    CLOCKINGS,
    Moves,
    Position,
    all_moves,
    all_swaps,
    moved,
    position_of,
    replaced,
    reset,
    settings_of,
    some_swaps,
    swapped,
    targets,
)
from dse.explore.search import ranked, run_search
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.model.design_point import DesignPoint
from dse.model.platform import Link, Platform, Unit
from dse.model.study import Evaluation
from tests.unit.explore.fakes import FormulaEngine, chain, chain_space, estimate_of


class Notebook:
    """A store in memory that counts its commits."""

    def __init__(self, stored: Sequence[Evaluation] = ()) -> None:
        self.stored = {e.digest: e for e in stored}
        self.added: list[Evaluation] = []
        self.commits = 0

    def known(self) -> dict[str, Evaluation]:
        return self.stored

    def add(self, evaluation: Evaluation) -> None:
        self.added.append(evaluation)

    def commit(self) -> None:
        self.commits += 1


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def evaluator(
    engine: FormulaEngine | None = None, *, store: Notebook | None = None, clock: Callable[[], float] | None = None,
    progress: Callable[[Progress], None] = lambda _: None, keep: int | None = None, **budget: object,
) -> Evaluator:  # fmt: skip
    return Evaluator(
        engine or FormulaEngine(), budget=Budget(**budget), store=store or Notebook(), clock=clock or Clock(),  # type: ignore[arg-type]
        progress=progress, cutting=None if keep is None else Cutting(keep=keep),
    )  # fmt: skip


def by_makespan() -> list[DesignPoint]:
    """Points of a chain, the best first, no two of one makespan."""
    space, found = chain_space(), {}
    for candidate in space.candidates():
        point = space.to_point(candidate)
        found.setdefault(estimate_of(point).makespan, point)
    return [found[makespan] for makespan in sorted(found)]


POINTS = by_makespan()


def span(point: DesignPoint) -> int:
    return estimate_of(point).makespan


# -- what an evaluator spends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 3, 4, 5])
def test_a_budget_of_evaluations_counts_distinct_points(budget: int) -> None:
    engine = FormulaEngine()
    run = evaluator(engine, evaluations=budget)
    asked = [*POINTS[:3], POINTS[0], POINTS[3]]
    results = run.evaluate(asked)
    assert [e.digest for e in results] == [p.digest() for p in asked[: {1: 1, 3: 4, 4: 5, 5: 5}[budget]]]
    assert run.stop == ("evaluations" if budget < 4 else None)
    assert len(engine.asked) == len(run.evaluations) == min(4, budget)
    assert run.evaluate([POINTS[0]])[0] == results[0]  # what is known costs nothing
    run.evaluate([])
    assert run.stop == ("evaluations" if budget <= 4 else None)


def test_a_budget_of_time_ends_when_it_is_reached() -> None:
    clock = Clock()
    run = evaluator(clock=clock, seconds=5.0)
    clock.now = 4.75
    assert len(run.evaluate(POINTS[:1])) == 1
    clock.now = 5.0
    assert run.evaluate(POINTS[1:2]) == []
    assert run.stop == "seconds"


def test_replayed_evaluations_cost_what_they_cost_when_they_were_made() -> None:
    made = evaluator(store=(store := Notebook()))
    made.evaluate(POINTS[:3])
    stored = [replace(e, seconds=2.0) for e in store.added]
    engine = FormulaEngine()
    run = evaluator(engine, store=Notebook(stored), seconds=5.0)
    assert len(run.evaluate(POINTS[:3])) == 3
    assert (run.seconds, engine.asked, run.stop) == (6.0, [], None)
    assert run.evaluate(POINTS[3:4]) == []
    assert run.stop == "seconds"


def test_a_commit_comes_after_its_time_or_when_the_budget_ends() -> None:
    clock, told, store = Clock(), [], Notebook()
    run = evaluator(clock=clock, store=store, progress=told.append, evaluations=4)
    run.evaluate(POINTS[:1])
    assert (store.commits, told) == (0, [])
    clock.now = COMMIT_SECONDS
    run.evaluate(POINTS[1:2])
    assert store.commits == 1
    clock.now += COMMIT_SECONDS / 2
    run.evaluate(POINTS[2:3])
    assert store.commits == 1
    run.evaluate(POINTS[3:5])
    assert store.commits == 2
    assert [(p.evaluations, p.best) for p in told] == [(2, span(POINTS[0])), (4, span(POINTS[0]))]
    run.close()
    assert store.commits == 3


class OneBatch:
    """A method that asks for some points at once and has nothing more to ask."""

    exact, proven, pruned, ceiling = True, 0, 0, None

    def __init__(self, points: Sequence[DesignPoint], told_done: bool) -> None:
        self.points = list(points)
        self.done = told_done and not points
        self._told_done = told_done

    def ask(self, n: int) -> Sequence[DesignPoint]:
        asked, self.points = self.points[:n], self.points[n:]
        self.done = not asked or (self._told_done and not self.points)
        return asked

    def tell(self, results: Sequence[Evaluation]) -> None:
        pass


@pytest.mark.parametrize("told_done", [True, False])
@pytest.mark.parametrize(("budget", "stop"), [(2, "evaluations"), (3, "complete"), (4, "complete")])
def test_a_search_is_complete_only_if_its_last_batch_was_made(told_done: bool, budget: int, stop: str) -> None:
    """A method knows when it asks that it is done, or finds it when it is asked again: a spent budget tells the two."""
    run = evaluator(evaluations=budget)
    outcome = run_search(OneBatch(POINTS[:3], told_done), run, None)
    assert outcome.stop == stop
    assert len(run.evaluations) == min(3, budget)


# -- what an evaluator cuts -------------------------------------------------------------------------------------------


def test_nothing_is_cut_before_enough_is_kept_and_then_only_above_the_limit() -> None:
    engine = FormulaEngine()
    run = evaluator(engine, keep=2)
    first = run.evaluate([POINTS[4], POINTS[2]], 0)
    assert [e.cut for e in first] == [False, False]
    at, above = POINTS[4], POINTS[5]
    found = run.evaluate([at, above, POINTS[3]], 0)  # the worse of the two that are kept is the limit
    assert [(e.cut, e.makespan) for e in found] == [(False, span(at)), (True, span(at) + 1), (False, span(POINTS[3]))]
    assert run.evaluate([POINTS[4]], 0)[0].cut  # now it is the third
    assert not run.evaluate([POINTS[4]], span(POINTS[4]))[0].cut
    assert run.evaluate([POINTS[4]], span(POINTS[4]) - 1)[0].cut
    asked = len(engine.asked)
    assert not run.evaluate([above], None)[0].cut
    assert len(engine.asked) == asked + 1


def test_a_point_that_does_not_count_leaves_the_limit_where_it_is() -> None:
    """The best point is no point of the space, as the mapping on one core may be: the others are told apart still."""
    run = Evaluator(
        FormulaEngine(), budget=Budget(), store=Notebook(), clock=Clock(), progress=lambda _: None,
        cutting=Cutting(keep=1, counts=lambda e: e.point != POINTS[0]),
    )  # fmt: skip
    assert not run.evaluate([POINTS[0], POINTS[4]], 0)[1].cut
    assert [e.cut for e in run.evaluate(POINTS[2:7], 0)] == [False, False, False, True, True]
    assert [e.cut for e in run.evaluate([POINTS[0], POINTS[3]], 0)] == [False, True]


def test_a_cut_point_is_simulated_again_only_for_a_limit_that_it_may_meet() -> None:
    engine, clock = FormulaEngine(), Clock()
    store = Notebook()
    run = evaluator(engine, store=store, clock=clock, keep=1)
    run.evaluate(POINTS[:1], 0)
    far = POINTS[8]
    limit = span(POINTS[5])
    first = run.evaluate([far], limit)[0]
    assert (first.cut, first.makespan) == (True, limit + 1)
    asked = len(engine.asked)
    assert run.evaluate([far], limit)[0].cut
    assert run.evaluate([far], limit - 1)[0].makespan == limit
    assert len(engine.asked) == asked
    assert run.evaluate([far], limit + 1)[0].makespan == limit + 2
    assert len(engine.asked) == asked + 1
    whole = run.evaluate([far], span(far))[0]
    assert (whole.cut, whole.makespan, whole.ordinal) == (False, span(far), 1)
    assert [e.ordinal for e in run.evaluations] == [0, 1]
    assert [e.ordinal for e in store.added] == [0, 1, 1, 1]


def test_what_a_cut_point_cost_adds_up() -> None:
    clock, store = Clock(), Notebook()
    plain = FormulaEngine()

    def slow(points: Sequence[DesignPoint], limit: int | None) -> object:
        for estimate in plain(points, limit):
            clock.now += 3.0
            yield estimate

    run = Evaluator(
        slow, budget=Budget(), store=store, clock=clock, progress=lambda _: None, cutting=Cutting(keep=1)  # type: ignore[arg-type]
    )  # fmt: skip
    run.evaluate(POINTS[:1], 0)
    run.evaluate([POINTS[8]], 0)
    run.evaluate([POINTS[8]])
    assert [e.seconds for e in store.added] == [3.0, 3.0, 6.0]


def test_the_ranking_breaks_ties_by_partitions_then_by_time() -> None:
    space = chain_space()
    points = [space.to_point(c) for c in itertools.islice(space.candidates(), 12)]
    found = [
        Evaluation.of(
            ordinal=i, point=p, digest=p.digest(), makespan=10 + i % 2, tick_unit="ps", deadlock=i == 3,
            partitions=(), seconds=0.0, cut=i == 5,
        )
        for i, p in enumerate(points)
    ]  # fmt: skip
    expected = sorted(
        (e for i, e in enumerate(found) if i not in (3, 5)), key=lambda e: (e.makespan, e.n_partitions, e.ordinal)
    )
    assert list(ranked(found[::-1])) == expected
    assert len({e.n_partitions for e in found}) > 1


# -- the space and steps in it ----------------------------------------------------------------------------------------


def spaces() -> list[Space]:
    """Ranges of partitions, pins, twins, policies for each partition, clocks."""
    topology = chain(4)
    cpus = tuple(Unit(name=f"cpu{i}", kind="cpu", cores=2, clock_mhz=Fraction(1000)) for i in range(2))
    gpu = Unit(name="gpu", kind="gpu")
    room = ((8, 8, 8),)
    clocks = tuple(ClockDomain(units=(u.name,), clocks_mhz=(Fraction(900), Fraction(500))) for u in cpus)
    return [
        build_space(topology, Platform(name="box", units=units), SpaceOptions(capacities=room, **wishes))  # type: ignore[arg-type]
        for units, wishes in (
            ((*cpus, gpu), {}),
            ((*cpus, gpu), {"partitions": (2, 3)}),
            ((cpus[0], gpu), {"partitions": (3, 3), "pins": (("a1", "cpu0"),)}),
            ((replace(cpus[0], cores=3), gpu), {"policies": ("ROUND_ROBIN", "NON_PREEMPTIVE")}),
            (
                (cpus[0], gpu),
                {"policies": ("ROUND_ROBIN", "NON_PREEMPTIVE"), "policy_per_partition": True, "partitions": (1, 2)},
            ),
            (cpus, {"clocks": clocks, "partitions": (1, 3)}),
        )
    ]


SPACES = pytest.mark.parametrize("space", spaces(), ids=[str(i) for i in range(6)])


def raw(space: Space) -> list[tuple[int, ...]]:
    """Every assignment of slots to actors."""
    return list(itertools.product(range(len(space.unit_of_slot)), repeat=space.n_actors))


@SPACES
def test_the_space_holds_what_it_counts_and_enumerates(space: Space) -> None:
    held = {slots: space.canonical(slots) for slots in raw(space)}
    listed = list(space.assignments())
    assert listed == sorted({c for c in held.values() if c is not None})
    assert space.mappings == len(listed)
    assert all(space.holds(slots) == (canonical is not None) for slots, canonical in held.items())
    assert all(held[assignment] == assignment for assignment in listed)
    assert space.size == len(list(space.candidates()))
    if not space.options.policy_per_partition:
        assert space.placements == sum(canonical is not None for canonical in held.values())
    rng = np.random.default_rng(1)
    assert {space.random_assignment(rng) for _ in range(60 * len(listed))} == set(listed)


def space_on(units: Sequence[Unit], links: Sequence[Link] = (), **wishes: object) -> Space:
    options = SpaceOptions(capacities=((8, 8),), **wishes)  # type: ignore[arg-type]
    return build_space(chain(3), Platform(name="box", units=tuple(units), links=tuple(links)), options)


CPU, GPU = Unit(name="cpu", kind="cpu", clock_mhz=Fraction(1000)), Unit(name="gpu", kind="gpu")


def test_one_core_is_on_the_first_unit_where_all_actors_may_be() -> None:
    assert space_on([GPU, CPU]).one_core().partitions[0].unit == "gpu"  # type: ignore[union-attr]
    pinned = space_on([GPU, CPU], pins=(("a1", "cpu"),)).one_core()
    assert pinned is not None
    assert [(p.unit, p.actors) for p in pinned.partitions] == [("cpu", (0, 1, 2))]
    assert space_on([GPU, CPU], pins=(("a1", "cpu"), ("a2", "gpu"))).one_core() is None


def domain(clocks: Sequence[int], *units: str) -> ClockDomain:
    return ClockDomain(units=units, clocks_mhz=tuple(map(Fraction, clocks)))


@pytest.mark.parametrize(
    ("clocks", "alike"),
    [
        ((), (0, 0, 0)),
        ((domain([900, 500], "cpu"), domain([900, 500], "cpu1"), domain([900, 500], "cpu2")), (0, 0, 0)),
        ((domain([900, 500], "cpu"), domain([900, 400], "cpu1"), domain([900, 500], "cpu2")), (0, 1, 0)),
        ((domain([900, 500], "cpu", "cpu1"),), (0, 0, 2)),
        ((domain([900, 500], "cpu", "cpu1"), domain([900, 500], "cpu2")), (0, 0, 2)),
        ((domain([900, 500], "cpu1"),), (0, 1, 0)),
    ],
)
def test_units_are_alike_only_if_their_clocks_are(clocks: tuple[ClockDomain, ...], alike: tuple[int, ...]) -> None:
    units = [CPU, replace(CPU, name="cpu1"), replace(CPU, name="cpu2")]
    assert space_on(units, clocks=clocks).alike == alike


@pytest.mark.parametrize(
    ("order", "alike"), [("cgh", (0, 1, 1)), ("ghc", (0, 0, 2)), ("gch", (0, 1, 2)), ("dgh", (0, 1, 2))]
)
@pytest.mark.parametrize("shared", [True, False])
def test_gpus_with_shared_links_are_alike_on_one_side_of_the_one_cpu(
    order: str, alike: tuple[int, ...], shared: bool
) -> None:
    """A shared link serves by partition, and partitions stand in the order of units. d: the link of g has two ways."""
    unit = {"c": CPU, "d": CPU, "g": GPU, "h": replace(GPU, name="gpu1")}
    links = [
        Link(name="l", between=("cpu", "gpu"), shared=shared, directions=2 if "d" in order else 1),
        Link(name="m", between=("cpu", "gpu1"), shared=shared),
    ]
    expected = (0, 1, 0) if order == "gch" and not shared else alike
    assert space_on([unit[letter] for letter in order], links).alike == expected


@SPACES
def test_moves_of_a_position_are_those_one_by_one(space: Space) -> None:
    """Each actor to each slot that it may take: what is asked at once is what is asked one by one."""
    for slots in raw(space)[:: max(1, len(raw(space)) // 80)]:
        if not space.holds(slots):
            continue
        position = Position(slots=slots)
        moves = Moves(space, position)
        for actor, slot in itertools.product(range(space.n_actors), range(len(space.unit_of_slot))):
            changed = (*slots[:actor], slot, *slots[actor + 1 :])
            one, many = moved(space, position, actor, slot), moves.to(actor, slot)
            assert (one is None) == (many is None) == (changed == slots or not space.holds(changed))
            if one is not None and many is not None:
                assert one.candidate == many.candidate == space.candidate(changed)
                assert one.left == many.left == ((actor, slots[actor]),)
                assert one.position.slots == many.position.slots == changed
        reached = {step.position.slots for step in all_moves(space, position)}
        assert len(reached) == len(all_moves(space, position))
        everywhere = [
            (*slots[:a], slot, *slots[a + 1 :]) for a in range(space.n_actors) for slot in targets(space, slots, a)
        ]
        assert reached == {s for s in everywhere if space.holds(s)}
        one_move_away = {
            canonical
            for a, slot in itertools.product(range(space.n_actors), range(len(space.unit_of_slot)))
            if slot != slots[a] and (canonical := space.canonical((*slots[:a], slot, *slots[a + 1 :]))) is not None
        }
        assert {step.candidate.assignment for step in all_moves(space, position)} == one_move_away


@SPACES
def test_targets_are_used_slots_and_one_fresh_slot_of_each_unit(space: Space) -> None:
    slots = next(space.assignments())
    for actor in range(space.n_actors):
        found = list(targets(space, slots, actor))
        assert len(found) == len(set(found))
        for unit in range(len(space.units)):
            here = [slot for slot in found if space.unit_of_slot[slot] == unit]
            used = [slot for slot in space.slots_of_unit(unit) if slot in slots and slot != slots[actor]]
            fresh = [slot for slot in here if slot not in slots]
            allowed = unit in space.allowed[actor]
            assert [slot for slot in here if slot in slots] == (used if allowed else [])
            free = [slot for slot in space.slots_of_unit(unit) if slot not in slots]
            assert fresh == (free[:1] if allowed else [])


@SPACES
def test_swaps_say_what_they_left(space: Space) -> None:
    position = position_of(next(c for c in space.candidates() if len(set(c.assignment)) > 1))
    slots = position.slots
    steps = all_swaps(space, position)
    for step in steps:
        (a, left_a), (b, left_b) = step.left
        assert (left_a, left_b) == (slots[a], slots[b]) == (step.position.slots[b], step.position.slots[a])
    pairs = [(a, b) for a, b in itertools.combinations(range(space.n_actors), 2) if slots[a] != slots[b]]
    assert len(steps) == sum(swapped(space, position, a, b) is not None for a, b in pairs)
    n = space.n_actors * (space.n_actors - 1) // 2
    rng = np.random.default_rng(0)
    every = [s.position.slots for s in steps]
    assert [s.position.slots for s in some_swaps(space, position, rng, most=n)] == every
    assert rng.integers(1000) == np.random.default_rng(0).integers(1000)  # all of them: nothing was drawn
    assert replaced(space, position, slots) is None


def test_settings_of_another_kind_are_reached_one_at_a_time() -> None:
    units = tuple(Unit(name=name, kind="cpu", cores=2, clock_mhz=Fraction(1000)) for name in ("big", "little"))
    clocks = (
        ClockDomain(units=("big",), clocks_mhz=tuple(map(Fraction, (900, 700, 500)))),
        ClockDomain(units=("little",), clocks_mhz=tuple(map(Fraction, (600, 300)))),
    )
    options = SpaceOptions(
        policies=("ROUND_ROBIN", "NON_PREEMPTIVE"), capacities=((8, 8), (9, 9), (7, 7)), clocks=clocks
    )
    space = build_space(chain(3), Platform(name="box", units=units), options)
    at = Position(slots=(0, 2, 0), policy=1, capacity=1, clocks=(1, 1))
    found = [step.candidate for step in reset(space, at)]
    here = Candidate(assignment=(0, 2, 0), policy=1, capacity=1, clocks=(1, 1))
    assert found == [
        replace(here, policy=0), replace(here, capacity=0), replace(here, capacity=2), replace(here, clocks=(0, 1)),
        replace(here, clocks=(2, 1)), replace(here, clocks=(1, 0)),
    ]  # fmt: skip


@pytest.mark.parametrize(("levels", "whole"), [(CLOCKINGS // 2, True), (CLOCKINGS // 2 + 1, False)])
def test_many_clocks_are_taken_level_by_level(levels: int, whole: bool) -> None:
    """``levels`` clocks of one unit and two of the other: every pair, or the same level where pairs are too many."""
    units = tuple(Unit(name=name, kind="cpu", cores=1, clock_mhz=Fraction(1000)) for name in ("big", "little"))
    fast = tuple(Fraction(9000 - 10 * i) for i in range(levels))
    clocks = tuple(
        ClockDomain(units=(unit.name,), clocks_mhz=mhz)
        for unit, mhz in zip(units, (fast, (Fraction(600), Fraction(300))), strict=True)
    )
    space = build_space(
        chain(2), Platform(name="box", units=units), SpaceOptions(capacities=((8,),), partitions=(2, 2), clocks=clocks)
    )
    found = [c.clocks for c in settings_of(space, [Candidate(assignment=(0, 1))])]
    pairs = itertools.product(range(levels), range(2)) if whole else ((level, min(level, 1)) for level in range(levels))
    assert found == [() if pair == (0, 0) else pair for pair in pairs]
