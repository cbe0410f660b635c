"""A processor that stands for a card: the same task, by the same functions, one thread after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


class HostMemory:
    """Memory whose address is that of an array."""

    def __init__(self, n_bytes: int) -> None:
        self._bytes: NDArray[np.uint8] | None = np.full(n_bytes, 0xA5, dtype=np.uint8)

    @property
    def is_held(self) -> bool:
        return self._bytes is not None

    @property
    def address(self) -> int:
        assert self._bytes is not None, "it was freed"
        return int(self._bytes.ctypes.data)

    def fill(self, array: NDArray[Any]) -> None:
        assert self._bytes is not None
        self._bytes[: array.nbytes] = array.reshape(-1).view(np.uint8)

    def read(self, array: NDArray[Any]) -> None:
        assert self._bytes is not None
        array.reshape(-1).view(np.uint8)[:] = self._bytes[: array.nbytes]

    def free(self) -> None:
        assert self._bytes is not None, "it is freed twice"
        self._bytes = None


class HostKernel:
    """The threads of a kernel, one after the other."""

    def __init__(self, share: Callable[..., None], blocks: int) -> None:
        @njit(["void(int64, int64)"], nogil=True)
        def run(task: int, n_threads: int) -> None:
            for thread in range(n_threads):
                share(task, thread, n_threads)

        self._run, self._blocks = run, blocks
        self.launches: list[tuple[int, int]] = []

    def blocks_at_once(self, n_threads: int) -> int:
        assert n_threads > 0
        return self._blocks

    def run(self, n_blocks: int, n_threads: int, address: int) -> None:
        self.launches.append((n_blocks, n_threads))
        self._run(address, n_blocks * n_threads)


class HostCard:
    """What a batch asks of ``benchmarks.gpu_batch.driver.Card``. ``made``: all memory that it gave."""

    capability, n_processors, name = 90, 3, "a processor"

    def __init__(self, kernels: dict[str, HostKernel], free_bytes: int = 1 << 30) -> None:
        self.kernels, self._free_bytes = kernels, free_bytes
        self.made: list[HostMemory] = []

    def use(self) -> None:
        pass

    def free_bytes(self) -> int:
        return self._free_bytes

    def memory(self, n_bytes: int) -> HostMemory:
        self.made.append(HostMemory(n_bytes))
        return self.made[-1]

    def holding(self, array: NDArray[Any]) -> HostMemory:
        found = self.memory(array.nbytes)
        found.fill(array)
        return found

    def kernel(self, ptx: str, name: str, *, most_registers: int) -> HostKernel:
        assert ".entry " + name in ptx
        assert most_registers >= 0
        return self.kernels[ptx.split()[0]]
