"""One command of dse inside this process, watched: what an attack may see of it, and what is a fault."""

import contextlib
import io
import signal
import traceback
from collections.abc import Iterator
from types import FrameType

from dse.base.errors import DseError
from dse.cli.main import main

SECONDS = 60.0
"""A command on inputs as small as those of attacks takes a second; one that takes so long hangs."""
_EXIT_CODES = (0, 1, 2, 3)


class HangError(BaseException):
    """A command ran for too long. No ``Exception``, so that nothing takes it for an error of the input."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``HangError`` in this thread after so many seconds; the main thread only."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fault_of_command(arguments: list[str], seconds: float = SECONDS) -> str | None:
    """Return what is wrong about how a command ended, None where it gave a result or an error of its own."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with time_limit(seconds), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    except SystemExit as ended:  # of argparse
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # whatever it is, it is the finding
        return f"dse {' '.join(arguments)}\n{traceback.format_exc()}"
    said = err.getvalue()
    if code not in _EXIT_CODES:
        return f"dse {' '.join(arguments)}: exit code {code}\n{said}"
    if "Traceback" in said or (code in (1, 2) and "error" not in said):
        return f"dse {' '.join(arguments)}: exit code {code} with\n{said[-2000:] or 'nothing said'}"
    return None


def first_fault(commands: list[list[str]], seconds: float = SECONDS) -> str | None:
    """Return the first fault of some commands, None where there is none."""
    return next((found for arguments in commands if (found := fault_of_command(arguments, seconds))), None)


@contextlib.contextmanager
def errors_expected() -> Iterator[None]:
    """Accept the errors of dse, and nothing else."""
    with contextlib.suppress(DseError):
        yield
