"""The loop of the compiled engine for points that lack what only some have: variants of the general kernel.

They are the code of ``dse.estimate.compiled.kernel`` compiled for memories of other types. In a *still* one nothing
travels, no firing has costs of its own, and no times are kept; a *plain* one has no links and no blocks of firings
either. Where the kernel asks for these, the answer is known to the compiler. The accounts of a run are the same to the
integer.
"""

from dse.estimate.compiled.kernel import run
from dse.estimate.compiled.pointers import int64_pointer, plain_pointer, still_pointer, uint16_pointer
from dse.estimate.kept import kernel

_SIGNATURE = "void(int64[::1], int64[::1], uint16[::1], int64[:, ::1], int64[::1])"


@kernel([_SIGNATURE], nogil=True)
def simulate_plain(addresses, ends, firings, firing_times, deviations):
    """Run each memory, a plain one, as ``kernel.simulate`` does; the last two arrays have nothing in them."""
    f = uint16_pointer(firings.ctypes.data)
    times, more = int64_pointer(firing_times.ctypes.data), int64_pointer(deviations.ctypes.data)
    for i in range(len(addresses)):
        ends[i] = run(plain_pointer(addresses[i]), f, times, more)


@kernel([_SIGNATURE], nogil=True)
def simulate_still(addresses, ends, firings, firing_times, deviations):
    """Run each memory, a still one, as ``kernel.simulate`` does; the last two arrays have nothing in them."""
    f = uint16_pointer(firings.ctypes.data)
    times, more = int64_pointer(firing_times.ctypes.data), int64_pointer(deviations.ctypes.data)
    for i in range(len(addresses)):
        ends[i] = run(still_pointer(addresses[i]), f, times, more)
