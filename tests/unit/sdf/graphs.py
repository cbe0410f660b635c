"""Static graphs for tests: made by hand, and random consistent ones."""

import math
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime
from dse.model.design_point import ReleaseMode

Rates = tuple[int, ...]


def graph(n_actors: int, *channels: tuple[int, Rates, int, Rates, int], name: str = "g") -> DataflowGraph:
    """Return a graph of actors ``a0``...; a channel is (source, writes, target, reads, initial tokens)."""
    phases = [1] * n_actors
    for source, writes, target, reads, _ in channels:
        phases[source], phases[target] = max(phases[source], len(writes)), max(phases[target], len(reads))
    ends = list(enumerate(channels))
    actors = tuple(
        DataflowActor(
            name=f"a{a}",
            class_name=f"C{a}",
            inputs=tuple(f"i{c}" for c, channel in ends if channel[2] == a),
            outputs=tuple(f"o{c}" for c, channel in ends if channel[0] == a),
            n_phases=phases[a],
            reads=tuple(whole(channel[3], phases[a]) for _, channel in ends if channel[2] == a),
            writes=tuple(whole(channel[1], phases[a]) for _, channel in ends if channel[0] == a),
            times=(ProcessorTime(processor="p", times=(Fraction(a + 1),) * phases[a], default=True),),
            stateless=not any(channel[0] == channel[2] == a and channel[4] for channel in channels),
        )
        for a in range(n_actors)
    )
    return DataflowGraph(
        name=name,
        path="g.xml",
        tool="SDF3",
        actors=actors,
        channels=tuple(
            DataflowChannel(
                name=f"c{c}",
                source=source,
                source_port=sum(1 for other in channels[:c] if other[0] == source),
                target=target,
                target_port=sum(1 for other in channels[:c] if other[2] == target),
                initial_tokens=initial,
            )
            for c, (source, _, target, _, initial) in ends
        ),
    )


def whole(rates: Rates, n_phases: int) -> Rates:
    """Return rates for all phases: one number stands for each."""
    return rates * n_phases if len(rates) == 1 else rates


@st.composite
def consistent_graphs(draw: st.DrawFn) -> tuple[DataflowGraph, tuple[int, ...]]:
    """Return a graph whose rates balance by construction, and firings of its actors that do; perhaps with deadlock."""
    n = draw(st.integers(1, 5))
    phases = [draw(st.integers(1, 3)) for _ in range(n)]
    rounds = [draw(st.integers(1, 4)) for _ in range(n)]
    channels: list[tuple[int, Rates, int, Rates, int]] = []
    for _ in range(draw(st.integers(0, 6))):
        source, target = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        tokens = rounds[source] * rounds[target] * draw(st.integers(1, 2))
        writes = draw(_split(tokens // rounds[source], phases[source]))
        reads = draw(_split(tokens // rounds[target], phases[target]))
        channels.append((source, writes, target, reads, draw(st.integers(0, 2 * tokens))))
    made = graph(n, *channels)
    return made, tuple(r * actor.n_phases for r, actor in zip(rounds, made.actors, strict=True))


@st.composite
def _split(draw: st.DrawFn, total: int, parts: int) -> Rates:
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=parts - 1, max_size=parts - 1)))
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True))


@dataclass(frozen=True, slots=True)
class Sized:
    """A connected graph all of whose channels have sizes, so that few states come again and again."""

    graph: DataflowGraph
    times: tuple[tuple[Fraction, ...], ...]
    sizes: tuple[int | None, ...]
    overlap: bool
    release: ReleaseMode


@st.composite
def sized_graphs(draw: st.DrawFn) -> Sized:
    """Return a connected graph with sizes and times; it may deadlock, and firings may take no time."""
    n = draw(st.integers(1, 4))
    phases = [draw(st.integers(1, 3)) for _ in range(n)]
    rounds = [draw(st.integers(1, 4)) for _ in range(n)]
    ends = [(draw(st.integers(0, a - 1)), a) for a in range(1, n)]
    ends += draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2))
    channels: list[tuple[int, Rates, int, Rates, int]] = []
    sizes: list[int | None] = []
    for one, other in ends:
        source, target = (one, other) if draw(st.booleans()) else (other, one)
        tokens = math.lcm(rounds[source], rounds[target]) * draw(st.integers(1, 2))
        writes = draw(_split(tokens // rounds[source], phases[source]))
        reads = draw(_split(tokens // rounds[target], phases[target]))
        initial = draw(st.integers(0, 2 * tokens))
        channels.append((source, writes, target, reads, initial))
        sizes.append(max(initial, *writes, *reads) + draw(st.integers(0, tokens)))
    made = graph(n, *channels)
    times = tuple(
        tuple(Fraction(draw(st.integers(0, 4)), draw(st.integers(1, 2))) for _ in range(actor.n_phases))
        for actor in made.actors
    )
    release = draw(st.sampled_from(("processing", "reading")))
    return Sized(made, times, tuple(sizes), draw(st.booleans()), release)
