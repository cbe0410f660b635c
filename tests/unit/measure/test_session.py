"""Sessions of measurements, with a program that is made up."""

from dataclasses import dataclass, field

import numpy as np

from dse.measure.machine import RoundTrip
from dse.measure.runs import RunOrder, RunRecord
from dse.measure.session import Candidate, Patience, measure_candidates


@dataclass
class MadeUp:
    """Runs take what their input says; the state of the machine follows a list."""

    trips: list[tuple[float, float]]
    made: list[str] = field(default_factory=list)

    def run(self, order: RunOrder) -> RunRecord:
        assert order.input is not None
        self.made.append(order.input)
        before, after = self.trips[(len(self.made) - 1) % len(self.trips)]
        trip = RoundTrip(cores=(0, 1), before_ns=before, after_ns=after)
        return RunRecord(run_ns=int(order.input), result=f"r{order.input}", trips=(trip,), switches=1)


def candidates(*lengths: int, result: str | None = None) -> list[Candidate]:
    return [Candidate(name=f"c{n}", order=RunOrder(input=str(n)), result=result) for n in lengths]


def test_each_candidate_runs_once_a_round_in_changing_order() -> None:
    program = MadeUp([(90.0, 90.0)])
    told = []
    session = measure_candidates(
        program, candidates(10, 20, 30), Patience(rounds=6), np.random.default_rng(1), lambda *p: told.append(p)
    )
    rounds = [tuple(program.made[k : k + 3]) for k in range(0, 18, 3)]
    assert all(sorted(order) == ["10", "20", "30"] for order in rounds)
    assert len(set(rounds)) > 1
    assert told == [(run, k + 1, 18) for k, run in enumerate(session.runs)]
    assert session.of("near") == [[10.0] * 6, [20.0] * 6, [30.0] * 6]
    assert session.of("far") == [[], [], []]


def test_states_are_kept_apart_and_mixed_runs_left_out() -> None:
    program = MadeUp([(90.0, 90.0), (400.0, 410.0), (90.0, 400.0)])
    session = measure_candidates(program, candidates(10), Patience(rounds=9), np.random.default_rng(1))
    assert len(session.of("near")[0]) == 3
    assert len(session.of("far")[0]) == 3
    assert session.mixed == 3


def test_wrong_results_are_named_and_left_out() -> None:
    program = MadeUp([(90.0, 90.0)])
    session = measure_candidates(
        program, candidates(10, 20, result="r10"), Patience(rounds=2), np.random.default_rng(1)
    )
    assert session.wrong == ("c20",)
    assert session.of("near") == [[10.0, 10.0], []]


def test_time_ends_a_session_after_a_whole_round() -> None:
    program = MadeUp([(90.0, 90.0)])
    times = iter(range(100))
    session = measure_candidates(
        program,
        candidates(1, 2),
        Patience(rounds=50, seconds=3.0),
        np.random.default_rng(1),
        clock=lambda: float(next(times)),
    )
    assert session.rounds == 3
    assert len(session.runs) == 6
