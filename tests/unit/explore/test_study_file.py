"""What is put into a study file comes back exactly, also by nothing but the description that the file carries."""

import json
import pickle
import random
import sqlite3
import zlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dse.base.errors import FormatError
from dse.formats.study_file import create_study, resume_study
from dse.model.design_point import POLICIES, DesignPoint, Partition
from dse.model.estimate import PartitionAccount
from dse.model.packed_point import pack_point
from dse.model.study import Evaluation
from dse.model.trace import Topology
from tests.unit.explore.fakes import chain

ACCOUNT = ("scheduling", "reading", "processing", "writing", "link_waiting", "unoccupied", "cores")


def random_point(rng: random.Random, topology: Topology, capacities: list[tuple[int, ...]]) -> DesignPoint:
    """A point with everything that a point may have; the actors of a partition in any order."""
    n = len(topology.actors)
    actors = rng.sample(range(n), n)
    n_partitions = rng.randint(1, min(n, rng.choice((2, 16, 300))))
    cuts = [0, *sorted(rng.sample(range(1, n), n_partitions - 1)), n]
    partitions = []
    for index in range(n_partitions):
        members = tuple(actors[cuts[index] : cuts[index + 1]])
        if rng.random() < 0.7:
            members = tuple(sorted(members))
        unit = rng.choice(("cpu", "gpu", "cœur 2"))
        policy = rng.choice(POLICIES)
        order = tuple(rng.choices(members, k=rng.randint(1, 5))) if policy == "STATIC_ORDER" else ()
        partitions.append(
            Partition(
                name=rng.choice((f"P{index}", f"PG on {unit}", "")), actors=members, unit=unit, policy=policy,
                cores=len(members) if policy == "FULL_PARALLEL" else rng.choice((1, 1, 4, 300)), static_order=order,
                clock_mhz=rng.choice((None, None, Fraction(1200), Fraction(10**9, 3))),
            )
        )  # fmt: skip
    return DesignPoint(
        partitions=tuple(partitions), capacities=rng.choice(capacities), release=rng.choice(("reading", "processing")),
        transfers=rng.choice(("sequential", "parallel")), name=rng.choice(("", "", "by hand")),
    )  # fmt: skip


def random_evaluation(rng: random.Random, ordinal: int, topology: Topology, point: DesignPoint) -> Evaluation:
    kind = rng.choice(("plain", "plain", "deadlock", "cut", "bare"))
    most = 10 ** rng.randint(0, 17)
    times = [[rng.randint(0, most) for _ in ACCOUNT] for _ in point.partitions]
    return Evaluation.of(
        ordinal=ordinal, point=point, digest=point.digest(), makespan=rng.randint(0, most),
        tick_unit=rng.choice(("ps", "cycles")), deadlock=kind == "deadlock", seconds=rng.random(), cut=kind == "cut",
        partitions=() if kind == "cut" else [PartitionAccount(**dict(zip(ACCOUNT, t, strict=True))) for t in times],
        waiting=() if kind in ("cut", "bare") else [rng.randint(0, most) for _ in topology.actors],
    )  # fmt: skip


def random_study(
    seed: int, n_actors: int, count: int = 40
) -> tuple[Topology, dict[str, DesignPoint], list[Evaluation]]:
    """Evaluations of points that are all different, with their points."""
    rng, topology = random.Random(seed), chain(n_actors)
    capacities = [tuple(rng.randint(1, 2**40) for _ in topology.buffers) for _ in range(3)]
    points = [random_point(rng, topology, capacities) for _ in range(count)]
    known = {point.digest(): point for point in points}
    found = [random_evaluation(rng, i, topology, point) for i, point in enumerate(known.values())]
    return topology, known, found


SIZES = pytest.mark.parametrize(("seed", "n_actors"), [(1, 2), (2, 7), (3, 60), (4, 200), (5, 300), (6, 700)])


@SIZES
def test_what_is_stored_comes_back(tmp_path: Path, seed: int, n_actors: int) -> None:
    topology, points, found = random_study(seed, n_actors)
    path = tmp_path / "s.sqlite"
    half = len(found) // 2
    for part in (found[:half], found[half:]):  # what the second run adds uses the numbers of the first one
        store = resume_study(path, topology, {}, {}) if path.exists() else create_study(path, topology, {}, {})
        known = store.known()
        for evaluation in part:
            store.add(evaluation)
        store.close()
    assert list(known.values()) == found[:half]
    store = resume_study(path, topology, {}, {})
    again = store.known()
    assert list(again.values()) == found
    assert list(again) == [e.digest for e in found]
    for digest, evaluation in again.items():
        assert evaluation.point == points[digest]
        assert evaluation.point.digest() == digest
        assert evaluation.n_partitions == len(points[digest].partitions)
    store.add(better := replace(found[3], makespan=1, cut=False))
    assert store.known()[better.digest] == better
    assert len(store.known()) == len(found)
    store.close()


@SIZES
def test_an_evaluation_is_its_parts(seed: int, n_actors: int) -> None:
    _, points, found = random_study(seed, n_actors)
    for evaluation in found:
        point, accounts, waiting = evaluation.point, evaluation.partitions, evaluation.waiting
        assert point == points[evaluation.digest]
        assert pack_point(point) == evaluation.packed
        assert pack_point(point).layout is evaluation.packed.layout
        again = Evaluation.of(
            ordinal=evaluation.ordinal, point=point, digest=point.digest(), makespan=evaluation.makespan,
            tick_unit=evaluation.tick_unit, deadlock=evaluation.deadlock, partitions=accounts, waiting=waiting,
            seconds=evaluation.seconds, cut=evaluation.cut,
        )  # fmt: skip
        assert again == evaluation == pickle.loads(pickle.dumps(evaluation))
        assert hash(again) == hash(evaluation)
        assert evaluation != replace(evaluation, times=b"") or not evaluation.times
        assert len(accounts) in (0, len(point.partitions))


def test_times_come_back_as_they_were() -> None:
    account = PartitionAccount(
        scheduling=0, reading=2**64, processing=3, writing=-1, link_waiting=5, unoccupied=300, cores=2
    )  # fmt: skip
    point = DesignPoint(partitions=(Partition(name="P", actors=(0,), unit="u"),) * 2, capacities=())
    for accounts, waiting in (((account, account), (7, 0)), ((account,), ()), ((), (9,)), ((), ())):
        evaluation = Evaluation.of(
            ordinal=0, point=point, digest="", makespan=1, tick_unit="ps", deadlock=False, partitions=accounts,
            seconds=0.0, waiting=waiting,
        )  # fmt: skip
        assert (evaluation.partitions, evaluation.waiting) == (accounts, waiting)


def integers_of_the_page() -> Callable[[bytes], list[int]]:
    """The function that the documentation gives."""
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text()
    block = page.partition("## The study file")[2].partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {"zlib": zlib}
    exec(block, names)
    function: Callable[[bytes], list[int]] = names["integers"]
    return function


def read_by_the_comments(path: Path) -> list[dict[str, Any]]:
    """All evaluations of a study file, read with nothing of ``dse``."""
    integers = integers_of_the_page()
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    parts = {row["number"]: dict(row) for row in database.execute("SELECT * FROM part")}
    settings = {row["number"]: dict(row) for row in database.execute("SELECT * FROM setting")}
    found = []
    for row in database.execute("SELECT *, lower(hex(digest)) AS id FROM evaluation ORDER BY ordinal"):
        members, times, numbers = integers(row["members"]), integers(row["times"]), integers(row["parts"])
        sizes, actors = members[: len(numbers)], members[len(numbers) :]
        partitions = [
            {**parts[number], "actors": [actors.pop(0) for _ in range(size)]}
            for number, size in zip(numbers, sizes, strict=True)
        ]
        n = times.pop(0) if times else 0
        columns = [[times.pop(0) for _ in range(n)] for _ in ACCOUNT]
        found.append({
            **dict(row), "partitions": partitions, "setting": settings[row["setting"]],
            "accounts": [list(account) for account in zip(*columns, strict=True)], "waiting": times,
        })  # fmt: skip
    database.close()
    return found


@SIZES
def test_the_comments_of_the_schema_are_enough_to_read_it(tmp_path: Path, seed: int, n_actors: int) -> None:
    topology, points, found = random_study(seed, n_actors)
    store = create_study(tmp_path / "s.sqlite", topology, {}, {})
    for evaluation in found:
        store.add(evaluation)
    store.close()
    for evaluation, row in zip(found, read_by_the_comments(tmp_path / "s.sqlite"), strict=True):
        point = points[row["id"]]
        assert json.loads(row["setting"]["capacities_tokens"]) == list(point.capacities)
        assert [row["setting"][k] for k in ("release", "transfers", "name")] == [
            point.release, point.transfers, point.name,
        ]  # fmt: skip
        assert [
            (p["name"], p["unit"], p["policy"], p["cores"], p["actors"], json.loads(p["static_order"]), p["clock_mhz"])
            for p in row["partitions"]
        ] == [
            (p.name, p.unit, p.policy, p.cores, [*p.actors], [*p.static_order], p.clock_mhz and str(p.clock_mhz))
            for p in point.partitions
        ]
        assert row["accounts"] == [[getattr(a, k) for k in ACCOUNT] for a in evaluation.partitions]
        assert row["waiting"] == list(evaluation.waiting)
        assert (row["makespan"] is None, row["deadlock"]) == (evaluation.cut, evaluation.deadlock)


def test_rows_share_what_is_equal(tmp_path: Path) -> None:
    topology, _, found = random_study(4, 200)
    path = tmp_path / "s.sqlite"
    store = create_study(path, topology, {}, {})
    shifted = [replace(e, digest=f"{i:064x}") for i, e in enumerate(found * 10)]
    for evaluation in shifted:
        store.add(evaluation)
    known = list(store.known().values())
    assert len({id(e.packed.layout.capacities) for e in known}) <= 3 * 2 * 2 * 2
    assert len({id(e.packed.layout) for e in known}) <= len(found)
    for table, most in (("setting", 3 * 2 * 2 * 2), ("part", sum(e.n_partitions for e in found))):
        assert store._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] <= most
    store.close()


DAMAGES = (
    "UPDATE evaluation SET parts = x'0109'",
    "UPDATE evaluation SET parts = x'' WHERE ordinal = 2",
    "UPDATE evaluation SET members = x'01'",
    "UPDATE evaluation SET members = x'0106000102030463'",
    "UPDATE evaluation SET members = '{}'",
    "UPDATE evaluation SET times = x'010201'",
    "UPDATE evaluation SET times = x'789c00'",
    "UPDATE evaluation SET times = x'01000101'",
    "UPDATE evaluation SET setting = 77",
    "DELETE FROM part",
    "UPDATE part SET static_order = '[99]'",
    "UPDATE part SET clock_mhz = 'fast'",
    "UPDATE setting SET capacities_tokens = '[1]'",
    "UPDATE actor SET name = 'z' WHERE number = 1",
    "DROP TABLE setting",
    "UPDATE setting SET number = number + 1000",
    "INSERT INTO part SELECT 10 + max(number), name, unit, policy, cores, static_order, clock_mhz FROM part",
    "INSERT INTO setting SELECT 1 + max(number), capacities_tokens, release, transfers, name FROM setting",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_an_error_when_the_study_is_read(tmp_path: Path, damage: str) -> None:
    topology, _, found = random_study(8, 6)
    path = tmp_path / "s.sqlite"
    store = create_study(path, topology, {}, {})
    for evaluation in found:
        store.add(evaluation)
    store._connection.execute(damage)
    store.close()
    with pytest.raises(FormatError, match="study file cannot be read"):
        resume_study(path, topology, {}, {}).known()


@pytest.mark.parametrize("version", [3, 5])
def test_a_study_of_another_format_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "s.sqlite"
    store = create_study(path, chain(), {}, {})
    store._connection.execute(f"PRAGMA user_version = {version}")
    store.close()
    with pytest.raises(FormatError, match="it is not a study of format 4, the one that this version of dse writes"):
        resume_study(path, chain(), {}, {})
