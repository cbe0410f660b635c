"""The layout of the one int64 array that the kernel works on, its *memory*.

A thing (an actor, a buffer, an action, ...) is a row of words, and is referred to by the address of its first word:
word ``FIELD`` of actor ``a`` is ``memory[a + FIELD]``. One array and not one for each field: what a step touches lies
in one or two cache lines, and thirty arrays handed down made the kernel ten times slower.
"""

from typing import Final

NONE: Final = -1
NEVER: Final = 2**62
"""A time that does not come."""

# The head of the memory: counters, modes, and where the tables and lists begin.
N_ACTIVE: Final = 0
N_ENDING: Final = 1
N_LOOKING: Final = 2
N_LAUNCHED: Final = 3
RELEASE_EARLY: Final = 4
PARALLEL: Final = 5
ACTORS: Final = 6
ACTORS_END: Final = 7
LINKS: Final = 8
LINKS_END: Final = 9
ACTIVE: Final = 10
ENDING_LIST: Final = 11
LOOKING_LIST: Final = 12
LAUNCHED_LIST: Final = 13
N_TIMES: Final = 14
"""Number of all firings if their times are wanted, else 0."""
FIRST_ROUND: Final = 15
"""1 in the first round of an instant."""
ACTIVE_ACTORS: Final = 16
"""The list of active actors; ``ACTIVE`` lists, in the same order, when the next step of each is due."""
SLOT_NUMBER: Final = 17
"""The number in these lists of an actor that is due first."""
ONLY: Final = 18
"""1: no other is due with it."""
BEGIN: Final = 19
"""The time of the first event, 0. (As a literal it would have the compiler make a second copy of everything.)"""
FIFOS: Final = 20
FIFOS_END: Final = 21
CHOSEN: Final = 22
"""Address of what the design point chooses for each buffer, then for each actor: rows that ``settle`` hands out."""
READ_COSTS: Final = 23
"""Address of the ticks of all reads; row ``price`` begins ``READ_COSTS_WIDTH`` words behind row ``price - 1``."""
READ_COSTS_WIDTH: Final = 24
WRITE_COSTS: Final = 25
WRITE_COSTS_WIDTH: Final = 26
LIMIT: Final = 27
"""A run stops when it is clear that it does not complete by this time; NEVER: it does not stop."""
STOPPED: Final = 28
"""1: the run stopped for its limit, or another thread wants it to stop."""
PARTITIONS: Final = 29
PARTITIONS_END: Final = 30
ARRIVAL: Final = 31
"""Ticks from the publication of tokens that travel to their arrival; 0: none travel."""
LONGEST_TURN: Final = 32
"""Firings after which every actor publishes though its turn goes on."""
N_ARRIVING: Final = 33
ARRIVING_LIST: Final = 34
"""The ways of buffers with something on them: of a buffer its address, of its room ``ROOM`` words behind it."""
N_ENDED: Final = 35
ENDED_LIST: Final = 36
"""The actors with an output that travels whose firing ended in this round."""
DEVIATIONS: Final = 37
"""Number of all firings if some compute longer or shorter than their actions say, else 0."""
RECORD: Final = 38
"""Address of what is recorded of each firing (``RECORDED_*``), rows of ``N_TIMES`` words; 0: nothing is."""
LOG: Final = 39
"""With a record: address of the rows of transfers that are made one by one, in the order of their ends."""
N_LOGGED: Final = 40
N_STARTED: Final = 41
"""With a record: how many firings and blocks have started."""
VISITS: Final = 42
"""1: visits are known."""
LOOK_TICKS: Final = 43
WAKE_TICKS: Final = 44
GOES_ON: Final = 45
"""1: the firing that starts belongs to the visit that goes on in its partition."""
GLANCE_TICKS: Final = 46
FIRST_OF_EIGHT: Final = 47
"""Where ``MANY``: the list of when the first of eight slots of ``ACTIVE`` is due."""
MANY: Final = 48
"""1: more than ``MANY_CORES`` cores, and no links: actors that are due are looked for by eight."""
HEAD_FIELDS: Final = 49

MANY_CORES: Final = 32

# What a record holds of each firing, beside its start and end; those of a block have the same.
RECORDED_SCHEDULED: Final = 0
RECORDED_READ: Final = 1
RECORDED_COMPUTED: Final = 2
RECORDED_ORDER: Final = 3
"""Number of the start, through all actors: at one instant it tells what was first."""
RECORDED_PUBLISHED: Final = 4
"""1: behind its end the actor published."""
RECORDED_FIELDS: Final = 5

# What a record holds of a transfer that is made one by one.
LOGGED_POSITION: Final = 0
"""Of the firing, or of the first one of its block."""
LOGGED_TRANSFER: Final = 1
"""Address of the read or write."""
LOGGED_WAITED: Final = 2
LOGGED_BEGIN: Final = 3
LOGGED_END: Final = 4
LOGGED_FIELDS: Final = 5

# What a design point chooses for a buffer, and for an actor.
CHOSEN_CAPACITY: Final = 0
CHOSEN_READ_PRICE: Final = 1
CHOSEN_WRITE_PRICE: Final = 2
CHOSEN_SERVER: Final = 3
CHOSEN_TRAVELS: Final = 4
"""1: it is a ``cpu_cpu`` FIFO."""
CHOSEN_FIFO_FIELDS: Final = 5
CHOSEN_PARTITION: Final = 0
CHOSEN_PLACE: Final = 1
CHOSEN_RANK: Final = 2
CHOSEN_ACTOR_FIELDS: Final = 3

# Action.
READ_FIRST: Final = 0
"""Address of the first read; reads and writes of an action follow each other in buffer order."""
READ_END: Final = 1
WRITE_FIRST: Final = 2
WRITE_END: Final = 3
SCHED_FIRST: Final = 4
SCHED_PAIRS: Final = 5
"""Scheduling behind action q of the actor is at ``SCHED_PAIRS + q * SCHED_STRIDE``."""
SCHED_STRIDE: Final = 6
READ_TICKS: Final = 7
COMPUTE: Final = 8
WRITE_TICKS: Final = 9
READ_GENERAL: Final = 10
"""1: the reads ask a shared link or belong to a SIMD action, and are made one by one."""
WRITE_GENERAL: Final = 11
BLOCK_WIDTH: Final = 12
BLOCK_COSTS: Final = 13
"""Address of the ticks of 1, 2, ... firings at once."""
CARRIED_FIRST: Final = 14
CARRIED_END: Final = 15
DONE: Final = 16
"""Firings made, counted when the run is over."""
LEAVE_TICKS: Final = 17
"""From the end of the scheduling until the input tokens leave (or, without inputs, to the launch)."""
LAUNCH_TICKS: Final = 18
"""From the end of the scheduling to the launch of the output tokens."""
FIRST_TICKS: Final = 19
"""From the end of the scheduling to the end of the first write to end (or, without writes, of the firing)."""
PLANNED: Final = 20
"""1: neither reads nor writes are made one by one."""
TOTAL: Final = 21
"""Firings of the action in the whole trace."""
ACTION_FIELDS: Final = 22

# Transfer: a read or a write of an action.
BUFFER: Final = 0
TOKENS: Final = 1
TICKS: Final = 2
"""Of one firing."""
SERVER: Final = 3
"""The shared link server to ask, or NONE."""
COSTS: Final = 4
"""Address of the ticks of 1, 2, ... firings at once."""
OFFSET: Final = 5
"""Writes that need not be made one by one: the end after t3 of the n-th to end, in row n of the action."""
ROW: Final = 6
"""The row of that write."""
COLUMN_OF_COSTS: Final = 7
"""The column of the ticks of one firing in the table of costs."""
TRANSFER_FIELDS: Final = 8

# Transfer over a link that is not shared: nobody asks, the server counts it.
CARRIED_SERVER: Final = 0
CARRIED_TRANSFER: Final = 1
CARRIED_FIELDS: Final = 2

# Actor.
POSITION: Final = 0
"""Index of the next firing in the array of all firings."""
STAGE: Final = 1
LEAVE_AT: Final = 2
"""When the input tokens of the firing under way leave; NEVER when they have, or when that is not known yet."""
ASKED: Final = 3
"""Number of the input or output that the actor is blocked on; number of all of them when it is ready."""
SINCE: Final = 4
COLUMN: Final = 5
"""Address of the next action."""
CURSOR: Final = 6
"""The transfer that is next: an address, or a number where transfers are made one by one."""
BASE: Final = 7
SIZE: Final = 8
"""Firings in the block under way; 1 without SIMD."""
READY: Final = 9
PARTITION: Final = 10
SLOT: Final = 11
"""Address of the time at which the next step is due, in the list ``ACTIVE``."""
PLACE: Final = 12
RANK: Final = 13
"""Order by (partition, actor)."""
ACTIONS: Final = 14
FIRING_END: Final = 15
LAST_END: Final = 16
LAST_ACTION: Final = 17
SCHEDULING: Final = 18
IDLE: Final = 19
BLOCKED_READING: Final = 20
BLOCKED_WRITING: Final = 21
READING: Final = 22
PROCESSING: Final = 23
WRITING: Final = 24
LINK_WAITING: Final = 25
LEFT: Final = 26
"""Parallel transfers made one by one: how many have not ended."""
CRITICAL_TIME: Final = 27
CRITICAL_NUMBER: Final = 28
PHASE_WAITED: Final = 29
PHASE_MOVED: Final = 30
PENDING: Final = 31
"""Address of the ends of parallel transfers made one by one."""
QUEUED: Final = 32
"""DATA_DEMAND_DRIVEN: whether the actor is in the queue."""
OUTPUTS: Final = 33
"""Address of the addresses of the buffers that begin at the actor; INPUTS: that end there."""
OUTPUTS_END: Final = 34
INPUTS: Final = 35
INPUTS_END: Final = 36
FIRING_BASE: Final = 37
ACTIONS_END: Final = 38
LAUNCH_AT: Final = 39
"""When the output tokens of a planned firing are launched; NEVER for others."""
TURN_MADE: Final = 40
"""Firings since the actor published last, or its turn began."""
PUBLISHES: Final = 41
"""1: tokens of an output travel."""
DEVIATION: Final = 42
"""What the firing under way computes more than its action says."""
DEVIATES: Final = 43
"""1: on the unit of the actor firings may."""
TURN_FIRINGS: Final = 44
"""Firings after which the actor publishes though its turn goes on."""
ENTERED: Final = 45
"""The largest entry that the visit which goes on has paid."""
POLLED: Final = 46
"""1: tokens of an input or output travel."""
VISIT_MADE: Final = 47
"""NON_PREEMPTIVE on one core: firings that have ended in the visit that goes on; else never 0."""
CALL_TICKS: Final = 48
"""What a call in vain takes."""
ACTOR_FIELDS: Final = 49

# Stages of an actor.
WAITING: Final = 0
SCHEDULED: Final = 1
READ: Final = 2
READ_ONE_BY_ONE: Final = 3
PROCESS: Final = 4
WRITE: Final = 5
WRITE_ONE_BY_ONE: Final = 6
ENDING: Final = 7
LEAVE: Final = 8

# Buffer.
VISIBLE: Final = 0
IN_FLIGHT: Final = 1
CAPACITY: Final = 2
WANTED_TOKENS: Final = 3
WANTED_SPACE: Final = 4
SOURCE: Final = 5
TARGET: Final = 6
MAX_TOKENS: Final = 7
READ_BLOCKINGS: Final = 8
READ_BLOCKED: Final = 9
WRITE_BLOCKINGS: Final = 10
WRITE_BLOCKED: Final = 11
READ_PRICE: Final = 12
"""Row of the table of costs; WRITE_PRICE likewise."""
WRITE_PRICE: Final = 13
LINK_SERVER: Final = 14
"""The shared link server that its transfers ask, or NONE."""
TRAVELS: Final = 15
"""1: its tokens are published and arrive; else they are seen when written."""
UNSEEN: Final = 16
"""Of the visible tokens those that the reader does not see yet: held, published and on their way."""
HELD: Final = 17
"""Written in a turn that goes on."""
PUBLISHED: Final = 18
"""Set out when those on their way have arrived."""
ON_WAY: Final = 19
ARRIVES_AT: Final = 20
TURN_TOKENS: Final = 21
"""If they travel, both ends publish after ``CAPACITY / TURN_TOKENS`` firings as well; 0: they do not."""
READ_ENTRY: Final = 22
"""If its tokens travel, what a visit of the reader takes that moves some; WRITE_ENTRY likewise."""
WRITE_ENTRY: Final = 23
UNFREED: Final = 24
"""Room of tokens that have left, which the writer does not see yet: held, published and on its way."""
ROOM: Final = UNFREED - UNSEEN
"""So far behind ``UNSEEN``, ``HELD``, ``PUBLISHED``, ``ON_WAY`` and ``ARRIVES_AT`` stand those of room."""
KNOWN_TOKENS: Final = 29
"""What the visit of the reader, and that of the writer, that goes on knows of."""
KNOWN_ROOM: Final = 30
FIFO_FIELDS: Final = 31

# Partition.
POLICY: Final = 0
FREE: Final = 1
"""Free cores."""
N_READY: Final = 2
PLACES: Final = 3
"""Address of the addresses of the actors by place."""
N_PLACES: Final = 4
TURN: Final = 5
"""Current place (NON_PREEMPTIVE), next place (ROUND_ROBIN), index into the list (STATIC_ORDER)."""
LOOKING: Final = 6
LAST_ACTOR: Final = 7
LAST_FIRED: Final = 8
QUEUE: Final = 9
QUEUE_HEAD: Final = 10
QUEUE_SIZE: Final = 11
ORDER: Final = 12
"""Address of the addresses of the actors of a static order."""
N_ORDER: Final = 13
CORES: Final = 14
SLACK: Final = 15
"""With a limit, on one core: the time that may still go by without transfers or computation for it to be kept."""
FREE_SINCE: Final = 16
BEGUN: Final = 17
"""With a limit, on one core: when the scheduling of the firing under way ends."""
PART_FIELDS: Final = 18

# Link server.
SHARED: Final = 0
CLIENT: Final = 1
CLIENT_TRANSFER: Final = 2
CLIENT_END: Final = 3
CLIENT_WAITED: Final = 4
REQUESTS: Final = 5
"""Address of the requests, in no order."""
N_REQUESTS: Final = 6
BUSY: Final = 7
WAITED: Final = 8
TRANSFERS: Final = 9
LINK_FIELDS: Final = 10

# Request to a server.
REQUEST_TIME: Final = 0
REQUEST_ACTOR: Final = 1
REQUEST_BUFFER: Final = 2
REQUEST_NUMBER: Final = 3
REQUEST_TICKS: Final = 4
REQUEST_FIELDS: Final = 5

# Policies, by index in ``POLICIES`` of ``dse.model.design_point``.
NON_PREEMPTIVE: Final = 0
ROUND_ROBIN: Final = 1
DATA_DEMAND_DRIVEN: Final = 2
FULL_PARALLEL: Final = 3
STATIC_ORDER: Final = 4
