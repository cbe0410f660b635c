"""Loops over the record of a run: what each firing waited for, the critical path, and the slack of every firing.

``m`` is one array of integers, its *memory*, as in ``dse.estimate.compiled.layout``: the first words say where in it
each table begins (``dse.estimate.compiled.walk`` fills it). Actions, entries of the transfer tables (writes behind the
reads) and firings (*positions*) are numbered through all actors; a SIMD block stands at its first position. Loops go
from late to early, so that who made a token and who freed its room is found by counting down: a pointer for each buffer
and question never goes up again.
"""

import numpy as np

from dse.estimate.compiled.inner import inner
from dse.estimate.kept import kernel

# The head of the memory: numbers and modes, then where the tables begin.
N_ACTORS, N_BUFFERS, N_READS, N_LOGGED, N_LOOKS = 0, 1, 2, 3, 4
PARALLEL, EARLY, TRAVEL_TICKS = 5, 6, 7
FIRINGS, BASE, ACTION_BASE = 8, 9, 10
READS, WRITES = 11, 16
"""Each followed by the words below."""
FIRST, OF_BUFFER, TOKENS_MOVED, TICKS, ALONE = 0, 1, 2, 3, 4
SOURCE, TARGET, INITIAL, CAPACITY, SERVER_OF, ALL_MADE, ALL_TAKEN = 21, 22, 23, 24, 25, 26, 27
T_START, T_SCHEDULED, T_READ, T_COMPUTED, T_END, ORDER = 28, 29, 30, 31, 32, 33
LOG_POSITION, LOG_ENTRY, LOG_BEGIN, LOG_END, LOG_WAITED, LOG_BEFORE = 34, 35, 36, 37, 38, 39
LOOKS_FIRST = 40
"""Of each way, where the firings of its sender begin in LOOK_OF and BRINGS; -1 where nothing travels. Way ``b`` has the
tokens of buffer ``b``, which its source sends, and way ``n_buffers + b`` the room, which its target sends back."""
LOOK_OF, BRINGS = 41, 42
"""The look of the tokens (or the room) of each firing, and of those that each firing publishes; -1: there is none."""
LOOK_WAY, SET_OUT, CHAINED, PUBLISHER = 43, 44, 45, 46
"""Of each look: when it set out, whether it waited for the one before, the position that published the first of it."""
PUBLISHED_BEHIND = 47
"""Of each firing whether its actor published behind it."""
BEFORE, FREE = 48, 49
"""The first position of the firing before on the core of each, and since when some core was free; -1 where nothing."""
HEAD_WORDS = 50

SCHEDULING, READING, PROCESSING, WRITING, ARRIVAL = 0, 1, 2, 3, 4
"""Kinds of segments."""
START, STEP, OWN, CORE, TOKENS, ROOM, LINK, PUBLISHED, LOOK = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Why a segment began when it did."""
KIND, ACTOR, FIRING, BUFFER, SERVER, BEGIN, END, CAUSE, CAUSE_BUFFER, WAITED = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Columns of segments."""
SEGMENT_FIELDS = 10
_AT_END, _AT_WRITE, _AT_COMPUTED, _AT_READS, _AT_READ = 0, 1, 2, 3, 4
"""Where in a firing the path is: behind all writes, behind one, behind the processing, behind all reads, behind one."""
_READER, _MAKER, _WRITER, _FREER = 0, 2, 4, 6
"""Pointers of each buffer: a position, and in the next row the tokens moved before it."""
_NEVER = 2**62

_I = "int64[::1]"


@inner
def word(m, table, index):
    """Return a word of a table."""
    return m[m[table] + index]


@inner
def action_of(m, a, pos):
    """Return the action of a firing."""
    return word(m, ACTION_BASE, a) + word(m, FIRINGS, pos)


@inner
def entry_to(m, side, x, b):
    """Return the entry of action ``x`` for buffer ``b``, -1 where there is none."""
    for e in range(word(m, side + FIRST, x), word(m, side + FIRST, x + 1)):
        if word(m, side + OF_BUFFER, e) == b:
            return e
    return np.int64(-1)


@inner
def rate(m, side, a, pos, b):
    """Return the tokens that a firing moves on one side of a buffer."""
    e = entry_to(m, side, action_of(m, a, pos), b)
    return word(m, side + TOKENS_MOVED, e) if e >= 0 else np.int64(0)


@inner
def find_starts(base, order, partition, by_order, owner):
    """Find the first position and the partition of each start."""
    for a in range(len(base) - 1):
        for pos in range(base[a], base[a + 1]):
            if order[pos] >= 0 and (pos == base[a] or order[pos - 1] != order[pos]):
                by_order[order[pos]], owner[order[pos]] = pos, partition[a]


@inner
def later(last, end, order, c, other):
    """Return whether a core became free later than another one; at one instant, by the firing that began first."""
    if last[c] < 0 or last[other] < 0:
        return last[c] >= 0
    mine, its = last[c], last[other]
    return end[mine] > end[its] or (end[mine] == end[its] and order[mine] < order[its])


@kernel([f"void({_I}, {_I}, {_I}, {_I}, {_I}, {_I}, {_I}, {_I}, {_I})"])
def share_cores(base, order, start, end, partition, core, by_order, before, free):
    """Give the firings of each partition to its cores, each to the one that became free last.

    ``partition``: of each actor. ``core``: shape (n_partitions + 1,), the number of the first core of each; none where
    every actor has its own. ``by_order``: receives the first position of each start. ``before``, ``free``: shape
    (n_firings,), -1 everywhere, receive the words BEFORE and FREE.
    """
    owner = np.empty(len(by_order), dtype=np.int64)
    find_starts(base, order, partition, by_order, owner)
    last = np.full(core[-1], -1, dtype=np.int64)
    for i in range(len(by_order)):
        pos, p = by_order[i], owner[i]
        chosen, since = np.int64(-1), np.int64(_NEVER)
        for c in range(core[p], core[p + 1]):
            time = end[last[c]] if last[c] >= 0 else np.int64(-1)
            if time <= start[pos]:
                since = min(since, time)
                if chosen < 0 or later(last, end, order, c, chosen):
                    chosen = np.int64(c)
        if chosen >= 0:
            before[pos], free[pos] = last[chosen], since
            last[chosen] = pos


@inner
def sender(m, way):
    """Return who publishes what goes on a way."""
    return word(m, SOURCE, way) if way < m[N_BUFFERS] else word(m, TARGET, way - m[N_BUFFERS])


@inner
def find_looks_of(m, a, way, n):
    """Find the looks of a way from actor ``a``; ``n`` looks are found before, returned is their number after."""
    side, b = (WRITES, way) if way < m[N_BUFFERS] else (READS, way - m[N_BUFFERS])
    held, first, set_out, arrives = False, np.int64(0), np.int64(-1), np.int64(-1)
    row, base = word(m, LOOKS_FIRST, way), word(m, BASE, a)
    for pos in range(base, word(m, BASE, a + 1)):
        if word(m, T_END, pos) < 0:
            break
        held |= rate(m, side, a, pos, b) > 0
        if word(m, PUBLISHED_BEHIND, pos) == 0:
            continue
        i, time = pos - base, word(m, T_END, pos)
        if held:
            if time >= arrives or set_out <= time:
                m[m[LOOK_WAY] + n], m[m[PUBLISHER] + n] = way, pos
                m[m[CHAINED] + n] = 1 if time < arrives else 0
                set_out = max(time, arrives)
                m[m[SET_OUT] + n] = set_out
                arrives = set_out + m[TRAVEL_TICKS]
                n += 1
            m[m[BRINGS] + row + i] = n - 1
        for j in range(first, i + 1):
            m[m[LOOK_OF] + row + j] = n - 1
        held, first = False, i + 1
    return n


@kernel([f"void({_I})"])
def find_looks(m):
    """Find which tokens, and which room, set out together, and when.

    LOOK_OF and BRINGS are -1 everywhere, and receive the looks.
    """
    n = np.int64(0)
    for way in range(2 * m[N_BUFFERS]):
        if word(m, LOOKS_FIRST, way) >= 0:
            n = find_looks_of(m, sender(m, way), way, n)
    m[N_LOOKS] = n


@inner
def fresh_pointers(m):
    """Return the pointers of all buffers behind the last firings."""
    pointers = np.empty((8, m[N_BUFFERS]), dtype=np.int64)
    for b in range(m[N_BUFFERS]):
        source_end = word(m, BASE, word(m, SOURCE, b) + 1)
        target_end = word(m, BASE, word(m, TARGET, b) + 1)
        pointers[_READER, b] = pointers[_FREER, b] = target_end
        pointers[_MAKER, b] = pointers[_WRITER, b] = source_end
        pointers[_READER + 1, b] = pointers[_FREER + 1, b] = word(m, ALL_TAKEN, b)
        pointers[_MAKER + 1, b] = pointers[_WRITER + 1, b] = word(m, ALL_MADE, b)
    return pointers


@inner
def moved_before(m, side, pointers, which, a, b, pos):
    """Return the tokens of buffer ``b`` that the firings of actor ``a`` before ``pos`` move."""
    p, moved = pointers[which, b], pointers[which + 1, b]
    while p > pos:
        p -= 1
        moved -= rate(m, side, a, p, b)
    pointers[which, b], pointers[which + 1, b] = p, moved
    return moved


@inner
def mover_of(m, side, pointers, which, a, b, need):
    """Return the position of the firing of actor ``a`` with which the tokens moved reach ``need`` (above 0)."""
    p, moved = pointers[which, b], pointers[which + 1, b]
    while moved >= need:
        p -= 1
        moved -= rate(m, side, a, p, b)
    pointers[which, b], pointers[which + 1, b] = p, moved
    return p


@inner
def first_of(m, a, pos):
    """Return the first position of the block that a position is in."""
    while pos > word(m, BASE, a) and word(m, ORDER, pos - 1) == word(m, ORDER, pos):
        pos -= 1
    return pos


@inner
def last_of(m, a, pos):
    """Return the last position of the block that a position is in."""
    while pos + 1 < word(m, BASE, a + 1) and word(m, ORDER, pos + 1) == word(m, ORDER, pos):
        pos += 1
    return pos


@inner
def actor_at(m, pos):
    """Return the actor of a position."""
    low, high = np.int64(0), m[N_ACTORS]  # the base of low is not above the position, that of high is
    while high - low > 1:
        middle = (low + high) // 2
        if word(m, BASE, middle) <= pos:
            low = middle
        else:
            high = middle
    return low


@inner
def first_logged(m, pos):
    """Return the first row of the log at or behind a position."""
    low, high = np.int64(0), m[N_LOGGED]
    while low < high:
        middle = (low + high) // 2
        if word(m, LOG_POSITION, middle) < pos:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def logged(m, pos, side, e):
    """Return the row of a transfer in the log."""
    row, entry = first_logged(m, pos), e + m[N_READS] if side == WRITES else e
    while word(m, LOG_ENTRY, row) != entry:
        row += 1
    return row


@inner
def end_of(m, side, x, pos, e):
    """Return when a transfer of the firing or block at its first position ended."""
    if word(m, side + ALONE, x) == 1:
        return word(m, LOG_END, logged(m, pos, side, e))
    begin = word(m, T_COMPUTED if side == WRITES else T_SCHEDULED, pos)
    if m[PARALLEL] == 1:
        return begin + word(m, side + TICKS, e)
    for i in range(word(m, side + FIRST, x), e + 1):
        begin += word(m, side + TICKS, i)
    return begin


@inner
def tokens_from(m, pointers, a, pos, e):
    """Return which firing made the last token that a read of the firing at ``pos`` takes, -1: it was there at first."""
    b = word(m, READS + OF_BUFFER, e)
    need = moved_before(m, READS, pointers, _READER, a, b, pos) + word(m, READS + TOKENS_MOVED, e)
    need -= word(m, INITIAL, b)
    if need <= 0:
        return np.int64(-1)
    return mover_of(m, WRITES, pointers, _MAKER, word(m, SOURCE, b), b, need)


@inner
def room_from(m, pointers, a, pos, e):
    """Return which firing freed the last room that a write of the firing at ``pos`` takes, -1: there was enough."""
    b = word(m, WRITES + OF_BUFFER, e)
    need = moved_before(m, WRITES, pointers, _WRITER, a, b, pos) + word(m, WRITES + TOKENS_MOVED, e)
    need += word(m, INITIAL, b) - word(m, CAPACITY, b)
    if need <= 0:
        return np.int64(-1)
    return mover_of(m, READS, pointers, _FREER, word(m, TARGET, b), b, need)


@inner
def seen_at(m, b, pos):
    """Return when the reader of a buffer saw the tokens of the firing at ``pos``, and the look that brought them."""
    s = word(m, SOURCE, b)
    if word(m, LOOKS_FIRST, b) >= 0:
        look = word(m, LOOK_OF, word(m, LOOKS_FIRST, b) + pos - word(m, BASE, s))
        return word(m, SET_OUT, look) + m[TRAVEL_TICKS], look
    x = action_of(m, s, pos)
    return end_of(m, WRITES, x, first_of(m, s, pos), entry_to(m, WRITES, x, b)), np.int64(-1)


@inner
def freed_at(m, b, pos):
    """Return when the writer of a buffer saw the room of the firing at ``pos``, and the look that brought it.

    Without a look that is when its input tokens left.
    """
    way = m[N_BUFFERS] + b
    if word(m, LOOKS_FIRST, way) >= 0:
        look = word(m, LOOK_OF, word(m, LOOKS_FIRST, way) + pos - word(m, BASE, word(m, TARGET, b)))
        return word(m, SET_OUT, look) + m[TRAVEL_TICKS], look
    return word(m, T_READ if m[EARLY] == 1 else T_COMPUTED, pos), np.int64(-1)


@inner
def why_started(m, pointers, a, pos):  # ways: one case for each thing that a firing needs
    """Return why the firing or block at its first position began when it did.

    Cause, buffer, position of the firing to go on with, the look to go on with (-1: none), and for how long this cause
    alone held it up.
    """
    start, x = word(m, T_START, pos), action_of(m, a, pos)
    cause, buffer, source, look = START, np.int64(-1), np.int64(-1), np.int64(-1)
    best = second = np.int64(0)
    if pos > word(m, BASE, a):
        cause, source, best = OWN, pos - 1, word(m, T_END, pos - 1)
    for e in range(word(m, READS + FIRST, x), word(m, READS + FIRST, x + 1)):
        maker = tokens_from(m, pointers, a, pos, e)
        if maker >= 0:
            b = word(m, READS + OF_BUFFER, e)
            time, brought = seen_at(m, b, maker)
            if time > best or cause == START:
                second = best
                cause, buffer, source, look, best = TOKENS, b, maker, brought, time
            else:
                second = max(second, time)
    for e in range(word(m, WRITES + FIRST, x), word(m, WRITES + FIRST, x + 1)):
        freer = room_from(m, pointers, a, pos, e)
        if freer >= 0:
            b = word(m, WRITES + OF_BUFFER, e)
            time, brought = freed_at(m, b, freer)
            if time > best or cause == START:
                second = best
                cause, buffer, source, look, best = ROOM, b, freer, brought, time
            else:
                second = max(second, time)
    if best < start:
        return CORE, np.int64(-1), word(m, BEFORE, pos), np.int64(-1), start - best
    return cause, buffer, source, look, start - max(second, word(m, FREE, pos))


@inner
def emit(out, n, kind, a, firing, buffer, server, begin, end):
    """Put a segment behind the others, if there is room; return the number of them all."""
    if n < len(out):
        row = out[n]
        row[KIND], row[ACTOR], row[FIRING], row[BUFFER], row[SERVER] = kind, a, firing, buffer, server
        row[BEGIN], row[END], row[CAUSE], row[CAUSE_BUFFER], row[WAITED] = begin, end, STEP, -1, 0
    return n + 1


@inner
def explain(out, n, cause, buffer, waited):
    """Say why the segment put last began when it did."""
    if n <= len(out):
        out[n - 1, CAUSE], out[n - 1, CAUSE_BUFFER], out[n - 1, WAITED] = cause, buffer, waited


@inner
def last_transfer(m, side, x, pos):
    """Return the transfer of a phase that ended last, the first of several; -1 where there is none."""
    first, behind = word(m, side + FIRST, x), word(m, side + FIRST, x + 1)
    if first == behind:
        return np.int64(-1)
    if m[PARALLEL] == 0:
        return behind - 1
    best, latest = first, end_of(m, side, x, pos, first)
    for e in range(first + 1, behind):
        end = end_of(m, side, x, pos, e)
        if end > latest:
            best, latest = e, end
    return best


@inner
def back_through(m, out, n, a, pos, side, e):
    """Go back from the end of a transfer to the begin of its phase, or to where one waited for its link.

    Returns the number of segments, and the row of the transfer that waited, -1 where none did.
    """
    x, kind, firing = action_of(m, a, pos), WRITING if side == WRITES else READING, pos - word(m, BASE, a)
    end = end_of(m, side, x, pos, e)
    while True:
        row, begin, b = np.int64(-1), end - word(m, side + TICKS, e), word(m, side + OF_BUFFER, e)
        if word(m, side + ALONE, x) == 1:
            row = logged(m, pos, side, e)
            begin, end = word(m, LOG_BEGIN, row), word(m, LOG_END, row)
        if end > begin:
            n = emit(out, n, kind, a, firing, b, word(m, SERVER_OF, b), begin, end)
        if row >= 0 and word(m, LOG_WAITED, row) > 0:
            return n, row
        if m[PARALLEL] == 1 or e == word(m, side + FIRST, x):
            return n, np.int64(-1)
        e, end = e - 1, begin


@inner
def back_in_firing(m, out, n, a, pos, point, e):  # ways: one case for each step of a firing
    """Go back from a point of a firing to its start, or to where a transfer of it waited for its link.

    Returns as ``back_through``.
    """
    firing, x, row = pos - word(m, BASE, a), action_of(m, a, pos), np.int64(-1)
    start, scheduled, read, computed = (
        word(m, T_START, pos), word(m, T_SCHEDULED, pos), word(m, T_READ, pos), word(m, T_COMPUTED, pos)
    )  # fmt: skip
    if point == _AT_END:
        e = last_transfer(m, WRITES, x, pos)
    if point <= _AT_WRITE and e >= 0:
        n, row = back_through(m, out, n, a, pos, WRITES, e)
    if point <= _AT_COMPUTED and row < 0 and computed > read:
        n = emit(out, n, PROCESSING, a, firing, -1, -1, read, computed)
    if row < 0 and point != _AT_READ:
        e = last_transfer(m, READS, x, pos)
    if row < 0 and e >= 0:
        n, row = back_through(m, out, n, a, pos, READS, e)
    if row < 0 and scheduled > start:
        n = emit(out, n, SCHEDULING, a, firing, -1, -1, start, scheduled)
    return n, row


@inner
def point_of(m, cause, buffer, pos):
    """Return at which point of the firing before a path goes on, and behind which write."""
    if cause == TOKENS:
        return _AT_WRITE, entry_to(m, WRITES, action_of(m, word(m, SOURCE, buffer), pos), buffer)
    if cause == ROOM:
        return _AT_READS if m[EARLY] == 1 else _AT_COMPUTED, np.int64(-1)
    return _AT_END, np.int64(-1)


@inner
def back_over_looks(m, out, n, look):
    """Go back from the arrival of tokens or room to the firing behind which they, or those before them, set out.

    Returns the number of segments, and the position of that firing.
    """
    while True:
        pos, way, begin = word(m, PUBLISHER, look), word(m, LOOK_WAY, look), word(m, SET_OUT, look)
        s, b = sender(m, way), way % m[N_BUFFERS]
        firing = first_of(m, s, pos) - word(m, BASE, s)
        n = emit(out, n, ARRIVAL, s, firing, b, -1, begin, begin + m[TRAVEL_TICKS])
        if word(m, CHAINED, look) == 0:
            explain(out, n, PUBLISHED, b, 0)
            return n, pos
        explain(out, n, LOOK, b, 0)
        look -= 1


@kernel([f"int64({_I}, int64, int64, int64[:, ::1])"])
def walk(m, pos, look, out):
    """Go back from the end of a firing, or from the arrival of a look, to the begin of the run.

    ``out``: shape (n, SEGMENT_FIELDS), receives the segments, the last first. Returns their number; where it is more
    than n the rest is left out.
    """
    pointers = fresh_pointers(m)
    n, point, e = np.int64(0), _AT_END, np.int64(-1)
    while True:
        if look >= 0:
            n, pos = back_over_looks(m, out, n, look)
            point, look = _AT_END, np.int64(-1)
        a = actor_at(m, pos)
        pos = first_of(m, a, pos)
        before = n
        n, row = back_in_firing(m, out, n, a, pos, point, e)
        if n == before:
            time = word(m, T_START, pos) if row < 0 else word(m, LOG_BEGIN, row)
            n = emit(out, n, PROCESSING, a, pos - word(m, BASE, a), -1, -1, time, time)
        if row >= 0:
            explain(out, n, LINK, -1, word(m, LOG_WAITED, row))
            row = word(m, LOG_BEFORE, row)
            pos, e = word(m, LOG_POSITION, row), word(m, LOG_ENTRY, row)
            point = _AT_WRITE if e >= m[N_READS] else _AT_READ
            e -= m[N_READS] if e >= m[N_READS] else 0
            continue
        cause, buffer, pos, look, waited = why_started(m, pointers, a, pos)
        explain(out, n, cause, buffer, waited)
        if cause == START:
            return n
        if look < 0:
            point, e = point_of(m, cause, buffer, pos)


@inner
def lower(slack, pos, most):
    """Keep the least of what a firing may be late; return whether it is less than before."""
    if slack[pos] > most:
        slack[pos] = most
        return True
    return False


@inner
def late_publications(m, look_slack, a, pos, last, slack):
    """Return how late a firing may be for what is published behind it."""
    for way in range(2 * m[N_BUFFERS]):
        if sender(m, way) != a or word(m, LOOKS_FIRST, way) < 0:
            continue
        look = word(m, BRINGS, word(m, LOOKS_FIRST, way) + last - word(m, BASE, a))
        if look < 0:
            continue
        if look + 1 < m[N_LOOKS] and word(m, CHAINED, look + 1) == 1:  # it set out when this one had arrived
            look_slack[look] = min(look_slack[look], look_slack[look + 1])
        slack = min(slack, look_slack[look] + word(m, SET_OUT, look) - word(m, T_END, pos))
    return slack


@inner
def push(m, pointers, slack, look_slack, a, pos, last, late):  # ways: one case for each thing that a firing needs
    """Tell those for whom a firing waited how late they may be; return whether one of them may be less late."""
    x, changed = action_of(m, a, pos), False
    until = late + word(m, T_START, pos)
    if pos > word(m, BASE, a):
        changed |= lower(slack, first_of(m, a, pos - 1), until - word(m, T_END, pos - 1))
    before = word(m, BEFORE, pos)
    if before >= 0:
        changed |= lower(slack, before, until - word(m, T_END, before))
    for e in range(word(m, READS + FIRST, x), word(m, READS + FIRST, x + 1)):
        maker, b = tokens_from(m, pointers, a, last, e), word(m, READS + OF_BUFFER, e)
        if maker >= 0:
            time, look = seen_at(m, b, maker)
            if look >= 0:
                look_slack[look] = min(look_slack[look], until - time)
            else:
                changed |= lower(slack, first_of(m, word(m, SOURCE, b), maker), until - time)
    for e in range(word(m, WRITES + FIRST, x), word(m, WRITES + FIRST, x + 1)):
        freer, b = room_from(m, pointers, a, last, e), word(m, WRITES + OF_BUFFER, e)
        if freer >= 0:
            time, look = freed_at(m, b, freer)
            if look >= 0:
                look_slack[look] = min(look_slack[look], until - time)
            else:
                changed |= lower(slack, first_of(m, word(m, TARGET, b), freer), until - time)
    row = first_logged(m, pos)
    while row < m[N_LOGGED] and word(m, LOG_POSITION, row) == pos:
        previous = word(m, LOG_BEFORE, row)
        if previous >= 0:
            most = late + word(m, LOG_BEGIN, row) - word(m, LOG_END, previous)
            changed |= lower(slack, word(m, LOG_POSITION, previous), most)
        row += 1
    return changed


@kernel([f"void({_I}, {_I}, int64, boolean, {_I})"])
def slacks(m, by_order, makespan, complete, slack):
    """Compute by how much each firing may begin later, all else in its order, without the run taking longer.

    ``by_order``: the first position of each start. ``complete``: no deadlock. ``slack``: shape (n_firings,), receives
    ticks, -1: never made.
    """
    n = len(by_order)
    for pos in range(len(slack)):
        end = word(m, T_END, pos)
        slack[pos] = makespan - end if end >= 0 else -1
    changed = True
    while changed:
        changed = False
        pointers = fresh_pointers(m)
        look_slack = np.full(m[N_LOOKS], _NEVER, dtype=np.int64)
        if not complete:  # an arrival that nobody waits for is an event too
            for look in range(m[N_LOOKS]):
                look_slack[look] = makespan - m[TRAVEL_TICKS] - word(m, SET_OUT, look)
        for i in range(n - 1, -1, -1):
            pos = by_order[i]
            a = actor_at(m, pos)
            last = last_of(m, a, pos)
            slack[pos] = late_publications(m, look_slack, a, pos, last, slack[pos])
            changed |= push(m, pointers, slack, look_slack, a, pos, last, slack[pos])
        if m[N_LOGGED] == 0:
            break
    for i in range(n):
        pos = by_order[i]
        for other in range(pos + 1, last_of(m, actor_at(m, pos), pos) + 1):
            slack[other] = slack[pos]
