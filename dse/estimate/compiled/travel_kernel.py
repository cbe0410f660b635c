"""The burst kernel for points in which tokens, or room too, take time to another core.

It is the code of ``dse.estimate.compiled.burst_kernel`` compiled for benches of another type, where it asks for what
``burst_visits`` does. The burst kernel proper has none of that in it.
"""

from dse.estimate.compiled.burst_kernel import SIGNATURE, run_points
from dse.estimate.compiled.pointers import int64_pointer, travelling_pointer, uint16_pointer
from dse.estimate.kept import kernel


@kernel([SIGNATURE], nogil=True, error_model="numpy")
def follow_travelling(bench, board, firings, points, stop, limit, ended, latest, spent, idle):
    """Run points one after the other as ``burst_kernel.follow_points`` does."""
    m, t = travelling_pointer(bench.ctypes.data), int64_pointer(board.ctypes.data)
    f, stopping = uint16_pointer(firings.ctypes.data), int64_pointer(stop.ctypes.data)
    all_spent, all_idle = int64_pointer(spent.ctypes.data), int64_pointer(idle.ctypes.data)
    run_points(m, t, f, points, stopping, limit, ended, latest, all_spent, all_idle)
