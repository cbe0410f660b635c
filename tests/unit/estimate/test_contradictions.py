"""Problems that contradict themselves are refused, with everything that does."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dse
from dse.base.errors import FormatError
from dse.estimate.engine import ENGINES, make_engine
from dse.model.problem import Problem

COST = dse.Cost(mean_cycles=Fraction(7))
CPU = dse.Unit(name="cpu", kind="cpu", cores=2)
ACTORS = (
    dse.TraceActor(
        name="s", class_name="S", inputs=(), outputs=("O",), actions=(dse.TraceAction(name="a", reads=(), writes=(1,)),)
    ),
    dse.TraceActor(
        name="t", class_name="T", inputs=("I",), outputs=(), actions=(dse.TraceAction(name="a", reads=(1,), writes=()),)
    ),
)
FIFO = dse.TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
TRACE = dse.make_trace(dse.Topology(name="two", actors=ACTORS, buffers=(FIFO,)), [[0], [0]])
WEIGHTS = dse.WeightTable(
    name="w",
    compute={(name, "a", "cpu"): COST for name in "st"},
    has_scheduling=False,
    has_transfers=False,
)
GOOD = Problem(trace=TRACE, weights=WEIGHTS, platform=dse.Platform(name="p", units=(CPU,)))
TRANSFERS = {("s", "O", "t", "I", "local", "cpu", "read"): COST}


def with_fifo(**changes: int) -> dse.Trace:
    topology = replace(TRACE.topology, buffers=(replace(FIFO, **changes),))
    return dse.make_trace(topology, [[0], [0]])


CASES = {
    "has_transfers is False, but the weights hold 1 costs of transfers": replace(
        GOOD, weights=replace(WEIGHTS, transfers=TRANSFERS)
    ),
    "has_scheduling is False, but the weights hold 1 costs of scheduling": replace(
        GOOD, weights=replace(WEIGHTS, scheduling={("s", "", "a", "cpu"): COST})
    ),
    "platform 'p' has two units 'cpu'": replace(GOOD, platform=dse.Platform(name="p", units=(CPU, CPU))),
    "link 'pcie' leads to unit 'gpu', which the platform does not have": replace(
        GOOD,
        platform=dse.Platform(name="p", units=(CPU,), links=(dse.Link(name="pcie", between=("cpu", "gpu")),)),
    ),
    "the trace has two actors 's'": replace(
        GOOD,
        trace=dse.make_trace(replace(TRACE.topology, actors=(ACTORS[0], replace(ACTORS[1], name="s"))), [[0], [0]]),
    ),
    "the trace has firings of 1 actors, and 2 actors": replace(GOOD, trace=replace(TRACE, firings=TRACE.firings[:1])),
    "actor 't' fires action 3, and has 1 actions": replace(
        GOOD, trace=replace(TRACE, firings=(TRACE.firings[0], np.array([3], dtype=np.uint8)))
    ),
    "FIFO 0 leads from or to a port that there is not": replace(GOOD, trace=with_fifo(target_port=1)),
    "a clock is chosen for unit 'gpu', which platform 'p' does not have": replace(
        GOOD, clocks=(("gpu", Fraction(1000)),)
    ),
}


@pytest.mark.parametrize("engine", ENGINES.names())
def test_a_problem_that_agrees_is_estimated(engine: str) -> None:
    point = dse.DesignPoint(partitions=(dse.Partition(name="P0", actors=(0, 1), unit="cpu"),), capacities=(1,))
    assert make_engine(engine, GOOD).estimate(point).makespan == 14


@pytest.mark.parametrize("said", CASES)
def test_a_contradiction_is_refused(said: str) -> None:
    with pytest.raises(FormatError) as raised:
        make_engine("reference", CASES[said])
    assert [d.message for d in raised.value.diagnostics] == [said]


def test_all_are_named_at_once() -> None:
    both = replace(WEIGHTS, transfers=TRANSFERS, scheduling={("s", "", "a", "cpu"): COST})
    with pytest.raises(FormatError) as raised:
        make_engine("compiled", replace(GOOD, weights=both))
    assert len(raised.value.diagnostics) == 2
    assert str(raised.value).endswith("= make them agree")


def test_load_refuses_it_too() -> None:
    with pytest.raises(dse.FormatError, match="has_transfers is False"):
        dse.load(TRACE, weights=replace(WEIGHTS, transfers=TRANSFERS))
