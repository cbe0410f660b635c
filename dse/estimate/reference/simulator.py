"""The root coordinator: SimPy keeps the clock and the future, the coordinator makes the rounds of each instant.

SimPy breaks ties by creation order, which the semantics do not allow. So an event of SimPy only says that a model is
imminent; the transitions are made when all events of the instant have been taken, phase by phase and in index order.
"""

from operator import attrgetter
from typing import cast

import simpy

from dse.estimate.reference.actor import ActorModel
from dse.estimate.reference.atomic import Atomic
from dse.estimate.reference.coupled import Coupled
from dse.estimate.reference.fifo import FifoModel
from dse.estimate.reference.partition import PartitionModel

_BY_KEY = attrgetter("key")
_BY_INDEX = attrgetter("index")


class Simulator:
    """Runs a coupled model until nothing is left to happen."""

    def __init__(self, model: Coupled) -> None:
        self._model = model
        self._env = simpy.Environment()
        self._imminent: list[Atomic] = []
        self._ending: list[ActorModel] = []
        self._looking: list[PartitionModel] = []
        self._launched: list[FifoModel] = []
        self._publishing: list[ActorModel] = []
        self.stopped = False
        """Another thread may set it: the run ends at its next round."""
        for actor in model.actors:
            actor.out.time = self._hold
            actor.out.ending = self._ending.append
            actor.out.launched = self._launched.append
        for fifo in model.fifos:
            for way in fifo.ways:
                way.out_time = self._hold
        for partition in model.partitions:
            partition.on_look = self._looking.append

    def run(self, limit: int | None = None) -> int:
        """Return the time of the last event; with a limit, of the last one that is not later."""
        for actor in self._model.actors:
            actor.wait(0)
        self._starts(0)
        env = self._env
        now = 0
        while not self.stopped:
            due = env.peek()
            if due == now:
                self._take(now)
                self._transitions(now)
            elif not self._grants(now):
                if due == simpy.core.Infinity or (limit is not None and due > limit):
                    return now
                now = cast(int, due)  # integer delays on an integer start: SimPy never makes a float of it
        return now

    def _take(self, now: int) -> None:
        """Take all events of this instant out of SimPy's queue; their callbacks fill ``_imminent``."""
        env = self._env
        while env.peek() == now:
            env.step()

    def _transitions(self, now: int) -> None:
        """Make one round: transfers end, firings end, partitions look, turns end."""
        imminent = self._imminent
        self._imminent = []
        if len(imminent) > 1:
            imminent.sort(key=_BY_KEY)
        for model in imminent:
            model.internal(now)
        for fifo in self._launched:
            fifo.sample()
        self._launched.clear()
        if self._ending:
            if len(self._ending) > 1:
                self._ending.sort(key=_BY_KEY)
            for actor in self._ending:
                actor.end(now)
                if actor.publishes:
                    self._publishing.append(actor)
            self._ending.clear()
        if self._looking:
            self._starts(now)
        for actor in self._publishing:
            actor.starts_over(now)
        self._publishing.clear()

    def _starts(self, now: int) -> None:
        looking = self._looking
        if len(looking) > 1:
            looking.sort(key=_BY_INDEX)
        for partition in looking:
            partition.internal(now)
        looking.clear()

    def _grants(self, now: int) -> bool:
        """Let each free shared link begin its next transfer; return whether one did."""
        granted = False
        for link in self._model.links:
            if link.wants_grant:
                link.grant(now)
                self._hold(link, link.time_advance(now))
                granted = True
        return granted

    def _hold(self, model: Atomic, delay: int) -> None:
        """Let SimPy wake a model after its time advance."""
        timeout = self._env.timeout(delay, model)
        timeout.callbacks.append(self._wake)

    def _wake(self, event: simpy.Event) -> None:
        self._imminent.append(cast(Atomic, event.value))
