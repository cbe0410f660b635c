"""The linear performance breakdown of a kernel: what was counted in it, what was measured, what comes of both.

The notions are those of Chapa Martell, *A Framework for Performance Analysis and Optimization for GPU Kernel Programs
using Linear Performance-Breakdown Model*, University of Tokyo 2014.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Reading: TypeAlias = Literal["as_printed", "prose", "rounds"]
"""What PUT is: equations 4.3 and 4.4 as they are printed; what the text around them says; more time for more rounds."""
PARTS = ("compute", "global to shared", "shared to private")
"""What time is spent on, in the order of PUT, G2ST and S2PT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCounts:
    """What one work-item does. Moves are elements. ``local_bytes``: of one work-group. ``dims``: of its index space."""

    kernel: str
    dims: int
    operations: int
    """Floating-point additions, multiplications and the like."""
    global_to_local: int
    local_to_private: int
    private_to_local: int
    global_to_private: int
    private_to_global: int
    local_bytes: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTile:
    """A measured time. ``local_size``: work-items of a group; ``repeats``: runs that ``ms`` is the mean of."""

    tile: int
    local_size: int | None
    ms: float
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedTile:
    """What a model predicts at a tile."""

    tile: int
    ms: float
    bottleneck: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePredictions:
    """What a model predicts, by tile; None where it has no answer, and ``why`` of the first of those.

    ``tiled_ms`` and ``change``: the time of a kernel without local arrays once it had some, and which.
    """

    model: str
    tiles: tuple[PredictedTile | None, ...]
    why: str | None = None
    tiled_ms: float | None = None
    change: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """The terms of one tile width: equations 4.4 to 4.6, and PUT in one of the readings."""

    tile: int
    local_size: int
    wavefronts_per_group: int
    groups: int
    groups_per_unit: int
    wavefronts_at_once: int
    wavefronts: int
    put: float
    g2st: float
    s2pt: float

    @property
    def terms(self) -> tuple[float, float, float]:
        """PUT, G2ST and S2PT."""
        return self.put, self.g2st, self.s2pt


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """A fitted coefficient in seconds, its 95 % interval; ``knot``: the value of its term above which it adds."""

    term: str
    value: float
    least: float
    most: float
    knot: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """A fit of equation 4.9. ``parts``: seconds of each of ``PARTS``, by tile; ``condition``: of the scaled terms."""

    reading: Reading
    coefficients: tuple[Coefficient, ...]
    parts: tuple[tuple[float, float, float], ...]
    condition: float
    correlation: float
    """Of G2ST and S2PT over the tiles."""
    error: float
    """Mean of |fitted / measured - 1|."""
