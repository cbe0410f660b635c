"""What serves ends at a signal between two steps of its loop."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, TypeAlias

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_Handler: TypeAlias = Callable[[int, FrameType | None], object]


class _Cancelling:
    """Cancels a task when a signal comes, and has the signal handled when the loop of the task has ended."""

    def __init__(self) -> None:
        self._came: list[int] = []
        self._cancel: Callable[[], object] | None = None

    def take(self, number: int, _frame: FrameType | None) -> None:
        """Note a signal."""
        self._came.append(number)
        if self._cancel is not None:
            self._cancel()

    async def run(self, serving: Coroutine[Any, Any, None]) -> None:
        """Await what serves, in a task of its own."""
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(serving)
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)  # it wakes the loop, which may be waiting
        if self._came:
            task.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await task
        finally:
            self._cancel = None

    def handle(self, former: dict[int, _Handler]) -> None:
        """Call the former handler of the first signal that came."""
        for number in self._came[:1]:
            former[number](number, None)


def serve_until_signal(serving: Coroutine[Any, Any, None]) -> None:
    """Run what serves in a loop of its own until a signal; then it is cancelled, and the signal is handled.

    An exception that a handler raises within a step of a loop is lost there, or leaves the loop with half of its tasks.
    In another thread than the main one signals are nothing of ours.
    """
    if threading.current_thread() is not threading.main_thread():
        asyncio.run(serving)
        return
    former: dict[int, _Handler] = {}
    cancelling = _Cancelling()
    for number in (getattr(signal, name) for name in _ENDING if hasattr(signal, name)):
        handler = signal.getsignal(number)
        if callable(handler):
            former[number] = handler
            signal.signal(number, cancelling.take)
    try:
        asyncio.run(cancelling.run(serving))
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    cancelling.handle(former)
