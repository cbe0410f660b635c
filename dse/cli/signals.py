"""Signals: acknowledged at once, whatever the program is doing.

Python runs a handler in the main thread between two of its instructions, which may be long after the signal when
compiled code is running. So a second thread reads which signals came (``signal.set_wakeup_fd``) and says so:

- the first interrupt (SIGINT, Ctrl-C) is acknowledged; the main thread then ends what it is at and writes what it has;
- a second one ends the process at once. What a search has reported is in its study file, which survives that;
- SIGTERM and SIGHUP (a closed terminal) say what is kept and end the process with 128 and their number: by an
  exception in the main thread, so that files and connections are closed, at the latest after ``LAST_SECONDS``.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dse.cli.streams import SHOW_CURSOR

LAST_SECONDS = 3.0
"""So long the main thread has to close what is open after SIGTERM."""
_FATAL = {"SIGTERM": "terminated", "SIGHUP": "the terminal is closed"}
KEPT = "everything reported so far is kept"


class Terminated(BaseException):
    """A signal ends the process. No ``Exception``, as with an interrupt."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class _Watcher:
    """The thread that reads signals, and what it has seen."""

    def __init__(self) -> None:
        self.kept = KEPT
        self._interrupts = 0
        self._main = threading.main_thread().ident
        self._last: threading.Timer | None = None
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._thread = threading.Thread(target=self._watch, name="dse-signals", daemon=True)

    def __enter__(self) -> "_Watcher":
        self._former = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._former)
        os.close(self._write)  # the thread reads the end, and ends
        self._thread.join(LAST_SECONDS)
        os.close(self._read)
        if self._last is not None:
            self._last.cancel()

    def _watch(self) -> None:
        while numbers := os.read(self._read, 64):
            for number in numbers:
                self._take(number)

    def _take(self, number: int) -> None:
        if number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:
                _end(128 + number, f"interrupted again; {self.kept}")
            step = "the step of the compiler ends first, " if self._compiles() else ""
            _say(f"interrupted; finishing ({step}interrupt again to end at once)")
        for name, text in _FATAL.items():
            if number == getattr(signal, name, None):
                _say(f"{text}; {self.kept}")
                self._last = threading.Timer(LAST_SECONDS, _end, (128 + number, ""))
                self._last.daemon = True
                self._last.start()

    def _compiles(self) -> bool:
        """Return whether the main thread is in the compiler: its steps take seconds and cannot be left."""
        frame = sys._current_frames().get(self._main) if self._main is not None else None
        while frame is not None:
            if str(frame.f_globals.get("__name__", "")).startswith(("numba.", "llvmlite.")):
                return True
            frame = frame.f_back
        return False


_watcher: _Watcher | None = None


def note_kept(text: str) -> None:
    """Note what is kept if the process is ended from now on."""
    if _watcher is not None:
        _watcher.kept = text


@contextmanager
def watched_signals() -> Iterator[None]:
    """Acknowledge signals at once inside; in another thread than the main one, or nested, nothing changes.

    A signal that the process was started to ignore (``nohup``) stays ignored.
    """
    global _watcher
    if _watcher is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {}
    for name in _FATAL:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            former[number] = signal.signal(number, _terminate)
    try:
        with _Watcher() as _watcher:
            yield
    finally:
        _watcher = None
        for number, handler in former.items():
            signal.signal(number, handler)


def _terminate(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: another one must not disturb the closing of files
    raise Terminated(number)


def _say(text: str) -> None:
    """Write a line to standard error past all buffers and locks, on a line of its own."""
    start = b"\n" if os.isatty(2) else b""
    try:
        os.write(2, start + text.encode() + b"\n")
    except OSError:  # the terminal is gone
        return


def _end(code: int, text: str) -> None:
    """End the process now: no other thread runs another instruction."""
    if text:
        _say(text)
    try:
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
    finally:
        os._exit(code)
