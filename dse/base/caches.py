"""Where caches lie: folders that may be deleted at any time, at the price of time only."""

import contextlib
import os
from hashlib import blake2b
from pathlib import Path

from dse.base.files import TEMPORARY

_KEPT_SHARE = 0.8


def cache_folder(kind: str) -> Path | None:
    """Return the folder of one kind of cache, or None when there is to be none; it need not exist.

    It lies in ``$DSE_CACHE``, ``$XDG_CACHE_HOME/dse`` or ``~/.cache/dse``; with ``DSE_CACHE`` set to nothing there
    is no cache.
    """
    chosen = os.environ.get("DSE_CACHE")
    if chosen is not None:
        return Path(chosen, kind) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base, "dse", kind) if base else Path.home() / ".cache" / "dse" / kind
    except RuntimeError:  # no home directory
        return None


def digest_of(*parts: str | bytes) -> str:
    """Return one digest of several texts; where one ends and the next begins counts."""
    state = blake2b(digest_size=20)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def shrink_folder(folder: Path, most_bytes: int, *, kept: Path) -> None:
    """Delete what was used longest ago in a folder until it is small enough; ``kept`` stays.

    Raises ``OSError`` where the folder cannot be read.
    """
    entries = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if not entry.name.startswith(TEMPORARY):
                entries.append((entry.stat().st_mtime_ns, entry.stat().st_size, Path(entry.path)))
    total = sum(size for _, size, _ in entries)
    if total <= most_bytes:
        return
    for _, size, path in sorted(entries):
        if total <= most_bytes * _KEPT_SHARE:
            break
        if path != kept:
            path.unlink(missing_ok=True)
            total -= size
