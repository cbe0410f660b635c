"""The atomic model of a FIFO. It has no time of its own: it changes when something arrives, and replies at once."""

from collections.abc import Callable


def _unconnected(now: int) -> None:
    raise AssertionError(f"a FIFO answered at {now} before the coupled model connected it")


class FifoModel:
    """State: tokens that are visible (those that a firing has reserved included), tokens in flight, and who waits.

    An actor waits for one FIFO at a time; the FIFO then remembers how many tokens, or how much space, it wants.
    """

    __slots__ = (
        "_wanted_space",
        "_wanted_tokens",
        "capacity",
        "in_flight",
        "index",
        "max_tokens",
        "on_space",
        "on_tokens",
        "read_blocked",
        "read_blockings",
        "visible",
        "write_blocked",
        "write_blockings",
    )

    def __init__(self, *, index: int, capacity: int, initial_tokens: int) -> None:
        self.index = index
        self.capacity = capacity
        self.visible = initial_tokens
        self.in_flight = 0
        self.max_tokens = initial_tokens
        self._wanted_tokens = 0
        self._wanted_space = 0
        self.on_tokens: Callable[[int], None] = _unconnected
        self.on_space: Callable[[int], None] = _unconnected
        self.read_blocked = self.read_blockings = self.write_blocked = self.write_blockings = 0

    @property
    def space(self) -> int:
        """Room for further tokens: those in flight have theirs already."""
        return self.capacity - self.visible - self.in_flight

    def ask_tokens(self, tokens: int) -> bool:
        """Reply whether ``tokens`` are visible; if not, send ``on_tokens`` once they are."""
        if self.visible >= tokens:
            return True
        self._wanted_tokens = tokens
        return False

    def ask_space(self, tokens: int) -> bool:
        """Reply whether there is room for ``tokens``; if not, send ``on_space`` once there is."""
        if self.visible + self.in_flight + tokens <= self.capacity:
            return True
        self._wanted_space = tokens
        return False

    def release(self, tokens: int, now: int) -> None:
        """The reader's tokens leave."""
        self.visible -= tokens
        if self._wanted_space and self.visible + self.in_flight + self._wanted_space <= self.capacity:
            self._wanted_space = 0
            self.on_space(now)

    def launch(self, tokens: int) -> None:
        """The writer's tokens take their room; ``sample`` has to follow at the end of the phase."""
        self.in_flight += tokens

    def deliver(self, tokens: int, now: int) -> None:
        """The writer's tokens become visible, all together."""
        self.in_flight -= tokens
        self.visible += tokens
        if self._wanted_tokens and self.visible >= self._wanted_tokens:
            self._wanted_tokens = 0
            self.on_tokens(now)

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
