"""The critical path is as long as the run, holds together by the words of the semantics, and slack is what it says."""

import dataclasses
import random
from collections import Counter

import numpy as np
import pytest

from dse.analyse.critical_path import critical_path, path_of_record, slack_of_record
from dse.base.errors import DseError
from dse.estimate.compiled import walk
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.compiled.record import RunRecord
from dse.estimate.compiled.walk import RecordWalk
from dse.model.critical_path import Cause, CriticalPath, SegmentKind, Segments
from tests.golden.turnus_cases import FOLDER, read_case
from tests.property.estimation_cases import Case, Shape, random_case
from tests.property.test_steps import any_case

N_CASES = 300
LATE_ARRIVALS = (325, 516)
"""Deadlocks whose last event is an arrival that nobody waits for."""


def recorded(case: Case) -> RunRecord | None:
    """The record of a case, None where its point cannot run."""
    try:
        return CompiledEngine(case.problem).record(case.point)[1]
    except DseError:
        return None


def holds_together(path: CriticalPath) -> bool:
    """Whether the segments go from 0 to the makespan without a gap."""
    s = path.segments
    if not len(s):
        return path.makespan == 0
    joined = bool((s.start[1:] == s.end[:-1]).all() and (s.ticks >= 0).all())
    return joined and s.start[0] == 0 and s.end[-1] == path.makespan and int(s.ticks.sum()) == path.makespan


def in_their_steps(s: Segments, record: RunRecord) -> bool:
    """Whether each segment lies in the step of its firing that its kind names."""
    pos = record.firing_base[s.actor] + s.firing
    begins = {
        SegmentKind.SCHEDULING: record.start,
        SegmentKind.READING: record.scheduled,
        SegmentKind.PROCESSING: record.read,
        SegmentKind.WRITING: record.computed,
    }
    ends = (record.scheduled, record.read, record.computed, record.end)
    for kind, end in zip(begins, ends, strict=True):
        mine = (s.kind == kind) & (s.ticks > 0)
        if (s.start[mine] < begins[kind][pos[mine]]).any() or (s.end[mine] > end[pos[mine]]).any():
            return False
    return True


class Moved:
    """How many tokens each firing of a trace moved before, counted plainly."""

    def __init__(self, record: RunRecord) -> None:
        topology = record.tables.topology
        self.made, self.taken = [], []
        for b in topology.buffers:
            for moved, actor, port, side in (
                (self.made, b.source, b.source_port, "writes"),
                (self.taken, b.target, b.target_port, "reads"),
            ):
                rates = [getattr(action, side)[port] for action in topology.actors[actor].actions]
                ids = record.firings[record.firing_base[actor] : record.firing_base[actor + 1]]
                moved.append(np.array(rates, dtype=np.int64)[ids].cumsum())


def faults(record: RunRecord, s: Segments) -> list[str]:  # ways: one case for each cause
    """What is wrong with the causes of a path, by plain counting."""
    moved, found = Moved(record), []
    topology, owner = record.tables.topology, record.point.partition_of(len(record.tables.topology.actors))
    early = record.point.release == "reading"
    for i in range(len(s)):
        cause, actor, firing = Cause(int(s.cause[i])), int(s.actor[i]), int(s.firing[i])
        begin, b = int(s.start[i]), int(s.cause_buffer[i])
        before, before_firing = (int(s.actor[i - 1]), int(s.firing[i - 1])) if i else (-1, -1)
        pos = int(record.firing_base[before]) + before_firing if i else -1
        if cause is Cause.START:
            good = i == 0 and begin == 0
        elif cause is Cause.STEP:
            good = (before, before_firing) == (actor, firing)
        elif cause is Cause.OWN:
            good = before == actor and before_firing < firing and record.end[pos] == begin
        elif cause is Cause.CORE:
            good = owner[before] == owner[actor] and record.end[pos] == begin and s.waited[i] > 0
        elif cause is Cause.TOKENS:
            buffer = topology.buffers[b]
            need = moved.taken[b][firing] - buffer.initial_tokens
            without = moved.made[b][before_firing - 1] if before_firing else 0
            good = (before, actor) == (buffer.source, buffer.target) and moved.made[b][before_firing] >= need
            good &= s.kind[i - 1] == SegmentKind.ARRIVAL or (without < need and begin <= record.end[pos])
        elif cause is Cause.ROOM:
            buffer = topology.buffers[b]
            need = moved.made[b][firing] + buffer.initial_tokens - record.capacities[b]
            without = moved.taken[b][before_firing - 1] if before_firing else 0
            freed = record.read[pos] if early else record.computed[pos]
            good = (before, actor) == (buffer.target, buffer.source) and moved.taken[b][before_firing] >= need
            good &= s.kind[i - 1] == SegmentKind.ARRIVAL or (without < need and freed == begin)
        elif cause is Cause.LINK:
            good = s.waited[i] > 0 and begin == s.end[i - 1]
        elif cause is Cause.PUBLISHED:
            good = before == actor and record.end[pos] == begin
        else:
            good = s.kind[i] == s.kind[i - 1] == SegmentKind.ARRIVAL
        if not good:
            found.append(f"segment {i}: {cause.name} after actor {before} firing {before_firing}")
    return found


def test_paths_of_random_cases_are_as_long_as_the_run_and_hold_together() -> None:
    causes: Counter[Cause] = Counter()
    kinds: Counter[SegmentKind] = Counter()
    deadlocks = 0
    for seed in range(N_CASES):
        record = recorded(any_case(seed))
        if record is None:
            continue
        path = path_of_record(record)
        assert holds_together(path), f"seed {seed}"
        assert in_their_steps(path.segments, record), f"seed {seed}"
        if not (record.order[1:] == record.order[:-1]).any():  # without blocks
            assert faults(record, path.segments) == [], f"seed {seed}"
        causes.update(map(Cause, path.segments.cause.tolist()))
        kinds.update(map(SegmentKind, path.segments.kind.tolist()))
        deadlocks += path.deadlock
    assert deadlocks > N_CASES // 8
    assert min(causes[c] for c in Cause if c is not Cause.LOOK) > 20 < min(kinds[k] for k in SegmentKind)
    assert causes[Cause.LOOK] > 0


def test_paths_of_the_golden_cases_are_as_long_as_their_runs() -> None:
    for folder in sorted(FOLDER.glob("case_*/case.txt")):
        case = read_case(folder)
        for number, run in enumerate(case.runs):
            point = case.point(run)
            _, record = CompiledEngine(case.problem(run)).record(point)
            path = path_of_record(record)
            assert holds_together(path), f"{folder.parent.name} {run.name}"
            if number % 8 == 0:
                assert faults(record, path.segments) == [], f"{folder.parent.name} {run.name}"


def test_path_of_an_estimate_is_that_of_its_record() -> None:
    case = any_case(4)
    estimate, record = CompiledEngine(case.problem).record(case.point)
    path = critical_path(case.problem, case.point, estimate)
    assert (path.segments.start == path_of_record(record).segments.start).all()
    assert (path.makespan, path.tick_unit) == (estimate.makespan, estimate.tick_unit)


def test_a_path_with_more_segments_than_there_is_room_for_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    case = any_case(4)
    _, record = CompiledEngine(case.problem).record(case.point)
    rows = RecordWalk(record).segments()
    monkeypatch.setattr(walk, "ROOM", 4)
    assert len(rows) > walk.ROOM
    assert (RecordWalk(record).segments() == rows).all()


def test_what_is_on_a_path_has_no_slack_and_nothing_has_less() -> None:
    slack_of_some = 0
    for seed in (*range(0, N_CASES, 2), *LATE_ARRIVALS):
        record = recorded(any_case(seed))
        if record is None:
            continue
        slack, s = slack_of_record(record), path_of_record(record).segments
        for actor, mine in enumerate(slack):
            made = record.start[record.firing_base[actor] : record.firing_base[actor + 1]] >= 0
            assert (mine[made] >= 0).all(), f"seed {seed}"
            assert (mine[~made] == -1).all(), f"seed {seed}"
            slack_of_some += bool((mine > 0).any())
        of_firings = s.kind != SegmentKind.ARRIVAL
        on_it = zip(s.actor[of_firings].tolist(), s.firing[of_firings].tolist(), strict=True)
        assert all(slack[a][f] == 0 for a, f in on_it), f"seed {seed}"
    assert slack_of_some > N_CASES // 4


def lengthened(case: Case, actor: int, firing: int, ticks: int) -> int:
    """The makespan if one firing computes longer."""
    longer = [np.zeros(len(ids), dtype=np.int64) for ids in case.problem.trace.firings]
    longer[actor][firing] = ticks
    problem = dataclasses.replace(case.problem, deviations=tuple(longer))
    return CompiledEngine(problem).record(case.point)[1].makespan


def test_slack_is_what_a_firing_may_take_longer_and_no_tick_more() -> None:
    """Where every actor has a core and tokens are seen at once no order changes, and slack is exact."""
    tried = 0
    shape = Shape(max_actors=6, max_firings=60, flowing=True)
    for seed in range(2_000):
        rng = random.Random(seed)
        case = random_case(rng, shape)
        if case.problem.platform.has_gpu or case.problem.weights.simd or case.problem.weights.arrival is not None:
            continue
        parallel = tuple(
            dataclasses.replace(p, policy="FULL_PARALLEL", cores=1, static_order=()) for p in case.point.partitions
        )
        case = dataclasses.replace(
            case, point=dataclasses.replace(case.point, partitions=parallel, release="processing")
        )
        record = recorded(case)
        if record is None or not record.complete or record.makespan == 0:
            continue
        slack = slack_of_record(record)
        actor = rng.choice([a for a, mine in enumerate(slack) if len(mine)])
        firing = rng.randrange(len(slack[actor]))
        allowed = int(slack[actor][firing])
        assert lengthened(case, actor, firing, allowed) == record.makespan, f"seed {seed}"
        assert lengthened(case, actor, firing, allowed + 1) == record.makespan + 1, f"seed {seed}"
        tried += 1
        if tried == 60:
            break
    assert tried == 60
