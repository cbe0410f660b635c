"""The atomic model of a FIFO. It changes when something arrives on a port, and replies at once.

Only one between two cores, whose weights know how long tokens take there, has time of its own: while tokens travel.
"""

from collections.abc import Callable

from dse.estimate.reference.atomic import PASSIVE, Atomic


def _unconnected(now: int) -> None:
    raise AssertionError(f"a FIFO answered at {now} before the coupled model connected it")


def _undriven(model: Atomic, delay: int) -> None:
    raise AssertionError(f"tokens of {model.key} set out for {delay} ticks before the simulator was there")


class Way:
    """The atomic model of what is published at one end of a FIFO, tokens or room, and seen at the other end later.

    State: what is held, what is published, and what is on its way until when.
    """

    __slots__ = ("_arrival", "_arrives_at", "_held", "_on_way", "_published", "_seen", "key", "out_time")

    def __init__(self, key: tuple[int, int], arrival: int, seen: Callable[[int, int], None]) -> None:
        """``arrival``: ticks on the way. ``seen``: output port, (how many, now)."""
        self.key = key
        self._arrival = arrival
        self._arrives_at = PASSIVE
        self._held = self._published = self._on_way = 0
        self._seen = seen
        self.out_time: Callable[[Atomic, int], None] = _undriven
        """To the simulator: the time advance of a new state."""

    def hold(self, count: int) -> None:
        """There is more to publish."""
        self._held += count

    def publish(self, now: int) -> None:
        """All that is held sets out now, or when what is on its way has arrived."""
        self._published += self._held
        self._held = 0
        if self._published and not self._on_way:
            self._set_out(now)

    def _set_out(self, now: int) -> None:
        self._on_way, self._published = self._published, 0
        self._arrives_at = now + self._arrival
        self.out_time(self, self._arrival)

    def time_advance(self, now: int) -> int:
        """Return the ticks until what is on its way arrives, or ``PASSIVE``."""
        return self._arrives_at - now if self._on_way else PASSIVE

    def internal(self, now: int) -> None:
        """What is on its way arrives; all that was published meanwhile sets out together."""
        arrived, self._on_way = self._on_way, 0
        if self._published:
            self._set_out(now)
        self._seen(arrived, now)


class FifoModel:
    """State: tokens that are visible (those that a firing has reserved included), tokens in flight, and who waits.

    An actor waits for one FIFO at a time; the FIFO then remembers how many tokens, or how much space, it wants. Where
    tokens travel, some of the visible ones are unseen by the reader: held by a turn that goes on, published, on their
    way. Where visits are known, so does the room of tokens that have left, which the writer does not see yet.
    """

    __slots__ = (
        "_room",
        "_tokens",
        "_unfreed",
        "_unseen",
        "_wanted_space",
        "_wanted_tokens",
        "capacity",
        "entries",
        "in_flight",
        "index",
        "known_room",
        "known_tokens",
        "max_tokens",
        "on_space",
        "on_tokens",
        "out_time",
        "read_blocked",
        "read_blockings",
        "visible",
        "write_blocked",
        "write_blockings",
    )

    def __init__(
        self,
        *,
        index: int,
        capacity: int,
        initial_tokens: int,
        arrival: int = 0,
        entries: tuple[int, int] | None = None,
    ) -> None:
        """``arrival``: ticks that published tokens are on their way; 0: tokens do not travel. ``entries``: where visits
        are known, what one takes that reads tokens of another core, or writes some; room travels then as well."""
        self.index = index
        self.capacity = capacity
        self.entries = entries or (0, 0)
        self.visible = initial_tokens
        self.in_flight = 0
        self.max_tokens = initial_tokens
        self._wanted_tokens = 0
        self._wanted_space = 0
        self._unseen = self._unfreed = 0
        self._tokens = Way((-2, index), arrival, self._tokens_arrived) if arrival else None
        self._room = Way((-1, index), arrival, self._room_arrived) if arrival and entries is not None else None
        self.known_tokens = self.known_room = 0
        """What a visit of the reader, and one of the writer, knows of."""
        self.on_tokens: Callable[[int], None] = _unconnected
        self.on_space: Callable[[int], None] = _unconnected
        self.read_blocked = self.read_blockings = self.write_blocked = self.write_blockings = 0

    @property
    def travels(self) -> bool:
        """Whether tokens take time to their reader."""
        return self._tokens is not None

    @property
    def ways(self) -> tuple["Way", ...]:
        """What of the FIFO has time of its own."""
        return tuple(way for way in (self._tokens, self._room) if way is not None)

    @property
    def seen(self) -> int:
        """Tokens that the reader knows of."""
        return self.visible - self._unseen

    @property
    def space(self) -> int:
        """Room for further tokens that the writer knows of: those in flight have theirs already."""
        return self.capacity - self.visible - self._unfreed - self.in_flight

    def ask_tokens(self, tokens: int) -> bool:
        """Reply whether the reader sees ``tokens``; if not, send ``on_tokens`` once it does."""
        if self.seen >= tokens:
            return True
        self._wanted_tokens = tokens
        return False

    def ask_space(self, tokens: int) -> bool:
        """Reply whether there is room for ``tokens``; if not, send ``on_space`` once there is."""
        if self.space >= tokens:
            return True
        self._wanted_space = tokens
        return False

    def release(self, tokens: int, now: int) -> None:
        """The reader's tokens leave."""
        self.visible -= tokens
        if self._room is not None:
            self._unfreed += tokens
            self._room.hold(tokens)
        else:
            self._free(now)

    def _free(self, now: int) -> None:
        if self._wanted_space and self.space >= self._wanted_space:
            self._wanted_space = 0
            self.on_space(now)

    def launch(self, tokens: int) -> None:
        """The writer's tokens take their room; ``sample`` has to follow at the end of the phase."""
        self.in_flight += tokens

    def deliver(self, tokens: int, now: int) -> None:
        """The writer's tokens become visible, all together; the reader sees them now, or when they have arrived."""
        self.in_flight -= tokens
        self.visible += tokens
        if self._tokens is not None:
            self._unseen += tokens
            self._tokens.hold(tokens)
        else:
            self._show(now)

    def _show(self, now: int) -> None:
        if self._wanted_tokens and self.seen >= self._wanted_tokens:
            self._wanted_tokens = 0
            self.on_tokens(now)

    def publish_tokens(self, now: int) -> None:
        """The writer publishes what it holds."""
        if self._tokens is not None:
            self._tokens.publish(now)

    def publish_room(self, now: int) -> None:
        """The reader publishes the room of what it has taken."""
        if self._room is not None:
            self._room.publish(now)

    def _tokens_arrived(self, tokens: int, now: int) -> None:
        self._unseen -= tokens
        self._show(now)

    def _room_arrived(self, tokens: int, now: int) -> None:
        self._unfreed -= tokens
        self._free(now)

    def note_tokens(self) -> None:
        """A visit of the reader begins: it knows of what it sees now."""
        self.known_tokens = self.seen

    def note_room(self) -> None:
        """A visit of the writer begins."""
        self.known_room = self.space

    def sample(self) -> None:
        """Note the occupancy; at the end of a phase, when all that left in it has left."""
        occupied = self.visible + self.in_flight
        if occupied > self.max_tokens:
            self.max_tokens = occupied

    def charge_reader(self, ticks: int) -> None:
        """Note that the reader was blocked."""
        if ticks:
            self.read_blocked += ticks
            self.read_blockings += 1

    def charge_writer(self, ticks: int) -> None:
        """Note that the writer was blocked."""
        if ticks:
            self.write_blocked += ticks
            self.write_blockings += 1
