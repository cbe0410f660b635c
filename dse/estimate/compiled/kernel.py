"""The loop of the compiled engine: ``dse.estimate.semantics`` over one integer array, without the interpreter lock.

Every actor has at most one firing under way, so an actor's next step is the whole event queue of that actor; the list
of active actors is as long as there are busy cores, and one scan of it (of many, by eight) makes the steps that are due
and finds the next time. Tokens on their way to another core are in a list of their own. ``m`` is the memory, laid out
as in ``dse.estimate.compiled.layout``: actors ``a``, buffers ``b``, actions ``x``, transfers ``e``, partitions ``p``
and link servers ``s`` are addresses in it. ``f`` are the action ids of all firings. The functions stand in the order
of the semantics: waiting, arrivals, transfers, links, steps of a firing, ends, starts, the loop.
"""

import numpy as np

from dse.estimate.compiled import layout as at
from dse.estimate.compiled.eights import least_of_eight
from dse.estimate.compiled.inner import inlined, inner
from dse.estimate.compiled.pointers import int64_pointer, is_plain, is_still, uint16_pointer
from dse.estimate.kept import kernel

# What only some points have ------------------------------------------------------------------------------------------


@inlined
def visits(m):
    """Return whether visits are known."""
    return not is_still(m) and m[at.VISITS] == 1


@inlined
def travels(m, b):
    """Return whether the tokens of a buffer are published and arrive."""
    return not is_still(m) and m[b + at.TRAVELS] == 1


@inlined
def seen(m, b):
    """Return the tokens that the reader of a buffer sees."""
    return m[b + at.VISIBLE] if is_still(m) else m[b + at.VISIBLE] - m[b + at.UNSEEN]


@inlined
def taken(m, b):
    """Return the room that the writer of a buffer sees taken."""
    return m[b + at.VISIBLE] if is_still(m) else m[b + at.VISIBLE] + m[b + at.UNFREED]


@inlined
def recorded(m):
    """Return whether all that the run does is recorded."""
    return not is_still(m) and m[at.RECORD] != 0


@inlined
def timed(m):
    """Return whether start and end of each firing are kept."""
    return not is_still(m) and m[at.N_TIMES] > 0


@inlined
def linked(m):
    """Return whether the platform has links."""
    return not is_plain(m) and m[at.LINKS] != m[at.LINKS_END]


@inlined
def arriving(m):
    """Return whether something is on its way."""
    return not is_still(m) and m[at.N_ARRIVING] > 0


@inlined
def of_size(m, a, number):
    """Return what the firings of the block under way have together, of what one has."""
    return number if is_plain(m) else number * m[a + at.SIZE]


@inlined
def block_width(m, x):
    """Return how many firings of an action are made at once; 0 where it is not made in blocks."""
    return 0 if is_plain(m) else m[x + at.BLOCK_WIDTH]


@inlined
def is_one_by_one(m, x, side):
    """Return whether the reads or the writes of an action, by its word ``side``, are made one by one."""
    return not is_plain(m) and m[x + side] == 1


@inlined
def is_planned(m, x):
    """Return whether neither reads nor writes of an action are made one by one."""
    return is_plain(m) or m[x + at.PLANNED] == 1


@inlined
def deviation(m, a):
    """Return what the firing under way computes more than its action says."""
    return 0 if is_still(m) else m[a + at.DEVIATION]


# Records --------------------------------------------------------------------------------------------------------------


@inner
def record_steps(m, a, row, time):
    """Record a time of the firing or block under way."""
    record = int64_pointer(m[at.RECORD])
    first = row * m[at.N_TIMES] + m[a + at.POSITION]
    for i in range(first, first + m[a + at.SIZE]):
        record[i] = time


@inner
def record_start(m, a, x, scheduled):
    """Record what is known of a firing or block when it starts; reads made one by one are recorded when they are over.

    Its scheduling ends at ``scheduled``.
    """
    record_steps(m, a, at.RECORDED_SCHEDULED, scheduled)
    record_steps(m, a, at.RECORDED_ORDER, m[at.N_STARTED])
    m[at.N_STARTED] += 1
    if m[x + at.READ_GENERAL] == 0:
        read = scheduled + m[x + at.READ_TICKS]
        record_steps(m, a, at.RECORDED_READ, read)
        record_steps(m, a, at.RECORDED_COMPUTED, read + m[x + at.COMPUTE] + deviation(m, a))


@inner
def log_transfer(m, a, e, waited, ticks, now):
    """Record a transfer made one by one, which has ended."""
    log, row = int64_pointer(m[at.LOG]), m[at.N_LOGGED] * at.LOGGED_FIELDS
    log[row + at.LOGGED_POSITION] = m[a + at.POSITION]
    log[row + at.LOGGED_TRANSFER] = e
    log[row + at.LOGGED_WAITED] = waited
    log[row + at.LOGGED_BEGIN] = now - ticks
    log[row + at.LOGGED_END] = now
    m[at.N_LOGGED] += 1


# Waiting --------------------------------------------------------------------------------------------------------------


@inlined
def look(m, p):
    """Let a partition look for work in the next phase of starts."""
    if m[p + at.LOOKING] == 0:
        m[p + at.LOOKING] = 1
        m[m[at.LOOKING_LIST] + m[at.N_LOOKING]] = p
        m[at.N_LOOKING] += 1


@inner
def reserved(m, a, b):
    """Return the tokens that the firing under way takes from a buffer."""
    x = m[a + at.COLUMN]
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        if m[e + at.BUFFER] == b:
            return of_size(m, a, m[e + at.TOKENS])
    return 0


@inner
def sample(m, b, time):
    """Look at the occupancy at ``time``, a launch of output tokens: what leaves then has left."""
    occupied = m[b + at.VISIBLE] + m[b + at.IN_FLIGHT]
    if occupied > m[b + at.MAX_TOKENS]:
        reader = m[b + at.TARGET]
        if m[reader + at.LEAVE_AT] <= time:
            occupied -= reserved(m, reader, b)
        m[b + at.MAX_TOKENS] = max(m[b + at.MAX_TOKENS], occupied)


@inner
def sample_planned(m, b, launched, now):
    """Look at the occupancy at a launch made in advance; of a launch at this instant, when the phase is over."""
    if launched < now:
        sample(m, b, launched)
    elif launched == now:
        m[m[at.LAUNCHED_LIST] + m[at.N_LAUNCHED]] = b
        m[at.N_LAUNCHED] += 1


@inlined
def note_due(m, slot):
    """Where there are many: note anew when the first of the eight around a slot is due, since a time has changed."""
    if m[at.MANY] == 1:
        eight = (slot - m[at.ACTIVE]) >> 3
        m[m[at.FIRST_OF_EIGHT] + eight] = least_of_eight(m, m[at.ACTIVE] + 8 * eight)


@inlined
def leave(m, a):
    """Let the input tokens of a planned firing leave after the fact: nobody has waited for their room."""
    x, time = m[a + at.COLUMN], m[a + at.LEAVE_AT]
    m[a + at.LEAVE_AT] = at.NEVER
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        occupied = m[b + at.VISIBLE] + m[b + at.IN_FLIGHT]
        if occupied > m[b + at.MAX_TOKENS] and m[b + at.IN_FLIGHT] > 0 and m[m[b + at.SOURCE] + at.LAUNCH_AT] < time:
            m[b + at.MAX_TOKENS] = occupied
        m[b + at.VISIBLE] -= m[e + at.TOKENS]
        if visits(m) and travels(m, b):
            m[b + at.UNFREED] += m[e + at.TOKENS]
            m[b + at.ROOM + at.HELD] += m[e + at.TOKENS]


@inlined
def lacks_space(m, b, tokens, now):
    """Return whether a buffer lacks space; if tokens of its reader have yet to leave, that becomes a step."""
    if visits(m) and travels(m, b):
        return True  # what leaves frees room only when it has been published and has arrived
    reader = m[b + at.TARGET]
    if m[reader + at.LEAVE_AT] == at.NEVER or m[reader + at.STAGE] == at.LEAVE:
        return True
    if m[reader + at.LEAVE_AT] <= now:
        leave(m, reader)
        return m[b + at.VISIBLE] + tokens > m[b + at.CAPACITY]
    m[reader + at.STAGE] = at.LEAVE
    m[m[reader + at.SLOT]] = m[reader + at.LEAVE_AT]
    note_due(m, m[reader + at.SLOT])
    return True


@inlined
def ask_on(m, a, now):
    """Ask inputs, then outputs, from the one the actor was blocked on; ready when all have what is needed."""
    x = m[a + at.COLUMN]
    asked = m[a + at.ASKED]
    e, end = m[x + at.READ_FIRST] + asked * at.TRANSFER_FIELDS, m[x + at.READ_END]
    while e < end:
        b, tokens = m[e + at.BUFFER], m[e + at.TOKENS]
        if seen(m, b) < tokens:
            m[b + at.WANTED_TOKENS] = tokens
            m[a + at.ASKED] = asked
            return
        asked += 1
        e += at.TRANSFER_FIELDS
    e += m[x + at.WRITE_FIRST] - end
    end = m[x + at.WRITE_END]
    while e < end:
        b, tokens = m[e + at.BUFFER], m[e + at.TOKENS]
        if taken(m, b) + tokens > m[b + at.CAPACITY] and lacks_space(m, b, tokens, now):
            m[b + at.WANTED_SPACE] = tokens
            m[a + at.ASKED] = asked
            return
        asked += 1
        e += at.TRANSFER_FIELDS
    m[a + at.ASKED] = asked
    m[a + at.READY] = 1
    p = m[a + at.PARTITION]
    m[p + at.N_READY] += 1
    look(m, p)


@inlined
def charge(m, a, now):
    """Account the waiting since the last change of what the actor waits for."""
    ticks = now - m[a + at.SINCE]
    if ticks == 0:
        return
    m[a + at.SINCE] = now
    if m[a + at.READY] == 1:
        m[a + at.IDLE] += ticks
        return
    x = m[a + at.COLUMN]
    e, end = m[x + at.READ_FIRST] + m[a + at.ASKED] * at.TRANSFER_FIELDS, m[x + at.READ_END]
    if e < end:
        b = m[e + at.BUFFER]
        m[a + at.BLOCKED_READING] += ticks
        m[b + at.READ_BLOCKED] += ticks
        m[b + at.READ_BLOCKINGS] += 1
    else:
        b = m[e - end + m[x + at.WRITE_FIRST] + at.BUFFER]
        m[a + at.BLOCKED_WRITING] += ticks
        m[b + at.WRITE_BLOCKED] += ticks
        m[b + at.WRITE_BLOCKINGS] += 1


@inlined
def answered(m, a, now):
    """What the actor was blocked on has what it needs."""
    charge(m, a, now)
    m[a + at.ASKED] += 1
    ask_on(m, a, now)


@inlined
def free(m, b, now):
    """The writer of a buffer sees more room than before."""
    wanted = m[b + at.WANTED_SPACE]
    if wanted != 0 and taken(m, b) + wanted <= m[b + at.CAPACITY]:
        m[b + at.WANTED_SPACE] = 0
        answered(m, m[b + at.SOURCE], now)


@inlined
def release(m, a, x, now):
    """Let the input tokens of a firing leave."""
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        occupied = m[b + at.VISIBLE] + m[b + at.IN_FLIGHT]
        if occupied > m[b + at.MAX_TOKENS] and m[b + at.IN_FLIGHT] > 0:
            launched = m[m[b + at.SOURCE] + at.LAUNCH_AT]
            if launched < now or (launched == now and m[at.FIRST_ROUND] == 0):
                m[b + at.MAX_TOKENS] = occupied
        tokens = of_size(m, a, m[e + at.TOKENS])
        m[b + at.VISIBLE] -= tokens
        if visits(m) and travels(m, b):
            m[b + at.UNFREED] += tokens
            m[b + at.ROOM + at.HELD] += tokens
        else:
            free(m, b, now)


@inner
def launch(m, a, x):
    """Let the output tokens of a firing take their room; the occupancy is looked at when the phase is over."""
    n = m[at.N_LAUNCHED]
    for e in range(m[x + at.WRITE_FIRST], m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        m[b + at.IN_FLIGHT] += of_size(m, a, m[e + at.TOKENS])
        m[m[at.LAUNCHED_LIST] + n] = b
        n += 1
    m[at.N_LAUNCHED] = n


@inlined
def show(m, b, now):
    """The reader of a buffer sees more tokens than before."""
    wanted = m[b + at.WANTED_TOKENS]
    if wanted != 0 and seen(m, b) >= wanted:
        m[b + at.WANTED_TOKENS] = 0
        answered(m, m[b + at.TARGET], now)


@inlined
def deliver(m, a, e, now):
    """Make the tokens of one write visible; the reader sees them at once, or when they have arrived."""
    b = m[e + at.BUFFER]
    tokens = of_size(m, a, m[e + at.TOKENS])
    if m[b + at.VISIBLE] + m[b + at.IN_FLIGHT] > m[b + at.MAX_TOKENS]:
        sample_planned(m, b, m[a + at.LAUNCH_AT], now)
    m[b + at.IN_FLIGHT] = 0
    m[b + at.VISIBLE] += tokens
    if travels(m, b):
        m[b + at.UNSEEN] += tokens
        m[b + at.HELD] += tokens
    else:
        show(m, b, now)


# Arrivals -------------------------------------------------------------------------------------------------------------


@inner
def set_out(m, way, now):
    """Let what is published on a way set out."""
    m[way + at.ON_WAY] = m[way + at.PUBLISHED]
    m[way + at.PUBLISHED] = 0
    m[way + at.ARRIVES_AT] = now + m[at.ARRIVAL]


@inner
def send(m, way, now):
    """Publish what is held on a way; it sets out at once, or behind what is on it."""
    if m[way + at.HELD] > 0:
        m[way + at.PUBLISHED] += m[way + at.HELD]
        m[way + at.HELD] = 0
        if m[way + at.ON_WAY] == 0:
            set_out(m, way, now)
            m[m[at.ARRIVING_LIST] + m[at.N_ARRIVING]] = way
            m[at.N_ARRIVING] += 1


@inner
def publish(m, a, now):
    """Publish what an actor has written, and where visits are known the room of what it has taken."""
    m[a + at.TURN_MADE] = 0
    if recorded(m):
        int64_pointer(m[at.RECORD])[at.RECORDED_PUBLISHED * m[at.N_TIMES] + m[a + at.POSITION] - 1] = 1
    for i in range(m[a + at.OUTPUTS], m[a + at.OUTPUTS_END]):
        send(m, m[i], now)
    if visits(m):
        for i in range(m[a + at.INPUTS], m[a + at.INPUTS_END]):
            send(m, m[i] + at.ROOM, now)


@inner
def publish_all(m, now):
    """Behind the starts of a round: the turns of actors that ended a firing and began no other are over."""
    first = m[at.ENDED_LIST]
    for i in range(first, first + m[at.N_ENDED]):
        a = m[i]
        fresh = visits(m) and m[a + at.VISIT_MADE] == 0
        if m[a + at.STAGE] == at.WAITING or m[a + at.TURN_MADE] >= m[a + at.TURN_FIRINGS] or fresh:
            publish(m, a, now)
    m[at.N_ENDED] = 0


@inner
def make_arrivals(m, now):
    """Let the tokens and the room arrive whose time has come; what was published meanwhile sets out together."""
    i = m[at.ARRIVING_LIST]
    while i < m[at.ARRIVING_LIST] + m[at.N_ARRIVING]:
        way = m[i]
        if m[way + at.ARRIVES_AT] != now:
            i += 1
            continue
        m[way + at.UNSEEN] -= m[way + at.ON_WAY]
        set_out(m, way, now)
        if m[way + at.ON_WAY] > 0:
            i += 1
        else:
            m[at.N_ARRIVING] -= 1
            m[i] = m[m[at.ARRIVING_LIST] + m[at.N_ARRIVING]]
        if (way - m[at.FIFOS]) % at.FIFO_FIELDS == 0:
            show(m, way, now)
        else:
            free(m, way - at.ROOM, now)


@inner
def next_arrival(m):
    """Return when tokens or room arrive next."""
    due = at.NEVER
    first = m[at.ARRIVING_LIST]
    for i in range(first, first + m[at.N_ARRIVING]):
        due = min(due, m[m[i] + at.ARRIVES_AT])
    return due


# Transfers one by one: shared links and blocks ------------------------------------------------------------------------


@inner
def first_transfer(m, a, writes):
    """Return the address of the first read or write of the firing under way, and their number."""
    x = m[a + at.COLUMN]
    if writes:
        return m[x + at.WRITE_FIRST], (m[x + at.WRITE_END] - m[x + at.WRITE_FIRST]) // at.TRANSFER_FIELDS
    return m[x + at.READ_FIRST], (m[x + at.READ_END] - m[x + at.READ_FIRST]) // at.TRANSFER_FIELDS


@inner
def transfer_ticks(m, a, e):
    """Return the ticks of one transfer of the firing or block under way."""
    size = m[a + at.SIZE]
    return m[e + at.TICKS] if size == 1 else m[m[e + at.COSTS] + size - 1]


@inner
def request(m, a, i, e, now):
    """Ask the link for transfer number ``i`` of the phase."""
    s = m[e + at.SERVER]
    r = m[s + at.REQUESTS] + m[s + at.N_REQUESTS] * at.REQUEST_FIELDS
    m[r + at.REQUEST_TIME] = now
    m[r + at.REQUEST_ACTOR] = a
    m[r + at.REQUEST_BUFFER] = m[e + at.BUFFER]
    m[r + at.REQUEST_NUMBER] = i
    m[r + at.REQUEST_TICKS] = transfer_ticks(m, a, e)
    m[s + at.N_REQUESTS] += 1


@inner
def transfer_ended(m, a, i, waited, now, writes):
    """Account transfer number ``i`` of the phase, which has ended, and deliver it if it is a write."""
    first, _ = first_transfer(m, a, writes)
    e = first + i * at.TRANSFER_FIELDS
    ticks = transfer_ticks(m, a, e)
    if recorded(m):
        log_transfer(m, a, e, waited, ticks, now)
    if m[at.PARALLEL] == 0:
        m[a + at.PHASE_WAITED] += waited
        m[a + at.PHASE_MOVED] += ticks
    else:
        m[a + at.LEFT] -= 1
        m[m[a + at.PENDING] + i] = at.NEVER
        if now > m[a + at.CRITICAL_TIME] or i < m[a + at.CRITICAL_NUMBER]:
            m[a + at.CRITICAL_TIME] = now
            m[a + at.CRITICAL_NUMBER] = i
            m[a + at.PHASE_WAITED] = waited
            m[a + at.PHASE_MOVED] = ticks
    if writes:
        deliver(m, a, e, now)


@inner
def go_on_sequential(m, a, now, writes):
    """Begin transfers from the cursor on until one takes time or waits; return whether the phase is over."""
    first, n = first_transfer(m, a, writes)
    while m[a + at.CURSOR] < n:
        i = m[a + at.CURSOR]
        e = first + i * at.TRANSFER_FIELDS
        if m[e + at.SERVER] != at.NONE:
            request(m, a, i, e, now)
            m[m[a + at.SLOT]] = at.NEVER
            return False
        ticks = transfer_ticks(m, a, e)
        if ticks > 0:
            m[m[a + at.SLOT]] = now + ticks
            return False
        transfer_ended(m, a, i, m[at.BEGIN], now, writes)
        m[a + at.CURSOR] = i + 1
    return True


@inner
def step_parallel(m, a, now, writes):
    """End the transfers that are due; return whether the phase is over."""
    _, n = first_transfer(m, a, writes)
    due = at.NEVER
    for i in range(n):
        end = m[m[a + at.PENDING] + i]
        if end == now:
            transfer_ended(m, a, i, m[at.BEGIN], now, writes)
        else:
            due = min(due, end)
    m[m[a + at.SLOT]] = due
    return m[a + at.LEFT] == 0


@inner
def begin_phase(m, a, now, writes):
    """Begin the reads or the writes of a firing one by one; return whether they are over at once."""
    m[a + at.PHASE_WAITED] = 0
    m[a + at.PHASE_MOVED] = 0
    m[a + at.CURSOR] = 0
    if m[at.PARALLEL] == 0:
        return go_on_sequential(m, a, now, writes)
    first, n = first_transfer(m, a, writes)
    m[a + at.LEFT] = n
    m[a + at.CRITICAL_TIME] = at.NONE
    m[a + at.CRITICAL_NUMBER] = 0
    for i in range(n):
        e = first + i * at.TRANSFER_FIELDS
        if m[e + at.SERVER] == at.NONE:
            m[m[a + at.PENDING] + i] = now + transfer_ticks(m, a, e)
        else:
            m[m[a + at.PENDING] + i] = at.NEVER
            request(m, a, i, e, now)
    return step_parallel(m, a, now, writes)


@inner
def step_phase(m, a, now, writes):
    """Make what is due in reads or writes that are made one by one; return whether they are over."""
    if m[at.PARALLEL] == 1:
        return step_parallel(m, a, now, writes)
    transfer_ended(m, a, m[a + at.CURSOR], m[at.BEGIN], now, writes)
    m[a + at.CURSOR] += 1
    return go_on_sequential(m, a, now, writes)


@inner
def phase_over(m, a, now):
    """Go on behind reads or writes that were made one by one."""
    x = m[a + at.COLUMN]
    m[a + at.LINK_WAITING] += m[a + at.PHASE_WAITED]
    if m[a + at.STAGE] == at.READ_ONE_BY_ONE:
        m[a + at.READING] += m[a + at.PHASE_MOVED]
        if m[at.RELEASE_EARLY] == 1:
            release(m, a, x, now)
        m[a + at.STAGE] = at.PROCESS
        m[m[a + at.SLOT]] = now + compute_ticks(m, a, x)
        if recorded(m):
            record_steps(m, a, at.RECORDED_READ, now)
            record_steps(m, a, at.RECORDED_COMPUTED, m[m[a + at.SLOT]])
    else:
        m[a + at.WRITING] += m[a + at.PHASE_MOVED]
        m[a + at.STAGE] = at.ENDING


@inner
def compute_ticks(m, a, x):
    """Return the computation of the firing or block under way."""
    if block_width(m, x) == 0:
        return m[x + at.COMPUTE] + deviation(m, a)
    return m[m[x + at.BLOCK_COSTS] + m[a + at.SIZE] - 1]


# Links ----------------------------------------------------------------------------------------------------------------


@inner
def served(m, s, now):
    """The transfer of a shared link has ended: free the link and let the firing go on."""
    a, i = m[s + at.CLIENT], m[s + at.CLIENT_TRANSFER]
    m[s + at.CLIENT] = at.NONE
    m[s + at.CLIENT_END] = at.NEVER
    writes = m[a + at.STAGE] == at.WRITE_ONE_BY_ONE
    transfer_ended(m, a, i, m[s + at.CLIENT_WAITED], now, writes)
    if m[at.PARALLEL] == 1:
        over = step_parallel(m, a, now, writes)
    else:
        m[a + at.CURSOR] = i + 1
        over = go_on_sequential(m, a, now, writes)
    if over:
        phase_over(m, a, now)
    step(m, a, now)


@inner
def precedes(m, r, other):
    """Return whether a request comes before another: by time, partition and actor, buffer."""
    if m[r + at.REQUEST_TIME] != m[other + at.REQUEST_TIME]:
        return m[r + at.REQUEST_TIME] < m[other + at.REQUEST_TIME]
    rank, other_rank = m[m[r + at.REQUEST_ACTOR] + at.RANK], m[m[other + at.REQUEST_ACTOR] + at.RANK]
    if rank != other_rank:
        return rank < other_rank
    return m[r + at.REQUEST_BUFFER] < m[other + at.REQUEST_BUFFER]


@inner
def grant_next(m, s, now):
    """Let a free shared link begin the first of its requests."""
    first, n = m[s + at.REQUESTS], m[s + at.N_REQUESTS]
    last = first + (n - 1) * at.REQUEST_FIELDS
    best = first
    for r in range(first + at.REQUEST_FIELDS, last + 1, at.REQUEST_FIELDS):
        if precedes(m, r, best):
            best = r
    waited, ticks = now - m[best + at.REQUEST_TIME], m[best + at.REQUEST_TICKS]
    m[s + at.CLIENT] = m[best + at.REQUEST_ACTOR]
    m[s + at.CLIENT_TRANSFER] = m[best + at.REQUEST_NUMBER]
    m[s + at.CLIENT_WAITED] = waited
    m[s + at.CLIENT_END] = now + ticks
    m[s + at.BUSY] += ticks
    m[s + at.WAITED] += waited
    m[s + at.TRANSFERS] += 1
    for i in range(at.REQUEST_FIELDS):
        m[best + i] = m[last + i]
    m[s + at.N_REQUESTS] = n - 1


@inner
def grant(m, now):
    """Phase GRANTS; return the earliest end of the transfers that the links are serving."""
    due = at.NEVER
    for s in range(m[at.LINKS], m[at.LINKS_END], at.LINK_FIELDS):
        if m[s + at.CLIENT] == at.NONE and m[s + at.N_REQUESTS] > 0:
            grant_next(m, s, now)
        due = min(due, m[s + at.CLIENT_END])
    return due


# Steps of a firing ----------------------------------------------------------------------------------------------------


@inlined
def deliver_due(m, a, x, now):
    """Deliver the writes whose end has come."""
    since = now - m[a + at.BASE]
    end = m[x + at.WRITE_END]
    e = m[a + at.CURSOR]
    while e < end:
        if m[e + at.OFFSET] > since:
            m[a + at.CURSOR] = e
            m[m[a + at.SLOT]] = m[a + at.BASE] + m[e + at.OFFSET]
            return
        deliver(m, a, m[e + at.ROW], now)
        e += at.TRANSFER_FIELDS
    if m[a + at.LEAVE_AT] != at.NEVER:
        leave(m, a)
    m[a + at.STAGE] = at.ENDING


@inlined
def begin_writes(m, a, x, now):
    """The processing is over: tokens leave (if they stayed), tokens are launched, the writes begin."""
    if m[at.RELEASE_EARLY] == 0:
        release(m, a, x, now)
    launch(m, a, x)
    m[a + at.LAUNCH_AT] = at.NEVER
    if not is_one_by_one(m, x, at.WRITE_GENERAL):
        m[a + at.STAGE] = at.WRITE
        m[a + at.BASE] = now
        m[a + at.CURSOR] = m[x + at.WRITE_FIRST]
        deliver_due(m, a, x, now)
    else:
        m[a + at.STAGE] = at.WRITE_ONE_BY_ONE
        if begin_phase(m, a, now, m[a + at.STAGE] == at.WRITE_ONE_BY_ONE):
            phase_over(m, a, now)


@inner
def step_one_by_one(m, a, now):
    """Steps of firings whose transfers are made one by one."""
    stage = m[a + at.STAGE]
    if stage == at.SCHEDULED:
        m[a + at.STAGE] = at.READ_ONE_BY_ONE
        over = begin_phase(m, a, now, m[a + at.STAGE] == at.WRITE_ONE_BY_ONE)
    else:
        over = step_phase(m, a, now, stage == at.WRITE_ONE_BY_ONE)
    if over:
        phase_over(m, a, now)


@inlined
def plan(m, a, x, launch_at):
    """Launch at ``launch_at`` in advance: only the reader of a buffer sees that its tokens come later."""
    for e in range(m[x + at.WRITE_FIRST], m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        m[m[e + at.BUFFER] + at.IN_FLIGHT] = m[e + at.TOKENS]
    m[a + at.BASE] = m[a + at.LAUNCH_AT] = launch_at
    m[a + at.CURSOR] = m[x + at.WRITE_FIRST]
    m[a + at.STAGE] = at.WRITE


@inlined
def plan_all(m, a, x, scheduled):
    """Plan a firing whose scheduling ends at ``scheduled``; return when its first step is due.

    Input tokens leave when somebody looks, or at the end: a step of its own only if somebody waits for their room.
    """
    plan(m, a, x, scheduled + m[x + at.LAUNCH_TICKS])
    m[a + at.LEAVE_AT] = scheduled + m[x + at.LEAVE_TICKS]
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        if m[m[e + at.BUFFER] + at.WANTED_SPACE] != 0:
            m[a + at.STAGE] = at.LEAVE
            return m[a + at.LEAVE_AT]
    return scheduled + m[x + at.FIRST_TICKS]


@inner
def process(m, a, x, now):
    """The reads of a firing are over, and took no time."""
    if m[x + at.COMPUTE] > 0 and is_planned(m, x):
        plan(m, a, x, now + m[x + at.COMPUTE])
        m[m[a + at.SLOT]] = m[a + at.BASE] + m[x + at.FIRST_TICKS] - m[x + at.LAUNCH_TICKS]
    else:
        m[a + at.STAGE] = at.PROCESS
        m[m[a + at.SLOT]] = now + m[x + at.COMPUTE] + deviation(m, a)


@inlined
def step(m, a, now):
    """Make all steps of a firing that are due now, those of zero length behind them as well."""
    x, due = m[a + at.COLUMN], m[a + at.SLOT]
    while m[due] == now and m[a + at.STAGE] != at.ENDING:
        stage = m[a + at.STAGE]
        if stage == at.WRITE:
            deliver_due(m, a, x, now)
        elif stage == at.LEAVE:
            m[a + at.LEAVE_AT] = at.NEVER
            m[a + at.STAGE] = at.WRITE
            m[due] = m[a + at.BASE] + m[x + at.FIRST_TICKS] - m[x + at.LAUNCH_TICKS]
            release(m, a, x, now)
        elif stage == at.READ:
            process(m, a, x, now)
            release(m, a, x, now)
        elif stage == at.PROCESS:
            begin_writes(m, a, x, now)
        elif not is_plain(m):
            step_one_by_one(m, a, now)
    if m[a + at.STAGE] == at.ENDING:
        m[due] = at.NEVER
        m[m[at.ENDING_LIST] + m[at.N_ENDING]] = a
        m[at.N_ENDING] += 1
    note_due(m, due)


# Ends -----------------------------------------------------------------------------------------------------------------


@inlined
def wait(m, f, a, now):
    """Begin to wait for the next firing, if one is left."""
    m[a + at.STAGE] = at.WAITING
    m[a + at.SINCE] = now
    position = m[a + at.POSITION]
    if position < m[a + at.FIRING_END]:
        m[a + at.COLUMN] = m[a + at.ACTIONS] + f[position] * at.ACTION_FIELDS
        m[a + at.ASKED] = 0
        ask_on(m, a, now)


@inner
def enqueue(m, p, a):
    """DATA_DEMAND_DRIVEN: append an actor if it is in the partition, ready, and not in the queue."""
    if m[a + at.PARTITION] == p and m[a + at.READY] == 1 and m[a + at.QUEUED] == 0:
        m[a + at.QUEUED] = 1
        tail = (m[p + at.QUEUE_HEAD] + m[p + at.QUEUE_SIZE]) % m[p + at.N_PLACES]
        m[m[p + at.QUEUE] + tail] = a
        m[p + at.QUEUE_SIZE] += 1


@inner
def hear_end(m, p, a):
    """DATA_DEMAND_DRIVEN: append the ready successors, and the ready predecessors if the actor now lacks input."""
    for i in range(m[a + at.OUTPUTS], m[a + at.OUTPUTS_END]):
        enqueue(m, p, m[m[i] + at.TARGET])
    if m[a + at.POSITION] == m[a + at.FIRING_END] or m[a + at.READY] == 1:
        return
    x = m[a + at.COLUMN]
    if m[x + at.READ_FIRST] + m[a + at.ASKED] * at.TRANSFER_FIELDS < m[x + at.READ_END]:
        for i in range(m[a + at.INPUTS], m[a + at.INPUTS_END]):
            enqueue(m, p, m[m[i] + at.SOURCE])


@inner
def least_ticks(m, a, x):
    """Return what transfers and computation of a firing take at least, whatever links it waits for."""
    if m[a + at.DEVIATES] == 1 or m[x + at.BLOCK_WIDTH] > 0:
        return m[at.BEGIN]
    return m[x + at.LAUNCH_TICKS] + m[x + at.WRITE_TICKS]


@inner
def take_waits(m, p, a, now):
    """Take from what a partition may lose before the limit what a firing that ends took more than ``least_ticks``."""
    m[p + at.SLACK] -= now - m[p + at.BEGUN] - least_ticks(m, a, m[a + at.COLUMN])
    if m[p + at.SLACK] < 0:
        m[at.STOPPED] = 1


@inlined
def leave_slot(m, a):
    """Take an actor from the list of the active ones; the last one of it gets its slot."""
    m[at.N_ACTIVE] -= 1
    slot, last = m[a + at.SLOT], m[at.ACTIVE] + m[at.N_ACTIVE]
    to_actors = m[at.ACTIVE_ACTORS] - m[at.ACTIVE]
    moved = m[last + to_actors]
    m[slot] = m[last]
    m[slot + to_actors] = moved
    m[moved + at.SLOT] = slot
    if m[at.MANY] == 1:
        m[last] = at.NEVER
        note_due(m, slot)
        note_due(m, last)


@inlined
def end_firing(m, f, times, a, now):
    """The firing is over: the core is free, the actor waits for its next one."""
    p = m[a + at.PARTITION]
    if m[at.LIMIT] != at.NEVER and m[p + at.CORES] == 1 and not is_planned(m, m[a + at.COLUMN]):
        take_waits(m, p, a, now)
    position, size = m[a + at.POSITION], of_size(m, a, 1)
    action = np.int64(f[position])
    for i in range(position, position + size if timed(m) else position):
        times[m[at.N_TIMES] + i] = now
    leave_slot(m, a)
    m[a + at.POSITION] = position + size
    m[a + at.LAST_END] = now
    m[a + at.LAST_ACTION] = action
    if visits(m):
        m[a + at.VISIT_MADE] += size
    if not is_still(m) and m[a + at.PUBLISHES] == 1:
        m[a + at.TURN_MADE] += size
        m[m[at.ENDED_LIST] + m[at.N_ENDED]] = a
        m[at.N_ENDED] += 1
    wait(m, f, a, now)
    if m[p + at.POLICY] == at.DATA_DEMAND_DRIVEN:
        hear_end(m, p, a)
    m[p + at.LAST_ACTOR] = a
    m[p + at.LAST_FIRED] = action
    m[p + at.FREE] += 1
    m[p + at.FREE_SINCE] = now
    look(m, p)


@inner
def sort_ending(m):
    """Sort the firings that end by (partition, actor)."""
    first = m[at.ENDING_LIST]
    for i in range(first + 1, first + m[at.N_ENDING]):
        a = m[i]
        rank = m[a + at.RANK]
        j = i - 1
        while j >= first and m[m[j] + at.RANK] > rank:
            m[j + 1] = m[j]
            j -= 1
        m[j + 1] = a


@inlined
def make_ends(m, f, times, now):
    """Phase ENDS: firings whose steps are all made end, by (partition, actor)."""
    n = m[at.N_ENDING]
    if n == 0:
        return
    if n > 1:
        sort_ending(m)
    first = m[at.ENDING_LIST]
    for i in range(first, first + n):
        end_firing(m, f, times, m[i], now)
    m[at.N_ENDING] = 0


# Starts ---------------------------------------------------------------------------------------------------------------


@inlined
def search(m, p, start):
    """Return the first ready place at or behind ``start``, cyclically; one is ready."""
    places, n = m[p + at.PLACES], m[p + at.N_PLACES]
    place = start
    while m[m[places + place] + at.READY] == 0:
        place += 1
        if place == n:
            place = 0
    return place


@inlined
def choose_static(m, p):
    """STATIC_ORDER: the next unfinished actor of the list, if it is ready, or NONE."""
    n = m[p + at.N_ORDER]
    for _ in range(n):
        a = m[m[p + at.ORDER] + m[p + at.TURN]]
        ready = m[a + at.READY] == 1
        if not ready and m[a + at.POSITION] < m[a + at.FIRING_END]:
            return at.NONE
        m[p + at.TURN] = (m[p + at.TURN] + 1) % n
        if ready:
            return a
    return at.NONE


@inner
def choose_demanded(m, p):
    """DATA_DEMAND_DRIVEN: the place of the first entry that is ready, dropping those before it; NONE if none is."""
    while m[p + at.QUEUE_SIZE] > 0:
        a = m[m[p + at.QUEUE] + m[p + at.QUEUE_HEAD]]
        m[p + at.QUEUE_HEAD] = (m[p + at.QUEUE_HEAD] + 1) % m[p + at.N_PLACES]
        m[p + at.QUEUE_SIZE] -= 1
        m[a + at.QUEUED] = 0
        if m[a + at.READY] == 1:
            return m[a + at.PLACE]
    return at.NONE


@inner
def covered(m, a):
    """Return whether the visit that goes on knows of what the next firing needs of FIFOs to other cores."""
    x = m[a + at.COLUMN]
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        if travels(m, b) and m[b + at.KNOWN_TOKENS] < m[e + at.TOKENS]:
            return False
    for e in range(m[x + at.WRITE_FIRST], m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        if travels(m, b) and m[b + at.KNOWN_ROOM] < m[e + at.TOKENS]:
            return False
    return True


@inner
def begin_visit(m, a):
    """Look at all FIFOs to other cores once."""
    m[a + at.VISIT_MADE] = 0
    for i in range(m[a + at.INPUTS], m[a + at.INPUTS_END]):
        b = m[i]
        m[b + at.KNOWN_TOKENS] = seen(m, b)
    for i in range(m[a + at.OUTPUTS], m[a + at.OUTPUTS_END]):
        b = m[i]
        m[b + at.KNOWN_ROOM] = m[b + at.CAPACITY] - taken(m, b)


@inner
def touch(m, a, x):
    """Take what a firing moves from what its visit knows of; return what its FIFOs to other cores take more for it."""
    size, entry = m[a + at.SIZE], m[a + at.ENTERED]
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        m[b + at.KNOWN_TOKENS] -= m[e + at.TOKENS] * size
        if travels(m, b):
            entry = max(entry, m[b + at.READ_ENTRY])
    for e in range(m[x + at.WRITE_FIRST], m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        m[b + at.KNOWN_ROOM] -= m[e + at.TOKENS] * size
        if travels(m, b):
            entry = max(entry, m[b + at.WRITE_ENTRY])
    more = entry - m[a + at.ENTERED]
    m[a + at.ENTERED] = entry
    return more


@inner
def looked_at(m, p, last, a):
    """Return what it takes to look at actors in vain between two."""
    found, n = m[at.BEGIN], m[p + at.N_PLACES]
    place, goal = m[last + at.PLACE] + 1, m[a + at.PLACE]
    while True:
        place = place if place < n else 0
        if place == goal:
            return found
        found += m[m[m[p + at.PLACES] + place] + at.CALL_TICKS]
        place += 1


@inner
def found_ticks(m, p, a, last, full, now):
    """Return what one core takes to find an actor behind the last; ``full``: its visit ended for its length only."""
    if now > m[p + at.FREE_SINCE]:
        return m[at.WAKE_TICKS] * m[a + at.POLLED]
    if full or m[p + at.POLICY] > at.ROUND_ROBIN:
        return m[at.BEGIN]
    return looked_at(m, p, last, a)


@inner
def enters(m, a):
    """Return whether the firing that starts begins a visit of an actor with a FIFO to another core."""
    return m[at.GOES_ON] == 0 and m[a + at.POLLED] == 1


@inner
def visit_ticks(m, p, a, now):
    """Return what the start of a firing takes more where visits are known, and begin the visit if it is a new one."""
    last, policy = m[p + at.LAST_ACTOR], m[p + at.POLICY]
    if m[at.GOES_ON] == 1:
        m[at.GOES_ON] = 0
        return m[at.BEGIN]
    m[a + at.ENTERED] = 0
    alone = m[p + at.CORES] == 1
    full = last == a and m[a + at.VISIT_MADE] >= m[at.LONGEST_TURN]
    if alone and policy == at.NON_PREEMPTIVE:
        begin_visit(m, a)
    if not alone or last == at.NONE:
        return m[at.BEGIN]
    return found_ticks(m, p, a, last, full and policy == at.NON_PREEMPTIVE, now)


@inner
def stay(m, p, now):
    """NON_PREEMPTIVE: return whether the visit that goes on fires again; one that knows of too little is left."""
    a = m[m[p + at.PLACES] + m[p + at.TURN]]
    if m[p + at.CORES] != 1 or m[p + at.LAST_ACTOR] != a or m[a + at.READY] == 0 or now != m[p + at.FREE_SINCE]:
        return False
    if m[a + at.VISIT_MADE] >= m[at.LONGEST_TURN]:
        return False
    if covered(m, a):
        m[at.GOES_ON] = 1
        return True
    m[p + at.TURN] = m[p + at.TURN] + 1 if m[p + at.TURN] + 1 < m[p + at.N_PLACES] else 0
    return False


@inlined
def choose(m, p, now):
    """Return the actor that a partition with a ready one fires next, or NONE."""
    policy = m[p + at.POLICY]
    if policy == at.NON_PREEMPTIVE:
        if visits(m) and stay(m, p, now):
            return m[p + at.LAST_ACTOR]
        place = search(m, p, m[p + at.TURN])
        m[p + at.TURN] = place
        return m[m[p + at.PLACES] + place]
    if policy == at.STATIC_ORDER:
        return choose_static(m, p)
    place = choose_demanded(m, p) if policy == at.DATA_DEMAND_DRIVEN else at.NONE
    if place == at.NONE:
        place = search(m, p, m[p + at.TURN])
    m[p + at.TURN] = place + 1 if place + 1 < m[p + at.N_PLACES] else 0
    return m[m[p + at.PLACES] + place]


@inner
def block_size(m, f, a, x, now):
    """Return how many firings go into a SIMD block: width, run of the action, tokens and space allow them."""
    position = m[a + at.POSITION]
    size = min(m[x + at.BLOCK_WIDTH], m[a + at.FIRING_END] - position)
    for e in range(m[x + at.READ_FIRST], m[x + at.READ_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        size = min(size, (seen(m, b)) // m[e + at.TOKENS])
    for e in range(m[x + at.WRITE_FIRST], m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        if m[m[b + at.TARGET] + at.LEAVE_AT] <= now:
            leave(m, m[b + at.TARGET])
        size = min(size, (m[b + at.CAPACITY] - taken(m, b)) // m[e + at.TOKENS])
    run = 1
    while run < size and f[position + run] == f[position]:
        run += 1
    return run


@inner
def carry(m, a, x):
    """Count the transfers over links that are not shared."""
    for c in range(m[x + at.CARRIED_FIRST], m[x + at.CARRIED_END], at.CARRIED_FIELDS):
        s = m[c + at.CARRIED_SERVER]
        m[s + at.BUSY] += transfer_ticks(m, a, m[c + at.CARRIED_TRANSFER])
        m[s + at.TRANSFERS] += 1


@inlined
def scheduling_ticks(m, p, a, x):
    """Return the scheduling of a firing behind what ended last on its core."""
    previous = at.NONE
    if m[p + at.POLICY] == at.FULL_PARALLEL:
        previous = m[a + at.LAST_ACTION]
    elif m[p + at.LAST_ACTOR] == a:
        previous = m[p + at.LAST_FIRED]
    if previous == at.NONE:
        return m[x + at.SCHED_FIRST]
    return m[m[x + at.SCHED_PAIRS] + previous * m[x + at.SCHED_STRIDE]]


@inner
def start_block(m, f, a, x, now):
    """The rare parts of a start: SIMD blocks and transfers over links that are not shared."""
    if m[x + at.BLOCK_WIDTH] > 0:
        m[a + at.SIZE] = block_size(m, f, a, x, now)
        m[a + at.PROCESSING] += compute_ticks(m, a, x)
    carry(m, a, x)


@inner
def deviate(m, deviations, a, x):
    """Take what a firing that starts computes more than its action says; blocks have costs of their own."""
    m[a + at.DEVIATION] = deviations[m[a + at.POSITION]] if m[x + at.BLOCK_WIDTH] == 0 else m[at.BEGIN]
    m[a + at.PROCESSING] += m[a + at.DEVIATION]


@inlined
def start_firing(m, f, times, deviations, p, a, now):  # ways: the hot loop; a call costs more than a branch
    """Fire an actor that is ready."""
    charge(m, a, now)
    x = m[a + at.COLUMN]
    m[a + at.READY] = 0
    m[p + at.N_READY] -= 1
    m[p + at.FREE] -= 1
    if not is_plain(m):
        m[a + at.SIZE] = 1
        if m[x + at.BLOCK_WIDTH] > 0 or m[x + at.CARRIED_FIRST] != m[x + at.CARRIED_END]:
            start_block(m, f, a, x, now)
    if not is_still(m) and m[a + at.DEVIATES] == 1:
        deviate(m, deviations, a, x)
    ticks = m[x + at.SCHED_FIRST] if visits(m) and enters(m, a) else scheduling_ticks(m, p, a, x)
    if visits(m):
        ticks += visit_ticks(m, p, a, now)
        ticks += touch(m, a, x)
    m[a + at.SCHEDULING] += ticks
    if m[at.LIMIT] != at.NEVER and m[p + at.CORES] == 1:
        m[p + at.BEGUN] = now + ticks
        m[p + at.SLACK] -= ticks + now - m[p + at.FREE_SINCE]
        if m[p + at.SLACK] < 0:
            m[at.STOPPED] = 1
    if timed(m):
        for i in range(m[a + at.POSITION], m[a + at.POSITION] + m[a + at.SIZE]):
            times[i] = now
        if recorded(m):
            record_start(m, a, x, now + ticks)
    due = now + ticks
    if is_planned(m, x) and due + m[x + at.LEAVE_TICKS] > now:
        due = plan_all(m, a, x, due)
    elif is_one_by_one(m, x, at.READ_GENERAL):
        m[a + at.STAGE] = at.SCHEDULED
    else:
        due += m[x + at.READ_TICKS]
        if m[at.RELEASE_EARLY] == 1 and m[x + at.READ_FIRST] != m[x + at.READ_END]:
            m[a + at.STAGE] = at.READ
        else:
            m[a + at.STAGE] = at.PROCESS
            due += m[x + at.COMPUTE] + deviation(m, a)
    n = m[at.N_ACTIVE]
    m[m[at.ACTIVE] + n] = due
    m[m[at.ACTIVE_ACTORS] + n] = a
    m[a + at.SLOT] = m[at.ACTIVE] + n
    m[at.N_ACTIVE] = n + 1
    note_due(m, m[a + at.SLOT])


@inlined
def sort_looking(m):
    """Sort the partitions that look by index."""
    first = m[at.LOOKING_LIST]
    for i in range(first + 1, first + m[at.N_LOOKING]):
        p = m[i]
        j = i - 1
        while j >= first and m[j] > p:
            m[j + 1] = m[j]
            j -= 1
        m[j + 1] = p


@inlined
def start_all(m, f, times, deviations, now):
    """Phase STARTS: every partition that looks starts all it can, by index."""
    n = m[at.N_LOOKING]
    if n == 0:
        return
    if n > 1:
        sort_looking(m)
    m[at.N_LOOKING] = 0
    first = m[at.LOOKING_LIST]
    for i in range(first, first + n):
        p = m[i]
        m[p + at.LOOKING] = 0
        while m[p + at.FREE] > 0 and m[p + at.N_READY] > 0:
            a = choose(m, p, now)
            if a == at.NONE:
                break
            start_firing(m, f, times, deviations, p, a, now)


# The design point -----------------------------------------------------------------------------------------------------


@inner
def hand_out(m):
    """Give buffers and actors what the design point chooses for them."""
    c = m[at.CHOSEN]
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        m[a + at.TURN_FIRINGS] = m[at.LONGEST_TURN]
        m[a + at.VISIT_MADE] = 1
    for b in range(m[at.FIFOS], m[at.FIFOS_END], at.FIFO_FIELDS):
        m[b + at.CAPACITY] = m[c + at.CHOSEN_CAPACITY]
        m[b + at.READ_PRICE] = m[c + at.CHOSEN_READ_PRICE]
        m[b + at.WRITE_PRICE] = m[c + at.CHOSEN_WRITE_PRICE]
        m[b + at.LINK_SERVER] = m[c + at.CHOSEN_SERVER]
        if m[at.ARRIVAL] > 0 and m[c + at.CHOSEN_TRAVELS] == 1:
            m[b + at.TRAVELS] = 1
            m[m[b + at.SOURCE] + at.PUBLISHES] = 1
            if visits(m):
                m[m[b + at.TARGET] + at.PUBLISHES] = 1
                if m[m[b + at.SOURCE] + at.POLLED] == 0:
                    m[m[b + at.SOURCE] + at.CALL_TICKS] = m[at.GLANCE_TICKS]
                m[m[b + at.TARGET] + at.CALL_TICKS] = m[at.LOOK_TICKS]
                m[m[b + at.SOURCE] + at.POLLED] = m[m[b + at.TARGET] + at.POLLED] = 1
            if m[b + at.TURN_TOKENS] > 0:
                turn = max(1, m[b + at.CAPACITY] // m[b + at.TURN_TOKENS])
                for a in (m[b + at.SOURCE], m[b + at.TARGET]):
                    m[a + at.TURN_FIRINGS] = min(m[a + at.TURN_FIRINGS], turn)
        c += at.CHOSEN_FIFO_FIELDS
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        m[a + at.PARTITION] = m[c + at.CHOSEN_PARTITION]
        m[a + at.PLACE] = m[c + at.CHOSEN_PLACE]
        m[a + at.RANK] = m[c + at.CHOSEN_RANK]
        c += at.CHOSEN_ACTOR_FIELDS


@inner
def price(m, first, end, costs, width, side):
    """Give transfers their ticks and links; return the ticks of all of them, and whether one asks a shared link."""
    total, asks = m[at.BEGIN], m[at.BEGIN]
    for e in range(first, end, at.TRANSFER_FIELDS):
        b = m[e + at.BUFFER]
        row = costs + m[b + side] * width + m[e + at.COLUMN_OF_COSTS]
        ticks = m[row]
        m[e + at.COSTS] = row
        m[e + at.TICKS] = ticks
        m[e + at.SERVER] = m[b + at.LINK_SERVER]
        asks |= m[b + at.LINK_SERVER] != at.NONE
        total = max(total, ticks) if m[at.PARALLEL] == 1 else total + ticks
    return total, asks


@inner
def order_writes(m, x):
    """Give the writes of an action by the order in which they end, with the end of each after the processing."""
    first = m[x + at.WRITE_FIRST]
    total = m[at.BEGIN]
    for e in range(first, m[x + at.WRITE_END], at.TRANSFER_FIELDS):
        ticks = m[e + at.TICKS]
        total += ticks
        offset, place = total, e
        if m[at.PARALLEL] == 1:
            offset = ticks
            while place > first and m[place - at.TRANSFER_FIELDS + at.OFFSET] > offset:
                m[place + at.OFFSET] = m[place - at.TRANSFER_FIELDS + at.OFFSET]
                m[place + at.ROW] = m[place - at.TRANSFER_FIELDS + at.ROW]
                place -= at.TRANSFER_FIELDS
        m[place + at.OFFSET] = offset
        m[place + at.ROW] = e


@inner
def settle(m):
    """Work out what follows from the design point for every action: its transfers and the times in its firings."""
    hand_out(m)
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        for x in range(m[a + at.ACTIONS], m[a + at.ACTIONS_END], at.ACTION_FIELDS):
            first, end = m[x + at.READ_FIRST], m[x + at.READ_END]
            reading, asks = price(m, first, end, m[at.READ_COSTS], m[at.READ_COSTS_WIDTH], at.READ_PRICE)
            m[x + at.READ_TICKS] = reading
            m[x + at.READ_GENERAL] = asks | (m[x + at.BLOCK_WIDTH] > 0)
            launch = reading + m[x + at.COMPUTE]
            m[x + at.LEAVE_TICKS] = reading if m[at.RELEASE_EARLY] == 1 and first != end else launch
            m[x + at.LAUNCH_TICKS] = m[x + at.FIRST_TICKS] = launch
            first, end = m[x + at.WRITE_FIRST], m[x + at.WRITE_END]
            writing, asks = price(m, first, end, m[at.WRITE_COSTS], m[at.WRITE_COSTS_WIDTH], at.WRITE_PRICE)
            m[x + at.WRITE_TICKS] = writing
            m[x + at.WRITE_GENERAL] = asks | (m[x + at.BLOCK_WIDTH] > 0)
            order_writes(m, x)
            if first != end:
                m[x + at.FIRST_TICKS] += m[first + at.OFFSET]
            m[x + at.PLANNED] = m[x + at.READ_GENERAL] + m[x + at.WRITE_GENERAL] + m[a + at.DEVIATES] == 0


@inner
def take_limit(m):
    """Give each partition on one core the time that it may spend on other things than transfers and computation."""
    for p in range(m[at.PARTITIONS], m[at.PARTITIONS_END], at.PART_FIELDS):
        m[p + at.SLACK] = m[at.LIMIT]
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        p = m[a + at.PARTITION]
        for x in range(m[a + at.ACTIONS], m[a + at.ACTIONS_END], at.ACTION_FIELDS):
            if m[x + at.TOTAL] > 0:
                m[p + at.SLACK] -= m[x + at.TOTAL] * least_ticks(m, a, x)
        if m[p + at.CORES] == 1 and m[p + at.SLACK] < 0:
            m[at.STOPPED] = 1


# The loop -------------------------------------------------------------------------------------------------------------


@inner
def count_cores(m):
    """See whether those that are due are looked for by eight (``note_due``), and prepare for it."""
    cores = m[at.BEGIN]
    for p in range(m[at.PARTITIONS], m[at.PARTITIONS_END], at.PART_FIELDS):
        cores += m[p + at.CORES]
    m[at.MANY] = (cores > at.MANY_CORES) & (not linked(m))
    if m[at.MANY] == 1:
        for slot in range(m[at.ACTIVE], m[at.ENDING_LIST]):
            m[slot] = at.NEVER


@inner
def earliest_of_many(m):
    """As ``earliest``, by eight."""
    first, due, eight, only = m[at.FIRST_OF_EIGHT], at.NEVER, 0, 1
    for i in range((m[at.N_ACTIVE] + 7) >> 3):
        time = m[first + i]
        only = 0 if time == due else only
        if time < due:
            due, eight, only = time, i, 1
    slot, number, n_due = m[at.ACTIVE] + 8 * eight, 0, 0
    for i in range(7, -1, -1):
        number = i if m[slot + i] == due else number
        n_due += m[slot + i] == due
    m[at.SLOT_NUMBER] = 8 * eight + number
    m[at.ONLY] = only & (n_due == 1)
    return min(due, next_arrival(m)) if arriving(m) else due


@inlined
def earliest(m):
    """Return when the next step of an active actor or the next arrival is due, and note whose step is the next."""
    if m[at.MANY] == 1 and m[at.N_ACTIVE] > 0:
        return earliest_of_many(m)
    first, n = m[at.ACTIVE], m[at.N_ACTIVE]
    due, number, only = at.NEVER, 0, 1
    for i in range(n):
        time = m[first + i]
        only = 0 if time == due else only
        if time < due:
            due, number, only = time, i, 1
    m[at.SLOT_NUMBER] = number
    m[at.ONLY] = only
    return min(due, next_arrival(m)) if arriving(m) else due


@inner
def step_many(m, now):
    """Make all steps that are due, in the order of their slots, by eight."""
    first, actors, eights = m[at.ACTIVE], m[at.ACTIVE_ACTORS], m[at.FIRST_OF_EIGHT]
    for eight in range((m[at.N_ACTIVE] + 7) >> 3):
        if m[eights + eight] == now:
            for i in range(8 * eight, 8 * eight + 8):
                if m[first + i] == now:
                    step(m, m[actors + i], now)


@inlined
def make_steps(m, now):
    """Make all steps that are due, in the order of their slots."""
    first, actors = m[at.ACTIVE], m[at.ACTIVE_ACTORS]
    begin, end = m[at.SLOT_NUMBER], m[at.SLOT_NUMBER] + 1
    if m[at.ONLY] == 0 or linked(m):
        begin, end = 0, m[at.N_ACTIVE]
        if m[at.MANY] == 1:
            step_many(m, now)
            end = 0
    for i in range(begin, end):
        if m[first + i] == now:
            step(m, m[actors + i], now)


@inlined
def make_transfers(m, now):
    """Phase TRANSFERS: make the arrivals and steps that are due."""
    if arriving(m):
        make_arrivals(m, now)
    if linked(m):
        for s in range(m[at.LINKS], m[at.LINKS_END], at.LINK_FIELDS):
            if m[s + at.CLIENT_END] == now:
                served(m, s, now)
    make_steps(m, now)
    first = m[at.LAUNCHED_LIST]
    for i in range(first, first + m[at.N_LAUNCHED]):
        sample(m, m[i], now)
    m[at.N_LAUNCHED] = 0


@inner
def close(m, f, now):
    """Nothing is under way: account what still waits, and the firings whose phases have the same length every time."""
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        if m[a + at.POSITION] < m[a + at.FIRING_END]:
            charge(m, a, now)
            for i in range(m[a + at.FIRING_BASE], m[a + at.POSITION]):
                m[m[a + at.ACTIONS] + f[i] * at.ACTION_FIELDS + at.DONE] += 1
        else:
            for x in range(m[a + at.ACTIONS], m[a + at.ACTIONS_END], at.ACTION_FIELDS):
                m[x + at.DONE] = m[x + at.TOTAL]
        for x in range(m[a + at.ACTIONS], m[a + at.ACTIONS_END], at.ACTION_FIELDS):
            if m[x + at.READ_GENERAL] == 0:
                m[a + at.READING] += m[x + at.DONE] * m[x + at.READ_TICKS]
            if m[x + at.WRITE_GENERAL] == 0:
                m[a + at.WRITING] += m[x + at.DONE] * m[x + at.WRITE_TICKS]
            if m[x + at.BLOCK_WIDTH] == 0:
                m[a + at.PROCESSING] += m[x + at.DONE] * m[x + at.COMPUTE]


@inner
def all_made(m):
    """Return whether no actor has a firing left."""
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        if m[a + at.POSITION] < m[a + at.FIRING_END]:
            return False
    return True


@inner
def last_end(m):
    """Return the end of the last firing, 0 where there is none."""
    last = m[at.BEGIN]
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        last = max(last, m[a + at.LAST_END])
    return last


@inner
def run(m, f, times, deviations):  # ways: the hot loop; one case for each phase and each way to end
    """Run until nothing is due any more; return the time of the last event."""
    settle(m)
    count_cores(m)
    now = m[at.BEGIN]
    if m[at.LIMIT] != at.NEVER:
        take_limit(m)
    for a in range(m[at.ACTORS], m[at.ACTORS_END], at.ACTOR_FIELDS):
        wait(m, f, a, now)
    start_all(m, f, times, deviations, now)
    due = earliest(m)
    while True:
        while due == now and m[at.STOPPED] == 0:  # another thread may set it
            make_transfers(m, now)
            make_ends(m, f, times, now)
            start_all(m, f, times, deviations, now)
            if not is_still(m) and m[at.N_ENDED] > 0:
                publish_all(m, now)
            due = earliest(m)
            m[at.FIRST_ROUND] = 0
        if m[at.STOPPED] == 1:
            break
        if linked(m):
            due = min(due, grant(m, now))
            if due == now:
                continue
        if due == at.NEVER:
            break
        if due > m[at.LIMIT] and not all_made(m):
            m[at.STOPPED] = 1
            break
        now = due
        m[at.FIRST_ROUND] = 1
    if m[at.STOPPED] == 1:
        return now
    if m[at.ARRIVAL] > 0 and all_made(m):
        now = last_end(m)  # tokens that nobody reads may have arrived later
    close(m, f, now)
    return now


@kernel(["void(int64[::1], int64[::1], uint16[::1], int64[:, ::1], int64[::1])"], nogil=True)
def simulate(addresses, ends, firings, firing_times, deviations):
    """Run each memory until nothing is due any more, or its limit is passed; all accounts are in it.

    ``addresses``: of the first words of the memories. ``ends``: receives the time of the last event of each.
    ``firing_times``: shape (2, n_firings), start and end of every firing, or (2, 0) where they are not wanted.
    ``deviations``: as in ``ProblemTables``.
    """
    f = uint16_pointer(firings.ctypes.data)
    times, more = int64_pointer(firing_times.ctypes.data), int64_pointer(deviations.ctypes.data)
    for i in range(len(addresses)):
        m = int64_pointer(addresses[i])
        m[at.N_TIMES] = firing_times.shape[1]
        ends[i] = run(m, f, times, more)
