"""Preludes: the headers that many files of a program include, which g++ reads once and keeps as it has understood them.

An actor takes g++ about as long for the headers as for all else. A prelude, precompiled, serves each file whose flags
are the same, in every project whose headers have the same texts: g++ knows a header by its text, wherever it lies.
Where there is none, or one that g++ does not take, files are compiled as they are; the objects are the same.
"""

import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dse.native.cache import FileCache
from dse.native.project import SourceUnit
from dse.native.toolchain import Compiler, is_gcc

FEWEST_UNITS = 4
"""For fewer files it takes longer to make one than it saves."""
_MOST_BYTES = 1 << 29
"""Of all that are kept. One takes 55 MB, and each kind of build has its own."""


def preludes_of(units: Sequence[SourceUnit], compiler: Compiler) -> dict[str, int]:
    """Return the preludes of units that are to be compiled, and how many have each; none but for g++."""
    if not is_gcc(compiler):
        return {}
    return Counter(unit.prelude for unit in units if has_prelude(unit))


def has_prelude(unit: SourceUnit) -> bool:
    """Return whether a unit has a prelude, and the flags of all units with one."""
    return bool(unit.prelude) and not (unit.cold or unit.foreign or unit.device)


class KeptPreludes:
    """Precompiled preludes of earlier builds, by the digest of all that they depend on."""

    def __init__(self) -> None:
        self._cache = FileCache("preludes", ".gch", _MOST_BYTES)

    def has(self, key: str) -> bool:
        """Return whether one is kept."""
        return self._cache.get(key) is not None

    def take(self, key: str, place: Path) -> bool:
        """Put one at a place of this build, since another build may delete it; return whether it is there."""
        kept = self._cache.get(key)
        if kept is None:
            return False
        try:
            os.link(kept, place)
        except OSError:  # on another disk
            try:
                shutil.copyfile(kept, place)
            except OSError:
                return False
        return True

    def keep(self, key: str, made: Path) -> None:
        """Keep one that was made."""
        self._cache.put(key, made)
