"""What actors on one core take and rows for trees, against all placements; transfers on paths, against points."""

import itertools
import random

import numpy as np
import pytest

from benchmarks.search.compare import least_of
from benchmarks.search.networks import Recipe, case_of
from benchmarks.search.tightness import optimum
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.bounds.token_paths import LaidOut, TokenPaths, Windows
from dse.estimate.compiled.one_core_kernel import one_core
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.explore.mapping_bound import MappingBound, fastest_rows, most_room
from dse.explore.methods.exact import unit_program
from dse.explore.methods.exact.core_sets import CoreSets
from dse.explore.methods.exact.path_transfers import BufferTicks, PathTransfers
from dse.explore.space.space import Candidate

Job = tuple[int, int, int]
"""When a firing may begin, its ticks, and what the run takes from its start."""


def drawn_jobs(rng: random.Random, n: int, wide: int) -> list[Job]:
    ticks = [rng.randint(1, 6) for _ in range(n)]
    return [(rng.randint(0, wide), t, t + rng.randint(0, wide)) for t in ticks]


def bound_of(jobs: list[Job]) -> int:
    begin, ticks, left = (np.array(column, dtype=np.int64) for column in zip(*jobs, strict=True))
    return int(one_core(begin, ticks, left))


def tick_by_tick(jobs: list[Job]) -> int:
    """The same, one tick after the other."""
    rest, time, found = [ticks for _, ticks, _ in jobs], 0, 0
    while any(rest):
        ready = [i for i, (begin, _, _) in enumerate(jobs) if rest[i] and begin <= time]
        time += 1
        if ready:
            i = max(ready, key=lambda i: jobs[i][2] - jobs[i][1])
            rest[i] -= 1
            if not rest[i]:
                found = max(found, time + jobs[i][2] - jobs[i][1])
    return found


def best_order(jobs: list[Job]) -> int:
    """The least of max(start + left) over all orders of firings that are not interrupted."""
    found = []
    for order in itertools.permutations(jobs):
        time, most = 0, 0
        for begin, ticks, left in order:
            start = max(time, begin)
            time, most = start + ticks, max(most, start + left)
        found.append(most)
    return min(found)


def test_one_core_takes_what_a_simulation_of_single_ticks_does_and_no_more_than_any_order() -> None:
    rng, tight = random.Random(1), 0
    for _ in range(200):
        jobs = drawn_jobs(rng, rng.randint(1, 6), 12)
        found = bound_of(jobs)
        assert found == tick_by_tick(jobs) <= best_order(jobs)
        tight += found == best_order(jobs) > max(begin + left for begin, _, left in jobs)
    assert tight > 50


def sets_of(rng: random.Random, n: int, cores: int) -> tuple[CoreSets, list[list[Job]], list[tuple[int, int]]]:
    """Actors with some firings each, and buffers between any of them that connect all."""
    wide = rng.choice((0, 3, 12))
    jobs = [drawn_jobs(rng, rng.randint(1, 3), wide) for _ in range(n)]
    begin, ticks, left = (np.array(c, dtype=np.int64) for c in zip(*itertools.chain(*jobs), strict=True))
    base = np.cumsum([0, *map(len, jobs)], dtype=np.int64)
    windows = Windows(base=base, start=begin, ticks=ticks, left=left, made=np.ones(len(begin), dtype=bool))
    ends = [(rng.randrange(a), a) for a in range(1, n)] + [(0, n - 1)]
    ties: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for b, (s, t) in enumerate(ends):
        ties[s].append((b, t))
        ties[t].append((b, s))
    return CoreSets(windows, ticks, ties, cores=cores), jobs, ends


def test_no_row_for_a_tree_excludes_a_placement_on_cores_and_elsewhere() -> None:
    """Every placement of four actors on two or three cores, or on another unit, and the best order on each core."""
    rng = random.Random(2)
    found = elsewhere = many = 0
    for _ in range(40):
        n, cores = 4, rng.choice((2, 3))
        sets, jobs, ends = sets_of(rng, n, cores)
        least = max(begin + left for begin, _, left in itertools.chain(*jobs))
        cut = [rng.choice((0.0, 0.2, 0.5, 0.9)) for _ in ends]
        rows = [sets.torn(a, cut, makespan=float(least), least=least) for a in range(n)]
        for row in (r for r in rows if r is not None):
            found, elsewhere = found + 1, elsewhere + bool(row.elsewhere)
            many += row.slope < row.height - least
            for places in itertools.product(range(cores + 1), repeat=n):  # the last one: elsewhere
                apart = sum(places[s] != places[t] or places[s] == cores for s, t in (ends[b] for b in row.buffers))
                missing = sum(ticks for a, ticks in row.elsewhere.items() if places[a] == cores)
                of_core = [list(itertools.chain(*(jobs[a] for a in range(n) if places[a] == c))) for c in range(cores)]
                makespan = max(least, *(bound_of(of) for of in of_core if of), 0)
                assert row.height - row.slope * apart - missing <= makespan + 1e-6
    assert found > 40
    assert elsewhere > 10
    assert many > 10


@pytest.mark.parametrize(("shape", "gpu"), [("pipeline", False), ("irregular", True), ("tree", True)])
def test_paths_with_the_transfers_of_a_mapping_are_those_of_its_point(shape: str, gpu: bool) -> None:
    case = case_of(Recipe(shape=shape, actors=6, cores=3, gpu=gpu, room=2, seed=93_000), 0, 3)
    tables, space = build_tables(case.problem), case.space
    bound, room = MappingBound(tables, space, paths=False), most_room(space)
    paths = TokenPaths(tables, room.capacities)
    transfers = PathTransfers(tables, paths, bound.dearer_transfers())
    rows, rng = fastest_rows(tables, space), np.random.default_rng(1)
    dearer = 0
    for _ in range(20):
        slots = space.random_assignment(rng)
        units = [space.unit_of_slot[slot] for slot in slots]
        times = bound.of_trace.times_by_row([(rows[u],) for u in units], "sequential", room.release)
        least = paths.laid_out([next(iter(of_row.values())).path for of_row in times])
        shares = BufferTicks.none(len(tables.topology.buffers))
        for b, buffer in enumerate(tables.topology.buffers):
            together = slots[buffer.source] == slots[buffer.target]
            write, read = bound.classes_between(units[buffer.source], units[buffer.target], together=together)
            shares.writes[write, b] = shares.reads[read, b] = 1.0
        added = transfers.added(shares)
        exact = LaidOut(firing=least.firing + added.firing, delay=least.delay + added.delay)
        path = paths.path(exact)
        length = (path.whole * exact.firing).sum() + (path.ways * exact.delay).sum()
        point = prepare(tables, space.to_point(Candidate(assignment=slots)))
        assert length == Bounds(tables).of_point(point).room
        on, base = transfers.on(path), (path.whole * least.firing).sum() + (path.ways * least.delay).sum()
        assert length == base + (on.reads * shares.reads).sum() + (on.writes * shares.writes).sum()
        dearer += length > base
    assert dearer > 10


def test_what_lies_between_two_cores_raises_bounds_that_no_optimum_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = 0
    for seed in range(8):
        shape = ("pipeline", "tree", "split-join", "irregular")[seed % 4]
        gpu = seed % 3 == 2
        recipe = Recipe(shape=shape, actors=5, cores=2, gpu=gpu, room=1 + seed % 2, seed=94_000 + seed)
        case = case_of(recipe, 0, 4)
        found, best = least_of(case), optimum(case)
        with monkeypatch.context() as patched:
            patched.setattr(unit_program, "CUT_COLUMNS", 0)
            without = least_of(case)
        assert without <= found <= best, seed
        raised += found > without
    assert raised >= 3
