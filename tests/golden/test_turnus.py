"""Agreement with the real TURNUS engine (``estimation.md``, section Agreement with TURNUS)."""

import statistics
from dataclasses import dataclass
from functools import cache

import pytest

from dse.estimate.deadlock import parks_capacities
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from tests.golden.turnus_cases import FOLDER, Run, TurnusCase, expected, read_case

FLAG_DIFFERENCES = {
    ("case_05", "m2-ROUND_ROBIN-b4-c0-s0-r0"): (
        "TURNUS stops at 1136 and calls it a deadlock. It is spurious: firing without time completes with these "
        "capacities, so that no order of firings can get stuck; with scheduling costs, or with the other release mode, "
        "TURNUS completes the same mapping too. It notices freed space late and forgets to look again."
    ),
}
"""Runs where the deadlock flags differ, each with the reason. The flag here is False in all of them."""


@dataclass(frozen=True)
class Outcome:
    case: str
    run: Run
    makespan: int
    deadlock: bool
    turnus_makespan: float
    turnus_deadlock: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.run.name

    @property
    def identical(self) -> bool:
        return self.makespan == self.turnus_makespan and self.deadlock == self.turnus_deadlock

    @property
    def kind(self) -> str:
        """The class of a run in estimation.md."""
        mapping = self.run.name[:2]
        if mapping == "m1" or (mapping == "mN" and not self.run.communication):
            return "exact"
        if mapping in ("m2", "m3") and not self.run.communication and self.run.capacity == 1000:
            return "nearly exact"
        return "other"


@cache
def cases() -> dict[str, TurnusCase]:
    return {path.parent.name: read_case(path) for path in sorted(FOLDER.glob("case_*/case.txt"))}


@cache
def outcomes(engine: str) -> tuple[Outcome, ...]:
    found: list[Outcome] = []
    runs = {(name, run.name): run for name, case in cases().items() for run in case.runs}
    engines = {}
    for line in expected():
        name, run = line["case"], runs[line["case"], line["run"]]
        case = cases()[name]
        weights = (name, run.communication, run.scheduling)
        if weights not in engines:
            engines[weights] = make_engine(engine, case.problem(run))
        estimate = engines[weights].estimate(case.point(run))
        found.append(
            Outcome(
                case=name,
                run=run,
                makespan=estimate.makespan,
                deadlock=estimate.deadlock is not None,
                turnus_makespan=line["makespan"],
                turnus_deadlock=line["deadlock"],
            )
        )
    return tuple(found)


ALL_ENGINES = pytest.mark.parametrize("engine", ENGINES.names())


@ALL_ENGINES
def test_all_runs_are_there(engine: str) -> None:
    kinds = [outcome.kind for outcome in outcomes(engine)]
    assert len(kinds) == 864
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {"exact": 336, "nearly exact": 96, "other": 432}


@ALL_ENGINES
def test_one_partition_and_free_transfers_agree_exactly(engine: str) -> None:
    assert [o for o in outcomes(engine) if o.kind == "exact" and not o.identical] == []


@ALL_ENGINES
def test_two_or_three_partitions_with_room_agree_nearly_always(engine: str) -> None:
    nearly = [o for o in outcomes(engine) if o.kind == "nearly exact"]
    assert sum(o.identical for o in nearly) >= 0.97 * len(nearly)


@ALL_ENGINES
def test_the_other_makespans_are_close(engine: str) -> None:
    differences = sorted(
        abs(o.makespan - o.turnus_makespan) / o.turnus_makespan
        for o in outcomes(engine)
        if o.kind == "other" and not o.deadlock and not o.turnus_deadlock
    )
    assert len(differences) > 200
    assert statistics.median(differences) < 0.005
    assert differences[int(0.95 * len(differences))] < 0.02


@ALL_ENGINES
def test_every_difference_of_the_deadlock_flag_is_explained(engine: str) -> None:
    differing = {o.key for o in outcomes(engine) if o.deadlock != o.turnus_deadlock}
    assert differing == set(FLAG_DIFFERENCES)


@pytest.mark.parametrize("key", sorted(FLAG_DIFFERENCES))
def test_the_explanation_is_true(key: tuple[str, str]) -> None:
    case = cases()[key[0]]
    run = next(run for run in case.runs if run.name == key[1])
    prepared = prepare(build_tables(case.problem(run)), case.point(run))
    assert parks_capacities(prepared) == prepared.capacities  # firing without time never lacks space
    siblings = {
        (line["run"], line["deadlock"])
        for line in expected()
        if line["case"] == key[0] and line["run"].startswith(key[1].rsplit("-c", 1)[0])
    }
    assert (key[1], True) in siblings
    assert (key[1].replace("-s0-", "-s1-"), False) in siblings
    assert (key[1].replace("-r0", "-r1"), False) in siblings
