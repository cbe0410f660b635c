"""The longest path through a trace: firings of one actor in a row, and tokens from the firing that makes them.

A buffer is a queue, so that the firing that makes the last token a firing needs follows from counting. An actor's
stretch of firings whose tokens are all there is computed at once, as a scan; networks without cycles take one
stretch an actor, tight cycles a few firings a stretch.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable

_SHORT = 24
"""Stretches up to this length are computed firing by firing: numpy's calls cost more than they save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTimes:
    """Least times of one firing of an actor with n actions, from its start; index ``q * n + x`` for action x after q,
    ``n * n + x`` for x as the first firing."""

    firing: IntArray
    """shape (n * n + n,): to the end of the firing"""
    visible: dict[int, IntArray]
    """For each output buffer, same shape: to its tokens being visible."""

    @classmethod
    def zero(cls, n_actions: int, outputs: list[int]) -> "PathTimes":
        """Return times of 0 for all actions."""
        size = n_actions * n_actions + n_actions
        return cls(firing=np.zeros(size, dtype=np.int64), visible={b: np.zeros(size, dtype=np.int64) for b in outputs})

    @classmethod
    def least(cls, options: list["PathTimes"]) -> "PathTimes":
        """Return the least of several times."""
        return cls(
            firing=np.minimum.reduce([option.firing for option in options]),
            visible={b: np.minimum.reduce([option.visible[b] for option in options]) for b in options[0].visible},
        )

    def set(self, mine: IntArray, scheduling: IntArray, ticks: int, visible: dict[int, int]) -> None:
        """Set the times of the action at the indices ``mine``; an output it does not write to keeps 0."""
        self.firing[mine] = scheduling + ticks
        for buffer, until in visible.items():
            self.visible[buffer][mine] = scheduling + until

    def set_block(self, mine: IntArray, share: int) -> None:
        """Set the times of an action that fires in blocks: no firing of a block takes part with more than its share.

        If a block of k firings shows its first tokens after e ticks, share <= e / k: then the j-th firing, j shares
        after the start of the block, is never later than the tokens and the end that the whole block has.
        """
        self.firing[mine] = share
        for times in self.visible.values():
            times[mine] = share


@dataclass(frozen=True, slots=True, kw_only=True)
class _Input:
    """A buffer from another actor: ``maker[i]`` is the firing of the source that firing i of the target waits for."""

    buffer: int
    source: int
    maker: IntArray
    """shape (n_firings of the target,), does not fall; -1: none"""


class TokenPaths:
    """The token dependencies of a trace; ``longest`` may be asked again and again with other times."""

    def __init__(self, tables: ProblemTables) -> None:
        self._tables = tables
        self._firings = tables.problem.trace.firings
        actors = range(len(self._firings))
        self._inputs: list[list[_Input]] = [[] for _ in actors]
        self._readers: list[list[int]] = [[] for _ in actors]
        for b, buffer in enumerate(tables.topology.buffers):
            if buffer.source != buffer.target:  # an actor's own firings are in a row anyway
                self._inputs[buffer.target].append(_Input(buffer=b, source=buffer.source, maker=self._makers(b)))
                self._readers[buffer.source].append(buffer.target)
        self._pairs = [self._pair_indices(a) for a in actors]

    def _makers(self, index: int) -> IntArray:
        buffer = self._tables.topology.buffers[index]
        made = self._tokens(self._tables.writes, index, buffer.source).cumsum() + buffer.initial_tokens
        wanted = self._tokens(self._tables.reads, index, buffer.target).cumsum()
        makers = np.searchsorted(made, wanted, side="left")
        return np.where(wanted <= buffer.initial_tokens, -1, makers).astype(np.int64)

    def _tokens(self, table: TransferTable, buffer: int, actor: int) -> IntArray:
        """Return the tokens that each firing of an actor puts to or takes from a buffer."""
        base = int(self._tables.action_base[actor])
        rates = np.zeros(self._tables.action_count(actor), dtype=np.int64)
        for x in range(len(rates)):
            for e in range(int(table.first[base + x]), int(table.first[base + x + 1])):
                if table.buffer[e] == buffer:
                    rates[x] = table.tokens[e]
        return np.asarray(rates[self._firings[actor]])

    def _pair_indices(self, actor: int) -> IntArray:
        """Return the index into ``PathTimes`` of each firing."""
        n = self._tables.action_count(actor)
        actions = self._firings[actor].astype(np.int64)
        pairs = actions.copy()
        pairs[1:] += actions[:-1] * n
        pairs[:1] += n * n
        return pairs

    def longest(self, times: list[PathTimes]) -> int:
        """Return the length of the longest path; firings whose tokens never come are left out."""
        return self.ends(times)[0]

    def ends(self, times: list[PathTimes]) -> tuple[int, list[int]]:
        """Return the length of the longest path, and of the longest to the first firing of each actor (0 if none)."""
        run = _Run(times, self._pairs)
        waiting = deque(range(len(times)))
        queued = [True] * len(times)
        while waiting:
            actor = waiting.popleft()
            queued[actor] = False
            end = self._available(actor, run)
            if end == run.done[actor]:
                continue
            run.advance(actor, end, self._inputs[actor])
            for reader in self._readers[actor]:
                if not queued[reader]:
                    queued[reader] = True
                    waiting.append(reader)
        return max(run.end, default=0), run.first

    def _available(self, actor: int, run: "_Run") -> int:
        """Return the position up to which the tokens of all firings are made."""
        begin, end = run.done[actor], len(self._firings[actor])
        for given in self._inputs[actor]:
            have, maker = run.done[given.source], given.maker
            near = min(begin + _SHORT, end)
            if near < end and maker[near] < have:
                end = min(end, int(np.searchsorted(maker, have, side="left")))
            else:
                position = begin
                while position < near and maker[position] < have:
                    position += 1
                end = position
        return end


class _Run:
    """One computation of the longest path: how far each actor is, and when its tokens were visible."""

    def __init__(self, times: list[PathTimes], pairs: list[IntArray]) -> None:
        self._firing = [of_actor.firing[p] for of_actor, p in zip(times, pairs, strict=True)]
        self._outputs = [list(of_actor.visible) for of_actor in times]
        # ticks from the start of a firing to its tokens being visible, until it is computed; then their time
        self._visible = {
            b: until[p] for of_actor, p in zip(times, pairs, strict=True) for b, until in of_actor.visible.items()
        }
        self.done = [0] * len(times)
        self.end = [0] * len(times)
        self.first = [0] * len(times)

    def advance(self, actor: int, end: int, inputs: list[_Input]) -> None:
        """Compute the firings of an actor up to position ``end``."""
        if self.done[actor] == 0:
            makers = ((given.buffer, given.maker[0]) for given in inputs)
            self.first[actor] = max((int(self._visible[b][i]) for b, i in makers if i >= 0), default=0)
        if end - self.done[actor] <= _SHORT:
            self._one_by_one(actor, end, inputs)
        else:
            self._at_once(actor, end, inputs)
        self.done[actor] = end

    def _at_once(self, actor: int, end: int, inputs: list[_Input]) -> None:
        begin = self.done[actor]
        ticks = self._firing[actor][begin:end]
        after = ticks.cumsum()
        ready = np.full(end - begin, self.end[actor], dtype=np.int64)
        for given in inputs:
            makers = given.maker[begin:end]
            first = int(np.searchsorted(makers, 0))  # those before live on initial tokens
            ready[first:] = np.maximum(ready[first:], self._visible[given.buffer][makers[first:]])
        before = after - ticks
        start = before + np.maximum.accumulate(ready - before)
        for buffer in self._outputs[actor]:
            self._visible[buffer][begin:end] += start
        self.end[actor] = int(start[-1] + ticks[-1])

    def _one_by_one(self, actor: int, end: int, inputs: list[_Input]) -> None:
        time = self.end[actor]
        for position in range(self.done[actor], end):
            for given in inputs:
                maker = given.maker[position]
                if maker >= 0:
                    time = max(time, int(self._visible[given.buffer][maker]))
            for buffer in self._outputs[actor]:
                self._visible[buffer][position] += time
            time += int(self._firing[actor][position])
        self.end[actor] = time
