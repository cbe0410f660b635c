"""One thread that works on the newest request only: what came before it and has not begun is forgotten."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

_Request = TypeVar("_Request")
PATIENCE_SECONDS = 0.2
"""Work that has gone on for so long is stopped when something newer comes; else it ends first."""


class Latest(Generic[_Request]):
    """Calls ``work`` with the newest request, in a thread of its own. Close it after use.

    ``stop``: makes the call that is under way end soon; it need not.
    """

    def __init__(self, work: Callable[[_Request], None], stop: Callable[[], None]) -> None:
        self._work = work
        self._stop = stop
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._since: float | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="dse-studio-estimates", daemon=True)
        self._thread.start()

    def ask(self, request: _Request) -> None:
        """Have a request worked on next."""
        with self._changed:
            self._waiting[:] = [request]
            self._changed.notify_all()
            busy = self._since is not None and time.monotonic() - self._since > PATIENCE_SECONDS
        if busy:
            self._stop()

    def close(self) -> None:
        """End the thread, and what it is at."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        while self._thread.is_alive():
            self._stop()
            self._thread.join(0.05)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._since = None
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                request = self._waiting.pop()
                self._since = time.monotonic()
            self._work(request)
