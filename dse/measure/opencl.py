"""Times of OpenCL kernels over tile widths, by events of the first device that pyopencl finds, such as PoCL.

Buffers of arguments that are pointers hold N to the power of the dimensions elements, numbers from 0 to 1; arguments
that are no pointers get the values of macros of their names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.base.errors import ExecutionError, OptionError
from dse.base.extras import import_extra
from dse.model.breakdown import MeasuredTile

_MOST_BYTES = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of a kernel: ``element_bytes`` of what it points to, None: an integer with this ``value``."""

    name: str
    element_bytes: int | None
    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRun:
    """A kernel to run. ``size``: N, of each of ``dims`` dimensions; ``macros``: given to its compiler."""

    source: str
    kernel: str
    arguments: tuple[Argument, ...]
    macros: Mapping[str, str]
    tile_macro: str
    size: int
    dims: int


def measure_tiles(run: KernelRun, tiles: Sequence[int], repeats: int) -> tuple[tuple[MeasuredTile, ...], str]:
    """Return the mean time of a kernel at each tile width, and the name of the device.

    Raises:
        OptionError: pyopencl is missing, or a tile does not divide the size. ExecutionError: the kernel does not
            compile or run.
    """
    cl = import_extra("pyopencl", "dse gpu breakdown --profile", extra="opencl")
    _check(run, tiles)
    try:
        device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
        found = tuple(_measured(cl, device, run, tile, repeats) for tile in tiles)
    except StopIteration:
        raise ExecutionError(
            "OpenCL finds no device", expected="install a driver, or pocl-binary-distribution"
        ) from None
    except cl.Error as cause:
        raise ExecutionError(
            f"the kernel cannot be compiled or run: {str(cause).strip().splitlines()[0][:200]}",
            expected="a kernel that this device takes, at tiles that fit its work-groups",
        ) from cause
    return found, str(device.name).strip()


def _check(run: KernelRun, tiles: Sequence[int]) -> None:
    """Raise ``OptionError`` where a tile does not divide the size, or buffers are too large."""
    odd = [tile for tile in tiles if run.size % tile]
    if odd:
        raise OptionError(f"tile {odd[0]} does not divide the size {run.size}", expected="tiles that divide it")
    bytes_needed = sum(a.element_bytes * run.size**run.dims for a in run.arguments if a.element_bytes)
    if bytes_needed > _MOST_BYTES:
        raise OptionError(f"the buffers would need {bytes_needed:,} bytes", expected="a smaller size")


def _measured(cl: Any, device: Any, run: KernelRun, tile: int, repeats: int) -> MeasuredTile:
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    macros = {**run.macros, run.tile_macro: str(tile)}
    program = cl.Program(context, run.source).build(options=[f"-D{name}={value}" for name, value in macros.items()])
    kernel = getattr(program, run.kernel)
    rng = np.random.default_rng(1)
    arguments: list[Any] = []
    for argument in run.arguments:
        if argument.element_bytes is None:
            arguments.append(np.int32(argument.value))
            continue
        words = max(1, run.size**run.dims * argument.element_bytes // 4)
        host = rng.random(words, dtype=np.float32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arguments.append(cl.Buffer(context, flags, hostbuf=host))
    times = []
    for _ in range(repeats + 1):
        event = kernel(queue, (run.size,) * run.dims, (tile,) * run.dims, *arguments)
        event.wait()
        times.append((event.profile.end - event.profile.start) / 1e6)
    mean = float(np.mean(times[1:]))  # the first run warms what caches there are
    return MeasuredTile(tile=tile, local_size=tile**run.dims, ms=max(mean, 1e-6), repeats=repeats)
