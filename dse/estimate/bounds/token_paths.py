"""The longest path through a trace: firings of one actor in a row, tokens from the firing that makes them, and room.

A buffer is a queue, so that the firing that makes the last token a firing needs follows from counting. So does, where
capacities are given, the firing of the reader that has to have taken its tokens before a firing of the writer begins:
a cycle of buffers with little room is often what keeps a run from being quicker. Both are *waits*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.base.apart import apart
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable

UNTOLD = -(2**60)
"""Ticks until something whose time is not known, from below: nobody waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTimes:
    """Least times of one firing of an actor with n actions, from its start; index ``q * n + x`` for action x after q,
    ``n * n + x`` for x as the first firing."""

    firing: IntArray
    """shape (n * n + n,): to the end of the firing"""
    visible: dict[int, IntArray]
    """For each output buffer, same shape: to its tokens being visible."""
    released: IntArray
    """Same shape: to the tokens of its inputs having left; ``UNTOLD`` where that is not known."""

    @classmethod
    def zero(cls, n_actions: int, outputs: list[int]) -> "PathTimes":
        """Return times of 0 for all actions, and no room that anybody waits for."""
        size = n_actions * n_actions + n_actions
        return cls(
            firing=np.zeros(size, dtype=np.int64),
            visible={b: np.zeros(size, dtype=np.int64) for b in outputs},
            released=np.full(size, UNTOLD, dtype=np.int64),
        )

    @classmethod
    def least(cls, options: list["PathTimes"]) -> "PathTimes":
        """Return the least of several times."""
        return cls(
            firing=np.minimum.reduce([option.firing for option in options]),
            visible={b: np.minimum.reduce([option.visible[b] for option in options]) for b in options[0].visible},
            released=np.minimum.reduce([option.released for option in options]),
        )

    def set(
        self, mine: IntArray, scheduling: IntArray, ticks: int, visible: dict[int, int], released: int | None = None
    ) -> None:
        """Set the times of the action at the indices ``mine``; an output it does not write to keeps 0."""
        self.firing[mine] = scheduling + ticks
        for buffer, until in visible.items():
            self.visible[buffer][mine] = scheduling + until
        if released is not None:
            self.released[mine] = scheduling + released

    def set_block(self, mine: IntArray, share: int) -> None:
        """Set the times of an action that fires in blocks: no firing of a block takes part with more than its share.

        If a block of k firings shows its first tokens after e ticks, share <= e / k: then the j-th firing, j shares
        after the start of the block, is never later than the tokens and the end that the whole block has. The tokens
        that it takes leave all at once, which may be before the j-th firing: nobody waits for that.
        """
        self.firing[mine] = share
        for times in self.visible.values():
            times[mine] = share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaidOut:
    """Times of all actors, one behind the other: ``firing`` by actor and pair index, ``delay`` by wait and pair index
    of the actor that is waited for."""

    firing: IntArray
    delay: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathCounts:
    """A path: ``whole``, firings to their end, and ``ways``, others up to a wait; laid out as ``LaidOut`` is."""

    whole: IntArray
    ways: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows:
    """When each firing that can be made may begin, and how long the run takes from then on, in ticks; all at least.

    Firings are numbered through all actors, ``base[a]`` is the first of actor a. ``made``: whether it can be made.
    """

    base: IntArray
    start: IntArray
    ticks: IntArray
    """Of the firing itself."""
    left: IntArray
    """From the start of the firing to the end of the run."""
    made: NDArray[np.bool_]

    @property
    def longest(self) -> int:
        """The length of the longest path."""
        return int((self.start + self.ticks)[self.made].max(initial=0))

    @property
    def after(self) -> IntArray:
        """The ticks from the end of each firing to the end of the run."""
        return self.left - self.ticks

    def first(self, actor: int) -> int:
        """Return when the first firing of an actor can begin; 0 if it cannot."""
        at = int(self.base[actor])
        return int(self.start[at]) if at < self.base[actor + 1] and self.made[at] else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wait:
    """That firing i of ``actor`` waits for firing ``whom[i]`` of ``other`` (-1: none), because of a buffer."""

    buffer: int
    room: bool
    actor: int
    other: int
    whom: NDArray[np.int32]

    def delay(self, times: Sequence[PathTimes]) -> IntArray:
        """Return how long after the start of the other firing it lasts, by its pair index."""
        return times[self.other].released if self.room else times[self.other].visible[self.buffer]


@dataclass(frozen=True, slots=True)
class _Flat:
    """The arrays of ``dse.estimate.compiled.waits_kernel``, times included."""

    base: IntArray
    pair: NDArray[np.int32]
    waits: tuple[IntArray, IntArray, IntArray, NDArray[np.int32]]
    times: tuple[IntArray, IntArray, IntArray, IntArray] = field(repr=False)


class TokenPaths:
    """What the firings of a trace wait for; paths may be asked for again and again with other times.

    ``capacities``: of each buffer in tokens, to wait for room too; without them there is always room.
    """

    def __init__(self, tables: ProblemTables, capacities: Sequence[int] | None = None) -> None:
        self._tables = tables
        self._firings = tables.problem.trace.firings
        waits: list[_Wait] = []
        for b, buffer in enumerate(tables.topology.buffers):
            if buffer.source != buffer.target:  # an actor's own firings are in a row anyway
                waits += self._waits(b, None if capacities is None else capacities[b])
        self._waits_of = sorted(waits, key=lambda wait: wait.actor)
        sizes = [len(firings) for firings in self._firings]
        self._base = np.cumsum([0, *sizes], dtype=np.int64)
        pairs = [self._pair_indices(a) for a in range(len(sizes))]
        self._pair = np.concatenate([*pairs, np.zeros(0, dtype=np.int32)])
        counts = np.bincount([wait.actor for wait in waits], minlength=len(sizes)) if waits else [0] * len(sizes)
        whom = [wait.whom for wait in self._waits_of]
        self._flat_waits = (
            np.cumsum([0, *counts], dtype=np.int64),
            np.array([wait.other for wait in self._waits_of], dtype=np.int64),
            _offsets(list(map(len, whom))),
            np.concatenate([*whom, np.zeros(0, dtype=np.int32)]),
        )

    def _waits(self, index: int, capacity: int | None) -> list[_Wait]:
        buffer = self._tables.topology.buffers[index]
        made = self._tokens(self._tables.writes, index, buffer.source).cumsum() + buffer.initial_tokens
        wanted = self._tokens(self._tables.reads, index, buffer.target).cumsum()
        makers = np.where(wanted <= buffer.initial_tokens, -1, np.searchsorted(made, wanted, side="left"))
        of_tokens = _Wait(
            buffer=index, room=False, actor=buffer.target, other=buffer.source, whom=makers.astype(np.int32)
        )
        if capacity is None:
            return [of_tokens]
        gone = made - capacity  # so many have to have left before each firing of the source
        takers = np.where(gone <= 0, -1, np.searchsorted(wanted, gone, side="left"))
        of_room = _Wait(buffer=index, room=True, actor=buffer.source, other=buffer.target, whom=takers.astype(np.int32))
        return [of_tokens, of_room]

    def _tokens(self, table: TransferTable, buffer: int, actor: int) -> IntArray:
        """Return the tokens that each firing of an actor puts to or takes from a buffer."""
        base = int(self._tables.action_base[actor])
        rates = np.zeros(self._tables.action_count(actor), dtype=np.int64)
        for x in range(len(rates)):
            for e in range(int(table.first[base + x]), int(table.first[base + x + 1])):
                if table.buffer[e] == buffer:
                    rates[x] = table.tokens[e]
        return np.asarray(rates[self._firings[actor]])

    def _pair_indices(self, actor: int) -> NDArray[np.int32]:
        """Return the index into ``PathTimes`` of each firing."""
        n = self._tables.action_count(actor)
        actions = self._firings[actor].astype(np.int32)
        pairs = actions.copy()
        pairs[1:] += actions[:-1] * n
        pairs[:1] += n * n
        return pairs

    def longest(self, times: list[PathTimes]) -> int:
        """Return the length of the longest path; firings that can never be made are left out."""
        return self.windows(times).longest

    def windows(self, times: list[PathTimes]) -> Windows:
        """Return when each firing can begin, and what comes after it."""
        flat_times = self.laid_out(times)
        flat = self._flat(flat_times)
        start, order = self._earliest(flat)
        left = np.zeros(len(start), dtype=np.int64)
        made = np.zeros(len(start), dtype=bool)
        for a, count in enumerate(np.bincount(order, minlength=len(times))):
            made[self._base[a] : self._base[a] + count] = True

        def compute() -> None:
            from dse.estimate.compiled.waits_kernel import remaining  # late: numba takes half a second

            remaining(flat.base, flat.pair, flat.waits, flat.times, order, left)

        apart(compute)
        return Windows(base=self._base, start=start, ticks=self.ticks(flat_times), left=left, made=made)

    def after_last(self, windows: Windows, *, sequential: bool) -> list[int]:
        """Return for each actor how long the run goes on at least when its last firing has ended.

        A firing ends with its last transfer. One behind the other that is the one of the last buffer it writes to;
        else it may be any of them. The windows have to hold for the mapping, the end of the firing need not be theirs.
        """
        found: list[int] = []
        for a, firings in enumerate(self._firings):
            outputs = [b for b, buffer in enumerate(self._tables.topology.buffers) if buffer.source == a]
            written = [b for b in outputs if len(firings) and self._tokens(self._tables.writes, b, a)[-1] > 0]
            waiting = [self._left_behind(windows, b, len(firings) - 1) for b in written]
            found.append((waiting[-1] if sequential else min(waiting)) if waiting else 0)
        return found

    def _left_behind(self, windows: Windows, buffer: int, position: int) -> int:
        """Return what is left from the first firing that waits for tokens of this firing of a source; 0: none does."""
        for wait in self._waits_of:
            if wait.buffer == buffer and not wait.room:
                i = int(np.searchsorted(wait.whom, position))
                if i < len(wait.whom) and wait.whom[i] == position:
                    return int(windows.left[self._base[wait.actor] + i])
        return 0

    def ticks(self, times: LaidOut) -> IntArray:
        """Return the ticks of each firing, numbered through all actors."""
        flat = self._flat(times)
        return np.asarray(flat.times[1][np.repeat(flat.times[0], np.diff(self._base)) + flat.pair])

    def path(self, times: LaidOut) -> PathCounts:
        """Return a longest path."""
        from dse.estimate.compiled.waits_kernel import count_back  # late: numba takes half a second

        flat = self._flat(times)
        start, order = self._earliest(flat)
        whole, ways = np.zeros_like(times.firing), np.zeros_like(times.delay)
        ends = []
        for a, count in enumerate(np.bincount(order, minlength=len(self._firings)).tolist()):
            if count:
                f = int(self._base[a]) + count - 1
                ends.append((int(start[f] + times.firing[flat.times[0][a] + self._pair[f]]), a, f))
        if ends:
            _, a, f = max(ends, key=lambda end: (end[0], -end[1]))
            count_back(flat.base, flat.pair, flat.waits, flat.times, start, a, f, whole, ways)
        return PathCounts(whole=whole, ways=ways)

    def laid_out(self, times: Sequence[PathTimes]) -> LaidOut:
        """Return times of all actors, one behind the other."""
        none = np.zeros(0, dtype=np.int64)
        return LaidOut(
            firing=np.concatenate([*(of_actor.firing for of_actor in times), none]),
            delay=np.concatenate([*(wait.delay(times) for wait in self._waits_of), none]),
        )

    @property
    def actors(self) -> LaidOut:
        """Return for each entry of what is laid out whose time it is."""
        sizes = self._sizes()
        others = np.array([wait.other for wait in self._waits_of], dtype=np.int64)
        return LaidOut(firing=np.repeat(np.arange(len(sizes)), sizes), delay=np.repeat(others, sizes[others]))

    @property
    def actions(self) -> LaidOut:
        """Return for each entry of what is laid out which action fires there."""
        bases, counts = self._tables.action_base[:-1], np.diff(self._tables.action_base)
        of_actor = [base + np.arange(n * n + n) % max(1, n) for base, n in zip(bases, counts, strict=True)]
        none = np.zeros(0, dtype=np.int64)
        others = [of_actor[wait.other] for wait in self._waits_of]
        return LaidOut(firing=np.concatenate([*of_actor, none]), delay=np.concatenate([*others, none]))

    @property
    def written(self) -> IntArray:
        """Return for each entry of a delay the buffer whose tokens are waited for, -1: room is."""
        sizes = self._sizes()
        buffers = np.array([-1 if wait.room else wait.buffer for wait in self._waits_of], dtype=np.int64)
        return np.repeat(buffers, sizes[[wait.other for wait in self._waits_of]])

    def _sizes(self) -> IntArray:
        """Return how many pair indices each actor has."""
        counts = np.diff(self._tables.action_base)
        return np.asarray(counts * counts + counts, dtype=np.int64)

    def _earliest(self, flat: _Flat) -> tuple[IntArray, NDArray[np.int32]]:
        from dse.estimate.compiled.waits_kernel import earliest  # late: numba takes half a second

        n = len(flat.pair)
        start, order = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
        # a trace may be long, and the main thread has to hear signals
        made = apart(lambda: earliest(flat.base, flat.pair, flat.waits, flat.times, start, order))
        return start, order[:made]

    def _flat(self, times: LaidOut) -> _Flat:
        sizes = self._sizes()
        of_waits = sizes[[wait.other for wait in self._waits_of]]
        laid_out = (_offsets(sizes), times.firing, _offsets(of_waits), times.delay)
        return _Flat(self._base, self._pair, self._flat_waits, laid_out)


def _offsets(sizes: Sequence[int] | IntArray) -> IntArray:
    """Return where each part begins when parts of these sizes stand one behind the other."""
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]
