"""Compiled functions in another thread, so that signals are served while they run.

Python runs its signal handlers in the main thread, between two of its own instructions: a compiled function that takes
a minute there delays an interrupt by a minute. What is called by ``apart`` runs in a thread of its own while the main
thread waits, and a wait can be interrupted. The function has to release the interpreter lock.
"""

import atexit
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")


class _Call:
    """One call that is under way, and what came of it."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._done = threading.Event()
        self._error: BaseException | None = None

    @property
    def ended(self) -> bool:
        """Whether the function has returned."""
        return self._done.is_set()

    def end(self, seconds: float) -> None:
        """Wait at most so long for the end."""
        self._done.wait(seconds)

    def run(self) -> None:
        """Make the call, in the other thread."""
        try:
            self._function()
        except BaseException as error:  # raised again where the call is waited for
            self._error = error
        finally:
            self._done.set()

    def wait(self) -> None:
        """Wait for the end of the call. Raises what the call raised, and what a signal raises meanwhile."""
        self._done.wait()
        if self._error is not None:
            raise self._error


class _Helper:
    """A thread that makes one call after the other: solvers and the like keep state by thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="dse-apart", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._calls.get().run()

    def call(self, function: Callable[[], object]) -> None:
        call = _Call(function)
        self._calls.put(call)
        try:
            call.wait()
        finally:
            if not call.ended:
                _left[:] = [*(left for left in _left if not left.ended), call]


_helpers: list[_Helper] = []
"""The one that is free, or none."""
_left: list[_Call] = []
"""Calls that nobody waits for any more."""
LAST_SECONDS = 10.0
"""So long the end of the program waits for a call that was left: its machine code must not vanish under it."""


def apart(function: Callable[[], _Result], stop: Callable[[], None] | None = None) -> _Result:
    """Return what ``function`` returns; from the main thread it is called in another one.

    When the wait is interrupted, ``stop`` is called, which should make the function end soon; nobody waits for that.

    Raises: what the function raises; in the main thread also what the handler of a signal raises meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    found: list[_Result] = []
    helper = _helpers.pop() if _helpers else _Helper()
    try:
        helper.call(lambda: found.append(function()))
    except Exception:
        _helpers.append(helper)
        raise
    except BaseException:  # an interrupt: the helper is still busy, the next call gets another one
        if stop is not None:
            stop()
        raise
    _helpers.append(helper)
    return found[0]


def side_by_side(calls: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Return what functions return that let other threads work; each is called in a thread of its own.

    One alone is called here. Raises what the first of them raises.
    """
    if len(calls) == 1:
        return [calls[0]()]
    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        return list(pool.map(lambda call: call(), calls))


@atexit.register
def _wait_for_what_was_left() -> None:
    for call in _left:
        call.end(LAST_SECONDS)
