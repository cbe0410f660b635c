"""The least period: against playing the graph until a state comes again, and against results by hand."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from dse.base.errors import OptionError
from dse.sdf.balance import repetition_vector
from dse.sdf.throughput.periodic import LeastPeriod, least_period
from dse.sdf.throughput.timed_graph import TimedGraph, timed_graph
from tests.examples import examples
from tests.unit.sdf.graphs import Rates, Sized, graph, sized_graphs
from tests.unit.sdf.state_space import Player

Channel = tuple[int, Rates, int, Rates, int]


def timed(times: tuple[tuple[int, ...], ...], *channels: Channel, overlap: bool = False) -> TimedGraph:
    """Return a graph with these times, one entry a phase."""
    made = graph(len(times), *channels)
    exact = tuple(tuple(map(Fraction, of_actor)) for of_actor in times)
    return timed_graph(made, repetition_vector(made), exact, overlap=overlap)


def actors_of(found: LeastPeriod) -> list[int]:
    """Return the actors of the critical cycle in order."""
    return [step.actor for step in found.cycle]


@given(made=sized_graphs())
@settings(max_examples=examples(400), deadline=None)
def test_it_is_what_playing_finds(made: Sized) -> None:
    flow = timed_graph(
        made.graph,
        repetition_vector(made.graph),
        made.times,
        capacities=made.sizes,
        release=made.release,
        overlap=made.overlap,
    )
    assert least_period(flow).ticks == Player(flow).period()


def test_a_ring_of_two_with_one_token_has_the_sum_of_both() -> None:
    found = least_period(timed(((3,), (4,)), (0, (1,), 1, (1,), 0), (1, (1,), 0, (1,), 1)))
    assert (found.ticks, sorted(actors_of(found))) == (7, [0, 1])


def test_two_tokens_in_a_ring_halve_its_time_until_an_actor_is_busy_all_the_time() -> None:
    ring: tuple[Channel, ...] = ((0, (1,), 1, (1,), 0), (1, (1,), 0, (1,), 2))
    assert least_period(timed(((3,), (4,)), *ring)).ticks == 4
    overlapping = least_period(timed(((3,), (4,)), *ring, overlap=True))
    assert overlapping.ticks == Fraction(7, 2)


def test_rates_that_need_schedules_of_several_rounds() -> None:
    """By hand, two tokens a firing of a0 and three a firing of a1, of which there are four in the ring.

    The first two firings of a0 end at 2 and 4 with all four tokens; the first of a1 takes three and gives them back at
    7. The third of a0 lasts from 7 to 9, the second of a1 from 9 to 12, and all is as at the beginning.
    """
    flow = timed(((2,), (3,)), (0, (2,), 1, (3,), 0), (1, (3,), 0, (2,), 4))
    found = least_period(flow)
    assert found.ticks == Player(flow).period() == 12
    assert found.schedules > 1


def test_phases_take_turns() -> None:
    """By hand: the second phase of a0 waits for nothing, the first for a1, which waits for the second."""
    flow = timed(((1, 5), (2,)), (0, (0, 1), 1, (1,), 0), (1, (1,), 0, (1, 0), 1))
    assert least_period(flow).ticks == 1 + 5 + 2


def test_without_cycles_the_busiest_actor_limits_and_an_actor_before_it_may_do_more() -> None:
    found = least_period(timed(((2,), (5,), (1,)), (0, (1,), 1, (2,), 0), (1, (1,), 2, (1,), 0)))
    assert (found.ticks, actors_of(found)) == (5, [1])
    assert found.of_actor == (4, 5, 5)


def test_nothing_limits_actors_that_overlap_and_form_no_cycle() -> None:
    found = least_period(timed(((2,), (5,)), (0, (1,), 1, (2,), 0), overlap=True))
    assert (found.ticks, found.cycle) == (0, ())


def test_a_cycle_without_enough_tokens_stands_still() -> None:
    found = least_period(timed(((1,), (1,)), (0, (2,), 1, (3,), 0), (1, (3,), 0, (2,), 3)))
    assert found.ticks is None
    assert set(actors_of(found)) == {0, 1}


def test_a_cycle_that_takes_no_time_may_stand_still_too() -> None:
    assert least_period(timed(((0,), (0,)), (0, (1,), 1, (1,), 0), (1, (1,), 0, (1,), 0))).ticks is None
    assert least_period(timed(((0,), (0,)), (0, (1,), 1, (1,), 0), (1, (1,), 0, (1,), 1))).ticks == 0


@pytest.mark.parametrize("rounds", [(147, 160), (1_000_003, 999_983)])
def test_numbers_beyond_64_bits_are_exact(rounds: tuple[int, int]) -> None:
    """Two actors whose rates have no common divisor, and so many tokens that the work of one alone decides."""
    one, other = rounds
    big = 10**12 + 39
    flow = timed(((big,), (7,)), (0, (one,), 1, (other,), 0), (1, (other,), 0, (one,), 5 * one * other))
    assert least_period(flow).ticks == big * other


def test_times_and_tokens_beyond_what_is_counted_are_refused() -> None:
    made = graph(2, (0, (1,), 1, (1,), 0))
    with pytest.raises(OptionError, match="the times of 'g' are whole numbers of 1/3000000000000000 only"):
        timed_graph(made, (1, 1), ((Fraction(1, 10**15),), (Fraction(10, 3),)))
    large = 1 << 61
    with pytest.raises(OptionError, match="channel 'c0' moves more than"):
        timed_graph(graph(2, (0, (large,), 1, (large,), 0)), (1, 1), ((Fraction(1),), (Fraction(1),)))
