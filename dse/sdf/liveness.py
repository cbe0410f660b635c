"""Whether a graph comes to the end of an iteration at all, with FIFOs of any size; if not, who waits for whom.

All orders of firing end in one state, so one order is tried: every actor fires as often as its inputs let it, at once.
An actor needs as many such steps as it is held up, which in a cycle of few tokens may be every firing. After
``MOST_UPDATES`` nothing is said: the estimation sees a deadlock too, and says less of it.
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from itertools import accumulate

from dse.base.errors import DeadlockError
from dse.base.source import file_span
from dse.model.dataflow_graph import DataflowChannel, DataflowGraph
from dse.sdf.balance import tokens_text

MOST_UPDATES = 500_000
"""Channels that are looked at, at most: about a second."""


def require_live(graph: DataflowGraph, firings: tuple[int, ...]) -> None:
    """Do nothing where one iteration of ``firings`` (of each actor) can be made, or ``MOST_UPDATES`` are not enough.

    Raises:
        DeadlockError: it names the actors of a cycle that wait for each other, and what the first one lacks.
    """
    inputs: list[list[_Input]] = [[] for _ in graph.actors]
    goal = list(firings)
    for channel in graph.channels:
        if channel.source == channel.target:
            goal[channel.source] = min(goal[channel.source], _alone(graph, channel, firings[channel.source]))
        elif sum(graph.read(channel)):
            inputs[channel.target].append(_input(graph, channel))
    done = _played(inputs, goal)
    if done is not None and done != list(firings):
        raise _deadlock(graph, inputs, done, firings)


@dataclass(frozen=True, slots=True)
class _Input:
    """A channel with the sums of what its phases write and read: entry k holds the first k phases."""

    channel: DataflowChannel
    written: list[int]
    read: list[int]

    def there(self, of_source: int) -> int:
        """Return the tokens that have ever been in the channel after so many firings of its source."""
        rounds, phases = divmod(of_source, len(self.written) - 1)
        return self.channel.initial_tokens + rounds * self.written[-1] + self.written[phases]

    def allows(self, of_source: int) -> int:
        """Return how often the target can have fired then; it reads from the channel at all."""
        rounds, rest = divmod(self.there(of_source), self.read[-1])
        return rounds * (len(self.read) - 1) + bisect_right(self.read, rest) - 1

    def lacking(self, of_source: int, of_target: int) -> tuple[int, int]:
        """Return the tokens that the next firing of the target needs, and how many it finds."""
        rounds, phases = divmod(of_target, len(self.read) - 1)
        before = rounds * self.read[-1] + self.read[phases]
        return self.read[phases + 1] - self.read[phases], self.there(of_source) - before


def _input(graph: DataflowGraph, channel: DataflowChannel) -> _Input:
    written, read = (list(accumulate(rates, initial=0)) for rates in (graph.written(channel), graph.read(channel)))
    return _Input(channel, written, read)


def _alone(graph: DataflowGraph, channel: DataflowChannel, firings: int) -> int:
    """Return how often an actor can fire as far as a channel to itself is concerned, ``firings`` if that is enough."""
    loop = _input(graph, channel)
    for phase in range(min(firings, len(loop.read) - 1)):
        if loop.there(phase) < loop.read[phase + 1]:
            return phase
    return firings


def _played(inputs: list[list[_Input]], goal: list[int]) -> list[int] | None:
    """Return the firings of each actor when no more is possible; None after too many updates."""
    limits = [[found.allows(0) for found in at] for at in inputs]
    outputs = _by_source(inputs)
    done, updates = [0] * len(goal), 0
    waiting, listed = deque(range(len(goal))), [True] * len(goal)
    while waiting:
        actor = waiting.popleft()
        listed[actor] = False
        reached = min(goal[actor], min(limits[actor], default=goal[actor]))
        if reached <= done[actor]:
            continue
        done[actor] = reached
        updates += len(outputs[actor])
        if updates > MOST_UPDATES:
            return None
        for reader, place, found in outputs[actor]:
            limits[reader][place] = found.allows(reached)
            if not listed[reader]:
                listed[reader] = True
                waiting.append(reader)
    return done


def _by_source(inputs: list[list[_Input]]) -> list[list[tuple[int, int, _Input]]]:
    """Return the channels that each actor writes to, with their reader and place among its inputs."""
    found: list[list[tuple[int, int, _Input]]] = [[] for _ in inputs]
    for reader, at in enumerate(inputs):
        for place, channel in enumerate(at):
            found[channel.channel.source].append((reader, place, channel))
    return found


def _deadlock(
    graph: DataflowGraph, inputs: list[list[_Input]], done: list[int], firings: tuple[int, ...]
) -> DeadlockError:
    """Return the error that names a cycle of actors that wait for each other."""
    lacks: dict[int, _Input] = {}
    actor = next(a for a, n in enumerate(firings) if done[a] < n)
    while actor not in lacks:
        lacks[actor] = _lack(graph, inputs[actor], done, actor)
        actor = lacks[actor].channel.source
    cycle = [*lacks][[*lacks].index(actor) :]
    first = lacks[cycle[0]]
    need, have = first.lacking(done[first.channel.source], done[cycle[0]])
    names = ", ".join(f"'{graph.actors[a].name}'" for a in cycle)
    who = f"{names} wait for each other" if len(cycle) > 1 else f"{names} waits for itself"
    reader = graph.actors[cycle[0]]
    phase = "" if reader.n_phases == 1 else f" for its phase {done[cycle[0]] % reader.n_phases + 1}"
    span = first.channel.span
    return DeadlockError(
        f"the graph deadlocks: {who}; '{reader.name}' needs {tokens_text(need)} of channel"
        f" '{first.channel.name}'{phase} and finds {have}",
        span=span if span.line else file_span(graph.path, 0),
        expected=f"a cycle starts with initial tokens: here at least {first.channel.initial_tokens + need - have}",
    )


def _lack(graph: DataflowGraph, inputs: list[_Input], done: list[int], actor: int) -> _Input:
    """Return the first channel that keeps an actor from firing."""
    for found in inputs:
        if found.allows(done[found.channel.source]) <= done[actor]:
            return found
    loops = (c for c in graph.channels if c.source == c.target == actor)
    return next(loop for c in loops if (loop := _input(graph, c)).there(done[actor]) < loop.read[done[actor] + 1])
