"""What counts as a fault: whatever the input, a command ends soon, with a result or an error in words."""

import contextlib
import io
import os
import resource
import signal
import time
import traceback
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from dse.cli.main import main

SECONDS = 20.0
"""A case that takes longer hangs. Small inputs take milliseconds; the margin is for loaded machines."""
WAITING = 4
"""See ``bounded``."""
MEGABYTES = 1200.0
"""A case that makes the process grow by more has no limit where it needs one."""
EXIT_CODES = frozenset({0, 1, 2, 3})
_REFUSALS = ("not enough memory", "Traceback", "Exception ignored", "internal error")
_BIDIRECTIONAL = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


class Hang(BaseException):
    """Raised into a case that takes too long; not an ``Exception``, so that nothing on the way takes it for its own."""


def fault_of(arguments: Sequence[str], folder: Path) -> str | None:
    """Run a command line in this process, in ``folder``; return what is wrong with its behaviour, or None."""
    output = io.StringIO()
    before = _megabytes()
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = _exit_code(list(arguments))
    except Hang:
        return f"takes more than {SECONDS:g} s\n{traceback.format_exc()}"
    except BaseException:
        return traceback.format_exc()
    return _wrong(code, output.getvalue(), _megabytes() - before)


def _exit_code(arguments: list[str]) -> object:
    with bounded(SECONDS):
        try:
            return main(arguments)
        except SystemExit as leaving:
            return leaving.code


def _wrong(code: object, text: str, grown: float) -> str | None:
    """Return what is wrong with how a command ended and what it printed."""
    if code not in EXIT_CODES:
        return f"exit code {code}\n{text[-2000:]}"
    refused = next((word for word in _REFUSALS if word in text), None)
    if refused is not None:
        return f"prints '{refused}'\n{text[-2000:]}"
    live = next((c for c in text if is_live(c)), None)
    if live is not None:
        return f"prints {live!r} as it is\n{text[-2000:]!r}"
    if code != 0 and not text.strip():
        return f"fails without a word, exit code {code}"
    if grown > MEGABYTES:
        return f"takes {grown:.0f} MB"
    return None


def is_live(character: str) -> bool:
    """Return whether a terminal may do something at a character other than showing it or breaking the line."""
    if character in "\n\t":
        return False
    return unicodedata.category(character) in ("Cc", "Cs") or unicodedata.bidirectional(character) in _BIDIRECTIONAL


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise ``Hang`` in what is inside when it takes longer, and again while it goes on; for the main thread.

    The time is that of a processor: others may have all of them. What waits has ``WAITING`` times as long by the clock.
    """
    began, used = time.monotonic(), time.process_time()

    def late(_signal: int, _frame: FrameType | None) -> None:
        if time.process_time() - used >= seconds or time.monotonic() - began >= WAITING * seconds:
            raise Hang(f"it does not end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def fault_text(fault: BaseException) -> str:
    """Return the last line of a traceback and where it was raised."""
    frames = traceback.extract_tb(fault.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(fault).__name__}: {fault} at {place}"


def limit_memory(megabytes: int) -> None:
    """Let this process refuse memory rather than take the machine's: a fault of a case, not of its neighbours."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
