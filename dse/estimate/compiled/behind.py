"""Compiles the quicker kernels in a process of its own, while the general kernel serves.

Somebody who has just installed dse waits for the general kernel once. The burst kernel, its variant for points where
tokens travel (``travel_kernel``) or ask shared links (``link_kernel``), and variants of the general one
(``plain_kernel``), give the same integers sooner; nobody waits for them: where one is missing, a search has Python
compile it beside, at the lowest priority, and goes over to it when it is there. The process outlives a search that is
over before.
"""

import importlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from dse.estimate.compiled.ready import is_burst_compiled, is_link_compiled, is_plain_compiled, is_travel_compiled

_AT_ONCE = "at-once"
"""The argument of a process that somebody waits for."""
_STARTED: list["subprocess.Popen[bytes]"] = []
"""Kept, so that nobody waits for the process, not even its destructor."""


def compile_behind() -> None:
    """Have them compiled, unless they are, or are being so by this process."""
    bursts = is_burst_compiled() and is_travel_compiled() and is_link_compiled()
    if _STARTED or (bursts and is_plain_compiled()) or not sys.executable:
        return
    with suppress(OSError):  # no process to be had: the general kernel goes on serving
        _STARTED.append(
            subprocess.Popen(
                _command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        )


def compile_quicker() -> None:
    """Compile them here."""
    for module in ("burst_kernel", "travel_kernel", "link_kernel", "plain_kernel"):  # what searches wait for first
        importlib.import_module(f"dse.estimate.compiled.{module}")


def quicker_beside() -> "subprocess.Popen[bytes]":
    """Start a process that compiles them, for somebody who waits for it."""
    return subprocess.Popen(_command(_AT_ONCE), env=_environment())


def _command(*arguments: str) -> list[str]:
    """Return how such a process is started; ``-P``: with nothing from the working directory."""
    return [sys.executable, "-P", "-m", "dse.estimate.compiled.behind", *arguments]


def _environment() -> dict[str, str]:
    """Return the environment with which it finds this very package."""
    root = str(Path(__file__).parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}


def main(*, at_once: bool) -> None:
    """Compile them, in the process that was started; ``at_once``: somebody waits for it."""
    if hasattr(os, "nice") and not at_once:
        os.nice(19)
    compile_quicker()


if __name__ == "__main__":
    main(at_once=_AT_ONCE in sys.argv[1:])
