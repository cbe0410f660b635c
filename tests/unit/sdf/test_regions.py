"""Static regions: which actors are static, what their phases are, and that dynamic ones split them."""

from fractions import Fraction

from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.sdf.regions import static_regions

ONE, TWO = Fraction(1), Fraction(2)


def actor(name: str, *actions: tuple[tuple[int, ...], tuple[int, ...]]) -> TraceActor:
    """Return an actor of actions given as (reads, writes)."""
    return TraceActor(
        name=name,
        class_name=name,
        inputs=tuple(f"i{p}" for p in range(len(actions[0][0]))),
        outputs=tuple(f"o{p}" for p in range(len(actions[0][1]))),
        actions=tuple(TraceAction(name=f"x{n}", reads=r, writes=w) for n, (r, w) in enumerate(actions)),
    )


def chain(actors: list[TraceActor], firings: list[list[int]]) -> Trace:
    """Return a trace of actors one behind the other."""
    buffers = tuple(
        TraceBuffer(source=a, source_port=0, target=a + 1, target_port=0, token_bytes=4, token_bits=32)
        for a in range(len(actors) - 1)
    )
    return make_trace(Topology(name="chain", actors=tuple(actors), buffers=buffers), firings)


def test_phases_are_the_actions_that_repeat_and_a_trace_may_end_within_them() -> None:
    source = actor("source", ((), (1,)))
    switch = actor("switch", ((1,), (0,)), ((1,), (3,)))
    trace = chain([source, switch], [[0] * 9, [0, 1, 0, 1, 0, 1, 0, 1, 0]])
    found = static_regions(trace, [[ONE], [ONE, TWO]])
    (region,) = found.regions
    assert [a.n_phases for a in region.graph.actors] == [1, 2]
    assert region.graph.actors[1].times[0].times == (ONE, TWO)
    assert (region.firings, region.iterations, found.others) == ((2, 2), 4, ())


def test_actions_of_the_same_rates_are_one_phase_with_their_mean_time() -> None:
    sink = actor("sink", ((1,), ()), ((1,), ()))
    trace = chain([actor("source", ((), (1,))), sink], [[0] * 4, [0, 1, 1, 1]])
    (region,) = static_regions(trace, [[ONE], [ONE, TWO]]).regions
    assert region.graph.actors[1].times[0].times == (Fraction(7, 4),)
    assert region.averaged == ("sink",)


def test_an_actor_whose_rates_do_not_repeat_splits_what_is_around_it() -> None:
    first, second = actor("first", ((), (1,))), actor("second", ((1,), (1,)))
    odd = actor("odd", ((1,), (1,)), ((1,), (0,)))
    last = actor("last", ((1,), ()))
    trace = chain([first, second, odd, last], [[0] * 5, [0] * 5, [0, 1, 1, 0, 0], [0] * 3])
    found = static_regions(trace, [[ONE], [ONE], [ONE, ONE], [ONE]])
    assert [region.actors for region in found.regions] == [(0, 1), (3,)]
    assert found.others == (2,)


def test_actors_that_never_fire_are_in_no_region() -> None:
    trace = chain([actor("source", ((), (1,))), actor("never", ((9,), ()))], [[0] * 5, []])
    found = static_regions(trace, [[ONE], [ONE]])
    assert [region.actors for region in found.regions] == [(0,)]
    assert found.others == (1,)


def test_rates_that_do_not_balance_are_no_region() -> None:
    """Two channels between the same two actors, of which one gets twice as much as the other."""
    source, sink = actor("source", ((), (1, 2))), actor("sink", ((1, 1), ()))
    buffers = tuple(
        TraceBuffer(source=0, source_port=p, target=1, target_port=p, token_bytes=4, token_bits=32) for p in (0, 1)
    )
    trace = make_trace(Topology(name="t", actors=(source, sink), buffers=buffers), [[0] * 3, [0] * 3])
    found = static_regions(trace, [[ONE], [ONE]])
    assert (found.regions, found.others) == ((), (0, 1))
