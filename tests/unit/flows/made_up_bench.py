"""A bench whose program is made up: it runs the chain of ``tests.unit.measure.networks`` in no time, at known costs."""

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dse.flows.bench import Bench
from dse.formats.xcf import read_xcf
from dse.measure.counter import CounterFacts
from dse.measure.machine import RoundTrip
from dse.measure.platform import this_machine
from dse.measure.probe_program import BlockCost, CrossingCase
from dse.measure.runs import ProcessorCounts, RunOrder, RunRecord
from dse.model.trace import Trace
from dse.native.result import MAGIC
from dse.native.toolchain import Compiler, CompilerVersion
from dse.program.network import Network
from tests.unit.measure.networks import FACTS, TrueCosts, chain, chain_trace
from tests.unit.measure.records import header, thread, write

TRUE = TrueCosts()
CROSSING_WRITE, CROSSING_READ = 15.0, 8.0
"""What a token costs more at both ends of a FIFO between two cores, in counts."""
BETWEEN, LOOK = 16.0, 50.0
"""What a visit costs that lies before its own start, and a call in vain, which is made on two cores only."""


@dataclass
class MadeUpProgram:
    """Runs take what their visits cost; of two cores the one with more to do."""

    trace: Trace
    visits: list[tuple[int, int, int]]
    rng: np.random.Generator
    trip_ns: float = 90.0
    work_ns: tuple[float, ...] = ()
    counts: bool = True
    orders: list[RunOrder] = field(default_factory=list)
    own: dict[tuple[int, int, int], float] = field(default_factory=dict)
    """What visits cost on one core, those that were asked for before."""

    def run(self, order: RunOrder) -> RunRecord:
        self.orders.append(order)
        owners = (0, 0, 0)
        if order.mapping is not None:
            owners = read_xcf(str(order.mapping), chain(), this_machine(FACTS, 2)).partition_of(3)
        lengths = [self._length(visit, owners) for visit in self.visits]
        loads = [sum(n for n, v in zip(lengths, self.visits, strict=True) if owners[v[0]] == k) for k in (0, 1)]
        if order.records is not None:
            self._write_records(order, owners, lengths)
        if order.trace is not None:
            write_trace(order.trace, self.trace)
        trip = RoundTrip(cores=(0, 1), before_ns=self.trip_ns, after_ns=self.trip_ns, work_ns=self.work_ns)
        noise = 1 + 0.001 * float(self.rng.normal())
        counts = ProcessorCounts(cycles=round(max(loads)), instructions=2 * round(max(loads))) if self.counts else None
        run_ns = int(max(loads) / 2 * noise)
        return RunRecord(run_ns=run_ns, result="same", trips=(trip,), switches=2, counts=counts)

    def _length(self, visit: tuple[int, int, int], owners: tuple[int, ...]) -> float:
        actor, first, n = visit
        ids = self.trace.firings[actor][first : first + n]
        took = self.own.get(visit)
        if took is None:
            took = self.own[visit] = TRUE.visit[actor] + sum(TRUE.actions[actor][x] for x in ids.tolist())
        written = n if actor == 0 else 2 * int((ids == 0).sum()) if actor == 1 else 0
        taken = 64 * n if actor == 2 else n if actor == 1 else 0
        if actor < 2 and owners[actor + 1] != owners[actor]:
            took += CROSSING_WRITE * written
        if actor > 0 and owners[actor - 1] != owners[actor]:
            took += CROSSING_READ * taken
        return took

    def _write_records(self, order: RunOrder, owners: tuple[int, ...], lengths: list[float]) -> None:
        rows: dict[int, list[tuple[int, ...]]] = {owner: [] for owner in sorted(set(owners))}
        now = dict.fromkeys(rows, 1000)
        for (actor, _, n), length in zip(self.visits, lengths, strict=True):
            owner = owners[actor]
            vain = int(self.rng.integers(0, 3)) if len(rows) > 1 else 0
            start = now[owner] + int(BETWEEN + FACTS.cost + vain * (LOOK + FACTS.cost))
            now[owner] = start + int(length - BETWEEN + FACTS.cost + float(self.rng.normal()) * np.sqrt(n))
            rows[owner].append((start, now[owner], n, actor, 1, vain))
        assert order.records is not None
        parts = [thread(visits, partition=owner, core=owner) for owner, visits in rows.items()]
        write(order.records, header(3, len(parts), span=(1000, max(now.values()))), *parts)


def write_trace(path: Path, trace: Trace) -> None:
    """Write the firings of a trace as a native program does."""
    head = MAGIC + struct.pack("<I", len(trace.firings))
    counts = b"".join(struct.pack("<QB", len(ids), ids.itemsize) for ids in trace.firings)
    path.write_bytes(head + counts + b"".join(ids.tobytes() for ids in trace.firings))


class MadeUpProbe:
    """A probe that knows everything without measuring."""

    def counter(self) -> CounterFacts:
        return FACTS

    def round_trip_ns(self, cores: tuple[int, int]) -> float:
        return 90.0

    def crossing(self, case: CrossingCase) -> BlockCost:
        across = case.cores[0] != case.cores[1]
        return BlockCost(
            writing=30.0 + (20.0 + 0.5 * case.block_tokens if across else 0.0),
            reading=30.0 + (60.0 + 0.25 * case.block_tokens if across else 0.0),
        )


def made_up_bench(folder: Path, *, cores: int = 2, rounds: int = 300, seed: int = 5) -> Bench:
    rng = np.random.default_rng(seed)
    trace, visits = chain_trace(rounds, rng)
    return Bench(
        network=Network(name="chain", path="chain.xdf", instances=(), connections=()),
        topology=chain(),
        program=MadeUpProgram(trace=trace, visits=visits, rng=rng),
        probe=MadeUpProbe(),
        facts=FACTS,
        cores=tuple(range(cores)),
        compiler=Compiler(command=("c++",)),
        version=CompilerVersion(family="gcc", major=12, text="c++ 12"),
        flags=("-O2",),
        scratch=folder,
    )
