"""Study files that somebody changed: by SQL, whatever the schema forbids, and with digests that are right again."""

import sqlite3
from contextlib import closing
from pathlib import Path

from dse.formats.study_rows import row_digest
from dse.formats.study_tables import Seals


def edit(path: Path, statement: str = "", *, sealed: bool = False) -> int:
    """Run a statement as if no column had a type or had to be there; return how many rows it changed.

    ``sealed``: then give every row the digest of what it says now, and the tables their seals.
    """
    _schema(path, loose=not statement.startswith(("ALTER", "CREATE", "DROP")))
    with closing(sqlite3.connect(path)) as database:
        changed = database.execute(statement).rowcount if statement else 0
        if sealed:
            _seal(database)
        database.commit()
    _schema(path, loose=False)
    return changed


def _schema(path: Path, *, loose: bool) -> None:
    """Take the types and constraints out of the schema, or put them back."""
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        database.execute("PRAGMA writable_schema = ON")
        database.execute("PRAGMA synchronous = OFF")
        for name, sql in found:
            other = sql.replace(" NOT NULL", " /**/").replace(") STRICT", ") /*S*/")
            if not loose:
                other = sql.replace(" /**/", " NOT NULL").replace(") /*S*/", ") STRICT")
            database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (other, name))
        database.commit()


def _seal(database: sqlite3.Connection) -> None:
    seals = Seals({})
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "row_digest"]
        if table == "seal":
            continue
        for number, *values in database.execute(f"SELECT rowid, {', '.join(columns)} FROM {table}").fetchall():
            digest = row_digest(table, values)
            database.execute(f"UPDATE {table} SET row_digest = ? WHERE rowid = ?", (digest, number))
            seals.add(table, digest)
    database.execute("DELETE FROM seal")
    database.executemany("INSERT INTO seal VALUES (?, ?, ?)", seals.rows())
