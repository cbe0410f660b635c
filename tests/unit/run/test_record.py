"""Traces that the interpreter records: topology, firings, accesses; independent of the schedule."""

from pathlib import Path

import numpy as np

from dse.run.execution import run_network
from dse.run.options import RunOptions
from dse.run.record import topology_of
from tests.unit.run.programs import SINK, network_of

SOURCE = """actor S () ==> uint(size=12) O : int n := 0; int limit := 3; int t[2];
    initialize ==> do t[1] := 1; end
    procedure bump() begin n := n + t[1]; end
    go: action ==> O:[n] guard n < limit do bump(); end
    rest: action ==> guard n = limit, t[0] = 0 do n := n + 1; end end"""
PURE = "actor P () uint(size=12) I ==> int(size=64) O : int k = 2; action I:[a] ==> O:[a * k] end end"


def test_the_topology_tells_rates_widths_and_what_is_stateless(tmp_path: Path) -> None:
    network = network_of(tmp_path, (SOURCE, PURE, SINK), "s=S p=P k=Sink s.O->p.I:7 p.O->k.I")
    topology = topology_of(network)
    assert [a.name for a in topology.actors] == ["s", "p", "k"]
    assert [a.stateless for a in topology.actors] == [False, True, True]
    assert [(b.token_bytes, b.token_bits, b.capacity) for b in topology.buffers] == [(2, 12, 7), (8, 64, None)]
    assert [(a.name, a.reads, a.writes, a.initializer) for a in topology.actors[0].actions] == [
        ("go", (), (1,), False),
        ("rest", (), (0,), False),
        ("initialize", (), (0,), True),
    ]
    assert topology.buffer_name(0) == "s.O->p.I"


def test_firings_are_recorded_in_order_whatever_the_fifo_sizes(tmp_path: Path) -> None:
    network = network_of(tmp_path, (SOURCE, PURE, SINK), "s=S p=P k=Sink s.O->p.I p.O->k.I")
    traces = [run_network(network, RunOptions(fifo_tokens=n)).trace for n in (1, 2, 512)]
    assert [list(f) for f in traces[0].firings] == [[2, 0, 0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert len({t.digest for t in traces}) == 1
    assert traces[0].firings[0].dtype == np.uint8
    assert traces[0].accesses == ()


def test_accesses_name_what_guards_read_and_bodies_touch(tmp_path: Path) -> None:
    network = network_of(tmp_path, (SOURCE, PURE, SINK), "s=S p=P k=Sink s.O->p.I p.O->k.I")
    plain = run_network(network, RunOptions())
    recorded = run_network(network, RunOptions(record_accesses=True))
    assert recorded.trace.digest == plain.trace.digest
    table = recorded.trace.accesses[0]
    by_firing = [table.signatures[k] for k in table.ids]
    assert by_firing[0] == (frozenset(), frozenset(), frozenset({"t"}))
    assert by_firing[1:4] == [(frozenset({"n", "limit"}), frozenset({"n", "t"}), frozenset({"n"}))] * 3
    assert by_firing[4] == (frozenset({"n", "limit", "t"}), frozenset({"n"}), frozenset({"n"}))
    assert recorded.trace.accesses[1].signatures == ((frozenset(), frozenset({"k"}), frozenset()),)
