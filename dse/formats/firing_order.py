"""A global order of the firings of a trace, which the columnar store does not keep: rebuilt by counting tokens.

Every order that respects the FIFOs is as good as the one recorded. Actors take turns in declared order, each firing at
most ``BURST`` times while its input tokens last, so that no buffer fills without bound because its reader waits.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.model.trace import Trace

BURST = 512


_End: TypeAlias = tuple[int, NDArray[np.int64]]
"""A buffer at an actor, with the tokens that each action moves there."""


def firing_order(trace: Trace) -> Iterator[tuple[int, int, int]]:
    """Yield (actor, first, last + 1): runs of firings of one actor, in an order in which every token is there.

    Raises:
        FormatError: no order exists, because some firing reads tokens that are never written.
    """
    topology = trace.topology
    inputs = _ends(trace, reading=True)
    outputs = _ends(trace, reading=False)
    tokens = [buffer.initial_tokens for buffer in topology.buffers]
    done = [0] * len(topology.actors)
    totals = [len(ids) for ids in trace.firings]
    moved = True
    while moved:
        moved = False
        for actor in range(len(totals)):
            ids = np.asarray(trace.firings[actor][done[actor] : done[actor] + BURST])
            ids = ids[: _possible(ids, inputs[actor], tokens)]
            if len(ids):
                _move(ids, inputs[actor], outputs[actor], tokens)
                yield actor, done[actor], done[actor] + len(ids)
                done[actor] += len(ids)
                moved = True
    stuck = [topology.actors[a].name for a, total in enumerate(totals) if done[a] < total]
    if stuck:
        message = f"the firings of {', '.join(stuck[:5])} read tokens that no firing writes"
        raise FormatError(message, expected="record or import the trace again")


def _possible(ids: NDArray[Any], inputs: list[_End], tokens: list[int]) -> int:
    """Return how many of some firings have all their tokens, one after the other."""
    n = len(ids)
    for buffer, rates in inputs:
        needed = np.cumsum(rates[ids[:n]])
        n = int(np.searchsorted(needed, tokens[buffer], side="right"))
    return n


def _move(ids: NDArray[Any], inputs: list[_End], outputs: list[_End], tokens: list[int]) -> None:
    """Take the tokens of some firings from their buffers and put those that they write."""
    for buffer, rates in inputs:
        tokens[buffer] -= int(rates[ids].sum())
    for buffer, rates in outputs:
        tokens[buffer] += int(rates[ids].sum())


def _ends(trace: Trace, *, reading: bool) -> list[list[_End]]:
    """Return for each actor its (buffer, tokens of each action) at one end."""
    found: list[list[_End]] = [[] for _ in trace.topology.actors]
    for index, buffer in enumerate(trace.topology.buffers):
        actor = buffer.target if reading else buffer.source
        actions = trace.topology.actors[actor].actions
        if reading:
            rates = [action.reads[buffer.target_port] for action in actions]
        else:
            rates = [action.writes[buffer.source_port] for action in actions]
        found[actor].append((index, np.array(rates, dtype=np.int64)))
    return found
