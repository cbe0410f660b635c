"""Making a profile: which runs are made, and what becomes of their records.

One core: first a timed run that shows which actions are long against the counter, then rounds of a plain run, a timed
one in which those are timed singly and a timed one in which none is, in random order. Several cores: rounds over the
calibration mappings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dse.base.errors import ExecutionError
from dse.measure.action_costs import ActorCosts
from dse.measure.counter import CounterFacts
from dse.measure.crossing import Calibration
from dse.measure.machine import RoundTrip, State
from dse.measure.profile import Profile, make_profile
from dse.measure.raw_records import read_samples
from dse.measure.runs import Program, RunOrder, RunRecord
from dse.measure.samples import Samples
from dse.model.trace import FiringIds, Topology, firing_ids
from dse.native.result import read_trace

Heard = Callable[[str], None]
"""Hears what is being done."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimedRun:
    """A timed run: its records, the firings of each actor, and what else is known of it."""

    record: RunRecord
    samples: Samples
    firings: tuple[FiringIds, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileRuns:
    """A profile and the runs that it was made from. ``singly``: (actor, action) that were timed one by one.

    ``timed``: with them, ``visits``: timed without them, where there are any.
    """

    profile: Profile
    timed: tuple[TimedRun, ...]
    visits: tuple[TimedRun, ...]
    plain: tuple[RunRecord, ...]
    singly: tuple[tuple[int, int], ...]

    @property
    def firings(self) -> tuple[FiringIds, ...]:
        """The firings of each actor."""
        return self.timed[0].firings

    @property
    def trips(self) -> tuple[RoundTrip, ...]:
        """The round trips around all runs."""
        records = (*(run.record for run in (*self.timed, *self.visits)), *self.plain)
        return tuple(trip for record in records for trip in record.trips)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMapping:
    """A mapping on several cores to run: its file, the partition of each actor, whether its own estimate is wanted.

    ``every``: of the visits of each thread one in so many is timed.
    """

    path: Path
    owners: tuple[int, ...]
    in_place: bool = False
    every: int = 1


class Profiler:
    """Makes timed runs of one program on one input. ``folder``: for its files; each is deleted when it was read.

    ``elsewhere``: actors that run on no core, of which the records say nothing.
    """

    def __init__(
        self,
        program: Program,
        topology: Topology,
        facts: CounterFacts,
        input_: str | None,
        folder: Path,
        elsewhere: frozenset[int] = frozenset(),
    ) -> None:
        self._program = program
        self._topology = topology
        self._facts = facts
        self._input = input_
        self._folder = folder
        self._elsewhere = elsewhere

    def profile(
        self, runs: int, rng: np.random.Generator, *, mapping: Path | None = None, heard: Heard = lambda _: None
    ) -> ProfileRuns:
        """Return the profile of ``runs`` timed runs; with a ``mapping``, of the network in that very configuration.

        Raises:
            ExecutionError: a run fails, or the runs do not do the same.
        """
        heard("profiling: finding the long actions")
        first = self.timed_run(mapping)
        rough = self._made([first], [], [first.record])
        singly = tuple(pair for costs in rough.actors for pair in long_actions(costs, self._facts))
        timed, visits, plain = list[TimedRun](), list[TimedRun](), list[RunRecord]()
        kinds = ("timed", "visits", "plain") if singly else ("timed", "plain")
        for k in range(runs):
            heard(f"profiling: run {k + 1} of {runs}")
            for kind in rng.permutation(kinds).tolist():
                if kind == "timed":
                    timed.append(self.timed_run(mapping, singly, first.firings))
                elif kind == "visits":
                    visits.append(self.timed_run(mapping, (), first.firings))
                else:
                    plain.append(self._program.run(RunOrder(input=self._input, mapping=mapping)))
        _require_same([first, *timed, *visits], plain)
        return ProfileRuns(
            profile=self._made(timed, visits, plain),
            timed=tuple(timed),
            visits=tuple(visits),
            plain=tuple(plain),
            singly=singly,
        )

    def firings(self, mapping: Path | None = None) -> tuple[FiringIds, ...]:
        """Return the firings of each actor in a run that is not timed. Raises ``ExecutionError`` where it fails."""
        trace = self._folder / "trace"
        try:
            self._program.run(RunOrder(input=self._input, mapping=mapping, trace=trace))
            return self._read_firings(trace)
        finally:
            trace.unlink(missing_ok=True)

    def _read_firings(self, trace: Path) -> tuple[FiringIds, ...]:
        pairs = zip(self._topology.actors, read_trace(trace), strict=True)
        return tuple(
            firing_ids(actor, ids[:0] if index in self._elsewhere else ids) for index, (actor, ids) in enumerate(pairs)
        )

    def timed_run(
        self,
        mapping: Path | None = None,
        singly: tuple[tuple[int, int], ...] = (),
        known: tuple[FiringIds, ...] | None = None,
        every: int = 1,
    ) -> TimedRun:
        """Make one timed run. Raises ``ExecutionError`` where it fails.

        ``known``: the firings of each actor, where they are the same as in an earlier run: writing them takes time.
        ``every``: of the visits of a thread one in so many is timed.
        """
        records, trace = self._folder / "records", self._folder / "trace"
        order = RunOrder(input=self._input, mapping=mapping, timed=True, records=records, singly=singly, every=every)
        try:
            record = self._program.run(order if known is not None else replace(order, trace=trace))
            samples = read_samples(records, len(self._topology.actors))
            firings = self._read_firings(trace) if known is None else known
        finally:
            # The records stay readable: they are mapped.
            records.unlink(missing_ok=True)
            trace.unlink(missing_ok=True)
        return TimedRun(record=record, samples=samples, firings=firings)

    def alone(self, runs: int, every: int, known: tuple[FiringIds, ...], mapping: Path | None = None) -> list[Samples]:
        """Return runs on one core in which visits are timed in turns. Raises ``ExecutionError`` where one fails."""
        return [self.timed_run(mapping, known=known, every=every).samples for _ in range(runs)]

    def calibrations(
        self,
        mappings: Sequence[CalibrationMapping],
        runs: int,
        rng: np.random.Generator,
        heard: Heard = lambda _: None,
        like: TimedRun | None = None,
    ) -> dict[State, list[Calibration]]:
        """Return timed runs on several cores by state of the machine; those in a changing state are left out.

        ``like``: a run on one core. Writing firings takes time; where a run computes the same, those are its firings.
        Raises ``ExecutionError`` where a run fails.
        """
        found: dict[State, list[Calibration]] = {}
        for k in range(runs):
            heard(f"calibrating: round {k + 1} of {runs}, {len(mappings)} mappings")
            for index in rng.permutation(len(mappings)).tolist():
                mapping = mappings[index]
                run = self._like(mapping, like)
                state = run.record.state
                if state is not None:
                    calibration = Calibration(
                        partition_of=mapping.owners,
                        samples=run.samples,
                        firings=run.firings,
                        in_place=mapping.in_place,
                        trips=run.record.trips,
                    )
                    found.setdefault(state, []).append(calibration)
        return found

    def _like(self, mapping: CalibrationMapping, like: TimedRun | None) -> TimedRun:
        """Return a timed run of a mapping, with the firings of another one if it computes the same."""
        if like is not None:
            run = self.timed_run(mapping.path, known=like.firings, every=mapping.every)
            if run.record.result == like.record.result:
                return run
        return self.timed_run(mapping.path, every=mapping.every)

    def _made(self, timed: Sequence[TimedRun], visits: Sequence[TimedRun], plain: Sequence[RunRecord]) -> Profile:
        alone = all(len(run.samples.threads) == 1 for run in timed) and not self._elsewhere
        lengths = [float(record.run_ns if record.cpu_ns is None or not alone else record.cpu_ns) for record in plain]
        runs, without = ([run.samples for run in some] for some in (timed, visits))
        try:
            return make_profile(runs, self._topology, timed[0].firings, lengths, self._facts, without, alone=alone)
        except ValueError as error:
            raise ExecutionError(f"the records of the timed program do not fit its trace: {error}") from error


def long_actions(costs: ActorCosts, facts: CounterFacts) -> list[tuple[int, int]]:
    """Return (actor, action) of the actions that are long enough to be timed singly."""
    return [
        (costs.actor, action)
        for action, of_action in enumerate(costs.actions)
        if of_action is not None and of_action.total >= facts.long_steps
    ]


def _require_same(timed: Sequence[TimedRun], plain: Sequence[RunRecord]) -> None:
    """Raise ``ExecutionError`` where runs did different things."""
    results = {record.result for record in (*(run.record for run in timed), *plain)}
    if len(results) > 1:
        raise ExecutionError(
            f"{len(timed) + len(plain)} runs of the program had {len(results)} different results",
            expected="a profile needs runs that repeat: the network may depend on time, or on a file that it changes",
        )
