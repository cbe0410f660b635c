"""The process of a ``ProcessHand``: reads a problem and legs, walks them, writes what came of each.

Both ends are of one version and one machine, and nobody else writes to its input.
"""

import os
import pickle
import sys
import time

from dse.estimate.engine import make_engine
from dse.explore.distribution.leg_run import LegRun


def main() -> None:
    """Walk legs until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    questions = sys.stdin.buffer
    try:
        problem, name, context = pickle.load(questions)
        engine = make_engine(name, problem)
        engine.outcomes([context.space.to_point(next(context.space.candidates()))])
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
