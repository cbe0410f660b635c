"""Evening out and annealing the loads of slots, compiled: for searches that start from mappings of many actors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.base.apart import apart
from dse.estimate.problem.tables import IntArray

_APART_STEPS = 400_000
"""Annealing of more steps takes a good part of a second, in which the main thread has to hear signals."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reach:
    """Where actors may go. ``unit``: of each slot; ``first``, ``count``: the slots of each unit, one behind the other;
    ``allowed``: shape (n_actors, n_units)."""

    unit: IntArray
    first: IntArray
    count: IntArray
    allowed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadCosts:
    """What actors and the buffers between two of them cost in ticks, by the units of their ends.

    ``work``: shape (n_actors, n_units). The buffers of actor ``a`` are the entries ``first[a]`` to ``first[a + 1]``:
    ``other`` is the actor at the other end, ``same[e, u]`` the cost if both are on one slot of unit u, else
    ``own[e, u, v]`` that of the actor on unit u and ``their[e, u, v]`` that of the other one on unit v.
    """

    work: IntArray
    first: IntArray
    other: IntArray
    same: IntArray
    own: IntArray
    their: IntArray


def even_out(
    order: IntArray, slots: IntArray, loads: IntArray, *, where: Reach, costs: LoadCosts, share: float, sharpness: float
) -> int:
    """Put each actor, in this order, on the slot where the heights are the least; return how many moved.

    The height is the sum over the slots of (load / ``share``) ** ``sharpness``. ``slots`` (of the actors) and ``loads``
    (of the slots) are changed.
    """
    from dse.estimate.compiled.load_kernel import sweep  # late: numba takes half a second

    moves: int = sweep(
        order,
        slots,
        loads,
        (share, sharpness),
        (where.unit, costs.work),
        (where.allowed, where.first, where.count),
        (costs.first, costs.other),
        (costs.same, costs.own, costs.their),
    )
    return moves


@dataclass(frozen=True, slots=True, kw_only=True)
class Annealing:
    """How loads are annealed (Kirkpatrick, Gelatt and Vecchi 1983), all relative to the even share of a slot.

    ``cut_weight``: by which part a mapping is worse for all of its buffers being cut. ``stage_weight``: how far the
    loads of each stage are to be even, not only those of all stages together, 0 to 1. ``hot``, ``cold``: the first and
    the last temperature; it falls by the same factor in each step.
    """

    cut_weight: float
    stage_weight: float = 0.0
    hot: float
    cold: float


def anneal(
    slots: IntArray,
    movable: IntArray,
    draws: NDArray[np.float64],
    *,
    stages: IntArray,
    where: Reach,
    costs: LoadCosts,
    most: int,
    annealing: Annealing,
) -> None:
    """Bring ``slots`` (of the actors) to even loads by moving and exchanging the actors ``movable``.

    What falls is nearly the largest load, in part the sum of those of all stages. ``draws``: shape (steps, 4), numbers
    in [0, 1). ``stages``: of each actor, counted from 0. ``most``: so many slots share the loads.
    """
    from dse.estimate.compiled.load_kernel import anneal as annealed  # late: numba takes half a second

    model = (float(most), annealing.cut_weight, annealing.stage_weight, annealing.hot, annealing.cold)
    arrays = (where.unit, costs.work), where.allowed, (costs.first, costs.other), (costs.same, costs.own, costs.their)
    room = _room(int(stages.max()) + 1, len(where.unit), costs)
    if len(draws) < _APART_STEPS:
        annealed(movable, slots, draws, model, stages, *arrays, room)
    else:
        apart(lambda: annealed(movable, slots, draws, model, stages, *arrays, room))


def _room(n_stages: int, n_slots: int, costs: LoadCosts) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """Return room for annealing: for a number an actor, for other integers, and for numbers that are none.

    A step changes the loads of two actors and of both ends of their buffers, and may name each twice.
    """
    n_loads = n_stages * n_slots
    touched = max(n_loads, 4 * (len(costs.other) + 1))
    ints = np.empty(6 * n_loads + n_slots + touched, dtype=np.int64)
    return np.empty(len(costs.work), dtype=np.int64), ints, np.empty(3 * n_loads + n_slots + 2 * n_stages)
