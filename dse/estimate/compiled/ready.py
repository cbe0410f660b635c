"""Tells whether the kernel has been compiled on this machine, without importing the compiler."""

import os
import sys
from pathlib import Path


def is_compiled() -> bool:
    """Return whether a cache of the kernel as it is now exists, where numba keeps it."""
    kernel = Path(__file__).with_name("kernel.py")
    changed = kernel.stat().st_mtime
    name = f"kernel.simulate-*.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    asked = os.environ.get("NUMBA_CACHE_DIR")
    places = (
        [(Path(asked), f"*/{name}")] if asked else [(kernel.parent / "__pycache__", name), (_of_user(), f"*/{name}")]
    )
    return any(index.stat().st_mtime >= changed for folder, pattern in places for index in folder.glob(pattern))


def _of_user() -> Path:
    """Return where numba puts caches if the folder of the source cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "numba"
