"""A small network, its firings, and records of a timed run in which everything costs what it is said to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.measure.counter import CounterFacts
from dse.measure.raw_records import read_samples
from dse.measure.samples import CounterKind, Samples
from dse.model.trace import FiringIds, Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.unit.measure.records import header, thread, write

FACTS = CounterFacts(kind=CounterKind.TSC, hz=2e9, step=26.0, cost=20.0)
"""One count is half a nanosecond, as in the headers of ``records``."""


def chain() -> Topology:
    """Return source -> filter -> sink, two kinds of firings in the filter, blocks of 64 into the sink."""
    source = TraceActor(
        name="source",
        class_name="Source",
        inputs=(),
        outputs=("Out",),
        actions=(TraceAction(name="go", reads=(), writes=(1,)),),
    )
    middle = TraceActor(
        name="filter",
        class_name="Filter",
        inputs=("In",),
        outputs=("Out",),
        actions=(TraceAction(name="odd", reads=(1,), writes=(2,)), TraceAction(name="even", reads=(1,), writes=(0,))),
    )
    sink = TraceActor(
        name="sink",
        class_name="Sink",
        inputs=("In",),
        outputs=(),
        actions=(TraceAction(name="block", reads=(64,), writes=()),),
    )
    buffers = (
        TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=1, token_bits=8),
        TraceBuffer(source=1, source_port=0, target=2, target_port=0, token_bytes=4, token_bits=32),
    )
    return Topology(name="chain", actors=(source, middle, sink), buffers=buffers)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueCosts:
    """What things cost, in counts: a visit of each actor, each action of each actor, readings of the counter."""

    visit: tuple[float, ...] = (60.0, 80.0, 50.0)
    actions: tuple[tuple[float, ...], ...] = ((9.0,), (30.0, 12.0), (4000.0,))
    noise: float = 1.0


def chain_trace(rounds: int, rng: np.random.Generator, quiet: float = 0.0) -> tuple[Trace, list[tuple[int, int, int]]]:
    """Return a trace of the chain, and its visits in order: (actor, first firing, firings).

    ``quiet``: the share of the visits of the filter in which it writes nothing.
    """
    source, middle, sink = [], [], []
    visits, waiting = [], 0
    for _ in range(rounds):
        n = int(rng.integers(20, 400))
        visits.append((0, len(source), n))
        source += [0] * n
        visits.append((1, len(middle), n))
        ids = [1] * n if quiet and rng.random() < quiet else rng.integers(0, 2, n).tolist()
        middle += ids
        waiting += 2 * ids.count(0)
        if waiting >= 64:
            visits.append((2, len(sink), waiting // 64))
            sink += [0] * (waiting // 64)
            waiting %= 64
    return make_trace(chain(), [source, middle, sink]), visits


def timed_run(
    path: Path,
    firings: Sequence[FiringIds],
    visits: Sequence[tuple[int, int, int]],
    costs: TrueCosts,
    rng: np.random.Generator,
    *,
    singly: Sequence[tuple[int, int]] = (),
) -> Samples:
    """Return the records of a timed run on one core; ``singly``: (actor, action) that are timed one by one.

    A tenth of such a firing is reading, a twentieth writing, 70 counts are choosing. Of what a visit takes, 15 counts
    are between it and the visit before it.
    """
    now, rows, singles = 1000, list[tuple[int, ...]](), []
    for actor, first, n in visits:
        ids = firings[actor][first : first + n].tolist()
        took = costs.visit[actor] + 2 * FACTS.cost
        for k, action in enumerate(ids):
            cost = costs.actions[actor][action]
            took += cost
            if (actor, action) in singly:
                phases = (cost / 10, (cost - 70.0) - cost / 10 - cost / 20, cost / 20)
                singles.append(
                    (now + int(took), first + k, actor, action, 0xFFFFFFFF, *(int(p + FACTS.cost) for p in phases))
                )
                took += 4 * FACTS.cost
        took += costs.noise * float(rng.normal()) * np.sqrt(n + 1)
        between = 15 + int(FACTS.cost) if rows else 0
        rows.append((now + between, now + int(took), n, actor, 1))
        now += int(took)
    data = (header(3, 1, span=(1000, now)), thread(rows, singles, [(1, 10, 10 * 45, 30, 90)]))
    return read_samples(write(path, *data), 3)
