"""A picture of the network: actors as boxes in layers from left to right, coloured by partition, FIFOs as curves.

Layers by longest path after cutting cycles, then a few sweeps that order each layer by the mean position of its
neighbours (Sugiyama, Tagawa and Toda 1981, without dummy nodes).
"""

from collections import defaultdict
from dataclasses import dataclass

from dse.base.escaping import page_text
from dse.model.design_point import DesignPoint
from dse.model.trace import Topology
from dse.report.ranking import unit_text
from dse.report.svg import colour, picture, rectangle, tag, text

_BOX_HEIGHT, _ROW, _GAP = 30.0, 48.0, 70.0
_SWEEPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlaces:
    """Layer of each actor, and the order of the actors in each layer."""

    layer: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]


def place(topology: Topology) -> NodePlaces:
    """Return where the actors stand."""
    forward = _forward_edges(topology)
    layer = [0] * len(topology.actors)
    for source, target in forward:  # in topological order of the sources
        layer[target] = max(layer[target], layer[source] + 1)
    layers: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
    for actor, depth in enumerate(layer):
        layers[depth].append(actor)
    _untangle(layers, forward)
    return NodePlaces(layer=tuple(layer), order=tuple(tuple(column) for column in layers))


def _untangle(layers: list[list[int]], forward: list[tuple[int, int]]) -> None:
    """Order the actors of each layer by the mean place of their neighbours, again and again in both directions."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for source, target in forward:
        neighbours[source].append(target)
        neighbours[target].append(source)
    for sweep in range(_SWEEPS):
        position = {a: row - len(column) / 2 for column in layers for row, a in enumerate(column)}
        for column in layers if sweep % 2 == 0 else reversed(layers):
            column.sort(key=lambda a: (_mean([position[b] for b in neighbours[a]], position[a]), a))
            position.update({a: row - len(column) / 2 for row, a in enumerate(column)})


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _forward_edges(topology: Topology) -> list[tuple[int, int]]:
    """Return the edges between actors without those that close cycles, sources in topological order."""
    edges = dict.fromkeys((b.source, b.target) for b in topology.buffers if b.source != b.target)
    sources: dict[int, list[int]] = defaultdict(list)
    for source, target in edges:
        sources[target].append(source)
    waiting = list(range(len(topology.actors)))
    placed: dict[int, int] = {}
    while waiting:
        ready = (a for a in waiting if all(s in placed for s in sources[a]))
        actor = next(ready, waiting[0])  # every waiting actor is on or behind a cycle: cut it at the first declared
        waiting.remove(actor)
        placed[actor] = len(placed)
    return sorted((e for e in edges if placed[e[0]] < placed[e[1]]), key=lambda e: (placed[e[0]], placed[e[1]]))


def network_picture(topology: Topology, point: DesignPoint, tokens: tuple[int, ...]) -> str:
    """Return the picture; ``tokens`` is what each buffer carries in the whole trace and decides its line width."""
    placement = place(topology)
    owner = point.partition_of(len(topology.actors))
    widths = [24 + 7.0 * max((len(topology.actors[a].name) for a in column), default=1) for column in placement.order]
    lefts = [10 + sum(widths[:c]) + _GAP * c for c in range(len(widths))]
    tallest = max((len(column) for column in placement.order), default=1)
    head = _head_room(topology, placement)
    centre: dict[int, tuple[float, float, float]] = {}
    for c, column in enumerate(placement.order):
        top = head + (tallest - len(column)) * _ROW / 2
        for row, actor in enumerate(column):
            centre[actor] = (lefts[c], lefts[c] + widths[c], top + row * _ROW + _BOX_HEIGHT / 2)
    most = max(tokens, default=0) or 1
    curves = [
        _curve(topology, b, centre, placement, owner, tokens[b] / most, shift)
        for b, shift in enumerate(_shifts(topology))
    ]
    boxes = [_box(topology, a, centre[a], point, owner[a]) for a in range(len(topology.actors))]
    right, bottom = lefts[-1] + widths[-1] + 10, head + 6 + tallest * _ROW
    legend = _legend(point, bottom)
    return picture(max(right, 320), bottom + 26, "".join(curves + boxes) + legend, f"network {topology.name}")


def _head_room(topology: Topology, placement: NodePlaces) -> float:
    """Return the space above the first row, for the curves that pass over layers."""
    spans = [placement.layer[b.target] - placement.layer[b.source] for b in topology.buffers]
    return 14 + (_bow(max(spans)) if max(spans, default=0) > 1 else 0.0)


def _bow(span: int) -> float:
    """Return how high a curve over ``span`` layers rises."""
    return 16.0 + 9.0 * min(span, 6)


def _shifts(topology: Topology) -> list[float]:
    """Return how far each curve is moved down, so that several FIFOs between two actors lie side by side."""
    seen: dict[tuple[int, int], int] = {}
    numbers = []
    for b in topology.buffers:
        numbers.append(seen.setdefault((b.source, b.target), 0))
        seen[b.source, b.target] += 1
    return [6.0 * (k - (seen[b.source, b.target] - 1) / 2) for k, b in zip(numbers, topology.buffers, strict=True)]


def _curve(
    topology: Topology,
    buffer: int,
    centre: dict[int, tuple[float, float, float]],
    placement: NodePlaces,
    owner: tuple[int, ...],
    share: float,
    shift: float,
) -> str:
    b = topology.buffers[buffer]
    span = placement.layer[b.target] - placement.layer[b.source]
    _, x1, y1 = centre[b.source]
    x2, _, y2 = centre[b.target]
    y1, y2 = y1 + shift, y2 + shift
    if span > 1:  # over the boxes between
        high = min(y1, y2) - 1.33 * _bow(span) - _BOX_HEIGHT / 4
        path = f"M{x1:.1f},{y1:.1f} C{x1 + 60:.1f},{high:.1f} {x2 - 60:.1f},{high:.1f} {x2:.1f},{y2:.1f}"
    elif x2 > x1:
        middle = (x1 + x2) / 2
        path = f"M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    else:  # backwards: around, below the boxes
        low = max(y1, y2) + _ROW * 0.62
        path = f"M{x1:.1f},{y1:.1f} C{x1 + 40:.1f},{low:.1f} {x2 - 40:.1f},{low:.1f} {x2:.1f},{y2:.1f}"
    across = owner[b.source] != owner[b.target]
    return tag(
        "path",
        [
            ("d", path),
            ("fill", "none"),
            ("stroke", "#c0392b" if across else "#999"),
            ("stroke-width", 1 + 2.5 * share),
            ("stroke-opacity", 0.75),
        ],
        tag("title", [], page_text(topology.buffer_name(buffer))),
    )


def _box(topology: Topology, actor: int, at: tuple[float, float, float], point: DesignPoint, owner: int) -> str:
    left, right, y = at
    name = topology.actors[actor].name
    title = f"{name} on {point.partitions[owner].name} ({unit_text(point.partitions[owner])})"
    box = rectangle(left, y - _BOX_HEIGHT / 2, right - left, _BOX_HEIGHT, colour(owner), title, radius=5)
    return box + text((left + right) / 2, y + 4, name, anchor="middle", size=12, fill="#fff")


def _legend(point: DesignPoint, y: float) -> str:
    content, x = list[str](), 10.0
    for index, partition in enumerate(point.partitions):
        label = f"{partition.name} ({unit_text(partition)})"
        content += [rectangle(x, y, 12, 12, colour(index)), text(x + 17, y + 10.5, label, size=11)]
        x += 36 + 6.6 * len(label)
    return "".join(content) + text(x + 6, y + 10.5, "red: FIFO between partitions", size=11, fill="#c0392b")
