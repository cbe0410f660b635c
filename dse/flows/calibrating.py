"""The calibration runs of a profile, of which more can be made later, when the machine is in another state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dse.measure.arrival import Waits, arrivals_of, calibrated_arrival, waits_of
from dse.measure.crossing import Calibration, crossing_costs, entries_of, with_crossings
from dse.measure.looks import Looks, called, looks_of
from dse.measure.machine import RoundTrip, State
from dse.measure.profiling import CalibrationMapping, Profiler, ProfileRuns
from dse.model.trace import Topology
from dse.model.weights import WeightTable


@dataclass(frozen=True, slots=True, kw_only=True)
class StateWeights:
    """The weights for one state of the machine.

    ``calibrations``: the runs on several cores that they rest on; ``unexplained``: the share of their busy time that
    no crossing explains. ``waits``: what arrivals took in them where a core waited, None where too few were seen.
    ``looks``: what lay between visits, scaled as the weights are.
    """

    state: State
    table: WeightTable
    calibrations: int
    unexplained: float
    waits: Waits | None
    looks: Looks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibrated:
    """What calibrations are compared with: the runs on one core and the weights by them.

    ``timing``: what timing adds to a visit of each actor where visits are timed in turns, none: nothing.
    """

    topology: Topology
    runs: ProfileRuns
    local: WeightTable
    timing: tuple[float, ...]


class Calibrator:
    """Runs some mappings, round by round, and keeps what was recorded by state of the machine.

    ``rounds``: so many runs of each mapping are wanted in a state.
    """

    def __init__(
        self,
        profiler: Profiler,
        mappings: Sequence[CalibrationMapping],
        beside: Calibrated,
        rounds: int,
        rng: np.random.Generator,
        stage: Callable[[str], None],
    ) -> None:
        self._profiler = profiler
        self._mappings = mappings
        self._beside = beside
        self._rounds = rounds
        self._rng = rng
        self._stage = stage
        self._found: dict[State, list[Calibration]] = {}
        self._weighed: dict[State, StateWeights] = {}

    def run(self, rounds: int) -> int:
        """Run each mapping so many times; return how many runs were left out, as the state of the machine changed.

        Raises ``ExecutionError`` where a run fails.
        """
        if not self._mappings:
            return 0
        like = self._beside.runs.timed[0]
        found = self._profiler.calibrations(self._mappings, rounds, self._rng, self._stage, like)
        for state, some in found.items():
            self._found.setdefault(state, []).extend(some)
            self._weighed.pop(state, None)
        return rounds * len(self._mappings) - sum(map(len, found.values()))

    def complete(self, state: State) -> bool:
        """Make the runs that are missing in a state, as long as the machine stays in it; return whether any was made.

        Raises ``ExecutionError`` where a run fails.
        """
        before, wanted = self._runs_in(state), self._rounds * len(self._mappings)
        for _ in range(self._rounds):
            there = self._runs_in(state)
            if there >= wanted:
                break
            self.run(1)
            if self._runs_in(state) == there:
                break
        return self._runs_in(state) > before

    @property
    def trips(self) -> tuple[RoundTrip, ...]:
        """The round trips around all runs that were kept."""
        return tuple(trip for some in self._found.values() for one in some for trip in one.trips)

    def _runs_in(self, state: State) -> int:
        return len(self._found.get(state, ()))

    def states(self) -> tuple[StateWeights, ...]:
        """Return the weights for each state that calibrations had, the one with the most first."""
        for state, some in self._found.items():
            if state not in self._weighed:
                self._weighed[state] = _state_weights(state, self._beside, some)
        return tuple(sorted(self._weighed.values(), key=lambda of_state: -of_state.calibrations))


def _state_weights(state: State, beside: Calibrated, calibrations: Sequence[Calibration]) -> StateWeights:
    profile, topology = beside.runs.profile, beside.topology
    arrivals = [arrivals_of(calibration, topology, profile.facts.cost) for calibration in calibrations]
    runs = [
        called(one.samples, one.partition_of, topology, of.there)
        for one, of in zip(calibrations, arrivals, strict=True)
    ]
    found = looks_of(runs, profile.facts.cost)
    crossings = crossing_costs(profile, topology, calibrations, found, beside.timing)
    waits = waits_of(np.concatenate([np.zeros(0), *(of.steps for of in arrivals)]), profile.facts.hz)
    looks = found.scaled(profile.closure.factor)
    arrival = calibrated_arrival(calibrations, waits, looks, entries_of(crossings, topology), profile.facts)
    return StateWeights(
        state=state,
        table=replace(with_crossings(beside.local, crossings, topology), arrival=arrival),
        calibrations=len(calibrations),
        unexplained=crossings.unexplained,
        waits=waits,
        looks=looks,
    )
