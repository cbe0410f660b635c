"""The loop of the load model: every actor in turn goes where the loads of the slots are the most even.

Everything is a flat array (``dse.estimate.slot_loads`` makes them and says what they hold).
"""

import numpy as np
from numba import njit

_inner = njit(error_model="numpy")


@_inner
def raised(loads, share, sharpness, powers, s):
    """Note the power of the load of a slot. The same library function as Python's ``**`` of two floats."""
    powers[s] = (loads[s] / share) ** sharpness


@_inner
def put(a, slot, sign, slots, units, ends, costs, loads):
    """Add what an actor and its buffers cost on a slot, its buffers' other ends too, or take it away."""
    unit_of_slot, work = units
    first, other = ends
    same, own, their = costs
    u = unit_of_slot[slot]
    loads[slot] += sign * work[a, u]
    for e in range(first[a], first[a + 1]):
        o = slots[other[e]]
        if o == slot:
            loads[slot] += sign * same[e, u]
        else:
            v = unit_of_slot[o]
            loads[slot] += sign * own[e, u, v]
            loads[o] += sign * their[e, u, v]


@_inner
def height(a, slot, model, slots, ends, loads, before, powers):
    """Return what is minimised with an actor on a slot: the sum of the powers, in the order of the slots, and the cuts.

    ``before``: the loads that ``powers`` were made of.
    """
    share, sharpness, cut_share = model
    total = 0.0
    for s in range(len(loads)):
        total += powers[s] if loads[s] == before[s] else (loads[s] / share) ** sharpness
    if cut_share == 0:
        return total
    cut = 0
    for e in range(ends[0][a], ends[0][a + 1]):
        cut += slots[ends[1][e]] != slot
    return total * (1 + cut_share * cut)


@_inner
def settle(a, slots, loads, used, model, units, reach, ends, costs, work):
    """Put one actor where it is best; return whether it moved."""
    before, powers = work
    allowed, first_slot, n_slots = reach
    home = slots[a]
    put(a, home, -1, slots, units, ends, costs, loads)
    before[:] = loads
    for s in range(len(loads)):
        raised(loads, model[0], model[1], powers, s)
    put(a, home, 1, slots, units, ends, costs, loads)
    least, where = height(a, home, model, slots, ends, loads, before, powers) * (1 - 1e-9), home
    for u in range(len(first_slot)):
        opened = not allowed[a, u]
        for slot in range(first_slot[u], first_slot[u] + n_slots[u]):
            if not allowed[a, u] or slot == home or (opened and used[slot] == 0):
                continue
            opened = opened or used[slot] == 0
            loads[:] = before
            put(a, slot, 1, slots, units, ends, costs, loads)
            found = height(a, slot, model, slots, ends, loads, before, powers)
            if found < least:
                least, where = found, slot
    loads[:] = before
    put(a, where, 1, slots, units, ends, costs, loads)
    slots[a] = where
    used[home] -= 1
    used[where] += 1
    return where != home


_I = "int64[::1]"
_M = "int64[:, ::1]"
_C = "int64[:, :, ::1]"


@njit(
    [
        f"int64({_I}, {_I}, {_I}, UniTuple(float64, 3), Tuple(({_I}, {_M})), Tuple((boolean[:, ::1], {_I}, {_I})), "
        f"UniTuple({_I}, 2), Tuple(({_M}, {_C}, {_C})))"
    ],
    cache=True, nogil=True, error_model="numpy",
)  # fmt: skip
def sweep(order, slots, loads, model, units, reach, ends, costs):
    """Settle each actor of ``order`` in turn, in ``slots`` and ``loads``; return how many moved."""
    used = np.zeros(len(loads), dtype=np.int64)
    for slot in slots:
        used[slot] += 1
    work = np.empty(len(loads), dtype=np.int64), np.empty(len(loads), dtype=np.float64)
    moves = 0
    for a in order:
        moves += settle(a, slots, loads, used, model, units, reach, ends, costs, work)
    return moves
