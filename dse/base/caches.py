"""Where caches lie: folders that may be deleted at any time, at the price of time only."""

import os
from pathlib import Path


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
