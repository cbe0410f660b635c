"""Files that are whole or not there: written under a temporary name beside the final one, then renamed; and read."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

TEMPORARY = ".dse-"
"""How the names of files begin that are being written: one that is left was when the program was killed."""
_MOST_OF_A_DEVICE_BYTES = 64 << 20
"""As much as a native program takes of a mapping file. The size of a file is known before it is read."""


@contextmanager
def whole_file(path: str | Path, *, buffered: bool = True) -> Iterator[IO[bytes]]:
    """Yield a file that gets the name ``path`` when the block ends well; after any error ``path`` is as it was.

    The file keeps the rights of the one that it replaces, and a link stays a link. What is no ordinary file (a pipe,
    ``/dev/null``) is written to directly. It does not wait for the disk: this is about errors, not about power cuts.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    final = Path(os.path.realpath(path))
    with _naming(path, final):
        mode = final.stat().st_mode if final.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with final.open("wb", buffering=-1 if buffered else 0) as file:
                yield file
            return
        if mode is not None and not os.access(final, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary = final.with_name(f"{TEMPORARY}{secrets.token_hex(8)}.part")
        try:
            with temporary.open("xb", buffering=-1 if buffered else 0) as file:
                yield file
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            temporary.replace(final)
        except BaseException:  # an interrupt too
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def whole_content(path: Path) -> bytes:
    """Return the content of a file. Raises ``OSError``, also for a device or a pipe that does not end."""
    with path.open("rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file.read()
        data = file.read(_MOST_OF_A_DEVICE_BYTES + 1)
    if len(data) > _MOST_OF_A_DEVICE_BYTES:
        raise OSError(errno.EFBIG, "a device or a pipe, with more than 64 MiB", str(path))
    return data


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write a file, text as UTF-8: all of it, or it stays as it was. Raises ``OSError`` that names ``path``."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def _naming(path: str | Path, final: Path) -> Iterator[None]:
    """Let errors of the system name the file as it was asked for, not the temporary one or where a link leads."""
    try:
        yield
    except OSError as error:
        named = str(error.filename)
        if error.errno is None or not (error.filename is None or TEMPORARY in named or named == str(final)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
