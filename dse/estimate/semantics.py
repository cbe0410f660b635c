"""The timing semantics: the one specification that every engine implements, to the integer.

``estimation.md`` gives the rules; this page repeats what is needed to read it alone and settles, in words, everything
that the rules leave open. Where an engine and this page disagree, the engine is wrong. The order of creation of
anything never matters; only the declared indices do: partition index (order in the design point), actor index and
buffer index (order in the topology), link server index (order on the platform), place (order in the partition).

Quantities
----------
Time is an integer number of ticks, from 0. Each of these is converted to ticks separately, exactly and once
(``dse.estimate.problem.ticks``): the scheduling of a firing, every single transfer (fixed + tokens * per_token, summed
first), the computation. A cost of 0 is 0 ticks under any clock and does not count as clocked or unclocked. The unit
is ps if some weight above 0 carries a clock, or if none is above 0 and a link lets host costs be derived; else
cycles. The clock of a platform's unit never takes part, unless the design point chooses one: a *chosen clock* of a
unit stands in the place of the clock of the weights, for the scheduling and the computation (SIMD blocks included) of
its firings, whose cycles stay what they are. Transfers keep the clock of their weights or the times of their link, as
they wait for memories and links more than for the unit. All partitions of a unit have the same choice, or none.

A buffer b has ``visible`` tokens (those that a firing under way has reserved included), ``in_flight`` tokens and a
capacity. At time 0 it holds its initial tokens, visible. ``space = capacity - visible - in_flight``, less room that
has not come back (*Visits*).

The inputs of an action are the buffers that end at its actor, in buffer order, on whose port the action has a rate
above 0; its outputs the same for the buffers that begin there. A port of rate 0 and an unconnected port make no
transfer, cost nothing and lack nothing. A buffer from an actor to itself is an input and an output.

The states of an actor
----------------------
At every time an actor is in one of the states of ``ActorState``. Outside a firing the state follows from its next
firing and the buffers: FINISHED without a next firing; else BLOCKED_READING if some input has fewer visible tokens
than its rate, charged to the lowest-index input that lacks; else BLOCKED_WRITING if some output has less space than
its rate, charged to the lowest-index output that lacks; else IDLE (*ready*: that includes waiting for a core, for the
turn of others, and for the next actor of a static order). An actor that never fires is FINISHED from 0. Only the
actor itself takes from its inputs and adds to its outputs, so that while it waits the charge moves only forward: from
input to later input, to output, to later output, to IDLE.

A *blocking* is a stretch of time during which an actor, before one and the same firing, is charged to one buffer. It
counts, and adds its length to the buffer, if it lasts longer than 0 ticks; a stretch that is still open at the end of
the run ends there. A reader's blockings are the ``read_*`` fields of a buffer, a writer's the ``write_*`` fields.

A firing
--------
A firing (or SIMD block) of action x of actor a that starts at t:
1. SCHEDULING until ``t1 = t + scheduling``. The cost is that of (a, q, x) where q is the *previous action*, and that
   of (a, none, x) where there is no q. A pair that the weights do not list costs as none. With one core, and with
   ``cores = n`` alike, q is the action of the firing of the partition that ended last, in the order in which ends are
   made (phase ENDS), if it was a firing of a; else there is no q. Under FULL_PARALLEL q is a's own previous action. A
   block counts as one firing of its action.
2. READING from t1 to t2, one transfer for each input. Transfer mode ``sequential``: in buffer order, each begins when
   the one before has ended. ``parallel``: all begin at t1, and t2 is the end of the last; without inputs t2 = t1.
3. PROCESSING from t2 to ``t3 = t2 + compute``.
4. Release mode ``reading``: at t2 the input tokens of all inputs leave (visible falls). Mode ``processing``: at t3.
5. At t3 the tokens of all outputs are launched (in_flight rises), after what leaves at t3.
6. WRITING from t3 to t4, one transfer for each output, sequential or parallel as the reads, beginning at t3. At the
   end of the transfer of an output all its tokens are delivered (in_flight falls, visible rises by the same). t4 is
   the end of the last; without outputs t4 = t3.
7. At t4 the firing ends and the core is free.

A transfer that asks a shared link begins when the link grants it (below); the others begin at once.

A problem may know what single firings compute: ``deviations``, the ticks that the processing of a firing takes more,
or less, than ``compute`` says when its actor is on a CPU, for an action without a block table there. No processing is
shorter than 0. Without them every firing of an action takes the same.

Instants, rounds and phases
---------------------------
At one instant (a time at which something is due) rounds are made until nothing is due any more. A round has the
phases ``TRANSFERS``, ``ENDS``, ``STARTS`` of ``Phase``. What a phase brings about at the same instant is due in the
next round, except that the steps of one firing follow each other at once:
- TRANSFERS: every firing that has something due makes all its steps that are due now, those of zero length behind
  them as well: begins of reads, requests to links, leaving tokens, launches, deliveries; not its end. A shared link
  whose transfer ends now becomes free, and the firing it served goes on. Nothing in this phase depends on the order
  inside the phase: readiness only grows, launches are looked at when the phase is over, and a link chooses later.
- ENDS: firings whose steps are all made by now end, by (partition, actor). One by one: the actor's next state follows
  from the buffers, then the policy hears of the end, then it is the last ended firing of its partition.
- STARTS: every partition, by index, starts all it can by its policy. A start at t makes no step by itself: what is
  due at t, even the end of a firing of zero length, waits for the next round.

When no round is left in the instant comes the phase GRANTS: each shared link that is free and has requests, by server
index, grants one. If a granted transfer has zero length the instant goes on with another round, and after it GRANTS
again. Before time 0 all actors take their states; the instant 0 begins with the phase STARTS.

The largest occupancy of a buffer is the largest ``visible + in_flight`` at the end of a phase TRANSFERS, or at time
0. (Leaving tokens of a round go before launched ones, whatever their order.)

Makespan: the last end of a firing; 0 if nothing ever fires; in a deadlock the time of the last event.

Arrival
-------
Weights may say how tokens get from one CPU core to another (``dse.model.weights.Arrival``): the *arrival*, in ticks of
at least 1, the firings of a *turn*, and the *parts* of a FIFO (0: none). Without, nothing of this holds, and a reader
sees all visible tokens. With it, the tokens of ``cpu_cpu`` buffers *travel*: at the end of their write they are
visible, and hold their room as ever, but the reader does not see them yet. Where this page says what a reader has of
such a buffer - BLOCKED_READING, ready, the size of a block - its *seen* tokens count. Initial tokens are seen.
- What is written is *held* until its actor *publishes*. It does so behind the phase STARTS of a round in whose phase
  ENDS a firing of it ended, if no other firing of it has begun in that phase (its turn is over), or if it has made the
  firings of a turn since it published last (a block counts as its firings). Of an actor these are those that the
  weights say; with parts at most ``capacity / (parts * most)``, rounded down, at least 1, for each buffer that travels
  and begins or ends at the actor. *Most* is the largest rate that any action of the two ends has there.
- What is published sets out at once if no tokens of the buffer are on their way, all that is published and has not set
  out together. Else it waits, and sets out when those have arrived: the other core sees how far the writer is, one
  look after the other, and each look takes as long as an arrival.
- Tokens arrive when the arrival has passed since they set out, in the phase TRANSFERS. Then the reader sees them.
Tokens may arrive when no firing is left; that is no event for the makespan.

Visits
------
Weights with an arrival may say what visits cost (``dse.model.weights.Visits``): of an end of a buffer an *entry*, of
all actors a *look*, a *glance* and a *wake*, in ticks. Without, nothing of this holds. An actor is *polled* if a buffer
that travels begins or ends there. A call of it in vain is a glance if none ends there, else a look.
- Room travels back. What leaves a buffer that travels keeps its room until its reader has published and the room has
  arrived, as its tokens do: held, published at the same moments as the reader's own tokens (an actor publishes both,
  if only inputs of it travel too), one look after the other, each as long as an arrival. ``space`` is without it. It
  is no token: occupancies do not count it. Room may arrive when no firing is left.
- A *visit* is a row of firings of one actor in a partition. Under NON_PREEMPTIVE on one core a firing (or block) goes
  on with the visit of the firing that ended last on the core if that was of the same actor, if it ended at this very
  instant, if fewer than the firings of a turn (as the weights say, whatever the parts of FIFOs) have ended in the
  visit, and if the visit *knows of* all that the firing needs of buffers that travel. When a visit begins it knows of
  the seen tokens of the inputs and the space of the outputs; each firing takes from that, when it starts, what it
  moves. Else, and always under other policies and with several cores, a firing begins a new visit.
- If an actor is ready and all holds but that its visit knows of too little, the search for the next actor begins at
  the place behind it: others come first, and it begins a new visit if none is ready.
- Behind the phase STARTS an actor publishes as well if a firing of it ended in the round, and under NON_PREEMPTIVE on
  one core the one that it began is the first of a new visit.
- The first firing of a visit of a polled actor has no previous action.
- A firing takes more for its scheduling by what the largest entry of its ends of buffers that travel, on which it
  moves tokens, is above the largest that its visit has paid already, if it is: cache lines come side by side.
- The first firing of a visit on one core takes more for its scheduling, if a firing of the partition has ended before:
  the wake, if that was before this instant and the actor is polled; a call in vain of each polled actor (finished
  ones too) strictly between the place of that firing and this one, cyclically, if it was at this instant and the policy
  is NON_PREEMPTIVE or ROUND_ROBIN. From a place to itself these are all others; none if the visit before ended for its
  length only.

Policies
--------
A partition looks in STARTS while it has a free core and a ready actor. Choices are made one by one; each takes a core
and makes its actor no longer ready. At most one firing of an actor is under way. *Place* is the index in partition
order.
- NON_PREEMPTIVE: the first ready place, cyclically from the current one, which is tried first; it becomes current. At
  first place 0 is current.
- ROUND_ROBIN: the first ready place, cyclically from the one behind the place chosen last; at first from place 0.
- DATA_DEMAND_DRIVEN: a queue of places. At an end of a firing of a (phase ENDS, after a's next state is known):
  append the targets of a's outputs (all buffers that begin at a, in buffer order) that are in this partition and
  ready; then, if a is now BLOCKED_READING, the sources of its inputs (all buffers that end at a, in buffer order,
  whether they lack or not) that are in this partition and ready. A place that is in the queue already is not
  appended; ready excludes actors whose firing has not ended yet in this order; a itself can be among them. A choice
  takes entries from the front, dropping those that are not ready now, until one is; if none is, it is made as in
  ROUND_ROBIN, where the place chosen last is the last one chosen in either way.
- FULL_PARALLEL: all ready places; the partition has as many cores as actors, whatever ``cores`` says.
- STATIC_ORDER: the cyclic list, from its first entry. Entries of FINISHED actors are passed over for good. If the
  actor of the next entry is ready it starts and the list moves on; else nothing starts. A block is one entry. The
  list has to name every actor of the partition and no other; one core only.

FIFO kinds and prices
---------------------
A buffer *crosses* if its ends are on different units and one of them is a GPU. An output port with a buffer that
crosses makes all its buffers ``host``. With ``dynamic_network`` it is enough that a buffer of the port could cross:
its ends are different actors, the platform has CPU and GPU units, and one of the ends may be on a GPU. Other buffers:
``cuda`` if the source is on a GPU; else ``local`` if both ends are in one partition and ``cpu_cpu`` if not. A write
is priced by the kind of unit of the source, a read by that of the target. A host price that is not given is derived
from the buffer's link, if that has a latency above 0 or a bandwidth and the unit of time is ps: latency + bytes /
bandwidth, for the write and for the read. Without communication weights everything else costs nothing. What is
missing then is an error that names everything, or 0 if the problem says so. Only actions that the trace fires need
weights; scheduling after none is needed for all of them, but if the actor has a core to itself (alone in its
partition, or FULL_PARALLEL) only for its first.

Links
-----
A link has one server, or with ``directions = 2`` two, named ``link:a->b`` and ``link:b->a``. Only the reads and
writes of host buffers occupy one, each for its whole cost. The link of a buffer that crosses is the first between its
two units; that of another host buffer is that of the lowest-index crossing buffer of its port, else the first link
between the unit of its source, else of its target, and a unit of the other kind. Without such a link nothing is
occupied. Of two servers tokens use the first if the source is at ``between[0]``, or neither is the source at
``between[1]`` nor the target at ``between[0]``. On a link that is not shared transfers take their time side by side.
A shared one serves one at a time: a transfer requests it at the time at which it would begin (parallel mode: all at
t1, or t3), and GRANTS takes the request with the least (request time, partition, actor, buffer). It occupies the
server from the grant for its ticks; a transfer of zero length asks and waits like any other. Per server: ``busy`` is
the sum of the ticks of its transfers (also unshared), ``waiting`` the sum of grant time - request time, ``transfers``
their number. All firings that start also end, so that it does not matter when these are counted.

Accounts
--------
Of a firing the actor's time is SCHEDULING t1 - t, PROCESSING t3 - t2, and t2 - t1 and t4 - t3 split into moving
(READING, WRITING) and LINK_WAITING. Sequential: each transfer's wait for its grant is LINK_WAITING, its ticks are
moving. Parallel: the phase is split as its last transfer to end was (of several the first in buffer order): its wait,
and its ticks. A partition's core time in the five categories is the sum over its actors; unoccupied is ``cores *
makespan`` less it.

SIMD blocks
-----------
An action that has a block table of width w > 0 for the unit kind of its actor fires k firings at once, k = min(w,
number of firings left in the run of this action in the trace, for each input visible / rate, for each output space /
rate), all rounded down and looked at when the block starts. Ready means ready for one firing. The block has one
scheduling, one transfer for each input and output, with k * rate tokens, and takes ``block_cycles[k - 1]``, also for
k = 1. It counts as k firings, with one start and one end.

Deadlock
--------
Nothing is due and some actor is not FINISHED. Rows by (actor, buffer): for each unfinished actor every input with
fewer visible tokens than the rate of its next firing (``tokens``: have visible) and every output with too little
space (``space``: have space); for a buffer to itself tokens come first. The remedy: take the ``space`` row of the
lowest buffer index (of the lowest actor, there is only one), raise the capacity of that buffer by need - have, run
again, until no deadlock is left; None as soon as a deadlock has no ``space`` row. ``dse.estimate.deadlock`` computes
it for all engines. Tokens left over are no deadlock. Firings that were never made have start and end -1.
"""

from enum import IntEnum


class Phase(IntEnum):
    """Phases of an instant; the first three make a round."""

    TRANSFERS = 0
    ENDS = 1
    STARTS = 2
    GRANTS = 3


class ActorState(IntEnum):
    """What an actor is doing; exactly one at every time, and the categories of ``ActorAccount``."""

    SCHEDULING = 0
    READING = 1
    PROCESSING = 2
    WRITING = 3
    LINK_WAITING = 4
    BLOCKED_READING = 5
    BLOCKED_WRITING = 6
    IDLE = 7
    FINISHED = 8
