"""Hands that are processes of this machine: Python makes proposals in one thread of a process at a time.

Each is a Python of its own (``dse.explore.distribution.walker``), which gets the problem and the context once and then
leg after leg by its standard input, and answers by its standard output. It ends when its input does. A hand that dies
is not missed but for its time: what it had is walked by another one.
"""

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from dse.explore.distribution.crew import HandLost
from dse.explore.method import SearchContext
from dse.explore.methods.improving.leg import Leg, LegOutcome
from dse.model.problem import Problem

if sys.platform == "linux":
    import fcntl

PIPE_BYTES = 1 << 20
"""What came of a leg fits a pipe, so that nobody waits for its parts: a part read while other Python runs here takes
milliseconds."""


class ProcessHand:
    """A process that walks legs. ``engine``: the name of the one that makes its estimates.

    Two threads may use it at a time: then the next leg is there when the process has walked one, however long this
    Python takes to notice.
    """

    def __init__(self, problem: Problem, engine: str, context: SearchContext) -> None:
        self._given = problem, engine, replace(context, rng=np.random.default_rng(0), threads=1)  # each leg has its own
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._starting, self._asking = threading.Lock(), threading.Lock()
        self._ready = False
        self._answered = threading.Event()
        """Set when the answer to the last question has been read."""
        self._answered.set()

    def begin(self) -> None:
        """Start the process, unless it was, and wait until it is ready."""
        with self._starting:
            if self._ready:
                return
            self._process = _started()
            if self._closed:
                self.close()
            self._said(self._given)
            self._ready = True

    def walk(self, leg: Leg) -> LegOutcome:
        """Have a leg walked."""
        outcome = self._said(leg)
        if not isinstance(outcome, LegOutcome):
            raise HandLost
        return outcome

    def close(self) -> None:
        """End the process."""
        self._closed = True
        process = self._process
        if process is None:
            return
        with suppress(OSError):
            process.kill()
        process.wait()

    def _said(self, what: object) -> object:
        """Return the answer to a message: answers come in the order of the questions. Raises ``HandLost``."""
        process = self._process
        assert process is not None, "it was started"
        assert process.stdin is not None, "it has an input"
        assert process.stdout is not None, "it has an output"
        mine = threading.Event()
        try:
            with self._asking:
                before, self._answered = self._answered, mine
                pickle.dump(what, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()
            before.wait()
            return pickle.load(process.stdout)
        except (OSError, EOFError, ValueError, pickle.PickleError) as cause:
            raise HandLost from cause
        finally:
            mine.set()


def _started() -> "subprocess.Popen[bytes]":
    """Return the process. Raises ``HandLost`` where there is none to be had."""
    root = str(Path(__file__).parents[3])
    named = filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))  # others: as -P
    path = os.pathsep.join((root, *named))
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dse.explore.distribution.walker"],  # -P: nothing from the working directory
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=PIPE_BYTES,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # an interrupt is for the search, which then closes its hands
        )
    except (OSError, ValueError) as cause:
        raise HandLost from cause
    for pipe in (process.stdin, process.stdout):
        _widen(pipe)
    return process


def _widen(pipe: IO[bytes] | None) -> None:
    """Give a pipe room, where the system has some left for this user: it serves with less."""
    if sys.platform == "linux" and pipe is not None:
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def process_hands(problem: Problem, engine: str, context: SearchContext, count: int, legs: int) -> list[ProcessHand]:
    """Return so many processes for a crew; each twice where the ``legs`` under way are enough for that."""
    hands = [ProcessHand(problem, engine, context) for _ in range(count)]
    return hands * 2 if 2 * count < legs else hands
