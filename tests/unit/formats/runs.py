"""Random traces that can happen: made by firing actors while tokens last, so that counting tokens works out."""

import numpy as np
from hypothesis import strategies as st

from dse.model.trace import AccessTable, Topology, Trace, make_trace
from tests.unit.formats.strategies import NAMES, topologies

VARIABLES = ("a", "table", "é")


@st.composite
def runs(draw: st.DrawFn, *, accesses: bool = False, names: st.SearchStrategy[str] = NAMES, steps: int = 25) -> Trace:
    """A trace of up to ``steps`` firings of a random network, with recorded accesses if asked for."""
    topology: Topology = draw(topologies(names=names))
    tokens = [buffer.initial_tokens for buffer in topology.buffers]
    firings: list[list[int]] = [[] for _ in topology.actors]
    for _ in range(draw(st.integers(0, steps))):
        ready = [
            (a, x)
            for a, actor in enumerate(topology.actors)
            for x, action in enumerate(actor.actions)
            if all(tokens[i] >= action.reads[b.target_port] for i, b in enumerate(topology.buffers) if b.target == a)
        ]
        if not ready:
            break
        a, x = draw(st.sampled_from(ready))
        for i, b in enumerate(topology.buffers):
            if b.target == a:
                tokens[i] -= topology.actors[a].actions[x].reads[b.target_port]
            if b.source == a:
                tokens[i] += topology.actors[a].actions[x].writes[b.source_port]
        firings[a].append(x)
    tables: list[AccessTable] = []
    names_of = st.frozensets(st.sampled_from(VARIABLES), max_size=2)
    for ids in firings if accesses else []:
        signatures = draw(st.lists(st.tuples(names_of, names_of, names_of), min_size=1, max_size=3))
        chosen = [draw(st.integers(0, len(signatures) - 1)) for _ in ids]
        tables.append(AccessTable(signatures=tuple(signatures), ids=np.array(chosen, dtype=np.uint16)))
    return make_trace(topology, firings, accesses=tuple(tables))
