"""The files and folders that a user names, and the input of a network when none is named."""

import os
from pathlib import Path

from dse.base.errors import FormatError, OptionError
from dse.base.source import file_span

DEFAULT_INPUT = "input.default"
"""File beside a network whose first word names the input that it is run on when none is given."""


_LONGEST_NAME = 4096
"""Characters of a name; what is longer is no name."""


def require_input(path: str) -> None:
    """Do nothing if an input of a network is at ``path``: a file, or a folder of files. Raises ``FormatError``."""
    if not Path(path).is_dir():
        require_file(path, "give the file that the network reads")


def is_folder(text: str) -> bool:
    """Return whether a text is the path of a folder; none where it cannot be one, as it is too long or holds NUL."""
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False


def require_file(path: str, expected: str) -> None:
    """Do nothing if a file is at ``path``. Raises ``FormatError``, with what was expected, if not."""
    if Path(path).is_dir():
        raise FormatError("this is a folder, not a file", span=file_span(path, 0), expected=expected)
    if not Path(path).is_file():
        raise FormatError("there is no such file", span=file_span(path, 0), expected=expected)


def require_place(path: str, option: str) -> None:
    """Do nothing if a folder is at ``path``, or can be made there; said before what takes long.

    Raises:
        OptionError: there is something else, or nothing can be written; it names the ``option``.
    """
    place = Path(path)
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise OptionError(f"'{place}' is no folder", expected=f"name another with {option}")
    if not os.access(place, os.W_OK):
        raise OptionError(f"nothing can be written into the folder '{place}'", expected=f"name another with {option}")


def default_input(network_path: str) -> str | None:
    """Return the input that ``input.default`` beside a network names, or None where there is no such file.

    It lies in the folder of the network or below, its links followed: a network of others chooses no file elsewhere.

    Raises:
        FormatError: the file it names does not exist, or lies elsewhere.
    """
    pointer = Path(network_path).parent / DEFAULT_INPUT
    if not pointer.is_file():
        return None
    if not _lies_below(pointer, pointer.parent):
        what = "'input.default' is a link that leads out of the folder of the network"
        raise _wrong_default(pointer, what, line=0)  # no line of what it leads to is shown
    with pointer.open("rb") as file:
        name = file.read(_LONGEST_NAME + 1).decode("utf-8", "surrogateescape").strip()
    path = pointer.parent / name
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise _wrong_default(pointer, "this is no name of a file")
    if not name or not path.exists():
        raise _wrong_default(pointer, f"the default input '{name}' does not exist")
    if not _lies_below(path, pointer.parent):
        raise _wrong_default(pointer, f"the default input '{name}' is not in the folder of the network")
    return str(path)


def _wrong_default(pointer: Path, message: str, line: int = 1) -> FormatError:
    return FormatError(
        message,
        span=file_span(str(pointer), line),
        expected="name a file beside the network, or give the input with -i",
    )


def _lies_below(path: Path, folder: Path) -> bool:
    """Return whether a path leads to something below a folder, links followed."""
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents
