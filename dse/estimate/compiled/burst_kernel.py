"""Makespans in bursts: the same integers as ``dse.estimate.compiled.kernel``, for points without what this leaves out.

The general kernel goes from event to event of the whole network. This one follows a core (a *lane*) for as long as
what is known suffices, then another. It holds for lanes of one core without shared links, SIMD blocks and firings of
their own costs, where a firing acts on others by two kinds of events only: tokens that it delivers and room that it
frees. Both are known, with their times, as soon as it starts, or where they travel, as soon as its turn is over
(``dse.estimate.compiled.burst_visits``).

A *stamp* is a time and, in its low bits, the round of the instant (``dse.estimate.semantics``): what is due later than
a start comes in round 0 of its instant, what is due at the time of the start in the next round. A decision of a lane
at a stamp sees what has this stamp or an earlier one, and nothing else; so it does not matter in which order lanes are
followed. That an actor is ready is known for good once the entries it needs are there. That one is *not* ready is
known if the entry it lacks has a later stamp, or if whoever gives it stands, with all that can still happen, at this
stamp or behind it. Where neither is known the lane waits and the one that is furthest behind goes on, for which
everything is known.

``m`` is the bench, ``t`` the board of ``dse.estimate.compiled.burst_layout``; ``f`` are the action ids of all firings.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_bench import (
    lay_actions,
    lay_actors,
    lay_queues,
    lay_travellers,
    lay_visits,
    take_limit,
)
from dse.estimate.compiled.burst_links import add_waits, begin_asking, grant, is_under_way, lay_askings, lay_links
from dse.estimate.compiled.burst_queues import FULL, NOT_READY, READY, ask, fire, look, ready_at, sure_until, visited
from dse.estimate.compiled.burst_rows import fire_row, goes_in_rows, goes_on_alone, lay_spares
from dse.estimate.compiled.burst_visits import (
    count_firing,
    end_turn,
    enter,
    is_left,
    last_arrival,
    settle,
    stays,
    visit_ticks,
)
from dse.estimate.compiled.eights import least_of_eight
from dse.estimate.compiled.inner import inlined, inner
from dse.estimate.compiled.pointers import int64_pointer, is_linked, is_travelling, uint16_pointer
from dse.estimate.kept import kernel

# Lanes ----------------------------------------------------------------------------------------------------------------

NOBODY = -1
DOUBT = -2
"""What is chosen instead of an actor: none is ready; it is not known yet."""


@inlined
def is_held(m, p):
    """Return whether it matters when it is known that an actor is not ready: tokens of a turn are not published yet."""
    return is_travelling(m) and m[p + at.UNPUBLISHED] != layout.NONE


@inner
def search_near(m, p, now):
    """``search`` at a stamp that is near: who lacks what is not known yet is not ready; most hints are passed by eight.

    Up to when nobody is ready is not looked at: the lane comes back when it is the first one.
    """
    places, hints, n, turn = m[p + at.PLACES], m[p + at.HINTS], m[p + at.N_PLACES], m[p + at.TURN]
    next_one = at.UNKNOWN
    for half in range(2):
        place, end = (turn, n) if half == 0 else (0, turn)
        while place < end:
            if place + 8 <= end:
                least = least_of_eight(m, hints + place)
                if least > now:
                    next_one = min(next_one, least)
                    place += 8
                    continue
            for one in range(place, min(place + 8, end)):
                if m[hints + one] <= now:
                    a = m[places + one]
                    code = ask(m, p, a, m[a + at.NEXT], now)
                    if code != NOT_READY:
                        return one if code == READY else DOUBT, next_one, m[at.SURE_UNTIL]
                next_one = min(next_one, m[hints + one])
            place += 8
    return NOBODY, next_one, m[at.SURE_UNTIL]


@inlined
def search(m, p, now):  # ways: part of the hot loop
    """Return the first ready place at or behind TURN, cyclically, or NOBODY or DOUBT.

    With NOBODY: also when one may be ready, and up to when for sure no other one is.
    """
    if m[p + at.N_PLACES] >= (at.MANY_WITH_LINKS if is_linked(m) else at.MANY_PLACES) and now <= m[at.SURE_UNTIL]:
        return search_near(m, p, now)
    places, hints, n = m[p + at.PLACES], m[p + at.HINTS], m[p + at.N_PLACES]
    place = m[p + at.TURN]
    next_one, sure = at.UNKNOWN, at.UNKNOWN
    for _ in range(n):
        hint = m[hints + place]
        if hint <= now:
            a = m[places + place]
            code = ask(m, p, a, m[a + at.NEXT], now)
            if code == READY:
                return place, next_one, sure
            if code == FULL:
                return DOUBT, next_one, sure
            hint = m[hints + place]
        if hint == at.UNKNOWN and (n > 1 or is_held(m, p)):  # else it does not matter when that is known for sure
            until = sure_until(m, p, m[places + place])
            if until < now:
                return DOUBT, next_one, sure
            sure = min(sure, until)
        next_one = min(next_one, hint)
        place += 1
        if place == n:
            place = 0
    return NOBODY, next_one, sure


@inner
def search_static(m, p, now):
    """STATIC_ORDER: the next unfinished actor if it is ready; returns as ``search``."""
    for _ in range(m[p + at.N_ORDER]):
        a = m[m[p + at.ORDER] + m[p + at.TURN]]
        hint = m[a + at.HINT]
        if m[a + at.POSITION] < m[a + at.FIRING_END]:
            code = ask(m, p, a, m[a + at.NEXT], now) if m[hint] <= now else NOT_READY
            if m[hint] == at.UNKNOWN and is_held(m, p) and now > sure_until(m, p, a):
                code = FULL
            place = hint - m[p + at.HINTS] if code == READY else DOUBT if code == FULL else NOBODY
            return place, m[hint], at.UNKNOWN
        m[p + at.TURN] = (m[p + at.TURN] + 1) % m[p + at.N_ORDER]
    return NOBODY, at.UNKNOWN, at.UNKNOWN


@inner
def hear(m, p, a):
    """DATA_DEMAND_DRIVEN: append an actor if it is not in the queue."""
    if m[a + at.QUEUED] == 0:
        m[a + at.QUEUED] = 1
        tail = (m[p + at.HEARD_HEAD] + m[p + at.HEARD_SIZE]) % m[p + at.N_PLACES]
        m[m[p + at.HEARD] + tail] = a
        m[p + at.HEARD_SIZE] += 1


@inner
def ask_neighbours(m, t, p, a, now, side, ends, telling):
    """Look at, or (``telling``) append, the ready actors at the other ends of the buffers of an actor.

    Returns whether one of them is in doubt.
    """
    first = t[side] + m[a + at.NUMBER]
    for i in range(t[first], t[first + 1]):
        other = m[at.ACTORS] + t[t[ends] + t[t[side + 1] + i]] * at.ACTOR_WORDS
        if m[other + at.LANE] == p:
            code = look(m, p, other, m[other + at.HINT], now)
            if code == FULL:
                return True
            if telling and code == READY:
                hear(m, p, other)
    return False


@inner
def hear_end(m, t, p, now):
    """DATA_DEMAND_DRIVEN: append ready successors, and ready predecessors of an actor that lacks input.

    Returns whether something is in doubt; then nothing was appended.
    """
    a = m[p + at.ENDED_ACTOR]
    lacks = False
    if m[a + at.POSITION] < m[a + at.FIRING_END]:
        code = look(m, p, a, m[a + at.HINT], now)
        if code == FULL:
            return True
        x = m[a + at.NEXT]
        if code == NOT_READY:
            for e in range(m[x + at.NEED], m[x + at.WRITES_BEGIN], at.NEED_WORDS):
                lacks |= m[e + at.TAKE] == m[a + at.WAITS_FOR]
    for telling in range(2):
        if ask_neighbours(m, t, p, a, now, at.OUTPUTS_FIRST, at.TARGETS, telling == 1):
            return True
        if lacks and ask_neighbours(m, t, p, a, now, at.INPUTS_FIRST, at.SOURCES, telling == 1):
            return True
    m[p + at.ENDED_ACTOR] = layout.NONE
    return False


@inner
def search_demanded(m, t, p, now):
    """DATA_DEMAND_DRIVEN: the first entry that is ready, dropping those before it; else and returned as ``search``."""
    if m[p + at.ENDED_ACTOR] != layout.NONE and hear_end(m, t, p, now):
        return DOUBT, at.UNKNOWN, at.UNKNOWN
    n, next_one, sure = m[p + at.HEARD_SIZE], at.UNKNOWN, at.UNKNOWN
    dropped, place = n, NOBODY
    for i in range(n):
        a = m[m[p + at.HEARD] + (m[p + at.HEARD_HEAD] + i) % m[p + at.N_PLACES]]
        code = look(m, p, a, m[a + at.HINT], now)
        if code == FULL:
            return DOUBT, next_one, sure
        if code == READY:
            place, dropped = m[a + at.HINT] - m[p + at.HINTS], i + 1
            break
    if place < 0:
        place, next_one, sure = search(m, p, now)
        if place < 0:
            return place, next_one, sure
    for _ in range(dropped):
        m[m[m[p + at.HEARD] + m[p + at.HEARD_HEAD]] + at.QUEUED] = 0
        m[p + at.HEARD_HEAD] = (m[p + at.HEARD_HEAD] + 1) % m[p + at.N_PLACES]
    m[p + at.HEARD_SIZE] = n - dropped
    return place, next_one, sure


@inlined
def choose(m, t, p, now):
    """Return the place that a lane fires next, NOBODY or DOUBT, as ``search``."""
    policy = m[p + at.POLICY]
    if policy == layout.STATIC_ORDER:
        return search_static(m, p, now)
    if policy == layout.DATA_DEMAND_DRIVEN:
        return search_demanded(m, t, p, now)
    if visited(m) and policy == layout.NON_PREEMPTIVE and is_left(m, p, now):
        return DOUBT, at.UNKNOWN, at.UNKNOWN
    return search(m, p, now)


@inlined
def move_turn(m, p, place):
    """Remember what was chosen."""
    if m[p + at.POLICY] == layout.NON_PREEMPTIVE:
        m[p + at.TURN] = place
    else:
        turn = m[p + at.TURN] + 1 if m[p + at.POLICY] == layout.STATIC_ORDER else place + 1
        n = m[p + at.N_ORDER] if m[p + at.POLICY] == layout.STATIC_ORDER else m[p + at.N_PLACES]
        m[p + at.TURN] = turn if turn < n else 0


@inlined
def burst(m, t, f, p, a, now):  # ways: the hot loop; a call costs more than a branch
    """Fire an actor that is ready, and again as long as it is the one that goes on; return when the core is free."""
    rounds = m[at.ROUNDS] if is_linked(m) else m[at.MASK]
    if now & rounds == rounds:  # what it gives would come in the round after the last one
        m[at.ENDED] = at.REFUSED
        return now
    mask, shift, again = m[at.MASK], t[at.SHIFT], m[p + at.POLICY] == layout.NON_PREEMPTIVE or m[p + at.N_PLACES] == 1
    position, end, actions = m[a + at.POSITION], m[a + at.FIRING_END], m[a + at.ACTOR_ACTIONS]
    x = m[a + at.NEXT]
    if now > m[a + at.ENDED_AT]:
        m[a + at.IDLE] += (now >> shift) - (ready_at(m, a, x) >> shift)
    last = m[a + at.LAST] if m[p + at.LAST_ACTOR] == a else layout.NONE
    ticks = m[x + at.SCHED_FIRST] if last == layout.NONE else t[m[x + at.SCHED_PAIRS] + last * m[x + at.SCHED_STRIDE]]
    if visited(m):
        ticks = visit_ticks(m, t, p, a, x, now, ticks)
    scheduling, limit = ticks, m[at.LIMIT]
    if limit != at.UNKNOWN:
        m[p + at.SLACK] -= (now & ~mask) - (m[p + at.FREE_SINCE] & ~mask) + ticks - m[x + at.LEAST]
        if m[p + at.SLACK] < 0:
            m[at.ENDED] = at.OVER
    hint, few = at.FINISHED, m[p + at.N_PLACES] <= at.FEW_PLACES
    while True:
        if is_linked(m) and m[x + at.ASKS] == 1:
            begin_asking(m, p, x, now, ticks)
            last, position = m[x + at.INDEX], position + 1
            if position < end:
                x, hint = actions + f[position] * at.ACTION_WORDS, now
            break
        if goes_in_rows(m) and again and m[a + at.IN_ROWS] == 1:
            made, now, last, more = fire_row(m, t, f, p, a, x, position, now, ticks, mask, rounds)
            position += made
            scheduling += more
        else:
            now = fire(m, x, now, ticks, mask)
            last = m[x + at.INDEX]
            position += 1
        if is_travelling(m):
            count_firing(m, a, now)
        if now & rounds == rounds or now >= limit:
            m[at.ENDED] = at.OVER if now >= limit else at.REFUSED
            break
        if position == end:
            break
        x = actions + f[position] * at.ACTION_WORDS
        if not again:
            hint = now
            break
        code = ask(m, p, a, x, now)
        if goes_in_rows(m) and code == NOT_READY and few and m[m[a + at.HINT]] < at.UNKNOWN:
            stamp = goes_on_alone(m, p, a, x, now, rounds)
            if stamp > now:
                now, code = stamp, READY
        if code != READY:
            hint = now if code == FULL else m[m[a + at.HINT]]
            break
        if not stays(m, p, a, x):
            hint = now
            break
        ticks = t[m[x + at.SCHED_PAIRS] + last * m[x + at.SCHED_STRIDE]]
        if visited(m):
            ticks += enter(m, a, x)
        scheduling += ticks
    m[m[a + at.HINT]] = hint
    m[a + at.POSITION] = position
    m[a + at.NEXT], m[a + at.LAST] = x, last
    m[a + at.ENDED_AT] = now
    m[a + at.SCHEDULING] += scheduling
    m[p + at.LAST_ACTOR] = a
    m[p + at.FREE_SINCE] = now
    m[at.LATEST] = max(m[at.LATEST], now)
    if is_travelling(m):
        end_turn(m, p, a, now)
    return now


@inner
def follow(m, t, f, p):  # ways: part of the hot loop
    """Follow a lane from its next decision on for as long as what is known suffices."""
    now = m[m[p + at.KEY]]
    while m[at.ENDED] == 0:
        place, next_one, sure = choose(m, t, p, now)
        if place == DOUBT:
            m[m[p + at.KEY]] = now
            if m[p + at.IDLING] == 0:
                m[p + at.STANDS_AT] = now
            return
        if is_travelling(m):
            settle(m, p, place)
        if place == NOBODY:
            m[p + at.STANDS_AT] = now
            m[p + at.IDLING] = 1
            if next_one >= at.UNKNOWN or next_one > sure + 1:
                m[m[p + at.KEY]] = min(next_one, at.UNKNOWN)
                return
            now = next_one
            continue
        m[p + at.IDLING] = 0
        move_turn(m, p, place)
        a = m[m[p + at.PLACES] + place]
        now = burst(m, t, f, p, a, now)
        if m[p + at.POLICY] == layout.DATA_DEMAND_DRIVEN:
            m[p + at.ENDED_ACTOR] = a
        if is_linked(m) and is_under_way(m, p):
            m[m[p + at.KEY]] = at.UNKNOWN
            return


@inlined
def next_lane(m):
    """Return the lane, or behind these the link, whose next decision is the first one, NONE: there is none."""
    keys, n, found, best = m[at.KEYS], m[at.N_KEYS], layout.NONE, at.UNKNOWN
    first, end = 0, n & ~7
    while first < end:
        least = least_of_eight(m, keys + first)
        if least < best:
            best, found = least, first
        first += 8
    if found >= 0:
        while m[keys + found] != best:
            found += 1
    for i in range(end, n):
        key = m[keys + i]
        if key < best:
            best, found = key, i
    m[at.SURE_UNTIL] = best
    return found


# The loop -------------------------------------------------------------------------------------------------------------


@inner
def run(m, t, f, stop):
    """Follow lanes until nothing is known to be due any more."""
    while m[at.ENDED] == 0:
        number = next_lane(m)
        if number < 0:
            break
        if stop[0] == 1:
            m[at.ENDED] = at.OVER
            break
        if is_linked(m) and number >= m[at.N_LANES]:
            grant(m)
        else:
            follow(m, t, f, m[at.LANES] + number * at.LANE_WORDS)


@inner
def all_made(m, t):
    """Return whether no actor has a firing left."""
    for a in range(t[at.N_ACTORS]):
        row = m[at.ACTORS] + a * at.ACTOR_WORDS
        if m[row + at.POSITION] < m[row + at.FIRING_END]:
            return False
    return True


@inner
def close(m, t, f, spent, idle, first_idle, first_part):
    """Add up the accounts of a run that is over; mark it where firings are left."""
    shift = t[at.SHIFT]
    if is_travelling(m) and not all_made(m, t):
        m[at.LATEST] = max(m[at.LATEST], last_arrival(m, t))
    for a in range(t[at.N_ACTORS]):
        row = m[at.ACTORS] + a * at.ACTOR_WORDS
        p = m[row + at.LANE]
        if m[row + at.POSITION] < m[row + at.FIRING_END]:
            m[at.ENDED] = at.DEADLOCK
            if ask(m, p, row, m[row + at.NEXT], m[at.LATEST]) == READY:  # not its turn in a static order
                m[row + at.IDLE] += (m[at.LATEST] >> shift) - (ready_at(m, row, m[row + at.NEXT]) >> shift)
        idle[first_idle + a] = m[row + at.IDLE]
        of = at.SPENT_WORDS * (first_part + m[p + at.PARTITION])
        spent[of] += m[row + at.SCHEDULING] >> shift
        first = t[t[at.ACTION_BASE] + a]
        for x in range(first, t[t[at.ACTION_BASE] + a + 1]):
            action = m[at.ACTIONS] + x * at.ACTION_WORDS
            done = t[t[at.COUNTS] + x]
            if m[row + at.POSITION] < m[row + at.FIRING_END]:
                done = 0
                for i in range(m[row + at.FIRING_BEGIN], m[row + at.POSITION]):
                    done += f[i] == x - first
            spent[of + 1] += done * (m[action + at.READING] >> shift)
            spent[of + 2] += done * (m[action + at.PROCESSING] >> shift)
            spent[of + 3] += done * (m[action + at.WRITING] >> shift)
    if is_linked(m):
        add_waits(m, t, spent, first_part)


@inner
def run_point(m, t, f, head, parts, members, orders, choices, stop, limit, spent, idle, i):
    """Run one of the points, as ``follow_points`` says; all arrays of it are pointers."""
    shift, n_actors, of = t[at.SHIFT], t[at.N_ACTORS], 6 * i
    first_part, first_choice, early, parallel = head[of], head[of + 3], head[of + 4], head[of + 5]
    m[at.ENDED] = m[at.LATEST] = 0
    m[at.MASK] = (1 << shift) - 1
    m[at.LIMIT] = at.UNKNOWN if limit >= (at.UNKNOWN >> shift) - 1 else (limit + 1) << shift
    m[at.ACTORS] = at.BENCH_FIELDS
    m[at.ACTIONS] = m[at.ACTORS] + n_actors * at.ACTOR_WORDS
    needs = m[at.ACTIONS] + t[at.N_ACTIONS] * at.ACTION_WORDS
    m[at.QUEUE_OF] = needs + t[at.N_TRANSFERS] * at.NEED_WORDS
    m[at.LANES] = m[at.TRAVELLERS] = lay_queues(m, t, choices, first_choice)
    if goes_in_rows(m):
        m[at.LANES] = lay_spares(m, m[at.LANES])
    if is_travelling(m):
        m[at.LANES] = lay_travellers(m, t, choices, first_choice)
    if is_linked(m):
        m[at.EARLY], m[at.PARALLEL] = early, parallel
        m[at.LANES] = lay_links(m, t, m[at.LANES], choices, first_choice)
    lay_actors(m, t, f, parts, members, n_actors * i, orders, first_part, head[of + 1], head[of + 2])
    if is_travelling(m):
        lay_visits(m, parts, first_part)
    if is_linked(m):
        lay_askings(m, t)
    lay_actions(m, t, parts, first_part, choices, first_choice, early == 1, parallel == 1)
    if m[at.LIMIT] != at.UNKNOWN:
        take_limit(m, t)
    run(m, t, f, stop)
    if m[at.ENDED] == 0:
        close(m, t, f, spent, idle, n_actors * i, first_part)


@inner
def run_points(m, t, f, points, stop, limit, ended, latest, spent, idle):
    """Run points one after the other, as ``follow_points`` says."""
    head, parts, members, orders, choices = points
    for i in range(len(ended)):
        run_point(
            m, t, f, int64_pointer(head.ctypes.data), int64_pointer(parts.ctypes.data),
            int64_pointer(members.ctypes.data), int64_pointer(orders.ctypes.data), int64_pointer(choices.ctypes.data),
            stop, limit, spent, idle, i,
        )  # fmt: skip
        ended[i], latest[i] = m[at.ENDED], m[at.LATEST] >> t[at.SHIFT]


_I = "int64[::1]"
SIGNATURE = f"void({_I}, {_I}, uint16[::1], UniTuple({_I}, 5), {_I}, int64, {_I}, {_I}, {_I}, {_I})"


@kernel([SIGNATURE], nogil=True, error_model="numpy")
def follow_points(bench, board, firings, points, stop, limit, ended, latest, spent, idle):
    """Run points one after the other in which nothing travels.

    ``bench``: room for one run. ``points``: for each point the numbers of its first row in the next ones, the modes
    early release and parallel transfers; parts, members, orders and choices of all, as in
    ``dse.estimate.compiled.encode``. ``stop[0]``: another thread sets it to 1 to end the runs. ``limit``: the last
    tick by which they have to complete, NEVER: none. ``ended``, ``latest``: receive why each run ended and its last
    event. ``spent``: zeros, SPENT_WORDS for each partition, receives what its actors spent on scheduling,
    reading, processing, writing and waiting for links. ``idle``: receives what each actor of each point waited for its
    core.
    """
    m, t, f = int64_pointer(bench.ctypes.data), int64_pointer(board.ctypes.data), uint16_pointer(firings.ctypes.data)
    stopping = int64_pointer(stop.ctypes.data)
    run_points(
        m,
        t,
        f,
        points,
        stopping,
        limit,
        ended,
        latest,
        int64_pointer(spent.ctypes.data),
        int64_pointer(idle.ctypes.data),
    )
