"""Lays out the bench of the burst kernel for a design point: lanes, actors, queues, actions and what they need.

``m`` is the bench, ``t`` the board of ``dse.estimate.compiled.burst_layout``; ``f`` are the action ids of all firings.
Partitions, actors, static orders and choices are as in ``dse.estimate.compiled.encode``, those of all points of a call
one behind the other: ``first_part``, ``first_order`` and ``first_choice`` say where those of a point begin.
"""

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_links import lay_asked
from dse.estimate.compiled.burst_rows import goes_in_rows, lay_row
from dse.estimate.compiled.inner import inner
from dse.estimate.compiled.place_kernel import PART_ACTORS, PART_ORDER, PART_POLICY, PART_ROW, PARTS_WIDTH
from dse.estimate.compiled.pointers import is_linked, is_travelling


@inner
def lay_lane(m, lane, policy, partition, places, hints, order, heard, n, n_order, key):
    """Fill the row of a lane."""
    for word in range(lane, lane + at.LANE_WORDS):
        m[word] = 0
    m[lane + at.POLICY], m[lane + at.PARTITION], m[lane + at.KEY] = policy, partition, key
    m[lane + at.PLACES], m[lane + at.HINTS], m[lane + at.N_PLACES] = places, hints, n
    m[lane + at.ORDER], m[lane + at.N_ORDER], m[lane + at.HEARD] = order, n_order, heard
    m[lane + at.LAST_ACTOR] = m[lane + at.ENDED_ACTOR] = m[lane + at.UNPUBLISHED] = layout.NONE
    m[key] = 0


@inner
def lay_actors(m, t, f, parts, members, first_member, orders, first_part, n_parts, first_order):
    """Lay out lanes, and the actors on each; a partition with a core for each actor is as many lanes."""
    n = t[at.N_ACTORS]
    keys = m[at.LANES] + n * at.LANE_WORDS
    places = keys + n + t[at.N_SERVERS]
    hints, heard, order = places + n, places + 2 * n, places + 3 * n
    m[at.KEYS] = keys
    lane, key, i = m[at.LANES], keys, 0
    for p in range(first_part, first_part + n_parts):
        size, policy = parts[p * PARTS_WIDTH + PART_ACTORS], parts[p * PARTS_WIDTH + PART_POLICY]
        n_order = parts[p * PARTS_WIDTH + PART_ORDER]
        for j in range(n_order):
            m[order + j] = m[at.ACTORS] + orders[first_order + j] * at.ACTOR_WORDS
        own = policy == layout.FULL_PARALLEL
        for place in range(size):
            if place == 0 or own:
                lay_lane(
                    m, lane, policy, p - first_part, places + i, hints + i, order, heard + i, 1 if own else size,
                    n_order, key,
                )  # fmt: skip
                lane += at.LANE_WORDS
                key += 1
            number = members[first_member + i]
            a = m[at.ACTORS] + number * at.ACTOR_WORDS
            for word in range(a, a + at.ACTOR_WORDS):
                m[word] = 0
            m[places + i] = a
            m[a + at.LANE], m[a + at.HINT], m[a + at.NUMBER] = lane - at.LANE_WORDS, hints + i, number
            m[a + at.POSITION] = m[a + at.FIRING_BEGIN] = t[t[at.FIRING_BASE] + number]
            m[a + at.FIRING_END] = t[t[at.FIRING_BASE] + number + 1]
            m[a + at.ACTOR_ACTIONS] = m[at.ACTIONS] + t[t[at.ACTION_BASE] + number] * at.ACTION_WORDS
            m[a + at.LAST] = layout.NONE
            m[a + at.NEXT] = m[a + at.ACTOR_ACTIONS]
            m[hints + i] = at.FINISHED
            if m[a + at.POSITION] < m[a + at.FIRING_END]:
                m[a + at.NEXT] += f[m[a + at.POSITION]] * at.ACTION_WORDS
                m[hints + i] = 0
            i += 1
        order += n_order
        first_order += n_order
    m[at.N_LANES] = m[at.N_KEYS] = key - keys


@inner
def may_be_full(capacity, unit):
    """Return whether a buffer can have more entries than a queue.

    Of a uniform buffer the entries that are not used up are no more than its room; of others one that is may be among
    them, which is known to be when the next firing is asked for.
    """
    if unit == at.TRAVELS:
        return capacity + 2 > at.N_ENTRIES - 1
    return (capacity // unit if unit > 0 else capacity + 1) > at.N_ENTRIES


@inner
def next_queue(q, unit):
    """Return the address of the queue behind another one; entries of a uniform buffer are a word each.

    ``unit``: as ``UNIFORM_TOKENS`` of the tokens, also for the room, whose queue is as long.
    """
    if unit == at.TRAVELS:
        return q + at.QUEUE_WORDS
    return q + at.ENTRIES + (at.N_ENTRIES if unit > 0 else 2 * at.N_ENTRIES)


@inner
def lay_queue(m, q, unit, known, capacity):
    """Lay out a queue in which so many tokens, or so much room, is known from the begin on."""
    m[q + at.USED] = m[q + at.HEAD] = m[q + at.TAIL] = m[q + at.WANTED] = 0
    m[q + at.UNIFORM_TOKENS], m[q + at.SOONEST] = unit, at.UNKNOWN
    m[q + at.KNOWN] = m[q + at.GIVEN] = known
    if unit > 0:
        m[q + at.KNOWN] = m[q + at.HEAD] = known // unit
    if unit == at.TRAVELS:
        m[q + at.HELD], m[q + at.DEPARTS], m[q + at.VISIT_OF] = 0, -at.UNKNOWN, layout.NONE
    m[q + at.MAY_BE_FULL] = may_be_full(capacity, unit)


@inner
def lay_queues(m, t, choices, first_choice):
    """Lay out the two queues of each buffer, first the tokens, then the room; return the address behind them."""
    q = m[at.QUEUE_OF] + t[at.N_BUFFERS]
    for b in range(t[at.N_BUFFERS]):
        m[m[at.QUEUE_OF] + b] = q
        source = m[at.ACTORS] + t[t[at.SOURCES] + b] * at.ACTOR_WORDS
        target = m[at.ACTORS] + t[t[at.TARGETS] + b] * at.ACTOR_WORDS
        initial, unit = t[t[at.INITIAL] + b], t[t[at.UNIFORM_RATES] + b]
        of_room = unit
        if is_travelling(m) and choices[(first_choice + b) * 5 + 4] == 1:
            unit = t[at.SHIFT] * 0 + at.TRAVELS
            of_room = unit * t[at.VISITS]
        capacity = choices[(first_choice + b) * 5]
        lay_queue(m, q, unit, initial, capacity)
        m[q + at.TAKER], m[q + at.GIVER] = target, source
        q = next_queue(q, unit)
        lay_queue(m, q, of_room, capacity - initial, capacity)
        m[q + at.TAKER], m[q + at.GIVER] = source, target
        q = next_queue(q, unit)
    return q


@inner
def lay_ways(m, t, v, way, a, choices, first_choice, of_outputs):
    """List the queues at one side of an actor that it gives to by publishing; return the address behind the list."""
    lists = t[at.OUTPUTS_FIRST if of_outputs else at.INPUTS_FIRST] + a
    buffers = t[at.OUTPUTS if of_outputs else at.INPUTS]
    for i in range(t[lists], t[lists + 1]):
        b = t[buffers + i]
        if choices[(first_choice + b) * 5 + 4] != 1:
            continue
        m[v + at.POLLED], m[v + at.CALL] = t[at.VISITS], t[at.GLANCE] if of_outputs else t[at.LOOK]
        if t[t[at.TURN_TOKENS] + b] > 0:
            most = max(1, choices[(first_choice + b) * 5] // t[t[at.TURN_TOKENS] + b])
            m[v + at.TURN_FIRINGS] = min(m[v + at.TURN_FIRINGS], most)
        if of_outputs or t[at.VISITS] == 1:
            m[way] = m[m[at.QUEUE_OF] + b] if of_outputs else next_queue(m[m[at.QUEUE_OF] + b], at.TRAVELS)
            way += 1
    return way


@inner
def lay_travellers(m, t, choices, first_choice):
    """Lay out what actors have where tokens travel, from TRAVELLERS on; return the address behind it."""
    m[at.WAY_TICKS], m[at.VISITED], m[at.VISIT_FIRINGS] = t[at.ARRIVAL], t[at.VISITS], t[at.LONGEST_TURN]
    way = m[at.TRAVELLERS] + t[at.N_ACTORS] * at.TRAVELLER_WORDS
    for a in range(t[at.N_ACTORS]):
        v = m[at.TRAVELLERS] + a * at.TRAVELLER_WORDS
        m[v + at.WAYS], m[v + at.TURN_FIRINGS] = way, t[at.LONGEST_TURN]
        m[v + at.TURN_MADE] = m[v + at.POLLED] = m[v + at.CALL] = m[v + at.ENTERED] = 0
        m[v + at.VISIT_MADE], m[v + at.VISIT_AT] = 1, layout.NONE
        way = lay_ways(m, t, v, way, a, choices, first_choice, True)
        way = lay_ways(m, t, v, way, a, choices, first_choice, False)
        m[v + at.WAYS_END] = way
    return way


@inner
def lay_visits(m, parts, first_part):
    """Give the actors of each lane their rows of TRAVELLERS; add up calls in vain, of all and before each place."""
    for number in range(m[at.N_LANES]):
        lane = m[at.LANES] + number * at.LANE_WORDS
        size = parts[(first_part + m[lane + at.PARTITION]) * PARTS_WIDTH + PART_ACTORS]
        m[lane + at.ALONE] = m[lane + at.N_PLACES] == size
        calls = m[at.ENDED] * 0
        for place in range(m[lane + at.N_PLACES]):
            a = m[m[lane + at.PLACES] + place]
            v = m[at.TRAVELLERS] + m[a + at.NUMBER] * at.TRAVELLER_WORDS
            m[a + at.TRAVELLER], m[v + at.CALLS_BEFORE] = v, calls
            calls += m[v + at.CALL]
        m[lane + at.ALL_CALLS] = calls


@inner
def lay_needs(m, t, e, x, side, choices, first_choice, price, parallel):
    """Lay out the reads or the writes of action number ``x``, each with when it ends; return how long all take.

    ``price``: the word of a choice that names the row of costs.
    """
    total = t[at.SHIFT] * 0
    writes = side == at.WRITES
    for i in range(t[t[side + at.FIRST] + x], t[t[side + at.FIRST] + x + 1]):
        b = t[t[side + at.BUFFER] + i]
        row = t[side + at.TICKS] + choices[(first_choice + b) * 5 + price] * t[side + at.WIDTH]
        ticks = t[row + t[t[side + at.COLUMN] + i]]
        total = max(total, ticks) if parallel else total + ticks
        tokens = m[m[at.QUEUE_OF] + b]
        room = next_queue(tokens, m[tokens + at.UNIFORM_TOKENS])
        m[e + at.TAKE], m[e + at.GIVE] = room if writes else tokens, tokens if writes else room
        m[e + at.AMOUNT] = t[t[side + at.TOKENS] + i]
        m[e + at.OFFSET] = ticks if parallel else total
        m[e + at.UNIFORM] = m[tokens + at.UNIFORM_TOKENS] > 0
        if is_travelling(m) and m[m[e + at.GIVE] + at.UNIFORM_TOKENS] == at.TRAVELS:
            m[e + at.UNIFORM] = at.HELD_BACK
        e += at.NEED_WORDS
    return total, e


@inner
def lay_action(m, t, x, e, number, row, choices, first_choice, early, parallel):
    """Lay out what an action needs, and the times in its firings; return the address behind its needs."""
    n = t[at.N_ACTIONS]
    m[x + at.NEED] = e
    reading, behind_reads = lay_needs(m, t, e, number, at.READS, choices, first_choice, 1, parallel)
    writing, end = lay_needs(m, t, behind_reads, number, at.WRITES, choices, first_choice, 2, parallel)
    compute = t[t[at.COMPUTE] + row * n + number]
    least = t[t[at.LEAST_SCHEDULING] + row * n + number]
    m[x + at.WRITES_BEGIN], m[x + at.NEEDS_END] = behind_reads, end
    m[x + at.READING], m[x + at.PROCESSING], m[x + at.WRITING] = reading, compute, writing
    m[x + at.TOTAL] = reading + compute + writing
    m[x + at.LEAST] = least
    m[x + at.SCHED_FIRST] = t[t[at.FIRST_SCHEDULING] + row * n + number]
    m[x + at.MAY_FILL] = 0
    for i in range(e, end, at.NEED_WORDS):
        if i < behind_reads:
            m[i + at.OFFSET] = reading if early else reading + compute
        else:
            m[i + at.OFFSET] += reading + compute
        q = m[i + at.GIVE]
        if t[t[at.COUNTS] + number] > 0:
            soonest = least + m[i + at.OFFSET]
            if is_travelling(m) and m[i + at.UNIFORM] == at.HELD_BACK:
                soonest = least + m[x + at.TOTAL] + m[at.WAY_TICKS]
            m[q + at.SOONEST] = min(m[q + at.SOONEST], soonest)
        if m[q + at.MAY_BE_FULL] == 1:
            m[x + at.MAY_FILL] = 1
    return end


@inner
def lay_entry(m, t, x, number, choices, first_choice):
    """Lay out the largest entry of the ends of buffers that travel, of action number ``number``."""
    m[x + at.ENTRY] = 0
    for writes in range(2):
        side, entries = (at.WRITES, at.WRITE_ENTRIES) if writes == 1 else (at.READS, at.READ_ENTRIES)
        for i in range(t[t[side + at.FIRST] + number], t[t[side + at.FIRST] + number + 1]):
            b = t[t[side + at.BUFFER] + i]
            if choices[(first_choice + b) * 5 + 4] == 1:
                m[x + at.ENTRY] = max(m[x + at.ENTRY], t[t[entries] + b])


@inner
def lay_actions(m, t, parts, first_part, choices, first_choice, early, parallel):
    """Lay out the actions of all actors."""
    x = m[at.ACTIONS]
    e = x + t[at.N_ACTIONS] * at.ACTION_WORDS
    for a in range(t[at.N_ACTORS]):
        lane = m[m[at.ACTORS] + a * at.ACTOR_WORDS + at.LANE]
        row = parts[(first_part + m[lane + at.PARTITION]) * PARTS_WIDTH + PART_ROW]
        first, end = t[t[at.ACTION_BASE] + a], t[t[at.ACTION_BASE] + a + 1]
        for number in range(first, end):
            pairs = t[at.PAIR_SCHEDULING] + row * t[at.N_PAIRS] + t[t[at.PAIR_BASE] + a] + number - first
            m[x + at.SCHED_PAIRS], m[x + at.SCHED_STRIDE], m[x + at.INDEX] = pairs, end - first, number - first
            e = lay_action(m, t, x, e, number, row, choices, first_choice, early, parallel)
            if is_travelling(m):
                lay_entry(m, t, x, number, choices, first_choice)
            if is_linked(m):
                lay_asked(m, t, m[at.ACTORS] + a * at.ACTOR_WORDS, x, number, choices, first_choice)
            x += at.ACTION_WORDS
        if goes_in_rows(m):
            n = end - first
            lay_row(m, t, m[at.ACTORS] + a * at.ACTOR_WORDS, x - n * at.ACTION_WORDS, first, n)


@inner
def take_limit(m, t):
    """Give each lane the time that it may spend on other things than what its firings take at least."""
    for lane in range(m[at.N_LANES]):
        m[m[at.LANES] + lane * at.LANE_WORDS + at.SLACK] = m[at.LIMIT] - (1 << t[at.SHIFT])
    for a in range(t[at.N_ACTORS]):
        lane = m[m[at.ACTORS] + a * at.ACTOR_WORDS + at.LANE]
        for number in range(t[t[at.ACTION_BASE] + a], t[t[at.ACTION_BASE] + a + 1]):
            x = m[at.ACTIONS] + number * at.ACTION_WORDS
            count = t[t[at.COUNTS] + number]
            if count > 0:
                m[lane + at.SLACK] -= count * (m[x + at.TOTAL] + m[x + at.LEAST])
        if m[lane + at.SLACK] < 0:
            m[at.ENDED] = at.OVER
