"""What is on the chip at once, and what crosses to the memory outside for it.

All loops are cut into tiles of one width. Of an array a tile holds the elements that its rounds touch, as long as
subscripts are affine, else all of a dimension. It is moved again whenever a loop goes on that stands outside the
innermost of those loops with several tiles on which the subscripts depend: the usual order of tiles, outermost first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from dse.gpu.fpga.dataflow import Operation
from dse.model.kernel import ArrayInfo
from dse.passes.analyses.affine import Affine


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """An array as a kernel touches it. ``loops``: those around its accesses, the outermost first."""

    array: ArrayInfo
    accesses: tuple[tuple[Operation, tuple[str, ...]], ...]

    @property
    def loaded(self) -> bool:
        """Whether it comes from outside: unless the first access is a store."""
        return not self.accesses[0][0].is_store

    @property
    def stored(self) -> bool:
        """Whether it goes back."""
        return any(one.is_store for one, _ in self.accesses)


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rounds of all loops, the steps of their variables, and the width of a tile."""

    rounds: Mapping[str, float]
    steps: Mapping[str, int]
    width: int

    def inside(self, loop: str) -> float:
        """Return the rounds of a loop in one tile."""
        return min(self.rounds[loop], float(self.width))

    def reach(self, loop: str) -> float:
        """Return how far the variable of a loop goes in one tile."""
        return abs(self.steps[loop]) * max(0.0, self.inside(loop) - 1)

    def tiles(self, loop: str) -> int:
        """Return into how many tiles a loop is cut."""
        return max(1, ceil(self.rounds[loop] / self.width))

    def threads_tiles(self, loops: Iterable[str]) -> int:
        """Return the tiles of several loops together."""
        return prod(self.tiles(loop) for loop in loops)


def tile_bytes(touched: Touched, tiling: Tiling) -> float:
    """Return the bytes of an array that a tile holds."""
    places = [one.place for one, _ in touched.accesses]
    sides = [_side([place[d] for place in places], size, tiling) for d, size in enumerate(touched.array.dims)]
    return touched.array.element_bytes * prod(sides)


def moved_bytes(touched: Touched, tiling: Tiling) -> float:
    """Return the bytes of an array that cross to the memory outside, both ways."""
    times: dict[frozenset[str], float] = {}
    for one, loops in touched.accesses:
        apart = [name for name in loops if tiling.tiles(name) > 1 and _depends(one, name)]
        last = max((loops.index(name) for name in apart), default=-1)
        again = prod(tiling.tiles(name) for name in loops[: last + 1])
        kind = frozenset(name for name in loops if _depends(one, name))
        times[kind] = max(times.get(kind, 0.0), float(again))
    ways = touched.loaded + touched.stored
    return ways * sum(times.values()) * tile_bytes(touched, tiling)


def _depends(access: Operation, loop: str) -> bool:
    return any(of is None or loop in dict(of.terms) for of in access.place)


def _side(forms: Sequence[Affine | None], size: int, tiling: Tiling) -> float:
    """Return the elements along one dimension."""
    known = [of for of in forms if of is not None]
    if len(known) < len(forms) or any(name not in tiling.rounds for of in known for name, _ in of.terms):
        return float(size)
    constants = [of.constant for of in known]
    reach = max((sum(abs(by) * tiling.reach(name) for name, by in of.terms) for of in known), default=0.0)
    return min(float(size), reach + 1 + max(constants) - min(constants))
