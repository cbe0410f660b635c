"""The layout of the arrays that the burst kernel works on.

The *board* holds what all points of a problem share: structure and costs, in ticks shifted by ``SHIFT`` bits. The
*bench* is the memory of one run; the next run in the same call uses it again. Things are addresses of rows, as in
``dse.estimate.compiled.layout``.
"""

from typing import Final

# Board: its head, the addresses of its tables.
SHIFT: Final = 0
"""Bits of a stamp that count the rounds of an instant; the others are the time."""
N_ACTORS: Final = 1
N_BUFFERS: Final = 2
N_ACTIONS: Final = 3
N_TRANSFERS: Final = 4
ACTION_BASE: Final = 5
"""First action of each actor, and the number of all; FIRING_BASE likewise."""
FIRING_BASE: Final = 6
COUNTS: Final = 7
"""Firings of each action in the trace."""
READS: Final = 8
"""Where the columns of the reads stand, and what belongs to them: the words below; WRITES likewise."""
WRITES: Final = 14
SOURCES: Final = 20
"""Actor at the source of each buffer; TARGETS, INITIAL (tokens) likewise."""
TARGETS: Final = 21
INITIAL: Final = 22
COMPUTE: Final = 23
"""Row after row of the cost tables, of ``N_ACTIONS`` words each; FIRST_SCHEDULING and LEAST_SCHEDULING likewise."""
FIRST_SCHEDULING: Final = 24
LEAST_SCHEDULING: Final = 25
"""The least that the scheduling of an action takes, whatever fired before."""
PAIR_SCHEDULING: Final = 26
N_PAIRS: Final = 27
PAIR_BASE: Final = 28
OUTPUTS_FIRST: Final = 29
"""Where the buffers that begin at each actor stand in the list behind it (OUTPUTS); INPUTS: those that end there."""
OUTPUTS: Final = 30
INPUTS_FIRST: Final = 31
INPUTS: Final = 32
UNIFORM_RATES: Final = 33
"""For each buffer the tokens of every transfer, 0 where they differ."""
ARRIVAL: Final = 34
"""From the publication of tokens that travel to their arrival; 0: none travel under any point."""
LONGEST_TURN: Final = 35
"""Firings after which every actor publishes though its turn goes on."""
TURN_TOKENS: Final = 36
"""For each buffer: if it travels, both ends publish after capacity / TURN_TOKENS firings as well; 0: they do not."""
VISITS: Final = 37
"""1: visits are known."""
LOOK: Final = 38
WAKE: Final = 39
READ_ENTRIES: Final = 40
"""For each buffer, if it travels, what a visit of its reader takes that moves some; WRITE_ENTRIES likewise."""
WRITE_ENTRIES: Final = 41
SHARED: Final = 42
"""For each link server 1 if it makes one transfer at a time."""
N_SERVERS: Final = 43
GLANCE: Final = 44
BOARD_FIELDS: Final = 45

# Reads, or writes: words from READS, or WRITES, on.
FIRST: Final = 0
"""Address of the number of the first transfer of each action, and of that of all."""
BUFFER: Final = 1
TOKENS: Final = 2
COLUMN: Final = 3
"""Address of the columns of transfers in the table TICKS, whose row ``price`` begins at WIDTH * price."""
TICKS: Final = 4
WIDTH: Final = 5

# Bench: its head.
ENDED: Final = 0
"""Why a run ended: one of the words below."""
LATEST: Final = 1
"""The last end of a firing, as a stamp."""
LIMIT: Final = 2
"""The first stamp behind the limit; NEVER: there is none."""
N_LANES: Final = 3
LANES: Final = 4
KEYS: Final = 5
"""For each lane the stamp at which it decides next, as far as is known; UNKNOWN: nobody knows. Behind these, for each
link the last round of the instant at which it grants next."""
ACTORS: Final = 6
ACTIONS: Final = 7
QUEUE_OF: Final = 8
"""Addresses of the first of the two queues of each buffer; the queues stand behind them."""
MASK: Final = 9
"""The bits of a stamp that count rounds."""
SURE_UNTIL: Final = 10
"""The least of KEYS: nothing at or before this stamp can change any more."""
TRAVELLERS: Final = 11
"""Where tokens travel: what actors have for that, in rows of their own."""
WAY_TICKS: Final = 12
"""ARRIVAL of the board; the next ones are VISITS and LONGEST_TURN."""
VISITED: Final = 13
VISIT_FIRINGS: Final = 14
N_KEYS: Final = 15
LINKS: Final = 16
"""Where transfers ask shared links: the rows of the links; the next words are for them too."""
ASKED: Final = 17
"""How far behind each need the words of it stand that tell what it asks for."""
ASKINGS: Final = 18
"""A row for each lane."""
EARLY: Final = 19
"""1: what is read leaves when all reads are over."""
PARALLEL: Final = 20
ROUNDS: Final = 21
"""The bits of a stamp that count the rounds up to a grant of a transfer that takes no time; those above count these."""
EMPTY_AT: Final = 22
"""The time of the last grant of a transfer that takes no time."""
N_EMPTY: Final = 23
"""How often there were such grants at that time."""
SPARE: Final = 24
"""Address of two queues that stand for a second need of actions that have but one."""
BENCH_FIELDS: Final = 25

SPENT_WORDS: Final = 5
"""On what a partition spends its time: as ``dse.estimate.accounts.core_time`` takes it."""

COMPLETE: Final = 0
DEADLOCK: Final = 1
OVER: Final = 2
"""It does not complete by its limit, or another thread stopped it."""
REFUSED: Final = 3
"""An instant has more rounds than stamps can count."""

# Actor.
POSITION: Final = 0
FIRING_END: Final = 1
NEXT: Final = 2
"""The action of the next firing."""
LAST: Final = 3
"""Number of the action that fired last, NONE: none did."""
READY_AT: Final = 4
"""The last stamp of entries that the next firing, or one before, waited for, among those that became known."""
ENDED_AT: Final = 5
LANE: Final = 6
HINT: Final = 7
"""Address of a stamp before which the actor is not ready, in the list HINTS of its lane."""
WAITS_FOR: Final = 8
"""The queue that lacked something when the actor was asked last."""
ACTOR_ACTIONS: Final = 9
FIRING_BEGIN: Final = 10
IDLE: Final = 11
SCHEDULING: Final = 12
QUEUED: Final = 13
NUMBER: Final = 14
TRAVELLER: Final = 15
"""Address of its row of TRAVELLERS."""
IN_ROWS: Final = 16
"""1: all actions take from, and give to, the same one or two uniform buffers (``burst_rows``)."""
ACTOR_WORDS: Final = 17

# Traveller: what an actor has where tokens travel.
WAYS: Final = 0
"""Address of the addresses of the queues that it gives to by publishing."""
WAYS_END: Final = 1
TURN_MADE: Final = 2
"""Firings since the actor published last; above 0 between firings only while it is UNPUBLISHED of its lane."""
TURN_FIRINGS: Final = 3
"""Firings after which it publishes though its turn goes on."""
POLLED: Final = 4
CALLS_BEFORE: Final = 5
"""What calls in vain take of all actors at places before its own."""
ENTERED: Final = 6
"""The largest entry that its visit has paid."""
VISIT_MADE: Final = 7
VISIT_AT: Final = 8
"""NON_PREEMPTIVE: the stamp at which its visit began, and looked at all FIFOs to other cores."""
CALL: Final = 9
"""What a call in vain takes."""
TRAVELLER_WORDS: Final = 10

# Action.
NEED: Final = 0
"""Address of the first thing that a firing needs; reads and writes in buffer order."""
WRITES_BEGIN: Final = 1
NEEDS_END: Final = 2
TOTAL: Final = 3
"""From the end of the scheduling to the end of a firing."""
SCHED_FIRST: Final = 4
SCHED_PAIRS: Final = 5
"""Address on the board of the scheduling behind action 0 of the actor; behind action q: q * SCHED_STRIDE further."""
SCHED_STRIDE: Final = 6
MAY_FILL: Final = 7
"""1: a queue that the action gives to has fewer entries than its buffer has tokens."""
READING: Final = 8
PROCESSING: Final = 9
WRITING: Final = 10
INDEX: Final = 11
LEAST: Final = 12
"""The least scheduling."""
ENTRY: Final = 13
"""The largest entry of its ends of buffers that travel."""
ASKS: Final = 14
"""1: a firing asks shared links, where there are such."""
ACTION_WORDS: Final = 15

# Need: what an action takes from one queue and gives to the other one of the same buffer.
TAKE: Final = 0
GIVE: Final = 1
AMOUNT: Final = 2
OFFSET: Final = 3
"""From the end of the scheduling until what is given is there."""
UNIFORM: Final = 4
"""1: of a uniform buffer; HELD_BACK: what it gives is held until the actor publishes."""
NEED_WORDS: Final = 5
HELD_BACK: Final = 2

# Queue: what one end of a buffer gives to the other: tokens to the reader, room to the writer. Counted in tokens, or,
# where both ends always move the same number of tokens (a *uniform* buffer), in such numbers.
USED: Final = 0
"""How much the taker has used since the begin of the run."""
HEAD: Final = 1
"""Number of the next entry to be given; of a uniform buffer as much as was given."""
KNOWN: Final = 2
"""So much was given that the entries of it are not looked at: it is there since the begin, or for long."""
WANTED: Final = 3
"""1: the taker wants to know of the next entry."""
TAIL: Final = 4
"""Number of the first entry that may not be used up."""
GIVEN: Final = 5
TAKER: Final = 6
GIVER: Final = 7
SOONEST: Final = 8
"""The least time from the begin of a firing of the giver until an entry is there."""
UNIFORM_TOKENS: Final = 9
"""The number of tokens of all transfers, 0 where they differ; TRAVELS: what it gives is published and arrives."""
MAY_BE_FULL: Final = 10
"""1: the buffer can have more entries than the queue."""
ENTRIES: Final = 11
"""The stamps from which on things are there; where the buffer is not uniform, pairs with what was given until then."""
N_ENTRIES: Final = 64
SPARE_WORDS: Final = ENTRIES + N_ENTRIES
TRAVELS: Final = -1
HELD: Final = ENTRIES + 2 * N_ENTRIES
"""Of a buffer that travels: what is given, but not published yet."""
DEPARTS: Final = HELD + 1
"""When what was published last sets out, or has."""
VISIT_OF: Final = HELD + 2
"""VISIT_AT of the visit of the taker in which entries were forgotten last."""
VISIT_KNOWN: Final = HELD + 3
"""What of KNOWN that visit knows of."""
QUEUE_WORDS: Final = HELD + 4
"""The most that a queue takes."""

# Lane: actors that share a core.
POLICY: Final = 0
PLACES: Final = 1
N_PLACES: Final = 2
HINTS: Final = 3
TURN: Final = 4
IDLING: Final = 5
"""1: the core is free, and no actor is known to be ready; what an actor is given may bring the decision forward."""
STANDS_AT: Final = 6
"""No firing begins before this stamp."""
LAST_ACTOR: Final = 7
PARTITION: Final = 8
ORDER: Final = 9
N_ORDER: Final = 10
HEARD: Final = 11
"""DATA_DEMAND_DRIVEN: address of the queue of places."""
HEARD_HEAD: Final = 12
HEARD_SIZE: Final = 13
ENDED_ACTOR: Final = 14
"""DATA_DEMAND_DRIVEN: whose end the policy has yet to hear of, or NONE."""
KEY: Final = 15
SLACK: Final = 16
"""With a limit: how long the core may still do other things than all its firings take at least."""
FREE_SINCE: Final = 17
UNPUBLISHED: Final = 18
"""The actor that fired last, while it is not known whether its turn is over; else NONE."""
ALL_CALLS: Final = 19
"""What calls in vain take of all its actors."""
ALONE: Final = 20
"""1: it is all of its partition."""
ASKING: Final = 21
"""Where transfers ask shared links: address of its row of ASKINGS."""
FEW_PLACES: Final = 4
"""Up to so many it pays to look whether an actor that waits is the next one of its lane."""
MANY_PLACES: Final = 12
"""From so many on it takes longer to look how far ahead nobody will be ready than to come back when that is known."""
MANY_WITH_LINKS: Final = 2
"""The same where links are asked, which nobody can be followed past."""
LANE_WORDS: Final = 22

# What a need asks for, as many words as a need has.
ASKED_LINK: Final = 0
"""Address of the row of a shared link, or 0."""
ASKED_TICKS: Final = 1
ASKED_ORDER: Final = 2
"""Among requests of one time the least comes first: by partition, actor and buffer."""

# Link: a server that makes one transfer at a time.
FREE_AT: Final = 0
"""When it is free, a time."""
LINK_KEY: Final = 1
REQUESTS: Final = 2
N_REQUESTS: Final = 3
FIRST_REQUEST: Final = 4
"""Address of the request that it grants next."""
CLIENT: Final = 5
"""The lane whose transfer it has granted just now, or NONE; the next words are of that transfer."""
CLIENT_NEED: Final = 6
CLIENT_WAITED: Final = 7
CLIENT_ENDS: Final = 8
"""The stamp of its end."""
LINK_WORDS: Final = 9

# Request.
REQUEST_TIME: Final = 0
REQUEST_ORDER: Final = 1
REQUEST_LANE: Final = 2
REQUEST_NEED: Final = 3
REQUEST_WORDS: Final = 4

# Asking: what a lane has where transfers ask shared links.
UNDER_WAY: Final = 0
"""The action of the firing that waits for a link, or 0."""
LEFT: Final = 1
"""Transfers made at once: how many of the reads, or writes, have not been granted yet."""
IS_WRITING: Final = 2
ASKED_AT: Final = 3
"""The stamp of the last requests."""
BASE: Final = 4
"""When the scheduling of the firing had ended if nothing had waited for a link up to now."""
SCHEDULED: Final = 5
"""When it did end."""
PHASE_END: Final = 6
"""Transfers made at once: the stamp at which the last of the reads, or writes, ends, as far as is known; of that one
(of several, the first) which it is, and what it waited and took."""
LAST_NEED: Final = 7
LAST_WAITED: Final = 8
LAST_TICKS: Final = 9
WAITED: Final = 10
"""What the firings of the lane waited for links."""
MORE_READING: Final = 11
"""What their reads took more than READING of their actions; MORE_WRITING likewise."""
MORE_WRITING: Final = 12
ASKING_WORDS: Final = 13

UNKNOWN: Final = 2**62
"""A hint: what the actor waits for has not been simulated yet. Later than every stamp."""
FINISHED: Final = 2**62 + 1
