"""Points that the search calls equivalent have one makespan; no condition of ``explore/space/symmetry.py`` is idle."""

import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.space import canonical, symmetry
from dse.explore.space.build import build_space
from dse.explore.space.canonical import keeps_order
from dse.explore.space.merged import MergedSpace, merged_space
from dse.explore.space.space import Assignment, Candidate, Space
from dse.explore.space.symmetry import ActorSymmetry, Freedom, Permutation
from dse.model.estimate import Estimate
from dse.model.platform import Link, Platform, Unit
from tests.examples import seldom
from tests.property.twin_networks import TwinCase, twin_case

MOST_MAPPINGS = 220


def merged(case: TwinCase) -> MergedSpace | None:
    """Return the merged space of a case if something can be merged and it is small enough to look at all of it."""
    space = merged_space(case.space, build_tables(case.problem))
    return space if isinstance(space, MergedSpace) and case.space.mappings <= MOST_MAPPINGS else None


def classes_of(case: TwinCase, space: MergedSpace) -> dict[Assignment, list[Assignment]]:
    found: dict[Assignment, list[Assignment]] = defaultdict(list)
    for assignment in case.space.assignments():
        form = space.canonical(assignment)
        assert form is not None
        found[form].append(assignment)
    return found


def outcome(estimate: Estimate) -> object:
    """Everything that an evaluation may depend on, without the names of actors, partitions and buffers."""
    accounts = (sorted(map(repr, estimate.actors)), sorted(map(repr, estimate.partitions)))
    links = [(link.busy, link.waiting, link.transfers) for link in estimate.links]
    tokens = sorted(buffer.max_tokens for buffer in estimate.buffers)
    return estimate.makespan, estimate.deadlock is None, accounts, sorted(links), tokens


def unequal(case: TwinCase, engine: str = "compiled") -> list[tuple[Assignment, Assignment]]:
    """Return pairs of assignments that are called equivalent and have other outcomes."""
    space = merged(case)
    if space is None:
        return []
    run = make_engine(engine, case.problem)
    wrong = []
    for (form, members), policy in itertools.product(
        classes_of(case, space).items(), range(len(case.space.options.policies))
    ):
        if len(members) > 1:
            points = [case.space.to_point(Candidate(assignment=a, policy=policy)) for a in members]
            found = [outcome(run.estimate(point)) for point in points]
            wrong += [(form, a) for a, other in zip(members, found, strict=True) if other != found[0]]
    return wrong


@pytest.mark.parametrize("chunk", [0, 1, *seldom(2, 3)])
def test_equivalent_points_have_one_outcome(chunk: int) -> None:
    """All policies, both modes of transfers and release, GPUs, links, near misses; all pairs of small spaces."""
    merging = 0
    for seed in range(chunk * 150, chunk * 150 + 150):
        case = twin_case(seed)
        assert unequal(case) == [], seed
        space = merged(case)
        merging += space is not None and space.mappings < space.told_apart
    assert merging > 25


def test_equivalent_points_have_one_outcome_on_the_reference_engine() -> None:
    assert not any(unequal(twin_case(seed), "reference") for seed in range(1000, 1060))


@pytest.mark.parametrize("chunk", [0, *seldom(1)])
def test_the_canonical_form_is_one_of_each_class(chunk: int) -> None:
    for seed in range(chunk * 150, chunk * 150 + 150):
        case = twin_case(seed)
        space = merged(case)
        if space is not None:
            classes = classes_of(case, space)
            assert sorted(space.assignments()) == sorted(classes), seed
            assert space.mappings == len(classes), seed
            assert space.size == len(classes) * len(space.options.policies), seed
            assert all(form in members for form, members in classes.items()), seed
            drawn = space.random_assignment(np.random.default_rng(seed))
            assert drawn in classes, seed


def exchanges(found: ActorSymmetry) -> list[Permutation]:
    """Return the exchanges of neighbours in each class of alike actors, and all others."""
    swaps = []
    for a, b in (pair for members in found.alike for pair in itertools.pairwise(members)):
        image = list(range(found.n_actors))
        image[a], image[b] = b, a
        swaps.append(tuple(image))
    return [*swaps, *(p for tried in found.rounds for p in tried)]


def test_an_exchange_maps_every_firing_and_account() -> None:
    """Not only the makespan: start and end of each firing, and where the time went, move with the actors."""
    compared = 0
    for seed in range(400):
        case = twin_case(seed)
        space = merged(case)
        if space is None or space.symmetry is None:
            continue
        engine = make_engine("compiled", case.problem)
        for assignment in list(case.space.assignments())[::7]:
            before = engine.estimate(case.space.to_point(Candidate(assignment=assignment)), firing_times=True)
            for permutation in exchanges(space.symmetry):
                if space.symmetry.ordered and not keeps_order(permutation, assignment):
                    continue
                slots = [0] * len(assignment)
                for actor, slot in enumerate(assignment):
                    slots[permutation[actor]] = slot
                image = case.space.canonical(tuple(slots))
                assert image is not None
                after = engine.estimate(case.space.to_point(Candidate(assignment=image)), firing_times=True)
                compared += image != assignment
                assert_mapped(before, after, permutation)
    assert compared > 400


def assert_mapped(before: Estimate, after: Estimate, permutation: Permutation) -> None:
    assert before.firing_times is not None
    assert after.firing_times is not None
    for actor, image in enumerate(permutation):
        assert before.actors[actor] == after.actors[image]
        for side in ("start", "end"):
            here, there = getattr(before.firing_times[actor], side), getattr(after.firing_times[image], side)
            assert np.array_equal(here, there)


def without_costs(_tables: Any, _freedom: Any) -> dict[int, list[int]]:
    return {}


def without_ranks(buffers: Any) -> list[object]:
    return [()] * len(buffers)


CONDITIONS: dict[str, tuple[object, str, Callable[..., object] | property]] = {
    "order of writes": (symmetry, "_costing_before", without_costs),
    "order in a partition": (canonical, "keeps_order", lambda *_: True),
    "actors between": (symmetry, "_runs", lambda twins, _allowed: [twins]),
    "order of buffers": (symmetry, "_queue_ranks", without_ranks),
    "shared links and ports": (Freedom, "reaches_gpu", property(lambda _: False)),
    "first crossing buffer": (Freedom, "order_decides_link", property(lambda _: False)),
    "buffers on buffers": (symmetry, "_buffer_labels", lambda tables, _: [0] * len(tables.topology.buffers)),
    "firings and costs": (symmetry, "_actor_label", lambda *_: 0),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_without_a_condition_something_unequal_is_merged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*CONDITIONS[name])
    assert any(unequal(twin_case(seed)) for seed in range(2000))


def gpu_box(order: str, links: tuple[str, ...], *, dynamic: bool = False) -> Platform:
    """Return single-core CPUs c and d and GPUs g and h in an order, with shared links."""
    units = tuple(Unit(name=u, kind="cpu" if u in "cd" else "gpu", partition=f"P{u}") for u in order)
    joined = tuple(Link(name=ends, between=(ends[0], ends[1]), shared=True) for ends in links)
    return Platform(name=order, units=units, links=joined, dynamic_network=dynamic)


@pytest.mark.parametrize(
    ("platform", "alike"),
    [
        (gpu_box("cgh", ("cg", "ch")), True),
        (gpu_box("gch", ("cg", "ch")), False),
        (gpu_box("cdg", ("cg", "dg")), False),
        (gpu_box("cgh", ("cg", "ch"), dynamic=True), False),
        (gpu_box("cgh", ("cg", "ch", "gh")), False),
        (gpu_box("cdg", ()), True),
    ],
)
def test_identical_units_are_told_apart_by_shared_links_that_see_their_order(platform: Platform, alike: bool) -> None:
    merges = 0
    for seed in range(25):
        case = twin_case(seed)
        problem = replace(case.problem, platform=platform)
        space = build_space(problem.trace.topology, platform, replace(case.space.options, pins=()))
        apart = Space(
            units=space.units, allowed=space.allowed, least=space.least, most=space.most, options=space.options
        )
        if apart.mappings > MOST_MAPPINGS:
            continue
        engine = make_engine("compiled", problem)
        known: dict[Assignment, int] = {}
        for assignment in apart.assignments():
            makespan = engine.estimate(apart.to_point(Candidate(assignment=assignment))).makespan
            form = space.canonical(assignment)
            assert form is not None
            assert known.setdefault(form, makespan) == makespan
        merges += len(known) < apart.mappings
    assert (merges > 0) == alike
