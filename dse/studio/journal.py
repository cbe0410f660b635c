"""The journal of a session, ``studio.jsonl`` in the output folder: what survives a reload of the page and a kill.

The first line says for what it was made and where it began; each further one is a change, as the page said it. A line
is written before its change is shown. The last line may be torn by a kill: it is dropped. What follows from the lines
is made anew when the journal is opened, and each is checked as if a page said it.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from dse.base.errors import DseError, FormatError, OptionError
from dse.base.source import file_span
from dse.model.trace import Topology
from dse.studio.messages import Change, is_change, message_of

JOURNAL = "studio.jsonl"
_FORM = 1
_LARGEST = 1 << 28
"""Bytes of a journal that is read: a hundred thousand changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a journal holds. ``start``: the mapping that it began with, as text; ``note``: what users should hear."""

    start: str
    changes: tuple[Change, ...] = ()
    note: str = ""


class Journal:
    """An open journal; ``add`` appends to it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._size = size

    def add(self, entries: Mapping[str, Any]) -> None:
        """Append a change. Raises ``OptionError`` where it cannot be written, or another program wrote to the file."""
        line = json.dumps(entries).encode() + b"\n"
        try:
            with self.path.open("r+b") as file:
                if os.fstat(file.fileno()).st_size != self._size:
                    raise OptionError(
                        f"'{self.path}' was changed by another program: this change is not kept",
                        expected="end the other `dse studio` of this folder, or start one of them with another --out",
                    )
                file.seek(0, os.SEEK_END)
                file.write(line)
        except OSError as cause:
            raise _unwritable(self.path, cause) from cause
        self._size += len(line)


def open_journal(folder: Path, identity: Mapping[str, str], start: str, topology: Topology) -> tuple[Journal, Kept]:
    """Return the journal in a folder with what it holds; a new one begins at the mapping ``start``.

    ``identity``: what has to be equal for the changes to mean the same; where it is not, the journal is put aside.

    Raises:
        FormatError: a line of the journal is damaged. OptionError: it cannot be written.
    """
    path = folder / JOURNAL
    try:
        folder.mkdir(parents=True, exist_ok=True)
        note = ""
        if path.exists():
            if path.stat().st_size > _LARGEST:
                raise _damaged(path, 0, f"it has more than {_LARGEST:,} bytes")
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                kept = _read(path, whole, identity, topology)
                if kept is not None:
                    os.truncate(path, len(whole))
                    return Journal(path, len(whole)), kept
                note = f"what was on the page before is of other inputs: it is kept in {_put_aside(path).name}"
        header = json.dumps({"dse studio": _FORM, "made for": dict(identity), "start": start}).encode() + b"\n"
        path.write_bytes(header)
    except OSError as cause:
        raise _unwritable(path, cause) from cause
    return Journal(path, len(header)), Kept(start=start, note=note)


def _read(path: Path, data: bytes, identity: Mapping[str, str], topology: Topology) -> Kept | None:
    """Return what a journal holds, None where it was made for something else. Raises ``FormatError``."""
    lines = [_object(path, number, line) for number, line in enumerate(data.splitlines(), start=1)]
    header = lines[0]
    start = header.get("start")
    if header.get("dse studio") != _FORM or not isinstance(start, str):
        raise _damaged(path, 1, "it does not begin as one of this version of dse")
    if header.get("made for") != dict(identity):
        return None
    return Kept(start=start, changes=tuple(_changes(path, lines[1:], topology)))


def _changes(path: Path, lines: Sequence[Mapping[str, Any]], topology: Topology) -> list[Change]:
    found: list[Change] = []
    for number, entries in enumerate(lines, start=2):
        try:
            message = message_of(entries, topology)
        except DseError as error:
            raise _damaged(path, number, error.first_error.message) from error
        if not is_change(message):
            raise _damaged(path, number, f"'{entries.get('type')}' is no change")
        found.append(message)  # type: ignore[arg-type]  # no command: it was looked at just now
    return found


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as cause:
        raise _damaged(path, number, f"the line is no JSON: {cause}") from cause
    if not isinstance(found, dict):
        raise _damaged(path, number, "the line is no JSON object")
    return found


def _put_aside(path: Path) -> Path:
    """Give a journal a name that is free, and return it. Raises ``OSError``."""
    for number in count(1):
        aside = path.with_name(f"studio-previous{'' if number == 1 else f'-{number}'}.jsonl")
        if not aside.exists() and not aside.is_symlink():
            return path.rename(aside)
    raise AssertionError("there is always another number")


def _damaged(path: Path, number: int, why: str) -> FormatError:
    """Return the error for a journal that cannot be used, at a line."""
    return FormatError(
        f"this is no journal of a page: {why}",
        span=file_span(str(path), number),
        expected="remove the file to begin anew, or the lines from here on to go on from there",
    )


def _unwritable(path: Path, cause: OSError) -> OptionError:
    return OptionError(
        f"cannot keep what happens on the page in '{path}': {cause.strerror or cause}",
        expected="make room, or choose another folder with --out",
    )
