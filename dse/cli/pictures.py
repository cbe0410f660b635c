"""Pictures that verbs write into a folder that the user names."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from dse.base.files import write_whole
from dse.cli.streams import say


def write_pictures(folder: str, pictures: Iterable[tuple[str, str]]) -> list[str]:
    """Write pictures into a folder, which is made; return their paths. Raises ``OSError``."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for name, svg in pictures:
        path = Path(folder) / name
        write_whole(path, svg + "\n")
        written.append(str(path))
    return written


def say_pictures(pictures: Sequence[str]) -> None:
    """Print which files were written."""
    for path in pictures:
        say(f"wrote {path}")
