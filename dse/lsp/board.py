"""Who found what in which file: an editor shows for a file the findings of all who looked at it."""

from collections.abc import Iterable

from dse.base.diagnostics import in_reading_order
from dse.base.errors import Diagnostic

Findings = dict[str, tuple[Diagnostic, ...]]
"""Diagnostics by the path of the file they stand in."""
Owner = tuple[str, str]
"""An open file, and which of its checks."""


class Board:
    """The findings of each owner: the checks of an open file."""

    def __init__(self) -> None:
        self._found: dict[Owner, Findings] = {}

    def put(self, owner: Owner, found: Findings) -> list[str]:
        """Keep what an owner has found in place of what it found before; return the files with other findings now."""
        before = self._found.get(owner, {})
        self._found[owner] = found
        return [path for path in dict.fromkeys((*before, *found)) if before.get(path) != found.get(path)]

    def drop(self, path: str) -> list[str]:
        """Forget what the checks of a file found: it is closed. Return the files with other findings now."""
        gone = [owner for owner in self._found if owner[0] == path]
        return list(dict.fromkeys(file for owner in gone for file in self._found.pop(owner)))

    def of(self, path: str) -> tuple[Diagnostic, ...]:
        """Return what has been found in a file, each once, in reading order."""
        return in_reading_order(self._all(path))

    def _all(self, path: str) -> Iterable[Diagnostic]:
        return (diagnostic for found in self._found.values() for diagnostic in found.get(path, ()))
