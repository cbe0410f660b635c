"""Where a study is: whether its file is still the one that was opened, and where to go with it and with earlier ones.

SQLite goes on writing into a file that was removed, without a word. So the file is looked at by its name, too.
"""

import os
import re
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path

_EARLIER = re.compile(r"(?:study|results)-previous(?:-([0-9]{1,9}))?(?:\.sqlite|\.yaml)?")
_BESIDE = ("-journal", "-wal")
"""What SQLite puts beside a database that was not closed; it belongs to it."""


class Place:
    """The place of a file that was just opened, or is about to be. Raises ``OSError`` where it is not there."""

    def __init__(self, path: Path) -> None:
        self._shown = path
        self._path = path.absolute()  # the working directory may be removed, too
        found = self._path.stat()
        self._file, self._size = (found.st_dev, found.st_ino), found.st_size
        self._folder = _identity(self._path.parent)

    @property
    def folder(self) -> Path:
        """The folder of the file, absolute."""
        return self._path.parent

    def trouble(self) -> str:
        """Return in words what happened to the file since, or nothing."""
        try:
            found = self._path.stat()
        except OSError:
            return self._gone("removed or renamed")
        if (found.st_dev, found.st_ino) != self._file:
            return self._gone("replaced by another one")
        return f"the study '{self._shown}' was cut short" if found.st_size < self._size else ""

    def _gone(self, how: str) -> str:
        folder = _identity(self._path.parent)
        if folder == self._folder:
            return f"the study '{self._shown}' was {how}"
        how = "removed or renamed" if folder is None else "replaced by another one"
        return f"the folder '{self._shown.parent}' was {how}"

    def grown(self) -> None:
        """Note that the file is as large as it should be, and must not become smaller."""
        self._size = self._path.stat().st_size


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def refuge(folder: Path) -> Path:
    """Make a new folder next to one that is lost, else among the temporary files. Raises ``OSError``."""
    for number in count(1):
        try:
            made = folder.with_name(numbered(f"{folder.name}-rescued", number))
            made.mkdir()
        except FileExistsError:
            continue
        except (OSError, ValueError):  # the folder above is gone or may not be written, or there is none
            break
        return made
    return Path(tempfile.mkdtemp(prefix="dse-rescued-"))


def shown(path: Path) -> str:
    """Return a path as somebody would type it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def numbered(stem: str, number: int) -> str:
    """Return the name of the first of its kind, of the second one (``stem-2``) and so on."""
    return stem if number == 1 else f"{stem}-{number}"


def next_number(folder: Path) -> int:
    """Return the number of what is put aside next in a folder: one more than the largest."""
    found = (_EARLIER.fullmatch(path.name) for path in folder.iterdir())
    return 1 + max((int(match[1] or 1) for match in found if match), default=0)


def made_aside(folder: Path, stem: str, beside: Path | None) -> Path:
    """Make a folder with the number of the study that was put aside, else the next one. Raises ``OSError``."""
    match = None if beside is None else _EARLIER.fullmatch(beside.name)
    first = next_number(folder) if match is None else int(match[1] or 1)
    for number in count(first):
        with suppress(FileExistsError):
            made = folder / numbered(stem, number)
            made.mkdir()
            return made
    raise AssertionError("there is always another number")


def put_beside(path: Path, beside: Path | None) -> Path:
    """Rename a study file (YAML) to ``study-previous.yaml``, or ``-2`` and so on, and return the new path.

    It stays in its folder, since the paths in it lead from there. ``beside``: what was put aside of the same search,
    whose number it gets where it is free. Raises ``OSError``.
    """
    match = None if beside is None else _EARLIER.fullmatch(beside.name)
    first = next_number(path.parent) if match is None else int(match[1] or 1)
    for number in count(first):
        kept = path.with_name(f"{numbered('study-previous', number)}.yaml")
        if not kept.exists() and not kept.is_symlink():
            return path.rename(kept)
    raise AssertionError("there is always another number")


def put_aside(path: Path) -> Path:
    """Rename a study to ``study-previous.sqlite``, or ``-2`` and so on, replacing nothing. Raises ``OSError``."""
    for number in count(next_number(path.parent)):
        kept = path.with_name(f"{numbered('study-previous', number)}.sqlite")
        try:
            os.close(os.open(kept, os.O_CREAT | os.O_EXCL))  # the name is ours, whoever else looks for one
        except FileExistsError:
            continue
        try:
            path.replace(kept)
        except OSError:
            kept.unlink()
            raise
        for end in _BESIDE:
            with suppress(FileNotFoundError):
                Path(f"{path}{end}").rename(f"{kept}{end}")
        return kept
    raise AssertionError("there is always another number")
