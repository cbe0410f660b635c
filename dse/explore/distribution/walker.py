"""The process of a ``ProcessHand``: reads a problem and legs, walks them, writes what came of each.

Both ends are of one version and one machine, and nobody else writes to its input.
"""

import gc
import os
import pickle
import sys
import time
from types import ModuleType
from typing import cast

from dse.base.collector import collector_paused
from dse.estimate.bounds.slot_loads import Annealing
from dse.estimate.engine import Engine, make_engine
from dse.explore.distribution.leg_run import LegRun
from dse.explore.method import SearchContext
from dse.explore.moves.load_model import LoadAnnealer, LoadModel

UNNEEDED = ("cffi", "scipy")
"""Where they are installed numba loads them in case somebody compiles what calls them, which takes longer than all else
that a walker loads; nobody does here."""


def _load_little() -> None:
    """Have what is not needed here look as if it were not installed: an import of it fails."""
    for name in UNNEEDED:
        sys.modules.setdefault(name, cast(ModuleType, None))  # Python's import: None is what cannot be found


def _load(engine: Engine, context: SearchContext) -> None:
    """Use once what is compiled: to load it takes longer than a leg."""
    first = next(context.space.candidates())
    engine.outcomes([context.space.to_point(first)])
    context.bounds([first])
    LoadModel(context, first.assignment).even_out(context.rng, 1)
    gentle = Annealing(cut_weight=0.0, stage_weight=0.0, hot=1.0, cold=1.0)
    LoadAnnealer(context).annealed(first.assignment, gentle, steps=1)


def main() -> None:
    """Walk legs until the input ends."""
    _load_little()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    questions = sys.stdin.buffer
    try:
        with collector_paused():  # what is loaded stays: to look for garbage among it takes a tenth of the time
            problem, name, context = pickle.load(questions)
            engine = make_engine(name, problem)
            _load(engine, context)
        gc.freeze()
        answer: object = "ready"
        while True:
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()
            leg = pickle.load(questions)
            run = LegRun(leg, context, lambda points, limit: iter(engine.outcomes(points, limit)), time.perf_counter)
            while not run.done:
                run.step()
            answer = run.outcome()
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the search is over; nobody reads what is left to be written


if __name__ == "__main__":
    main()
