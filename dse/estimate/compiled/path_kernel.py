"""Loops of the bounds: the longest path of a trace under fixed times, and the bounds of many mappings.

Everything is a flat array of integers (``dse.estimate.bounds.path_pool`` makes them and says what they hold). Numbers
of actions, of entries of the transfer tables and of firings run through all actors.
"""

import numpy as np

from dse.estimate.compiled.inner import inner
from dse.estimate.kept import kernel
from dse.estimate.problem.prices import ACROSS, APART, CLASS_OF_ENDS, TOGETHER


@inner
def entry_to(first, buffer, x, b):
    """Return the write of action ``x`` to buffer ``b``, -1 where there is none."""
    for e in range(first[x], first[x + 1]):
        if buffer[e] == b:
            return e
    return -1


@inner
def scheduling(firings, base, action_base, pair_base, pairs, first, a, f):
    """Return the scheduling ticks of firing ``f`` of actor ``a``."""
    x = firings[f]
    if f == base[a]:
        return first[action_base[a] + x]
    return pairs[pair_base[a] + firings[f - 1] * (action_base[a + 1] - action_base[a]) + x]


@inner
def run_ahead(trace, reads, writes, buffers, times, a, state, found):  # ways: a compiled loop over state it shares
    """Compute the firings of actor ``a`` whose tokens are there; return whether there was one."""
    firings, base, action_base, pair_base = trace
    read_first, read_buffer, read_tokens = reads
    write_first, write_buffer, write_tokens = writes
    source, _, initial = buffers
    pairs, first, body, until, whole = times
    done, end, made, makers, wanted = state
    start, before, through = found
    begin = done[a]
    while base[a] + done[a] < base[a + 1]:
        f = base[a] + done[a]
        x = action_base[a] + firings[f]
        time, previous, entry = end[a], f - 1 if done[a] else -1, -1
        for e in range(read_first[x], read_first[x + 1]):
            b = read_buffer[e]
            s = source[b]
            need = wanted[b] + read_tokens[e]
            if s == a or need <= initial[b]:
                continue
            while made[b] < need and makers[b] < done[s]:
                w = entry_to(write_first, write_buffer, action_base[s] + firings[base[s] + makers[b]], b)
                made[b] += write_tokens[w] if w >= 0 else 0
                makers[b] += 1
            if made[b] < need:
                return done[a] > begin
            maker = base[s] + makers[b] - 1
            y = action_base[s] + firings[maker]
            w = entry_to(write_first, write_buffer, y, b)
            visible = start[maker] + body[y] + until[w]
            visible += scheduling(firings, base, action_base, pair_base, pairs, first, s, maker)
            if visible > time:
                time, previous, entry = visible, maker, w
        for e in range(read_first[x], read_first[x + 1]):
            wanted[read_buffer[e]] += read_tokens[e]
        start[f], before[f], through[f] = time, previous, entry
        end[a] = time + body[x] + whole[x]
        end[a] += scheduling(firings, base, action_base, pair_base, pairs, first, a, f)
        done[a] += 1
    return done[a] > begin


@inner
def count_back(trace, found, counts, a, f):
    """Count the firings of the path that ends with firing ``f`` of actor ``a``."""
    firings, base, action_base, pair_base = trace
    pair_count, first_count, action_count, whole_count, way_count = counts
    _, before, through = found
    way = -1  # the write through which the path leaves the firing; -1: to the next of its actor, or not at all
    while f >= 0:
        while f < base[a] or f >= base[a + 1]:
            a = a + 1 if f >= base[a + 1] else a - 1
        x = action_base[a] + firings[f]
        action_count[x] += 1
        if f == base[a]:
            first_count[x] += 1
        else:
            pair_count[pair_base[a] + firings[f - 1] * (action_base[a + 1] - action_base[a]) + firings[f]] += 1
        if way >= 0:
            way_count[way] += 1
        else:
            whole_count[x] += 1
        way = through[f]
        f = before[f]


_I, _M = "int64[::1]", "int64[:, ::1]"
_TRACE = f"Tuple((uint16[::1], {_I}, {_I}, {_I}))"
_THREE = f"UniTuple({_I}, 3)"
_FIVE = f"UniTuple({_I}, 5)"


@kernel(
    [f"int64({_TRACE}, {_THREE}, {_THREE}, {_THREE}, {_FIVE}, Tuple(({_I}, {_I}, int32[::1])), {_FIVE})"],
    nogil=True,
    error_model="numpy",
)
def longest_path(trace, reads, writes, buffers, times, found, counts):  # ways: a compiled loop over state it shares
    """Return the length of the longest path; add to ``counts`` what its firings are."""
    base = trace[1]
    source, target, initial = buffers
    n = len(base) - 1
    done, end = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    made, makers = initial.copy(), np.zeros(len(source), dtype=np.int64)
    state = (done, end, made, makers, np.zeros(len(source), dtype=np.int64))
    again = np.ones(n, dtype=np.int64)
    waiting = n
    while waiting > 0:
        for a in range(n):
            if again[a] == 0:
                continue
            again[a] = 0
            waiting -= 1
            if run_ahead(trace, reads, writes, buffers, times, a, state, found):
                for b in range(len(source)):
                    if source[b] == a and target[b] != a and again[target[b]] == 0:
                        again[target[b]] = 1
                        waiting += 1
    last = 0
    for a in range(n):
        if end[a] > end[last]:
            last = a
    if end[last] > 0:
        count_back(trace, found, counts, last, base[last] + done[last] - 1)
    return end[last]


@inner
def classify(slots, slot_unit, unit_kind, unit_side, buffers, crossing, read_class, write_class):
    """Give each buffer the class of its price on both sides, and each port its first buffer that crosses, or -1."""
    source, target, port = buffers
    crossing[:] = -1
    for b in range(len(source) - 1, -1, -1):
        if unit_side[slot_unit[slots[source[b]]]] != unit_side[slot_unit[slots[target[b]]]]:
            crossing[port[b]] = b
    for b in range(len(source)):
        writer, reader = slots[source[b]], slots[target[b]]
        where = TOGETHER if writer == reader else APART
        if crossing[port[b]] >= 0:
            where = ACROSS
        read_class[b] = CLASS_OF_ENDS[unit_kind[slot_unit[reader]], where]
        write_class[b] = CLASS_OF_ENDS[unit_kind[slot_unit[writer]], where]


@kernel([f"void({_I}, {_THREE}, {_THREE}, int64, {_I}, {_I})"], nogil=True, error_model="numpy")
def classes_of(slots, units, buffers, n_ports, read_class, write_class):
    """``classify`` for one mapping."""
    slot_unit, unit_kind, unit_side = units
    crossing = np.empty(n_ports, dtype=np.int64)
    classify(slots, slot_unit, unit_kind, unit_side, buffers, crossing, read_class, write_class)


@inner
def link_load(slots, units, buffers, crossing, read_class, write_class, loads, links, busy):
    """Return the largest load of a shared link.

    A buffer that crosses is on the link between its ends, another host buffer on that of its port's first that does.
    """
    slot_unit, _, unit_side = units
    source, target, port = buffers
    read_loads, write_loads = loads
    link_between, servers = links
    busy[:] = 0
    most = 0
    for b in range(len(source)):
        first = crossing[port[b]]
        if first < 0:
            continue
        here, there = slot_unit[slots[source[b]]], slot_unit[slots[target[b]]]
        other = there if unit_side[here] != unit_side[there] else slot_unit[slots[target[first]]]
        link = link_between[here, other]
        if link < 0:
            continue
        server = servers[link, here, there]
        if server >= 0:
            busy[server] += read_loads[read_class[b], b] + write_loads[write_class[b], b]
            most = max(most, busy[server])
    return most


@inner
# ways: compiled sums, one nest of loops for each kind of cost
def path_length(slots, rows, buffers, read_class, write_class, paths, parallel, length, widest):
    """Return the length of the longest of the paths, kept as sums: (row, actor, path), (class, buffer, path)."""
    source, target, _ = buffers
    ticks, reads, writes = paths
    n = len(length)
    length[:] = 0
    for a in range(len(slots)):
        for k in range(n):
            length[k] += ticks[rows[a], a, k]
    if not parallel:
        for b in range(len(source)):
            for k in range(n):
                length[k] += reads[read_class[b], b, k] + writes[write_class[b], b, k]
    else:
        widest[:] = 0
        for b in range(len(source)):
            for k in range(n):
                widest[0, target[b], k] = max(widest[0, target[b], k], reads[read_class[b], b, k])
                widest[1, source[b], k] = max(widest[1, source[b], k], writes[write_class[b], b, k])
        for a in range(len(slots)):
            for k in range(n):
                length[k] += widest[0, a, k] + widest[1, a, k]
    most = 0
    for k in range(n):
        most = max(most, length[k])
    return most


@inner
def work(
    slots, rows, buffers, read_class, write_class, actor_loads, loads, parallel, side_by_side, per_actor, per_slot
):
    """Return the load of the busiest core: of a slot, or of an actor where those of a slot run side by side."""
    source, target, _ = buffers
    read_loads, write_loads = loads
    per_actor[:] = 0
    for b in range(len(source)):
        reading, writing = read_loads[read_class[b], b], write_loads[write_class[b], b]
        if parallel:
            per_actor[0, target[b]] = max(per_actor[0, target[b]], reading)
            per_actor[1, source[b]] = max(per_actor[1, source[b]], writing)
        else:
            per_actor[0, target[b]] += reading
            per_actor[1, source[b]] += writing
    per_slot[:] = 0
    most = 0
    for a in range(len(slots)):
        load = actor_loads[rows[a], a] + per_actor[0, a] + per_actor[1, a]
        per_slot[slots[a]] += load
        most = max(most, load if side_by_side else per_slot[slots[a]])
    return most


_C = "int64[:, :, ::1]"


@kernel(
    [
        f"void({_M}, {_M}, boolean[::1], {_THREE}, {_THREE}, int64, {_M}, UniTuple({_M}, 2), Tuple(({_M}, {_C})), "
        f"UniTuple({_C}, 3), boolean, {_I})"
    ],
    nogil=True,
    error_model="numpy",
)
def bounds_of(slots, rows, side_by_side, units, buffers, n_ports, actor_loads, loads, links, paths, parallel, bounds):
    """Put a bound of each mapping into ``bounds``; ``slots`` and ``rows`` of the tables: (n_mappings, n_actors)."""
    slot_unit, unit_kind, unit_side = units
    n_actors, n_buffers, n_paths = slots.shape[1], len(buffers[0]), paths[0].shape[2]
    crossing = np.empty(n_ports, dtype=np.int64)
    read_class, write_class = np.empty(n_buffers, dtype=np.int64), np.empty(n_buffers, dtype=np.int64)
    per_actor, per_slot = np.empty((2, n_actors), dtype=np.int64), np.empty(len(slot_unit), dtype=np.int64)
    length, widest = np.empty(n_paths, dtype=np.int64), np.empty((2, n_actors, n_paths), dtype=np.int64)
    busy = np.empty(2 * links[1].shape[0] + 1, dtype=np.int64)
    for i in range(len(slots)):
        here, costs = slots[i], rows[i]
        classify(here, slot_unit, unit_kind, unit_side, buffers, crossing, read_class, write_class)
        most = work(
            here,
            costs,
            buffers,
            read_class,
            write_class,
            actor_loads,
            loads,
            parallel,
            side_by_side[i],
            per_actor,
            per_slot,
        )
        if links[1].shape[0] > 0:
            most = max(most, link_load(here, units, buffers, crossing, read_class, write_class, loads, links, busy))
        if n_paths > 0:
            most = max(
                most, path_length(here, costs, buffers, read_class, write_class, paths, parallel, length, widest)
            )
        bounds[i] = most
