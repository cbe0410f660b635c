"""Bounds from sums against simulated makespans: random networks, links, SIMD, clocks, policies, transfers, holes."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dse.base.errors import DseError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.bounds.path_pool import PathFinder, PathSums, Placed
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import Prepared, prepare
from dse.estimate.problem.prices import ROW_FREE, UNIT_KINDS, price_class
from dse.explore.mapping_bound import MappingBound
from dse.explore.space.space import Candidate
from dse.model.weights import FifoKind
from tests.property.estimation_cases import Case, Shape, random_case
from tests.property.test_search_bounds import POLICIES, space_of

MAPPINGS = 12
HOSTS = Shape(max_firings=200, flowing=True, mixed=True, hosts=True)


def checked(case: Case, policy: str) -> tuple[int, int, int]:
    """Check the bounds of some mappings; return how many, and for how many paths and links say more than the rest."""
    space = space_of(case, policy)
    if space is None:
        return 0, 0, 0
    tables = build_tables(case.problem)
    engine, bound = make_engine("compiled", case.problem), MappingBound(tables, space)
    rng = np.random.default_rng(7)
    candidates = [Candidate(assignment=space.random_assignment(rng)) for _ in range(MAPPINGS)]
    bounds = bound.of(candidates)
    bound._bounds._paths = PathSums.none(tables)
    without_paths = bound.of(candidates)
    bound._bounds._links = (bound._bounds._links[0], bound._bounds._links[1][:0])
    of_loads = bound.of(candidates)
    count = paths = links = 0
    for candidate, least, fewer, load in zip(candidates, bounds, without_paths, of_loads, strict=True):
        try:
            estimate = engine.estimate(space.to_point(candidate))
        except DseError:
            continue  # weights are missing for this placement
        assert load <= fewer <= least
        if estimate.deadlock is None:
            assert least <= estimate.makespan
            count, paths, links = count + 1, paths + (least > fewer), links + (fewer > load)
    return count, paths, links


def test_a_link_that_prices_nothing_may_be_the_one() -> None:
    """A missing host weight was once priced by the cheapest link that can, while that of the mapping could not."""
    count = 0
    for seed in range(60):
        problem = (case := random_case(random.Random(seed), HOSTS)).problem
        first, *others = problem.platform.links
        links = (first, *(replace(link, latency_ns=Fraction(0), bandwidth_gb_s=None) for link in others))
        weights = replace(problem.weights, has_transfers=False, transfers={})
        problem = replace(problem, platform=replace(problem.platform, links=links), weights=weights)
        count += checked(replace(case, problem=problem), "ROUND_ROBIN")[0]
    assert count > 300


def test_each_buffer_loads_the_link_between_its_own_ends() -> None:
    """Readers of one port on several units were once all counted on the link of the first."""
    links = 0
    for seed in range(40, 80):
        problem = (case := random_case(random.Random(seed), Shape(max_firings=200, flowing=True, hosts=True))).problem
        every_other = tuple(replace(link, shared=i % 2 == 0) for i, link in enumerate(problem.platform.links))
        compute = {key: replace(c, mean_cycles=c.mean_cycles / 1000) for key, c in problem.weights.compute.items()}
        weights = replace(problem.weights, compute=compute, simd={}, scheduling={}, has_scheduling=False)
        problem = replace(problem, platform=replace(problem.platform, links=every_other), weights=weights)
        links += checked(replace(case, problem=problem), POLICIES[seed % 4])[2]
    assert links > 30


def test_no_bound_of_a_candidate_exceeds_its_makespan() -> None:
    counts = [checked(random_case(random.Random(s), Shape(max_firings=150)), POLICIES[s % 4]) for s in range(250)]
    count, paths, links = (sum(column) for column in zip(*counts, strict=True))
    assert count > 500
    assert paths > 50
    assert links > 0


def placed_of(prepared: Prepared) -> Placed:
    buffers = prepared.tables.topology.buffers

    def of(actor: int, kind: FifoKind) -> int:
        return price_class(kind, UNIT_KINDS[prepared.unit_kind[actor]])

    pairs = list(zip(buffers, prepared.fifo_kind, strict=True))
    return Placed(
        rows=np.array(prepared.cost_row, dtype=np.int64),
        read_class=np.array([of(b.target, kind) for b, kind in pairs], dtype=np.int64),
        write_class=np.array([of(b.source, kind) for b, kind in pairs], dtype=np.int64),
    )


def length_under(path: PathSums, placed: Placed) -> int:
    """The length of a path where transfers are sequential, by the definition of the sums."""
    actors, buffers = np.arange(len(placed.rows)), np.arange(len(placed.read_class))
    return int(
        path.ticks[placed.rows, actors, 0].sum()
        + path.reads[placed.read_class, buffers, 0].sum()
        + path.writes[placed.write_class, buffers, 0].sum()
    )


def test_the_path_of_a_mapping_is_its_critical_path() -> None:
    """Equal to the scan of ``token_paths`` where that makes no use of what sums leave out: SIMD, a core to itself."""
    equal = 0
    for seed in range(300):
        case = random_case(random.Random(seed), Shape(max_firings=200))
        problem = replace(case.problem, weights=replace(case.problem.weights, simd={}))
        if problem.platform.dynamic_network:
            continue
        tables = build_tables(problem)
        try:
            prepared = prepare(tables, case.point)
        except DseError:
            continue
        exact = Bounds(tables).of_point(prepared).critical_path
        parallel = case.point.transfers == "parallel"
        length, path = PathFinder(tables, parallel=parallel).critical(placed_of(prepared))
        assert length <= exact
        if not parallel:
            assert length_under(path, placed_of(prepared)) == length
        alone = any(p.policy == "FULL_PARALLEL" or len(p.actors) == 1 for p in case.point.partitions)
        derived = any(price >= ROW_FREE for price in (*prepared.read_price, *prepared.write_price))
        if not alone and not derived:
            assert length == exact
            equal += length > 0
    assert equal > 25
