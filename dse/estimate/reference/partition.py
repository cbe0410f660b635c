"""The atomic model of a partition: it gives free cores to ready actors by its policy."""

from collections.abc import Callable, Sequence

from dse.estimate.policies import NONE_READY, PolicyState
from dse.estimate.reference.visits import Scheduler


class PartitionModel:
    """State: free cores, which places are ready, what ended last, the memory of the policy. Its time advance is 0 or
    infinite: it looks in the phase of starts when one of its firings ended or one of its actors became ready."""

    __slots__ = (
        "_free",
        "_last_action",
        "_last_place",
        "_looking",
        "_n_ready",
        "_own_last",
        "_policy",
        "_predecessors",
        "_ready",
        "_scheduler",
        "_since",
        "_successors",
        "core_per_actor",
        "index",
        "on_look",
        "starts",
    )

    def __init__(
        self,
        *,
        index: int,
        cores: int,
        core_per_actor: bool,
        policy: PolicyState,
        successors: Sequence[Sequence[int]],
        predecessors: Sequence[Sequence[int]],
        scheduler: Scheduler | None = None,
    ) -> None:
        """``scheduler``: where visits are known."""
        self.index = index
        self.core_per_actor = core_per_actor
        self._free = cores
        self._policy = policy
        self._successors = successors
        self._predecessors = predecessors
        self._ready = [False] * len(successors)
        self._n_ready = 0
        self._last_place = self._last_action = -1
        self._own_last = [-1] * len(successors)
        self._scheduler = scheduler
        self._since = 0
        """When the last firing ended."""
        self._looking = False
        self.on_look: Callable[[PartitionModel], None]
        self.starts: list[Callable[[int, int, int], None]] = []
        """To the actors: (previous action, ticks that the scheduler takes more, now)."""

    def actor_ready(self, place: int, now: int) -> None:  # noqa: ARG002  (all input ports take the time)
        """Input port: the next firing of an actor has all it needs."""
        self._ready[place] = True
        self._n_ready += 1
        self._look()

    def firing_ended(self, place: int, action: int, lacks_input: bool, firings: int, now: int) -> None:
        """Input port: a firing, or a block of several, ended; its core is free."""
        if self._policy.hears_ends:
            ready = self._ready
            starved = self._predecessors[place] if lacks_input else ()
            self._policy.ended([p for p in self._successors[place] if ready[p]], [p for p in starved if ready[p]])
        if self._scheduler is not None:
            self._scheduler.ended(firings)
        self._since = now
        self._last_place, self._last_action = place, action
        self._own_last[place] = action
        self._free += 1
        self._look()

    def _look(self) -> None:
        if self._free and self._n_ready and not self._looking:
            self._looking = True
            self.on_look(self)

    def internal(self, now: int) -> None:
        """Start all that can be started."""
        self._looking = False
        while self._free and self._n_ready:
            self._leave(now)
            place = self._policy.choose(self._ready)
            if place == NONE_READY:
                return
            self._ready[place] = False
            self._n_ready -= 1
            self._free -= 1
            more = 0
            if self._scheduler is not None:
                more = self._scheduler.start(place, self._last_place, now > self._since)
            self.starts[place](self._previous(place), more, now)

    def _leave(self, now: int) -> None:
        """End the visit of an actor that knows of too little: the policy looks at the others first."""
        last, scheduler = self._last_place, self._scheduler
        if scheduler is not None and last >= 0 and self._ready[last] and now == self._since and scheduler.leaves(last):
            self._policy.leave(last)

    def is_fresh(self) -> bool:
        """Reply whether the firing that was started last began a visit."""
        return self._scheduler is not None and self._scheduler.fresh

    def _previous(self, place: int) -> int:
        """Return the action that ended last on the core if it was this actor's, and the visit goes on; else -1."""
        if self._scheduler is not None and self._scheduler.entered:
            return -1
        if self.core_per_actor:
            return self._own_last[place]
        return self._last_action if self._last_place == place else -1
