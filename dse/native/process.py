"""Running a program that was built: its output as it comes, its progress, its end, and ending it.

The program is ended when what called for it is interrupted or fails; it never outlives its caller's wait.
"""

import codecs
import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import ExecutionError

STOPPING_SECONDS = 3.0
"""So long a program has to stop after it was asked to."""
_CHUNK = 1 << 16
_MOST_ERROR_BYTES = 1 << 20
_CRASHED = re.compile(r"^crash: .*$", re.MULTILINE)
_TELLING_SECONDS = 1.0
"""So long a program has to say where it is."""
_TELL_WORK = signal.SIGUSR1
_AT_WORK = re.compile(r"^at work: (.*)\n", re.MULTILINE)
_FIRINGS_BEFORE = re.compile(r" \((\d+) firings before\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended. ``code``: its exit code, below 0 for a signal; ``errors``: its standard error."""

    code: int
    output: str
    errors: str
    seconds: float

    @property
    def crash(self) -> str | None:
        """Return by which signal the program was ended, and where it was, or None."""
        said = _CRASHED.search(self.errors)
        if said is not None:
            return said[0].removeprefix("crash: ")
        if self.code < 0:
            return signal_name(-self.code)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Who hears of a program while it runs. ``output``: what it prints; ``progress``: its firings now and then."""

    output: Callable[[str], object] | None = None
    progress: Callable[[int], object] | None = None


SILENT = Listeners()


def run_program(
    command: Sequence[str | Path],
    *,
    listeners: Listeners = SILENT,
    time_limit_s: float | None = None,
    progress_option: str | None = None,
) -> Ended:
    """Run a program to its end.

    ``progress_option``: the option by which the program takes the number of the file descriptor to which it writes
    its firings, a line each time; None: it tells no progress.

    Raises:
        ExecutionError: it cannot be started, or has not ended after ``time_limit_s`` seconds.
        Whatever a listener raises, and what a signal raises meanwhile; the program is ended first.
    """
    arguments = [str(part) for part in command]
    told, telling = os.pipe()
    try:
        if progress_option is not None:
            arguments += [progress_option, str(telling)]
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(telling,) if progress_option is not None else (),
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ExecutionError(f"the program '{arguments[0]}' cannot be started: {reason}") from error
        finally:
            os.close(telling)
        return _Watch(process, told, listeners, time_limit_s).until_end()
    finally:
        os.close(told)


class _Watch:
    """One program that runs, and what it has said so far."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", told: int, listeners: Listeners, time_limit_s: float | None
    ) -> None:
        assert process.stdout is not None, "asked for as a pipe"
        assert process.stderr is not None, "asked for as a pipe"
        self._process = process
        self._listeners = listeners
        self._limit_s = time_limit_s
        self._started = time.monotonic()
        self._takers: dict[int, Callable[[bytes], None]] = {
            process.stdout.fileno(): self._take_output,
            process.stderr.fileno(): self._take_errors,
            told: self._take_progress,
        }
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._output: list[str] = []
        self._errors = bytearray()
        self._progress = b""
        self._firings = 0

    def until_end(self) -> Ended:
        """Listen until all is said and the program has ended."""
        try:
            self._listen()
            self._process.wait(self._seconds_left())
        except subprocess.TimeoutExpired as error:
            where = self._work()
            self._stop(signal.SIGKILL)
            raise self._endless(where) from error
        except BaseException as stop:
            self._stop(signal.SIGINT if isinstance(stop, KeyboardInterrupt) else signal.SIGTERM)
            if isinstance(stop, KeyboardInterrupt) and not hasattr(stop, "__notes__"):
                stop.add_note(f"the run had made {self._firings:,} firings")
            raise
        finally:
            self._close()
        return Ended(
            code=self._process.returncode,
            output="".join(self._output),
            errors=self._errors.decode("utf-8", "replace"),
            seconds=time.monotonic() - self._started,
        )

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for number in self._takers:
                selector.register(number, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(self._seconds_left())
                if not ready and self._limit_s is not None and self._seconds_left() == 0:
                    raise subprocess.TimeoutExpired("", self._limit_s)
                for key, _ in ready:
                    data = os.read(key.fd, _CHUNK)
                    if not data:
                        selector.unregister(key.fd)
                    self._takers[key.fd](data)

    def _seconds_left(self) -> float | None:
        if self._limit_s is None:
            return None
        return max(0.0, self._started + self._limit_s - time.monotonic())

    def _take_output(self, data: bytes) -> None:
        text = self._decoder.decode(data, final=not data)
        if text:
            self._output.append(text)
            if self._listeners.output is not None:
                self._listeners.output(text)

    def _take_errors(self, data: bytes) -> None:
        self._errors += data[: _MOST_ERROR_BYTES - len(self._errors)]

    def _take_progress(self, data: bytes) -> None:
        *lines, self._progress = (self._progress + data).split(b"\n")
        if lines and lines[-1].isdigit():
            self._firings = int(lines[-1])
            if self._listeners.progress is not None:
                self._listeners.progress(self._firings)

    def _stop(self, number: int) -> None:
        """Ask the program to end, and end it if it does not."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
            self._close()  # it may be waiting for a reader
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOPPING_SECONDS)
                return
            self._process.kill()
        self._process.wait()

    def _close(self) -> None:
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _work(self) -> str:
        """Ask the program which actors are at work; return that as a part of a sentence; empty: it does not tell."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(_TELL_WORK)
        heard, until = b"", time.monotonic() + _TELLING_SECONDS
        stream = self._process.stderr
        with selectors.DefaultSelector() as selector:
            assert stream is not None, "asked for as a pipe"
            selector.register(stream, selectors.EVENT_READ)
            while selector.select(max(0.0, until - time.monotonic())):
                data = os.read(stream.fileno(), _CHUNK)
                heard = (heard + data)[-_MOST_ERROR_BYTES:]
                said = _AT_WORK.search(heard.decode("utf-8", "replace"))
                if said is not None:
                    return _work_text(said[1])
                if not data:
                    break
        return ""

    def _endless(self, where: str) -> ExecutionError:
        return ExecutionError(
            f"the program has not ended after {self._limit_s:g} s, with {self._firings:,} firings at last{where}",
            expected="give it more time, or end it with --max-firings N",
        )


def _work_text(said: str) -> str:
    """Return in words what a program says of its actors at work (``dse_tell_work`` of ``work_report.hpp``)."""
    if said == "no actor":
        return "; no actor was at work"
    firing = _FIRINGS_BEFORE.sub(lambda found: f" (its firing {int(found[1]) + 1:,} or one soon after)", said)
    return f"; it was in {firing}"


def signal_name(number: int) -> str:
    """Return how a signal is called."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
