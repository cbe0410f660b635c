"""The loop of branch and bound: placements of actors on slots, depth first, without those that loads exclude.

``dse.estimate.bounds.placement_tree`` says what the arrays hold. Actors are numbered in the order in which they are
placed, so that the depth of a node is the number of the actor that is placed next.
"""

import numpy as np

from dse.estimate.compiled.inner import inner
from dse.estimate.kept import kernel

DEPTH = 0
"""Words of ``progress``: the depth of the node whose children are looked at, one of the numbers below at the ends."""
LEAVES = 1
"""Complete placements found in the last call."""
DONE = -1
UNBEGUN = -2


@inner
def load(depth, slot, slots, loads, work, ties):
    """Add what an actor costs on a slot, with the buffers to those placed before, to the ``loads`` of the slots."""
    unit_of_slot, own = work
    first, other, own_same, other_same, own_apart, other_apart = ties
    unit = unit_of_slot[slot]
    loads[slot] += own[depth, unit]
    for t in range(first[depth], first[depth + 1]):
        there = slots[other[t]]
        if there == slot:
            loads[slot] += own_same[t, unit] + other_same[t, unit]
        else:
            v = unit_of_slot[there]
            loads[slot] += own_apart[t, unit, v]
            loads[there] += other_apart[t, v, unit]


@inner
def place(depth, slot, slots, state, work, ties, spans):
    """Make the state of a node of that of its parent: loads, and when the first actor of each slot begins."""
    loads, begins, after = state
    loads[depth + 1] = loads[depth]
    begins[depth + 1] = begins[depth]
    after[depth + 1] = after[depth]
    load(depth, slot, slots, loads[depth + 1], work, ties)
    begins[depth + 1, slot] = min(begins[depth, slot], spans[0][depth])
    after[depth + 1, slot] = min(after[depth, slot], spans[1][depth])


@inner
def bound_of(depth, slot, state, rest, most):
    """Return the least makespan of a node whose state stands behind ``depth``: one slot's, all work on all slots."""
    loads, begins, after = state
    total, heaviest = rest[depth + 1], 0
    for s in range(loads.shape[1]):
        total += loads[depth + 1, s]
        heaviest = max(heaviest, loads[depth + 1, s])
    ends = loads[depth + 1, slot] + begins[depth + 1, slot] + after[depth + 1, slot]
    return max(-(-total // most), heaviest, ends), heaviest


@inner
def expand(depth, bound, best, slots, used, children, state, problem, excluded):  # ways: a compiled loop
    """List the children of a node that are not excluded, the most promising first; count the others."""
    n_children, child_slot, child_bound, child_load = children
    allowed, first_slot, counts, opens, feasible, alike, additive, most, rest, work, ties, spans = problem
    here, n = used[depth], 0
    for u in range(allowed.shape[1]):
        if not allowed[depth, u]:
            continue
        for i in range(counts[here, u] + 1):
            after = here if i < counts[here, u] else opens[here, u]
            slot = first_slot[u] + i
            if after < 0 or not feasible[depth + 1, after]:
                continue
            if alike[depth] >= 0 and slot < slots[alike[depth]]:
                continue  # another branch has an equivalent mapping: alike actors can be sorted
            place(depth, slot, slots, state, work, ties, spans)
            found, heaviest = bound_of(depth, slot, state, rest, most)
            found = max(bound, found) if additive else bound
            if found >= best:
                excluded[depth + 1, after] += 1
                continue
            at = n
            while at > 0 and (
                child_bound[depth, at - 1] > found
                or (child_bound[depth, at - 1] == found and child_load[depth, at - 1] > heaviest)
            ):
                child_slot[depth, at] = child_slot[depth, at - 1]
                child_bound[depth, at], child_load[depth, at] = child_bound[depth, at - 1], child_load[depth, at - 1]
                at -= 1
            child_slot[depth, at], child_bound[depth, at], child_load[depth, at] = slot, found, heaviest
            n += 1
    n_children[depth] = n


_I, _M, _C = "int64[::1]", "int64[:, ::1]", "int64[:, :, ::1]"
_PROBLEM = (
    f"Tuple((boolean[:, ::1], {_I}, {_M}, {_M}, boolean[:, ::1], {_I}, boolean, int64, {_I}, Tuple(({_I}, {_M})), "
    f"Tuple(({_I}, {_I}, {_M}, {_M}, {_C}, {_C})), UniTuple({_I}, 2)))"
)


@kernel(
    [
        f"int64(int64, int64, int64, {_I}, {_I}, {_I}, {_I}, Tuple(({_I}, {_M}, {_M}, {_M})), UniTuple({_M}, 3), "
        f"{_PROBLEM}, {_M}, {_M})"
    ],
    nogil=True,
    error_model="numpy",
)
def walk(least, best, nodes, progress, cursor, slots, used, children, state, problem, excluded, leaves):
    """Go on through the tree for so many nodes, or until ``leaves`` is full; return how many nodes were looked at.

    ``least``: the bound of the root. ``best``: nodes whose bound is not below are left out, and counted in ``excluded``
    by depth and used slots.
    """
    n_children, child_slot, child_bound, _ = children
    opens, counts, first_slot, unit_of_slot = problem[3], problem[2], problem[1], problem[9][0]
    n = len(slots)
    depth, found, visited = progress[DEPTH], 0, 0
    if depth == UNBEGUN:
        depth = 0
        expand(depth, least, best, slots, used, children, state, problem, excluded)
    while depth >= 0 and visited < nodes and found < len(leaves):
        if cursor[depth] == n_children[depth]:
            depth -= 1
            continue
        i = cursor[depth]
        cursor[depth] += 1
        slot, bound = child_slot[depth, i], child_bound[depth, i]
        unit, here = unit_of_slot[slot], used[depth]
        after = here if slot - first_slot[unit] < counts[here, unit] else opens[here, unit]
        if bound >= best:
            excluded[depth + 1, after] += 1
            continue
        slots[depth] = slot
        if depth + 1 == n:
            leaves[found] = slots
            found += 1
            continue
        place(depth, slot, slots, state, problem[9], problem[10], problem[11])
        depth += 1
        used[depth], cursor[depth] = after, 0
        expand(depth, bound, best, slots, used, children, state, problem, excluded)
        visited += 1
    progress[DEPTH], progress[LEAVES] = depth, found
    return visited


@kernel([f"int64(int64, {_I}, Tuple(({_I}, {_M}, {_M}, {_M})))"], nogil=True, error_model="numpy")
def least_open(depth, cursor, children):
    """Return the least bound of all nodes that are yet to be looked at; a number beyond all where there are none."""
    n_children, _, child_bound, _ = children
    least = np.iinfo(np.int64).max
    for d in range(depth + 1):
        if cursor[d] < n_children[d]:  # the first one has the least
            least = min(least, child_bound[d, cursor[d]])
    return least
