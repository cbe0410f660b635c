"""Random topologies, traces, weights and design points for round trips of the file formats."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from dse.model.design_point import POLICIES, DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import (
    AccessTable,
    Topology,
    Trace,
    TraceAction,
    TraceActor,
    TraceBuffer,
    make_trace,
)
from dse.model.weights import Arrival, Cost, SimdCost, Visits, WeightTable

# Letters, and what XML, YAML and JSON must quote. Control characters cannot stand in XML.
NAMES = st.text(st.sampled_from("abzABZ019_./<>&\"' é:#-"), min_size=1, max_size=6).filter(lambda s: s.strip() == s)


@st.composite
def damaged(draw: st.DrawFn, *contents: bytes, first: int = 0) -> bytes:
    """One of some files, of which some pieces from the byte ``first`` on are replaced."""
    text = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(first, len(text) - 1))
        text[at : at + draw(st.integers(0, 9))] = draw(st.binary(max_size=6))
    return bytes(text)


@st.composite
def topologies(draw: st.DrawFn, *, names: st.SearchStrategy[str] = NAMES) -> Topology:
    """A topology of up to four actors; port names unique in an actor, actor names unique."""
    actor_names = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    actors = []
    for name in actor_names:
        inputs = tuple(draw(st.lists(names, max_size=2, unique=True)))
        outputs = tuple(draw(st.lists(names, max_size=2, unique=True)))
        actions = tuple(
            TraceAction(
                name=action,
                reads=tuple(draw(st.integers(0, 3)) for _ in inputs),
                writes=tuple(draw(st.integers(0, 3)) for _ in outputs),
                initializer=draw(st.booleans()),
            )
            for action in draw(st.lists(names, min_size=1, max_size=3, unique=True))
        )
        actors.append(
            TraceActor(
                name=name, class_name=draw(names), inputs=inputs, outputs=outputs, actions=actions,
                fsm=draw(st.booleans()), stateless=draw(st.booleans()),
            )
        )  # fmt: skip
    return Topology(name=draw(names), actors=tuple(actors), buffers=draw(buffers_of(tuple(actors))))


@st.composite
def buffers_of(draw: st.DrawFn, actors: tuple[TraceActor, ...]) -> tuple[TraceBuffer, ...]:
    """Buffers: every input has at most one, from any output."""
    outputs = [(a, p) for a, actor in enumerate(actors) for p in range(len(actor.outputs))]
    found = []
    for target, actor in enumerate(actors):
        for port in range(len(actor.inputs)):
            if outputs and draw(st.booleans()):
                source, source_port = draw(st.sampled_from(outputs))
                bits = draw(st.sampled_from([1, 8, 12, 32, 64]))
                found.append(
                    TraceBuffer(
                        source=source, source_port=source_port, target=target, target_port=port,
                        token_bits=bits, token_bytes=max(1, bits // 8), capacity=draw(st.none() | st.integers(1, 999)),
                        initial_tokens=draw(st.integers(0, 2)),
                    )
                )  # fmt: skip
    return tuple(found)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A trace with or without recorded accesses; token counts need not fit."""
    topology = draw(topologies())
    firings = [
        draw(st.lists(st.integers(0, len(actor.actions) - 1), max_size=20)) for actor in topology.actors
    ]  # fmt: skip
    accesses: tuple[AccessTable, ...] = ()
    if draw(st.booleans()):
        variables = st.frozensets(st.sampled_from(["x", "y", "é"]))
        tables = []
        for ids in firings:
            signatures = draw(st.lists(st.tuples(variables, variables, variables), min_size=1, max_size=4))
            choice = st.integers(0, len(signatures) - 1)
            tables.append(
                AccessTable(
                    signatures=tuple(signatures),
                    ids=np.array(draw(st.lists(choice, min_size=len(ids), max_size=len(ids))), dtype=np.uint16),
                )
            )
        accesses = tuple(tables)
    made_by = draw(st.lists(st.tuples(NAMES, NAMES), max_size=2))
    return make_trace(topology, firings, accesses=accesses, made_by=tuple(made_by))


CYCLES = st.fractions(0, 10**6, max_denominator=1).map(lambda f: f / 8) | st.sampled_from(
    [Fraction(0), Fraction("0.001"), Fraction("2900.125"), Fraction(10**12)]
)
"""Cycles that end as decimals."""


def same_trace(a: Trace, b: Trace) -> bool:
    """Whether two traces are equal in everything."""
    return (
        a.topology == b.topology
        and a.digest == b.digest
        and a.made_by == b.made_by
        and all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(a.firings, b.firings, strict=True))
        and [t.signatures for t in a.accesses] == [t.signatures for t in b.accesses]
        and all(np.array_equal(x.ids, y.ids) for x, y in zip(a.accesses, b.accesses, strict=True))
    )


@st.composite
def costs(draw: st.DrawFn, *, per_token: bool = False, clock: Fraction | None = None) -> Cost:
    """A consistent cost."""
    low, mean, high = sorted(draw(st.tuples(CYCLES, CYCLES, CYCLES)))
    return Cost(
        mean_cycles=mean,
        frequency_mhz=draw(st.sampled_from([clock, clock, Fraction(1800), Fraction("2903.998")])),
        per_token_cycles=draw(CYCLES) if per_token else Fraction(0),
        min_cycles=draw(st.sampled_from([None, low])),
        max_cycles=draw(st.sampled_from([None, high])),
        variance_cycles2=draw(st.none() | CYCLES),
        count=draw(st.none() | st.integers(1, 10**6)),
        origin=draw(st.sampled_from(["measured", "measured", "predicted", "nominal"])),
    )


@st.composite
def weight_tables(draw: st.DrawFn) -> WeightTable:
    """A weight table with entries of both unit kinds and all FIFO kinds."""
    kinds = st.sampled_from(["cpu", "gpu"])
    compute = draw(st.dictionaries(st.tuples(NAMES, NAMES, kinds), costs(), max_size=4))
    scheduling = draw(st.dictionaries(st.tuples(NAMES, st.just("") | NAMES, NAMES, kinds), costs(), max_size=4))
    prices = st.sampled_from([("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu")])
    sides = st.sampled_from(["read", "write"])
    keys = st.tuples(NAMES, NAMES, NAMES, NAMES, prices, sides).map(lambda k: (*k[:4], *k[4], k[5]))
    transfers = draw(st.dictionaries(keys, costs(per_token=True), max_size=5))
    simd = {
        key: SimdCost(block_cycles=tuple(draw(st.lists(CYCLES, min_size=1, max_size=3))), frequency_mhz=Fraction(1800))
        for key in compute
        if draw(st.booleans())
    }
    manifest = draw(st.dictionaries(NAMES, NAMES, max_size=2))
    ends = st.tuples(NAMES, NAMES, NAMES, NAMES, sides)
    visits = st.builds(
        Visits,
        look_cycles=CYCLES,
        wake_cycles=CYCLES,
        glance_cycles=st.none() | CYCLES,
        entries=st.dictionaries(ends, CYCLES, max_size=3),
    )
    arrivals = st.builds(
        Arrival,
        cycles=CYCLES.filter(bool),
        frequency_mhz=st.none() | st.just(Fraction("2596.126")),
        turn_firings=st.integers(1, 99),
        turn_parts=st.integers(0, 9),
        visits=st.none() | visits,
    )
    return WeightTable(
        name=draw(NAMES), compute=compute, scheduling=scheduling, transfers=transfers, simd=simd,
        manifest=tuple(manifest.items()), arrival=draw(st.none() | arrivals),
    )  # fmt: skip


UNITS = (
    Unit(name="cpu", kind="cpu", cores=4),
    Unit(name="gpu", kind="gpu", partition="PG"),
    Unit(name="little cpu", kind="cpu", cores=2),
)
PLATFORM = Platform(name="p", units=UNITS)


@st.composite
def design_points(draw: st.DrawFn, topology: Topology) -> DesignPoint:
    """A design point of any partition shape, policy and unit."""
    order = draw(st.permutations(range(len(topology.actors))))
    owner = [draw(st.integers(0, len(order) - 1)) for _ in order]
    partitions = []
    clocks = {unit.name: draw(st.none() | st.integers(1, 10**11).map(lambda hz: Fraction(hz, 10**6))) for unit in UNITS}
    for name in range(len(order)):
        actors = tuple(actor for actor, o in zip(order, owner, strict=True) if o == name)
        if not actors:
            continue
        policy = draw(st.sampled_from(POLICIES))
        extra = draw(st.lists(st.sampled_from(actors), max_size=2))
        unit = draw(st.sampled_from(UNITS)).name
        partitions.append(
            Partition(
                name=f"{draw(NAMES)}{name}", actors=actors, unit=unit, policy=policy, clock_mhz=clocks[unit],
                cores=draw(st.integers(1, 4)), static_order=(*actors, *extra) if policy == "STATIC_ORDER" else (),
            )
        )  # fmt: skip
    return DesignPoint(
        partitions=tuple(partitions),
        capacities=tuple(draw(st.integers(1, 10**6)) for _ in topology.buffers),
        release=draw(st.sampled_from(["reading", "processing"])),
        transfers=draw(st.sampled_from(["sequential", "parallel"])),
        name=draw(NAMES),
    )
