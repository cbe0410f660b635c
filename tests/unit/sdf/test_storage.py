"""Sizes of channels against throughput: the front against trying all sizes, and small graphs by hand."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from dse.base.errors import OptionError
from dse.sdf.balance import repetition_vector
from dse.sdf.throughput.periodic import least_period
from dse.sdf.throughput.storage import TimedDataflow, storage_front
from tests.examples import examples
from tests.unit.sdf.graphs import Sized, graph, sized_graphs

_MOST_TRIED = 1_500


def flow_of(made: Sized) -> TimedDataflow:
    """Return a graph without its sizes."""
    firings = repetition_vector(made.graph)
    return TimedDataflow(
        graph=made.graph, firings=firings, times=made.times, release=made.release, overlap=made.overlap
    )


@given(made=sized_graphs())
@settings(max_examples=examples(40), deadline=None)
def test_no_sizes_beat_the_front(made: Sized) -> None:
    """All sizes up to those of the last point are tried, where they are not too many."""
    flow = flow_of(made)
    least = least_period(flow.timed(flow.unlimited)).ticks
    assume(least is not None and (least or not any(map(any, made.times))))
    storage = storage_front(flow)
    assume(storage.proven == len(storage.points))
    last = storage.points[-1].sizes
    ranges = [
        range(max(1, channel.initial_tokens), size + 1) if size is not None else (None,)
        for channel, size in zip(made.graph.channels, last, strict=True)
    ]
    tried = list(itertools.islice(itertools.product(*ranges), _MOST_TRIED + 1))
    assume(len(tried) <= _MOST_TRIED)
    for sizes in tried:
        timed = flow.timed(sizes)
        ticks = least_period(timed).ticks
        if ticks is not None:
            memory = sum(size or 0 for size in sizes)
            period = ticks / timed.ticks_per_unit
            assert any(p.memory <= memory and p.period <= period for p in storage.points)


def test_a_pipeline_of_two_needs_two_places_to_overlap() -> None:
    made = graph(2, (0, (1,), 1, (1,), 0))
    flow = TimedDataflow(graph=made, firings=(1, 1), times=((Fraction(3),), (Fraction(4),)))
    storage = storage_front(flow)
    assert [(p.memory, p.period) for p in storage.points] == [(1, 7), (2, 4)]
    assert (storage.proven, storage.unit) == (2, "tokens")


def test_room_that_is_free_as_soon_as_a_firing_begins() -> None:
    made = graph(2, (0, (1,), 1, (1,), 0))
    times = ((Fraction(3),), (Fraction(4),))
    storage = storage_front(TimedDataflow(graph=made, firings=(1, 1), times=times, release="reading"))
    assert [(p.memory, p.period) for p in storage.points] == [(1, 4)]


def test_room_counts_in_steps_beside_the_tokens_that_are_there() -> None:
    """Two tokens a time beside one that is there from the beginning: 3 places, not 2 or 4."""
    made = graph(2, (0, (0, 2), 1, (2,), 1))
    times = ((Fraction(1), Fraction(1)), (Fraction(1),))
    storage = storage_front(TimedDataflow(graph=made, firings=(2, 1), times=times))
    assert storage.points[0].sizes == (3,)


def test_a_front_without_end_is_refused() -> None:
    """Actors that overlap do as much at a time as there are places: twice the places, half the period."""
    made = graph(2, (0, (1,), 1, (1,), 0))
    flow = TimedDataflow(graph=made, firings=(1, 1), times=((Fraction(3),), (Fraction(4),)), overlap=True)
    with pytest.raises(OptionError, match="the front of 'g' has no end"):
        storage_front(flow)


def test_what_is_not_proven_is_as_quick_and_says_so() -> None:
    made = graph(3, (0, (4,), 1, (3,), 0), (1, (5,), 2, (7,), 0))
    times = tuple((Fraction(t),) for t in (3, 2, 4))
    flow = TimedDataflow(graph=made, firings=repetition_vector(made), times=times)
    exact, hurried = storage_front(flow), storage_front(flow, most=1)
    assert exact.proven == len(exact.points)
    assert hurried.proven < len(hurried.points)
    assert hurried.points[-1].period == exact.points[-1].period
    assert hurried.points[-1].memory >= exact.points[-1].memory
