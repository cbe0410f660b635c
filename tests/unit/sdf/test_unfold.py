"""Traces of static graphs, their weights, and graphs of traces."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from dse.base.errors import FormatError, OptionError
from dse.formats.token_counts import check_token_counts
from dse.model.dataflow_graph import DataflowGraph, ProcessorTime
from dse.model.trace import Topology, Trace, make_trace
from dse.model.weights import Cost, WeightTable
from dse.sdf import unfold
from dse.sdf.balance import repetition_vector
from dse.sdf.fold import trace_graph
from dse.sdf.unfold import graph_trace, usual_iterations
from dse.sdf.weights import graph_weights
from tests.examples import examples
from tests.unit.sdf.graphs import consistent_graphs, graph


def timed(found: DataflowGraph, actor: int, *times: ProcessorTime) -> DataflowGraph:
    """``found`` with other times of one actor."""
    actors = [replace(a, times=times) if number == actor else a for number, a in enumerate(found.actors)]
    return replace(found, actors=tuple(actors))


def times(processor: str, *values: int, default: bool = False) -> ProcessorTime:
    return ProcessorTime(processor=processor, times=tuple(map(Fraction, values)), default=default)


def test_phases_become_actions_in_order_and_equal_ones_are_one() -> None:
    made = timed(graph(2, (0, (1,), 1, (1, 0, 0, 1), 0)), 1, times("p", 5, 3, 3, 5))
    trace = graph_trace(made, repetition_vector(made), 2)
    actor = trace.topology.actors[1]
    assert [(x.name, x.reads) for x in actor.actions] == [("phase1", (1,)), ("phase2", (0,))]
    assert trace.firings[1].tolist() == [0, 1, 1, 0] * 2
    assert trace.firings[0].tolist() == [0] * 4
    assert (actor.fsm, actor.stateless) == (True, False)
    assert trace.topology.actors[0].actions[0].name == "fire"
    assert trace.topology.actors[0].stateless


def test_phases_that_differ_in_time_alone_are_two() -> None:
    made = timed(graph(2, (0, (1,), 1, (1, 1), 0)), 1, times("p", 5, 3))
    assert [x.name for x in graph_trace(made, (2, 2), 1).topology.actors[1].actions] == ["phase1", "phase2"]


def test_a_state_is_no_fifo_but_its_actor_has_state() -> None:
    made = graph(2, (0, (1,), 0, (1,), 1), (0, (2,), 1, (1,), 3), (0, (1,), 0, (1,), 0), (0, (2,), 0, (2,), 2))
    topology = graph_trace(made, (1, 2), 1).topology
    assert [topology.buffer_name(b) for b in range(3)] == ["a0.o1->a1.i1", "a0.o2->a0.i2", "a0.o3->a0.i3"]
    assert topology.actors[0].outputs == ("o1", "o2", "o3")
    assert topology.actors[0].inputs == ("i2", "i3")
    assert topology.actors[0].actions[0].writes == (2, 1, 2)
    assert topology.buffers[0].initial_tokens == 3
    assert not topology.actors[0].stateless


def test_a_token_between_two_actors_is_no_state() -> None:
    topology = graph_trace(graph(2, (0, (1,), 1, (1,), 1)), (1, 1), 1).topology
    assert [buffer.initial_tokens for buffer in topology.buffers] == [1]


@given(made=consistent_graphs())
@settings(max_examples=examples(100), deadline=None)
def test_a_trace_is_a_whole_number_of_iterations(made: tuple[DataflowGraph, tuple[int, ...]]) -> None:
    found, _ = made
    firings = repetition_vector(found)
    trace = graph_trace(found, firings, 3)
    assert [len(ids) for ids in trace.firings] == [3 * n for n in firings]
    check_token_counts(trace, "g.xml")
    back = trace_graph(trace, None, "b.xml")
    assert [actor.name for actor in back.actors] == [actor.name for actor in found.actors]
    again = graph_trace(back, repetition_vector(back), 1)
    moved = {name: counts for name, counts in tokens(again).items() if ".state" not in name}
    for name, (written, read) in moved.items():
        most = tokens(trace)[name]
        assert most[0] % written == 0 if written else most[0] == 0
        assert most[1] % read == 0 if read else most[1] == 0


def tokens(trace: Trace) -> dict[str, tuple[int, int]]:
    """Tokens written to and read from each buffer, by the names of its actors."""
    topology, found = trace.topology, dict[str, tuple[int, int]]()
    for index, b in enumerate(topology.buffers):
        source, target = topology.actors[b.source], topology.actors[b.target]
        written = sum(source.actions[x].writes[b.source_port] for x in trace.firings[b.source].tolist())
        read = sum(target.actions[x].reads[b.target_port] for x in trace.firings[b.target].tolist())
        found[topology.buffer_name(index)] = (written, read)
    return found


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = graph(2, (0, (1,), 1, (1, 0), 0))
    with pytest.raises(OptionError, match="are too many for one trace"):
        graph_trace(made, (1, 2), 1 << 26)
    monkeypatch.setattr(unfold, "MOST_ACTIONS", 1)
    with pytest.raises(FormatError, match="actor 'a1' has 2 phases that differ"):
        graph_trace(made, (1, 2), 1)


@pytest.mark.parametrize(("firings", "iterations"), [((1,), 100), ((150, 50), 50), ((20_000,), 1)])
def test_usual_iterations(firings: tuple[int, ...], iterations: int) -> None:
    assert usual_iterations(firings) == iterations


# Weights


def two_types() -> DataflowGraph:
    made = graph(2, (0, (1,), 1, (1,), 0))
    made = timed(made, 0, times("arm", 10), times("dsp", 4, default=True))
    return timed(made, 1, times("arm", 7))


def test_each_actor_has_its_default_processor_unless_one_is_named() -> None:
    found = graph_weights(two_types())
    assert found is not None
    assert {key: cost.mean_cycles for key, cost in found.table.compute.items()} == {
        ("a0", "fire", "cpu"): 4,
        ("a1", "fire", "cpu"): 7,
    }
    assert found.words == ("execution times of the SDF3 file, those of each actor's default processor on the CPU",)


def test_a_type_that_is_named_is_the_only_one() -> None:
    found = graph_weights(two_types(), (("cpu", "arm"), ("gpu", "dsp")))
    assert found is not None
    assert {key: cost.mean_cycles for key, cost in found.table.compute.items()} == {
        ("a0", "fire", "cpu"): 10,
        ("a1", "fire", "cpu"): 7,
        ("a0", "fire", "gpu"): 4,
    }
    only = graph_weights(two_types(), (("cpu", "arm"),))
    assert only is not None
    assert "times on dsp are left out" in only.words[0]


def test_a_type_that_nobody_has() -> None:
    with pytest.raises(OptionError, match="has times on 'amr'") as error:
        graph_weights(two_types(), (("cpu", "amr"),))
    assert error.value.diagnostics[0].expected == "did you mean 'arm'?"
    assert graph_weights(timed(timed(two_types(), 0), 1)) is None


# Graphs of traces


def test_firings_that_repeat_become_phases_and_state_a_channel() -> None:
    made = timed(graph(2, (0, (2,), 1, (1, 1, 0), 0)), 1, times("p", 5, 3, 1))
    weights = graph_weights(made)
    assert weights is not None
    back = trace_graph(graph_trace(made, repetition_vector(made), 4), weights.table, "b.xml")
    assert back.actors[1].reads == ((1, 1, 0), (1, 1, 1))
    assert back.actors[1].times[0] == times("cpu", 5, 3, 1, default=True)
    assert [(c.name, c.initial_tokens) for c in back.channels] == [("ch0", 0), ("state1", 1)]
    assert repetition_vector(back) == repetition_vector(made)


def test_weights_with_several_clocks_become_nanoseconds() -> None:
    trace = graph_trace(graph(2, (0, (1,), 1, (1,), 0)), (1, 1), 1)
    costs = {
        ("a0", "fire", "cpu"): Cost(mean_cycles=Fraction(500), frequency_mhz=Fraction(1000)),
        ("a1", "fire", "cpu"): Cost(mean_cycles=Fraction(500), frequency_mhz=Fraction(2000)),
    }
    table = WeightTable(name="w", compute=dict(costs))
    back = trace_graph(trace, table, "b.xml")
    assert [actor.times[0].times for actor in back.actors] == [(500,), (250,)]
    assert back.unit_mhz == 1000


def test_a_trace_that_leaves_tokens_is_no_graph() -> None:
    whole = graph_trace(graph(2, (0, (1,), 1, (1,), 0)), (1, 1), 3)
    trace = make_trace(whole.topology, [[0, 0, 0], [0, 0]])
    with pytest.raises(FormatError, match=r"a0.o0->a1.i0 gets 3 tokens and gives 2"):
        trace_graph(trace, None, "b.xml")


def test_actors_that_never_fire_and_outputs_with_two_readers() -> None:
    topology = graph_trace(graph(3, (0, (1,), 1, (1,), 0), (0, (1,), 2, (1,), 0)), (1, 1, 1), 1).topology
    first = replace(topology.actors[0], outputs=("o",))
    first = replace(first, actions=(replace(first.actions[0], writes=(1,)),))
    buffers = tuple(replace(b, source_port=0) for b in topology.buffers)
    fan = Topology(name="g", actors=(first, *topology.actors[1:]), buffers=buffers)
    back = trace_graph(make_trace(fan, [[0], [0], [0]]), None, "b.xml")
    assert back.actors[0].outputs == ("o", "o_2")
    idle = replace(topology.actors[2], actions=(replace(topology.actors[2].actions[0], reads=(0,)),))
    quiet = replace(fan, actors=(first, topology.actors[1], idle), buffers=buffers[:1])
    kept = trace_graph(make_trace(quiet, [[0], [0], []]), None, "b.xml")
    assert [actor.name for actor in kept.actors] == ["a0", "a1"]
    assert kept.notes == ("'a2', which never fires",)
