"""The loop that fires without time (``dse.estimate.deadlock``): whatever can fire fires, until nothing can.

Everything is a flat array of integers; numbers of actions, of entries of the transfer tables and of firings run
through all actors.
"""

from numba import njit

from dse.estimate.kept import kernel

_inner = njit(error_model="numpy")


@_inner
def has_turn(actor, trace, positions, orders):
    """Return whether an actor is in no static order, or the next unfinished one of its list."""
    order_of, first, actors, turns = orders
    p = order_of[actor]
    if p < 0:
        return True
    base, n = trace[1], first[p + 1] - first[p]
    for _ in range(n):
        a = actors[first[p] + turns[p] % n]
        if positions[a] < base[a + 1] - base[a]:
            return a == actor
        turns[p] += 1
    return False


@_inner
def fires(x, reads, writes, visible, capacities):
    """Make one firing of action ``x`` if all tokens and all space are there; return whether they were."""
    for e in range(reads[0][x], reads[0][x + 1]):
        if visible[reads[1][e]] < reads[2][e]:
            return False
    for e in range(writes[0][x], writes[0][x + 1]):
        if visible[writes[1][e]] + writes[2][e] > capacities[writes[1][e]]:
            return False
    for e in range(reads[0][x], reads[0][x + 1]):
        visible[reads[1][e]] -= reads[2][e]
    for e in range(writes[0][x], writes[0][x + 1]):
        visible[writes[1][e]] += writes[2][e]
    return True


@_inner
def go_on(trace, reads, writes, orders, capacities, state, stop):
    """Fire until no firing is possible."""
    firings, base, action_base = trace
    order_of, turns = orders[0], orders[3]
    positions, visible = state
    moved = True
    while moved and stop[0] == 0:
        moved = False
        for a in range(len(positions)):
            while positions[a] < base[a + 1] - base[a] and has_turn(a, trace, positions, orders):
                if not fires(action_base[a] + firings[base[a] + positions[a]], reads, writes, visible, capacities):
                    break
                positions[a] += 1
                moved = True
                if order_of[a] >= 0:
                    turns[order_of[a]] += 1


@_inner
def shortage(trace, writes, capacities, sizes, state):
    """Return the buffer to raise and by how much: of those that lack space the least in bytes, then in number.

    -1 where none lacks space; and whether every firing was made.
    """
    firings, base, action_base = trace
    positions, visible = state
    buffer, more, complete = -1, 0, True
    for a in range(len(positions)):
        if positions[a] == base[a + 1] - base[a]:
            continue
        complete = False
        x = action_base[a] + firings[base[a] + positions[a]]
        for e in range(writes[0][x], writes[0][x + 1]):
            b = writes[1][e]
            lack = visible[b] + writes[2][e] - capacities[b]
            if lack <= 0:
                continue
            size = capacities[b] * sizes[b]
            if buffer < 0 or (size, b) < (capacities[buffer] * sizes[buffer], buffer):
                buffer, more = b, lack
    return buffer, more, complete


_I = "int64[::1]"
_THREE = f"UniTuple({_I}, 3)"
_GAME = f"Tuple((uint16[::1], {_I}, {_I})), {_THREE}, {_THREE}, UniTuple({_I}, 4)"


@kernel([f"void({_GAME}, {_I}, UniTuple({_I}, 2), {_I})"], nogil=True, error_model="numpy")
def play(trace, reads, writes, orders, capacities, state, stop):
    """Go on from ``state``, the positions of the actors and the tokens in the buffers, until no firing is possible.

    ``trace``: the firings of all actors, where each actor's begin, and its first action. ``reads``, ``writes``: first
    entry of each action, buffers, tokens. ``orders``: the static order of each actor or -1, where its list begins, the
    lists, how many turns each has had. ``stop[0]``: another thread sets it to 1 to end the game.
    """
    go_on(trace, reads, writes, orders, capacities, state, stop)


@kernel([f"boolean({_GAME}, {_I}, {_I}, UniTuple({_I}, 2), {_I})"], nogil=True, error_model="numpy")
def play_out(trace, reads, writes, orders, capacities, sizes, state, stop):
    """Go on to the end, as ``play``; whenever nothing can fire, a buffer in ``capacities`` is raised by its shortage.

    ``sizes``: of a token of each buffer in bytes, all 0 where the number of the buffer decides. Returns whether every
    firing was made.
    """
    while stop[0] == 0:
        go_on(trace, reads, writes, orders, capacities, state, stop)
        buffer, more, complete = shortage(trace, writes, capacities, sizes, state)
        if buffer < 0:
            return complete
        capacities[buffer] += more
    return False
