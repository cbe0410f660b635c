"""The critical path of a mapping, exactly, and by how much each firing may begin later.

A firing on the path began when the last of what it needed was there; where several things came at one instant, the
path takes one of them: the actor's own firing before, then inputs, then outputs in their order. So there may be other
paths that are as long.

Slack is that of the run as it was: the order of firings on cores, and of transfers on links, stays. Where transfers ask
shared links a firing is thought to move as a whole, so that the slack given there is at most the true one.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.compiled.record import RunRecord
from dse.estimate.compiled.walk import RecordWalk
from dse.estimate.problem.tables import ProblemTables
from dse.model.critical_path import Cause, CriticalPath, SegmentKind, Segments
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.problem import Problem

__all__ = ["Cause", "CriticalPath", "SegmentKind", "Segments", "critical_path", "path_of_record", "slack_of_record"]


def critical_path(problem: Problem | ProblemTables, point: DesignPoint, estimate: Estimate) -> CriticalPath:
    """Return the critical path of ``point`` in a problem, or in one whose tables are made already.

    ``estimate`` is that of the point, from any engine.

    Raises:
        FormatError, InfeasibleDesign: as the engine that made the estimate.
    """
    again, record = CompiledEngine(problem).record(point)
    assert again.makespan == estimate.makespan, "the estimate is of another point or problem"
    return path_of_record(record)


def path_of_record(record: RunRecord) -> CriticalPath:
    """Return the critical path of a recorded run."""
    rows = RecordWalk(record).segments()
    return CriticalPath(
        makespan=record.makespan,
        tick_unit=record.tables.tick_unit,
        deadlock=not record.complete,
        segments=Segments(
            kind=rows[:, 0],
            actor=rows[:, 1],
            firing=rows[:, 2],
            buffer=rows[:, 3],
            link=rows[:, 4],
            start=rows[:, 5],
            end=rows[:, 6],
            cause=rows[:, 7],
            cause_buffer=rows[:, 8],
            waited=rows[:, 9],
        ),
    )


def slack_of_record(record: RunRecord) -> tuple[NDArray[np.int64], ...]:
    """Return by how many ticks each firing may begin later without a longer makespan, one array for each actor.

    Shape (n_firings,); -1 for firings that were never made. In a deadlock: without a later last event.
    """
    slack = RecordWalk(record).slacks()
    return tuple(slack[begin:end] for begin, end in pairwise(record.firing_base.tolist()))
