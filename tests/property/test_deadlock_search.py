"""Deadlocks, their remedy and minimal sizes against a search of its own, written from the page on estimation.

The search plays tokens without time: whatever may fire fires, in an order that is drawn. It shares no code with the
diagnosis.
"""

import itertools
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import pytest

from dse.base.errors import DeadlockError
from dse.estimate.deadlock import always_deadlocks, enough_capacities
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import DeadlockRow
from dse.sizing.buffers import BufferSizing, size_buffers
from dse.sizing.methods import SIZING_METHODS
from tests.property.estimation_cases import Case, Shape, random_case
from tests.unit.estimate.networks import alone, network, point, problem, weights

TIGHT = Shape(max_actors=5, max_firings=40)


class Game:
    """A run without time under some capacities, to the end."""

    def __init__(self, case: Case, capacities: Sequence[int], rng: random.Random) -> None:
        self.topology = case.problem.trace.topology
        self.capacities = capacities
        self.left = [deque(firings.tolist()) for firings in case.problem.trace.firings]
        self.tokens = [buffer.initial_tokens for buffer in self.topology.buffers]
        static = [p for p in case.point.partitions if p.policy == "STATIC_ORDER"]
        self.order_of = {a: order for p in static for order in [deque(p.static_order)] for a in p.actors}
        while able := [a for a in range(len(self.left)) if self.left[a] and self.has_turn(a) and not self.lacks(a)]:
            self.fire(rng.choice(able))

    @property
    def complete(self) -> bool:
        return not any(self.left)

    def has_turn(self, actor: int) -> bool:
        """Whether an actor is in no static order, or the next one of it that is not finished."""
        order = self.order_of.get(actor)
        while order and not self.left[order[0]]:
            order.popleft()
        return order is None or order[0] == actor

    def lacks(self, actor: int) -> list[DeadlockRow]:
        """What the next firing of an actor waits for."""
        action, rows = self.left[actor][0], []
        rates = self.topology.actors[actor].actions[action]
        for b, (edge, have) in enumerate(zip(self.topology.buffers, self.tokens, strict=True)):
            if edge.target == actor and have < (need := rates.reads[edge.target_port]):
                rows.append(DeadlockRow(actor=actor, action=action, buffer=b, kind="tokens", have=have, need=need))
            room = self.capacities[b] - have
            if edge.source == actor and room < (need := rates.writes[edge.source_port]):
                rows.append(DeadlockRow(actor=actor, action=action, buffer=b, kind="space", have=room, need=need))
        return rows

    def fire(self, actor: int) -> None:
        rates = self.topology.actors[actor].actions[self.left[actor].popleft()]
        for b, edge in enumerate(self.topology.buffers):
            if edge.target == actor:
                self.tokens[b] -= rates.reads[edge.target_port]
            if edge.source == actor:
                self.tokens[b] += rates.writes[edge.source_port]
        if actor in self.order_of:
            self.order_of[actor].rotate(-1)

    def rows(self) -> tuple[DeadlockRow, ...]:
        """Who waits for what, when nothing moves any more."""
        return tuple(row for a, firings in enumerate(self.left) if firings for row in self.lacks(a))


def completes(case: Case, capacities: Sequence[int]) -> bool:
    return Game(case, capacities, random.Random(0)).complete


def raised(capacities: tuple[int, ...], row: DeadlockRow) -> tuple[int, ...]:
    return changed(capacities, row.buffer, capacities[row.buffer] + row.need - row.have)


def changed(capacities: tuple[int, ...], buffer: int, tokens: int) -> tuple[int, ...]:
    return (*capacities[:buffer], tokens, *capacities[buffer + 1 :])


def tight_case(seed: int) -> Case:
    """A small network with hardly any room; no SIMD blocks, whose sizes depend on time."""
    rng = random.Random(seed)
    case = random_case(rng, TIGHT)
    given = replace(case.problem, weights=replace(case.problem.weights, simd={}), missing_weights="zero")
    least = build_tables(given).least_capacity
    point = replace(case.point, capacities=tuple(max(1, tokens) + rng.choice((0, 0, 0, 1)) for tokens in least))
    return Case(problem=given, point=point)


def weave(seed: int) -> Case:
    """A writer and a reader that go through the buffers between them in orders of their own: room must make up for it.

    More room in one buffer often lets another one be smaller.
    """
    rng = random.Random(seed)
    n, rounds = rng.randint(2, 3), rng.randint(3, 6)
    letters = "abc"[:n]
    written = list(letters * rounds)
    read = list(written)
    rng.shuffle(written)
    rng.shuffle(read)
    trace = network([(f"s.{x}", "k") for x in letters], {"s": "".join(written), "k": "".join(read)})
    s, k = trace.topology.actors
    one_each = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    topology = replace(
        trace.topology,
        actors=(
            replace(s, actions=tuple(replace(x, writes=w) for x, w in zip(s.actions, one_each, strict=True))),
            replace(k, actions=tuple(replace(x, reads=r) for x, r in zip(k.actions, one_each, strict=True))),
        ),
        buffers=tuple(replace(b, token_bytes=rng.choice((1, 4, 8))) for b in trace.topology.buffers),
    )
    trace = replace(trace, topology=topology)
    return Case(problem(trace, weights(trace, {"s": 1, "k": 1})), point(trace, *alone(trace), capacity=1))


@pytest.mark.parametrize(("engine", "seeds"), [("compiled", range(200)), ("reference", range(200, 260))])
def test_a_deadlock_and_its_remedy_are_those_of_the_search(engine: str, seeds: range) -> None:
    """The rows are those of the state in which all orders of firing end; the remedy follows its rule and runs."""
    remedied = hopeless = several = 0
    for seed in seeds:
        case, rng = tight_case(seed) if seed % 4 else weave(seed), random.Random(seed)
        estimator = make_engine(engine, case.problem)
        estimate = estimator.estimate(case.point)
        capacities, game = case.point.capacities, Game(case, case.point.capacities, rng)
        assert (estimate.deadlock is None) == game.complete
        if estimate.deadlock is None:
            continue
        assert estimate.deadlock.rows == game.rows()
        steps: list[int] = []
        while not game.complete and (short := [row for row in game.rows() if row.kind == "space"]):
            row = min(short, key=lambda row: row.buffer)
            steps.append(row.buffer)
            capacities = raised(capacities, row)
            game = Game(case, capacities, rng)
        assert estimate.deadlock.remedy == (capacities if game.complete else None)
        assert completes(case, [10_000] * len(capacities)) == game.complete  # no capacity helps where it says so
        if game.complete:
            assert estimator.estimate(replace(case.point, capacities=capacities)).deadlock is None
            last = changed(capacities, steps[-1], capacities[steps[-1]] - 1)
            assert estimator.estimate(replace(case.point, capacities=last)).deadlock is not None
        remedied += game.complete
        hopeless += not game.complete
        several += len(set(steps)) > 1
    assert remedied >= len(seeds) / 4
    assert hopeless >= len(seeds) / 60
    assert several >= len(seeds) / 20


def test_what_always_deadlocks_and_what_is_enough_are_those_of_the_search() -> None:
    """Neither depends on the mapping: no static order is searched for."""
    dead = helped = hopeless = 0
    for seed in range(300, 500):
        case = tight_case(seed) if seed % 4 else weave(seed)
        tables = build_tables(case.problem)
        free = replace(case, point=alone_point(case))
        capacities = case.point.capacities
        assert always_deadlocks(tables, capacities) == (not completes(free, capacities))
        enough = enough_capacities(tables, capacities)
        assert (enough is not None) == completes(free, [10_000] * len(capacities))
        if completes(free, capacities):
            assert enough == capacities
            continue
        dead += 1
        hopeless += enough is None
        if enough is not None:
            helped += 1
            assert all(after >= before for before, after in zip(capacities, enough, strict=True))
            assert completes(free, enough)
            assert not always_deadlocks(tables, enough)
            for engine in ("compiled", "reference"):
                estimator = make_engine(engine, case.problem)
                assert estimator.estimate(replace(free.point, capacities=enough)).deadlock is None
    assert dead > 60
    assert helped > 40
    assert hopeless > 0


def alone_point(case: Case) -> DesignPoint:
    """Each actor of a case on a core of its own."""
    trace = case.problem.trace
    cpu = next(unit.name for unit in case.problem.platform.units if unit.kind == "cpu")
    partitions = tuple(Partition(name=f"P{a}", actors=(a,), unit=cpu) for a in range(len(trace.topology.actors)))
    return DesignPoint(partitions=partitions, capacities=case.point.capacities)


# -- sizes of buffers -------------------------------------------------------------------------------------------------


def sized(case: Case) -> BufferSizing | None:
    try:
        return size_buffers(build_tables(case.problem), make_engine("compiled", case.problem), case.point, "minimal")
    except DeadlockError:
        return None


def minimal_by_rule(case: Case, least: tuple[int, ...]) -> tuple[int, ...] | None:
    """The sizes by the description: raise the smallest full buffer, then lower one by one, the largest first."""
    size = [buffer.token_bytes for buffer in case.problem.trace.topology.buffers]
    capacities = least
    while not (game := Game(case, capacities, random.Random(1))).complete:
        short = [row for row in game.rows() if row.kind == "space"]
        if not short:
            return None
        capacities = raised(capacities, min(short, key=lambda r: (capacities[r.buffer] * size[r.buffer], r.buffer)))
    for b in sorted(range(len(capacities)), key=lambda b: (-capacities[b] * size[b], b)):
        while capacities[b] > least[b] and completes(case, lower := changed(capacities, b, capacities[b] - 1)):
            capacities = lower
    return capacities


def test_minimal_sizes_are_those_of_the_rule_and_nothing_below_them_runs() -> None:
    """Every vector of capacities between the least that firings need and the sizes found is tried."""
    grown = searched = 0
    for case in (*map(tight_case, range(150)), *map(weave, range(40))):
        least = tuple(max(1, tokens) for tokens in build_tables(case.problem).least_capacity)
        found, expected = sized(case), minimal_by_rule(case, least)
        assert (found.chosen.capacities if found else None) == expected
        if found is None or expected is None or expected == least:
            continue
        grown += 1
        assert found.chosen.memory_bytes == sum(
            tokens * b.token_bytes for tokens, b in zip(expected, case.problem.trace.topology.buffers, strict=True)
        )
        if prod(high - low + 1 for low, high in zip(least, expected, strict=True)) <= 300:
            below = itertools.product(*(range(lo, hi + 1) for lo, hi in zip(least, expected, strict=True)))
            assert [c for c in below if completes(case, c)] == [expected]
            searched += 1
    assert grown >= 50
    assert searched >= 40


def stream(rng: random.Random) -> Case:
    """Actors in a row, each on a core of its own; the first one makes bursts."""
    n, bursts = rng.randint(3, 4), rng.randint(2, 4)
    names = "abcd"[:n]
    edges = [(f"{a}.o", b) for a, b in itertools.pairwise(names)]
    burst = rng.randint(2, 5)
    firings = dict.fromkeys(names, "x" * (bursts * burst))
    firings["a"] = ("x" * burst + "z") * bursts
    trace = network(edges, firings, rates={("a.z", "out"): 0})
    buffers = tuple(replace(b, token_bytes=rng.choice((1, 4, 8))) for b in trace.topology.buffers)
    trace = replace(trace, topology=replace(trace.topology, buffers=buffers))
    compute = {name: rng.randint(1, 9) for name in names} | {"a.x": 1, "a.z": rng.randint(5, 30)}
    given = problem(trace, weights(trace, compute, read=rng.choice((0, 1)), write=rng.choice((0, 2))))
    return Case(problem=given, point=point(trace, *alone(trace), release=rng.choice(("reading", "processing"))))


def memory(case: Case, capacities: Sequence[int]) -> int:
    return sum(c * b.token_bytes for c, b in zip(capacities, case.problem.trace.topology.buffers, strict=True))


def test_the_sizes_of_streams_against_all_sizes() -> None:
    """Where an actor has its core to itself more room is never worse: each method is as good as it says."""
    slower = 0
    for seed in range(25):
        case = stream(random.Random(seed))
        engine = make_engine("compiled", case.problem)

        def makespan(capacities: tuple[int, ...]) -> int:
            return engine.estimate(replace(case.point, capacities=capacities)).makespan  # noqa: B023

        found = {
            method: size_buffers(build_tables(case.problem), engine, case.point, method, Fraction(1, 20))
            for method in SIZING_METHODS
        }
        maximal = found["maximal"].chosen
        free = engine.estimate(replace(case.point, capacities=(1000,) * len(maximal.capacities)))
        assert maximal.makespan == free.makespan
        occupied = tuple(account.max_tokens for account in free.buffers)
        assert maximal.capacities == occupied or makespan(occupied) > free.makespan
        limit = maximal.makespan * Fraction(21, 20)
        for method in ("critical", "heavy", "top-down"):
            chosen = found[method].chosen
            assert makespan(chosen.capacities) == chosen.makespan <= limit
            for b, tokens in enumerate(chosen.capacities):
                if tokens > 1:
                    assert makespan(changed(chosen.capacities, b, tokens - 1)) > limit
        everything = itertools.product(*(range(1, tokens + 1) for tokens in maximal.capacities))
        least = min(memory(case, c) for c in everything if makespan(c) <= limit)
        assert least <= min(found[m].chosen.memory_bytes for m in ("critical", "heavy", "top-down"))
        slower += makespan((1,) * len(maximal.capacities)) > limit
    assert slower > 8
