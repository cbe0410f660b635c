"""The study file: an SQLite database with every evaluation of one search and where its inputs came from.

Rollback journal with full synchronisation: what ``commit`` returned from survives a kill or a power cut at any instant,
and one file is the whole study. The file is locked while a search writes to it.
"""

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from dse.base.errors import FormatError, OptionError
from dse.base.source import file_span
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import PartitionAccount
from dse.model.study import Evaluation
from dse.model.trace import Topology

SCHEMA_VERSION = 3
_DIGEST = re.compile("[0-9a-f]{64}")
_SCHEMA = (
    "CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE identity (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE evaluation (
        digest TEXT PRIMARY KEY,    -- sha256 of the design point without its names
        ordinal INTEGER NOT NULL,   -- order of evaluation, from 0
        makespan INTEGER,           -- in tick_unit; without meaning in a deadlock; NULL where the run was stopped
        at_least INTEGER,           -- then: a proven lower bound of the makespan (or it deadlocks), in tick_unit
        tick_unit TEXT NOT NULL,
        deadlock INTEGER NOT NULL,
        seconds REAL NOT NULL,      -- wall time of the estimation
        point TEXT NOT NULL,        -- the design point, JSON
        partitions TEXT NOT NULL,   -- core time of each partition by category, JSON, in tick_unit
        waiting TEXT NOT NULL       -- for each actor its time ready without a core, JSON, in tick_unit
    )""",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


class StudyStore:
    """An open study file. ``identity``: what must be equal for stored evaluations to hold; ``manifest``: the rest."""

    def __init__(self, path: Path, connection: sqlite3.Connection, topology: Topology) -> None:
        self._path = path
        self._connection = connection
        self._topology = topology
        self._lost: OptionError | None = None
        """Why evaluations that were added are not in the file: a full disk undoes the open transaction."""

    def known(self) -> dict[str, Evaluation]:
        """Return the stored evaluations by digest, in order."""
        try:
            rows = self._connection.execute(
                "SELECT digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, point, partitions, waiting"
                " FROM evaluation ORDER BY ordinal, digest"
            ).fetchall()
            return {row[0]: self._evaluation(row) for row in rows}
        except (sqlite3.DatabaseError, ValueError, KeyError, TypeError) as cause:
            raise damaged(self._path, str(cause)) from cause

    def _evaluation(self, row: tuple[Any, ...]) -> Evaluation:
        digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, point, partitions, waiting = row
        return Evaluation(
            ordinal=ordinal, point=point_from_json(json.loads(point), self._topology), digest=digest,
            makespan=at_least if makespan is None else makespan, cut=makespan is None,
            tick_unit=tick_unit, deadlock=bool(deadlock), seconds=seconds,
            partitions=tuple(PartitionAccount(**account) for account in json.loads(partitions)),
            waiting=tuple(json.loads(waiting)),
        )  # fmt: skip

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation to the open transaction, or put it in the place of what was known of its point.

        Raises ``OptionError`` where the file cannot be written.
        """
        try:
            self._connection.execute(
                "INSERT OR REPLACE INTO evaluation"
                " (digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, point, partitions, waiting)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    evaluation.digest, evaluation.ordinal, None if evaluation.cut else evaluation.makespan,
                    evaluation.makespan if evaluation.cut else None, evaluation.tick_unit,
                    int(evaluation.deadlock), evaluation.seconds,
                    json.dumps(point_to_json(evaluation.point, self._topology), separators=(",", ":")),
                    json.dumps([asdict(account) for account in evaluation.partitions], separators=(",", ":")),
                    json.dumps(evaluation.waiting, separators=(",", ":")),
                ),
            )  # fmt: skip
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
    _compare_identity(path, stored, identity)
    return StudyStore(path, connection, topology)


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
        f"the study file cannot be read: {why}", span=file_span(str(path), 0),
        expected="restore it from a copy, or leave out --resume to start a new study",
    )  # fmt: skip


def point_to_json(point: DesignPoint, topology: Topology) -> dict[str, object]:
    """Return a design point with names instead of indices, for JSON."""

    def names(actors: tuple[int, ...]) -> list[str]:
        return [topology.actors[a].name for a in actors]

    return {
        "partitions": [
            {
                "name": p.name, "unit": p.unit, "policy": p.policy, "cores": p.cores,
                "actors": names(p.actors), "static_order": names(p.static_order), **clock_json(p),
            }
            for p in point.partitions
        ],
        "capacities_tokens": list(point.capacities),
        "release": point.release,
        "transfers": point.transfers,
    }  # fmt: skip


def clock_json(partition: Partition) -> dict[str, float]:
    """Return the clock of a partition for JSON, nothing where none was chosen. A clock has at most 11 digits."""
    clock = partition.clock_mhz
    return {} if clock is None else {"clock_mhz": int(clock) if clock.denominator == 1 else float(clock)}


def point_from_json(data: dict[str, Any], topology: Topology) -> DesignPoint:
    """Return the design point that ``point_to_json`` wrote. Raises ``KeyError`` on unknown actors and absent fields."""
    index = {actor.name: a for a, actor in enumerate(topology.actors)}
    partitions = tuple(
        Partition(
            name=p["name"], unit=p["unit"], policy=p["policy"], cores=p["cores"],
            actors=tuple(index[a] for a in p["actors"]), static_order=tuple(index[a] for a in p["static_order"]),
            clock_mhz=Fraction(str(p["clock_mhz"])) if "clock_mhz" in p else None,
        )
        for p in data["partitions"]
    )  # fmt: skip
    return DesignPoint(
        partitions=partitions, capacities=tuple(data["capacities_tokens"]), release=data["release"],
        transfers=data["transfers"],
    )  # fmt: skip
