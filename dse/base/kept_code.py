"""Names under which compiled code is kept, so that code of other sources is never found.

numba keeps the machine code of a function in files named after the function, and looks at the function's own module to
tell whether they are old. What the module imports, as the addresses in ``dse/estimate/compiled/layout.py``, is part of
that code too. So functions that are kept get a name that ends in the digest of all of these sources.
"""

import functools
import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

_IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import (\([^)]*\)|[^\n#]+)|import ([\w.]+))", re.MULTILINE)
_WORD = re.compile(r"\w+")
_KEPT = re.compile(r"(\w+)_[0-9a-f]{16}")


def kept_by_sources(function: F) -> F:
    """Name a function of a module for its sources; to stand below ``@njit(..., cache=True)``."""
    path = Path(function.__code__.co_filename)
    package = path.parents[function.__module__.count(".") - 1]
    function.__qualname__ = kept_name(function.__name__, path, package)
    return function


def kept_name(function: str, path: Path, package: Path) -> str:
    """Return the name of a function of the module ``path`` for as long as the module's sources stay as they are."""
    return f"{function}_{sources_digest(path.resolve(), package.resolve())}"


def function_of(name: str) -> str | None:
    """Return the function that has a name of ``kept_name``, None for a name that is none."""
    found = _KEPT.fullmatch(name)
    return None if found is None else found[1]


@functools.cache
def sources_digest(path: Path, package: Path) -> str:
    """Return a digest of a module and of all modules below the folder ``package`` that it imports, by others too."""
    sources: dict[Path, bytes] = {}
    pending = [path]
    while pending:
        module = pending.pop()
        if module not in sources:
            sources[module] = module.read_bytes()
            pending.extend(_imported(sources[module].decode("utf-8"), package))
    state = blake2b(digest_size=8)
    for module in sorted(sources):
        for part in (module.relative_to(package).as_posix().encode(), sources[module]):
            state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def _imported(text: str, package: Path) -> list[Path]:
    """Return the modules of a package that a source imports, at whatever place in it."""
    names: list[str] = []
    for origin, taken, module in _IMPORT.findall(text):
        names += [module] if module else [origin, *(f"{origin}.{name}" for name in _WORD.findall(taken))]
    places = (package.parent.joinpath(*n.split(".")) for n in names if n.split(".")[0] == package.name)
    found = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return [file for file in found if file.is_file()]
