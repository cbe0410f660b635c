"""TURNUS networks and traces: the golden cases, round trips, all kinds of dependencies, errors with lines."""

import gzip
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from lxml import etree

from dse.analyse.dependencies import derive_dependencies
from dse.base.errors import FormatError
from dse.formats.firing_order import firing_order
from dse.formats.turnus_net import read_net, write_net
from dse.formats.turnus_trace import read_turnus_trace, write_turnus_trace
from dse.model.trace import AccessTable, Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.examples import examples
from tests.unit.formats.runs import runs
from tests.unit.formats.strategies import damaged, same_trace
from tests.unit.formats.test_trace_store import chain

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "turnus"
CASES = sorted(p.name for p in GOLDEN.glob("case_*"))


def golden(case: str) -> Trace:
    return read_turnus_trace(str(GOLDEN / case / "top.trace"), read_net(str(GOLDEN / case / "top.net")))


@pytest.mark.parametrize("case", CASES)
def test_golden_cases_say_what_their_text_says(case: str) -> None:
    """``case.txt`` holds the same network and firings in words (see its README)."""
    trace = golden(case)
    topology = trace.topology
    actors: list[tuple[str, int]] = []
    buffers: list[tuple[str, ...]] = []
    firings: dict[str, list[str]] = {}
    rates: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in (GOLDEN / case / "case.txt").read_text().splitlines():
        match line.split():
            case ["A", name, n]:
                actors.append((name, int(n)))
                firings[name] = []
            case ["B", *ends]:
                buffers.append(tuple(ends))
            case ["S", actor, action, *tokens]:
                firings[actor].append(action)
                rates[actor, action] = tuple(sorted(tokens))
    assert [(a.name, len(a.actions)) for a in topology.actors] == actors
    for index, (source, source_port, target, target_port) in enumerate(buffers):
        assert topology.buffer_name(index) == f"{source}.{source_port}->{target}.{target_port}"
    assert {b.token_bits for b in topology.buffers} == {32}
    for actor, ids in zip(topology.actors, trace.firings, strict=True):
        assert [actor.actions[i].name for i in ids] == firings[actor.name]
        for action in actor.actions:
            if (actor.name, action.name) in rates:
                found = [f"R:{p}={n}" for p, n in zip(actor.inputs, action.reads, strict=True) if n]
                found += [f"W:{p}={n}" for p, n in zip(actor.outputs, action.writes, strict=True) if n]
                assert tuple(sorted(found)) == rates[actor.name, action.name]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("suffix", ["trace", "tracez"])
def test_golden_cases_survive_export_and_import(tmp_path: Path, case: str, suffix: str) -> None:
    trace = golden(case)
    path, net = str(tmp_path / f"t.{suffix}"), str(tmp_path / "t.net")
    write_net(trace, net)
    write_turnus_trace(trace, path, derive_dependencies(trace))
    assert same_trace(read_turnus_trace(path, read_net(net)), trace)


def as_imported(trace: Trace) -> Trace:
    """What of a trace TURNUS's files can say."""
    actors = []
    for a, actor in enumerate(trace.topology.actors):
        fired = set(trace.firings[a].tolist())
        scheduled = sum(1 for i in trace.firings[a].tolist() if not actor.actions[i].initializer)
        actions = tuple(
            replace(
                action,
                initializer=False,
                reads=action.reads if i in fired else (0,) * len(action.reads),
                writes=action.writes if i in fired else (0,) * len(action.writes),
            )
            for i, action in enumerate(actor.actions)
        )
        actors.append(replace(actor, actions=actions, stateless=False, fsm=actor.fsm and scheduled > 1))
    buffers = tuple(
        replace(b, capacity=None, token_bytes=max(1, -(-b.token_bits // 8))) for b in trace.topology.buffers
    )
    return make_trace(replace(trace.topology, actors=tuple(actors), buffers=buffers), trace.firings)


@given(trace=runs(accesses=True))
@settings(max_examples=examples(60), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    folder = tmp_path_factory.mktemp("t")
    write_net(trace, str(folder / "t.net"))
    write_turnus_trace(trace, str(folder / "t.trace"), derive_dependencies(trace))
    once = read_turnus_trace(str(folder / "t.trace"), read_net(str(folder / "t.net")))
    assert replace(once, accesses=()).topology == as_imported(trace).topology
    assert once.digest == as_imported(trace).digest
    # The second time around nothing is lost, recorded accesses included.
    write_net(once, str(folder / "u.net"))
    write_turnus_trace(once, str(folder / "u.tracez"), derive_dependencies(once))
    twice = read_turnus_trace(str(folder / "u.tracez"), read_net(str(folder / "u.net")))
    assert same_trace(twice, once)


@given(trace=runs(accesses=True))
@settings(max_examples=examples(40), deadline=None)
def test_steps_stand_before_their_dependencies_and_tokens_are_there(
    tmp_path_factory: pytest.TempPathFactory, trace: Trace
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.trace"
    edges = derive_dependencies(trace)
    write_turnus_trace(trace, str(path), edges)
    seen: set[str] = set()
    kinds: Counter[str] = Counter()
    last = ""
    for element in etree.parse(str(path)).getroot():
        if element.tag == "step":
            last = element.get("firing", "")
            assert last == str(len(seen))
            seen.add(last)
        else:
            assert element.get("target") == last
            assert element.get("source") in seen
            kinds[element.get("kind", "")] += 1
    assert len(seen) == trace.n_firings
    expected: Counter[str] = Counter()
    for kind, n in edges.counts().items():
        expected[kind.split()[0]] += n
    assert kinds == +expected


def test_all_kinds_of_dependencies_are_written(tmp_path: Path) -> None:
    action = TraceAction(name="x", reads=(1,), writes=(1,))
    actor = TraceActor(name="a", class_name="C", inputs=("I",), outputs=("O",), actions=(action,), fsm=True)
    buffer = TraceBuffer(
        source=0, source_port=0, target=0, target_port=0, token_bytes=1, token_bits=1, initial_tokens=1
    )
    v = frozenset({"v"})
    table = AccessTable(signatures=((v, v, v),), ids=np.zeros(2, dtype=np.uint16))
    trace = make_trace(Topology(name="t", actors=(actor,), buffers=(buffer,)), [[0, 0]], accesses=(table,))
    write_turnus_trace(trace, str(tmp_path / "t.trace"), derive_dependencies(trace))
    lines = (tmp_path / "t.trace").read_text().splitlines()
    head = 'source="0" source-actor="a" source-action="x" target="1" target-actor="a" target-action="x"'
    assert [line.removeprefix(f"<dependency {head} ") for line in lines if "dependency" in line] == [
        'kind="tokens" source-port="O" target-port="I" count="1"/>',
        'kind="fsm"/>',
        'kind="port" port="I" direction="read"/>',
        'kind="port" port="O" direction="write"/>',
        'kind="variable" variable="v" direction="read-read"/>',
        'kind="variable" variable="v" direction="write-read"/>',
        'kind="variable" variable="v" direction="read-write"/>',
        'kind="variable" variable="v" direction="write-write"/>',
        'kind="guard" guard="v" direction="enable"/>',
        'kind="guard" guard="v" direction="disable"/>',
    ]
    write_net(trace, str(tmp_path / "t.net"))
    text = (tmp_path / "t.net").read_text()
    assert 'initialTokens="1"' in text
    assert '<variables name="v">' in text
    assert "TypeBoolean" in text


def test_the_order_of_firings_keeps_buffers_small() -> None:
    trace = chain(5000)
    filled = high = trace.topology.buffers[0].initial_tokens
    for actor, first, last in firing_order(trace):
        filled += (last - first) * (1 if actor == 0 else -1)
        high = max(high, filled)
    assert high <= 514


def test_no_order_exists(tmp_path: Path) -> None:
    trace = chain(10)
    wrong = make_trace(trace.topology, [np.zeros(3), np.zeros(10)])
    with pytest.raises(FormatError, match="the firings of k read tokens that no firing writes"):
        write_turnus_trace(wrong, str(tmp_path / "t.trace"))
    assert not (tmp_path / "t.trace").exists()


NET = GOLDEN / "case_04" / "top.net"
TRACE = """<?xml version="1.0"?>
<trace><attribute name="x" kind="string" value="y"/>
<step firing="0" actor="s" action="x" actor-class="C"><tokens direction="write" port="O" count="2"/></step>
<step firing="2" actor="k" action="y" actor-class="C"><tokens direction="read" port="I" count="3"/></step>
<step firing="1" actor="s" action="x" actor-class="C"><tokens direction="write" port="O" count="2"/>
  <variable direction="write" name="v"/></step>
<dependency source="0" source-actor="s" source-action="x" target="1" target-actor="s" target-action="x" kind="fsm"/>
</trace>
"""


def two_actors() -> Topology:
    actions = (TraceAction(name="x", reads=(), writes=(0,)), TraceAction(name="initialize", reads=(), writes=(0,)))
    reader = TraceAction(name="y", reads=(0,), writes=())
    actors = (
        TraceActor(name="s", class_name="C", inputs=(), outputs=("O",), actions=actions),
        TraceActor(name="k", class_name="C", inputs=("I",), outputs=(), actions=(reader,)),
    )
    buffer = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
    return Topology(name="t", actors=actors, buffers=(buffer,))


def read(folder: Path, text: str) -> Trace:
    (folder / "t.trace").write_text(text)
    return read_turnus_trace(str(folder / "t.trace"), two_actors())


def errors(folder: Path, text: str) -> list[tuple[int, str]]:
    with pytest.raises(FormatError) as caught:
        read(folder, text)
    return [(d.span.line, d.message) for d in caught.value.diagnostics]


def test_steps_out_of_order_variables_and_fsm(tmp_path: Path) -> None:
    trace = read(tmp_path, TRACE)
    source, sink = trace.topology.actors
    assert (source.fsm, sink.fsm) == (True, False)
    assert source.actions[0].writes == (2,)
    assert sink.actions[0].reads == (3,)
    assert [len(f) for f in trace.firings] == [2, 1]
    none = frozenset[str]()
    signatures = [trace.accesses[0].signatures[i] for i in trace.accesses[0].ids]
    assert signatures == [(none, none, none), (none, none, frozenset({"v"}))]


def test_compression_is_seen_in_the_file_not_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_bytes(gzip.compress(TRACE.encode()))
    assert read_turnus_trace(str(tmp_path / "t.trace"), two_actors()).n_firings == 3


def test_errors(tmp_path: Path) -> None:
    text = """<trace>
<step firing="0" actor="z" action="x"/>
<step firing="1" actor="s" action="z"/>
<step actor="s" action="x"><tokens direction="write" port="O" count="2"/></step>
<step firing="-1" actor="s" action="x"><tokens direction="write" port="P" count="2"/></step>
<step firing="2" actor="s" action="x"><tokens direction="out" port="O" count="2"/></step>
<step firing="3" actor="s" action="x"><tokens direction="write" port="O" count="2"/></step>
<step firing="4" actor="s" action="x"><tokens direction="write" port="O" count="3"/></step>
<dependency source="0" target="9" kind="magic"/>
<dependency target="1" kind="fsm"/>
</trace>"""
    assert errors(tmp_path, text) == [
        (2, "the network model has no actor called 'z'"),
        (3, "the network model has no action of actor 's' called 'z'"),
        (4, "'step' has no 'firing'"),
        (5, "firing of 'step' is '-1'"),
        (5, "the network model has no output port of actor 's' called 'P'"),
        (6, "direction of 'tokens' is 'out'"),
        (8, "action s.x reads or writes other numbers of tokens than before"),
        (9, "unknown kind 'magic' of dependency"),
        (10, "'dependency' has no 'source'"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TRACE.replace("</trace>", ""), "not well-formed XML"),
        (TRACE[:300], "not well-formed XML"),
        ("", "not well-formed XML"),
        ("<trace2><step firing='0' actor='s' action='x'/></trace2>", "the root element is 'trace2'"),
        ("<net/>", "the root element is 'net'"),
        (TRACE.replace('firing="2"', 'firing="0"'), "firing 0 is there more than once"),
        (TRACE.replace('target="1"', 'target="7"'), "a dependency names firing 7, which is no step"),
    ],
)
def test_malformed(tmp_path: Path, text: str, message: str) -> None:
    assert message in errors(tmp_path, text)[0][1]


def test_at_most_twenty_errors(tmp_path: Path) -> None:
    assert len(errors(tmp_path, "<trace>" + '<step firing="0" actor="z" action="x"/>' * 100 + "</trace>")) == 20


def test_truncated_gzip(tmp_path: Path) -> None:
    (tmp_path / "t.tracez").write_bytes(gzip.compress(TRACE.encode())[:-20])
    with pytest.raises(FormatError):
        read_turnus_trace(str(tmp_path / "t.tracez"), two_actors())
    with pytest.raises(FormatError, match="cannot read this file"):
        read_turnus_trace(str(tmp_path / "none.trace"), two_actors())


def test_net_errors(tmp_path: Path) -> None:
    text = NET.read_text()
    text = text.replace('<actions name="t0"/>', '<actions name="t0"/><actions name="t0"/><actions/>', 1)
    text = text.replace('source="//@actors.0/@outputPorts.0"', 'source="//@actors.9/@outputPorts.0"', 1)
    text = text.replace('target="//@actors.1/@inputPorts.0"', 'target="somewhere"', 1)
    (tmp_path / "n.net").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_net(str(tmp_path / "n.net"))
    messages = [d.message for d in caught.value.diagnostics]
    assert "'actions' has no 'name'" in messages
    assert any("action 't0' is there twice" in m for m in messages)
    assert any("source '//@actors.9/@outputPorts.0' of a buffer is no port" in m for m in messages)
    assert any("target 'somewhere' of a buffer is no port" in m for m in messages)
    (tmp_path / "n.net").write_text("<XDF/>")
    with pytest.raises(FormatError, match="the root element is 'XDF'"):
        read_net(str(tmp_path / "n.net"))


def test_rates_and_types_of_newer_models(tmp_path: Path) -> None:
    text = NET.read_text()
    text = text.replace(
        '<actions name="t0"/>',
        '<actions name="t0"><production key="//@actors.0/@outputPorts.0" value="5"/></actions>',
        1,
    )
    text = text.replace(
        'turnus.model.dataflow:TypeInt" size="32"/>',
        'turnus.model.dataflow:TypeList" elements="3">'
        '<listType xsi:type="turnus.model.dataflow:TypeInt" size="8"/></type>',
        1,
    )
    (tmp_path / "n.net").write_text(text)
    topology = read_net(str(tmp_path / "n.net"))
    assert topology.actors[0].actions[0].writes[0] == 5
    assert topology.buffers[0].token_bits == 24
    assert topology.buffers[0].token_bytes == 4


@given(content=damaged(TRACE.encode(), gzip.compress(TRACE.encode(), mtime=0), NET.read_bytes()))
@settings(max_examples=examples(150), deadline=None)
def test_damaged_files_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("t")
    (folder / "f").write_bytes(content)
    with suppress(FormatError):
        read_turnus_trace(str(folder / "f"), two_actors())
    with suppress(FormatError):
        read_net(str(folder / "f"))
