"""The recorded steps of firings equal those that the reference engine makes, in every integer."""

import dataclasses
import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from dse.analyse.steps import steps_of, steps_of_record
from dse.base.errors import DseError
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.engine import make_engine
from dse.estimate.reference.actor import ActorModel
from tests.property.estimation_cases import Case, random_case, with_deviations
from tests.property.test_engines_agree import FLOWING, SHAPES

N_CASES = 160

Steps = dict[int, list[tuple[int, ...]]]


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    """Steps of each actor's firings as the reference engine makes them: t, t1, t2, t3, t4."""
    seen: Steps = {}
    under_way: dict[int, list[int]] = {}
    fire, process, end = ActorModel.start, ActorModel._process_until, ActorModel.end

    def watched_fire(self: ActorModel, previous: int, more: int, now: int) -> None:
        before = self.scheduling
        under_way[self.index] = [now]
        fire(self, previous, more, now)
        under_way[self.index].insert(1, now + self.scheduling - before)

    def watched_process(self: ActorModel, until: int) -> None:
        process(self, until)
        under_way[self.index] += [until - self._compute, until]

    def watched_end(self: ActorModel, now: int) -> None:
        steps = (*under_way[self.index], now)
        seen.setdefault(self.index, []).extend([steps] * self._block.firings)
        end(self, now)

    with monkeypatch.context() as patch:
        patch.setattr(ActorModel, "start", watched_fire)
        patch.setattr(ActorModel, "_process_until", watched_process)
        patch.setattr(ActorModel, "end", watched_end)
        yield seen


def any_case(seed: int) -> Case:
    """A case with all that the semantics knows: links, blocks, arrival, deviations, every policy, deadlocks."""
    case = random_case(random.Random(seed), (*SHAPES, *FLOWING)[seed % 6])
    return with_deviations(random.Random(seed), case) if seed % 4 == 3 else case


def test_steps_are_those_of_the_reference_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = logged = unmade = 0
    for seed in range(N_CASES):
        case = any_case(seed)
        try:
            with watched(monkeypatch) as expected:
                (estimate,) = make_engine("reference", case.problem).estimates([case.point])  # seeks no remedy
        except DseError:
            continue
        found, record = CompiledEngine(case.problem).record(case.point)
        assert (found.makespan, found.actors) == (estimate.makespan, estimate.actors)
        logged += len(record.log.position)
        for actor, steps in enumerate(steps_of_record(record)):
            rows = list(zip(*(a.tolist() for a in dataclasses.astuple(steps)), strict=True))
            made = expected.get(actor, [])
            assert rows == made + [(-1,) * 5] * (len(rows) - len(made)), f"seed {seed}, actor {actor}"
            unmade += len(rows) - len(made)
            order = record.order[record.firing_base[actor] : record.firing_base[actor + 1]].tolist()
            blocks += sum(a == b >= 0 for a, b in pairwise(order))
    assert min(blocks, logged, unmade) > 100


def test_order_is_that_of_the_starts_through_all_actors() -> None:
    for seed in range(0, 60, 3):
        case = any_case(seed)
        _, record = CompiledEngine(case.problem).record(case.point)
        made = record.order >= 0
        numbers = sorted(set(record.order[made].tolist()))
        assert numbers == list(range(len(numbers)))
        by_order = record.start[made][record.order[made].argsort(kind="stable")]
        assert (by_order[1:] >= by_order[:-1]).all()


def test_steps_of_another_point_are_refused() -> None:
    case = any_case(0)
    estimate = make_engine("compiled", case.problem).estimate(case.point)
    assert len(steps_of(case.problem, case.point, estimate)) == len(case.problem.trace.topology.actors)
    wrong = dataclasses.replace(estimate, makespan=estimate.makespan + 1)
    with pytest.raises(AssertionError, match="another point"):
        steps_of(case.problem, case.point, wrong)
