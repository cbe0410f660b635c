"""A run with a limit is not even begun where a core cannot make it, though what it transfers asks a shared link."""

import numpy as np
import pytest

from benchmarks.search.compare import load
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.compiled import layout as at
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.compiled.pack import pack_point
from dse.estimate.problem.prepare import prepare
from dse.explore.space.space import Candidate


@pytest.mark.parametrize("network", ["irregular-6x3g", "tree-6x3g"])
def test_transfers_on_a_link_count_before_a_run_begins(network: str) -> None:
    case = load(network)
    engine = CompiledEngine(case.problem)
    tables = engine.packed.tables
    rng = np.random.default_rng(1)
    asking = 0
    for _ in range(20):
        point = case.space.to_point(Candidate(assignment=case.space.random_assignment(rng)))
        prepared = prepare(tables, point)
        crosses = any(server >= 0 for server in prepared.server_of)
        load_ticks = Bounds(tables).of_point(prepared, critical_path=False).work
        encoded = engine.encoder.encode(point)
        for limit, fired in ((load_ticks - 1, 0), (engine.estimate(point).makespan, len(engine.packed.firings))):
            memory = pack_point(engine.packed, encoded, limit)
            engine._simulate([encoded], [memory])
            rows = engine.packed.actors.view(memory)
            assert int((rows[:, at.POSITION] - rows[:, at.FIRING_BASE]).sum()) == fired
        asking += crosses
    assert asking > 10
