"""Repetition vectors: how often each actor fires in an iteration, after which every channel is as it was before.

Lee and Messerschmitt, "Static Scheduling of Synchronous Data Flow Programs for Digital Signal Processing", IEEE
Transactions on Computers C-36(1), 1987; for phases Bilsen et al. 1996. Parts of a graph that no channel connects have
their least repetitions each.
"""

import math
from collections import deque
from fractions import Fraction

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.model.dataflow_graph import DataflowChannel, DataflowGraph

MOST_FIRINGS = 1 << 27
"""Firings of a trace that is made from a graph, at most; each takes a byte or two."""


def repetition_vector(graph: DataflowGraph) -> tuple[int, ...]:
    """Return the firings of each actor in one iteration: its rounds times its phases; shape (n_actors,).

    Raises:
        FormatError: no number of firings balances a channel; it names the channel and its actors. Or an iteration has
            more than ``MOST_FIRINGS`` firings.
    """
    rounds = _rounds(graph)
    firings = tuple(r * actor.n_phases for r, actor in zip(rounds, graph.actors, strict=True))
    if sum(firings) > MOST_FIRINGS:
        most = max(range(len(firings)), key=firings.__getitem__)
        raise FormatError(
            f"one iteration of the graph has {sum(firings):,} firings, {firings[most]:,} of them of actor"
            f" '{graph.actors[most].name}'",
            span=graph.actors[most].span,
            expected=f"at most {MOST_FIRINGS:,} firings: check the rates, whose least common multiple this is",
        )
    return firings


def _rounds(graph: DataflowGraph) -> list[int]:
    """Return how often each actor goes through its phases in an iteration."""
    at: list[list[DataflowChannel]] = [[] for _ in graph.actors]
    for channel in graph.channels:
        at[channel.source].append(channel)
        at[channel.target].append(channel)
    found: list[Fraction] = [Fraction(0)] * len(graph.actors)
    for first in range(len(graph.actors)):
        if not found[first]:
            part = _spread(graph, at, first, found)
            scale = _least_whole([found[a] for a in part])
            for a in part:
                found[a] *= scale
    return [int(rounds) for rounds in found]


def _least_whole(values: list[Fraction]) -> Fraction:
    """Return the factor that makes the least whole numbers of values above 0."""
    whole = math.lcm(*(value.denominator for value in values))
    return Fraction(whole, math.gcd(*(int(value * whole) for value in values)))


def _spread(graph: DataflowGraph, at: list[list[DataflowChannel]], first: int, found: list[Fraction]) -> list[int]:
    """Find the rounds of all actors that hang together with the first, which has 1; return these actors."""
    found[first] = Fraction(1)
    part, waiting = [first], deque([first])
    while waiting:
        known = waiting.popleft()
        for channel in at[known]:
            ratio = _ratio(graph, channel)
            if ratio is None:
                continue
            forward = channel.source == known
            other = channel.target if forward else channel.source
            rounds = found[known] * ratio if forward else found[known] / ratio
            if not found[other]:
                found[other] = rounds
                part.append(other)
                waiting.append(other)
            elif found[other] != rounds:
                raise _unbalanced(graph, channel, found[channel.source] / found[channel.target])
    return part


def _ratio(graph: DataflowGraph, channel: DataflowChannel) -> Fraction | None:
    """Return the rounds of the target for one of the source; None where no tokens move. Raises ``FormatError``."""
    written, read = sum(graph.written(channel)), sum(graph.read(channel))
    if not written and not read:
        return None
    if not written or not read:
        raise _unbalanced(graph, channel, None)
    return Fraction(written, read)


def _unbalanced(graph: DataflowGraph, channel: DataflowChannel, ratio: Fraction | None) -> FormatError:
    """Return the error for a channel; ``ratio``: rounds of its source for a round of its target, as others ask."""
    source, target = graph.ends(channel)
    written, read = sum(graph.written(channel)), sum(graph.read(channel))
    rates = f"'{source.name}' writes {tokens_text(written)} {_each(source.n_phases)}, '{target.name}' reads"
    rates += f" {tokens_text(read)} {_each(target.n_phases)}"
    if ratio is None:
        why, expected = "", "a channel that one side uses is used by the other too"
    elif source is target:
        why, expected = "", "an actor takes from itself as much as it gives itself"
    else:
        n, m = ratio.numerator, ratio.denominator
        why = f"; the other channels make {_times(n)} of '{source.name}' go with {_times(m)} of '{target.name}'"
        expected = f"{n} x {written} written tokens have to equal {m} x {read} read ones: correct a rate"
    return FormatError(
        f"the rates of channel '{channel.name}' do not balance: {rates}{why}",
        span=channel.span if channel.span.line else file_span(graph.path, 0),
        expected=expected,
    )


def _each(n_phases: int) -> str:
    return "a firing" if n_phases == 1 else f"in its {n_phases} phases"


def tokens_text(count: int) -> str:
    """Return a number of tokens in words."""
    return "1 token" if count == 1 else f"{count} tokens"


def _times(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"
