"""Dependencies of a trace: derived from token counts, the order of firings and recorded accesses.

The definitions are TURNUS's. For a firing t of an actor, from firings of the same actor except for tokens:

* tokens: from each firing that wrote a token that t reads, by FIFO order;
* fsm: from the previous firing (initialisers apart), if the actor has an FSM;
* port read, port write: from the previous firing that reads (writes) a port that t reads (writes);
* variable X-Y: from the last firing that X-ed a state variable (an array is one variable) that t Y-s in its body;
* guard enable: from the last firing that wrote a variable read by a guard that was evaluated, true or false, before t;
* guard disable: from the last firing before which a guard read a variable that t writes.

Variables and guards need a trace with recorded accesses (``dse trace --accesses``).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.model.dependencies import DEPENDENCY_KINDS, Dependencies, DependencyKind
from dse.model.trace import AccessTable, Trace, TraceActor

_Ints = NDArray[np.int64]
_CODE = {kind: code for code, kind in enumerate(DEPENDENCY_KINDS)}


@dataclass(frozen=True, slots=True)
class _Block:
    """Dependencies of one kind and label; ``count`` None: one each."""

    kind: DependencyKind
    label: int
    source: _Ints
    target: _Ints
    count: _Ints | None = None

    @property
    def counts(self) -> _Ints:
        """How many tokens each dependency is."""
        return np.ones(len(self.source), dtype=np.int64) if self.count is None else self.count


def derive_dependencies(trace: Trace, kinds: tuple[DependencyKind, ...] = DEPENDENCY_KINDS) -> Dependencies:
    """Return the dependencies of a trace, of some kinds only if asked for; about 30 bytes a dependency.

    Raises:
        FormatError: the trace reads tokens that were never written.
    """
    first = np.cumsum([0, *map(len, trace.firings)], dtype=np.int64)
    names = _names(trace)
    index = dict(zip(names, range(len(names)), strict=True))
    blocks = [b for b in _all_blocks(trace, first, index) if b.kind in kinds and len(b.source)]
    blocks.sort(key=lambda b: (_CODE[b.kind], b.label))
    sizes = [len(b.source) for b in blocks]
    source = _joined([b.source for b in blocks])
    target = _joined([b.target for b in blocks])
    kind = np.repeat(np.array([_CODE[b.kind] for b in blocks], dtype=np.uint8), sizes)
    label = np.repeat(np.array([b.label for b in blocks], dtype=np.int32), sizes)
    count = _joined([b.counts for b in blocks])
    # Inside a block targets and, for one target, sources ascend: sorting by target alone, stably, merges the blocks.
    order = np.argsort(target, kind="stable")
    return Dependencies(
        first_firing=first,
        source=source[order],
        target=target[order],
        kind=kind[order],
        label=label[order],
        count=count[order],
        names=names,
    )


def _joined(parts: list[_Ints]) -> _Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _names(trace: Trace) -> tuple[str, ...]:
    """Return all port and variable names, sorted."""
    ports = {name for actor in trace.topology.actors for name in (*actor.inputs, *actor.outputs)}
    signatures = (signature for table in trace.accesses for signature in table.signatures)
    variables = {name for signature in signatures for names in signature for name in names}
    return tuple(sorted(ports | variables))


def _all_blocks(trace: Trace, first: _Ints, index: dict[str, int]) -> Iterator[_Block]:
    for buffer in range(len(trace.topology.buffers)):
        yield _tokens(trace, buffer, first)
    for a, actor in enumerate(trace.topology.actors):
        ids = np.asarray(trace.firings[a])
        if not len(ids):
            continue
        for block in _actor_blocks(actor, ids, trace.accesses[a] if trace.accesses else None, index):
            yield _Block(block.kind, block.label, block.source + first[a], block.target + first[a])


def _actor_blocks(
    actor: TraceActor, ids: NDArray[np.generic], table: AccessTable | None, index: dict[str, int]
) -> Iterator[_Block]:
    """Yield the dependencies inside one actor, firings numbered from 0."""
    if actor.fsm:
        scheduled = np.array([not action.initializer for action in actor.actions], dtype=bool)[ids]
        yield _consecutive("fsm", -1, scheduled)
    for p, port in enumerate(actor.inputs):
        reads = np.array([action.reads[p] > 0 for action in actor.actions], dtype=bool)[ids]
        yield _consecutive("port read", index[port], reads)
    for p, port in enumerate(actor.outputs):
        writes = np.array([action.writes[p] > 0 for action in actor.actions], dtype=bool)[ids]
        yield _consecutive("port write", index[port], writes)
    if table is not None and table.signatures:
        yield from _variable_blocks(table, index)


def _variable_blocks(table: AccessTable, index: dict[str, int]) -> Iterator[_Block]:
    """Yield the dependencies over the state variables of one actor."""
    variables = sorted({name for signature in table.signatures for names in signature for name in names})
    for variable in variables:
        guards, reads, writes = (
            np.array([variable in signature[k] for signature in table.signatures], dtype=bool)[table.ids]
            for k in range(3)
        )
        label = index[variable]
        last_guard, last_read, last_write = (_last_before(mask) for mask in (guards, reads, writes))
        yield _from_last("variable read-read", label, last_read, reads)
        yield _from_last("variable write-read", label, last_write, reads)
        yield _from_last("variable read-write", label, last_read, writes)
        yield _from_last("variable write-write", label, last_write, writes)
        yield _from_last("guard enable", label, last_write, guards)
        yield _from_last("guard disable", label, last_guard, writes)


def _consecutive(kind: DependencyKind, label: int, mask: NDArray[np.bool_]) -> _Block:
    """Return the dependencies of each firing in ``mask`` on the previous one in it."""
    at = np.flatnonzero(mask).astype(np.int64)
    return _Block(kind, label, at[:-1], at[1:])


def _last_before(mask: NDArray[np.bool_]) -> _Ints:
    """Return for each firing the last earlier one in ``mask``, -1 where there is none."""
    last = np.full(len(mask), -1, dtype=np.int64)
    if len(mask) > 1:
        positions = np.where(mask, np.arange(len(mask), dtype=np.int64), -1)
        last[1:] = np.maximum.accumulate(positions)[:-1]
    return last


def _from_last(kind: DependencyKind, label: int, last: _Ints, targets: NDArray[np.bool_]) -> _Block:
    at = np.flatnonzero(targets & (last >= 0)).astype(np.int64)
    return _Block(kind, label, last[at], at)


def _tokens(trace: Trace, index: int, first: _Ints) -> _Block:
    """Return which firing reads how many tokens of which, by the order of the FIFO.

    Token n of a buffer lies between the cumulated counts of its writer and of its reader. The union of both boundaries
    cuts the tokens into runs with one writer and one reader.
    """
    topology = trace.topology
    buffer = topology.buffers[index]
    rates = [action.writes[buffer.source_port] for action in topology.actors[buffer.source].actions]
    written = np.array(rates, dtype=np.int64)[np.asarray(trace.firings[buffer.source])]
    rates = [action.reads[buffer.target_port] for action in topology.actors[buffer.target].actions]
    read = np.array(rates, dtype=np.int64)[np.asarray(trace.firings[buffer.target])]
    write_ends = np.cumsum(written) + buffer.initial_tokens
    read_ends = np.cumsum(read)
    n_written = int(write_ends[-1]) if len(write_ends) else buffer.initial_tokens
    n_read = int(read_ends[-1]) if len(read_ends) else 0
    if n_read > n_written:
        name = topology.buffer_name(index)
        message = f"the trace reads {n_read} tokens from {name}, but only {n_written} are ever there"
        raise FormatError(message, expected="record or import the trace again")
    cuts = np.concatenate([write_ends, read_ends, [buffer.initial_tokens, n_read]])
    cuts.sort(kind="stable")  # merges the two ascending runs; np.unique is 20 times slower here
    cuts = cuts[np.concatenate([[True], cuts[1:] != cuts[:-1]])]
    cuts = cuts[(cuts >= buffer.initial_tokens) & (cuts <= n_read)]
    starts = cuts[:-1]
    return _Block(
        "tokens",
        index,
        np.searchsorted(write_ends, starts, side="right") + first[buffer.source],
        np.searchsorted(read_ends, starts, side="right") + first[buffer.target],
        np.diff(cuts),
    )
