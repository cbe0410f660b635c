"""What attacks share: a bound on the time of a case, and a fault as text."""

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class Hangs(Exception):
    """A case took longer than it may."""


@contextmanager
def bounded(seconds: int) -> Iterator[None]:
    """Raise ``Hangs`` if the block takes longer; for the main thread."""

    def end(*_: object) -> None:
        raise Hangs(f"it does not end within {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fault_text(fault: BaseException) -> str:
    """Return the last line of a traceback and where it was raised."""
    frames = traceback.extract_tb(fault.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(fault).__name__}: {fault} at {place}"
