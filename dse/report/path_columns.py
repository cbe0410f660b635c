"""Critical paths and slack as tables with a row for each segment or firing, for other tools. Times are ticks."""

import numpy as np
from numpy.typing import NDArray

from dse.formats.tables import Column
from dse.model.critical_path import Cause, CriticalPath, SegmentKind
from dse.model.estimate import Estimate, FiringTimes
from dse.model.program_path import AlgorithmicPath
from dse.model.trace import Trace
from dse.report.algorithmic import dependency_name, dependency_of

_Ints = NDArray[np.int64]


def _firing_columns(trace: Trace, actor: _Ints, firing: _Ints) -> list[Column]:
    """Return the columns that name firings."""
    actors, first = trace.topology.actors, np.cumsum([0, *map(len, trace.firings)])
    ids = np.concatenate([*(of.astype(np.int64) for of in trace.firings), np.zeros(0, np.int64)])
    pairs = list(zip(actor.tolist(), ids[first[actor] + firing].tolist(), strict=True))
    return [
        Column(name="actor", values=[actors[a].name for a, _ in pairs]),
        Column(name="firing", values=firing.tolist()),
        Column(name="action", values=[actors[a].actions[x].name for a, x in pairs]),
    ]


def slack_columns(trace: Trace, slack: tuple[_Ints, ...], times: tuple[FiringTimes, ...] | None) -> list[Column]:
    """Return a row for each firing; empty cells for those that were never made."""
    actor = np.repeat(np.arange(len(slack)), [len(of) for of in slack])
    firing = np.concatenate([*(np.arange(len(of)) for of in slack), np.zeros(0, np.int64)])
    columns = _firing_columns(trace, actor, firing)
    if times is not None:
        columns.append(_column("start", [of.start for of in times]))
        columns.append(_column("end", [of.end for of in times]))
    return [*columns, _column("slack", slack)]


def _column(name: str, parts: tuple[_Ints, ...] | list[_Ints]) -> Column:
    values = np.concatenate([*parts, np.zeros(0, np.int64)]).tolist()
    return Column(name=name, values=[value if value >= 0 else None for value in values])


def segment_columns(trace: Trace, estimate: Estimate, path: CriticalPath) -> list[Column]:
    """Return a row for each segment, in the order of time."""
    s, topology = path.segments, trace.topology

    def buffers(of: _Ints) -> list[str | None]:
        return [topology.buffer_name(b) if b >= 0 else None for b in of.tolist()]

    return [
        Column(name="start", values=s.start.tolist()),
        Column(name="end", values=s.end.tolist()),
        Column(name="step", values=[SegmentKind(kind).name.lower() for kind in s.kind.tolist()]),
        *_firing_columns(trace, s.actor, s.firing),
        Column(name="fifo", values=buffers(s.buffer)),
        Column(name="link", values=[estimate.links[i].name if i >= 0 else None for i in s.link.tolist()]),
        Column(name="because", values=[Cause(cause).name.lower() for cause in s.cause.tolist()]),
        Column(name="because of fifo", values=buffers(s.cause_buffer)),
        Column(name="waited", values=s.waited.tolist()),
    ]


def step_columns(trace: Trace, path: AlgorithmicPath) -> list[Column]:
    """Return a row for each firing of the path, in the order of time."""
    pairs = zip(path.kind.tolist(), path.label.tolist(), strict=True)
    return [
        Column(name="start", values=path.start.tolist()),
        Column(name="end", values=path.end.tolist()),
        *_firing_columns(trace, path.actor, path.firing),
        Column(name="because", values=[dependency_name(kind) for kind in path.kind.tolist()]),
        Column(name="of", values=[dependency_of(trace, path, *pair) for pair in pairs]),
    ]
