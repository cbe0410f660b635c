"""Where numba keeps machine code when it can write neither beside the sources nor in the folder of the user.

So it is in a container whose user is no user of the image: the package belongs to another one and there is no home.
numba has no place then and raises ``RuntimeError`` as it loads a module. What is kept is code that runs, so the folder
must belong to the user alone.
"""

import os
import stat
import sys
from pathlib import Path

from dse.base.caches import cache_folder

_VARIABLE = "NUMBA_CACHE_DIR"
_PACKAGE = Path(__file__).parents[1]
_COMPILED = ("estimate", "estimate/compiled", "gpu/trace")
"""The folders of the package with modules whose code is kept."""


def name_compiled_place(package: Path = _PACKAGE) -> None:
    """Name a folder to numba, in the environment, if it could write none; to be called before it is loaded."""
    if sys.platform == "linux" and not _has_place(package):
        ours = cache_folder("numba")
        os.environ[_VARIABLE] = str(ours if ours is not None and _writable(ours) else _private_folder())


def _user_place() -> Path | None:
    """Return where numba keeps code if the folder of a source cannot be written; None: nobody knows the home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base, "numba") if base else Path.home() / ".cache" / "numba"
    except RuntimeError:
        return None


def _has_place(package: Path) -> bool:
    """Whether numba has a place; without a home it would take ``~`` for the name of a folder."""
    asked = os.environ.get(_VARIABLE)
    if asked:
        return _writable(Path(asked))
    user = _user_place()
    beside = (package / folder / "__pycache__" for folder in _COMPILED)
    return user is not None and (_writable(user) or all(map(_writable, beside)))


def _writable(folder: Path) -> bool:
    """Return whether a folder can be written, or made."""
    there = next(one for one in (folder, *folder.absolute().parents) if os.path.lexists(one))
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _private_folder() -> Path:
    """Return a folder for temporary files that nobody else can write, the same one each time if it can be."""
    import tempfile  # late: hardly ever needed

    folder = Path(tempfile.gettempdir(), f"dse-compiled-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    mine = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077
    return folder if mine else Path(tempfile.mkdtemp(prefix="dse-compiled-"))
