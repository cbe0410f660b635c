"""A static graph as arcs between timed actors: what waits for what, whatever it is that is waited for.

A channel is an arc from its writer to its reader. A limit of its size is an arc back, on which the free room moves as
tokens do. An actor whose firings do not overlap is not held by an arc: the analysis keeps its phases in order.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dse.base.errors import OptionError
from dse.model.dataflow_graph import DataflowChannel, DataflowGraph
from dse.model.design_point import ReleaseMode
from dse.sdf.unfold import is_state

MOST_TICKS = 1 << 53
"""What a firing takes at most."""
MOST_MOVED = 1 << 60
"""Tokens that an iteration moves over a channel, at most, and that are there at the beginning."""
ArcKind: TypeAlias = Literal["tokens", "room"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedActor:
    """An actor. ``rounds``: how often an iteration goes through its phases; ``ticks[k]``: what phase k takes.

    ``overlaps``: a firing may begin before the one before has ended; only for actors of one phase.
    """

    name: str
    rounds: int
    ticks: tuple[int, ...]
    overlaps: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """Tokens, or room, that firings of ``source`` give and firings of ``target`` take.

    ``given[k]``, ``taken[k]``: by phase. ``initial``: what is there at the beginning. ``at_end``: it is there when a
    firing has ended, else as soon as it begins.
    """

    source: int
    target: int
    given: tuple[int, ...]
    taken: tuple[int, ...]
    initial: int
    channel: int
    kind: ArcKind = "tokens"
    at_end: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedGraph:
    """Actors and arcs; times are ticks, ``ticks_per_unit`` of which are one unit of the graph's times."""

    actors: tuple[TimedActor, ...]
    arcs: tuple[Arc, ...]
    ticks_per_unit: int = 1


def timed_graph(
    graph: DataflowGraph,
    firings: tuple[int, ...],
    times: tuple[tuple[Fraction, ...], ...],
    *,
    capacities: tuple[int | None, ...] | None = None,
    release: ReleaseMode = "processing",
    overlap: bool = False,
) -> TimedGraph:
    """Return a graph with times; ``firings``: of each actor in an iteration; ``times[a][k]``: of phase k of actor a.

    ``capacities``: the size of each channel in tokens, None: no limit; without them, as the graph has them.
    ``release``: when the room of tokens that a firing reads is free, as in ``dse.estimate.semantics``: where reading
    takes no time that is as soon as the firing begins (``reading``), or when it ends (``processing``).

    Raises:
        OptionError: times or tokens are beyond what is counted (``MOST_TICKS``, ``MOST_MOVED``).
    """
    scale = math.lcm(*(time.denominator for of_actor in times for time in of_actor))
    sizes = capacities or tuple(channel.capacity_tokens for channel in graph.channels)
    actors = tuple(
        TimedActor(
            name=actor.name,
            rounds=n // actor.n_phases,
            ticks=tuple(int(time * scale) for time in of_actor),
            overlaps=overlap and actor.n_phases == 1,
        )
        for actor, n, of_actor in zip(graph.actors, firings, times, strict=True)
    )
    _require_countable(graph, actors, scale)
    arcs: list[Arc] = []
    for number, (channel, size) in enumerate(zip(graph.channels, sizes, strict=True)):
        arcs += _arcs(graph, number, channel, size, release, actors[channel.source].rounds)
    return TimedGraph(actors=actors, arcs=tuple(arcs), ticks_per_unit=scale)


def _require_countable(graph: DataflowGraph, actors: tuple[TimedActor, ...], scale: int) -> None:
    if max((max(actor.ticks) for actor in actors), default=0) > MOST_TICKS:
        raise OptionError(
            f"the times of '{graph.name}' are whole numbers of 1/{scale} only, and some are more than {MOST_TICKS:,} of"
            " these",
            expected="times of fewer digits",
        )


def _arcs(
    graph: DataflowGraph,
    number: int,
    channel: DataflowChannel,
    size: int | None,
    release: ReleaseMode,
    rounds: int,
) -> list[Arc]:
    """Return the arcs of a channel: none where no tokens move, a second one where its size is limited."""
    written, read = graph.written(channel), graph.read(channel)
    if not sum(written):
        return []
    if max(sum(written) * rounds, channel.initial_tokens, size or 0) > MOST_MOVED:
        raise OptionError(
            f"channel '{channel.name}' moves more than {MOST_MOVED:,} tokens an iteration, or holds as many",
            expected="smaller rates: divide those of both ends by the same number",
        )
    forward = Arc(
        source=channel.source,
        target=channel.target,
        given=written,
        taken=read,
        initial=channel.initial_tokens,
        channel=number,
    )
    if size is None or is_state(graph, channel):
        return [forward]
    back = Arc(
        source=channel.target,
        target=channel.source,
        given=read,
        taken=written,
        initial=size - channel.initial_tokens,
        channel=number,
        kind="room",
        at_end=release == "processing",
    )
    return [forward, back]
