"""Tells whether the kernels have been compiled on this machine, without importing the compiler."""

import hashlib
import importlib.metadata
import os
import struct
import sys
from pathlib import Path

from dse.base.kept_code import kept_name

_COMPILED = (
    ("kernel", "simulate"),
    ("path_kernel", "bounds_of"),
    ("load_kernel", "sweep"),
    ("place_kernel", "fill"),
    ("walk_kernel", "walk"),
    ("dependency_kernel", "earliest"),
    ("waits_kernel", "earliest"),
    ("one_core_kernel", "one_core"),
    ("tree_kernel", "walk"),
    ("../token_kernel", "play"),
)
"""A function of each module that is compiled, the module as a path from here."""
_BURST = "burst_kernel", "follow_points"
"""Nobody waits for this one (``behind``), nor for the next ones."""
_TRAVEL = "travel_kernel", "follow_travelling"
_LINK = "link_kernel", "follow_linked"
_PLAIN = ("plain_kernel", "simulate_plain"), ("plain_kernel", "simulate_still")


def is_compiled() -> bool:
    """Return whether caches of the kernels as they are now exist, where numba keeps them.

    An index of such a cache begins with the version of numba and a mark of the source: the sha256 of the file, in older
    versions the time of its last change. With another of either numba compiles again, whatever the age of the index.
    Its name holds a digest of the source and of what that imports (``dse/base/kept_code.py``).
    """
    return all(_is_cached(module, function) for module, function in _COMPILED)


def is_burst_compiled() -> bool:
    """Return whether a cache of the burst kernel as it is now exists."""
    return _is_cached(*_BURST)


def is_travel_compiled() -> bool:
    """Return whether a cache of the burst kernel for points where tokens travel, as it is now, exists."""
    return _is_cached(*_TRAVEL)


def is_link_compiled() -> bool:
    """Return whether a cache of the burst kernel for points with shared links, as it is now, exists."""
    return _is_cached(*_LINK)


def is_plain_compiled() -> bool:
    """Return whether caches of the kernels for plain and still memories as they are now exist."""
    return all(_is_cached(*one) for one in _PLAIN)


def _is_cached(module: str, function: str) -> bool:
    version = importlib.metadata.version("numba").encode()
    source = (Path(__file__).parent / f"{module}.py").resolve()
    marks = (hashlib.sha256(source.read_bytes()).digest(), struct.pack(">d", source.stat().st_mtime))
    kept = kept_name(function, source, Path(__file__).parents[2])
    name = f"{source.stem}.{kept}-*.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    asked = os.environ.get("NUMBA_CACHE_DIR")
    places = (
        [(Path(asked), f"*/{name}")] if asked else [(source.parent / "__pycache__", name), (_of_user(), f"*/{name}")]
    )
    indices = (index.read_bytes() for folder, pattern in places for index in folder.glob(pattern))
    return any(version in data and any(mark in data for mark in marks) for data in indices)


def _of_user() -> Path:
    """Return where numba puts caches if the folder of the source cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "numba"
