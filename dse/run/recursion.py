"""Room for the routines of actors that call themselves: Python allows fewer frames than they may have."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_FRAMES = 20_000
"""A routine has one for each call (``MOST_CALLS``), and one for each generator around a call in a list."""
_LOCK = threading.Lock()
_USUAL: list[int] = []
"""The limits before each of the runs that go on."""


@contextmanager
def room_for_recursion() -> Iterator[None]:
    """Allow as many frames as a run may have; when no run goes on, as many as before: others count on an early end."""
    with _LOCK:
        _USUAL.append(_USUAL[0] if _USUAL else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_USUAL[0], MOST_FRAMES))
    try:
        yield
    finally:
        with _LOCK:
            usual = _USUAL.pop()
            if not _USUAL:
                sys.setrecursionlimit(usual)
