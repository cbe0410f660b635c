"""What a search in legs finds depends on nobody who walks them: not how many, how quick, nor who is lost."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from benchmarks.search.compare import NoStore, context_of
from benchmarks.search.networks import Recipe, case_of
from dse.base.errors import ExecutionError
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.distribution.crew import Crew, Hand, HandLost
from dse.explore.distribution.leg_run import LegRun
from dse.explore.distribution.processes import ProcessHand
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.mapping_bound import AtLeast, MappingBound
from dse.explore.method import SearchContext
from dse.explore.methods.improving import iterated_search
from dse.explore.methods.improving.descents import State
from dse.explore.methods.improving.leg import Leg, LegOutcome, Polish, mark_of, marks_of
from dse.explore.methods.improving.tabu import TabuJoint
from dse.explore.methods.registry import METHODS
from dse.explore.search import run_search
from dse.explore.space.space import Candidate
from dse.flows.program import unheard
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from dse.model.study import Evaluation, StopReason

CASE = case_of(Recipe(shape="irregular", actors=16, cores=4, gpu=False, room=4, seed=88_001), 400)
MANY = Budget(evaluations=500)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterated_search, "SOLO", 150)
    monkeypatch.setattr("dse.explore.methods.improving.leg.LEG_EVALUATIONS", 40)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return make_engine("compiled", CASE.problem)


@pytest.fixture(scope="module")
def context() -> SearchContext:
    known = context_of(CASE, 1)
    bounds = AtLeast(MappingBound(build_tables(CASE.problem), CASE.space), known.placement.least)
    return replace(known, keep=5, legs=True, bounds=bounds)


@pytest.fixture(scope="module")
def alone(engine: Engine, context: SearchContext) -> "Searched":
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iterated_search, "SOLO", 150)
        patch.setattr("dse.explore.methods.improving.leg.LEG_EVALUATIONS", 40)
        return searched(engine, context)


class Memory(NoStore):
    """A store in memory."""

    def __init__(self, known: Sequence[Evaluation] = ()) -> None:
        self.kept = {e.digest: e for e in known}

    def known(self) -> dict[str, Evaluation]:
        return dict(self.kept)

    def add(self, evaluation: Evaluation) -> None:
        self.kept[evaluation.digest] = evaluation


@dataclass(frozen=True, kw_only=True)
class Searched:
    evaluations: list[Evaluation]
    stop: StopReason
    simulated: int

    @property
    def found(self) -> list[tuple[int, str, int]]:
        return [(e.ordinal, e.digest, e.makespan) for e in self.evaluations]


def searched(
    engine: Engine,
    context: SearchContext,
    hands: Callable[[SearchContext], Sequence[Hand]] = lambda _: [],
    *,
    method: str = "iterated-search",
    budget: Budget = MANY,
    store: Memory | None = None,
) -> Searched:
    simulated = 0

    def estimate(points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
        nonlocal simulated
        simulated += len(points)
        return iter(engine.outcomes(points, limit))

    fresh = replace(context, rng=np.random.default_rng(1))
    evaluator = Evaluator(
        estimate, budget=budget, store=store or Memory(), clock=time.perf_counter, progress=unheard,
        cutting=Cutting(keep=5),
    )  # fmt: skip
    with closing(Crew(fresh, estimate, hands(fresh), clock=time.perf_counter, walks=not hands(fresh))) as crew:
        if evaluator.resumes:
            crew.replay(evaluator.stored)
        outcome = run_search(METHODS.load(method)(fresh), evaluator, None, crew=crew)
    return Searched(evaluations=evaluator.evaluations, stop=outcome.stop, simulated=simulated)


class Here:
    """A hand in a thread of this process; each leg goes through bytes, as to another process."""

    def __init__(self, engine: Engine, context: SearchContext, *, pause: float = 0.0, lost_at: int = -1) -> None:
        self.engine, self.context, self.pause, self.lost_at = engine, context, pause, lost_at
        self.walked: list[int] = []

    def begin(self) -> None:
        time.sleep(self.pause)

    def walk(self, leg: Leg) -> LegOutcome:
        if len(self.walked) == self.lost_at:
            raise HandLost
        sent = pickle.loads(pickle.dumps(leg))
        run = LegRun(sent, self.context, lambda p, limit: iter(self.engine.outcomes(p, limit)), time.perf_counter)
        while not run.done:
            run.step()
        time.sleep(self.pause)
        self.walked.append(leg.number)
        outcome: LegOutcome = pickle.loads(pickle.dumps(run.outcome()))
        return outcome

    def close(self) -> None:
        pass


def test_who_walks_changes_nothing(engine: Engine, context: SearchContext, alone: Searched) -> None:
    hands = [Here(engine, context), Here(engine, context, pause=0.03)]
    several = searched(engine, context, lambda _: hands)
    assert several.found == alone.found
    assert all(hand.walked for hand in hands)
    assert len(alone.found) == MANY.evaluations
    assert alone.stop == several.stop == "evaluations"


class Slow:
    """A hand that is never done."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.changed, self.released = threading.Event(), threading.Event()

    def begin(self) -> None:
        pass

    def walk(self, leg: Leg) -> LegOutcome:
        self.taken.append(leg.number)
        self.changed.set()
        self.released.wait()
        raise HandLost

    def close(self) -> None:
        self.released.set()


def test_a_hand_gets_the_next_leg_ahead_but_not_the_last_one(context: SearchContext) -> None:
    hand = Slow()
    with closing(Crew(context, lambda *_: iter(()), [hand, hand], clock=time.perf_counter)) as crew:
        for number in (0, 1):
            crew.give(Mock(spec=Leg, number=number))
        crew.get_ready()
        assert hand.changed.wait(10)
        time.sleep(0.05)
        assert hand.taken == [0]
        hand.changed.clear()
        crew.give(Mock(spec=Leg, number=2))
        assert hand.changed.wait(10)
        assert hand.taken == [0, 1]


def test_a_hand_that_is_lost_is_not_missed(engine: Engine, context: SearchContext, alone: Searched) -> None:
    hands = [Here(engine, context, lost_at=1), Here(engine, context, lost_at=2)]
    assert searched(engine, context, lambda _: hands).found == alone.found


def test_processes_find_the_same_and_one_that_is_killed_is_not_missed(
    engine: Engine, context: SearchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # a process has the constants of the module
    monkeypatch.setattr(iterated_search, "SOLO", 150)
    begun: list[ProcessHand] = []

    class Killed(ProcessHand):
        walked = 0

        def walk(self, leg: Leg) -> LegOutcome:
            self.walked += 1
            if self.walked == 2:
                assert self._process is not None
                os.kill(self._process.pid, signal.SIGKILL)
            return super().walk(leg)

    def hands(known: SearchContext) -> Sequence[Hand]:
        begun[:] = begun or [Killed(CASE.problem, "compiled", known)]
        return begun

    budget = Budget(evaluations=1_000)
    assert searched(engine, context, hands, budget=budget).found == searched(engine, context, budget=budget).found
    (hand,) = begun
    assert isinstance(hand, Killed)
    assert hand.walked == 2
    assert hand._process is not None
    assert hand._process.returncode == -signal.SIGKILL


def denied(*_: object) -> None:
    raise PermissionError


def test_a_process_takes_nothing_from_the_working_directory(
    context: SearchContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor does it need wide pipes, which a system has only some of for each user."""
    (tmp_path / "numpy.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((".", "", *sys.path)))  # as a user may have it
    monkeypatch.setattr("fcntl.fcntl", denied)
    with closing(ProcessHand(CASE.problem, "compiled", context)) as hand:
        hand.begin()


def test_a_process_loads_no_more_than_it_needs(context: SearchContext) -> None:
    """It is waited for: the flows alone take longer to load than it takes until it can walk."""
    given = pickle.dumps((CASE.problem, "compiled", context))
    code = (
        "import pickle, sys; from dse.explore.distribution import walker; walker._load_little()\n"
        "problem, name, context = pickle.load(sys.stdin.buffer)\n"
        "walker._load(walker.make_engine(name, problem), context)\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('scipy', 'cffi') or 'flows' in name])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["['cffi',", "'scipy']"], "names of what cannot be found"


def test_what_a_hand_raises_ends_the_search(engine: Engine, context: SearchContext) -> None:
    class Broken(Here):
        def walk(self, leg: Leg) -> LegOutcome:
            raise ExecutionError("the cluster is gone", expected="start it again")

    hand = Broken(engine, context)
    with pytest.raises(ExecutionError, match="the cluster is gone"):
        searched(engine, context, lambda _: [hand])


def test_a_search_goes_on_where_it_was_stopped(engine: Engine, context: SearchContext, alone: Searched) -> None:
    store = Memory()
    part = searched(engine, context, budget=Budget(evaluations=330), store=store)
    assert part.found == alone.found[:330]
    hand = Here(engine, context)
    rest = searched(engine, context, lambda _: [hand], store=Memory(list(store.kept.values())))
    assert rest.found == alone.found
    assert 0 not in hand.walked, "what is stored is not walked elsewhere"


def test_the_time_ends_a_search_within_a_leg(engine: Engine, context: SearchContext, alone: Searched) -> None:
    ended = searched(engine, context, budget=Budget(seconds=0.15))
    assert ended.stop == "seconds"
    assert ended.found == alone.found[: len(ended.found)] or len(ended.found) > len(alone.found)


def test_the_others_of_a_portfolio_have_their_turns(
    engine: Engine, context: SearchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PROVABLE", 1), ("PROVABLE_LATER", 1), ("PROGRAM_TURN", -1), ("LEGS_OF_ROUND", 30)):
        monkeypatch.setattr(f"dse.explore.methods.sampling.portfolio.{name}", value)
    turns: list[int] = []
    told = TabuJoint.tell

    def tell(self: TabuJoint, results: Sequence[Evaluation]) -> None:
        turns.append(len(results))
        told(self, results)

    monkeypatch.setattr(TabuJoint, "tell", tell)
    here, budget = Here(engine, context), Budget(evaluations=300)
    one = searched(engine, context, method="portfolio", budget=budget)
    in_legs = sum(turns)
    assert one.found == searched(engine, context, lambda _: [here], method="portfolio", budget=budget).found
    assert here.walked
    assert sum(turns) == 2 * in_legs > 0


def test_a_leg_does_not_try_what_was_known_when_it_set_out(engine: Engine, context: SearchContext) -> None:
    legs: list[Leg] = []

    class Noting(Here):
        def walk(self, leg: Leg) -> LegOutcome:
            legs.append(leg)
            return super().walk(leg)

    hand = Noting(engine, context)
    searched(engine, context, lambda _: [hand])
    last = max(legs, key=lambda leg: leg.number)
    run = LegRun(last, context, lambda p, limit: iter(engine.outcomes(p, limit)), time.perf_counter)
    while not run.done:
        run.step()
    again = Here(engine, context).walk(last)
    assert [e.digest for e in again.made] == [e.digest for e in run.outcome().made]
    assert len(last.seen) > 0
    assert not set(last.seen.tolist()) & set(again.marks.tolist())


def test_marks_tell_points_apart(context: SearchContext) -> None:
    rng, space = np.random.default_rng(0), context.space
    drawn = {space.random_assignment(rng) for _ in range(400)}
    candidates = [space.candidate(slots) for slots in sorted(drawn)]
    known = [candidate for candidate in candidates if candidate is not None]
    assert len(set(marks_of(known).tolist())) == len(known) > 390
    assert mark_of(replace(known[0], policy=1)) != mark_of(replace(known[0], capacity=1)) != mark_of(known[0])


def test_a_search_goes_on_from_what_polishing_has_improved(context: SearchContext) -> None:
    worse, better = (
        State(
            Candidate(assignment=context.space.random_assignment(np.random.default_rng(makespan))),
            Mock(spec=Evaluation, makespan=makespan, deadlock=False),
            (False, float(makespan)),
        )
        for makespan in (200, 100)
    )
    polish = Polish(state=worse)
    lane = iterated_search._Lane(work=polish, began=polish, era=0)
    course = iterated_search._Course(best=better, home=worse, failures=3)  # the best is noted before the end
    course.note_end(lane, better)
    assert (course.home, course.failures, course.era, course.may_polish) == (better, 0, 1, False)
    course.failures = 3
    course.note_end(lane, worse)
    assert (course.home, course.failures, course.era) == (better, 3, 1)
