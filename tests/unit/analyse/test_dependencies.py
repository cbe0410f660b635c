"""Dependencies against a reference that walks the firings one by one, as TURNUS does."""

from collections import deque
from graphlib import TopologicalSorter

import numpy as np
import pytest
from hypothesis import given, settings

from dse.analyse.dependencies import derive_dependencies
from dse.base.errors import FormatError
from dse.model.dependencies import DEPENDENCY_KINDS
from dse.model.trace import AccessTable, Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.examples import examples
from tests.unit.formats.runs import runs

Edge = tuple[tuple[int, int], tuple[int, int], str, str, int]


def reference(trace: Trace) -> list[Edge]:
    """The definitions, literally: one firing after another, with the last reader and writer of everything."""
    edges: list[Edge] = []
    topology = trace.topology
    for a, actor in enumerate(topology.actors):
        last: dict[tuple[str, str], int] = {}
        for i, action_id in enumerate(trace.firings[a].tolist()):
            action = actor.actions[action_id]
            touched: list[tuple[str, str]] = []
            if actor.fsm and not action.initializer:
                touched.append(("fsm", ""))
            touched += [("port read", p) for p, n in zip(actor.inputs, action.reads, strict=True) if n]
            touched += [("port write", p) for p, n in zip(actor.outputs, action.writes, strict=True) if n]
            edges += [((a, last[t]), (a, i), t[0], t[1], 1) for t in touched if t in last]
            if trace.accesses:
                guards, reads, writes = trace.accesses[a].signatures[trace.accesses[a].ids[i]]
                found = [(v, "R", "variable read-read") for v in reads] + [
                    (v, "W", "variable write-read") for v in reads
                ]
                found += [(v, "R", "variable read-write") for v in writes]
                found += [(v, "W", "variable write-write") for v in writes]
                found += [(v, "W", "guard enable") for v in guards] + [(v, "G", "guard disable") for v in writes]
                edges += [((a, last[k, v]), (a, i), kind, v, 1) for v, k, kind in found if (k, v) in last]
                touched += [("G", v) for v in guards] + [("R", v) for v in reads] + [("W", v) for v in writes]
            last.update(dict.fromkeys(touched, i))
    for b, buffer in enumerate(topology.buffers):
        tokens: deque[int | None] = deque([None] * buffer.initial_tokens)
        for i, action_id in enumerate(trace.firings[buffer.source].tolist()):
            tokens += [i] * topology.actors[buffer.source].actions[action_id].writes[buffer.source_port]
        for i, action_id in enumerate(trace.firings[buffer.target].tolist()):
            rate = topology.actors[buffer.target].actions[action_id].reads[buffer.target_port]
            producers = [tokens.popleft() for _ in range(rate)]
            for p in sorted({p for p in producers if p is not None}):
                name = topology.buffer_name(b)
                edges.append(((buffer.source, p), (buffer.target, i), "tokens", name, producers.count(p)))
    return sorted(edges)


def edges_of(trace: Trace) -> list[Edge]:
    found = derive_dependencies(trace)
    nodes = [(a, i) for a, firings in enumerate(trace.firings) for i in range(len(firings))]
    columns = (found.source, found.target, found.kind, found.label, found.count)
    edges: list[Edge] = []
    for source, target, code, label, count in zip(*(column.tolist() for column in columns), strict=True):
        kind = DEPENDENCY_KINDS[code]
        variable = found.names[label] if label >= 0 else ""
        name = trace.topology.buffer_name(label) if kind == "tokens" else variable
        edges.append((nodes[source], nodes[target], kind, name, count))
    return sorted(edges)


@given(trace=runs(accesses=True))
@settings(max_examples=examples(60), deadline=None)
def test_equal_to_the_reference(trace: Trace) -> None:
    assert edges_of(trace) == reference(trace)


@given(trace=runs(accesses=True))
@settings(max_examples=examples(30), deadline=None)
def test_columns_are_sorted_and_acyclic(trace: Trace) -> None:
    found = derive_dependencies(trace)
    keys = list(zip(found.target, found.kind, found.label, found.source, strict=True))
    assert keys == sorted(keys)
    assert sum(found.counts().values()) == len(found)
    before: dict[int, set[int]] = {}
    for source, target in zip(found.source.tolist(), found.target.tolist(), strict=True):
        before.setdefault(target, set()).add(source)
    TopologicalSorter(before).prepare()  # raises where there is a cycle
    tokens = found.kind == DEPENDENCY_KINDS.index("tokens")
    assert (found.count[~tokens] == 1).all()
    assert (found.count > 0).all()


def test_some_kinds_only() -> None:
    trace = small()
    found = derive_dependencies(trace, ("fsm",))
    assert found.counts()["fsm"] == len(found) == 2


def small() -> Trace:
    action = TraceAction(name="x", reads=(), writes=(2,))
    reader = TraceAction(name="y", reads=(3,), writes=())
    actors = (
        TraceActor(name="s", class_name="C", inputs=(), outputs=("O",), actions=(action,), fsm=True),
        TraceActor(name="k", class_name="C", inputs=("I",), outputs=(), actions=(reader,)),
    )
    buffer = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
    return make_trace(Topology(name="t", actors=actors, buffers=(buffer,)), [[0, 0, 0], [0, 0]])


def test_tokens_by_hand() -> None:
    found = derive_dependencies(small(), ("tokens",))
    assert list(zip(found.source, found.target, found.count, strict=True)) == [
        (0, 3, 2),
        (1, 3, 1),
        (1, 4, 1),
        (2, 4, 2),
    ]


def test_variables_by_hand() -> None:
    action = TraceAction(name="x", reads=(), writes=())
    topology = Topology(
        name="t", actors=(TraceActor(name="a", class_name="C", inputs=(), outputs=(), actions=(action,)),), buffers=()
    )
    none, v = frozenset[str](), frozenset({"v"})
    signatures = ((none, none, v), (v, v, none), (none, none, none))
    table = AccessTable(signatures=signatures, ids=np.array([0, 1, 2, 1, 0], dtype=np.uint16))
    trace = make_trace(topology, [[0] * 5], accesses=(table,))
    found = derive_dependencies(trace)
    names = [DEPENDENCY_KINDS[k] for k in found.kind]
    assert sorted(zip(found.source.tolist(), found.target.tolist(), names, strict=True)) == [
        (0, 1, "guard enable"),
        (0, 1, "variable write-read"),
        (0, 3, "guard enable"),
        (0, 3, "variable write-read"),
        (0, 4, "variable write-write"),
        (1, 3, "variable read-read"),
        (3, 4, "guard disable"),
        (3, 4, "variable read-write"),
    ]
    assert found.names == ("v",)


def test_tokens_that_are_never_written() -> None:
    trace = small()
    wrong = make_trace(trace.topology, [[0], [0, 0]])
    with pytest.raises(FormatError, match=r"reads 6 tokens from s\.O->k\.I, but only 2"):
        derive_dependencies(wrong)
