"""Batches of points on a card: what a problem needs there, and runs of the burst kernels by its threads."""

import functools
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.gpu_batch import share_kernel as task
from benchmarks.gpu_batch.driver import Card, CardKernel, CardMemory
from benchmarks.gpu_batch.ptx import ENTRY, share_ptx
from dse.estimate.compiled.burst import BurstKind, BurstResults, BurstRun, Bursts
from dse.estimate.compiled.pack import Ints
from dse.model.estimate import Outcome

_BENCH_SHARE = 0.5
"""Of the free memory of the card, what the runs at work may have."""
_ARRAYS = (
    *(task.ENDED, task.LATEST, task.SPENT, task.IDLE),
    *(task.HEAD, task.PARTS, task.MEMBERS, task.ORDERS, task.CHOICES),
    task.STOP,
)
"""Words of the task for the arrays of a run: of ``BurstResults``, then of ``BurstRun.points``, then a zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchShape:
    """How a batch is laid out. ``spread``: of so many threads one makes points; ``block``: threads of a block.

    Points go different ways, and threads of a warp that do wait for each other: with a spread of 32 a warp makes one
    point at a time and more warps are at work. ``most_registers``: of a thread; fewer leave room for more warps.
    """

    spread: int = 32
    block: int = 256
    most_registers: int = 64


DEFAULT_SHAPE = LaunchShape()


class CardBatch:
    """Runs points of one problem on a card."""

    def __init__(self, card: Card, bursts: Bursts, shape: LaunchShape = DEFAULT_SHAPE) -> None:
        self._card, self._shape = card, shape
        card.use()
        self._board, self._firings = card.holding(bursts.board), card.holding(bursts.firings)
        self._kernel = functools.cache(self._load)

    def close(self) -> None:
        """Free what the problem has on the card."""
        for memory in (self._board, self._firings):
            memory.free()

    def at_once(self, kind: BurstKind) -> int:
        """Return how many points the threads of the card make at one time."""
        blocks = self._card.n_processors * self._kernel(kind).blocks_at_once(self._shape.block)
        return max(1, blocks * self._shape.block // self._shape.spread)

    def make(self, run: BurstRun) -> list[Outcome | int]:
        """Return what came of each point, as ``BurstRun.make`` does. Raises ``CardError``."""
        with _Launch(self._card, run) as launch:
            self._start(launch)
            return run.read(launch.results())

    def kernel_seconds(self, run: BurstRun, repeats: int) -> float:
        """Return the least time that the kernel alone takes for points, of some."""
        with _Launch(self._card, run) as launch:
            found = []
            for _ in range(repeats):
                begun = time.perf_counter()
                self._start(launch)
                found.append(time.perf_counter() - begun)
            return min(found)

    def _start(self, launch: "_Launch") -> None:
        """Run a launch and wait for its end."""
        shape, kind, words = self._shape, launch.run.kind, launch.run.bench_words()
        of_memory = max(1, int(_BENCH_SHARE * self._card.free_bytes()) // (8 * words))
        n_blocks = -(-min(len(launch.run.encoded), self.at_once(kind), of_memory) * shape.spread // shape.block)
        launch.lay_benches(words, -(-n_blocks * shape.block // shape.spread))
        launch.give({task.SPREAD: shape.spread, task.BOARD: self._board.address, task.FIRINGS: self._firings.address})
        self._kernel(kind).run(n_blocks, shape.block, launch.task())

    def _load(self, kind: BurstKind) -> CardKernel:
        text = share_ptx(kind, self._card.capability)
        return self._card.kernel(text, ENTRY, most_registers=self._shape.most_registers)


class _Launch:
    """The task of a run, and all that it has on the card."""

    def __init__(self, card: Card, run: BurstRun) -> None:
        self.run = run
        self._card, self._held, self._places = card, list[CardMemory](), dict[int, CardMemory]()
        self._found: BurstResults = run.results()
        self._row: Ints = np.zeros(task.TASK_WORDS, dtype=np.int64)

    def __enter__(self) -> Self:
        self._card.use()
        found = self._found
        arrays = (found.ended, found.latest, found.spent, found.idle, *self.run.points, np.zeros(1, dtype=np.int64))
        try:
            for word, array in zip(_ARRAYS, arrays, strict=True):
                self._places[word] = self._hold(array)
                self.give({word: self._places[word].address})
        except BaseException:
            self._free()
            raise
        self.give({task.N_POINTS: len(self.run.encoded), task.LIMIT: self.run.limit})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._free()

    def give(self, words: dict[int, int]) -> None:
        """Set words of the task."""
        for word, value in words.items():
            self._row[word] = value

    def lay_benches(self, words: int, number: int) -> None:
        """Make room for so many runs at a time, if there is none yet."""
        if not self._row[task.BENCHES]:
            self._held.append(self._card.memory(8 * words * number))
            self.give({task.BENCHES: self._held[-1].address, task.BENCH_WORDS: words})

    def task(self) -> int:
        """Return the address of the task as it is now."""
        return self._hold(self._row).address

    def results(self) -> BurstResults:
        """Return what the kernel has found."""
        found = self._found
        for word, array in zip(_ARRAYS[:4], (found.ended, found.latest, found.spent, found.idle), strict=True):
            self._places[word].read(array)
        return found

    def _hold(self, array: NDArray[np.generic]) -> CardMemory:
        self._held.append(self._card.holding(array))
        return self._held[-1]

    def _free(self) -> None:
        for memory in self._held:
            memory.free()
