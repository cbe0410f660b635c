"""Compiled things kept on disk, by the digest of all that they depend on.

One file an entry, in a folder of ``dse.base.caches``. Several builds may use it at once: an entry is written under a
temporary name and renamed. What was used longest ago goes when the folder becomes larger than its bound. A cache that
is damaged or cannot be written costs time, never an error.
"""

import os
import shutil
from pathlib import Path

from dse.base.caches import cache_folder, shrink_folder
from dse.base.files import whole_file

MOST_BYTES = 1 << 30
"""Bound of one folder of entries. A program with tracing takes about half a megabyte, its objects as much again."""


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

    def take(self, key: str, place: Path) -> bool:
        """Put the file of a key at a place of one build, as another may delete it here; return whether it is there."""
        kept = self.get(key)
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
            shrink_folder(self.folder, self._most_bytes, kept=path)
        except OSError:
            return made
        return path
