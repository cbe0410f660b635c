"""Firings in a row of actors whose actions all take from, and give to, the same one or two uniform buffers.

Most actors of static networks are such. Where no actor of a lane can begin before one of them goes on, it is followed
past what it waits for, too. What it needs and gives is counted once for a row, so that a firing is a few additions.
``m`` is the bench, ``t`` the board of ``dse.estimate.compiled.burst_layout``; ``f`` are the action ids of all firings.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_queues import READY, ask, ready_at, sure_until, wake
from dse.estimate.compiled.inner import inlined, inner
from dse.estimate.compiled.pointers import is_linked, is_travelling


@inlined
def goes_in_rows(m):
    """Return whether a bench is for what this module does: where links are asked it gains nothing."""
    return not is_travelling(m) and not is_linked(m)


@inner
def alone_until(m, p, a, stamp):
    """Return up to which stamp a lane fires no other actor if this one, which is asked first, is not ready before.

    What is returned is less than ``stamp`` if that is too late.
    """
    n, first, own, until = m[p + at.N_PLACES], m[p + at.HINTS], m[a + at.HINT], at.UNKNOWN
    if n > at.FEW_PLACES:
        return layout.NONE
    for place in range(n):
        if first + place != own:
            hint = m[first + place]
            if hint == at.UNKNOWN:
                hint = sure_until(m, p, m[m[p + at.PLACES] + place]) + 1
            until = min(until, hint)
            if until < stamp:
                break
    return until


@inlined
def wait(m, p, now, stamp):
    """Take what a core waits from the time that it may spend so; return whether the run is over."""
    if m[at.LIMIT] == at.UNKNOWN:
        return False
    m[p + at.SLACK] -= (stamp & ~m[at.MASK]) - (now & ~m[at.MASK])
    if m[p + at.SLACK] < 0:
        m[at.ENDED] = at.OVER
    return m[p + at.SLACK] < 0


@inlined
def goes_on_alone(m, p, a, x, now, rounds):
    """Return when an actor whose firing ended at ``now`` fires again if it is the one that its lane fires next.

    What is returned is ``now`` if it is not, or that is not known.
    """
    stamp = ready_at(m, a, x)
    if stamp >= at.UNKNOWN:
        return now
    m[m[a + at.HINT]] = stamp
    if stamp & rounds == rounds or stamp > alone_until(m, p, a, stamp) or ask(m, p, a, x, stamp) != READY:
        return now
    return now if wait(m, p, now, stamp) else stamp


@inlined
def wake_for(m, q, stamp):
    """Tell the taker of a queue of what the first firing of a row gives, if it wants to know."""
    if m[q + at.WANTED] == 1:
        wake(m, q, stamp)


@inlined
def fire_row(m, t, f, p, a, x, position, now, ticks, mask, rounds):
    """Make firings from ``now`` on, at least one, until one has to wait for what is not known.

    Returns how many, the end and the action of the last one, and the scheduling of all but the first.
    """
    e = m[x + at.NEED]
    other = e + at.NEED_WORDS
    take, give, take_2, give_2 = m[e + at.TAKE], m[e + at.GIVE], m[at.SPARE], m[at.SPARE] + at.SPARE_WORDS
    if m[x + at.NEEDS_END] > other:
        take_2, give_2 = m[other + at.TAKE], m[other + at.GIVE]
    used, used_2, head, head_2 = m[take + at.USED], m[take_2 + at.USED], m[give + at.HEAD], m[give_2 + at.HEAD]
    n = min(m[a + at.FIRING_END] - position, min(m[take + at.HEAD] - used, m[take_2 + at.HEAD] - used_2))
    actions = m[a + at.ACTOR_ACTIONS]
    begin = (now & ~mask) + ticks
    wake_for(m, give, max(begin + m[e + at.OFFSET], now + 1))
    wake_for(m, give_2, max(begin + m[other + at.OFFSET], now + 1))
    made, scheduling, until, last = 0, 0, layout.NONE, 0
    while True:
        begin, soonest, e = (now & ~mask) + ticks, now + 1, m[x + at.NEED]
        m[give + at.ENTRIES + ((head + made) & (at.N_ENTRIES - 1))] = max(begin + m[e + at.OFFSET], soonest)
        m[give_2 + at.ENTRIES + ((head_2 + made) & (at.N_ENTRIES - 1))] = max(
            begin + m[e + at.NEED_WORDS + at.OFFSET], soonest
        )
        now = max(begin + m[x + at.TOTAL], soonest)
        made += 1
        last = m[x + at.INDEX]
        if made == n or now & rounds == rounds:
            break
        x = actions + f[position + made] * at.ACTION_WORDS
        stamp = max(
            m[take + at.ENTRIES + ((used + made) & (at.N_ENTRIES - 1))],
            m[take_2 + at.ENTRIES + ((used_2 + made) & (at.N_ENTRIES - 1))],
        )
        if stamp > now:
            if stamp > until:
                until = alone_until(m, p, a, stamp)
            if stamp > until or stamp & rounds == rounds or wait(m, p, now, stamp):
                break
            now = stamp
        ticks = t[m[x + at.SCHED_PAIRS] + last * m[x + at.SCHED_STRIDE]]
        scheduling += ticks
    m[take + at.USED], m[take_2 + at.USED] = used + made, used_2 + made
    m[give + at.HEAD], m[give_2 + at.HEAD] = head + made, head_2 + made
    return made, now, last, scheduling


# The bench ------------------------------------------------------------------------------------------------------------


@inner
def lay_spares(m, q):
    """Lay out the two queues that stand for a second need where there is none; return the address behind them.

    What the first one gives is there from the begin on.
    """
    m[at.SPARE] = q
    for word in range(q, q + 2 * at.SPARE_WORDS):
        m[word] = 0
    m[q + at.HEAD] = at.UNKNOWN
    return q + 2 * at.SPARE_WORDS


@inner
def _is_same(m, e, of_first):
    """Return whether a need is of a uniform buffer to another actor, the same one as a need of the first action."""
    q = m[e + at.TAKE]
    is_same = q == m[of_first + at.TAKE] and m[e + at.GIVE] == m[of_first + at.GIVE]
    return is_same and m[e + at.UNIFORM] == 1 and m[q + at.TAKER] != m[q + at.GIVER]


@inner
def _is_such(m, x, first):
    """Return whether an action takes and gives as the first one of its actor does."""
    e, of_first = m[x + at.NEED], m[first + at.NEED]
    n = m[x + at.NEEDS_END] - e
    if n == 0 or n > 2 * at.NEED_WORDS or m[x + at.MAY_FILL] == 1 or m[first + at.NEEDS_END] - of_first != n:
        return False
    for i in range(0, n, at.NEED_WORDS):
        if not _is_same(m, e + i, of_first + i):
            return False
    return n == at.NEED_WORDS or m[e + at.TAKE] != m[e + at.NEED_WORDS + at.TAKE]


@inner
def lay_row(m, t, a, x, number, n):
    """Note whether the actions of an actor, rows from ``x`` and numbers from ``number`` on, are such as above."""
    first = layout.NONE
    for i in range(n):
        if t[t[at.COUNTS] + number + i] > 0:
            if first == layout.NONE:
                first = x + i * at.ACTION_WORDS
            if not _is_such(m, x + i * at.ACTION_WORDS, first):
                return
    if first == layout.NONE:
        return
    m[a + at.IN_ROWS] = 1
    for e in range(m[first + at.NEED], m[first + at.NEEDS_END], at.NEED_WORDS):
        entries, n_known = m[e + at.TAKE] + at.ENTRIES, m[m[e + at.TAKE] + at.HEAD]
        for entry in range(entries, entries + n_known):  # in rows nobody looks at KNOWN
            m[entry] = 0
