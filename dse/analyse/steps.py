"""The steps of every firing of a mapping: when it was scheduled, had read, had computed and had written.

The compiled engine records them; nothing is guessed from start and end. Who asks for several mappings of a problem
makes a ``CompiledEngine`` once and calls its ``record``, and ``steps_of_record`` here.
"""

from itertools import pairwise

from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.compiled.record import RunRecord
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.problem import Problem
from dse.model.steps import FiringSteps


def steps_of(problem: Problem, point: DesignPoint, estimate: Estimate) -> tuple[FiringSteps, ...]:
    """Return the steps of all firings, one for each actor; ``estimate`` is that of ``point``, from any engine.

    Raises:
        FormatError, InfeasibleDesign: as the engine that made the estimate.
    """
    again, record = CompiledEngine(problem).record(point)
    assert again.makespan == estimate.makespan, "the estimate is of another point or problem"
    return steps_of_record(record)


def steps_of_record(record: RunRecord) -> tuple[FiringSteps, ...]:
    """Return the steps of all firings of a record, one for each actor; they share its arrays."""
    return tuple(
        FiringSteps(
            start=record.start[begin:end],
            scheduled=record.scheduled[begin:end],
            read=record.read[begin:end],
            computed=record.computed[begin:end],
            end=record.end[begin:end],
        )
        for begin, end in pairwise(record.firing_base.tolist())
    )
