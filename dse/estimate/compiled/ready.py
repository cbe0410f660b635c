"""Tells whether the kernels have been compiled on this machine, without importing the compiler."""

import os
import sys
from pathlib import Path

_COMPILED = ("kernel.simulate", "path_kernel.bounds_of")
"""A function of each module that is compiled."""


def is_compiled() -> bool:
    """Return whether caches of the kernels as they are now exist, where numba keeps them."""
    return all(_is_cached(*name.split(".")) for name in _COMPILED)


def _is_cached(module: str, function: str) -> bool:
    source = Path(__file__).with_name(f"{module}.py")
    changed = source.stat().st_mtime
    name = f"{module}.{function}-*.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    asked = os.environ.get("NUMBA_CACHE_DIR")
    places = (
        [(Path(asked), f"*/{name}")] if asked else [(source.parent / "__pycache__", name), (_of_user(), f"*/{name}")]
    )
    return any(index.stat().st_mtime >= changed for folder, pattern in places for index in folder.glob(pattern))


def _of_user() -> Path:
    """Return where numba puts caches if the folder of the source cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "numba"
