"""Loops before and after a run: the choice for every buffer, the kernel's memory, and the accounts in it.

``parts`` has a row for each partition of a design point (the fields below), ``members`` their actors one behind the
other, ``orders`` their static orders. Memories are as in ``dse.estimate.compiled.layout``.
"""

import numpy as np

from dse.estimate.compiled import layout as at
from dse.estimate.compiled.arrays import copy
from dse.estimate.compiled.inner import inner
from dse.estimate.kept import kernel

PART_POLICY = 0
PART_CORES = 1
PART_ACTORS = 2
"""Number of actors; PART_ORDER: of entries of the static order."""
PART_ORDER = 3
PART_ROW = 4
"""Row of the cost tables of its actors."""
PART_UNIT = 5
PARTS_WIDTH = 6

CHOSEN = 0
UNKNOWN = 1
DOUBTFUL = 2
"""What ``choose`` returns: all is chosen; entries of the table are empty; ``prepare`` has to look at the point."""

_I = "int64[::1]"
_M = "int64[:, ::1]"


@inner
def cross(owner, parts, ends, gpu, crossing):
    """Put behind each port of several buffers 1 + the unit of the reader of its first buffer that crosses, or 0."""
    crossing[:] = 0
    for b in range(len(ends) - 1, -1, -1):
        u, v = parts[owner[ends[b, 0]], PART_UNIT], parts[owner[ends[b, 1]], PART_UNIT]
        if ends[b, 2] >= 0 and u != v and (gpu[u] or gpu[v]):
            crossing[ends[b, 2]] = v + 1


@kernel(
    [f"int64({_M}, {_I}, {_I}, Tuple(({_M}, {_I}, boolean[:, ::1], boolean[::1])), int32[:, :, ::1], {_I}, {_M})"],
    error_model="numpy",
)
def choose(parts, members, capacities, network, known, keys, choices):  # ways: one compiled loop with its checks
    """Choose prices and server of every buffer; return ``CHOSEN``, ``UNKNOWN`` (the keys are right) or ``DOUBTFUL``.

    ``network``: source, target and port (-1: its only buffer) of each buffer, its least capacity, whether an actor can
    be on the units of a row for sure, whether a unit is a GPU. ``known[key, buffer]``: read price + 1, write price,
    server, whether tokens travel. ``keys``, ``choices``: receive the key of each buffer; its capacity, read and write
    price, server, whether tokens travel.
    """
    ends, least, fits, gpu = network
    owner = np.full(fits.shape[1], -1, dtype=np.int64)
    i = 0
    for p in range(len(parts)):
        for a in members[i : i + parts[p, PART_ACTORS]]:
            if a < 0 or a >= len(owner) or owner[a] >= 0 or not fits[parts[p, PART_ROW], a]:
                return DOUBTFUL
            owner[a] = p
        i += parts[p, PART_ACTORS]
    crossing = np.empty(len(ends), dtype=np.int64)
    cross(owner, parts, ends, gpu, crossing)
    found, n_units = CHOSEN, len(gpu)
    for b in range(len(ends)):
        if capacities[b] < least[b]:
            return DOUBTFUL
        p, q = owner[ends[b, 0]], owner[ends[b, 1]]
        beside = crossing[ends[b, 2]] if ends[b, 2] >= 0 else 0
        key = ((parts[p, PART_UNIT] * n_units + parts[q, PART_UNIT]) * 2 + (p == q)) * (n_units + 1) + beside
        keys[b] = key
        if known[key, b, 0] == 0:
            found = UNKNOWN
        choices[b, 0], choices[b, 1] = capacities[b], known[key, b, 0] - 1
        choices[b, 2], choices[b, 3], choices[b, 4] = known[key, b, 1], known[key, b, 2], known[key, b, 3]
    return found


@inner
def place(m, parts, members, orders, chosen, rows, places, order, queues):
    """Lay out partitions, their actors by place and their static orders; ``chosen``: address of the actors' words."""
    actors = m[at.ACTORS]
    n = len(members)
    owner = np.empty(n, dtype=np.int64)
    i, j = 0, 0
    for p in range(len(parts)):
        row = rows + p * at.PART_FIELDS
        for word in range(row, row + at.PART_FIELDS):
            m[word] = 0
        m[row + at.POLICY], m[row + at.FREE], m[row + at.CORES] = parts[p, PART_POLICY], parts[p, 1], parts[p, 1]
        m[row + at.PLACES], m[row + at.N_PLACES], m[row + at.QUEUE] = places + i, parts[p, PART_ACTORS], queues + i
        m[row + at.ORDER], m[row + at.N_ORDER] = order + j, parts[p, PART_ORDER]
        m[row + at.LAST_ACTOR] = m[row + at.LAST_FIRED] = at.NONE
        m[row + at.TURN] = 0
        for index in range(parts[p, PART_ACTORS]):
            a = members[i]
            owner[a] = p
            m[chosen + a * at.CHOSEN_ACTOR_FIELDS + at.CHOSEN_PARTITION] = row
            m[chosen + a * at.CHOSEN_ACTOR_FIELDS + at.CHOSEN_PLACE] = index
            m[places + i] = actors + a * at.ACTOR_FIELDS
            i += 1
        for _ in range(parts[p, PART_ORDER]):
            m[order + j] = actors + orders[j] * at.ACTOR_FIELDS
            j += 1
    rank = np.zeros(len(parts) + 1, dtype=np.int64)  # by partition, then actor
    for p in range(len(parts)):
        rank[p + 1] = rank[p] + parts[p, PART_ACTORS]
    for a in range(n):
        m[chosen + a * at.CHOSEN_ACTOR_FIELDS + at.CHOSEN_RANK] = rank[owner[a]]
        rank[owner[a]] += 1
    return owner


@inner
def carry(m, x, choices, shared, links, carried):
    """List the transfers of an action over links that are not shared; return the address behind the list."""
    m[x + at.CARRIED_FIRST] = carried
    for begin, end in (
        (m[x + at.READ_FIRST], m[x + at.READ_END]),
        (m[x + at.WRITE_FIRST], m[x + at.WRITE_END]),
    ):
        for e in range(begin, end, at.TRANSFER_FIELDS):
            server = choices[(m[e + at.BUFFER] - m[at.FIFOS]) // at.FIFO_FIELDS, 3]
            if server >= 0 and not shared[server]:
                m[carried + at.CARRIED_SERVER] = links + server * at.LINK_FIELDS
                m[carried + at.CARRIED_TRANSFER] = e
                carried += at.CARRIED_FIELDS
    m[x + at.CARRIED_END] = carried
    return carried


@kernel(
    [f"void({_I}, {_I}, {_M}, {_I}, {_I}, {_M}, int64[:, :, ::1], boolean[::1], UniTuple(int64, 3))"],
    error_model="numpy",
)
def fill(m, template, parts, members, orders, choices, costs, shared, modes):
    """Fill the memory of a run: the template, and behind it what the design point chooses; zeros where lists begin.

    ``costs[row, action]``: the words of an action that depend on the row of its actor. ``shared``: of each link server.
    ``modes``: the words RELEASE_EARLY, PARALLEL and LIMIT.
    """
    chosen, n = len(template), len(members)
    copy(m, template)
    rows = chosen + len(choices) * at.CHOSEN_FIFO_FIELDS + n * at.CHOSEN_ACTOR_FIELDS
    places = rows + len(parts) * at.PART_FIELDS
    order = places + n
    queues = order + len(orders)
    links = queues + n
    requests = links + len(shared) * at.LINK_FIELDS
    carried = requests + len(shared) * 2 * len(choices) * at.REQUEST_FIELDS
    m[queues:carried] = 0
    m[at.RELEASE_EARLY], m[at.PARALLEL], m[at.LIMIT] = modes
    m[at.PARTITIONS], m[at.PARTITIONS_END] = rows, places
    m[at.LINKS], m[at.LINKS_END], m[at.CHOSEN] = links, requests, chosen
    c = chosen
    for b in range(len(choices)):
        server = choices[b, 3]
        m[c + at.CHOSEN_CAPACITY], m[c + at.CHOSEN_READ_PRICE] = choices[b, 0], choices[b, 1]
        m[c + at.CHOSEN_WRITE_PRICE], m[c + at.CHOSEN_TRAVELS] = choices[b, 2], choices[b, 4]
        m[c + at.CHOSEN_SERVER] = links + server * at.LINK_FIELDS if server >= 0 and shared[server] else at.NONE
        c += at.CHOSEN_FIFO_FIELDS
    owner = place(m, parts, members, orders, c, rows, places, order, queues)
    for s in range(len(shared)):
        link = links + s * at.LINK_FIELDS
        m[link + at.CLIENT], m[link + at.CLIENT_END] = at.NONE, at.NEVER
        m[link + at.REQUESTS] = requests + s * 2 * len(choices) * at.REQUEST_FIELDS
    x = m[at.ACTORS] if n == 0 else m[m[at.ACTORS] + at.ACTIONS]
    column = 0
    for a in range(n):
        row = parts[owner[a], PART_ROW]
        m[m[at.ACTORS] + a * at.ACTOR_FIELDS + at.DEVIATES] = m[at.DEVIATIONS] > 0 and row == 0
        while x < m[m[at.ACTORS] + a * at.ACTOR_FIELDS + at.ACTIONS_END]:
            words = costs[row, column]
            m[x + at.SCHED_FIRST], m[x + at.SCHED_PAIRS], m[x + at.COMPUTE] = words[0], words[1], words[2]
            m[x + at.BLOCK_WIDTH], m[x + at.BLOCK_COSTS] = words[3], words[4]
            if len(shared):
                carried = carry(m, x, choices, shared, links, carried)
            x += at.ACTION_FIELDS
            column += 1


@kernel([f"boolean({_I}, {_M}, {_I}, int64, {_M}, {_M})"], error_model="numpy")
def account(m, parts, members, makespan, of_actors, of_partitions):
    """Read the accounts of a run that is over; return whether all firings were made.

    ``of_actors``: receives a row for each actor, the fields of ``ActorAccount``; ``of_partitions``: for each partition
    what its actors spent together, the first five of them.
    """
    complete = m[at.STOPPED] == 0
    for a in range(len(of_actors)):
        row, of = m[at.ACTORS] + a * at.ACTOR_FIELDS, of_actors[a]
        ended = m[row + at.POSITION] == m[row + at.FIRING_END]
        complete &= ended
        of[0], of[1], of[2] = m[row + at.SCHEDULING], m[row + at.READING], m[row + at.PROCESSING]
        of[3], of[4], of[5] = m[row + at.WRITING], m[row + at.LINK_WAITING], m[row + at.BLOCKED_READING]
        of[6], of[7] = m[row + at.BLOCKED_WRITING], m[row + at.IDLE]
        of[8] = makespan - m[row + at.LAST_END] if ended else 0
        of[9] = m[row + at.POSITION] - m[row + at.FIRING_BASE]
    of_partitions[:] = 0
    i = 0
    for p in range(len(parts)):
        for _ in range(parts[p, PART_ACTORS]):
            for field in range(of_partitions.shape[1]):
                of_partitions[p, field] += of_actors[members[i], field]
            i += 1
    return complete
