"""Standard output and error of the command line: they never fail, and show nothing that does not print.

- What a terminal obeys and what does not print is replaced (``dse.base.escaping``), whoever wrote it: a verb, argparse,
  a warning of a library. Progress lines, which move the cursor, go around that, by ``unfiltered``.
- A reader that has gone (``| head -1``), a full disk or a closed stream ends no work: what is printed from then on is
  dropped. A reader that has gone is no error. Output that could not be written is one, told when the work is done.
- A stream that was closed from the start counts as ``/dev/null``; nobody is to get its number by opening a file.
"""

import contextlib
import errno
import io
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from dse.base.escaping import json_text, shown, shown_lines, shown_message

READER_GONE = 141
"""Exit code where the work was ended because nobody reads it: 128 + SIGPIPE, as of any command before ``| head``."""
_NARROWEST = 40
SHOW_CURSOR = b"\x1b[?25h"
"""A progress bar hides the cursor; who ends at once has to show it again."""


class ReaderGone(Exception):
    """Nobody reads standard output any more, and nothing else is to be had."""


class _Stream(io.TextIOBase):
    """A text stream in front of another one."""

    def __init__(self, target: TextIO) -> None:
        self.target = target

    def isatty(self) -> bool:
        return self.target.isatty()

    def fileno(self) -> int:
        return self.target.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has an attribute that cannot be written
        return getattr(self.target, "encoding", None) or "utf-8"


class Unfailing(_Stream):
    """Writes to a stream as long as that works; from the first failure on, which is kept, to nobody."""

    failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write, in whatever characters the encoding has."""
        if self.failure is None:
            try:
                self._write(text)
            except OSError as failure:
                self._give_up(failure)
        return len(text)

    def _write(self, text: str) -> None:
        try:
            self.target.write(text)
        except UnicodeEncodeError:
            self.target.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def flush(self) -> None:
        """Write what is buffered."""
        if self.failure is None:
            try:
                self.target.flush()
            except OSError as failure:
                self._give_up(failure)

    def _give_up(self, failure: OSError) -> None:
        """Keep the failure; what the target still holds, it will write to nobody when the interpreter ends."""
        self.failure = failure
        with contextlib.suppress(OSError):  # a stream in memory has no number
            number, nobody = self.target.fileno(), os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, number)
            os.close(nobody)


class Shown(_Stream):
    """Writes to a stream what prints; the rest is replaced."""

    def write(self, text: str) -> int:
        """Write, with line ends and tabs as they are."""
        self.target.write(shown_lines(text))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self.target.flush()


def unfiltered(stream: TextIO) -> TextIO:
    """Return what is behind a stream that filters: for text that moves the cursor, or that is data."""
    return stream.target if isinstance(stream, Shown) else stream


@contextlib.contextmanager
def filtered() -> Iterator[None]:
    """Let all that is written to standard output and error inside be filtered, whatever they are now."""
    output, error = cast(TextIO, Shown(sys.stdout)), cast(TextIO, Shown(sys.stderr))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        yield


@contextlib.contextmanager
def unfailing() -> Iterator[Unfailing]:
    """Guard standard output and error, filtered too; yield the guard of standard output."""
    _open_closed()
    output = Unfailing(sys.stdout or _nobody())
    error = Unfailing(sys.stderr or _nobody())
    with (
        contextlib.redirect_stdout(cast(TextIO, output)),
        contextlib.redirect_stderr(cast(TextIO, error)),
        filtered(),
    ):
        try:
            yield output
        finally:
            output.flush()
            error.flush()


def _open_closed() -> None:
    """Open the standard streams that are closed: the next file that is opened would get the number of one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def _nobody() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def final_code(code: int, output: Unfailing) -> int:
    """Return the exit code: 1 in place of success, with a message, where standard output could not be written."""
    output.flush()
    failure = output.failure
    if failure is None or failure.errno == errno.EPIPE:
        return code
    print(f"error: standard output: {failure.strerror or failure}", file=sys.stderr)
    print("  = what it was to show is lost; files that were asked for are written", file=sys.stderr)
    return 1 if code in (0, READER_GONE) else code


def program_output(*, needed: bool) -> "_ProgramOutput":
    """Return where the text goes that a network prints: as it is, or filtered where standard output is a terminal.

    ``needed``: the run has more to give than this text, so it goes on when nobody reads it.
    """
    return _ProgramOutput(sys.stdout, needed=needed)


class _ProgramOutput:
    """Writes what a network prints."""

    def __init__(self, stream: TextIO, *, needed: bool) -> None:
        self._stream = stream if stream.isatty() else unfiltered(stream)
        guard = unfiltered(stream)
        self._guard = guard if isinstance(guard, Unfailing) and not needed else None

    def __call__(self, text: str) -> None:
        """Write. Raises ``ReaderGone`` where nobody reads it and nothing else is to be had."""
        self._stream.write(text)
        if self._guard is not None and self._guard.failure is not None:
            raise ReaderGone


def terminal_width(usual: int = 100) -> int:
    """Return the columns of the terminal that standard output is; ``usual`` where it is none."""
    return max(_NARROWEST, shutil.get_terminal_size((usual, 24)).columns) if sys.stdout.isatty() else usual


def say(text: str, *, error: bool = False) -> None:
    """Print one line, or a message (``shown_message``), whose names may hold anything."""
    print(shown_message(text), file=sys.stderr if error else sys.stdout)


def print_json(document: Any) -> None:
    """Print a JSON document."""
    print(json_text(document))


def progress_line(text: str) -> None:
    """Rewrite one line of the terminal; an empty text clears it."""
    terminal = unfiltered(sys.stderr)
    terminal.write(f"\r\x1b[K{shown(text)}")
    terminal.flush()
