"""Measuring many candidates side by side: each once a round, in a new random order each round.

What disturbs the machine for a while so disturbs all candidates alike, not the one that was measured then. Every run is
put down to the state of the machine that it had from beginning to end; runs in a changing state are left out.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dse.measure.doubtful_runs import RunFigures, run_figures
from dse.measure.machine import RoundTrip, State
from dse.measure.runs import Program, RunOrder

STATES: tuple[State, ...] = ("near", "far")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What is measured: a name for reports, how it is run, and the result that it must have (None: any)."""

    name: str
    order: RunOrder
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """One run of a candidate. ``state`` None: the machine changed; ``wrong``: it computed something else."""

    candidate: int
    round: int
    run_ns: int
    state: State | None
    trips: tuple[RoundTrip, ...]
    switches: int | None
    wrong: bool
    stalls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """All runs of some candidates, in the order of their making.

    ``rounds``: that are whole; ``interrupted``: by the user, so that the last one may not be.
    """

    candidates: tuple[Candidate, ...]
    runs: tuple[MeasuredRun, ...]
    rounds: int
    interrupted: bool = False

    def of(self, state: State) -> list[list[float]]:
        """Return the lengths in ns of the good runs of each candidate in a state, in the order of their making."""
        found: list[list[float]] = [[] for _ in self.candidates]
        for run in self.runs:
            if run.state == state and not run.wrong:
                found[run.candidate].append(float(run.run_ns))
        return found

    @property
    def trips(self) -> tuple[RoundTrip, ...]:
        """The round trips around all runs."""
        return tuple(trip for run in self.runs for trip in run.trips)

    @property
    def mixed(self) -> int:
        """Runs that were left out because the state of the machine changed."""
        return sum(run.state is None for run in self.runs)

    @property
    def figures(self) -> tuple[RunFigures, ...]:
        """Lengths and stalls of the candidates that have runs which count."""
        found = []
        for index, candidate in enumerate(self.candidates):
            runs = [run for run in self.runs if run.candidate == index and not run.wrong and run.state is not None]
            if runs:
                found.append(run_figures(candidate.name, [run.run_ns for run in runs], [run.stalls for run in runs]))
        return tuple(found)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Names of the candidates that computed something else in some run."""
        found = {run.candidate for run in self.runs if run.wrong}
        return tuple(self.candidates[index].name for index in sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to measure: at least ``rounds``, and no further round after ``seconds``.

    The first round is made whatever it takes.
    """

    rounds: int
    seconds: float | None = None


def measure_candidates(
    program: Program,
    candidates: Sequence[Candidate],
    patience: Patience,
    rng: np.random.Generator,
    heard: Callable[[MeasuredRun, int, int], None] = lambda _run, _done, _all: None,
    clock: Callable[[], float] = time.monotonic,
    between: Callable[[State], None] = lambda _state: None,
) -> Session:
    """Run every candidate once a round; ``heard`` is told of each run as it ends: the how many-th of how many it is.

    ``between``: is called after each round with the state of the machine, where its last run had one. An interrupt
    behind the first run ends the session.

    Raises:
        ExecutionError: a run fails. KeyboardInterrupt: there is no run yet.
    """
    started, runs, rounds, interrupted = clock(), list[MeasuredRun](), 0, False
    try:
        while rounds < patience.rounds:
            if rounds and patience.seconds is not None and clock() - started >= patience.seconds:
                break
            for index in rng.permutation(len(candidates)).tolist():
                runs.append(_measured(program, candidates[index], index, rounds))
                heard(runs[-1], len(runs), patience.rounds * len(candidates))
            rounds += 1
            if runs and (state := runs[-1].state) is not None:
                between(state)
    except KeyboardInterrupt:
        if not runs:
            raise
        interrupted = True
    return Session(candidates=tuple(candidates), runs=tuple(runs), rounds=rounds, interrupted=interrupted)


def _measured(program: Program, candidate: Candidate, index: int, round_: int) -> MeasuredRun:
    record = program.run(candidate.order)
    return MeasuredRun(
        candidate=index,
        round=round_,
        run_ns=record.run_ns,
        state=record.state,
        trips=record.trips,
        switches=record.switches,
        wrong=candidate.result is not None and record.result != candidate.result,
        stalls=record.stalls,
    )
