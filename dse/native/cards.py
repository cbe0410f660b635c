"""The cards of this machine, as their driver tells: what device code has to be compiled for that runs here.

Names and numbers are those of the CUDA Driver API (``cuda.h``). Where there is no driver there are no cards.
"""

import ctypes
import sys

DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The library of the driver of NVIDIA's cards."""
_MAJOR, _MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""


def capabilities() -> tuple[int, ...]:
    """Return the compute capability of each card, times 10; none where the driver is not there or fails."""
    try:
        driver = ctypes.CDLL(DRIVER)
    except OSError:
        return ()
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    found = [_capability(driver, number) for number in range(count.value)]
    return tuple(one for one in found if one is not None)


def _capability(driver: ctypes.CDLL, number: int) -> int | None:
    device, parts = ctypes.c_int(), (ctypes.c_int(), ctypes.c_int())
    if driver.cuDeviceGet(ctypes.byref(device), number):
        return None
    for part, attribute in zip(parts, (_MAJOR, _MINOR), strict=True):
        if driver.cuDeviceGetAttribute(ctypes.byref(part), attribute, device):
            return None
    return 10 * parts[0].value + parts[1].value
