"""When the steps of firings were made in one run of a mapping: what timelines, critical paths and slack start from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiringSteps:
    """Times of the steps of all firings of one actor, as ``dse.estimate.semantics`` names them.

    Each array has shape (n_firings,), int64, ticks; -1 for firings that were never made. Every firing of a SIMD block
    has the times of the block. ``start <= scheduled <= read <= computed <= end``.
    """

    start: NDArray[np.int64]
    """t: the firing takes a core."""
    scheduled: NDArray[np.int64]
    """t1: the scheduling is over, the reads begin."""
    read: NDArray[np.int64]
    """t2: the reads are over, the processing begins."""
    computed: NDArray[np.int64]
    """t3: the processing is over, the writes begin."""
    end: NDArray[np.int64]
    """t4: the writes are over, the core is free."""
