"""The driver of NVIDIA's cards, as far as a batch needs it: memory, one kernel, its run.

Only the driver has to be there (``libcuda.so.1``, ``nvcuda.dll``); it compiles PTX itself. Names and numbers are those
of its interface (CUDA Driver API, ``cuda.h``).
"""

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import ExecutionError
from dse.native.cards import DRIVER, capabilities

_PROCESSORS = 16
"""CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT."""
_MOST_REGISTERS = 0
"""CU_JIT_MAX_REGISTERS."""


class CardError(ExecutionError):
    """There is no card, or its driver refuses something."""


class Card:
    """The first card of this machine. Raises ``CardError``, as all calls do."""

    def __init__(self) -> None:
        try:
            self._driver = ctypes.CDLL(DRIVER)
        except OSError as error:
            raise CardError(
                f"there is no driver of an NVIDIA card ({DRIVER})", expected="run it where one is"
            ) from error
        self._call("cuInit", 0)
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode(errors="replace")
        self.capability = capabilities()[0]
        """Compute capability times 10."""
        processors = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(processors), _PROCESSORS, device)
        self.n_processors = processors.value
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)

    def use(self) -> None:
        """Let the calling thread work with the card."""
        self._call("cuCtxSetCurrent", self._context)

    def free_bytes(self) -> int:
        """Return how much memory of the card is free."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def kernel(self, ptx: str, name: str, *, most_registers: int = 0) -> "CardKernel":
        """Return a kernel of a text, compiled for the card; ``most_registers``: of a thread, 0: as many as it likes."""
        keys, values = (ctypes.c_int * 1)(_MOST_REGISTERS), (ctypes.c_void_p * 1)(most_registers)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        text = ptx.encode() + b"\0"
        self._call("cuModuleLoadDataEx", ctypes.byref(module), text, 1 if most_registers else 0, keys, values)
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return CardKernel(self._call, function)

    def memory(self, n_bytes: int) -> "CardMemory":
        """Return memory of the card."""
        return CardMemory(self._call, n_bytes)

    def holding(self, array: NDArray[np.generic]) -> "CardMemory":
        """Return memory of the card with what an array has."""
        found = self.memory(array.nbytes)
        found.fill(array)
        return found

    def _call(self, name: str, *arguments: object) -> None:
        """Call the driver. Raises ``CardError`` in its words."""
        status = getattr(self._driver, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(status, ctypes.byref(text))
            words = text.value.decode(errors="replace") if text.value else f"error {status}"
            raise CardError(f"the driver of the card fails in {name}: {words}")


class CardMemory:
    """A piece of the memory of a card, which has an address there."""

    def __init__(self, call: Callable[..., None], n_bytes: int) -> None:
        self._call, self._n_bytes, self._place = call, n_bytes, ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self._place), ctypes.c_size_t(max(1, n_bytes)))

    @property
    def address(self) -> int:
        """Where it stands."""
        return self._place.value

    def fill(self, array: NDArray[np.generic]) -> None:
        """Copy an array to its begin."""
        if array.nbytes:
            self._call("cuMemcpyHtoD_v2", self._place, *self._of(array))

    def read(self, array: NDArray[np.generic]) -> None:
        """Copy its begin into an array."""
        if array.nbytes:
            place, size = self._of(array)
            self._call("cuMemcpyDtoH_v2", place, self._place, size)

    def _of(self, array: NDArray[np.generic]) -> tuple[ctypes.c_void_p, ctypes.c_size_t]:
        assert array.flags.c_contiguous
        assert array.nbytes <= self._n_bytes
        return ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)

    def free(self) -> None:
        """Give it back."""
        self._call("cuMemFree_v2", self._place)


class CardKernel:
    """A kernel whose one parameter is an address of 8 bytes."""

    def __init__(self, call: Callable[..., None], function: ctypes.c_void_p) -> None:
        self._call, self._function = call, function

    def blocks_at_once(self, n_threads: int) -> int:
        """Return how many blocks of so many threads a multiprocessor runs at once."""
        found = ctypes.c_int()
        self._call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(found), self._function, n_threads, ctypes.c_size_t(0),
        )  # fmt: skip
        return found.value

    def run(self, n_blocks: int, n_threads: int, address: int) -> None:
        """Run it and wait for its end."""
        parameter = ctypes.c_uint64(address)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(parameter))
        self._call("cuLaunchKernel", self._function, n_blocks, 1, 1, n_threads, 1, 1, 0, None, parameters, None)
        self._call("cuCtxSynchronize")
