"""What is put into a study file comes back exactly, also by nothing but the description that the file carries."""

import json
import pickle
import random
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dse.base.errors import FormatError, OptionError
from dse.formats.study_file import create_study, resume_study
from dse.model.design_point import POLICIES, DesignPoint, Partition
from dse.model.estimate import PartitionAccount
from dse.model.packed_point import pack_point
from dse.model.study import Evaluation
from dse.model.trace import Topology
from tests.unit.explore.fakes import chain
from tests.unit.explore.studies import edit

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
        assert evaluation.packed.first_actors() == [partition.actors[0] for partition in point.partitions]
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
    capacities = [found[0].point.capacities, found[1].point.capacities]
    for evaluation in found * 10:
        point = replace(evaluation.point, capacities=capacities[evaluation.ordinal % 2])
        store.add(evaluation)
        store.add(replace(evaluation, packed=pack_point(point), digest=point.digest()))
    known = list(store.known().values())
    assert len({id(e.packed.layout.capacities) for e in known}) <= 3 * 2 * 2 * 2
    assert len({id(e.packed.layout) for e in known}) <= len(known) <= 2 * len(found)
    for table, most in (("setting", 3 * 2 * 2 * 2), ("part", sum(e.n_partitions for e in found))):
        assert store._tables._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] <= most
    store.close()


DAMAGES = (
    "UPDATE evaluation SET parts = x'0109'",
    "UPDATE evaluation SET parts = x'' WHERE ordinal = 2",
    "UPDATE evaluation SET members = x'01'",
    "UPDATE evaluation SET members = x'0106000102030463'",
    "UPDATE evaluation SET members = '{}'",
    "UPDATE evaluation SET members = (SELECT members FROM evaluation WHERE ordinal = 5) WHERE ordinal = 2",
    "UPDATE evaluation SET times = x'010201'",
    "UPDATE evaluation SET times = x'789c00'",
    "UPDATE evaluation SET times = x'01000101'",
    "UPDATE evaluation SET times = NULL",
    "UPDATE evaluation SET setting = 77",
    "UPDATE evaluation SET setting = 'x'",
    "UPDATE evaluation SET digest = zeroblob(32) WHERE ordinal = 1",
    "UPDATE evaluation SET ordinal = -1 WHERE ordinal = 1",
    "UPDATE evaluation SET ordinal = 1.5 WHERE ordinal = 1",
    "UPDATE evaluation SET makespan = -1, at_least = NULL",
    "UPDATE evaluation SET makespan = 1e300, at_least = NULL",
    "UPDATE evaluation SET makespan = 'x', at_least = NULL",
    "UPDATE evaluation SET makespan = 7, at_least = 7",
    "UPDATE evaluation SET makespan = NULL, at_least = NULL",
    "UPDATE evaluation SET tick_unit = 'hours'",
    "UPDATE evaluation SET tick_unit = CAST(x'c328' AS TEXT)",
    "UPDATE evaluation SET deadlock = 7",
    "UPDATE evaluation SET seconds = 9e999",
    "UPDATE evaluation SET seconds = -0.5",
    "UPDATE evaluation SET seconds = NULL",
    "UPDATE evaluation SET seconds = 'long'",
    "DELETE FROM part",
    "UPDATE part SET static_order = '[99]'",
    "UPDATE part SET static_order = printf('%.*c', 100000, '[')",
    "UPDATE part SET clock_mhz = 'fast'",
    "UPDATE part SET clock_mhz = '1/0'",
    "UPDATE part SET clock_mhz = '-1'",
    "UPDATE part SET clock_mhz = '1e999999999'",
    "UPDATE part SET clock_mhz = printf('%.*c', 1000000, '9')",
    "UPDATE part SET policy = 'FIRST'",
    "UPDATE part SET cores = 0",
    "UPDATE part SET cores = 1e30",
    "UPDATE part SET unit = x'00'",
    "UPDATE setting SET capacities_tokens = '[1]'",
    "UPDATE setting SET capacities_tokens = '[1,1,1,1,9223372036854775807]'",
    "UPDATE setting SET capacities_tokens = '[1,1,1,1,' || printf('%.*c', 1000000, '9') || ']'",
    "UPDATE setting SET capacities_tokens = '[1,1,1,1,null]'",
    "UPDATE setting SET capacities_tokens = '[1,1,1,1,1.5]'",
    "UPDATE setting SET capacities_tokens = NULL",
    "UPDATE setting SET release = 'sometimes'",
    "UPDATE setting SET name = 7.5",
    "UPDATE actor SET name = 'z' WHERE number = 1",
    "DROP TABLE setting",
    "DROP TABLE seal",
    "ALTER TABLE part ADD COLUMN more TEXT",
    "ALTER TABLE part ADD COLUMN more INTEGER AS (1)",
    "CREATE TRIGGER more AFTER INSERT ON evaluation BEGIN UPDATE evaluation SET makespan = 1; END",
    "CREATE VIEW more AS SELECT * FROM evaluation",
    "UPDATE setting SET number = number + 1000",
    "INSERT INTO part SELECT 1000 + number, name, unit, policy, cores, static_order, clock_mhz, row_digest FROM part",
    "INSERT INTO setting SELECT 1000 + number, capacities_tokens, release, transfers, name, row_digest FROM setting",
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Topology]:
    """A study to be damaged; it has partitions with static orders."""
    topology, _, found = random_study(8, 6)
    path = tmp_path_factory.mktemp("sound") / "s.sqlite"
    store = create_study(path, topology, {"seed": "1"}, {"tool": "dse"})
    for evaluation in found:
        store.add(evaluation)
    store.close()
    return path, topology


def read_again(path: Path, topology: Topology) -> int:
    store = resume_study(path, topology, {"seed": "1"}, {})
    try:
        return len(store.known())
    finally:
        store.close()


@pytest.mark.parametrize("sealed", [False, True], ids=["", "right-digests"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_an_error_when_the_study_is_read(
    sound: tuple[Path, Topology], tmp_path: Path, damage: str, sealed: bool
) -> None:
    """Also where whoever changed it gave the row a right digest: it is at most refused, never a foreign exception."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound[0].read_bytes())
    readable = "c328" not in damage and not damage.startswith(("ALTER", "CREATE", "DROP", "INSERT"))
    assert edit(path, damage, sealed=sealed and readable)
    with pytest.raises(FormatError, match="study file cannot be read"):
        read_again(path, sound[1])


LOSSES = (
    "DELETE FROM evaluation WHERE ordinal = 3",
    "DELETE FROM evaluation",
    "DELETE FROM manifest",
    "DELETE FROM seal WHERE name = 'evaluation'",
    "UPDATE seal SET row_count = row_count - 1 WHERE name = 'evaluation'",
    "UPDATE evaluation SET makespan = coalesce(makespan, 0) + 1, at_least = NULL WHERE ordinal = 3",
    "UPDATE evaluation SET seconds = seconds + 0.25 WHERE ordinal = 3",
    "UPDATE evaluation SET ordinal = ordinal + 1 WHERE ordinal = 3",
    "UPDATE manifest SET value = 'other'",
    "UPDATE identity SET value = 'other'",
    "UPDATE part SET name = name || 'x' WHERE number = 1",
)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_possible_but_was_not_written_is_told(sound: tuple[Path, Topology], tmp_path: Path, loss: str) -> None:
    """Rows that are lost, or say something else that could be true: nothing but digests shows it."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound[0].read_bytes())
    assert edit(path, loss)
    with pytest.raises(FormatError, match=r"its digest is not that of what it says|are missing, or are too many"):
        read_again(path, sound[1])


def test_flipped_bits_change_nothing_that_is_read(sound: tuple[Path, Topology], tmp_path: Path) -> None:
    rng, path, data = random.Random(11), tmp_path / "s.sqlite", sound[0].read_bytes()
    store = resume_study(sound[0], sound[1], {"seed": "1"}, {})
    whole = store.known()
    store.close()
    refused = 0
    for _ in range(400):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            store = resume_study(path, sound[1], {"seed": "1"}, {})
        except (FormatError, OptionError):
            refused += 1
            continue
        with closing(store), suppress(FormatError):
            assert store.known() == whole
    assert refused > 20


def test_a_makespan_below_its_bound_is_refused(tmp_path: Path) -> None:
    topology, _, found = random_study(8, 6)
    path = tmp_path / "s.sqlite"
    store = create_study(path, topology, {"seed": "1"}, {})
    for evaluation in found:
        store.add(evaluation)
    store.close()
    least = min(e.makespan for e in found if not e.cut and not e.deadlock)
    store = resume_study(path, topology, {"seed": "1"}, {})
    store.expect_at_least(least)
    assert len(store.known()) == len(found)
    refused = pytest.raises(FormatError, match=rf"has makespan {least}, but no mapping takes less than {least + 1}")
    with refused:
        store.expect_at_least(least + 1)
    with refused:
        store.known()
    store.close()


def test_an_old_sqlite_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 9))
    with pytest.raises(OptionError, match=r"a study needs SQLite 3\.37 or newer"):
        create_study(tmp_path / "s.sqlite", chain(), {}, {})


@pytest.mark.parametrize("version", [4, 6])
def test_a_study_of_another_format_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "s.sqlite"
    store = create_study(path, chain(), {}, {})
    store._tables._connection.execute(f"PRAGMA user_version = {version}")
    store.close()
    with pytest.raises(FormatError, match="it is not a study of format 5, the one that this version of dse writes"):
        resume_study(path, chain(), {}, {})


def test_a_folder_in_the_place_of_a_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.sqlite").mkdir()
    for begin in (create_study, resume_study):
        with pytest.raises(OptionError, match=r"the study '.*study.sqlite' is a folder"):
            begin(tmp_path / "study.sqlite", chain(), {}, {})
