"""Study files just beyond what is sound: locks without a write, numbers that are off by one, tables with gaps."""

import sqlite3
from pathlib import Path

import pytest

from dse.base.errors import FormatError, OptionError
from dse.formats.study_file import StudyStore, create_study, resume_study
from dse.model.design_point import DesignPoint, Partition
from dse.model.study import Evaluation
from tests.unit.explore.fakes import chain
from tests.unit.explore.studies import edit

TOPOLOGY = chain(3)
POINT = DesignPoint(
    partitions=(
        Partition(name="P", actors=(0, 2), unit="cpu", policy="STATIC_ORDER", static_order=(2, 0)),
        Partition(name="Q", actors=(1,), unit="cpu"),
    ),
    capacities=(4, 4),
)


def evaluation(ordinal: int, point: DesignPoint) -> Evaluation:
    return Evaluation.of(
        ordinal=ordinal, point=point, digest=point.digest(), makespan=7, tick_unit="ps", deadlock=False,
        partitions=(), seconds=0.5,
    )  # fmt: skip


def stored(path: Path) -> StudyStore:
    store = create_study(path, TOPOLOGY, {"seed": "1"}, {})
    store.add(evaluation(0, POINT))
    return store


def test_a_search_that_has_not_written_yet_holds_the_file_too(tmp_path: Path) -> None:
    stored(tmp_path / "s.sqlite").close()
    first = resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {})
    with pytest.raises(OptionError, match="cannot use the study"):
        resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {})
    first.close()
    resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {}).close()


@pytest.mark.parametrize("wish", [{"seed": "2"}, {}, {"seed": "1", "more": "x"}])
def test_a_refused_search_lets_go_of_the_file(tmp_path: Path, wish: dict[str, str]) -> None:
    stored(tmp_path / "s.sqlite").close()
    with pytest.raises(OptionError, match="was made from other inputs"):
        resume_study(tmp_path / "s.sqlite", TOPOLOGY, wish, {})
    resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {}).close()


DAMAGES = (
    "UPDATE part SET static_order = '[2,3]' WHERE static_order != '[]'",  # of three actors
    "UPDATE part SET static_order = '[-1]' WHERE static_order != '[]'",
    "UPDATE evaluation SET members = x'010201000203'",  # two and one: 0, 2 and 3
    "INSERT INTO part SELECT 3, 'R', unit, policy, cores, static_order, clock_mhz, x'' FROM part WHERE number = 1",
    "INSERT INTO setting SELECT 2, '[5,5]', release, transfers, name, row_digest FROM setting",
    "INSERT INTO setting SELECT 1, capacities_tokens, release, transfers, name, row_digest FROM setting",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_off_by_one_is_told(tmp_path: Path, damage: str) -> None:
    store = stored(tmp_path / "s.sqlite")
    store.close()
    database = sqlite3.connect(tmp_path / "s.sqlite")
    assert database.execute("SELECT hex(members) FROM evaluation").fetchone() == ("010201000201",)
    assert database.execute(damage).rowcount == 1
    database.commit()
    database.close()
    edit(tmp_path / "s.sqlite", sealed=True)
    with pytest.raises(FormatError, match="study file cannot be read"):
        resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {}).known()


def test_tables_without_gaps_may_hold_more_than_is_used(tmp_path: Path) -> None:
    stored(tmp_path / "s.sqlite").close()
    database = sqlite3.connect(tmp_path / "s.sqlite")
    database.execute("INSERT INTO setting SELECT 1, '[5,5]', release, transfers, name, row_digest FROM setting")
    database.commit()
    database.close()
    edit(tmp_path / "s.sqlite", sealed=True)
    store = resume_study(tmp_path / "s.sqlite", TOPOLOGY, {"seed": "1"}, {})
    wider = DesignPoint(partitions=POINT.partitions, capacities=(6, 6))
    store.add(evaluation(1, wider))
    store.commit()
    assert [e.point for e in store.known().values()] == [POINT, wider]
    store.close()
