"""Whether the firings of a trace that was read can have happened at all: no buffer gives more tokens than it got."""

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.model.trace import FiringIds, Topology, Trace

MOST_MOVED = 1 << 62
"""Tokens that all firings move through one buffer, at most: they are counted in 64 bits."""
_PIECE = 1 << 20
"""Firings that are counted at once, which bounds the memory of it."""


def check_token_counts(trace: Trace, path: str) -> None:
    """Raise ``FormatError`` with all buffers from which a trace reads more tokens than are ever written to them."""
    topology = trace.topology
    counts = [
        _count(ids, len(actor.actions)).tolist() for ids, actor in zip(trace.firings, topology.actors, strict=True)
    ]
    wrong = [found for index in range(len(topology.buffers)) if (found := _wrong(topology, counts, index))]
    if wrong:
        more = f", and so for {len(wrong) - 1} more buffers" if len(wrong) > 1 else ""
        raise FormatError(
            f"{wrong[0]}{more}", span=file_span(path, 0), expected="no run does that: record or import the trace again"
        )


def _count(ids: FiringIds, n_actions: int) -> NDArray[np.int64]:
    """Return the firings of each action."""
    counts = np.zeros(n_actions, dtype=np.int64)
    for start in range(0, len(ids), _PIECE):
        counts += np.bincount(ids[start : start + _PIECE], minlength=n_actions)
    return counts


def _wrong(topology: Topology, counts: list[list[int]], index: int) -> str:
    """Return what cannot be about the tokens of one buffer, "" where nothing is wrong."""
    buffer = topology.buffers[index]
    writes = [action.writes[buffer.source_port] for action in topology.actors[buffer.source].actions]
    reads = [action.reads[buffer.target_port] for action in topology.actors[buffer.target].actions]
    written = buffer.initial_tokens + sum(n * rate for n, rate in zip(counts[buffer.source], writes, strict=True))
    read = sum(n * rate for n, rate in zip(counts[buffer.target], reads, strict=True))
    if read > written:
        return f"the trace reads {read} tokens from {topology.buffer_name(index)}, but only {written} are ever there"
    if written > MOST_MOVED:
        name = topology.buffer_name(index)
        return f"the trace writes {written:.3g} tokens to {name}, more than the {MOST_MOVED:.3g} that can be counted"
    return ""
