"""The integer program proposes each mapping of a space once: nothing twice under another name, and nothing lost."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.search.compare import Run, load, search
from benchmarks.search.compare import context_of as quality_context
from dse.base.errors import DseError
from dse.estimate.problem.build import build_tables
from dse.explore.methods.exact import integer_program
from dse.explore.methods.exact.integer_program import SlotProgram
from dse.explore.space.merged import MergedSpace, merged_space
from dse.explore.space.space import Assignment, Space
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from tests.examples import seldom
from tests.property.estimation_cases import Shape, random_case
from tests.property.test_search_bounds import space_of
from tests.property.twin_networks import twin_case
from tests.unit.explore.searches import context_of

MOST_MAPPINGS = 18
"""Each takes a program of its own."""


def proposals(problem: Problem, space: Space, most: int) -> list[Assignment | None]:
    """What the program proposes until nothing is left."""
    program = SlotProgram(context_of(problem, space))
    found: list[Assignment | None] = []
    while len(found) <= most:
        solution = program.solve(below=None)
        if solution.exhausted:
            break
        assert solution.mapping is not None
        found.append(solution.mapping)
        program.cut_off(solution.slots)
    return found


def check(problem: Problem, space: Space) -> None:
    expected = list(space.assignments())
    assert Counter(proposals(problem, space, len(expected))) == Counter(expected)


def test_identical_actors_are_proposed_once() -> None:
    classes = rounds = 0
    for seed in range(400):
        case = twin_case(seed)
        space = merged_space(case.space, build_tables(case.problem))
        if not isinstance(space, MergedSpace) or not 2 <= space.mappings <= MOST_MAPPINGS:
            continue
        assert space.symmetry is not None
        new_class, new_round = bool(space.symmetry.alike), bool(space.symmetry.rounds)
        if (classes > 6 and not new_round) or (rounds > 6 and not new_class):
            continue
        check(case.problem, space)
        classes, rounds = classes + new_class, rounds + new_round
    assert classes > 4
    assert rounds > 4


def test_identical_units_are_proposed_once() -> None:
    units = tuple(Unit(name=name, kind="cpu", cores=cores) for name, cores in (("a", 1), ("b", 2), ("c", 1), ("d", 1)))
    checked = 0
    for seed in range(60):
        case = random_case(random.Random(seed), Shape(max_actors=4, max_firings=20))
        problem = replace(case.problem, platform=Platform(name="p", units=units), missing_weights="zero")
        space = space_of(replace(case, problem=problem), "NON_PREEMPTIVE")
        if space is None or not 2 <= space.mappings <= MOST_MAPPINGS or case.problem.trace.n_firings == 0:
            continue
        try:
            tables = build_tables(problem)
        except DseError:
            continue
        assert len(set(space.alike)) < len(space.units)
        check(problem, space)
        merged = merged_space(space, tables)
        if merged is not space:
            check(problem, merged)
        checked += 1
        if checked == 6:
            break
    assert checked == 6


def test_a_mapping_with_too_many_equivalents_is_still_proposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a cut does not find all of them, the method passes over those that come back."""
    monkeypatch.setattr(integer_program, "MOST_EQUIVALENT", 1)
    seen = 0
    for seed in range(120):
        case = twin_case(seed)
        space = merged_space(case.space, build_tables(case.problem))
        if not isinstance(space, MergedSpace) or not 2 <= space.mappings <= 12 or not space.symmetry:
            continue
        found = proposals(case.problem, space, 200)
        assert set(found) == set(space.assignments())
        seen += len(found) > len(set(found))
    assert seen > 0


@pytest.mark.parametrize("looks", [1, *seldom(0, 3)])
def test_a_program_that_is_ended_early_still_bounds(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """What the solver knows when its looks are used up is below the optimum, and the same each time."""
    ended = 0
    for network in ("split-join-12x4", "irregular-12x4", "tree-16x4g"):
        case = load(network)
        whole = SlotProgram(quality_context(case, 1)).solve(below=None)
        with monkeypatch.context() as patch:
            patch.setattr(integer_program, "MOST_LOOKS", looks)
            early = [SlotProgram(quality_context(case, 1)).solve(below=None) for _ in range(2)]
        assert early[0] == early[1]
        assert not early[0].exhausted
        assert early[0].bound <= whole.bound
        ended += early[0] != whole
    assert ended


def test_a_program_that_is_too_large_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    case = load("split-join-12x4")
    run = Run(network=case.name, method="integer-program", seed=1, evaluations=300, role="compared")
    solved = search(case, run)
    monkeypatch.setattr(integer_program, "MOST_BINARIES", 12 * 4 - 1)
    monkeypatch.delattr(SlotProgram, "solve")
    result = search(case, run)
    assert (result["proven"], result["stop"]) == (False, "complete")
    assert 0 < int(str(result["made"])) < int(str(solved["made"]))
