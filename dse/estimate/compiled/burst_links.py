"""The burst kernel where transfers ask shared links.

A link is one more that decides: which of its requests it grants next (``dse.estimate.semantics``, Links). A firing that
asks one is followed up to its first request, which is made in advance, as its time is known. Then its lane waits. The
link grants behind all rounds of an instant, so its key is the last round of the instant at which it is free and has
been asked. Where that is the least of all keys nobody else can ask before it, and the link grants the first request;
with that the end of the transfer is known, and the firing goes on to its next request, or to its end.

A transfer that takes no time ends in a round of the same instant, behind all rounds that there were. In which, nobody
knows where lanes were followed far ahead; so the bits of a stamp that count rounds are divided, and the upper ones
count such grants. ``m`` is the bench of ``dse.estimate.compiled.burst_layout``, ``k`` what a lane has for links.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_queues import give, use
from dse.estimate.compiled.inner import inlined, inner


@inlined
def is_under_way(m, p):
    """Return whether a firing of a lane waits for a link."""
    return m[m[p + at.ASKING] + at.UNDER_WAY] != 0


@inlined
def later(m, stamp, ticks):
    """Return the stamp of what is due so much later than a step of a firing."""
    return max(stamp, (stamp & ~m[at.MASK]) + ticks)


# Requests -------------------------------------------------------------------------------------------------------------


@inlined
def plan(m, s):
    """Say when a link grants next, as far as is known."""
    if m[s + at.N_REQUESTS] == 0:
        m[m[s + at.LINK_KEY]] = at.UNKNOWN
    else:
        m[m[s + at.LINK_KEY]] = max(m[s + at.FREE_AT], m[m[s + at.FIRST_REQUEST] + at.REQUEST_TIME]) | m[at.MASK]


@inlined
def precedes(m, r, other):
    """Return whether a request comes before another."""
    time, other_time = m[r + at.REQUEST_TIME], m[other + at.REQUEST_TIME]
    return time < other_time or (time == other_time and m[r + at.REQUEST_ORDER] < m[other + at.REQUEST_ORDER])


@inner
def request(m, p, e, stamp):
    """Ask the link of a need for a transfer that would begin at ``stamp``."""
    asked = e + m[at.ASKED]
    s = m[asked + at.ASKED_LINK]
    r = m[s + at.REQUESTS] + m[s + at.N_REQUESTS] * at.REQUEST_WORDS
    m[r + at.REQUEST_TIME], m[r + at.REQUEST_ORDER] = stamp & ~m[at.MASK], m[asked + at.ASKED_ORDER]
    m[r + at.REQUEST_LANE], m[r + at.REQUEST_NEED] = p, e
    m[s + at.N_REQUESTS] += 1
    if m[s + at.N_REQUESTS] == 1 or precedes(m, r, m[s + at.FIRST_REQUEST]):
        m[s + at.FIRST_REQUEST] = r
        plan(m, s)


@inner
def take_request(m, s):
    """Take the first request from a link's list."""
    first, r = m[s + at.REQUESTS], m[s + at.FIRST_REQUEST]
    m[s + at.N_REQUESTS] -= 1
    last = first + m[s + at.N_REQUESTS] * at.REQUEST_WORDS
    for word in range(at.REQUEST_WORDS):
        m[r + word] = m[last + word]
    m[s + at.FIRST_REQUEST] = first
    for other in range(first + at.REQUEST_WORDS, last, at.REQUEST_WORDS):
        if precedes(m, other, m[s + at.FIRST_REQUEST]):
            m[s + at.FIRST_REQUEST] = other


# Firings --------------------------------------------------------------------------------------------------------------


@inlined
def stand(m, p, stamp):
    """Wait for links that were asked at ``stamp``."""
    k = m[p + at.ASKING]
    m[k + at.ASKED_AT] = stamp
    m[p + at.STANDS_AT] = max(stamp, m[k + at.BASE] + m[m[k + at.UNDER_WAY] + at.TOTAL])


@inlined
def finish(m, p, stamp):
    """The firing under way ends at ``stamp``."""
    k, a = m[p + at.ASKING], m[p + at.LAST_ACTOR]
    x = m[k + at.UNDER_WAY]
    m[k + at.UNDER_WAY] = 0
    m[a + at.ENDED_AT] = m[p + at.FREE_SINCE] = m[p + at.STANDS_AT] = m[m[p + at.KEY]] = stamp
    if m[a + at.POSITION] < m[a + at.FIRING_END]:
        m[m[a + at.HINT]] = stamp
    m[at.LATEST] = max(m[at.LATEST], stamp)
    if stamp & m[at.ROUNDS] == m[at.ROUNDS]:
        m[at.ENDED] = at.REFUSED
    if m[at.LIMIT] != at.UNKNOWN:
        m[p + at.SLACK] -= (stamp & ~m[at.MASK]) - m[k + at.SCHEDULED] - m[x + at.TOTAL]
        if (m[p + at.SLACK] < 0 or stamp >= m[at.LIMIT]) and m[at.ENDED] != at.REFUSED:
            m[at.ENDED] = at.OVER


@inner
def leave(m, x, stamp):
    """Let what a firing has read leave; return when its processing is over."""
    processed = later(m, stamp, m[x + at.PROCESSING])
    for e in range(m[x + at.NEED], m[x + at.WRITES_BEGIN], at.NEED_WORDS):
        give(m, e, stamp if m[at.EARLY] == 1 else processed)
    return processed


@inner
def go_on(m, p, e, stamp):
    """Make the transfers of a firing from a need on, one after the other, until one asks a link."""
    x = m[m[p + at.ASKING] + at.UNDER_WAY]
    asked, writes, end = m[at.ASKED], m[x + at.WRITES_BEGIN], m[x + at.NEEDS_END]
    reads = e <= writes  # behind a write e is larger
    while e < end or reads:
        if e == writes and reads:
            stamp, reads = leave(m, x, stamp), False
            continue
        if m[e + asked + at.ASKED_LINK] != 0:
            request(m, p, e, stamp)
            stand(m, p, stamp)
            return
        stamp = later(m, stamp, m[e + asked + at.ASKED_TICKS])
        if e >= writes:
            give(m, e, stamp)
        e += at.NEED_WORDS
    finish(m, p, stamp)


# Transfers made at once -----------------------------------------------------------------------------------------------


@inlined
def note_end(m, k, e, stamp, waited, ticks):
    """Note the end of a transfer of a phase: of the last one, of several the first, what it waited and took counts."""
    time, last = stamp & ~m[at.MASK], m[k + at.PHASE_END] & ~m[at.MASK]
    if m[k + at.LAST_NEED] == 0 or time > last or (time == last and e < m[k + at.LAST_NEED]):
        m[k + at.LAST_NEED], m[k + at.LAST_WAITED], m[k + at.LAST_TICKS] = e, waited, ticks
    m[k + at.PHASE_END] = max(m[k + at.PHASE_END], stamp)


@inner
def begin_phase(m, p, writing, stamp):
    """Begin the reads, or writes, of a firing at once."""
    k, asked = m[p + at.ASKING], m[at.ASKED]
    x = m[k + at.UNDER_WAY]
    m[k + at.LEFT] = m[k + at.LAST_NEED] = m[k + at.LAST_WAITED] = m[k + at.LAST_TICKS] = 0
    m[k + at.IS_WRITING], m[k + at.PHASE_END] = writing, stamp
    first = m[x + at.WRITES_BEGIN] if writing == 1 else m[x + at.NEED]
    for e in range(first, m[x + at.NEEDS_END] if writing == 1 else m[x + at.WRITES_BEGIN], at.NEED_WORDS):
        if m[e + asked + at.ASKED_LINK] != 0:
            m[k + at.LEFT] += 1
            request(m, p, e, stamp)
        else:
            end = later(m, stamp, m[e + asked + at.ASKED_TICKS])
            note_end(m, k, e, end, 0, m[e + asked + at.ASKED_TICKS])
            if writing == 1:
                give(m, e, end)
    if m[k + at.LEFT] > 0:
        stand(m, p, stamp)


@inner
def end_phases(m, p):
    """Behind the reads, or writes, of a firing that were made at once, go on until links are asked again."""
    k = m[p + at.ASKING]
    x = m[k + at.UNDER_WAY]
    if m[k + at.IS_WRITING] == 0:
        m[k + at.WAITED] += m[k + at.LAST_WAITED]
        m[k + at.MORE_READING] += m[k + at.LAST_TICKS] - m[x + at.READING]
        processed = leave(m, x, m[k + at.PHASE_END])
        m[k + at.BASE] = (processed & ~m[at.MASK]) - m[x + at.READING] - m[x + at.PROCESSING]
        begin_phase(m, p, 1, processed)
        if m[k + at.LEFT] > 0:
            return
    m[k + at.WAITED] += m[k + at.LAST_WAITED]
    m[k + at.MORE_WRITING] += m[k + at.LAST_TICKS] - m[x + at.WRITING]
    finish(m, p, m[k + at.PHASE_END])


# Begin and going on ---------------------------------------------------------------------------------------------------


@inner
def begin_asking(m, p, x, now, ticks):
    """Begin a firing that asks links at ``now``; its scheduling takes ``ticks``."""
    k = m[p + at.ASKING]
    m[k + at.UNDER_WAY] = x
    for e in range(m[x + at.NEED], m[x + at.NEEDS_END], at.NEED_WORDS):
        use(m, e)
    m[k + at.BASE] = m[k + at.SCHEDULED] = (now & ~m[at.MASK]) + ticks
    stamp = max(m[k + at.BASE], now + 1)
    if m[at.PARALLEL] == 0:
        go_on(m, p, m[x + at.NEED], stamp)
    else:
        begin_phase(m, p, 0, stamp)
        if m[k + at.LEFT] == 0:
            end_phases(m, p)


@inner
def end_transfer(m, s):
    """Let the firing go on whose transfer a link has granted."""
    p, e, stamp, waited = m[s + at.CLIENT], m[s + at.CLIENT_NEED], m[s + at.CLIENT_ENDS], m[s + at.CLIENT_WAITED]
    m[s + at.CLIENT] = layout.NONE
    k = m[p + at.ASKING]
    if e >= m[m[k + at.UNDER_WAY] + at.WRITES_BEGIN]:
        give(m, e, stamp)
    if m[at.PARALLEL] == 0:
        m[k + at.WAITED] += waited
        m[k + at.BASE] += waited
        go_on(m, p, e + at.NEED_WORDS, stamp)
    else:
        note_end(m, k, e, stamp, waited, m[e + m[at.ASKED] + at.ASKED_TICKS])
        m[k + at.LEFT] -= 1
        if m[k + at.LEFT] == 0:
            end_phases(m, p)


# Grants ---------------------------------------------------------------------------------------------------------------


@inner
def end_of_empty(m, now):
    """Return the stamp at which transfers end that are granted at ``now`` and take no time."""
    if m[at.EMPTY_AT] != now:
        m[at.EMPTY_AT], m[at.N_EMPTY] = now, 0
    stamp = now + (m[at.N_EMPTY] + 1) * (m[at.ROUNDS] + 1)
    if stamp > now + m[at.MASK]:
        m[at.ENDED] = at.REFUSED
    return stamp


@inlined
def grant_first(m, s, now):
    """Let a link grant its first request."""
    r = m[s + at.FIRST_REQUEST]
    e = m[r + at.REQUEST_NEED]
    m[s + at.CLIENT], m[s + at.CLIENT_NEED] = m[r + at.REQUEST_LANE], e
    m[s + at.CLIENT_WAITED] = now - m[r + at.REQUEST_TIME]
    ticks = m[e + m[at.ASKED] + at.ASKED_TICKS]
    m[s + at.FREE_AT] = now + ticks
    m[s + at.CLIENT_ENDS] = now + ticks if ticks > 0 else end_of_empty(m, now)
    take_request(m, s)
    plan(m, s)
    return ticks == 0


@inner
def grant(m):
    """Phase GRANTS of the instant of the least key: all links whose key it is grant one request; then firings go on."""
    key = m[at.SURE_UNTIL]
    now, is_empty = key & ~m[at.MASK], False
    first, end = m[at.LINKS], m[at.ASKINGS]
    for s in range(first, end, at.LINK_WORDS):
        if m[m[s + at.LINK_KEY]] == key:
            is_empty |= grant_first(m, s, now)
    if is_empty:
        m[at.N_EMPTY] += 1
    for s in range(first, end, at.LINK_WORDS):
        if m[s + at.CLIENT] != layout.NONE:
            end_transfer(m, s)


@inner
def add_waits(m, t, spent, first_part):
    """Add what firings of partitions waited for links, and what their transfers took more than their actions say."""
    shift = t[at.SHIFT]
    for number in range(m[at.N_LANES]):
        p = m[at.LANES] + number * at.LANE_WORDS
        k, of = m[p + at.ASKING], at.SPENT_WORDS * (first_part + m[p + at.PARTITION])
        spent[of + 1] += m[k + at.MORE_READING] >> shift
        spent[of + 3] += m[k + at.MORE_WRITING] >> shift
        spent[of + 4] += m[k + at.WAITED] >> shift


# The bench ------------------------------------------------------------------------------------------------------------


@inner
def lay_links(m, t, first_link, choices, first_choice):
    """Lay out the links, and make room for their requests; return the address behind."""
    n, rows = t[at.N_SERVERS], t[at.SHARED]
    m[at.LINKS], m[at.ASKINGS] = first_link, first_link + n * at.LINK_WORDS
    m[at.ROUNDS] = (1 << (t[at.SHIFT] // 2)) - 1
    m[at.EMPTY_AT], m[at.N_EMPTY] = layout.NONE, 0
    behind = m[at.ASKINGS] + t[at.N_ACTORS] * at.ASKING_WORDS
    for number in range(n):
        s = first_link + number * at.LINK_WORDS
        m[s + at.FREE_AT] = m[s + at.N_REQUESTS] = 0
        m[s + at.CLIENT], m[s + at.REQUESTS] = layout.NONE, behind
        for b in range(t[at.N_BUFFERS] if t[rows + number] == 1 else 0):
            if choices[(first_choice + b) * 5 + 3] == number:
                behind += 2 * at.REQUEST_WORDS
    needs = m[at.ACTIONS] + t[at.N_ACTIONS] * at.ACTION_WORDS
    m[at.ASKED] = behind - needs
    return behind + t[at.N_TRANSFERS] * at.NEED_WORDS


@inner
def lay_askings(m, t):
    """Give each lane its row of ASKINGS, and each link its key."""
    for number in range(m[at.N_LANES]):
        k = m[at.ASKINGS] + number * at.ASKING_WORDS
        m[m[at.LANES] + number * at.LANE_WORDS + at.ASKING] = k
        for word in range(at.ASKING_WORDS):
            m[k + word] = 0
    for number in range(t[at.N_SERVERS]):
        s, key = m[at.LINKS] + number * at.LINK_WORDS, m[at.KEYS] + m[at.N_KEYS]
        m[s + at.LINK_KEY], m[key] = key, at.UNKNOWN
        m[at.N_KEYS] += 1


@inner
def lay_asked(m, t, a, x, number, choices, first_choice):
    """Lay out what the needs of an action of an actor ask for."""
    asked, asks = m[at.ASKED], False
    rank = m[m[a + at.LANE] + at.PARTITION] * t[at.N_ACTORS] + m[a + at.NUMBER]
    e = m[x + at.NEED]
    for writes in range(2):
        side = at.WRITES if writes == 1 else at.READS
        for i in range(t[t[side + at.FIRST] + number], t[t[side + at.FIRST] + number + 1]):
            b = t[t[side + at.BUFFER] + i]
            server = choices[(first_choice + b) * 5 + 3]
            row = t[side + at.TICKS] + choices[(first_choice + b) * 5 + 1 + writes] * t[side + at.WIDTH]
            shared = server >= 0 and t[t[at.SHARED] + server] == 1
            m[e + asked + at.ASKED_LINK] = m[at.LINKS] + server * at.LINK_WORDS if shared else 0
            m[e + asked + at.ASKED_TICKS] = t[row + t[t[side + at.COLUMN] + i]]
            m[e + asked + at.ASKED_ORDER] = rank * t[at.N_BUFFERS] + b
            asks |= shared
            e += at.NEED_WORDS
    m[x + at.ASKS] = 1 if asks else 0
