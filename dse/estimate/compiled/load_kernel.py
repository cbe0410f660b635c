"""The loops of the load model: actors in turn go where the loads of the slots are the most even; annealing of loads.

Everything is a flat array (``dse.estimate.bounds.slot_loads`` makes them and says what they hold).
"""

import math

import numpy as np
from numba import njit

from dse.base.kept_code import kept_by_sources

_inner = njit(error_model="numpy")


@_inner
def raised(loads, share, sharpness, powers, s):
    """Note the power of the load of a slot. The same library function as Python's ``**`` of two floats."""
    powers[s] = (loads[s] / share) ** sharpness


@_inner
def put(a, slot, sign, slots, units, ends, costs, base, loads):
    """Add what an actor and its buffers cost on a slot, its buffers' other ends too, or take it away.

    ``base``: where in ``loads`` the slots of an actor's stage begin.
    """
    unit_of_slot, work = units
    first, other = ends
    same, own, their = costs
    u = unit_of_slot[slot]
    loads[base[a] + slot] += sign * work[a, u]
    for e in range(first[a], first[a + 1]):
        b = other[e]
        o = slots[b]
        if o == slot:
            loads[base[min(a, b)] + slot] += sign * same[e, u]  # the same place from either end
        else:
            v = unit_of_slot[o]
            loads[base[a] + slot] += sign * own[e, u, v]
            loads[base[b] + o] += sign * their[e, u, v]


@_inner
def height(model, loads, before, powers):
    """Return what is minimised: the sum of the powers, in the order of the slots.

    ``before``: the loads that ``powers`` were made of.
    """
    share, sharpness = model
    total = 0.0
    for s in range(len(loads)):
        total += powers[s] if loads[s] == before[s] else (loads[s] / share) ** sharpness
    return total


@_inner
def settle(a, slots, loads, used, model, units, reach, ends, costs, work):
    """Put one actor where it is best; return whether it moved."""
    before, powers, base = work
    allowed, first_slot, n_slots = reach
    home = slots[a]
    put(a, home, -1, slots, units, ends, costs, base, loads)
    before[:] = loads
    for s in range(len(loads)):
        raised(loads, model[0], model[1], powers, s)
    put(a, home, 1, slots, units, ends, costs, base, loads)
    least, where = height(model, loads, before, powers) * (1 - 1e-9), home
    for u in range(len(first_slot)):
        opened = not allowed[a, u]
        for slot in range(first_slot[u], first_slot[u] + n_slots[u]):
            if not allowed[a, u] or slot == home or (opened and used[slot] == 0):
                continue
            opened = opened or used[slot] == 0
            loads[:] = before
            put(a, slot, 1, slots, units, ends, costs, base, loads)
            found = height(model, loads, before, powers)
            if found < least:
                least, where = found, slot
    loads[:] = before
    put(a, where, 1, slots, units, ends, costs, base, loads)
    slots[a] = where
    used[home] -= 1
    used[where] += 1
    return where != home


_I = "int64[::1]"
_M = "int64[:, ::1]"
_C = "int64[:, :, ::1]"


@njit(
    [
        f"int64({_I}, {_I}, {_I}, UniTuple(float64, 2), Tuple(({_I}, {_M})), Tuple((boolean[:, ::1], {_I}, {_I})), "
        f"UniTuple({_I}, 2), Tuple(({_M}, {_C}, {_C})))"
    ],
    cache=True,
    nogil=True,
    error_model="numpy",
)
@kept_by_sources
def sweep(order, slots, loads, model, units, reach, ends, costs):
    """Settle each actor of ``order`` in turn, in ``slots`` and ``loads``; return how many moved."""
    used = np.zeros(len(loads), dtype=np.int64)
    for slot in slots:
        used[slot] += 1
    one_stage = np.zeros(len(slots), dtype=np.int64)
    work = np.empty(len(loads), dtype=np.int64), np.empty(len(loads), dtype=np.float64), one_stage
    moves = 0
    for a in order:
        moves += settle(a, slots, loads, used, model, units, reach, ends, costs, work)
    return moves


# Annealing ------------------------------------------------------------------------------------------------------------

FEW_SLOTS = 32
"""Of so many slots the powers are added up one after the other."""
SHIFTS = 4
"""So many times are actors put elsewhere at most before the loads are looked at: two, and two back."""
SWAPS, JOINS = 0.4, 0.65
"""Steps drawn below the first number exchange two actors, below the second one put an actor to one of its partners."""


@_inner
def eighth(load, share):
    """Return the 8th power of a load."""
    x = load / share
    x *= x
    x *= x
    return x * x


@_inner
def peak(powers):
    """Return the norm of loads that nearly is the largest one: the 8th root of the sum of their 8th powers."""
    n = len(powers)
    if n <= FEW_SLOTS:
        total = 0.0
        for power in powers:
            total += power
    else:  # four sums side by side: one addition need not wait for the other
        x, y, z, w = 0.0, 0.0, 0.0, 0.0
        for i in range(0, n - 3, 4):
            x += powers[i]
            y += powers[i + 1]
            z += powers[i + 2]
            w += powers[i + 3]
        for i in range(n - n % 4, n):
            x += powers[i]
        total = (x + y) + (z + w)
    return math.sqrt(math.sqrt(math.sqrt(total)))


@_inner
def unevenness(loads, share, stage_weight, known):
    """Return the peak of the loads, in part that of each stage for itself, one after the other.

    ``loads``: of each stage the loads of all slots. ``known``: these loads as they were at the last call, with their
    8th powers, the peaks of the stages, and the loads of all stages together with their 8th powers; then which loads
    may have changed since, behind how many these are, and room for which stages did. A step changes few loads, and
    what is added up is added up in the same order, so that nothing depends on what was known.
    """
    before, powers, peaks, whole, of_whole, touched, changed = known
    n_slots = len(whole)
    for i in range(1, touched[0] + 1):
        here = touched[i]
        if loads[here] != before[here]:
            stage = here // n_slots
            s = here - stage * n_slots
            whole[s] += loads[here] - before[here]
            before[here] = loads[here]
            powers[here] = eighth(loads[here], share)
            of_whole[s] = eighth(whole[s], share)
            changed[stage] = True
    touched[0] = 0
    apart = 0.0
    for stage in range(len(peaks)):
        if changed[stage]:
            peaks[stage] = peak(powers[stage * n_slots : (stage + 1) * n_slots])
            changed[stage] = False
        apart += peaks[stage]
    if len(peaks) == 1:
        return peaks[0]
    return stage_weight * apart + (1 - stage_weight) * peak(of_whole)


@_inner
def cut_at(a, slots, ends):
    """Return how many buffers of an actor end on another slot."""
    cut = 0
    for e in range(ends[0][a], ends[0][a + 1]):
        cut += slots[ends[1][e]] != slots[a]
    return cut


@_inner
def shift(a, slot, slots, units, ends, costs, base, loads, touched):
    """Put an actor on another slot; return by how much the number of cut buffers changes.

    ``touched``: first a number, then as many places in ``loads`` that may have changed; more are noted behind them.
    """
    first, other = ends
    n = touched[0]
    touched[n + 1], touched[n + 2] = base[a] + slots[a], base[a] + slot
    n += 2
    for e in range(first[a], first[a + 1]):
        b = other[e]
        n += 1
        touched[n] = base[b] + slots[b]
        if b < a:  # what both ends cost on one slot stands with the first of them
            n += 2
            touched[n - 1], touched[n] = base[b] + slots[a], base[b] + slot
    touched[0] = n
    cut = cut_at(a, slots, ends)
    put(a, slots[a], -1, slots, units, ends, costs, base, loads)
    slots[a] = slot
    put(a, slot, 1, slots, units, ends, costs, base, loads)
    return cut_at(a, slots, ends) - cut


@_inner
def most_ends(ends):
    """Return the most buffers that an actor has."""
    most = 0
    for a in range(len(ends[0]) - 1):
        most = max(most, ends[0][a + 1] - ends[0][a])
    return most


@_inner
def load_all(slots, units, ends, costs, base, loads):
    """Add up the loads of a mapping; return how many buffers are cut."""
    same, own, _ = costs
    cut = 0
    for a in range(len(slots)):
        u = units[0][slots[a]]
        here = base[a] + slots[a]
        loads[here] += units[1][a, u]
        for e in range(ends[0][a], ends[0][a + 1]):
            o = ends[1][e]
            if slots[o] != slots[a]:
                loads[here] += own[e, u, units[0][slots[o]]]
                cut += 1
            elif a < o:  # each buffer stands at both of its ends, and this is the cost of both
                loads[here] += same[e, u]
    return cut // 2


@_inner
def drawn(draw, movable, slots, ends, n_slots):
    """Return a step: an actor, its new slot, and the actor that takes its place, or -1."""
    a = movable[int(draw[0] * len(movable))]
    n_ends = ends[0][a + 1] - ends[0][a]
    if draw[1] < SWAPS:
        b = movable[int(draw[2] * len(movable))]
        return a, slots[b], b
    if draw[1] < JOINS and n_ends > 0:
        return a, slots[ends[1][ends[0][a] + int(draw[2] * n_ends)]], -1
    return a, int(draw[2] * n_slots), -1


@njit(
    [
        f"void({_I}, {_I}, float64[:, ::1], UniTuple(float64, 5), {_I}, Tuple(({_I}, {_M})), boolean[:, ::1], "
        f"UniTuple({_I}, 2), Tuple(({_M}, {_C}, {_C})))"
    ],
    cache=True,
    nogil=True,
    error_model="numpy",
)
@kept_by_sources
def anneal(movable, slots, draws, model, stages, units, allowed, ends, costs):
    """Anneal the mapping ``slots``, a step for each row of ``draws``; leaves the best one on the way in ``slots``.

    ``model``: the number of slots that loads are shared by, what it counts that all buffers are cut, what it counts
    that the loads of each stage are uneven, and the first and the last temperature. ``stages``: of the actors.
    """
    most, cut_weight, stage_weight, hot, cold = model
    unit_of_slot = units[0]
    n_slots = len(unit_of_slot)
    base, n_stages = stages * n_slots, stages.max() + 1
    loads = np.zeros(n_stages * n_slots, dtype=np.int64)
    known = (
        np.zeros(n_stages * n_slots, dtype=np.int64),
        np.zeros(n_stages * n_slots),
        np.zeros(n_stages),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(n_slots),
        np.zeros(1 + max(len(loads), SHIFTS * (2 + 3 * most_ends(ends))), dtype=np.int64),
        np.zeros(n_stages, dtype=np.bool_),
    )
    cut = load_all(slots, units, ends, costs, base, loads)
    touched = known[5]
    touched[0] = len(loads)
    touched[1 : len(loads) + 1] = np.arange(len(loads))
    share, per_cut = max(1.0, loads.sum() / most), cut_weight / max(1.0, len(ends[1]) / 2)
    now = unevenness(loads, share, stage_weight, known) * (1 + per_cut * cut)
    least, best = now, slots.copy()
    temperature, cooling = hot, (cold / hot) ** (1.0 / max(1, len(draws)))
    for i in range(len(draws)):
        temperature *= cooling
        a, slot, b = drawn(draws[i], movable, slots, ends, n_slots)
        home = slots[a]
        if slot == home or not allowed[a, unit_of_slot[slot]] or (b >= 0 and not allowed[b, unit_of_slot[home]]):
            continue
        change = shift(a, slot, slots, units, ends, costs, base, loads, touched)
        if b >= 0:
            change += shift(b, home, slots, units, ends, costs, base, loads, touched)
        found = unevenness(loads, share, stage_weight, known) * (1 + per_cut * (cut + change))
        if found <= now - temperature * math.log(draws[i, 3] + 1e-12):
            now, cut = found, cut + change
            if now < least:
                least = now
                best[:] = slots
        else:
            if b >= 0:
                shift(b, slot, slots, units, ends, costs, base, loads, touched)
            shift(a, home, slots, units, ends, costs, base, loads, touched)
    slots[:] = best
