"""Interrupts (SIGINT, Ctrl-C) that wait until what is under way has come to its end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class HeldInterrupt:
    """Whether an interrupt came meanwhile."""

    def __init__(self) -> None:
        self.came = False

    def take(self, _number: int, _frame: FrameType | None) -> None:
        """Note the first interrupt. Raises ``KeyboardInterrupt`` at the second one."""
        if self.came:
            raise KeyboardInterrupt
        self.came = True


@contextmanager
def held_interrupt() -> Iterator[HeldInterrupt]:
    """Let what is done inside come to its end though an interrupt comes; a second one ends it.

    They come in the main thread: in another one nothing changes, nor where the program was started to ignore them.
    """
    held = HeldInterrupt()
    former = signal.getsignal(signal.SIGINT)
    if former in (signal.SIG_IGN, None) or threading.current_thread() is not threading.main_thread():
        yield held
        return
    signal.signal(signal.SIGINT, held.take)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, former)
