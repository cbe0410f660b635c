"""The document of data that a page shows: a network, and views of mappings of it. Plain JSON, numbers and short texts.

``network_view`` is what all mappings of a network share, ``mapping_view`` one of them; actors, actions, buffers and
partitions are told by their index. Times are ticks of the ``unit``, ``ps`` or ``cycles``. Names are as they can be
shown (``dse.base.escaping.shown``): a page never needs the others. The scripts that draw views are
in ``dse/report/web``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.base.escaping import shown
from dse.model.critical_path import SegmentKind, Segments
from dse.model.design_point import DesignPoint
from dse.model.estimate import ActorAccount, BufferAccount, Estimate, PartitionAccount
from dse.model.steps import FiringSteps
from dse.model.trace import Topology, Trace, tokens_of_buffers
from dse.report.page.columns import column
from dse.report.page.timeline import Detail, timeline_json
from dse.report.ranking import unit_text

FORMAT = 1
"""Which form a document has; a page says so where it is another one."""


def network_view(trace: Trace) -> dict[str, object]:
    """Return what all mappings of a network share: its actors with their actions, its FIFOs with what they carry."""
    topology = trace.topology
    return {
        "format": FORMAT,
        "name": shown(topology.name),
        "actors": [
            {
                "name": shown(a.name),
                "class": shown(a.class_name),
                "actions": [shown(action.name) for action in a.actions],
            }
            for a in topology.actors
        ],
        "buffers": _buffers(topology, tokens_of_buffers(trace)),
    }


def _buffers(topology: Topology, tokens: Sequence[int]) -> list[dict[str, object]]:
    return [
        {
            "name": shown(topology.buffer_name(index)),
            "source": b.source,
            "target": b.target,
            "output": shown(topology.actors[b.source].outputs[b.source_port]),
            "input": shown(topology.actors[b.target].inputs[b.target_port]),
            "tokens": tokens[index],
            "bytes": b.token_bytes,
        }
        for index, b in enumerate(topology.buffers)
    ]


def mapping_view(
    trace: Trace,
    point: DesignPoint,
    estimate: Estimate,
    *,
    label: str,
    mapping: str = "",
    lines: Sequence[str] = (),
    path: Segments | None = None,
    steps: Sequence[FiringSteps] | None = None,
    detail: Detail | None = None,
) -> dict[str, object]:
    """Return the view of a mapping of the network of ``trace``.

    ``label``: what it is called where it is chosen; ``mapping``: as ``--mapping`` takes it; ``lines``: why it takes
    this long, in words. The timeline is there where ``estimate`` holds firing times. ``path``: its
    critical path; ``steps``: when the parts of each firing end, one entry an actor. ``detail``: how
    much of the timeline there is, None: as in a file.
    """
    topology, of_detail = trace.topology, detail or Detail()
    times = estimate.firing_times
    return {
        "format": FORMAT,
        "label": shown(label),
        "mapping": shown(mapping),
        "lines": [shown(line) for line in lines],
        "makespan": estimate.makespan,
        "unit": estimate.tick_unit,
        "deadlock": estimate.deadlock is not None,
        "partitions": [
            {
                "name": shown(p.name),
                "unit": shown(unit_text(p)),
                "policy": p.policy,
                "cores": account.cores,
                "times": list(account[: len(PARTITION_TIMES)]),
            }
            for p, account in zip(point.partitions, estimate.partitions, strict=True)
        ],
        "owner": list(point.partition_of(len(topology.actors))),
        "actors": [list(account) for account in estimate.actors],
        "buffers": [[size, *account] for size, account in zip(point.capacities, estimate.buffers, strict=True)],
        "links": [
            {"name": shown(link.name), "busy": link.busy, "waiting": link.waiting, "transfers": link.transfers}
            for link in estimate.links
        ],
        "timeline": None if times is None else timeline_json(trace, point, times, estimate.makespan, of_detail, steps),
        "path": None if path is None else path_json(path, len(topology.actors), of_detail),
    }


ACTOR_FIELDS = ActorAccount._fields
"""What the rows of ``actors`` in a view hold: the nine categories in ticks, and the firings."""
BUFFER_FIELDS = ("capacity", *BufferAccount._fields)
"""What the rows of ``buffers`` in a view hold: tokens, counts and ticks."""
PARTITION_TIMES = PartitionAccount._fields[:6]
"""What the ``times`` of a partition are, in ticks."""


def path_json(path: Segments, n_actors: int, detail: Detail) -> dict[str, object]:
    """Return a critical path as columns; ``actor``, ``firing`` and ``buffer`` are one more than they are, 0: none.

    ``ticks``: the time of each actor on it. A path of more segments than ``detail.all_firings`` is told by the actor
    that it goes through in the middle of each of ``PATH_PARTS`` equal parts of the run; then it is not ``complete``.
    """
    of_actor = np.bincount(path.actor, weights=path.ticks, minlength=n_actors)
    complete = len(path) <= detail.all_firings
    kind, actor, firing, buffer, start, end = (
        (path.kind, path.actor, path.firing, path.buffer, path.start, path.end) if complete else _sampled(path)
    )

    def of(values: NDArray[np.int64]) -> dict[str, object]:
        return column(values, packed=detail.packed)

    return {
        "kinds": [kind.name.lower() for kind in SegmentKind],
        "complete": complete,
        "ticks": [round(ticks) for ticks in of_actor.tolist()],
        "first": int(start[0]) if len(start) else 0,
        "kind": of(kind),
        "actor": of(actor + 1),
        "firing": of(firing + 1),
        "buffer": of(buffer + 1),
        "length": of(end - start),
    }


PATH_PARTS = 16_384
"""Parts of the run in which a long path is told."""


def _sampled(path: Segments) -> tuple[NDArray[np.int64], ...]:
    """Return kind, actor, firing, buffer, start and end of a path that changes at most ``PATH_PARTS`` times."""
    edges = np.linspace(int(path.start[0]), int(path.end[-1]), PATH_PARTS + 1).astype(np.int64)
    at = np.minimum(np.searchsorted(path.end, (edges[1:] + edges[:-1]) // 2, side="right"), len(path) - 1)
    actor = path.actor[at]
    first = np.flatnonzero(np.diff(actor, prepend=-1))
    none = np.full(len(first), -1, dtype=np.int64)
    last = np.append(first[1:], PATH_PARTS)
    return path.kind[at][first], actor[first], none, none, edges[first], edges[last]
