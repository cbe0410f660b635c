"""The loops of the load model: actors in turn go where the loads of the slots are the most even; annealing of loads.

Everything is a flat array (``dse.estimate.bounds.slot_loads`` makes them and says what they hold).
"""

import math

import numpy as np

from dse.estimate.compiled.arrays import copy
from dse.estimate.compiled.inner import inner
from dse.estimate.compiled.pointers import float64_pointer, int64_pointer
from dse.estimate.kept import kernel


@inner
def raised(loads, share, sharpness, powers, s):
    """Note the power of the load of a slot. The same library function as Python's ``**`` of two floats."""
    powers[s] = (loads[s] / share) ** sharpness


@inner
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


@inner
def height(model, loads, before, powers):
    """Return what is minimised: the sum of the powers, in the order of the slots.

    ``before``: the loads that ``powers`` were made of.
    """
    share, sharpness = model
    total = 0.0
    for s in range(len(loads)):
        total += powers[s] if loads[s] == before[s] else (loads[s] / share) ** sharpness
    return total


@inner
def settle(a, slots, loads, used, model, units, reach, ends, costs, work):
    """Put one actor where it is best; return whether it moved."""
    before, powers, base = work
    allowed, first_slot, n_slots = reach
    home = slots[a]
    put(a, home, -1, slots, units, ends, costs, base, loads)
    copy(before, loads)
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
            copy(loads, before)
            put(a, slot, 1, slots, units, ends, costs, base, loads)
            found = height(model, loads, before, powers)
            if found < least:
                least, where = found, slot
    copy(loads, before)
    put(a, where, 1, slots, units, ends, costs, base, loads)
    slots[a] = where
    used[home] -= 1
    used[where] += 1
    return where != home


_I = "int64[::1]"
_M = "int64[:, ::1]"
_C = "int64[:, :, ::1]"


@kernel(
    [
        f"int64({_I}, {_I}, {_I}, UniTuple(float64, 2), Tuple(({_I}, {_M})), Tuple((boolean[:, ::1], {_I}, {_I})), "
        f"UniTuple({_I}, 2), Tuple(({_M}, {_C}, {_C})))"
    ],
    nogil=True,
    error_model="numpy",
)
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

SWAPS, JOINS = 0.4, 0.65
"""Steps drawn below the first number exchange two actors, below the second one put an actor to one of its partners."""


@inner
def eighth(load, share):
    """Return the 8th power of a load."""
    x = load / share
    x *= x
    x *= x
    return x * x


@inner
def peak(powers, begin, n):
    """Return the norm of loads that nearly is the largest one: the 8th root of the sum of their 8th powers."""
    total = 0.0
    for i in range(begin, begin + n):
        total += powers[i]
    return math.sqrt(math.sqrt(math.sqrt(total)))


@inner
def note_load(here, loads, share, known, undo, n_undone):
    """Take a load as it is now; return how many there are in ``undo``.

    ``known``: the loads as they were taken last, with their 8th powers, the peaks of the stages, the loads of all
    stages together with their 8th powers, and the stage and the slot of each load. ``undo``: the loads that the last
    step has changed, with what they and their powers were, and what the peaks were.
    """
    before, powers, _, whole, of_whole, _, slot_of = known
    where, old_loads, old_powers, old_of_whole, _ = undo
    if loads[here] == before[here]:
        return n_undone
    s = slot_of[here]
    where[n_undone], old_loads[n_undone] = here, before[here]
    old_powers[n_undone], old_of_whole[n_undone] = powers[here], of_whole[s]
    whole[s] += loads[here] - before[here]
    before[here] = loads[here]
    powers[here] = eighth(loads[here], share)
    of_whole[s] = eighth(whole[s], share)
    return n_undone + 1


@inner
def unevenness(loads, touched, n_touched, model, known, undo):
    """Return the peak of the loads, in part that of each stage for itself, one after the other; and how many changed.

    ``loads``: of each stage the loads of all slots. ``touched``: those that may be others than at the last call; what
    is added up is added up in the same order whatever was known, so that nothing depends on that. ``model``: the number
    of stages and of slots, by what loads are shared, and what it counts that those of each stage are uneven.
    """
    n_stages, n_slots, share, stage_weight = model
    powers, peaks, of_whole, stage_of = known[1], known[2], known[4], known[5]
    n_undone = 0
    for i in range(n_touched):
        n_undone = note_load(touched[i], loads, share, known, undo, n_undone)
    for stage in range(n_stages):
        undo[4][stage] = peaks[stage]
    last = -1
    for i in range(n_undone):
        stage = stage_of[undo[0][i]]
        if stage != last:
            peaks[stage], last = peak(powers, stage * n_slots, n_slots), stage
    if n_stages == 1:
        return peaks[0], n_undone
    apart = 0.0
    for stage in range(n_stages):
        apart += peaks[stage]
    return stage_weight * apart + (1 - stage_weight) * peak(of_whole, 0, n_slots), n_undone


@inner
def take_back(n_undone, n_stages, loads, known, undo):
    """Make loads, and what is known of them, what they were before the last step."""
    before, powers, peaks, whole, of_whole, _, slot_of = known
    where, old_loads, old_powers, old_of_whole, old_peaks = undo
    for i in range(n_undone - 1, -1, -1):
        here = where[i]
        s = slot_of[here]
        whole[s] += old_loads[i] - before[here]
        loads[here] = before[here] = old_loads[i]
        powers[here], of_whole[s] = old_powers[i], old_of_whole[i]
    for stage in range(n_stages):
        peaks[stage] = old_peaks[stage]


@inner
def shift(a, slot, slots, world, loads, touched, n_touched):
    """Put an actor on another slot; return by how much the number of cut buffers changes, and how many are touched.

    ``touched``: the loads that it changes, some of them twice. ``world``: what actors and buffers cost, as the
    arguments of ``anneal`` say it, all flat, and where in ``loads`` the slots of an actor's stage begin.
    """
    unit_of_slot, work, first, other, same, own, their, base, n_units = world
    home = slots[a]
    if slot == home:
        return 0, n_touched
    u, v = unit_of_slot[home], unit_of_slot[slot]
    here, there = base[a] + home, base[a] + slot
    leaves, comes, cut = work[a * n_units + u], work[a * n_units + v], 0
    for e in range(first[a], first[a + 1]):
        b = other[e]
        o = slots[b]
        end, together = base[b] + o, base[min(a, b)] + o  # the same place from either end
        old, new = (e * n_units + u) * n_units + unit_of_slot[o], (e * n_units + v) * n_units + unit_of_slot[o]
        change = 0
        if o == home:
            cut += 1
            loads[together] -= same[e * n_units + u]
        else:
            leaves += own[old]
            change -= their[old]
        if o == slot:
            cut -= 1
            loads[together] += same[e * n_units + v]
        else:
            comes += own[new]
            change += their[new]
        loads[end] += change
        if change != 0 or o in (home, slot):
            touched[n_touched], touched[n_touched + 1] = end, together
            n_touched += 2
    loads[here] -= leaves
    loads[there] += comes
    touched[n_touched], touched[n_touched + 1] = here, there
    slots[a] = slot
    return cut, n_touched + 2


@inner
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


@inner
def drawn(draws, i, movable, n_movable, slots, world, n_slots):
    """Return a step: an actor, its new slot, and the actor that takes its place, or -1."""
    first, other = world[2], world[3]
    a = movable[int(draws[4 * i] * n_movable)]
    n_ends, kind, where = first[a + 1] - first[a], draws[4 * i + 1], draws[4 * i + 2]
    if kind < SWAPS:
        b = movable[int(where * n_movable)]
        return a, slots[b], b
    if kind < JOINS and n_ends > 0:
        return a, slots[other[first[a] + int(where * n_ends)]], -1
    return a, int(where * n_slots), -1


@inner
def parts_of(ints, floats, n_stages, n_slots):
    """Return the parts of the room of ``anneal``: loads, what is known of them, how to undo a step, what it touched.

    At first all is touched.
    """
    n = n_stages * n_slots
    i, f = ints.ctypes.data, floats.ctypes.data
    loads, before, old_loads = int64_pointer(i), int64_pointer(i + 8 * n), int64_pointer(i + 16 * n)
    where, stage_of, slot_of = int64_pointer(i + 24 * n), int64_pointer(i + 32 * n), int64_pointer(i + 40 * n)
    whole, touched = int64_pointer(i + 48 * n), int64_pointer(i + 48 * n + 8 * n_slots)
    powers, old_powers, old_of_whole = float64_pointer(f), float64_pointer(f + 8 * n), float64_pointer(f + 16 * n)
    of_whole, peaks = float64_pointer(f + 24 * n), float64_pointer(f + 24 * n + 8 * n_slots)
    old_peaks = float64_pointer(f + 24 * n + 8 * n_slots + 8 * n_stages)
    for here in range(n):
        stage_of[here], slot_of[here], touched[here] = here // n_slots, here % n_slots, here
    known = before, powers, peaks, whole, of_whole, stage_of, slot_of
    return loads, known, (where, old_loads, old_powers, old_of_whole, old_peaks), touched


@inner
def world_of(units, ends, costs, base):
    """Return what actors and buffers cost, as ``shift`` takes it."""
    same, own, their = costs
    return (
        int64_pointer(units[0].ctypes.data),
        int64_pointer(units[1].ctypes.data),
        int64_pointer(ends[0].ctypes.data),
        int64_pointer(ends[1].ctypes.data),
        int64_pointer(same.ctypes.data),
        int64_pointer(own.ctypes.data),
        int64_pointer(their.ctypes.data),
        int64_pointer(base.ctypes.data),
        units[1].shape[1],
    )


@kernel(
    [
        f"void({_I}, {_I}, float64[:, ::1], UniTuple(float64, 5), {_I}, Tuple(({_I}, {_M})), boolean[:, ::1], "
        f"UniTuple({_I}, 2), Tuple(({_M}, {_C}, {_C})), Tuple(({_I}, {_I}, float64[::1])))"
    ],
    nogil=True,
    error_model="numpy",
)
def anneal(movable, slots, draws, model, stages, units, allowed, ends, costs, room):
    """Anneal the mapping ``slots``, a step for each row of ``draws``; leaves the best one on the way in ``slots``.

    ``model``: the number of slots that loads are shared by, what it counts that all buffers are cut, what it counts
    that the loads of each stage are uneven, and the first and the last temperature. ``stages``: of the actors.
    ``room``: for where the slots of each actor's stage begin, for integers and for other numbers.
    """
    most, cut_weight, stage_weight, hot, cold = model
    n_slots, n_stages, base = len(units[0]), stages.max() + 1, room[0]
    n_loads = n_stages * n_slots
    copy(base, stages * n_slots)
    room[1][: 6 * n_loads + n_slots] = 0
    room[2][:] = 0.0
    cut = load_all(slots, units, ends, costs, base, room[1][:n_loads])
    share, per_cut = max(1.0, room[1][:n_loads].sum() / most), cut_weight / max(1.0, len(ends[1]) / 2)
    # pointers from here on: arrays are counted references, and the counting took most of the time
    loads, known, undo, touched = parts_of(room[1], room[2], n_stages, n_slots)
    world, now_at = world_of(units, ends, costs, base), int64_pointer(slots.ctypes.data)
    may_move, drawings = int64_pointer(movable.ctypes.data), float64_pointer(draws.ctypes.data)
    of_stages = n_stages, n_slots, share, stage_weight
    now = unevenness(loads, touched, n_loads, of_stages, known, undo)[0] * (1 + per_cut * cut)
    least, best = now, slots.copy()
    temperature, cooling = hot, (cold / hot) ** (1.0 / max(1, len(draws)))
    for i in range(len(draws)):
        temperature *= cooling
        a, slot, b = drawn(drawings, i, may_move, len(movable), now_at, world, n_slots)
        home = now_at[a]
        if slot == home or not allowed[a, units[0][slot]] or (b >= 0 and not allowed[b, units[0][home]]):
            continue
        change, n_touched = shift(a, slot, now_at, world, loads, touched, 0)
        if b >= 0:
            more, n_touched = shift(b, home, now_at, world, loads, touched, n_touched)
            change += more
        found, n_undone = unevenness(loads, touched, n_touched, of_stages, known, undo)
        found *= 1 + per_cut * (cut + change)
        if found <= now - temperature * math.log(draws[i, 3] + 1e-12):
            now, cut = found, cut + change
            if now < least:
                least = now
                copy(best, slots)
        else:
            now_at[a] = home
            if b >= 0:
                now_at[b] = slot
            take_back(n_undone, n_stages, loads, known, undo)
    copy(slots, best)
