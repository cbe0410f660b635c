"""Preludes: the headers that many files of a program include, which g++ reads once and keeps as it has understood them.

An actor takes g++ about as long for the headers as for all else. A prelude, precompiled, serves each file whose flags
are the same, in every project whose headers have the same texts: g++ knows a header by its text, wherever it lies.
Where there is none, or one that g++ does not take, files are compiled as they are; the objects are the same.
"""

from collections import Counter
from collections.abc import Sequence

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


def kept_preludes() -> FileCache:
    """Return the precompiled preludes of earlier builds."""
    return FileCache("preludes", ".gch", _MOST_BYTES)
