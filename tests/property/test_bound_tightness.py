"""Bounds are worth what they claim: equal to what an engine accounts, or to the makespan, where nothing else counts.

That no bound exceeds a makespan is tested elsewhere, but a bound that forgets a term passes that. Here a term shows.
"""

import random
from dataclasses import replace
from fractions import Fraction
from math import ceil

import pytest

from dse.estimate.bounds.lower_bounds import Bounds, MakespanBounds
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import link_servers, prepare
from dse.model.estimate import Estimate
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.weights import Cost, FifoKind, UnitKind, WeightTable
from tests.property.estimation_cases import Case, Shape, random_case
from tests.unit.estimate.networks import CPU, alone, heterogeneous, network, partition, point, problem, weights


def bound_of(case: Case) -> MakespanBounds:
    tables = build_tables(case.problem)
    return Bounds(tables).of_point(prepare(tables, case.point))


def estimate_of(case: Case) -> Estimate:
    return make_engine("compiled", case.problem).estimate(case.point, firing_times=True)


def spent(estimate: Estimate) -> list[int]:
    """The core time of each actor without waiting."""
    return [a.scheduling + a.reading + a.processing + a.writing for a in estimate.actors]


def loads_of(case: Case, estimate: Estimate) -> list[Fraction]:
    """The core time of each partition by core."""
    times = spent(estimate)
    return [
        Fraction(sum(times[a] for a in p.actors), len(p.actors) if p.policy == "FULL_PARALLEL" else p.cores)
        for p in case.point.partitions
    ]


def busiest_shared_link(problem: Problem, estimate: Estimate) -> int:
    servers = link_servers(problem.platform)
    return max((link.busy for s, link in zip(servers, estimate.links, strict=True) if s.shared), default=0)


def shared_links(problem: Problem, *, shared: bool) -> Problem:
    links = tuple(replace(link, shared=shared) for link in problem.platform.links)
    return replace(problem, platform=replace(problem.platform, links=links))


def with_room(case: Case) -> Case:
    """The case with room in all buffers, and tokens that do not travel: no bound knows of arrivals."""
    case = replace(case, problem=replace(case.problem, weights=replace(case.problem.weights, arrival=None)))
    return replace(case, point=replace(case.point, capacities=(100_000,) * len(case.point.capacities)))


def on_cores_of_their_own(case: Case) -> Case:
    """The case with a core for each actor and links that nobody waits for."""
    partitions = tuple(replace(p, policy="FULL_PARALLEL", static_order=()) for p in case.point.partitions)
    return Case(problem=shared_links(case.problem, shared=False), point=replace(case.point, partitions=partitions))


def without_blocks(case: Case) -> Case:
    return replace(case, problem=replace(case.problem, weights=replace(case.problem.weights, simd={})))


def without_order(case: Case) -> Case:
    """The case with scheduling costs that do not depend on what ran before, and no SIMD blocks."""
    first = {key: cost for key, cost in case.problem.weights.scheduling.items() if not key[1]}
    weights = replace(case.problem.weights, scheduling=first, simd={})
    return replace(case, problem=replace(case.problem, weights=weights))


# -- of one point: against the accounts of an engine -----------------------------------------------------------------


def check_against_accounts(case: Case) -> bool:
    """Check work, heaviest actor, pipeline and shared link where each firing has one cost; return whether it ran."""
    if case.point.transfers == "parallel":  # with waiting, the accounts of parallel transfers do not tell their length
        case = replace(case, problem=shared_links(case.problem, shared=False))
    estimate, bound = estimate_of(case), bound_of(case)
    if estimate.deadlock is not None:
        return False
    loads = loads_of(case, estimate)
    assert bound.work == ceil(max(loads))
    assert bound.heaviest_actor == max(spent(estimate))
    assert bound.shared_link == busiest_shared_link(case.problem, estimate)
    free = estimate_of(on_cores_of_their_own(case))
    assert free.firing_times is not None
    begins = [
        min((int(free.firing_times[a].start[0]) for a in p.actors if len(free.firing_times[a].start)), default=0)
        for p in case.point.partitions
    ]
    assert bound.critical_path == free.makespan
    assert bound.pipeline >= max(begin + ceil(load) for begin, load in zip(begins, loads, strict=True))
    return True


def test_the_parts_of_a_bound_are_what_an_engine_accounts() -> None:
    checked = pipelines = 0
    for seed in range(140):
        case = without_order(with_room(random_case(random.Random(seed), Shape(max_firings=120))))
        if check_against_accounts(case):
            bound = bound_of(case)
            checked += bound.work > 0
            pipelines += bound.pipeline > bound.work
    assert checked > 45
    assert pipelines > 4


def test_an_actor_with_a_core_to_itself_pays_for_its_own_predecessor() -> None:
    checked = 0
    for seed in range(300, 360):
        case = with_room(random_case(random.Random(seed), Shape(max_firings=80)))
        checked += check_against_accounts(without_blocks(on_cores_of_their_own(case)))
    assert checked > 25


def test_the_load_of_a_shared_link_is_all_of_its_transfers_in_either_mode() -> None:
    loaded = 0
    for seed in range(50):
        case = without_order(with_room(random_case(random.Random(seed), Shape(max_firings=80, hosts=True))))
        estimate = estimate_of(case)
        if estimate.deadlock is None:
            link = bound_of(case).shared_link
            assert link == busiest_shared_link(case.problem, estimate)
            loaded += link > 0
    assert loaded > 8


OWN_FIRST = {("a", "", "x"): 10, ("a", "x", "x"): 1, ("b", "", "x"): 7, ("b", "x", "x"): 3}
OTHER_FIRST = {("a", "", "x"): 1, ("a", "x", "x"): 10, ("b", "", "x"): 3, ("b", "x", "x"): 7}


@pytest.mark.parametrize(
    ("scheduling", "policy", "total"),
    [(OWN_FIRST, "NON_PREEMPTIVE", (10 + 3 * 1) + (7 + 3 * 3)), (OTHER_FIRST, "ROUND_ROBIN", 4 * 1 + 4 * 3)],
)
def test_in_company_the_cheaper_predecessor_counts(
    scheduling: dict[tuple[str, str, str], int], policy: str, total: int
) -> None:
    """Each actor fires in a row where its own predecessor is the cheaper one, in turns where another actor's is."""
    trace = network([], {"a": "xxxx", "b": "xxxx"})
    table = weights(trace, {"a": 5, "b": 6}, scheduling=scheduling)
    case = Case(problem(trace, table), point(trace, partition(trace, "a b", policy=policy)))
    bound = bound_of(case)
    assert bound.work == bound.pipeline == estimate_of(case).makespan == total + 4 * 5 + 4 * 6


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
@pytest.mark.parametrize(("cores", "share"), [(1, 1), (2, 2)])
def test_a_late_partition_begins_when_its_first_token_can_have_come(mode: str, cores: int, share: int) -> None:
    """What the bottleneck waits for: scheduling, read, computation and the writes of the way there."""
    trace = network(
        [("s.o", "f"), ("f.p", "k"), ("f.o", "m")], {"s": "x" * 8, "f": "x" * 8, "k": "x" * 8, "m": "x" * 8}
    )
    costs = {(actor, q, "x"): 1 for actor in "sfkm" for q in ("", "x")}
    table = weights(trace, {"s": 10, "f": 20, "k": 900, "m": 900}, read=3, write=5, scheduling=costs)
    late = partition(trace, "k m", cores=cores, policy="ROUND_ROBIN")
    case = Case(problem(trace, table), point(trace, partition(trace, "s"), partition(trace, "f"), late, transfers=mode))
    begin = (1 + 10 + 5) + (1 + 3 + 20 + 5)  # the first of the two writes of f feeds k
    bound = bound_of(case)
    assert bound.pipeline == begin + 2 * 8 * (1 + 3 + 900) // share
    if cores == 1:
        assert estimate_of(case).makespan == bound.pipeline


def test_an_actor_that_never_fires_begins_nothing() -> None:
    """n could fire at 0 if it had anything to do; its partition begins with k, at 15."""
    trace = network([("s.o", "k")], {"s": "xxx", "k": "xxx", "n": ""})
    table = weights(trace, {"s": 10, "k": 20}, write=5)
    case = Case(problem(trace, table), point(trace, partition(trace, "s"), partition(trace, "n k")))
    assert bound_of(case).pipeline == estimate_of(case).makespan == 15 + 3 * 20


def test_what_follows_the_work_of_a_partition_counts() -> None:
    """When the last of k ends, m still has to read and to fire; n never fires, and nothing follows it."""
    trace = network([("s.o", "k"), ("k.o", "m")], {"s": "xxx", "k": "xxx", "m": "xxx", "n": ""})
    table = weights(trace, {"s": 10, "k": 20, "m": 7}, read=2, write=5)
    case = Case(
        problem(trace, table), point(trace, partition(trace, "s"), partition(trace, "k n"), partition(trace, "m"))
    )
    assert bound_of(case).pipeline == estimate_of(case).makespan == 15 + 3 * (2 + 20 + 5) + 2 + 7


# -- SIMD blocks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cycles", [(30, 31, 32, 33), (10, 30, 60, 100), (30, 40, 45, 90), (7,)])
@pytest.mark.parametrize(("first", "after"), [(4, 4), (9, 2), (2, 9)])
@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_blocks_cost_at_least_their_best_share(cycles: tuple[int, ...], first: int, after: int, mode: str) -> None:
    """f has all of its tokens at once. Its block reads twice and writes twice."""
    ends = [("s.o", "f"), ("t.o", "f"), ("f.p", "k"), ("f.q", "m")]
    count = 12
    trace = network(
        ends, {"s": "", "t": "", "f": "x" * count, "k": "", "m": ""},
        initial={("s.o", "f"): count, ("t.o", "f"): count},
    )  # fmt: skip
    table = weights(
        trace, {"f": 0}, read=3, write=5, simd={("f", "x"): list(cycles)},
        scheduling={("f", "", "x"): first, ("f", "x", "x"): after},
    )  # fmt: skip
    dear = {key: replace(c, mean_cycles=c.mean_cycles + 2) for key, c in table.transfers.items() if "t" in key[:1]}
    dear |= {key: replace(c, per_token_cycles=Fraction(1)) for key, c in table.transfers.items() if key[2] == "m"}
    table = replace(table, transfers=table.transfers | dear)
    case = Case(problem(trace, table), point(trace, *alone(trace), transfers=mode))

    def length(k: int) -> int:
        """Of a block without its scheduling: reads of 3 and 5, writes of 5 and 5 + k."""
        moving = 5 + (5 + k) if mode == "parallel" else (3 + 5) + (5 + 5 + k)
        return cycles[k - 1] + moving

    widths = range(1, len(cycles) + 1)
    work = count * min(Fraction(min(first, after) + length(k), k) for k in widths)
    bound = bound_of(case)
    assert bound.work == bound.heaviest_actor == ceil(work)
    reading = 5 if mode == "parallel" else 8
    assert bound.critical_path == count * min((min(first, after) + reading + cycles[k - 1] + 5) // k for k in widths)
    if first == after and min(widths, key=lambda k: Fraction(first + length(k), k)) == len(cycles):
        assert estimate_of(case).makespan == bound.work


@pytest.mark.parametrize("shared", [True, False])
def test_a_link_carries_at_least_the_best_blocks(shared: bool) -> None:
    """A block of k firings takes 4 + 2k ticks to write: the widest is the best, 10 ticks for 3 firings."""
    trace = network([("f.o", "k")], {"f": "x" * 6, "k": "x" * 6})
    table = weights(trace, {"f": 1, "k": 1}, simd={("f", "x"): [1, 1, 1]})
    moves = {
        key: replace(c, mean_cycles=Fraction(4), per_token_cycles=Fraction(2)) for key, c in table.transfers.items()
    }
    case = Case(
        problem(trace, replace(table, transfers=moves), heterogeneous(shared=shared)),
        point(trace, *alone(trace, k="gpu")),
    )
    estimate, bound = estimate_of(case), bound_of(case)
    writes, reads = 6 * (4 + 2 * 3) // 3, 6 * (4 + 2)
    assert bound.shared_link == (writes + reads if shared else 0)
    assert estimate.links[0].busy == writes + reads


# -- of all points ----------------------------------------------------------------------------------------------------


def ticks(cost: Cost, tokens: int = 0) -> int:
    """A cost in ticks, from the page on estimation."""
    cycles = cost.mean_cycles + tokens * cost.per_token_cycles
    if cost.frequency_mhz is not None:
        cycles = cycles * 10**12 / int(cost.frequency_mhz * 10**6 + Fraction(1, 2))
    return int(cycles + Fraction(1, 2))


PRICES_OF: dict[UnitKind, tuple[FifoKind, ...]] = {"cpu": ("local", "cpu_cpu"), "gpu": ("cuda",)}


def least_transfers(given: Problem, actor: int, action: int, kind: UnitKind, side: str, *, parallel: bool) -> int:
    """The reads or the writes of one firing at the cheapest prices that a unit of a kind may have to pay."""
    topology, found = given.trace.topology, [0]
    fifos = PRICES_OF[kind] + (("host",) if any(u.kind == "gpu" for u in given.platform.units) else ())
    for b in topology.buffers:
        if actor != (b.target if side == "read" else b.source):
            continue
        rates = topology.actors[actor].actions[action]
        tokens = rates.reads[b.target_port] if side == "read" else rates.writes[b.source_port]
        source, target = topology.actors[b.source], topology.actors[b.target]
        ends = (source.name, source.outputs[b.source_port], target.name, target.inputs[b.target_port])
        known = [given.weights.transfers.get((*ends, fifo, kind, side)) for fifo in fifos]  # type: ignore[arg-type]
        if tokens:
            given_ones = [ticks(cost, tokens) for cost in known if cost is not None]
            found.append(0 if not given.weights.has_transfers and None in known else min(given_ones))
    return max(found) if parallel else sum(found)


def least_work(given: Problem, actor: int, kind: UnitKind, *, parallel: bool) -> int:
    """The firings of an actor one by one, each at the cheapest."""
    described, table = given.trace.topology.actors[actor], given.weights
    names = [action.name for action in described.actions]
    total, previous = 0, ""
    for x in given.trace.firings[actor].tolist():
        first = table.scheduling.get((described.name, "", names[x], kind))
        after = table.scheduling.get((described.name, previous, names[x], kind)) or first
        if table.has_scheduling and first is not None and after is not None:
            total += min(ticks(first), ticks(after))
        total += ticks(table.compute[described.name, names[x], kind])
        for side in ("read", "write"):
            total += least_transfers(given, actor, x, kind, side, parallel=parallel)
        previous = names[x]
    return total


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_the_work_of_any_point_is_that_of_the_cheapest_units_and_prices(mode: str) -> None:
    checked = 0
    for seed in range(60):
        given = without_blocks(random_case(random.Random(seed), Shape(max_firings=60))).problem
        if given.missing_weights == "zero":
            continue
        mute = tuple(replace(link, latency_ns=Fraction(0), bandwidth_gb_s=None) for link in given.platform.links)
        given = replace(given, platform=replace(given.platform, links=mute))
        capable = given.platform.gpu_capable
        kinds = {unit.kind for unit in given.platform.units}
        works = [
            min(
                least_work(given, a, kind, parallel=mode == "parallel")
                for kind in kinds
                if kind == "cpu" or capable is None or actor.name in capable
            )
            for a, actor in enumerate(given.trace.topology.actors)
        ]
        for cores in (1, 3):
            bound = Bounds(build_tables(given)).of_any_point(cores=cores, transfers=mode)  # type: ignore[arg-type]
            assert bound.work == ceil(Fraction(sum(works), cores))
            assert bound.heaviest_actor == max(works)
        checked += max(works) > 0
    assert checked > 20


ONCE = network([("s.o", "f"), ("f.o", "k")], {"s": "x", "f": "x", "k": "x"})


def one_price(fifo: FifoKind, unit: UnitKind, cheap: int) -> WeightTable:
    """Weights of the network that fires once, in which one price of a transfer is cheap and the others are 50."""
    table = weights(ONCE, {"s": 10, "f": 20, "k": 30}, read=50, write=50)
    prices = {key: Cost(mean_cycles=Fraction(cheap)) for key in table.transfers if key[4:6] == (fifo, unit)}
    dear = {key: Cost(mean_cycles=Fraction(1000)) for key in table.compute if key[2] != unit}
    return replace(table, transfers=table.transfers | prices, compute=table.compute | dear)


@pytest.mark.parametrize(
    ("fifo", "unit"), [("local", "cpu"), ("cpu_cpu", "cpu"), ("host", "cpu"), ("cuda", "gpu"), ("host", "gpu")]
)
def test_any_price_may_be_the_cheapest(fifo: FifoKind, unit: UnitKind) -> None:
    bound = Bounds(build_tables(problem(ONCE, one_price(fifo, unit, 7), heterogeneous()))).of_any_point(cores=1)
    assert bound.work == bound.critical_path == 10 + 20 + 30 + 4 * 7
    assert bound.heaviest_actor == max(10 + 7, 20 + 2 * 7, 30 + 7)


def test_units_without_weights_are_no_way_to_be_cheap() -> None:
    """Nobody knows what f costs on the GPU: there it cannot be, unless what is missing is taken as zero."""
    table = weights(ONCE, {"s": 10, "f": 20, "k": 30})
    table = replace(table, compute={key: c for key, c in table.compute.items() if key[0] != "f" or key[2] == "cpu"})
    given = problem(ONCE, table, heterogeneous())
    bound = Bounds(build_tables(given)).of_any_point(cores=1)
    assert bound.work == bound.critical_path == 60
    assert Bounds(build_tables(replace(given, missing_weights="zero"))).of_any_point(cores=1).work == 40


def test_the_path_of_any_point_may_change_units_on_the_way() -> None:
    """s and k are cheap on the CPU, f on the GPU; without a link that prices them, local transfers are the cheapest."""
    table = weights(ONCE, {"s": 10, "f": 200, "k": 30}, read=3, write=5)
    on_gpu: dict[tuple[str, str, UnitKind], Cost] = {
        (actor, "x", "gpu"): Cost(mean_cycles=Fraction(c)) for actor, c in (("s", 100), ("f", 20), ("k", 300))
    }
    table = replace(table, compute=table.compute | on_gpu)
    bound = Bounds(build_tables(problem(ONCE, table, heterogeneous()))).of_any_point(cores=2)
    assert bound.critical_path == estimate_of(
        Case(problem(ONCE, table, heterogeneous()), point(ONCE, *alone(ONCE, f="gpu")))
    ).makespan  # fmt: skip
    assert bound.critical_path == 60 + 2 * (3 + 5)
    assert bound.work == ceil(Fraction(60 + 2 * (3 + 5), 2))
    only_cpu = Bounds(build_tables(problem(ONCE, table, CPU))).of_any_point(cores=1)
    assert only_cpu.work == only_cpu.critical_path == 240 + 2 * (3 + 5)


@pytest.mark.parametrize(("latencies", "least"), [((900,), 900), ((900, 400), 400), ((400, 900), 400)])
def test_a_price_that_is_not_given_is_that_of_the_cheapest_link(latencies: tuple[int, ...], least: int) -> None:
    """On two GPUs the tokens between them, and only they, may take any of the links."""
    gpus = tuple(Unit(name=f"gpu{i}", kind="gpu") for i in range(len(latencies)))
    links = tuple(
        Link(name=f"l{i}", between=("cpu", f"gpu{i}"), latency_ns=Fraction(ns)) for i, ns in enumerate(latencies)
    )
    box = Platform(name="box", units=(Unit(name="cpu", kind="cpu"), *gpus), links=links)
    compute = {
        (a, "x", kind): Cost(mean_cycles=Fraction(1), frequency_mhz=Fraction(1))
        for a in "sfk"
        for kind in ("cpu", "gpu")
    }
    near = weights(ONCE, {}, read=1000, write=1000).transfers
    dear = {key: replace(c, frequency_mhz=Fraction(1)) for key, c in near.items() if key[4] != "host"}
    table = WeightTable(name="w", compute=compute, transfers=dear, has_scheduling=False)  # type: ignore[arg-type]
    bound = Bounds(build_tables(problem(ONCE, table, box))).of_any_point(cores=1)
    assert bound.work == 3 * 10**6 + 4 * least * 1000
