"""The study file: an SQLite database with every evaluation of one search and where its inputs came from.

Rollback journal with full synchronisation: what ``commit`` returned from survives a kill or a power cut at any instant,
and one file is the whole study. The file is locked while a search writes to it. Each row carries a digest, and table
``seal`` says of each table how many rows it has and what their digests add up to: what was changed, added or lost
since is noticed when the file is read. A file or folder that is removed or replaced while the search runs is noticed at
each commit, and what was evaluated is then kept elsewhere (``dse/formats/study_place.py``).
"""

import functools
import json
import os
import re
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dse.base.errors import ExecutionError, FormatError, OptionError
from dse.base.packing import pack_integers, unpack_integers
from dse.base.source import file_span
from dse.formats.study_place import Place, put_aside, refuge, shown
from dse.formats.study_rows import Setting, check_evaluation, check_least, evaluation_of, frame_of, setting_of, text_of
from dse.formats.study_tables import SCHEMA_VERSION, Tables, connected, guard
from dse.model.design_point import DesignPoint, Partition
from dse.model.packed_point import SHARED, PackedPoint, PartitionFrame, PointLayout, shared_layout
from dse.model.study import Evaluation
from dse.model.trace import Topology, TraceActor, TraceBuffer

_DIGEST = re.compile("[0-9a-f]{64}")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_REFUSED = (
    *_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
"""What the system does not allow; anything else that SQLite complains of is the fault of the file."""
_MALFORMED = (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError)
"""What reading a damaged file may raise."""


_Known: TypeAlias = tuple[PointLayout, tuple[list[str], str]]
"""A layout with what it says in the identity of its points."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a study is begun with. ``identity``: what must be equal for evaluations to hold; ``manifest``: the rest."""

    topology: Topology
    identity: Mapping[str, str]
    manifest: Mapping[str, str]


class StudyStore:
    """An open study file. ``identity``: what must be equal for stored evaluations to hold; ``manifest``: the rest."""

    def __init__(self, path: Path, tables: Tables, contents: "Contents", place: Place) -> None:
        self._path = path
        self._tables = tables
        self._contents = contents
        self._place = place
        self._layouts = _Layouts(tables, len(contents.topology.actors))
        self._lost: ExecutionError | None = None
        """Why evaluations that were added are not in the file: a full disk undoes the open transaction."""
        self._least = 0
        self._known: Mapping[str, Evaluation] = {}
        self._notes: dict[str, str] = {}
        """What the manifest holds, and what a search has noted since."""
        self._added: list[Evaluation] = []
        """With what the file held, all that a search has: it can be written again where the file is gone."""

    def load(self) -> None:
        """Read what evaluations refer to by number. Raises ``FormatError`` where it is damaged, and closes the file."""
        try:
            self._layouts.load(self._contents.topology)
            self._notes = {str(key): str(value) for key, value in self._tables.rows("manifest")}
        except _MALFORMED as cause:
            self._tables.close()
            raise damaged(self._path, str(cause)) from cause

    def expect_at_least(self, makespan: int) -> None:
        """Refuse a study with a makespan below this one, in ticks, which is proven to be the least.

        Raises ``FormatError`` where the study has been read and holds one; else ``known`` does.
        """
        self._least = makespan
        try:
            for evaluation in self._known.values():
                check_least(evaluation, makespan)
        except ValueError as cause:
            raise damaged(self._path, str(cause)) from cause

    def known(self) -> dict[str, Evaluation]:
        """Return the stored evaluations by digest, in order. Raises ``FormatError`` where one is damaged."""
        try:
            layout = self._layouts.layouts()
            found = [self._evaluation(values, layout) for values in self._tables.rows("evaluation")]
        except _MALFORMED as cause:
            raise damaged(self._path, str(cause)) from cause
        known = {evaluation.digest: evaluation for evaluation in found}
        self._known = known
        return known

    def _evaluation(self, values: Sequence[Any], layout: Callable[[int, bytes], _Known]) -> Evaluation:
        *_, setting, parts, members, _ = values
        known, texts = layout(setting, parts)
        evaluation = evaluation_of(values, PackedPoint(known, members))
        check_evaluation(evaluation, texts, len(self._contents.topology.actors), self._least)
        return evaluation

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation to the open transaction, or put it in the place of what was known of its point.

        Raises ``ExecutionError`` where the file cannot be written.
        """
        self._added.append(evaluation)
        try:
            self._put(evaluation)
        except sqlite3.DatabaseError as cause:
            raise self._unwritable(cause) from cause
        except OverflowError as cause:
            raise ExecutionError(
                f"a makespan of {evaluation.makespan:,} ticks is too large for the study, whose numbers have 63 bits",
                expected="are the weights and clocks right?",
            ) from cause

    def noted(self, key: str) -> str | None:
        """Return what this search, or the one that it continues, has noted; None where it has not."""
        return self._notes.get(key)

    def note(self, key: str, value: str) -> None:
        """Add a line to the manifest; the first one of a key stays. Raises as ``add`` does."""
        if key in self._notes:
            return
        self._notes[key] = value
        try:
            self._tables.put("manifest", key, value)
        except sqlite3.DatabaseError as cause:
            raise self._unwritable(cause) from cause

    def _put(self, evaluation: Evaluation) -> None:
        setting, parts = self._layouts.numbers(evaluation.packed.layout)
        self._tables.put_or_replace(
            bytes.fromhex(evaluation.digest),
            evaluation.ordinal,
            None if evaluation.cut else evaluation.makespan,
            evaluation.makespan if evaluation.cut else None,
            evaluation.tick_unit,
            int(evaluation.deadlock),
            float(evaluation.seconds),
            setting,
            parts,
            evaluation.packed.members,
            evaluation.times,
        )

    def commit(self) -> None:
        """Make everything added durable.

        Raises ``ExecutionError`` where the file cannot be written, or is not in its place.
        """
        if self._lost is not None:
            raise self._lost
        try:
            self._tables.commit()
        except sqlite3.DatabaseError as cause:
            raise self._unwritable(cause) from cause
        what = self._place.trouble()
        if what:
            raise self._displaced(what)
        self._place.grown()

    def close(self) -> None:
        """Commit and release the file. Raises as ``commit`` does."""
        try:
            if self._lost is None and not self._tables.closed:  # else it was raised already
                self.commit()
        finally:
            self._tables.close()

    def finish(self) -> None:
        """Close the file, and see to it that it holds what was written. Raises ``ExecutionError`` where it does not."""
        self.close()
        try:
            with closing(connected(self._path)) as connection:
                guard(connection)
                whole = Tables.open(connection).seals == self._tables.seals
        except _MALFORMED:
            whole = False
        if not whole:
            raise self._displaced(f"the study '{self._path}' was overwritten")

    def _unwritable(self, cause: sqlite3.DatabaseError) -> ExecutionError:
        what = self._place.trouble()
        if what:
            return self._displaced(what)
        self._lost = ExecutionError(
            f"cannot write the study '{self._path}': {cause}",
            expected="what was reported is in it: make room, and continue with --resume",
        )
        return self._lost

    def _displaced(self, what: str) -> ExecutionError:
        """Keep all evaluations in another folder, and return the error that says so."""
        self._lost = ExecutionError(f"{what} while the search was writing to it", expected=self._rescued())
        return self._lost

    def _rescued(self) -> str:
        """Write all evaluations to a new study and return in words where they are."""
        everything = {**self._known, **{evaluation.digest: evaluation for evaluation in self._added}}
        if not everything:
            return "nothing was evaluated before: start again"
        try:
            folder = refuge(self._place.folder)
            contents = self._contents
            path = folder / self._path.name
            manifest = {**contents.manifest, **self._notes}
            rescue = create_study(path, contents.topology, contents.identity, manifest)
            for evaluation in everything.values():
                rescue.add(evaluation)
            rescue.close()
        except (OSError, OptionError, ExecutionError) as cause:
            return f"its {len(everything):,} evaluations are lost, since they cannot be written elsewhere: {cause}"
        where = shown(folder)
        return f"all {len(everything):,} evaluations are in '{where}': continue with --resume --out '{where}'"


class _Layouts:
    """The tables ``setting`` and ``part`` of a study: what evaluations refer to by number, counted from 0."""

    def __init__(self, tables: Tables, n_actors: int) -> None:
        self._n_actors = n_actors
        self._tables = tables
        self._settings: dict[Setting, int] = {}
        self._parts: dict[PartitionFrame, int] = {}
        self._numbers: dict[int, tuple[PointLayout, int, bytes]] = {}
        """By the identity of the layout, which is kept too: equal ones are nearly always the same."""

    def load(self, topology: Topology) -> None:
        """Read the tables. Raises ``ValueError`` where they are not of this network."""
        actors = [tuple(row) for row in self._tables.rows("actor")]
        if actors != [(number, actor.name) for number, actor in enumerate(topology.actors)]:
            raise ValueError("its actors are not those of the network")
        for row in self._tables.rows("setting"):
            self._settings[setting_of(row, len(topology.buffers))] = row[0]
        for row in self._tables.rows("part"):
            self._parts[frame_of(row, self._n_actors)] = row[0]
        for numbers in (self._settings.values(), self._parts.values()):
            if sorted(numbers) != list(range(len(numbers))):  # also where two rows are equal
                raise ValueError("the numbers of its settings or parts have gaps")

    def layouts(self) -> Callable[[int, bytes], _Known]:
        """Return the function from ``setting`` and ``parts`` of a row to its layout.

        It raises ``ValueError`` where a number is not in its table, or ``parts`` is no packed integers.
        """
        most = self._n_actors  # no partition is without actors
        settings = {number: setting for setting, number in self._settings.items()}
        part_of = {number: part for part, number in self._parts.items()}

        @functools.cache
        def layout(setting: int, parts: bytes) -> _Known:
            try:
                frames = tuple(part_of[number] for number in unpack_integers(parts, most=most))
                found = shared_layout(frames, *settings[setting])
            except KeyError as cause:
                raise ValueError(f"an evaluation refers to setting or part {cause}, which is not there") from cause
            return found, found.texts()

        return layout

    def numbers(self, layout: PointLayout) -> tuple[int, bytes]:
        """Return ``setting`` and ``parts`` of a layout; what is new is added to the open transaction."""
        found = self._numbers.get(id(layout))
        if found is None:
            setting = self._setting(layout)
            found = layout, setting, pack_integers([self._part(frame) for frame in layout.frames])
            if len(self._numbers) >= SHARED:
                self._numbers.clear()
            self._numbers[id(layout)] = found
        return found[1:]

    def _setting(self, layout: PointLayout) -> int:
        key = layout.capacities, layout.release, layout.transfers, layout.name
        if key not in self._settings:
            number = len(self._settings)
            tokens = text_of(layout.capacities)
            self._tables.put("setting", number, tokens, layout.release, layout.transfers, layout.name)
            self._settings[key] = number
        return self._settings[key]

    def _part(self, frame: PartitionFrame) -> int:
        if frame not in self._parts:
            number = len(self._parts)
            clock = None if frame.clock_mhz is None else str(frame.clock_mhz)
            order = text_of(frame.static_order)
            self._tables.put("part", number, frame.name, frame.unit, frame.policy, frame.cores, order, clock)
            self._parts[frame] = number
        return self._parts[frame]


def create_study(
    path: Path, topology: Topology, identity: Mapping[str, str], manifest: Mapping[str, str]
) -> StudyStore:
    """Start a study file that does not exist yet.

    Raises ``OptionError`` where it cannot be written, or where another search has just started one.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # it is tried to be made as a study, and is found not to be empty
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        return _locked(path, Contents(topology, identity, manifest), must_be_new=True)
    except OSError as cause:
        raise OptionError(
            f"cannot write the study '{path}': {cause.strerror or cause}", expected="choose another folder"
        ) from cause


def move_aside(path: Path) -> Path | None:
    """Make room for a new study: keep an earlier one, unless it holds nothing, under a name that is free.

    Returns where it is kept: ``study-previous.sqlite``, ``study-previous-2.sqlite`` and so on, or None. Raises
    ``OptionError`` when another search is writing the study, or the folder cannot be written.
    """
    if not path.is_file():
        return None
    try:
        place = Place(path)
        with closing(connected(path)) as connection:  # its lock is held until the file has its new name
            holds = _holds_something(path, connection)
            if place.trouble():
                raise just_started(path)
            if holds:
                return put_aside(path)
            path.unlink()
        Path(f"{path}-journal").unlink(missing_ok=True)
    except OSError as cause:
        raise OptionError(
            f"cannot move the earlier study '{path}' aside: {cause.strerror or cause}", expected="choose another folder"
        ) from cause
    return None


def _holds_something(path: Path, connection: sqlite3.Connection) -> bool:
    """Lock a file and return whether it holds anything to keep. Raises ``OptionError`` where another search has it."""
    try:
        guard(connection)
        connection.execute("BEGIN EXCLUSIVE")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if ("evaluation",) in tables:
            return connection.execute("SELECT 1 FROM evaluation LIMIT 1").fetchone() is not None
    except (sqlite3.Error, ValueError) as cause:
        if isinstance(cause, sqlite3.Error) and _code(cause) in _BUSY:
            raise _refusal(path, cause) from cause
    return path.stat().st_size > 0  # no study, or a damaged one: whatever it is, it is not ours to delete


def just_started(path: Path) -> OptionError:
    """Return the error for two searches that begin in one folder at the same time."""
    return OptionError(
        f"cannot use the study '{path}': another search has just started it", expected="choose another folder"
    )


def resume_study(
    path: Path, topology: Topology, identity: Mapping[str, str], manifest: Mapping[str, str]
) -> StudyStore:
    """Open a study file to continue it; one that was killed before its first commit is started anew.

    Raises ``OptionError`` when there is none, when another process holds it, or when its inputs or options differ from
    ``identity`` (every difference is named); ``FormatError`` when it is damaged or not a study.
    """
    if not path.is_file() and not path.is_dir():
        raise OptionError(f"there is no study to resume: '{path}' does not exist", expected="leave out --resume")
    store = _locked(path, Contents(topology, identity, manifest), must_be_new=False)
    store.load()
    return store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """What a study file holds. ``topology``: the names of the actors; of the FIFOs there is only their number."""

    topology: Topology
    identity: Mapping[str, str]
    manifest: Mapping[str, str]
    evaluations: tuple[Evaluation, ...]


def read_study(path: Path) -> StoredStudy:
    """Return all that is in a study file, which stays as it is.

    Raises ``OptionError`` where a search is writing it, ``FormatError`` where it is damaged or not a study.
    """
    try:
        with closing(connected(path)) as connection:
            return _stored(path, connection)
    except OSError as cause:
        raise OptionError(f"cannot read the study '{path}': {cause.strerror or cause}") from cause
    except sqlite3.Error as cause:
        raise _refusal(path, cause) from cause
    except _MALFORMED as cause:
        raise damaged(path, str(cause)) from cause


def glimpse_study(path: Path) -> StoredStudy | None:
    """Return what is in a study file that a search may be writing right now, None where nothing whole is to be seen.

    The file is copied past the lock of the search. A copy that is torn, since the search was writing, is found out by
    the seals of its tables: look again later. Not for a process that writes the file: its lock would be lost.
    """
    try:
        data = path.read_bytes()
        if not data:  # a search has just made it
            return None
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(data)
            return _stored(path, connection)
    except (OSError, FormatError, *_MALFORMED):
        return None


def is_written(path: Path) -> bool:
    """Return whether a search holds a study file open right now.

    Asked by taking the lock of a reader for an instant, which a search that begins waits for. Of a killed search no
    lock is left. Not for a process that writes the file: its lock would be lost.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error as cause:
        return _code(cause) in _BUSY
    return False


def _stored(path: Path, connection: sqlite3.Connection) -> StoredStudy:
    """Return what a study holds. Raises ``FormatError``, and what ``_MALFORMED`` names, where it is damaged."""
    guard(connection)
    if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
        raise ValueError(f"it is not a study of format {SCHEMA_VERSION}, which this version of dse reads")
    tables = Tables.open(connection)
    pairs = [{str(k): str(v) for k, v in tables.rows(table)} for table in ("identity", "manifest")]
    topology = _stored_topology(tables)
    store = StudyStore(path, tables, Contents(topology, *pairs), Place(path))
    store.load()
    return StoredStudy(
        topology=topology, identity=pairs[0], manifest=pairs[1], evaluations=tuple(store.known().values())
    )


def _stored_topology(tables: Tables) -> Topology:
    """Return what a study says of its network: actors without actions and ports, and FIFOs between the first one."""
    names = [str(name) for _, name in tables.rows("actor")]
    settings = [row[1] for row in tables.rows("setting")]
    n_buffers = len(json.loads(settings[0])) if settings else 0
    fifo = TraceBuffer(source=0, source_port=0, target=0, target_port=0, token_bytes=0, token_bits=0)
    actors = (TraceActor(name=name, class_name="", inputs=(), outputs=(), actions=()) for name in names)
    return Topology(name="", actors=tuple(actors), buffers=(fifo,) * n_buffers)


def _locked(path: Path, contents: Contents, *, must_be_new: bool) -> StudyStore:
    """Open a file, take its lock until it is closed, and begin a study in it where it is empty. Raises as its users."""
    if path.is_dir():
        raise OptionError(f"the study '{path}' is a folder", expected="choose another folder with --out")
    place = Place(path)
    try:
        connection = connected(path)
        try:
            guard(connection)
            tables = _tables(path, connection, contents, must_be_new=must_be_new)
            if place.trouble():
                raise just_started(path)
        except BaseException:  # else the file stays locked, and an interrupt leaves its journal
            connection.close()
            raise
    except sqlite3.Error as cause:
        raise _refusal(path, cause) from cause
    except _MALFORMED as cause:
        raise damaged(path, str(cause)) from cause
    place.grown()
    return StudyStore(path, tables, contents, place)


def _tables(path: Path, connection: sqlite3.Connection, contents: Contents, *, must_be_new: bool) -> Tables:
    """Return the tables of a study, after checking them and taking the lock of the file."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # the lock of the first transaction is kept
    connection.execute("PRAGMA synchronous = FULL")  # wait for the disk at each commit
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    empty = version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if must_be_new and not empty:
        raise just_started(path)
    if not empty and version != SCHEMA_VERSION:
        raise ValueError(f"it is not a study of format {SCHEMA_VERSION}, the one that this version of dse writes")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")  # takes the lock now, so that a second search fails here and not later
    if empty:
        return _begun(connection, contents)
    tables = Tables.open(connection)
    connection.commit()
    stored: dict[str, str] = {str(key): str(value) for key, value in tables.rows("identity")}
    deque(tables.rows("manifest"), maxlen=0)  # that it is whole
    _compare_identity(path, stored, contents.identity)
    return tables


def _begun(connection: sqlite3.Connection, contents: Contents) -> Tables:
    """Return the tables of a new study; a kill leaves an empty file or a whole study."""
    tables = Tables.create(connection)
    for number, actor in enumerate(contents.topology.actors):
        tables.put("actor", number, actor.name)
    for table, pairs in (("identity", contents.identity), ("manifest", contents.manifest)):
        for key, value in sorted(pairs.items()):
            tables.put(table, key, value)
    tables.commit()
    return tables


def _code(cause: sqlite3.Error) -> int:
    """Return what SQLite says is wrong; 0 where the error is one of Python, such as text that is not UTF-8."""
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF


def _refusal(path: Path, cause: sqlite3.Error) -> FormatError | OptionError:
    """Return the error for a file that SQLite does not open or read."""
    if _code(cause) not in _REFUSED:
        return damaged(path, str(cause))
    busy = _code(cause) in _BUSY
    advice = "another search is writing it" if busy else "see that there is room, and that its folder can be written"
    return OptionError(f"cannot use the study '{path}': {cause}", expected=advice)


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
        f"the study file cannot be read: {' '.join(why.split())}",  # SQLite may use several lines
        span=file_span(str(path), 0),
        expected="restore it from a copy, or search anew, without --resume",
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
