"""The burst kernel where tokens travel: turns, publications, and visits where those are known.

What an actor gives to a queue that travels is held until it publishes; when it arrives then is known at once
(``dse.estimate.semantics``, Arrival), so that the taker asks for it as for anything else. Whether an actor publishes
behind a firing depends on what its lane does at the very stamp at which the firing ends; until that is decided it is
the lane's ``UNPUBLISHED``. ``m`` is the bench of ``dse.estimate.compiled.burst_layout``.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_queues import FULL, READY, look, sure_until, there_at, visited, wake
from dse.estimate.compiled.inner import inlined, inner

# Publications ---------------------------------------------------------------------------------------------------------


@inner
def publish(m, a, stamp):
    """Publish what an actor holds; it sets out at once, or when what is on the way has arrived."""
    v, now, ticks = m[a + at.TRAVELLER], stamp & ~m[at.MASK], m[at.WAY_TICKS]
    m[v + at.TURN_MADE] = 0
    for way in range(m[v + at.WAYS], m[v + at.WAYS_END]):
        q = m[way]
        held = m[q + at.HELD]
        if held > 0:
            m[q + at.HELD] = 0
            departs = m[q + at.DEPARTS]
            if now >= departs:  # else it joins what waits to set out
                departs = max(now, departs + ticks)
                m[q + at.DEPARTS] = departs
            arrive(m, q, held, departs + ticks)


@inlined
def arrive(m, q, amount, stamp):
    """Give an amount to a queue, from a stamp on that is not before the last one."""
    head, given = m[q + at.HEAD], m[q + at.GIVEN] + amount
    m[q + at.GIVEN] = given
    entry = q + at.ENTRIES + 2 * ((head - 1) & (at.N_ENTRIES - 1))
    if head == m[q + at.TAIL] or m[entry] != stamp:
        entry = q + at.ENTRIES + 2 * (head & (at.N_ENTRIES - 1))
        m[entry] = stamp
        m[q + at.HEAD] = head + 1
    m[entry + 1] = given
    if m[q + at.WANTED] == 1:
        wake(m, q, stamp)


@inlined
def count_firing(m, a, now):
    """Count a firing that has ended in its turn and its visit; publish if the turn is as long as turns may be."""
    v = m[a + at.TRAVELLER]
    m[v + at.VISIT_MADE] += 1
    if m[v + at.WAYS] != m[v + at.WAYS_END]:
        m[v + at.TURN_MADE] += 1
        if m[v + at.TURN_MADE] >= m[v + at.TURN_FIRINGS]:
            publish(m, a, now)


@inlined
def end_turn(m, p, a, now):
    """Behind the last of a row of firings, which ended at ``now``: publish if it is known that no other begins then."""
    hint = m[m[a + at.HINT]]
    if m[m[a + at.TRAVELLER] + at.TURN_MADE] == 0:
        return
    if now < hint and (hint != at.UNKNOWN or now <= sure_until(m, p, a)):
        publish(m, a, now)
    else:
        m[p + at.UNPUBLISHED] = a


@inlined
def settle(m, p, place):
    """A lane has decided where it stands: the turn of the actor that fired last is over if another one is chosen."""
    a = m[p + at.UNPUBLISHED]
    if a != layout.NONE:
        m[p + at.UNPUBLISHED] = layout.NONE
        if place < 0 or m[m[p + at.PLACES] + place] != a:
            publish(m, a, m[a + at.ENDED_AT])


@inner
def last_arrival(m, t):
    """Return the stamp of the last arrival, 0 where nothing set out."""
    last = m[at.ENDED] * 0
    for a in range(t[at.N_ACTORS]):
        v = m[at.TRAVELLERS] + a * at.TRAVELLER_WORDS
        for way in range(m[v + at.WAYS], m[v + at.WAYS_END]):
            last = max(last, m[m[way] + at.DEPARTS] + m[at.WAY_TICKS])
    return last


# Visits ---------------------------------------------------------------------------------------------------------------


@inner
def covered(m, a, x):
    """Return whether a visit knows of what the next firing, which is ready, needs of FIFOs to other cores."""
    begun = m[m[a + at.TRAVELLER] + at.VISIT_AT]
    for e in range(m[x + at.NEED], m[x + at.NEEDS_END], at.NEED_WORDS):
        if m[e + at.UNIFORM] != at.HELD_BACK:
            continue
        q = m[e + at.TAKE]
        needed = m[q + at.USED] + m[e + at.AMOUNT]
        if needed > m[q + at.KNOWN]:
            if there_at(m, e) > begun:
                return False
        elif m[q + at.VISIT_OF] == begun and needed > m[q + at.VISIT_KNOWN]:
            return False
    return True


@inlined
def _goes_on(m, p, a, x, now):
    """Return whether a firing that begins belongs to the visit of the firing that ended last."""
    return (
        m[p + at.POLICY] == layout.NON_PREEMPTIVE
        and m[p + at.LAST_ACTOR] == a
        and (now ^ m[p + at.FREE_SINCE]) & ~m[at.MASK] == 0
        and m[m[a + at.TRAVELLER] + at.VISIT_MADE] < m[at.VISIT_FIRINGS]
        and covered(m, a, x)
    )


@inner
def is_left(m, p, now):
    """NON_PREEMPTIVE: let the search begin behind an actor that is ready, but whose visit knows of too little.

    Returns whether it is in doubt.
    """
    a = m[m[p + at.PLACES] + m[p + at.TURN]]
    if m[p + at.LAST_ACTOR] != a or (now ^ m[p + at.FREE_SINCE]) & ~m[at.MASK] != 0:
        return False
    if m[m[a + at.TRAVELLER] + at.VISIT_MADE] >= m[at.VISIT_FIRINGS]:
        return False
    code = look(m, p, a, m[a + at.HINT], now)
    if code == READY and not covered(m, a, m[a + at.NEXT]):
        m[p + at.TURN] = m[p + at.TURN] + 1 if m[p + at.TURN] + 1 < m[p + at.N_PLACES] else 0
    return code == FULL


@inner
def _looked_at(m, p, last, a):
    """Return what it takes to look at polled actors in vain between two."""
    v, w = m[last + at.TRAVELLER], m[a + at.TRAVELLER]
    found = m[w + at.CALLS_BEFORE] - m[v + at.CALLS_BEFORE] - m[v + at.CALL]
    return found if m[a + at.HINT] > m[last + at.HINT] else found + m[p + at.ALL_CALLS]


@inner
def _found_ticks(m, t, p, a, full, now):
    """Return what a core takes to find an actor; ``full``: its visit ended for its length only."""
    last = m[p + at.LAST_ACTOR]
    if last == layout.NONE or m[p + at.ALONE] == 0:
        return t[at.SHIFT] * 0
    if now & ~m[at.MASK] > m[p + at.FREE_SINCE]:
        return t[at.WAKE] * m[m[a + at.TRAVELLER] + at.POLLED]
    if full or m[p + at.POLICY] > layout.ROUND_ROBIN:
        return t[at.SHIFT] * 0
    return _looked_at(m, p, last, a)


@inner
def _begin_visit(m, t, p, a, now):
    """Begin a visit; return what it takes to find the actor."""
    v, in_visits = m[a + at.TRAVELLER], m[p + at.POLICY] == layout.NON_PREEMPTIVE
    full = in_visits and m[p + at.LAST_ACTOR] == a and m[v + at.VISIT_MADE] >= m[at.VISIT_FIRINGS]
    m[v + at.ENTERED] = 0
    if in_visits:
        if m[v + at.TURN_MADE] > 0:
            publish(m, a, now)  # a firing of it ended right here
        m[v + at.VISIT_MADE], m[v + at.VISIT_AT] = 0, now
    return _found_ticks(m, t, p, a, full, now)


@inlined
def enter(m, a, x):
    """Return what the FIFOs of a firing to other cores take more than its visit has paid."""
    v = m[a + at.TRAVELLER]
    more = max(0, m[x + at.ENTRY] - m[v + at.ENTERED])
    m[v + at.ENTERED] += more
    return more


@inner
def visit_ticks(m, t, p, a, x, now, ticks):
    """Return the scheduling of the first of a row of firings, which is ``ticks`` but for visits."""
    if not _goes_on(m, p, a, x, now):
        found = _begin_visit(m, t, p, a, now)
        ticks = (m[x + at.SCHED_FIRST] if m[m[a + at.TRAVELLER] + at.POLLED] == 1 else ticks) + found
    return ticks + enter(m, a, x)


@inlined
def stays(m, p, a, x):
    """Return whether an actor that is ready where its firing ended goes on with its visit, if visits are known."""
    if not visited(m):
        return True
    made = m[m[a + at.TRAVELLER] + at.VISIT_MADE]
    return m[p + at.POLICY] == layout.NON_PREEMPTIVE and made < m[at.VISIT_FIRINGS] and covered(m, a, x)
