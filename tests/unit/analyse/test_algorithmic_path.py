"""The algorithmic path against the longest path of a graph walked plainly, and what its slack promises."""

import dataclasses
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.analyse.algorithmic_path import algorithmic_path
from dse.analyse.dependencies import derive_dependencies
from dse.base.errors import FormatError
from dse.estimate.bounds.token_paths import PathTimes, TokenPaths
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.tables import ProblemTables
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.program_path import IN_ORDER
from dse.model.trace import AccessTable, Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, WeightTable
from tests.examples import examples
from tests.unit.formats.runs import runs


def tables_of(trace: Trace, rng: random.Random) -> ProblemTables:
    """Tables with small random costs of all actions."""
    compute = {
        (actor.name, action.name, "cpu"): Cost(mean_cycles=rng.choice((0, 1, 2, 7)))
        for actor in trace.topology.actors
        for action in actor.actions
    }
    weights = WeightTable(name="w", compute=compute, has_scheduling=False, has_transfers=False)  # type: ignore[arg-type]
    platform = Platform(name="p", units=(Unit(name="cpu", kind="cpu"),))
    return build_tables(Problem(trace=trace, weights=weights, platform=platform))


def plain_ends(tables: ProblemTables, *, in_order: bool) -> tuple[list[int], list[int], list[list[int]]]:
    """End and ticks of every firing, and whom it waits for, by following the dependencies again and again."""
    trace = tables.problem.trace
    found = derive_dependencies(trace)
    first = found.first_firing.tolist()
    ticks = [
        int(tables.compute[0, tables.action_base[a] + x]) for a, ids in enumerate(trace.firings) for x in ids.tolist()
    ]
    before: list[list[int]] = [[] for _ in ticks]
    for s, t in zip(found.source.tolist(), found.target.tolist(), strict=True):
        before[t].append(s)
    if in_order:
        for begin, end in pairwise(first):
            for f in range(begin + 1, end):
                before[f].append(f - 1)
    ends = list(ticks)
    for _ in ticks:
        ends = [ticks[f] + max((ends[s] for s in before[f]), default=0) for f in range(len(ticks))]
    return ends, ticks, before


@given(trace=runs(accesses=True), seed=st.integers(0, 1000), in_order=st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_it_is_the_longest_path(trace: Trace, seed: int, in_order: bool) -> None:
    tables = tables_of(trace, random.Random(seed))
    ends, ticks, before = plain_ends(tables, in_order=in_order)
    path = algorithmic_path(tables, in_order=in_order)
    assert path.length == max(ends, default=0)
    assert path.work == sum(ticks)
    first = np.cumsum([0, *map(len, trace.firings)])
    firings = (first[path.actor] + path.firing).tolist() if len(path.actor) else []
    assert path.end.tolist() == [ends[f] for f in firings]
    assert (path.start[1:] == path.end[:-1]).all()
    assert all(s in before[f] for s, f in pairwise(firings))
    assert (path.kind[:1] == -1).all()
    assert ((path.kind[1:] >= 0) & ((path.kind[1:] < IN_ORDER) | in_order)).all()
    slack = [int(value) for of in path.slack for value in of]
    assert all(slack[f] == 0 for f in firings)
    assert all(slack[f] >= 0 for f in range(len(ends)))
    after: list[list[int]] = [[] for _ in ticks]
    for f, sources in enumerate(before):
        for s in sources:
            after[s].append(f)
    tails = list(ticks)  # from the begin of each firing to the end of all that follows
    for _ in ticks:
        tails = [ticks[f] + max((tails[t] for t in after[f]), default=0) for f in range(len(ticks))]
    assert slack == [path.length - (ends[f] - ticks[f]) - tails[f] for f in range(len(ends))]


@given(trace=runs(), seed=st.integers(0, 1000))
@settings(max_examples=examples(30), deadline=None)
def test_tokens_and_order_are_the_path_of_the_bounds(trace: Trace, seed: int) -> None:
    tables = tables_of(trace, random.Random(seed))
    times = []
    for a, actor in enumerate(trace.topology.actors):
        n = len(actor.actions)
        outputs = [b for b, buffer in enumerate(trace.topology.buffers) if buffer.source == a]
        of = PathTimes.zero(n, outputs)
        for x in range(n):
            mine = np.array([*range(x, n * n, n), n * n + x])
            ticks = int(tables.compute[0, tables.action_base[a] + x])
            of.set(mine, np.zeros(len(mine), dtype=np.int64), ticks, dict.fromkeys(outputs, ticks))
        times.append(of)
    assert algorithmic_path(tables, in_order=True).length == TokenPaths(tables).longest(times)


def chain(accesses: bool) -> Trace:
    """Two firings that only a state variable joins."""
    actor = TraceActor(
        name="a", class_name="A", inputs=(), outputs=(), actions=(TraceAction(name="x", reads=(), writes=()),)
    )
    v, none = frozenset({"v"}), frozenset[str]()
    table = AccessTable(signatures=((none, v, v),), ids=np.zeros(2, dtype=np.uint16))
    topology = Topology(name="t", actors=(actor,), buffers=())
    return make_trace(topology, [[0, 0]], accesses=(table,) if accesses else ())


def test_without_accesses_the_path_is_a_lower_bound() -> None:
    lengths = {}
    for accesses in (False, True):
        tables = tables_of(chain(accesses), random.Random(3))
        path = algorithmic_path(tables)
        assert path.accesses == accesses
        lengths[accesses] = path.length
    assert 0 < lengths[False] * 2 == lengths[True]


def test_a_trace_of_no_run_and_missing_weights_are_refused() -> None:
    loop = tuple(
        TraceActor(
            name=name, class_name="C", inputs=("I",), outputs=("O",),
            actions=(TraceAction(name="x", reads=(1,), writes=(1,)),),
        )
        for name in "ab"
    )  # fmt: skip
    buffers = tuple(
        TraceBuffer(source=s, source_port=0, target=1 - s, target_port=0, token_bytes=4, token_bits=32) for s in (0, 1)
    )
    trace = make_trace(Topology(name="t", actors=loop, buffers=buffers), [[0], [0]])
    tables = tables_of(trace, random.Random(0))
    with pytest.raises(FormatError, match="2 firings of the trace wait for each other"):
        algorithmic_path(tables)
    problem = dataclasses.replace(
        tables.problem, weights=WeightTable(name="w", has_scheduling=False, has_transfers=False)
    )
    with pytest.raises(FormatError, match=r"(?s)action a\.x on cpu\n.*action b\.x on cpu\n.*--missing-weights"):
        algorithmic_path(build_tables(problem))
