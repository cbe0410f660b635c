"""Which files a command reads and writes: nothing that it reads is replaced, and no two outputs go to one file."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.numbers import shortened
from dse.base.paths import is_file_there

_WRITTEN = {
    "output": "-o",
    "out": "--out",
    "write": "-w",
    "export": "--export",
    "timeline": "--timeline",
    "slack": "--slack",
    "path": "--path",
}
"""The option of each place that something is written to, by its name among the arguments."""
_READ = (
    *("program", "network", "kernel_file", "kernel", "import_", "net", "profile", "input", "reference", "static"),
    *("mapping", "mappings", "buffers", "weights", "platform", "link", "counters", "measured", "scaling", "model"),
    "set",
)
"""The arguments that may name files that are read; some may be texts as well."""
_RESULTS = ("ranking.json", "manifest.json", "measured.json")
"""What a search or a measurement itself writes into its folder, of the names that a timeline may have."""


def refuse_clashes(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` where an output would replace a file that is read, or another output."""
    read = {_real(text) for name in _READ for text in _texts(getattr(args, name, None)) if is_file_there(text)}
    written = [(option, t) for name, option in _WRITTEN.items() for t in _texts(getattr(args, name, None))]
    taken = dict[str, str]()
    for option, text in written:
        place = _real(text)
        if place in read:
            raise OptionError(
                f"{option} would replace '{shortened(text)}', which is read", expected="name another file"
            )
        if place in taken and not _is_elsewhere(text):
            raise OptionError(f"{taken[place]} and {option} both write '{shortened(text)}'", expected="name two files")
        taken[place] = option
    _refuse_result(getattr(args, "timeline", None), getattr(args, "out", None))


def _refuse_result(timeline: str | None, folder: str | None) -> None:
    """Raise ``OptionError`` for a timeline that would replace what is written into the folder of the results."""
    if timeline is None or folder is None:
        return
    place = Path(_real(timeline))
    if place.name in _RESULTS and str(place.parent) == _real(str(folder)):
        raise OptionError(f"--out writes '{shortened(timeline)}' itself", expected="name another file with --timeline")


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of an argument, which may have several."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, str | os.PathLike):
            yield os.fspath(one)


def _is_elsewhere(text: str) -> bool:
    """Return whether something is at a place that keeps no file, such as a device or a pipe."""
    try:
        return Path(text).exists() and not is_file_there(text)
    except OSError:  # it is too long
        return False


def _real(text: str) -> str:
    try:
        return os.path.realpath(text)
    except (OSError, ValueError):
        return text
