"""Room for the routines of actors that call themselves: Python allows fewer frames than they may have."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_FRAMES = 20_000
"""A routine has one for each call (``MOST_CALLS``), and one for each generator around a call in a list."""
_LOCK = threading.Lock()
_BEFORE: list[int] = []
"""The limit before the first of the runs that go on, once for each of them."""


@contextmanager
def room_for_recursion() -> Iterator[None]:
    """Allow as many frames as a run may have; when no run goes on, as many as before: others count on an early end."""
    with _LOCK:
        _BEFORE.append(_BEFORE[0] if _BEFORE else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_BEFORE[0], MOST_FRAMES))
    try:
        yield
    finally:
        with _LOCK:
            usual = _BEFORE.pop()
            if not _BEFORE:
                sys.setrecursionlimit(usual)
