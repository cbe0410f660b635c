"""What a K-periodic schedule has to keep: edges between the starts of phases, over K rounds of each actor.

In a K-periodic schedule an actor repeats ``K`` rounds of its phases again and again. Written out they are the phases of
one longer round, so that it is enough to have 1-periodic schedules: phase p of an actor with r long rounds an iteration
starts at ``S_p + n * period / r``. A channel on which an iteration moves T tokens allows that exactly if for each pair
of a writing phase p and a reading phase q

    S_q - S_p >= ticks_p + period / T * steps

holds, where ``steps`` is the largest number of tokens that rounds of both move, written less read, with which q still
needs what p writes (Benazouz, Munier-Kordon, Hujsa and Bodin, "Liveness evaluation of a cyclo-static DataFlow graph",
DAC 2013; Bodin, Munier-Kordon and Dupont de Dinechin, "Optimal and fast throughput evaluation of CSDF", DAC 2016). As
the firings of both actors are in order, it is enough to have the last firing that each reading waits for, or the first
reading that waits for each firing; the fewer of the two are made.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import OptionError
from dse.sdf.throughput.cycle_ratio import RatioGraph
from dse.sdf.throughput.timed_graph import Arc, TimedGraph

IntArray: TypeAlias = NDArray[np.int64]
MOST_EDGES = 20_000_000
"""Edges of one analysis, at most: about 2 GB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """The edges; ``actor[v]``: of each node; ``arc[e]``: the arc of each edge, -1: its actor's own order."""

    graph: RatioGraph
    actor: IntArray
    arc: IntArray


@dataclass(frozen=True, slots=True)
class _Edges:
    """Edges of one arc: tail and head as phases of its actors, length and steps; ``scale`` is that of all."""

    tail: IntArray
    head: IntArray
    length: IntArray
    steps: IntArray
    scale: int
    arc: int


def constraints(graph: TimedGraph, repeats: tuple[int, ...], unit_ticks: bool = False) -> Constraints:
    """Return the constraints where each actor repeats so many rounds; ``unit_ticks``: as if all took one tick.

    Raises:
        OptionError: there are more than ``MOST_EDGES``.
    """
    phases = np.array([k * len(a.ticks) for k, a in zip(repeats, graph.actors, strict=True)], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(phases)))
    if first[-1] > MOST_EDGES:
        raise _too_large(int(first[-1]))
    found: list[_Edges] = []
    for number, (actor, k) in enumerate(zip(graph.actors, repeats, strict=True)):
        ticks = np.ones(len(actor.ticks), dtype=np.int64) if unit_ticks else np.array(actor.ticks, dtype=np.int64)
        found.append(_own_order(np.tile(ticks, k) * (not actor.overlaps), first[number], actor.rounds, k))
    for number, arc in enumerate(graph.arcs):
        edges = _of_arc(graph, arc, number, repeats, unit_ticks=unit_ticks)
        if sum(len(e.tail) for e in found) + len(edges.tail) > MOST_EDGES:
            raise _too_large(MOST_EDGES)
        found.append(
            _Edges(
                edges.tail + first[arc.source],
                edges.head + first[arc.target],
                edges.length,
                edges.steps,
                edges.scale,
                number,
            )
        )
    return _joined(found, first, graph)


def _joined(found: list[_Edges], first: IntArray, graph: TimedGraph) -> Constraints:
    tail = np.concatenate([e.tail for e in found])
    order = np.argsort(tail, kind="stable")

    def of_each(values: list[int]) -> IntArray:
        repeated = [np.full(len(e.tail), value, dtype=np.int64) for e, value in zip(found, values, strict=True)]
        return np.concatenate(repeated)[order]

    return Constraints(
        graph=RatioGraph(
            n_nodes=int(first[-1]),
            tail=tail[order],
            head=np.concatenate([e.head for e in found])[order],
            length=np.concatenate([e.length for e in found])[order],
            steps=np.concatenate([e.steps for e in found])[order],
            scale=of_each([e.scale for e in found]),
        ),
        actor=np.repeat(np.arange(len(graph.actors)), np.diff(first)),
        arc=of_each([e.arc for e in found]),
    )


def _own_order(ticks: IntArray, first: int, rounds: int, repeats: int) -> _Edges:
    """Return that the phases of an actor begin in order: each when the one before has ended, or at least begun."""
    n = len(ticks)
    nodes = first + np.arange(n, dtype=np.int64)
    steps = np.zeros(n, dtype=np.int64)
    steps[-1] = repeats
    return _Edges(nodes, np.roll(nodes, -1), ticks, steps, rounds, -1)


def _of_arc(graph: TimedGraph, arc: Arc, number: int, repeats: tuple[int, ...], *, unit_ticks: bool) -> _Edges:
    """Return the edges of an arc, whose ends are phases of the actors' long rounds."""
    given = np.tile(np.array(arc.given, dtype=np.int64), repeats[arc.source])
    taken = np.tile(np.array(arc.taken, dtype=np.int64), repeats[arc.target])
    before, needed = np.concatenate(([0], np.cumsum(given))), np.concatenate(([0], np.cumsum(taken)))
    whole = math.gcd(int(before[-1]), int(needed[-1]))
    givers, takers = np.flatnonzero(given), np.flatnonzero(taken)
    choices = (
        len(takers) * min(len(givers), int(before[-1]) // whole),
        len(givers) * min(len(takers), int(needed[-1]) // whole),
    )
    if min(choices) > MOST_EDGES:
        raise _too_large(min(choices))
    if choices[0] <= choices[1]:
        tail, head, steps = _last_givers(before, needed, givers, takers, arc.initial, whole)
    else:
        tail, head, steps = _first_takers(before, needed, givers, takers, arc.initial, whole)
    source = graph.actors[arc.source]
    ticks = np.array(source.ticks, dtype=np.int64)
    if unit_ticks:
        length = np.ones(len(tail), dtype=np.int64)
    else:
        length = ticks[tail % len(ticks)] * arc.at_end
    return _Edges(tail, head, length, -steps, source.rounds * sum(arc.given), number)


def _last_givers(
    before: IntArray, needed: IntArray, givers: IntArray, takers: IntArray, initial: int, whole: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return (giver, taker, steps): each taker with those whose tokens can be the last one that it takes.

    The last token of a taker is number ``last`` of those written, up to multiples of ``whole``; a giver that holds the
    lowest number u of them in a round gives ``last - u`` steps.
    """
    last = needed[takers + 1] - 1 - initial
    if len(givers) <= before[-1] // whole:
        lowest = before[givers][None, :] + (last[:, None] - before[givers][None, :]) % whole
        t, g = np.nonzero(lowest < before[givers + 1][None, :])
        return givers[g], takers[t], last[t] - lowest[t, g]
    numbers = (last % whole)[:, None] + whole * np.arange(before[-1] // whole)[None, :]
    giver = np.searchsorted(before, numbers, side="right") - 1
    # Of several numbers of one giver the lowest gives the most steps: it is the first of its row.
    new = np.concatenate((np.ones((len(takers), 1), dtype=bool), giver[:, 1:] != giver[:, :-1]), axis=1)
    t, n = np.nonzero(new)
    return giver[t, n], takers[t], last[t] - numbers[t, n]


def _first_takers(
    before: IntArray, needed: IntArray, givers: IntArray, takers: IntArray, initial: int, whole: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return (giver, taker, steps): each giver with those who can be the first to take of its tokens.

    As ``_last_givers`` seen from the other end: of the numbers that a taker holds the highest gives the most steps.
    """
    foremost = before[givers] + initial
    if len(takers) <= needed[-1] // whole:
        ends = needed[takers + 1] - 1
        highest = ends[None, :] - (ends[None, :] - foremost[:, None]) % whole
        g, t = np.nonzero(highest >= needed[takers][None, :])
        return givers[g], takers[t], highest[g, t] - foremost[g]
    numbers = (foremost % whole)[:, None] + whole * np.arange(needed[-1] // whole)[None, :]
    taker = np.searchsorted(needed, numbers, side="right") - 1
    new = np.concatenate((taker[:, 1:] != taker[:, :-1], np.ones((len(givers), 1), dtype=bool)), axis=1)
    g, n = np.nonzero(new)
    return givers[g], taker[g, n], numbers[g, n] - foremost[g]


def _too_large(count: int) -> OptionError:
    return OptionError(
        f"the throughput of this graph needs a schedule of more than {count:,} constraints",
        expected=f"at most {MOST_EDGES:,}: check the rates, whose least common multiple this is",
    )
