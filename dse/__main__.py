"""``python -m dse``, and the command ``dse``."""

import atexit
import gc
import os
import signal
import sys

NEW_OBJECTS = 50_000
"""Containers that are made between two looks for garbage: nearly all that a verb imports and reads stays until its end.
With Python's 700 a short estimate took 4 % more CPU time."""


def main() -> int:
    """Run the command line and return its exit code; an interrupt before or behind it is no traceback either."""
    gc.set_threshold(NEW_OBJECTS)
    hears = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    came: list[int] = []
    if hears:
        signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the first to be registered is the last to run
    try:
        from dse.cli.main import main as run  # here, so that its import is guarded too

        if hears:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if came:
            raise KeyboardInterrupt
        code = run()
    except KeyboardInterrupt:
        print("interrupted; everything reported so far is kept", file=sys.stderr)
        code = 130
    except SystemExit as leaving:
        _leave(leaving.code if isinstance(leaving.code, int) else 0, hears=hears)
        raise
    _leave(code, hears=hears)
    return code


def _leave(code: int, *, hears: bool) -> None:
    """Let an interrupt from now on end the program at once, with the code that it has anyway: all is done."""
    if hears:
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(code))


if __name__ == "__main__":
    sys.exit(main())
