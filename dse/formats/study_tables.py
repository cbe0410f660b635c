"""The tables of a study file: their schema, the digests of their rows, and the seal that says that none is missing.

All SQL on rows stands here. What the rows mean is the matter of ``study_rows.py`` and ``study_file.py``.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dse.base.errors import OptionError
from dse.formats.study_rows import DIGEST_BYTES, checked_row, row_digest

SCHEMA_VERSION = 5
OLDEST_SQLITE = (3, 37)
"""Strict tables need it."""
_SCHEMA = {
    "manifest": """CREATE TABLE manifest (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL,
        row_digest BLOB NOT NULL    -- here as in all tables: the first 16 bytes of a sha256 of the rest
    ) STRICT""",
    "identity": "CREATE TABLE identity (key TEXT PRIMARY KEY, value TEXT NOT NULL, row_digest BLOB NOT NULL) STRICT",
    "actor": "CREATE TABLE actor (number INTEGER PRIMARY KEY, name TEXT NOT NULL, row_digest BLOB NOT NULL) STRICT",
    "setting": """CREATE TABLE setting (           -- what design points share
        number INTEGER PRIMARY KEY,
        capacities_tokens TEXT NOT NULL, -- of each buffer, JSON
        release TEXT NOT NULL,
        transfers TEXT NOT NULL,
        name TEXT NOT NULL,              -- a label
        row_digest BLOB NOT NULL
    ) STRICT""",
    "part": """CREATE TABLE part (              -- a partition without its actors
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        unit TEXT NOT NULL,
        policy TEXT NOT NULL,
        cores INTEGER NOT NULL,
        static_order TEXT NOT NULL,      -- numbers of actors, JSON
        clock_mhz TEXT,                  -- an exact fraction; NULL: the clock of the weights
        row_digest BLOB NOT NULL
    ) STRICT""",
    "evaluation": """CREATE TABLE evaluation (
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
        times BLOB NOT NULL,        -- packed, in tick_unit: the number of partitions; of each its scheduling, of each
        -- its reading, processing, writing, link_waiting, unoccupied core time, its cores; then for each actor the time
        -- that it was ready without a core. Nothing where the run was stopped.
        row_digest BLOB NOT NULL
    ) STRICT""",
    "seal": """CREATE TABLE seal (      -- of each other table
        name TEXT PRIMARY KEY,
        row_count INTEGER NOT NULL,
        row_digests BLOB NOT NULL   -- their sum as little-endian integers, modulo 2 to the 128th
    ) STRICT""",
}
_COLUMNS = {
    "manifest": "key, value",
    "identity": "key, value",
    "actor": "number, name",
    "setting": "number, capacities_tokens, release, transfers, name",
    "part": "number, name, unit, policy, cores, static_order, clock_mhz",
    "evaluation": "digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, setting, parts, members, times",
}
"""The columns of each sealed table in the order in which they are digested."""
_ORDERS = {"actor": " ORDER BY number", "evaluation": " ORDER BY ordinal, digest"}
_INSERT = {
    table: f"INSERT INTO {table} ({columns}, row_digest) VALUES ({'?, ' * (columns.count(',') + 1)}?)"
    for table, columns in _COLUMNS.items()
}
_MODULUS = 1 << 8 * DIGEST_BYTES
WAIT_SECONDS = 2.0
"""So long a lock of another process is waited for."""


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to a file, which is not read yet. Raises ``OptionError`` where SQLite is too old."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise OptionError(
            f"a study needs SQLite {needed} or newer, but this Python has {sqlite3.sqlite_version}",
            expected="use a Python with a newer one: `python -c 'import sqlite3; print(sqlite3.sqlite_version)'` tells",
        )
    return sqlite3.connect(path, timeout=WAIT_SECONDS)


def guard(connection: sqlite3.Connection) -> None:
    """Let nothing that a file says about itself be trusted: it may be anything."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


class Seals:
    """Of each table the number of rows and what their digests add up to."""

    def __init__(self, totals: dict[str, tuple[int, int]]) -> None:
        self._totals = totals

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> "Seals":
        """Return the seals that a file has."""
        rows = connection.execute("SELECT name, row_count, row_digests FROM seal")
        return cls({name: (count, int.from_bytes(digests, "little")) for name, count, digests in rows})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seals) and self._totals == other._totals

    def add(self, table: str, digest: bytes, *, sign: int = 1) -> None:
        """Note that a row is new; ``sign`` -1: that it is no more."""
        count, total = self._totals.get(table, (0, 0))
        self._totals[table] = count + sign, (total + sign * int.from_bytes(digest, "little")) % _MODULUS

    def check(self, table: str, count: int, total: int) -> None:
        """Raise ``ValueError`` where a table does not have the rows that it should."""
        if self._totals.get(table, (0, 0)) != (count, total % _MODULUS):
            raise ValueError(f"rows of table '{table}' are missing, or are too many")

    def rows(self) -> list[tuple[str, int, bytes]]:
        """Return the rows of table ``seal``."""
        return [(name, count, total.to_bytes(DIGEST_BYTES, "little")) for name, (count, total) in self._totals.items()]


class Tables:
    """The tables of a file that is open; its methods raise ``sqlite3.Error`` where they cannot be read or written."""

    def __init__(self, connection: sqlite3.Connection, seals: Seals) -> None:
        self._connection = connection
        self.seals = seals
        self._sealed = True
        self.closed = False

    @classmethod
    def create(cls, connection: sqlite3.Connection) -> "Tables":
        """Return the tables that are made in an empty file, in the transaction that is open."""
        for statement in _SCHEMA.values():
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return cls(connection, Seals({}))

    @classmethod
    def open(cls, connection: sqlite3.Connection) -> "Tables":
        """Return the tables of a study. Raises ``ValueError`` where the file has others, or is damaged."""
        statements = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
        for kind, name, _ in statements:
            if name not in _SCHEMA:
                raise ValueError(f"it holds the {kind} '{name}', which no study does")
        if sorted(statements) != sorted(("table", name, sql) for name, sql in _SCHEMA.items()):
            raise ValueError("its tables are not those of a study")
        check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise ValueError(check)
        return cls(connection, Seals.read(connection))

    def rows(self, table: str) -> Iterator[Sequence[Any]]:
        """Yield the rows of a table without their digests. Raises ``ValueError`` where they are not as written."""
        count = total = 0
        query = f"SELECT {_COLUMNS[table]}, row_digest FROM {table}{_ORDERS.get(table, '')}"
        for row in self._connection.execute(query):
            yield checked_row(table, row)
            count += 1
            total += int.from_bytes(row[-1], "little")
        self.seals.check(table, count, total)

    def put(self, table: str, *values: Any) -> None:
        """Add a row to the open transaction."""
        digest = row_digest(table, values)
        self._connection.execute(_INSERT[table], (*values, digest))
        self._noted(table, digest)

    def put_or_replace(self, *values: Any) -> None:
        """Add an evaluation, or put it in the place of that with the same digest."""
        try:
            self.put("evaluation", *values)
        except sqlite3.IntegrityError:  # a point is seldom evaluated twice
            where = "FROM evaluation WHERE digest = ?"
            (old,) = self._connection.execute(f"SELECT row_digest {where}", values[:1]).fetchone()
            self._connection.execute(f"DELETE {where}", values[:1])
            self.seals.add("evaluation", old, sign=-1)
            self.put("evaluation", *values)

    def _noted(self, table: str, digest: bytes) -> None:
        self.seals.add(table, digest)
        self._sealed = False

    def commit(self) -> None:
        """Seal the tables, and make everything durable."""
        if not self._sealed:
            self._connection.executemany("INSERT OR REPLACE INTO seal VALUES (?, ?, ?)", self.seals.rows())
            self._sealed = True
        self._connection.commit()

    def close(self) -> None:
        """Release the file; what is not committed is lost."""
        self._connection.close()
        self.closed = True
