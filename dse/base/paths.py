"""Paths that are made of names in files of users."""

from pathlib import Path


def is_file_there(path: str | Path) -> bool:
    """Return whether there is a file; a name that is too long for the system, or holds NUL, is that of none."""
    try:
        return Path(path).is_file()
    except OSError:
        return False
