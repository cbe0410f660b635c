"""What the critical path of a run promises of changes: it gets shorter by what they save on it, and that is all.

That is how an impact analysis on the path alone answers. It is wrong where another path is then as long, and where
firings come in another order; ``dse.analyse.what_if`` sets what was simulated beside it.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dse.analyse.what_if import Promise
from dse.estimate.problem.prepare import link_servers
from dse.model.changes import Change, Faster, FreeLink, FreeTransfers, Room, Uncontended
from dse.model.critical_path import Cause, CriticalPath, SegmentKind
from dse.model.platform import Platform
from dse.model.trace import Trace

_Mask = NDArray[np.bool_]


def path_promises(path: CriticalPath, trace: Trace, platform: Platform) -> Promise:
    """Return what a critical path of a trace on a platform promises, in its ticks."""
    segments = path.segments
    action = _actions(path, trace)
    link_of = np.array([server.link for server in link_servers(platform)], dtype=np.int64)
    link = np.where(segments.link >= 0, link_of[segments.link], -1) if len(link_of) else segments.link
    moving = np.isin(segments.kind, (SegmentKind.READING, SegmentKind.WRITING))

    def spent(where: _Mask) -> int:
        return int(segments.ticks[where].sum())

    def waited(where: _Mask) -> int:
        return int(segments.waited[where].sum())

    def saved(change: Change) -> Fraction:
        match change:
            case Faster():
                own = (segments.kind == SegmentKind.PROCESSING) & (segments.actor == change.actor)
                computing = spent(own if change.action is None else own & (action == change.action))
                return Fraction(computing) if change.speed is None else computing * (1 - 1 / change.speed)
            case FreeTransfers():
                return Fraction(spent(moving & (segments.buffer == change.buffer)))
            case FreeLink():
                return Fraction(spent(moving & (link == change.link)))
            case Uncontended():
                return Fraction(waited((segments.cause == Cause.LINK) & (link == change.link)))
            case Room():
                full = (segments.cause == Cause.ROOM) & (segments.cause_buffer == change.buffer)
                return Fraction(waited(full))

    return lambda change: path.makespan - saved(change)


def _actions(path: CriticalPath, trace: Trace) -> NDArray[np.int64]:
    """Return the action of each segment, shape (n,)."""
    found = np.zeros(len(path.segments), dtype=np.int64)
    for a, ids in enumerate(trace.firings):
        own = path.segments.actor == a
        found[own] = ids[path.segments.firing[own]]
    return found
