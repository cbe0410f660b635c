"""Which files a program may open, and what a name that it gives means.

A program may read the files named on the command line (``-i``, or what lies below it if that is a folder, and ``-y``)
and what lies below the folder of its network. It may write the files of ``-o`` and ``-w``, and below the folder of
``--files``. It may do both below each folder of ``--allow-files``. Links are followed before it is decided, and only
regular files are opened.

A relative name counts from the folder of the network, and that folder is never changed: a file opened for writing is
created below ``--files`` by the same name, and whoever reads that name later in the same run gets that copy. A file
opened to be read and written is copied there before the first byte is written. What an earlier run left below
``--files`` is not read.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from dse.base.errors import ExecutionError, OptionError
from dse.run.options import RunOptions

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""What a file is opened with: its links were followed before, and a pipe that took its place must not be waited for."""


class OpenFile(Protocol):
    """What natives do with a file that is open."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes."""
        ...

    def write(self, data: bytes, /) -> int:
        """Write bytes."""
        ...

    def seek(self, position: int, origin: int = 0, /) -> int:
        """Go to a position and return it."""
        ...

    def tell(self) -> int:
        """Return the position."""
        ...

    def flush(self) -> None:
        """Hand over to the system what was written."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


@dataclass(slots=True)
class UpdatedFile:
    """A file of the network opened to be read and written: the original until the first write, then a copy."""

    stream: BinaryIO
    copy: Callable[[], None] | None
    """Makes the copy and gives it to all who have the file open; None once that is done."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes."""
        return self.stream.read(size)

    def write(self, data: bytes, /) -> int:
        """Write bytes, to the copy."""
        if self.copy is not None:
            self.copy()
        return self.stream.write(data)

    def seek(self, position: int, origin: int = 0, /) -> int:
        """Go to a position and return it."""
        return self.stream.seek(position, origin)

    def tell(self) -> int:
        """Return the position."""
        return self.stream.tell()

    def flush(self) -> None:
        """Hand over to the system what was written."""
        self.stream.flush()

    def close(self) -> None:
        """Close it."""
        self.stream.close()

    def turn_to(self, path: Path) -> None:
        """Go on with another file at the same position."""
        position = self.stream.tell()
        self.stream.close()
        self.stream = _opened(path, os.O_RDWR, str(path))
        self.stream.seek(position)
        self.copy = None


@dataclass(slots=True)
class FileAccess:
    """The files of one run. ``home``: the folder of the network; ``files``: where the program's own are created."""

    options: RunOptions
    home: Path
    files: Path
    read: dict[str, None] = field(default_factory=dict)
    """Files that were opened for reading, by name, in the order in which they were."""
    written: list[str] = field(default_factory=list)
    """Files that the run wrote or copied, as they are to be shown."""
    _copies: dict[Path, Path] = field(default_factory=dict)
    """Place beside the network -> the file below ``files`` that this run has made for it."""
    _updated: dict[Path, list[UpdatedFile]] = field(default_factory=dict)
    """Place beside the network -> the files open there that may still have to turn to a copy."""
    _made: set[Path] = field(default_factory=set)
    """The files that this run has made."""

    def __post_init__(self) -> None:
        """Raise ``OptionError`` for folders that cannot be what they are named for."""
        for folder in self.options.allow_files:
            if not Path(folder).is_dir():
                raise OptionError(f"there is no folder '{folder}'", expected="--allow-files takes folders")
        home = _resolved(self.home, str(self.home))
        if _is_below(home, (_resolved(self.files, str(self.files)),)):
            raise OptionError(
                f"the folder '{self.files}' for what the program writes holds the network",
                expected="choose another with --files: the network's own files are never changed",
            )

    def read_named(self, name: str) -> BinaryIO:
        """Open a file that the program names for reading. Raises ``ExecutionError`` where that is refused."""
        return self.read_path(self._beside(name), name)

    def read_path(self, path: Path, shown: str | None = None) -> BinaryIO:
        """Open a file for reading: the copy that this run has made of it, else itself."""
        name = str(path) if shown is None else shown
        copy = self._copies.get(_plain(path))
        if copy is not None:
            return _opened(copy, os.O_RDONLY, name)
        place = self._readable(path, name)
        if _is_below(place, (_resolved(self.files, name),)) and place not in self._made:
            raise ExecutionError(f"cannot open '{name}': {os.strerror(errno.ENOENT)}")  # an earlier run left it
        file = _opened(place, os.O_RDONLY, name)
        self.read[str(path)] = None
        return file

    def create_named(self, name: str) -> BinaryIO:
        """Open a file that the program names for writing, empty. Raises ``ExecutionError`` where that is refused."""
        beside = self._beside(name)
        if self._is_own(beside):
            return _opened(self._copy_of(beside, name), os.O_RDWR | os.O_TRUNC, name)
        place = self._writable(beside, name)
        if place not in self._made and _is_below(place, (_resolved(self.files, name),)):
            _make(place, name)
        self._note(place, place)
        return _opened(place, os.O_RDWR | os.O_CREAT | os.O_TRUNC, name)

    def create_in(self, folder: Path, name: str) -> BinaryIO:
        """Open a file below a folder that the user named for writing, empty."""
        if "\0" in name:
            raise ExecutionError(f"the program opens '{name}', which is no name of a file")
        place = _resolved(folder / name, name)
        if not _is_below(place, (_resolved(folder, name), *self._allowed())):
            raise _refused(
                "write", name, folder / name, place, f"outside '{folder}'", "allow its folder with --allow-files DIR"
            )
        file = _opened(place, os.O_RDWR | os.O_CREAT | os.O_TRUNC, name)
        self._note(folder / name, place)
        return file

    def update_named(self, name: str) -> OpenFile:
        """Open a file that the program names to be read and written; it is created where there is none."""
        beside = self._beside(name)
        key = _plain(beside)
        if key in self._copies:
            return _opened(self._copies[key], os.O_RDWR, name)
        if not self._is_own(beside) and self._may_write(beside, name):
            return self._updated_in_place(beside, name)
        if not os.path.lexists(key):
            return self.create_named(name)
        file = UpdatedFile(self.read_named(name), lambda: self._turn(beside, name))
        self._updated.setdefault(key, []).append(file)
        return file

    # Places -----------------------------------------------------------------------------------------------------------

    def _beside(self, name: str) -> Path:
        """Return the path of a name. Raises ``ExecutionError`` for one that no file can have."""
        if "\0" in name:
            raise ExecutionError(f"the program opens '{name}', which is no name of a file")
        return self.home / name

    def _is_own(self, path: Path) -> bool:
        """Return whether a path lies beside the network, as it is written."""
        return _is_below(_plain(path), (_plain(self.home),))

    def _allowed(self) -> tuple[Path, ...]:
        return tuple(_resolved(Path(folder), folder) for folder in self.options.allow_files)

    def _readable(self, path: Path, shown: str) -> Path:
        """Return the place of a file that may be read. Raises ``ExecutionError`` for another."""
        place = _resolved(path, shown)
        named = [name for name in (self.options.input, self.options.reference) if name is not None]
        given = [_resolved(Path(name), name) for name in named]
        own = (_resolved(self.home, shown), _resolved(self.files, shown))
        if _is_below(place, (*own, *given, *self._allowed())):
            return place
        advice = "give the file with -i, or allow its folder with --allow-files DIR"
        raise _refused("read", shown, path, place, "outside the folder of the network", advice)

    def _may_write(self, path: Path, shown: str) -> bool:
        """Return whether a file that does not lie beside the network may be written where it is."""
        return _is_below(_resolved(path, shown), (_resolved(self.files, shown), *self._allowed()))

    def _writable(self, path: Path, shown: str) -> Path:
        """Return the place of a file that may be written where it is. Raises ``ExecutionError`` for another."""
        place = _resolved(path, shown)
        if self._may_write(path, shown):
            return place
        advice = "write below the folder of the network, or allow its folder with --allow-files DIR"
        raise _refused("write", shown, path, place, f"outside '{self.files}'", advice)

    # Files ------------------------------------------------------------------------------------------------------------

    def _updated_in_place(self, path: Path, name: str) -> BinaryIO:
        place = self._writable(path, name)
        if _is_below(place, (_resolved(self.files, name),)) and place not in self._made:
            return self.create_named(name)  # what an earlier run left there is not read
        self._note(place, place)
        return _opened(place, os.O_RDWR | os.O_CREAT, name)

    def _copy_of(self, beside: Path, name: str) -> Path:
        """Return the file below ``files`` that stands for a path beside the network; made empty if it is new."""
        key = _plain(beside)
        if key not in self._copies:
            self._copies[key] = self._new_copy(key, name)
            for file in self._updated.pop(key, ()):
                if not file.stream.closed:
                    file.turn_to(self._copies[key])
        return self._copies[key]

    def _new_copy(self, key: Path, name: str) -> Path:
        if os.path.isdir(key):  # noqa: PTH112  # an impossible name is no folder
            raise ExecutionError(f"cannot open '{name}': {os.strerror(errno.EISDIR)}")
        path = self.files / key.relative_to(_plain(self.home))
        place = _resolved(path, str(path))
        if not _is_below(place, (_resolved(self.files, name),)):
            raise _refused(
                "write", str(path), path, place, f"outside '{self.files}'", "remove the link, or choose --files"
            )
        _make(place, str(path))
        self._note(path, place)
        return place

    def _turn(self, beside: Path, name: str) -> None:
        """Copy a file beside the network below ``files``; all who have it open to be updated go on with the copy."""
        if not self._is_own(beside):
            self._writable(beside, name)  # it is refused
        with self.read_named(name) as original, _opened(self._copy_of(beside, name), os.O_RDWR, name) as copy:
            shutil.copyfileobj(original, copy)

    def _note(self, path: Path, place: Path) -> None:
        """Remember a file that is written."""
        self._made.add(place)
        if str(path) not in self.written:
            self.written.append(str(path))


def _refused(verb: str, shown: str, path: Path, place: Path, where: str, advice: str) -> ExecutionError:
    """Return the error for a file that may not be opened."""
    led = f" (a link leads to '{place}')" if _plain(path) != place else ""
    return ExecutionError(f"the program may not {verb} '{shown}'{led}: that is {where}", expected=advice)


def _is_below(place: Path, folders: tuple[Path, ...]) -> bool:
    """Return whether a place is one of some files or folders, or lies below one."""
    return any(place == folder or folder in place.parents for folder in folders)


def _plain(path: Path) -> Path:
    """Return an absolute path without ``..`` and ``.``; links are kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow the links


def _resolved(path: Path, shown: str) -> Path:
    """Return where a path leads, its links followed. Raises ``ExecutionError`` for an impossible name."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise ExecutionError(f"cannot open '{shown}': {_reason(error)}") from error


def _reason(error: OSError | ValueError) -> str:
    return str(error.strerror if isinstance(error, OSError) else error)


def _make(place: Path, shown: str) -> None:
    """Put a new empty file in the place of what is there: another name of the old file keeps its content."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(place):
            _require_regular(place.stat().st_mode, shown)
            place.unlink()
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666))
    except OSError as error:
        raise ExecutionError(
            f"cannot write '{shown}': {error.strerror}", expected="choose another folder with --files DIR"
        ) from error


def _opened(place: Path, flags: int, shown: str) -> BinaryIO:
    """Open a place whose links were followed; it must still be a regular file there when it is open."""
    emptied = flags & os.O_TRUNC
    try:
        if os.path.lexists(place):
            _require_regular(place.stat().st_mode, shown)  # opening a device may already do something
        number = os.open(place, (flags & ~emptied) | _FLAGS, 0o666)
    except OSError as error:
        raise ExecutionError(f"cannot open '{shown}': {error.strerror}") from error
    try:
        _require_regular(os.fstat(number).st_mode, shown)
        if os.path.realpath(place) != str(place):
            raise ExecutionError(f"'{shown}' was replaced by a link while it was opened")
        if emptied:
            os.ftruncate(number, 0)
        return os.fdopen(number, "r+b" if flags & os.O_RDWR else "rb")
    except BaseException:
        os.close(number)
        raise


def _require_regular(mode: int, shown: str) -> None:
    """Raise ``ExecutionError`` for a folder, a device or a pipe."""
    if stat.S_ISDIR(mode):
        raise ExecutionError(f"cannot open '{shown}': {os.strerror(errno.EISDIR)}")
    if not stat.S_ISREG(mode):
        raise ExecutionError(
            f"the program may not open '{shown}': it is no regular file but a device or a pipe",
            expected="such a file can only be given by -i, -y, -o or -w",
        )
