"""Compiled things kept on disk, by the digest of all that they depend on.

One file an entry, in a folder of ``dse.base.caches``. Several builds may use it at once: an entry is written under a
temporary name and renamed. What was used longest ago goes when the folder becomes larger than its bound. A cache that
is damaged or cannot be written costs time, never an error.
"""

import contextlib
import os
import shutil
from hashlib import blake2b
from pathlib import Path

from dse.base.caches import cache_folder
from dse.base.files import TEMPORARY, whole_file

MOST_BYTES = 1 << 30
"""Bound of one folder of entries. A program with tracing takes about half a megabyte, its objects as much again."""
_KEPT_SHARE = 0.8


def digest_of(*parts: str | bytes) -> str:
    """Return one digest of several texts; where one ends and the next begins counts."""
    state = blake2b(digest_size=20)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class FileCache:
    """Files by key, below the folder ``native/KIND`` of the caches; ``suffix`` ends their names."""

    def __init__(self, kind: str, suffix: str = "", most_bytes: int = MOST_BYTES) -> None:
        base = cache_folder("native")
        self.folder = None if base is None else base / kind
        self._suffix = suffix
        self._most_bytes = most_bytes

    def get(self, key: str) -> Path | None:
        """Return the file of a key, now used last of all, or None."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}{self._suffix}"
        try:
            if path.stat().st_size == 0:  # what a full disk may leave
                return None
            os.utime(path)
        except OSError:
            return None
        return path

    def put(self, key: str, made: Path) -> Path:
        """Keep a copy of a file that was made; return it, or ``made`` itself where nothing can be kept."""
        if self.folder is None:
            return made
        path = self.folder / f"{key}{self._suffix}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as target, made.open("rb") as source:
                shutil.copyfileobj(source, target)
                os.fchmod(target.fileno(), made.stat().st_mode & 0o777)  # another process may take it at once
            self._shrink(path)
        except OSError:
            return made
        return path

    def _shrink(self, kept: Path) -> None:
        """Delete what was used longest ago until the folder is small enough; ``kept`` stays."""
        assert self.folder is not None, "only a folder that exists becomes too large"
        entries = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                if not entry.name.startswith(TEMPORARY):
                    entries.append((entry.stat().st_mtime_ns, entry.stat().st_size, Path(entry.path)))
        total = sum(size for _, size, _ in entries)
        if total <= self._most_bytes:
            return
        for _, size, path in sorted(entries):
            if total <= self._most_bytes * _KEPT_SHARE:
                break
            if path != kept:
                path.unlink(missing_ok=True)
                total -= size
