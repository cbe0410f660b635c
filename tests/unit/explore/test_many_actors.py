"""Spaces of very many actors: counted and drawn without tables, constructed in one pass."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.explore.method import Traffic
from dse.explore.methods.sampling.portfolio import Portfolio
from dse.explore.moves.construction import chunks, pipeline_order
from dse.explore.space import space as spaces
from dse.explore.space.build import build_space
from dse.explore.space.surjections import many_mappings
from tests.examples import examples
from tests.unit.explore.fakes import chain_space, context
from tests.unit.explore.test_space import options, platform, topology


@given(
    cores=st.integers(1, 4), gpus=st.integers(0, 2), actors=st.integers(1, 6), capable=st.integers(0, 6),
    least=st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=examples(40))
def test_many_mappings_are_as_many_as_the_tables_count(
    cores: int, gpus: int, actors: int, capable: int, least: int
) -> None:
    box = platform(cores, gpus, capable=tuple(f"a{i}" for i in range(capable)))
    least = min(least, cores, actors)
    space = build_space(topology(actors), box, options(partitions=(least, cores)))
    slots = [unit.slots for unit in space.units]
    found = many_mappings(slots, space.allowed, least=space.least, most=space.most)
    if found is not None:  # None: too many draws would leave a slot empty
        assert found.total == space.size
        drawn = found.drawn(np.random.default_rng(1))
        assert space.canonical(drawn) in set(space.assignments())
    assert found is not None or actors < 4 * sum(slots)


def test_many_mappings_are_drawn_uniformly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "MOST_TABLED", 3)
    space = build_space(topology(5), platform(2, 1, capable=("a0", "a1", "a3")), options())
    counts = dict.fromkeys(space.assignments(), 0)
    assert space.size == len(counts)
    assert space.first_assignment() == next(space.assignments())
    rng = np.random.default_rng(5)
    for _ in range(40 * len(counts)):
        counts[space.random_assignment(rng)] += 1
    chi2 = sum((c - 40) ** 2 / 40 for c in counts.values())
    assert chi2 < len(counts) + 5 * (2 * len(counts)) ** 0.5


def test_a_space_of_thousands_of_actors_makes_no_tables() -> None:
    space = build_space(topology(3_000), platform(64, 1), options())
    drawn = space.random_assignment(np.random.default_rng(1))
    assert space.canonical(drawn) == drawn
    assert space.canonical(space.first_assignment()) == (0,) * 3_000
    assert space.size.bit_length() > 6 * 3_000 - math.factorial(64).bit_length()
    assert "_ways" not in vars(space)


def test_few_mappings_of_many_actors_are_counted_by_tables() -> None:
    """With as many slots as actors a draw would leave some empty for ever."""
    assert many_mappings([12], [(0,)] * 12, least=12, most=12) is None
    assert many_mappings([500, 500], [(0, 1)] * 600, least=1, most=1000) is None


@given(edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16), loads=st.data())
@settings(max_examples=examples(60))
def test_orders_and_runs_are_those_of_the_plain_rules(edges: list[tuple[int, int]], loads: st.DataObject) -> None:
    ticks = tuple((n,) for n in loads.draw(st.lists(st.integers(0, 5), min_size=8, max_size=8)))
    traffic = tuple(Traffic(source=s, target=t, tokens=1) for s, t in edges)
    given_edges = replace(context(chain_space(3, 8)), traffic=traffic, loads=ticks)
    order = pipeline_order(given_edges)
    assert order == _plain_order(edges)
    for count in (1, 2, 3, 8):
        assert chunks(given_edges, count) == _plain_runs(order, [ticks[a][0] for a in order], count)


def _plain_order(edges: list[tuple[int, int]]) -> list[int]:
    waiting, order = list(range(8)), list[int]()
    while waiting:
        free = (a for a in waiting if all(s in order for s, t in edges if t == a and s != a))
        order.append(next(free, waiting[0]))
        waiting.remove(order[-1])
    return order


def _plain_runs(order: list[int], loads: list[int], count: int) -> list[list[int]]:
    """The heaviest run is as light as can be; runs are as long as that allows."""
    for limit in range(max(loads), sum(loads) + 1):
        runs, filled = [list[int]()], 0
        for actor, load in zip(order, loads, strict=True):
            if runs[-1] and filled + load > limit:
                runs.append([])
                filled = 0
            runs[-1].append(actor)
            filled += load
        if len(runs) <= count:
            break
    return runs


def test_no_turn_of_very_many_actors_goes_to_branches() -> None:
    turns = [
        Counter(type(member).__name__ for member in Portfolio(context(chain_space(4, n)))._turns) for n in (30, 501)
    ]
    assert [of["BranchAndBound"] for of in turns] == [1, 0]
    assert turns[0].total() == turns[1].total()
