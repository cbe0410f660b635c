"""Signals: acknowledged at once, whatever the program is doing.

Python runs a handler in the main thread between two of its instructions, which may be long after the signal when
compiled code is running. So a second thread reads which signals came (``signal.set_wakeup_fd``) and says so:

- the first interrupt (SIGINT, Ctrl-C) is acknowledged; the main thread then ends what it is at and writes what it has;
- a second one ends the process at once. What a search has reported is in its study file, which survives that;
- SIGTERM and SIGHUP (a closed terminal) say what is kept and end the process with 128 and their number: by an
  exception in the main thread, so that files and connections are closed, at the latest after ``LAST_SECONDS``.

An exception that a handler raises is lost in some places: Python prints and forgets it in a destructor and in the
callback of a weak reference, and one in a text that is executed, as in the making of a data class, makes Python end
itself by SIGINT, whoever catches it. There, and in an import that would be left half done, the handler puts the signal
off: it asks the second thread to send SIGURG a moment later, which nobody else uses, and looks again.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

from dse.cli.streams import SHOW_CURSOR

INTERRUPTED = 130
"""The exit code of a verb that an interrupt has ended, with what it has."""
LAST_SECONDS = 3.0
"""So long the main thread has to close what is open after SIGTERM."""
RETRY_SECONDS = 0.02
"""After so long a signal that was put off is looked at again,"""
MOST_PUT_OFF_SECONDS = 3.0
"""and after so long it is put off no more."""
_RETRY = getattr(signal, "SIGURG", None)
_ASK = 0
"""The byte that asks for SIGURG where else the numbers of signals are."""
_LOSING = ("<frozen importlib._bootstrap>", "/weakref.py", "/_weakrefset.py")
"""How the names of files end whose functions do not let an exception of a handler through, or should not."""
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
        self._put_off = 0
        self._first_put_off = 0.0
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

    def put_off(self, number: int, frame: FrameType | None) -> bool:
        """Return whether an exception would be lost where the main thread is; then the signal comes again."""
        now = time.monotonic()
        first = self._first_put_off if self._put_off == number else now
        lost = _RETRY is not None and now - first < MOST_PUT_OFF_SECONDS and _loses(frame)
        self._put_off, self._first_put_off = (number, first) if lost else (0, 0.0)
        if lost:
            os.write(self._write, bytes([_ASK]))
        return lost

    def again(self, _number: int, frame: FrameType | None) -> None:
        """Handle the signal that was put off, as it is handled now."""
        handler = signal.getsignal(self._put_off) if self._put_off else None
        if callable(handler):
            handler(self._put_off, frame)

    def _take(self, number: int) -> None:
        if number == _ASK and _RETRY is not None and self._main is not None:
            time.sleep(RETRY_SECONDS)
            signal.pthread_kill(self._main, _RETRY)
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


_Handler: TypeAlias = Callable[[int, FrameType | None], None]
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
    former: dict[int, Any] = {}
    with _Watcher() as watcher:
        _watcher = watcher
        try:
            for number, handler in _handlers(watcher).items():
                former[number] = signal.signal(number, handler)
            yield
        finally:
            _watcher = None
            for number, handler in former.items():
                signal.signal(number, handler)


def _handlers(watcher: _Watcher) -> dict[int, _Handler]:
    """Return the handlers of the signals that nobody else handles."""
    found: dict[int, _Handler] = {}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        found[signal.SIGINT] = _interrupt
    fatal = [getattr(signal, name) for name in _FATAL if hasattr(signal, name)]
    found |= {number: _terminate for number in fatal if signal.getsignal(number) is signal.SIG_DFL}
    if _RETRY is not None and signal.getsignal(_RETRY) is signal.SIG_DFL:
        found[_RETRY] = watcher.again
    return found


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _watcher is None or not _watcher.put_off(number, frame):
        raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    if _watcher is not None and _watcher.put_off(number, frame):
        return
    signal.signal(number, signal.SIG_IGN)  # once is enough: another one must not disturb the closing of files
    raise Terminated(number)


def _loses(frame: FrameType | None) -> bool:
    """Return whether an exception of a handler does not come through from where the main thread is."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename.endswith(_LOSING) or _is_executed_text(frame):
            return True
        frame = frame.f_back
    return False


def _is_executed_text(frame: FrameType) -> bool:
    """Return whether a frame is of a text that is executed, other than that of ``python -c``."""
    code = frame.f_code
    name = frame.f_globals.get("__name__")  # none where the text was given globals of its own
    return (code.co_filename, code.co_name) == ("<string>", "<module>") and name != "__main__"


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
