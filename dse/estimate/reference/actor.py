"""The atomic model of an actor: it waits for what its next firing needs, and carries a firing out when told to.

Waiting: the actor asks its FIFOs one after the other, inputs before outputs, in buffer order; the one that says no is
the one it is blocked on until that FIFO answers. When all have said yes it is ready (idle) and tells its partition.
Firing: SCHEDULING, READING, PROCESSING, WRITING; the steps that are due at one instant are made in one transition.
"""

from collections.abc import Callable, Sequence

from dse.estimate.reference.atomic import PASSIVE, Atomic
from dse.estimate.reference.fifo import FifoModel
from dse.estimate.reference.firing import ActionPlan, BlockPlan, Transfer
from dse.estimate.reference.link_phase import LinkPhase

WAITING, SCHEDULING, READING, PROCESSING, WRITING, ENDING = range(6)


class Outputs:
    """The output ports of an actor; the coupled model connects them."""

    __slots__ = ("ended", "ending", "fresh", "launched", "ready", "time")

    ready: Callable[[int, int], None]
    """To the partition: (place, now)."""
    ended: Callable[[int, int, bool, int, int], None]
    """To the partition: (place, action, whether the next firing lacks input, firings, now)."""
    fresh: Callable[[], bool]
    """Asks the partition whether the firing that it started last began a visit."""
    launched: Callable[[FifoModel], None]
    """To the simulator: a FIFO to sample at the end of the phase."""
    time: Callable[[Atomic, int], None]
    """To the simulator: the time advance of a new state, unless that is ``PASSIVE``."""
    ending: Callable[["ActorModel"], None]
    """To the simulator: all steps are made, ``end`` is to be called in the phase of ends."""


class ActorModel:
    """State: position in the trace, stage, time of the next step, and the account of the time so far."""

    __slots__ = (
        "_actions",
        "_asked",
        "_block",
        "_compute",
        "_cursor",
        "_deviations",
        "_due",
        "_held",
        "_link_phase",
        "_parallel",
        "_phase_begin",
        "_plan",
        "_plans",
        "_release_early",
        "_run_ends",
        "_since",
        "_stage",
        "_turn_firings",
        "_turn_made",
        "blocked_reading",
        "blocked_writing",
        "end_times",
        "far_inputs",
        "far_outputs",
        "idle",
        "index",
        "key",
        "last_end",
        "link_waiting",
        "n_firings",
        "out",
        "place",
        "position",
        "processing",
        "reading",
        "scheduling",
        "start_times",
        "writing",
    )

    def __init__(
        self,
        *,
        index: int,
        partition: int,
        place: int,
        actions: Sequence[int],
        run_ends: Sequence[int],
        plans: Sequence[ActionPlan],
        release_early: bool,
        parallel: bool,
        turn_firings: int,
        deviations: Sequence[int],
        record_times: bool,
    ) -> None:
        self.index = index
        self.key = (partition, index)
        self.place = place
        self.out = Outputs()
        self._actions = actions
        self._run_ends = run_ends
        self._plans = plans
        self._release_early = release_early
        self._parallel = parallel
        self._turn_firings = turn_firings
        self._deviations = deviations
        """What each firing computes more than its action says; empty where none does."""
        self._turn_made = 0
        self.n_firings = len(actions)
        self.far_outputs: list[FifoModel] = []
        """The outputs whose tokens travel; the coupled model sets them."""
        self.far_inputs: list[FifoModel] = []
        """The inputs whose room travels."""
        self.start_times: list[int] | None = [] if record_times else None
        self.end_times: list[int] = []
        self.position = 0
        self._stage = WAITING
        self._due = self._held = PASSIVE
        self._asked = self._since = self._cursor = self._phase_begin = self._compute = 0
        self._plan: ActionPlan
        self._block: BlockPlan
        self._link_phase: LinkPhase
        self.last_end = 0
        self.scheduling = self.reading = self.processing = self.writing = self.link_waiting = 0
        self.blocked_reading = self.blocked_writing = self.idle = 0

    # -- waiting -----------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether no firing is left."""
        return self.position == self.n_firings

    @property
    def waits(self) -> bool:
        """Whether firings are left and none is under way."""
        return self._stage == WAITING and not self.finished

    def wait(self, now: int) -> None:
        """Begin to wait for the next firing, if one is left."""
        self._stage = WAITING
        self._since = now
        if self.position < self.n_firings:
            self._plan = self._plans[self._actions[self.position]]
            self._asked = 0
            self._ask_on(now)

    def _ask_on(self, now: int) -> None:
        asks = self._plan.asks
        for asked in range(self._asked, len(asks)):
            ask = asks[asked]
            if not ask.question(ask.tokens):
                self._asked = asked
                return
        self._asked = len(asks)
        self.out.ready(self.place, now)

    def answered(self, now: int) -> None:
        """Input port: the FIFO that the actor is blocked on has what is wanted."""
        self.charge(now)
        self._asked += 1
        self._ask_on(now)

    def charge(self, now: int) -> None:
        """Account the waiting since the last change."""
        ticks = now - self._since
        self._since = now
        asks = self._plan.asks
        if self._asked == len(asks):
            self.idle += ticks
        elif self._asked < self._plan.n_inputs:
            self.blocked_reading += ticks
            asks[self._asked].fifo.charge_reader(ticks)
        else:
            self.blocked_writing += ticks
            asks[self._asked].fifo.charge_writer(ticks)

    # -- firing ------------------------------------------------------------------------------------------------------

    def start(self, previous: int, more: int, now: int) -> None:
        """Input port: fire. ``previous`` is the actor's action that ended last on the core, or -1; ``more``: ticks that
        the scheduler takes beside what the weights say of actions."""
        self.charge(now)
        plan = self._plan
        block = plan.blocks[0] if len(plan.blocks) == 1 else plan.blocks[self._block_size(plan) - 1]
        self._block = block
        self._compute = block.compute
        if self._deviations and not plan.simd:
            self._compute += self._deviations[self.position]
        scheduling = more + (plan.first_scheduling if previous < 0 else plan.pair_scheduling[previous])
        for transfer in block.reads.transfers:
            transfer.fifo.known_tokens -= transfer.tokens
        for transfer in block.writes.transfers:
            transfer.fifo.known_room -= transfer.tokens
        self.scheduling += scheduling
        if self.start_times is not None:
            self.start_times += [now] * block.firings
        for link, ticks in block.carried:
            link.carry(ticks)
        if block.reads.asks_link:
            self._stage = SCHEDULING
            self._due = now + scheduling
        else:
            self.reading += block.reads.ticks
            self._read_until(now + scheduling + block.reads.ticks)
        self._announce(now)

    def covered(self) -> bool:
        """Return whether the visit that goes on knows of what the next firing needs of FIFOs to other cores."""
        for index, ask in enumerate(self._plan.asks):
            known = ask.fifo.known_tokens if index < self._plan.n_inputs else ask.fifo.known_room
            if ask.fifo.travels and known < ask.tokens:
                return False
        return True

    def entry(self) -> int:
        """Return the largest entry of the ends of FIFOs to other cores on which the next firing moves tokens."""
        plan = self._plan
        return max(
            (ask.fifo.entries[k >= plan.n_inputs] for k, ask in enumerate(plan.asks) if ask.fifo.travels), default=0
        )

    def begin_visit(self) -> None:
        """Look at all FIFOs to other cores once."""
        for fifo in self.far_inputs:
            fifo.note_tokens()
        for fifo in self.far_outputs:
            fifo.note_room()

    def _block_size(self, plan: ActionPlan) -> int:
        """Return how many firings go into the SIMD block: tokens, space, width and run of the action allow them."""
        size = min(len(plan.blocks), self._run_ends[self.position] - self.position)
        for index, ask in enumerate(plan.asks):
            available = ask.fifo.seen if index < plan.n_inputs else ask.fifo.space
            size = min(size, available // ask.tokens)
        return size

    def time_advance(self, now: int) -> int:
        """Return the ticks until the next step, or ``PASSIVE``."""
        return PASSIVE if self._due == PASSIVE else self._due - now

    def internal(self, now: int) -> None:
        """Make the steps that are due; those of length 0 behind them as well."""
        if self._held == now:
            self._held = PASSIVE  # before the return: the next firing may have a step at this very instant
        if self._due != now:
            return  # a link that ended at this instant has brought the step about already
        self._steps(now)

    def served(self, transfer: int, waited: int, now: int) -> None:
        """Input port: the link has carried a transfer."""
        self._link_phase.served(transfer, waited, now)
        self._after_link_step(now)
        self._steps(now)

    def _steps(self, now: int) -> None:
        while self._due == now:
            match self._stage:
                case 1:  # SCHEDULING, before reads that ask a link
                    self._stage = READING
                    self._begin_link_phase(now)
                case 2:  # READING
                    if self._block.reads.asks_link:
                        self._link_phase.step(now)
                        self._after_link_step(now)
                    else:
                        self._release(now)
                        self._process_until(now + self._compute)
                case 3:  # PROCESSING
                    self._processed(now)
                case 4:  # WRITING
                    if self._block.writes.asks_link:
                        self._link_phase.step(now)
                        self._after_link_step(now)
                    else:
                        self._deliver_due(now)
        self._announce(now)

    def _announce(self, now: int) -> None:
        due = self._due
        if self._stage == ENDING:
            self.out.ending(self)
        elif due != PASSIVE and due != self._held:
            self._held = due
            self.out.time(self, due - now)

    def _read_until(self, end: int) -> None:
        if self._release_early and self._block.reads.transfers:
            self._stage = READING
            self._due = end
        else:
            self._process_until(end + self._compute)

    def _process_until(self, end: int) -> None:
        self.processing += self._compute
        self._stage = PROCESSING
        self._due = end

    def _processed(self, now: int) -> None:
        if not self._release_early:
            self._release(now)
        writes = self._block.writes
        for transfer in writes.transfers:
            transfer.fifo.launch(transfer.tokens)
            self.out.launched(transfer.fifo)
        self._stage = WRITING
        if writes.asks_link:
            self._begin_link_phase(now)
        else:
            self.writing += writes.ticks
            self._phase_begin = now
            self._cursor = 0
            self._deliver_due(now)

    def _release(self, now: int) -> None:
        for transfer in self._block.reads.transfers:
            transfer.fifo.release(transfer.tokens, now)

    def _deliver_due(self, now: int) -> None:
        ends = self._block.writes.ends
        for cursor in range(self._cursor, len(ends)):
            offset, transfer = ends[cursor]
            if self._phase_begin + offset > now:
                self._cursor = cursor
                self._due = self._phase_begin + offset
                return
            transfer.fifo.deliver(transfer.tokens, now)
        self._stage = ENDING
        self._due = PASSIVE

    # -- phases that ask a link --------------------------------------------------------------------------------------

    def _begin_link_phase(self, now: int) -> None:
        writes = self._stage == WRITING
        plan = self._block.writes if writes else self._block.reads
        on_end = _deliver if writes else _keep
        self._link_phase = LinkPhase(plan, self, on_end, parallel=self._parallel)
        self._link_phase.begin(now)
        self._after_link_step(now)

    def _after_link_step(self, now: int) -> None:
        phase = self._link_phase
        self._due = phase.due
        if not phase.finished:
            return
        self.link_waiting += phase.link_waiting
        if self._stage == READING:
            self.reading += phase.moving
            if self._release_early:
                self._release(now)
            self._process_until(now + self._compute)
        else:
            self.writing += phase.moving
            self._stage = ENDING
            self._due = PASSIVE

    # -- the end -----------------------------------------------------------------------------------------------------

    def end(self, now: int) -> None:
        """Internal transition of the phase of ends: the firing is over, the core is free."""
        action = self._actions[self.position]
        self.position += self._block.firings
        self.last_end = now
        if self.start_times is not None:
            self.end_times += [now] * self._block.firings
        self._turn_made += self._block.firings
        self.wait(now)
        lacks_input = not self.finished and self._asked < self._plan.n_inputs
        self.out.ended(self.place, action, lacks_input, self._block.firings, now)

    @property
    def publishes(self) -> bool:
        """Whether an end of a FIFO to another core has something to publish."""
        return bool(self.far_outputs or self.far_inputs)

    def starts_over(self, now: int) -> None:
        """Input port: all starts behind an end of a firing are made. Publish if the turn is over, or long."""
        if self._stage == WAITING or self._turn_made >= self._turn_firings or self.out.fresh():
            self._turn_made = 0
            for fifo in self.far_outputs:
                fifo.publish_tokens(now)
            for fifo in self.far_inputs:
                fifo.publish_room(now)


def _deliver(transfer: Transfer, now: int) -> None:
    transfer.fifo.deliver(transfer.tokens, now)


def _keep(transfer: Transfer, now: int) -> None:
    """The end of a single read changes nothing: tokens leave when all reads, or the processing, are done."""
