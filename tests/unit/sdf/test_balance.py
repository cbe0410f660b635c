"""Repetition vectors: against the definition, and what is said of rates that do not balance."""

import math

import pytest
from hypothesis import given, settings

from dse.base.errors import FormatError
from dse.model.dataflow_graph import DataflowGraph
from dse.sdf import balance
from dse.sdf.balance import repetition_vector
from tests.examples import examples
from tests.unit.sdf.graphs import consistent_graphs, graph


def test_a_chain() -> None:
    made = graph(3, (0, (4,), 1, (6,), 0), (1, (1,), 2, (2,), 0))
    assert repetition_vector(made) == (3, 2, 1)


def test_phases_count_as_firings() -> None:
    made = graph(2, (0, (2,), 1, (1, 1, 0), 0))
    assert repetition_vector(made) == (1, 3)


def test_parts_that_do_not_hang_together_have_their_least_each() -> None:
    made = graph(4, (0, (2,), 1, (4,), 0), (2, (3,), 3, (1,), 0))
    assert repetition_vector(made) == (2, 1, 1, 3)


def test_a_channel_without_tokens_asks_nothing() -> None:
    made = graph(2, (0, (0,), 1, (0,), 0))
    assert repetition_vector(made) == (1, 1)


@given(made=consistent_graphs())
@settings(max_examples=examples(150), deadline=None)
def test_channels_are_as_before_and_nothing_less_does(made: tuple[DataflowGraph, tuple[int, ...]]) -> None:
    found, balanced = made
    firings = repetition_vector(found)
    for channel in found.channels:
        source, target = found.ends(channel)
        written = firings[channel.source] // source.n_phases * sum(found.written(channel))
        assert written == firings[channel.target] // target.n_phases * sum(found.read(channel))
    for part in parts(found):
        rounds = [firings[a] // found.actors[a].n_phases for a in part]
        assert math.gcd(*rounds) == 1
        assert all(balanced[a] * firings[part[0]] == balanced[part[0]] * firings[a] for a in part)


def parts(found: DataflowGraph) -> list[list[int]]:
    """The actors that channels with tokens connect."""
    label = list(range(len(found.actors)))
    for channel in found.channels:
        if sum(found.written(channel)):
            a, b = label[channel.source], label[channel.target]
            label = [a if x == b else x for x in label]
    return [[a for a, x in enumerate(label) if x == one] for one in sorted(set(label))]


def test_rates_that_do_not_balance_name_channel_and_actors() -> None:
    made = graph(3, (0, (1,), 1, (1,), 0), (1, (1,), 2, (1,), 0), (0, (2,), 2, (3,), 0))
    with pytest.raises(FormatError) as error:
        repetition_vector(made)
    assert error.value.diagnostics[0].message == (
        "the rates of channel 'c1' do not balance: 'a1' writes 1 token a firing, 'a2' reads 1 token a firing; "
        "the other channels make 3 rounds of 'a1' go with 2 rounds of 'a2'"
    )


@pytest.mark.parametrize(
    ("writes", "reads"), [((0,), (1,)), ((1,), (0,))], ids=["nothing is written", "nothing is read"]
)
def test_one_side_that_moves_nothing(writes: tuple[int, ...], reads: tuple[int, ...]) -> None:
    with pytest.raises(FormatError, match="'c0' do not balance: 'a0' writes"):
        repetition_vector(graph(2, (0, writes, 1, reads, 0)))


def test_an_actor_that_gives_itself_too_much() -> None:
    with pytest.raises(FormatError, match="'c0' do not balance"):
        repetition_vector(graph(1, (0, (2,), 0, (1,), 5)))


def test_too_many_firings_name_the_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "MOST_FIRINGS", 4)
    assert repetition_vector(graph(2, (0, (3,), 1, (1,), 0))) == (1, 3)
    with pytest.raises(FormatError, match="one iteration of the graph has 5 firings, 4 of them of actor 'a1'"):
        repetition_vector(graph(2, (0, (4,), 1, (1,), 0)))
