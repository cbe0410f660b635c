"""The queues of the burst kernel: when what an actor needs is there, and whether an actor is ready.

``m`` is the bench of ``dse.estimate.compiled.burst_layout``. A queue is one end of a buffer seen from the other: tokens
for the reader, room for the writer.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.inner import inlined, inner
from dse.estimate.compiled.pointers import is_linked, is_travelling

READY = 0
NOT_READY = 1
FULL = 2
"""What ``ask`` returns; FULL: ready or not, but a queue has no room for what a firing would give."""


@inlined
def visited(m):
    """Return whether visits are known (``dse.estimate.semantics``)."""
    return is_travelling(m) and m[at.VISITED] == 1


# Queues ---------------------------------------------------------------------------------------------------------------


@inlined
def there_at(m, e):
    """Return the stamp from which on a need is met, UNKNOWN where that has not been simulated; 0: it is for long."""
    q = m[e + at.TAKE]
    used = m[q + at.USED]
    if m[e + at.UNIFORM] == 1:
        if used < m[q + at.KNOWN]:
            return 0
        return m[q + at.ENTRIES + (used & (at.N_ENTRIES - 1))] if used < m[q + at.HEAD] else at.UNKNOWN
    needed = used + m[e + at.AMOUNT]
    if needed <= m[q + at.KNOWN]:
        return 0
    tail, head = m[q + at.TAIL], m[q + at.HEAD]
    while tail < head:
        entry = q + at.ENTRIES + 2 * (tail & (at.N_ENTRIES - 1))
        if m[entry + 1] >= needed:
            m[q + at.TAIL] = tail
            return m[entry]
        tail += 1
    m[q + at.TAIL] = tail
    return at.UNKNOWN


@inner
def keep_ready_at(m, q, until):
    """Note when the next firing of a taker had what it needs of a queue, if that was up to ``until``."""
    a = m[q + at.TAKER]
    if m[a + at.POSITION] == m[a + at.FIRING_END]:
        return
    x = m[a + at.NEXT]
    for e in range(m[x + at.NEED], m[x + at.NEEDS_END], at.NEED_WORDS):
        if m[e + at.TAKE] == q:
            stamp = there_at(m, e)
            if stamp <= until:
                m[a + at.READY_AT] = max(m[a + at.READY_AT], stamp)


@inlined
def _note_visit(m, q):
    """Return when the visit of a taker began, before entries of the queue are forgotten; nothing begins at ``NONE``."""
    if not visited(m) or m[q + at.UNIFORM_TOKENS] != at.TRAVELS:
        return layout.NONE
    begun = m[m[m[q + at.TAKER] + at.TRAVELLER] + at.VISIT_AT]
    if m[q + at.VISIT_OF] != begun:
        m[q + at.VISIT_OF], m[q + at.VISIT_KNOWN] = begun, m[q + at.KNOWN]
    return begun


@inner
def forget(m, q, until):
    """Forget the entries of a queue up to a stamp before which the taker decides nothing."""
    keep_ready_at(m, q, until)
    if m[q + at.UNIFORM_TOKENS] > 0:
        first = max(m[q + at.KNOWN], m[q + at.USED])
        while first < m[q + at.HEAD] and m[q + at.ENTRIES + (first & (at.N_ENTRIES - 1))] <= until:
            first += 1
        m[q + at.KNOWN] = first
        return
    tail, begun = m[q + at.TAIL], _note_visit(m, q)
    while tail < m[q + at.HEAD]:
        entry = q + at.ENTRIES + 2 * (tail & (at.N_ENTRIES - 1))
        if m[entry] > until and m[entry + 1] > m[q + at.USED]:
            break
        m[q + at.KNOWN] = m[entry + 1]
        if visited(m) and m[entry] <= begun:
            m[q + at.VISIT_KNOWN] = m[entry + 1]
        tail += 1
    m[q + at.TAIL] = tail


@inlined
def is_full(m, q):
    """Return whether a queue has no room for another entry."""
    if m[q + at.UNIFORM_TOKENS] > 0:
        return m[q + at.HEAD] - max(m[q + at.KNOWN], m[q + at.USED]) >= at.N_ENTRIES
    if is_travelling(m) and m[q + at.UNIFORM_TOKENS] == at.TRAVELS:  # what is held may want an entry of its own
        return m[q + at.HEAD] - m[q + at.TAIL] >= at.N_ENTRIES - 1
    return m[q + at.HEAD] - m[q + at.TAIL] >= at.N_ENTRIES


@inner
def lacks_entries(m, p, x, now):
    """Return whether a queue has no room for what a firing would give."""
    for e in range(m[x + at.NEED], m[x + at.NEEDS_END], at.NEED_WORDS):
        q = m[e + at.GIVE]
        if is_full(m, q):
            lane = m[m[q + at.TAKER] + at.LANE]
            forget(m, q, now if lane == p else max(m[lane + at.STANDS_AT], m[at.SURE_UNTIL]))
            if is_full(m, q):
                return True
    return False


@inner
def wake(m, q, stamp):
    """Tell the taker of a queue what it lacked when it was asked."""
    a = m[q + at.TAKER]
    m[q + at.WANTED] = 0
    m[m[a + at.HINT]] = stamp
    lane = m[a + at.LANE]
    if m[lane + at.IDLING] == 1:
        key = m[lane + at.KEY]
        m[key] = min(m[key], max(stamp, m[lane + at.STANDS_AT]))


# Actors ---------------------------------------------------------------------------------------------------------------


@inlined
def ask(m, p, a, x, now):
    """Return whether an actor is ready at ``now``; if not, its hint says until when for sure."""
    e, end = m[x + at.NEED], m[x + at.NEEDS_END]
    while e < end:
        stamp = there_at(m, e)
        if stamp > now:
            q = m[e + at.TAKE]
            if stamp == at.UNKNOWN:
                m[q + at.WANTED] = 1
            m[a + at.WAITS_FOR] = q
            m[m[a + at.HINT]] = stamp
            return NOT_READY
        e += at.NEED_WORDS
    if m[x + at.MAY_FILL] == 1:
        m[a + at.NEXT] = x  # in a row of firings noted at the end only; to itself the actor is the taker too
        if lacks_entries(m, p, x, now):
            return FULL
    return READY


@inlined
def ready_at(m, a, x):
    """Return since when an actor that is ready has been so."""
    stamp = max(m[a + at.ENDED_AT], m[a + at.READY_AT])
    e, end = m[x + at.NEED], m[x + at.NEEDS_END]
    while e < end:
        stamp = max(stamp, there_at(m, e))
        e += at.NEED_WORDS
    return stamp


@inlined
def use(m, e):
    """Take what a need takes."""
    m[m[e + at.TAKE] + at.USED] += 1 if m[e + at.UNIFORM] == 1 else m[e + at.AMOUNT]


@inlined
def give_one(m, q, stamp):
    """Let what one firing gives to a uniform buffer be there from a stamp on."""
    head = m[q + at.HEAD]
    m[q + at.HEAD] = head + 1
    m[q + at.ENTRIES + (head & (at.N_ENTRIES - 1))] = stamp


@inlined
def give_some(m, q, amount, stamp):
    """Let an amount be there from a stamp on in a buffer that is not uniform."""
    head, given = m[q + at.HEAD], m[q + at.GIVEN] + amount
    m[q + at.HEAD], m[q + at.GIVEN] = head + 1, given
    entry = q + at.ENTRIES + 2 * (head & (at.N_ENTRIES - 1))
    m[entry], m[entry + 1] = stamp, given


@inlined
def give(m, e, stamp):
    """Let what is given for a need be there from a stamp on."""
    q = m[e + at.GIVE]
    if m[e + at.UNIFORM] == 1:
        give_one(m, q, stamp)
    else:
        give_some(m, q, m[e + at.AMOUNT], stamp)
    if m[q + at.WANTED] == 1:
        wake(m, q, stamp)


@inlined
def fire(m, x, now, ticks, mask):
    """Make a firing that begins at ``now``; return its end.

    As ``use`` and ``give`` for each need, which is asked once whether it is of a uniform buffer: 3 % of a run.
    """
    begin, soonest = (now & ~mask) + ticks, now + 1
    e, end = m[x + at.NEED], m[x + at.NEEDS_END]
    while e < end:
        q, stamp = m[e + at.GIVE], max(begin + m[e + at.OFFSET], soonest)
        if m[e + at.UNIFORM] == 1:
            m[m[e + at.TAKE] + at.USED] += 1
            give_one(m, q, stamp)
        else:
            amount = m[e + at.AMOUNT]
            m[m[e + at.TAKE] + at.USED] += amount
            if is_travelling(m) and m[e + at.UNIFORM] == at.HELD_BACK:
                m[q + at.HELD] += amount
                e += at.NEED_WORDS
                continue
            give_some(m, q, amount, stamp)
        if m[q + at.WANTED] == 1:
            wake(m, q, stamp)
        e += at.NEED_WORDS
    return max(begin + m[x + at.TOTAL], soonest)


@inlined
def _sure_of_firing(m, lane, q):
    """Return up to which stamp a queue gets nothing for sure from a firing that waits for a link, nor from the next."""
    k = m[lane + at.ASKING]
    x, base = m[k + at.UNDER_WAY], m[k + at.BASE]
    soonest = base + m[x + at.TOTAL] + m[q + at.SOONEST]
    for e in range(m[x + at.NEED], m[x + at.NEEDS_END], at.NEED_WORDS):
        if m[e + at.GIVE] == q:
            soonest = base + m[e + at.OFFSET]
    return max(max(m[at.SURE_UNTIL], m[k + at.ASKED_AT]), soonest - 1)


@inner
def sure_until(m, p, a):
    """Return up to which stamp an actor is not ready for sure that lacks an entry of which nothing is known."""
    q = m[a + at.WAITS_FOR]
    giver = m[q + at.GIVER]
    lane = m[giver + at.LANE]
    if lane == p:
        return at.UNKNOWN
    if is_linked(m) and m[lane + at.LAST_ACTOR] == giver and m[m[lane + at.ASKING] + at.UNDER_WAY] != 0:
        return _sure_of_firing(m, lane, q)
    stands = max(m[lane + at.STANDS_AT], m[at.SURE_UNTIL])
    if is_travelling(m) and m[lane + at.UNPUBLISHED] == giver and m[q + at.UNIFORM_TOKENS] == at.TRAVELS:
        return max(stands, (stands & ~m[at.MASK]) + m[at.WAY_TICKS] - 1)  # it may publish where it stands
    hint = m[m[giver + at.HINT]]
    if hint != at.UNKNOWN:
        stands = max(stands, hint)
    return max(stands, (stands & ~m[at.MASK]) + m[q + at.SOONEST] - 1)


@inlined
def look(m, p, a, hint, now):
    """Return READY, NOT_READY, or FULL, which stands for every doubt."""
    if m[hint] <= now:
        code = ask(m, p, a, m[a + at.NEXT], now)
        if code != NOT_READY:
            return code
    if m[hint] == at.UNKNOWN and now > sure_until(m, p, a):
        return FULL
    return NOT_READY
