"""Outcomes from the burst kernel equal those of the general kernel, and every so often of the reference engine.

So do the accounts of the general kernel compiled for still and for plain memories.

Cases are as in ``test_engines_agree``, with what the burst kernel leaves out taken away from most of them: a third as
many again as there. In a quarter as many others tokens take time to another core, in some of them room too, and in
a fifth as many transfers ask shared links. ``DSE_CASES`` (``make test-full``) asks for more.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import pytest

from dse.base.errors import DseError
from dse.estimate.compiled.burst import bursts_of
from dse.estimate.compiled.burst_layout import MANY_PLACES, N_ENTRIES
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.engine import make_engine
from dse.model.design_point import POLICIES, DesignPoint, Partition, Policy, ReleaseMode, TransferMode
from dse.model.estimate import Estimate
from dse.model.weights import Arrival, Visits
from tests.property.estimation_cases import N_CASES, Case, Shape, random_arrival, random_case
from tests.property.test_engines_agree import SHAPES, flowing_case
from tests.unit.estimate.networks import CPU, alone, network, partition, point, problem, weights

N_CHUNKS = 4
BURST_CASES = N_CASES * 3 // 2
TRAVEL_CASES = N_CASES // 4
LINK_CASES = N_CASES // 5
LONG = Shape(max_actors=5, max_firings=1_500, flowing=True, mixed=True)
"""Buffers that hold more than a queue of the kernel has entries for."""
WIDE = Shape(max_actors=60, max_firings=300, flowing=True, mixed=True)
"""Enough actors that some on one core are passed by eight."""
WIDE_POLICIES: tuple[Policy, ...] = "NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN"
HOSTS = Shape(max_actors=8, flowing=True, mixed=True, hosts=True)
"""Several GPUs, with links most of which are shared."""
WIDE_HOSTS = Shape(max_actors=40, max_firings=300, flowing=True, mixed=True, hosts=True)
AS_MANY_AS_ENTRIES = (74, 148, 163, 169, 204, 285)
"""Seeds where an entry that was used up was written over before the last look at it."""


def plain_case(seed: int) -> Case:
    """A case, in most cases without arrival, blocks and shared links, and with one core for each partition."""
    if seed % 25 == 8:
        return wide_case(seed)
    if seed % 25 == 3:
        case = random_case(random.Random(seed), LONG)
        case = replace(case, point=replace(case.point, capacities=tuple(c + 900 for c in case.point.capacities)))
    else:
        case = flowing_case(seed) if seed % 3 else random_case(random.Random(seed), SHAPES[seed % 5 == 4])
    rng = random.Random(seed)
    weights, point = replace(case.problem.weights, arrival=None), case.point
    if rng.random() < 0.9:
        weights = replace(weights, simd={})
    platform = case.problem.platform
    if rng.random() < 0.9:
        platform = replace(platform, links=tuple(replace(link, shared=False) for link in platform.links))
    if rng.random() < 0.9:
        point = replace(point, partitions=tuple(replace(p, cores=1) for p in point.partitions))
    return Case(problem=replace(case.problem, weights=weights, platform=platform), point=point)


def wide_case(seed: int) -> Case:
    """A case of many actors on few cores."""
    rng = random.Random(seed)
    case = random_case(rng, WIDE)
    n, unit = (
        len(case.problem.trace.topology.actors),
        next(u.name for u in case.problem.platform.units if u.kind == "cpu"),
    )
    owners = [rng.randrange(rng.choice((1, 2, 3))) for _ in range(n)]
    partitions = tuple(
        Partition(
            name=f"p{owner}",
            actors=tuple(a for a in range(n) if owners[a] == owner),
            unit=unit,
            policy=WIDE_POLICIES[seed // 25 % len(WIDE_POLICIES)],
        )
        for owner in sorted(set(owners))
    )
    capacities = tuple(c + rng.choice((0, 3)) for c in case.point.capacities)
    weights = replace(case.problem.weights, arrival=None, simd={})
    point = replace(case.point, partitions=partitions, capacities=capacities)
    return Case(problem=replace(case.problem, weights=weights), point=point)


def travelling_case(seed: int) -> Case:
    """A case on CPUs in which tokens take time to another core, in most of them with visits."""
    case, rng = wide_case(seed) if seed % 9 == 4 else plain_case(seed), random.Random(seed)
    units = [unit for unit in case.problem.platform.units if unit.kind == "cpu"]
    platform = replace(case.problem.platform, units=tuple(units), links=())
    partitions = tuple(
        replace(p, unit=rng.choice(units).name, policy=rng.choice((p.policy, "NON_PREEMPTIVE")), static_order=())
        if p.policy != "STATIC_ORDER"
        else replace(p, unit=rng.choice(units).name)
        for p in case.point.partitions
    )
    weights = case.problem.weights
    costs = [cost for table in (weights.compute, weights.scheduling, weights.transfers) for cost in table.values()]
    clocks = sorted({cost.frequency_mhz for cost in costs if cost.frequency_mhz is not None})
    arrival = random_arrival(rng, clocks, case.problem.trace.topology)
    problem = replace(case.problem, weights=replace(weights, arrival=arrival), platform=platform)
    return Case(problem=problem, point=replace(case.point, partitions=partitions))


def linked_case(seed: int) -> Case:
    """A case with several links, most of them shared, on one core for each partition."""
    rng = random.Random(seed)
    case = random_case(rng, WIDE_HOSTS if seed % 21 == 7 else replace(HOSTS, flowing=seed % 3 > 0))
    weights, point, platform = replace(case.problem.weights, arrival=None), case.point, case.problem.platform
    if rng.random() < 0.95:
        weights = replace(weights, simd={})
        point = replace(point, partitions=tuple(replace(p, cores=1) for p in point.partitions))
    if seed % 5 == 2:
        point = replace(point, capacities=tuple(c + 900 for c in point.capacities))
    links = tuple(replace(link, shared=rng.random() < 0.9) for link in platform.links)
    return Case(problem=replace(case.problem, weights=weights, platform=replace(platform, links=links)), point=point)


def limits(estimate: Estimate, rng: random.Random) -> tuple[int, ...]:
    span = estimate.makespan
    return span, span - 1, rng.randint(0, span + 1), rng.choice((span + 1, 0, -2, 2**62, 2**70))


@dataclass
class Seen:
    """What a chunk of cases held."""

    suited: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    deadlocks: int = 0
    kept: int = 0
    cut: int = 0
    policies: set[str] = field(default_factory=set)
    wide: set[str] = field(default_factory=set)
    """The policies of cores with ``MANY_PLACES`` actors or more."""
    travelled: Counter[str] = field(default_factory=Counter)
    """The points where tokens travel that bursts made: ``arrivals`` alone, or ``visits`` too."""
    linked: Counter[str] = field(default_factory=Counter)
    """Those that ask shared links: their transfer and release modes, and whether ``several`` links were asked, some
    transfer ``waits``, or some that a shared link made took no time (``empty``)."""


class GeneralOnly(CompiledEngine):
    """An engine on a machine where only the general kernel is compiled."""

    def _is_plain_ready(self) -> bool:
        return False


def look_at_accounts(engine: CompiledEngine, point: DesignPoint, whole: Estimate, seed: int) -> str:
    """Compare the accounts of a point; return for which memories the kernel that made them is."""
    assert GeneralOnly(engine.packed.tables).estimate(point) == whole, f"seed {seed}"
    assert engine._is_plain_ready(), "`make setup` compiles it"
    for limit in (whole.makespan, whole.makespan - 1):
        expected = whole if whole.deadlock is None and whole.makespan <= limit else None
        assert engine.estimate_within(point, limit) == expected, f"seed {seed}, limit {limit}"
    return engine.packed.kind_of(engine.encoder.encode(point))


def look(seed: int, case: Case, seen: Seen, *, reference: bool) -> None:
    """Compare the outcomes of a case, whole and with limits."""
    engine, point = CompiledEngine(case.problem), case.point
    try:
        whole = engine.estimate(point)
    except DseError:
        return
    seen.kinds[look_at_accounts(engine, point, whole, seed)] += 1
    bursts = engine._bursts()
    assert bursts is not None or bursts_of(engine.packed) is None, "the kernel is compiled by `make setup`"
    kind = None if bursts is None else bursts.kernel_of(engine.encoder.encode(point))
    if kind is not None:
        seen.suited += 1
        arrival = case.problem.weights.arrival
        if kind == "travelling" and arrival is not None:
            assert engine._is_ready(kind), "`make setup` compiles it"
            seen.travelled["arrivals" if arrival.visits is None else "visits"] += 1
        if kind == "linked":
            assert engine._is_ready(kind), "`make setup` compiles it"
            used = [link for link in whole.links if link.transfers]
            found = {"several": len(used) > 1, "waits": any(link.waiting for link in used)}
            found["empty"] = any(link.busy == 0 for link in used)
            seen.linked.update([point.transfers, point.release, *(what for what, holds in found.items() if holds)])
        seen.policies |= {partition.policy for partition in point.partitions if len(partition.actors) > 1}
        seen.wide |= {partition.policy for partition in point.partitions if len(partition.actors) >= MANY_PLACES}
    seen.deadlocks += whole.deadlock is not None
    assert engine.outcomes([point]) == [whole.outcome], f"seed {seed}"
    if reference:
        assert make_engine("reference", engine.packed.tables).outcomes([point]) == [whole.outcome], f"seed {seed}"
    for limit in limits(whole, random.Random(seed)):
        expected = whole.outcome if whole.deadlock is None and whole.makespan <= limit else None
        assert engine.outcomes([point], limit) == [expected], f"seed {seed}, limit {limit}"
        seen.kept += expected is not None
        seen.cut += expected is None


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_outcomes_are_those_of_the_general_kernel(chunk: int) -> None:
    seen = Seen()
    for seed in range(chunk, BURST_CASES, N_CHUNKS):
        look(seed, plain_case(seed), seen, reference=seed % 12 == chunk)
    assert seen.suited > BURST_CASES // N_CHUNKS // 2
    assert min(seen.kinds["plain"], seen.kinds["still"]) > BURST_CASES // N_CHUNKS // 5
    assert seen.policies == set(POLICIES)
    assert seen.wide >= set(WIDE_POLICIES)
    assert 0 < seen.deadlocks < BURST_CASES // N_CHUNKS // 2
    assert seen.kept > 100 < seen.cut


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_outcomes_are_those_of_the_general_kernel_where_tokens_travel(chunk: int) -> None:
    seen = Seen()
    for seed in range(chunk, TRAVEL_CASES, N_CHUNKS):
        look(seed, travelling_case(seed), seen, reference=seed % 12 == chunk)
    assert min(seen.travelled["arrivals"], seen.travelled["visits"]) > TRAVEL_CASES // N_CHUNKS // 8
    assert seen.policies == set(POLICIES)
    assert seen.wide
    assert 0 < seen.deadlocks < TRAVEL_CASES // N_CHUNKS // 2
    assert seen.kept > TRAVEL_CASES // N_CHUNKS // 4 < seen.cut


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_outcomes_are_those_of_the_general_kernel_where_transfers_ask_shared_links(chunk: int) -> None:
    seen = Seen()
    for seed in range(chunk, LINK_CASES, N_CHUNKS):
        look(seed, linked_case(seed), seen, reference=seed % 12 == chunk)
    n = LINK_CASES // N_CHUNKS
    assert min(seen.linked[mode] for mode in ("sequential", "parallel", "reading", "processing")) > n // 8
    assert min(seen.linked["several"], seen.linked["waits"]) > n // 10
    assert seen.linked["empty"] > n // 25
    assert seen.policies == set(POLICIES)
    assert 0 < seen.deadlocks < n // 2
    assert seen.kept > n // 4 < seen.cut


@pytest.mark.parametrize("seed", AS_MANY_AS_ENTRIES)
def test_buffers_of_as_many_tokens_as_a_queue_has_entries(seed: int) -> None:
    """Transfers of single tokens beside others: all entries may be in use, and the last one that is used up behind."""
    case = random_case(random.Random(seed), LONG)
    weights = replace(case.problem.weights, arrival=None, simd={})
    links = tuple(replace(link, shared=False) for link in case.problem.platform.links)
    problem = replace(case.problem, weights=weights, platform=replace(case.problem.platform, links=links))
    engine = CompiledEngine(problem)
    for tokens in (2, 4, 8, 16, 32, 64, 128):
        partitions = tuple(replace(p, cores=1) for p in case.point.partitions)
        capacities = tuple(max(c, tokens) for c in case.point.capacities)
        point = replace(case.point, partitions=partitions, capacities=capacities)
        assert engine.outcomes([point]) == [engine.estimate(point).outcome], tokens


@pytest.mark.parametrize("ticks", range(6, 11))
@pytest.mark.parametrize(("quick", "slow"), [("s", "k"), ("k", "s")])
def test_a_visit_that_began_before_a_queue_was_full(quick: str, slow: str, ticks: int) -> None:
    """All that arrives in a visit of the slow end is more than entries; what came before it began is not forgotten."""
    trace = network([("s.o", "k")], {"s": "x" * 400, "k": "x" * 400})
    sides: tuple[Literal["read", "write"], ...] = ("read", "write")
    visits = Visits(entries={("s", "o", "k", "i0", side): Fraction(7) for side in sides})
    arrival = Arrival(cycles=Fraction(1), turn_firings=1000, turn_parts=300, visits=visits)
    table = replace(weights(trace, {quick: ticks, slow: 600}), arrival=arrival)
    engine, at = CompiledEngine(problem(trace, table, CPU)), point(trace, *alone(trace), capacity=300)
    (reference,) = make_engine("reference", engine.packed.tables.problem).outcomes([at])
    bursts = engine._bursts()
    assert bursts is not None
    assert bursts.kernel_of(engine.encoder.encode(at)) == "travelling"
    assert engine.outcomes([at]) == [engine.estimate(at).outcome] == [reference]


@pytest.mark.parametrize("capacity", [1, 3, 64, 65, 300])
@pytest.mark.parametrize("slow", ["a", "b", "c", "d", "e"])
def test_firings_in_rows_of_a_pipeline(slow: str, capacity: int) -> None:
    """Rows end where something is unknown, at a limit, or at once; buffers are shorter and longer than a queue."""
    trace = network(
        [("a.o", "b"), ("b.o", "c"), ("c.o", "d"), ("d.o", "e")],
        {"a": "xy" * 100, "b": "x" * 200, "c": "xxy" * 66 + "yy", "d": "yx" * 100, "e": "x" * 200},
    )
    ticks = {"a": 3, "a.y": 0, "b": 2, "c.x": 5, "c.y": 1, "d.x": 4, "d.y": 0, "e": 2}
    table = weights(trace, {name: 9 if name[0] == slow else n for name, n in ticks.items()}, read=1)
    engine = CompiledEngine(problem(trace, table, CPU))
    for cores in (("a c e", "b d"), ("a b c d e",), ("a", "b", "c", "d", "e"), ("a b", "c d e")):
        at = point(trace, *(partition(trace, names) for names in cores), capacity=capacity)
        (reference,) = make_engine("reference", engine.packed.tables.problem).outcomes([at])
        assert reference is not None
        assert engine.outcomes([at]) == [engine.estimate(at).outcome] == [reference]
        for limit in (reference.makespan, reference.makespan - 1, reference.makespan // 2):
            assert engine.outcomes([at], limit) == [reference if limit == reference.makespan else None]


def test_an_actor_that_never_fires_lays_out_no_row() -> None:
    """Its buffer has more initial tokens than a queue has entries, and all that others move has one rate."""
    trace = network(
        [("s.o", "k"), ("s.p", "z")], {"s": "x" * 90, "k": "x" * 90, "z": "x" * 90}, initial={("s.o", "k"): 400}
    )
    k = [actor.name for actor in trace.topology.actors].index("k")
    trace = replace(trace, firings=tuple(f[:0] if a == k else f for a, f in enumerate(trace.firings)))
    engine = CompiledEngine(problem(trace, weights(trace, {"s": 3, "k": 1, "z": 4}), CPU))
    at = point(trace, *alone(trace), capacity=600)
    (reference,) = make_engine("reference", engine.packed.tables.problem).outcomes([at])
    assert reference is not None
    assert engine.outcomes([at]) == [engine.estimate(at).outcome] == [reference]


def test_points_that_suit_and_others_go_together() -> None:
    """Also several in one call, whose memory is used again, and more than an entry of a queue holds."""
    case = random_case(random.Random(11), LONG)
    engine = CompiledEngine(replace(case.problem, weights=replace(case.problem.weights, arrival=None, simd={})))
    points = [
        replace(
            case.point,
            release=release,
            capacities=tuple(c + more for c in case.point.capacities),
            partitions=tuple(
                replace(p, policy="NON_PREEMPTIVE", static_order=(), cores=cores) for p in case.point.partitions
            ),
        )
        for release in ("reading", "processing")
        for more in (0, 1, 5 * N_ENTRIES)
        for cores in (1, 2)
    ]
    bursts = engine._bursts()
    assert bursts is not None
    assert {bursts.kernel_of(engine.encoder.encode(point)) for point in points} == {None, "still"}
    assert engine.outcomes(points) == [engine.estimate(point).outcome for point in points]
    assert engine.outcomes([]) == []


@pytest.mark.parametrize("seed", [0, 7, 8, 33])
def test_points_that_ask_links_go_together(seed: int) -> None:
    """Several in one call, in all modes and with more room, so that the next one finds the memory of another."""
    case = linked_case(seed)
    engine = CompiledEngine(case.problem)
    modes: tuple[tuple[ReleaseMode, TransferMode], ...] = (
        ("reading", "sequential"), ("processing", "parallel"), ("reading", "parallel"), ("processing", "sequential"),
    )  # fmt: skip
    points = [
        replace(case.point, release=release, transfers=way, capacities=tuple(c + more for c in case.point.capacities))
        for more in (0, 2, 100)
        for release, way in modes
    ]
    bursts = engine._bursts()
    assert bursts is not None
    assert {bursts.kernel_of(engine.encoder.encode(point)) for point in points} == {"linked"}
    assert engine.outcomes(points) == [engine.estimate(point).outcome for point in points]


@pytest.mark.parametrize(("drawn", "shift"), [(plain_case, 2), (travelling_case, 1), (linked_case, 4)])
def test_what_the_kernel_refuses_the_general_one_makes(
    monkeypatch: pytest.MonkeyPatch, drawn: Callable[[int], Case], shift: int
) -> None:
    """With fewer bits for the rounds of an instant than firings of no length follow each other."""
    monkeypatch.setattr("dse.estimate.compiled.burst.MOST_SHIFT", shift)
    monkeypatch.setattr("dse.estimate.compiled.burst.LEAST_SHIFT", shift)
    refused = 0
    for seed in range(60):
        case = drawn(seed)
        engine = CompiledEngine(case.problem)
        try:
            whole = engine.estimate(case.point)
        except DseError:
            continue
        bursts = bursts_of(engine.packed)
        encoded = engine.encoder.encode(case.point)
        if bursts is not None and (kind := bursts.kernel_of(encoded)) is not None:
            refused += isinstance(bursts.run(kind, [encoded], None).make()[0], int)
        assert engine.outcomes([case.point]) == [whole.outcome], f"seed {seed}"
    assert refused > 5
