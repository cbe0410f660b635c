"""The deadlock check: against playing the firings one by one, and what it says of a cycle."""

import pytest
from hypothesis import given, settings

from dse.base.errors import DeadlockError
from dse.model.dataflow_graph import DataflowGraph
from dse.sdf import liveness
from dse.sdf.balance import repetition_vector
from dse.sdf.liveness import require_live
from tests.examples import examples
from tests.unit.sdf.graphs import consistent_graphs, graph


def completes(found: DataflowGraph, firings: tuple[int, ...]) -> bool:
    """Whether an iteration comes to its end, one firing at a time."""
    tokens = [channel.initial_tokens for channel in found.channels]
    done = [0] * len(found.actors)
    moved = True
    while moved:
        moved = False
        for a, actor in enumerate(found.actors):
            phase = done[a] % actor.n_phases
            needs = [(c, found.read(x)[phase]) for c, x in enumerate(found.channels) if x.target == a]
            if done[a] == firings[a] or any(tokens[c] < n for c, n in needs):
                continue
            for c, n in needs:
                tokens[c] -= n
            for c, x in enumerate(found.channels):
                tokens[c] += found.written(x)[phase] if x.source == a else 0
            done[a] += 1
            moved = True
    return done == list(firings)


@given(made=consistent_graphs())
@settings(max_examples=examples(300), deadline=None)
def test_it_finds_what_playing_finds(made: tuple[DataflowGraph, tuple[int, ...]]) -> None:
    found, _ = made
    firings = repetition_vector(found)
    if completes(found, firings):
        require_live(found, firings)
    else:
        with pytest.raises(DeadlockError, match=r"the graph deadlocks: '.*; 'a\d' needs \d+ tokens? of channel 'c\d'"):
            require_live(found, firings)


def test_a_cycle_without_tokens() -> None:
    made = graph(3, (0, (2,), 1, (1,), 0), (1, (1,), 2, (2,), 0), (2, (1,), 0, (1,), 0))
    with pytest.raises(DeadlockError) as error:
        require_live(made, repetition_vector(made))
    found = error.value.diagnostics[0]
    assert found.message == (
        "the graph deadlocks: 'a0', 'a2', 'a1' wait for each other; 'a0' needs 1 token of channel 'c2' and finds 0"
    )
    assert found.expected == "a cycle starts with initial tokens: here at least 1"


def test_an_actor_that_waits_for_itself_in_a_later_phase() -> None:
    made = graph(1, (0, (0, 2), 0, (1, 1), 1))
    with pytest.raises(DeadlockError, match="'a0' waits for itself; 'a0' needs 1 token of channel 'c0' for its phase"):
        require_live(made, (2,))
    require_live(graph(1, (0, (0, 2), 0, (1, 1), 2)), (2,))


def test_what_takes_too_long_is_left_to_the_estimation(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = graph(3, (0, (1,), 1, (1,), 0), (1, (1,), 2, (1,), 0), (2, (1,), 1, (1,), 0))
    with pytest.raises(DeadlockError):
        require_live(stuck, (1, 1, 1))
    monkeypatch.setattr(liveness, "MOST_UPDATES", 0)
    require_live(stuck, (1, 1, 1))
