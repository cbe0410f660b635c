"""Several files that belong together: all of them are written aside first, and then get their names."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dse.base.files import TEMPORARY, write_whole


@contextmanager
def staged(folder: Path, *, final: Path | None = None) -> Iterator[Path]:
    """Yield a new folder inside of a folder; it is gone afterwards, with all that was not put in place.

    Raises:
        OSError: it cannot be written; the error names the files as they are to be called, in ``final`` or ``folder``.
    """
    stage = folder / f"{TEMPORARY}{secrets.token_hex(8)}.part"
    try:
        stage.mkdir()
        yield stage
    except OSError as error:
        named = str(error.filename).replace(str(stage), str(final or folder))
        if error.errno is None or error.filename is None or named == str(error.filename):
            raise
        raise OSError(error.errno, error.strerror, named) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def check_places(folder: Path, names: Sequence[str]) -> None:
    """Raise ``OSError`` where a file of these names could not be put in place: it is a folder, or must not be written.

    Asked before the first one is: else some would be new and others old.
    """
    for name in names:
        path = folder / name
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def put_in_place(stage: Path, folder: Path, name: str) -> None:
    """Give a staged file its name, in the place of what has it. A link stays a link, and rights are kept."""
    new, final = stage / name, folder / name
    mode = final.stat().st_mode if final.exists() else None
    if final.is_symlink() or (mode is not None and not stat.S_ISREG(mode)):
        write_whole(final, new.read_bytes())
        return
    if mode is not None:
        new.chmod(stat.S_IMODE(mode))
    new.replace(final)
