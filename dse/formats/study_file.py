"""The study file: an SQLite database with every evaluation of one search and where its inputs came from.

Rollback journal with full synchronisation: what ``commit`` returned from survives a kill or a power cut at any instant,
and one file is the whole study. The file is locked while a search writes to it.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from dse.base.errors import FormatError, OptionError
from dse.base.packing import pack_integers, unpack_integers
from dse.base.source import file_span
from dse.model.design_point import DesignPoint, Partition, ReleaseMode, TransferMode
from dse.model.packed_point import SHARED, PackedPoint, PartitionFrame, PointLayout, shared_layout
from dse.model.study import Evaluation, unpack_times
from dse.model.trace import Topology

_Setting: TypeAlias = tuple[tuple[int, ...], ReleaseMode, TransferMode, str]
SCHEMA_VERSION = 4
_DIGEST = re.compile("[0-9a-f]{64}")
_SCHEMA = (
    "CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE identity (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE actor (number INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    """CREATE TABLE setting (           -- what design points share
        number INTEGER PRIMARY KEY,
        capacities_tokens TEXT NOT NULL, -- of each buffer, JSON
        release TEXT NOT NULL,
        transfers TEXT NOT NULL,
        name TEXT NOT NULL               -- a label
    )""",
    """CREATE TABLE part (              -- a partition without its actors
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        unit TEXT NOT NULL,
        policy TEXT NOT NULL,
        cores INTEGER NOT NULL,
        static_order TEXT NOT NULL,      -- numbers of actors, JSON
        clock_mhz TEXT                   -- an exact fraction; NULL: the clock of the weights
    )""",
    """CREATE TABLE evaluation (
        digest BLOB PRIMARY KEY,    -- sha256 of the design point without its names
        ordinal INTEGER NOT NULL,   -- order of evaluation, from 0
        makespan INTEGER,           -- in tick_unit; without meaning in a deadlock; NULL where the run was stopped
        at_least INTEGER,           -- then: a proven lower bound of the makespan (or it deadlocks), in tick_unit
        tick_unit TEXT NOT NULL,
        deadlock INTEGER NOT NULL,
        seconds REAL NOT NULL,      -- wall time of the estimation
        setting INTEGER NOT NULL REFERENCES setting,
        -- Packed integers: w, then of all n integers the lowest byte, of all the second one, to the w-th; integer i is
        -- int.from_bytes(blob[1 + i :: n], "little", signed=w > 7). A blob whose first byte is 120 is zlib of all this.
        parts BLOB NOT NULL,        -- packed: the number of each partition in table part
        members BLOB NOT NULL,      -- packed: how many actors each partition has, then the actors of each in its order
        times BLOB NOT NULL         -- packed, in tick_unit: the number of partitions; of each its scheduling, of each
        -- its reading, processing, writing, link_waiting, unoccupied core time, its cores; then for each actor the time
        -- that it was ready without a core. Nothing where the run was stopped.
    )""",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


class StudyStore:
    """An open study file. ``identity``: what must be equal for stored evaluations to hold; ``manifest``: the rest."""

    def __init__(self, path: Path, connection: sqlite3.Connection, topology: Topology) -> None:
        self._path = path
        self._connection = connection
        self._topology = topology
        self._layouts = _Layouts(connection)
        self._lost: OptionError | None = None
        """Why evaluations that were added are not in the file: a full disk undoes the open transaction."""

    def load(self) -> None:
        """Read what evaluations refer to by number. Raises ``FormatError`` where it is damaged, and closes the file."""
        try:
            self._layouts.load(self._topology)
        except (sqlite3.DatabaseError, ValueError, KeyError, TypeError) as cause:
            self._connection.close()
            raise damaged(self._path, str(cause)) from cause

    def known(self) -> dict[str, Evaluation]:
        """Return the stored evaluations by digest, in order. Raises ``FormatError`` where one is damaged."""
        try:
            rows = self._connection.execute(
                "SELECT lower(hex(digest)), ordinal, makespan, at_least, tick_unit, deadlock, seconds,"
                " setting, parts, members, times FROM evaluation ORDER BY ordinal, digest"
            )
            layout = self._layouts.layouts()
            return {row[0]: self._evaluation(row, layout) for row in rows}
        except (sqlite3.DatabaseError, ValueError, KeyError, TypeError) as cause:
            raise damaged(self._path, str(cause)) from cause

    def _evaluation(self, row: tuple[Any, ...], layout: Callable[[int, bytes], PointLayout]) -> Evaluation:
        digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, setting, parts, members, times = row
        evaluation = Evaluation(
            ordinal=ordinal,
            packed=PackedPoint(layout(setting, parts), members),
            digest=digest,
            makespan=at_least if makespan is None else makespan,
            cut=makespan is None,
            tick_unit=tick_unit,
            deadlock=bool(deadlock),
            seconds=seconds,
            times=times,
        )
        _check(evaluation, len(self._topology.actors))
        return evaluation

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation to the open transaction, or put it in the place of what was known of its point.

        Raises ``OptionError`` where the file cannot be written.
        """
        cut, packed = evaluation.cut, evaluation.packed
        try:
            setting, parts = self._layouts.numbers(packed.layout)
            self._connection.execute(
                "INSERT OR REPLACE INTO evaluation"
                " (digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, setting, parts, members, times)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    bytes.fromhex(evaluation.digest),
                    evaluation.ordinal,
                    None if cut else evaluation.makespan,
                    evaluation.makespan if cut else None,
                    evaluation.tick_unit,
                    int(evaluation.deadlock),
                    evaluation.seconds,
                    setting,
                    parts,
                    packed.members,
                    evaluation.times,
                ),
            )
        except sqlite3.OperationalError as cause:
            raise self._unwritable(cause) from cause

    def commit(self) -> None:
        """Make everything added durable. Raises ``OptionError`` where the file cannot be written."""
        if self._lost is not None:
            raise self._lost
        try:
            self._connection.commit()
        except sqlite3.OperationalError as cause:
            raise self._unwritable(cause) from cause

    def close(self) -> None:
        """Commit and release the file. Raises ``OptionError`` where the file cannot be written."""
        try:
            if self._lost is None:  # else it was raised already
                self.commit()
        finally:
            self._connection.close()

    def _unwritable(self, cause: sqlite3.OperationalError) -> OptionError:
        self._lost = OptionError(
            f"cannot write the study '{self._path}': {cause}",
            expected="what was reported is in it: make room, and continue with --resume",
        )
        return self._lost


class _Layouts:
    """The tables ``setting`` and ``part`` of a study: what evaluations refer to by number, counted from 0."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._settings: dict[_Setting, int] = {}
        self._parts: dict[PartitionFrame, int] = {}
        self._numbers: dict[PointLayout, tuple[int, bytes]] = {}

    def load(self, topology: Topology) -> None:
        """Read the tables. Raises ``ValueError`` where they are not of this network."""
        rows = self._connection.execute("SELECT number, name FROM actor ORDER BY number").fetchall()
        if rows != [(number, actor.name) for number, actor in enumerate(topology.actors)]:
            raise ValueError("its actors are not those of the network")
        for number, tokens, *rest in self._connection.execute(
            "SELECT number, capacities_tokens, release, transfers, name FROM setting"
        ):
            capacities = tuple(json.loads(tokens))
            if len(capacities) != len(topology.buffers):
                raise ValueError("its buffers are not those of the network")
            self._settings[capacities, *rest] = number
        for number, name, unit, policy, cores, order, clock in self._connection.execute(
            "SELECT number, name, unit, policy, cores, static_order, clock_mhz FROM part"
        ):
            static_order = tuple(json.loads(order))
            _check_actors(static_order, len(topology.actors))
            clock_mhz = None if clock is None else Fraction(clock)
            self._parts[PartitionFrame(name, unit, policy, cores, static_order, clock_mhz)] = number
        for numbers in (self._settings.values(), self._parts.values()):
            if sorted(numbers) != list(range(len(numbers))):  # also where two rows are equal
                raise ValueError("the numbers of its settings or parts have gaps")

    def layouts(self) -> Callable[[int, bytes], PointLayout]:
        """Return the function from ``setting`` and ``parts`` of a row to its layout.

        It raises ``KeyError`` where a number is not in its table, ``ValueError`` where ``parts`` is no packed integers.
        """
        setting_of = {number: setting for setting, number in self._settings.items()}
        part_of = {number: part for part, number in self._parts.items()}

        def layout(setting: int, parts: bytes) -> PointLayout:
            frames = tuple(part_of[number] for number in unpack_integers(parts))
            return shared_layout(frames, *setting_of[setting])

        return layout

    def numbers(self, layout: PointLayout) -> tuple[int, bytes]:
        """Return ``setting`` and ``parts`` of a layout; what is new is added to the open transaction."""
        found = self._numbers.get(layout)
        if found is None:
            setting = self._setting(layout)
            found = setting, pack_integers([self._part(frame) for frame in layout.frames])
            if len(self._numbers) >= SHARED:
                self._numbers.clear()
            self._numbers[layout] = found
        return found

    def _setting(self, layout: PointLayout) -> int:
        key = layout.capacities, layout.release, layout.transfers, layout.name
        if key not in self._settings:
            number = len(self._settings)
            row = number, _json(layout.capacities), layout.release, layout.transfers, layout.name
            self._connection.execute("INSERT INTO setting VALUES (?, ?, ?, ?, ?)", row)
            self._settings[key] = number
        return self._settings[key]

    def _part(self, frame: PartitionFrame) -> int:
        if frame not in self._parts:
            number = len(self._parts)
            clock = None if frame.clock_mhz is None else str(frame.clock_mhz)
            row = number, frame.name, frame.unit, frame.policy, frame.cores, _json(frame.static_order), clock
            self._connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._parts[frame] = number
        return self._parts[frame]


def _json(numbers: tuple[int, ...]) -> str:
    return json.dumps(numbers, separators=(",", ":"))


def _check(evaluation: Evaluation, n_actors: int) -> None:
    """Raise ``ValueError`` where a stored evaluation cannot be unpacked, or not for a network of so many actors."""
    point, (accounts, waiting) = evaluation.point, unpack_times(evaluation.times)
    _check_actors([actor for partition in point.partitions for actor in partition.actors], n_actors)
    if len(accounts) not in (0, len(point.partitions)) or len(waiting) not in (0, n_actors):
        raise ValueError("the times of an evaluation are not those of its partitions and actors")


def _check_actors(actors: Sequence[int], n_actors: int) -> None:
    if actors and not 0 <= min(actors) <= max(actors) < n_actors:
        raise ValueError(f"an actor has a number that is not below {n_actors}")


def create_study(
    path: Path, topology: Topology, identity: Mapping[str, str], manifest: Mapping[str, str]
) -> StudyStore:
    """Start a study file that does not exist yet. Raises ``OptionError`` where it cannot be written."""
    assert not path.exists(), f"{path} exists: move it away first"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path)
        _claim(connection)
        connection.execute("BEGIN")  # one transaction: a kill leaves an empty file or a whole study
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.executemany("INSERT INTO actor VALUES (?, ?)", enumerate(a.name for a in topology.actors))
        connection.executemany("INSERT INTO identity VALUES (?, ?)", sorted(identity.items()))
        connection.executemany("INSERT INTO manifest VALUES (?, ?)", sorted(manifest.items()))
        connection.commit()
    except (OSError, sqlite3.OperationalError) as cause:
        why = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
        raise OptionError(f"cannot write the study '{path}': {why}", expected="choose another folder") from cause
    return StudyStore(path, connection, topology)


def move_aside(path: Path) -> bool:
    """Make room for a new study: keep an earlier one as ``study-previous.sqlite``, unless it holds nothing.

    Returns whether something was kept. Raises ``OptionError`` when another search is writing the study.
    """
    if not path.is_file():
        return False
    connection = _connect(path)
    try:
        found = connection.execute("SELECT count(*) FROM evaluation").fetchone()[0]
    except sqlite3.OperationalError as cause:
        if "locked" in str(cause):
            raise OptionError(
                f"cannot use the study '{path}': {cause}", expected="another search is writing it"
            ) from cause
        found = 0 if path.stat().st_size == 0 else 1  # no study: whatever it is, it is not ours to delete
    except sqlite3.DatabaseError:
        found = 1
    finally:
        connection.close()
    if found:
        path.replace(path.with_name("study-previous.sqlite"))
    else:
        path.unlink()
    Path(f"{path}-journal").unlink(missing_ok=True)
    return bool(found)


def resume_study(
    path: Path, topology: Topology, identity: Mapping[str, str], manifest: Mapping[str, str]
) -> StudyStore:
    """Open a study file to continue it; one that was killed before its first commit is started anew.

    Raises ``OptionError`` when there is none, when another process holds it, or when its inputs or options differ from
    ``identity`` (every difference is named); ``FormatError`` when it is damaged or not a study.
    """
    if not path.is_file():
        raise OptionError(f"there is no study to resume: '{path}' does not exist", expected="leave out --resume")
    connection = _connect(path)
    try:
        stored = _checked_identity(path, connection)
        if stored is not None:
            _compare_identity(path, stored, identity)
    except (FormatError, OptionError):
        connection.close()  # else the file stays locked as long as the error is at hand
        raise
    except sqlite3.OperationalError as cause:
        connection.close()
        raise OptionError(
            f"cannot use the study '{path}': {cause}", expected="is another search writing it?"
        ) from cause
    except sqlite3.DatabaseError as cause:
        connection.close()
        raise damaged(path, str(cause)) from cause
    if stored is None:
        connection.close()
        path.unlink()
        return create_study(path, topology, identity, manifest)
    store = StudyStore(path, connection, topology)
    store.load()
    return store


def _checked_identity(path: Path, connection: sqlite3.Connection) -> dict[str, str] | None:
    """Return the stored identity after checking the file and taking its lock; None for an empty file."""
    _claim(connection)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version == 0 and not tables:
        return None
    if version != SCHEMA_VERSION or "identity" not in tables:
        raise damaged(path, f"it is not a study of format {SCHEMA_VERSION}, the one that this version of dse writes")
    check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if check != "ok":
        raise damaged(path, check)
    connection.execute("BEGIN IMMEDIATE")  # takes the lock now, so that a second search fails here and not later
    connection.commit()
    return dict(connection.execute("SELECT key, value FROM identity"))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=2.0)


def _claim(connection: sqlite3.Connection) -> None:
    """Keep the lock of the first transaction until the file is closed; wait for the disk at each commit."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA synchronous = FULL")


def _compare_identity(path: Path, stored: dict[str, str], identity: Mapping[str, str]) -> None:
    different = [k for k in sorted({*stored, *identity}) if stored.get(k) != identity.get(k)]
    if different:
        changes = "; ".join(_change(k, stored.get(k), identity.get(k)) for k in different)
        raise OptionError(
            f"the study '{path}' was made from other inputs ({changes})",
            expected="resume with the same inputs and options, or leave out --resume to start a new study",
        )


def _change(key: str, stored: str | None, now: str | None) -> str:
    """Return in words how an input differs; of two digests there is nothing to say but that they do."""
    if stored and now and _DIGEST.fullmatch(stored) and _DIGEST.fullmatch(now):
        return f"the {key} changed"
    return f"{key}: {_brief(stored)} in the study, {_brief(now)} now"


def _brief(value: str | None) -> str:
    return "absent" if value is None else value if len(value) <= 40 else value[:12] + "..."


def damaged(path: Path, why: str) -> FormatError:
    """Return the error for a study file that cannot be used."""
    return FormatError(
        f"the study file cannot be read: {why}",
        span=file_span(str(path), 0),
        expected="restore it from a copy, or leave out --resume to start a new study",
    )


def point_to_json(point: DesignPoint, topology: Topology) -> dict[str, object]:
    """Return a design point with names instead of indices, for JSON."""

    def names(actors: tuple[int, ...]) -> list[str]:
        return [topology.actors[a].name for a in actors]

    return {
        "partitions": [
            {
                "name": p.name,
                "unit": p.unit,
                "policy": p.policy,
                "cores": p.cores,
                "actors": names(p.actors),
                "static_order": names(p.static_order),
                **clock_json(p),
            }
            for p in point.partitions
        ],
        "capacities_tokens": list(point.capacities),
        "release": point.release,
        "transfers": point.transfers,
    }


def clock_json(partition: Partition) -> dict[str, float]:
    """Return the clock of a partition for JSON, nothing where none was chosen. A clock has at most 11 digits."""
    clock = partition.clock_mhz
    return {} if clock is None else {"clock_mhz": int(clock) if clock.denominator == 1 else float(clock)}
