"""Reader of the TURNUS cases (``golden/turnus/README.md``) into problems and design points."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer
from dse.model.weights import Cost, WeightTable

FOLDER = Path(__file__).parent / "turnus"


@dataclass(frozen=True)
class Run:
    name: str
    policy: str
    capacity: int
    communication: bool
    scheduling: bool
    processing_release: bool
    mapping: dict[str, str]


@dataclass(frozen=True)
class TurnusCase:
    trace: Trace
    weights: WeightTable
    runs: tuple[Run, ...]

    def problem(self, run: Run) -> Problem:
        """The problem of a run: weights that it switches off are left out."""
        weights = WeightTable(
            name="turnus",
            compute=self.weights.compute,
            scheduling=self.weights.scheduling if run.scheduling else {},
            transfers=self.weights.transfers if run.communication else {},
            has_scheduling=run.scheduling,
            has_transfers=run.communication,
        )
        return Problem(
            trace=self.trace, weights=weights, platform=Platform(name="p", units=(Unit(name="cpu", kind="cpu"),))
        )

    def point(self, run: Run) -> DesignPoint:
        topology = self.trace.topology
        names = sorted(set(run.mapping.values()))
        return DesignPoint(
            partitions=tuple(
                Partition(
                    name=name,
                    actors=tuple(a for a, actor in enumerate(topology.actors) if run.mapping[actor.name] == name),
                    unit="cpu",
                    policy=run.policy,  # type: ignore[arg-type]
                )
                for name in names
            ),
            capacities=(run.capacity,) * len(topology.buffers),
            release="processing" if run.processing_release else "reading",
            transfers="parallel",
        )


def expected() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "expected.jsonl").read_text().splitlines()]


def read_case(path: Path) -> TurnusCase:
    lines = [line.split() for line in path.read_text().splitlines()]
    names = [words[1] for words in lines if words[0] == "A"]
    action_names = {words[1]: [f"t{i}" for i in range(int(words[2]))] for words in lines if words[0] == "A"}
    edges = [words[1:] for words in lines if words[0] == "B"]
    inputs = {n: list(dict.fromkeys(e[3] for e in edges if e[2] == n)) for n in names}
    outputs = {n: list(dict.fromkeys(e[1] for e in edges if e[0] == n)) for n in names}
    steps = [words[1:] for words in lines if words[0] == "S"]
    rates: dict[tuple[str, str], dict[str, int]] = {}
    for actor, action, *ports in steps:
        rates[actor, action] = {port: int(n) for port, n in (word.split("=") for word in ports)}
    actors = tuple(
        TraceActor(
            name=n,
            class_name=n,
            inputs=tuple(inputs[n]),
            outputs=tuple(outputs[n]),
            actions=tuple(
                TraceAction(
                    name=x,
                    reads=tuple(rates.get((n, x), {}).get(f"R:{p}", 0) for p in inputs[n]),
                    writes=tuple(rates.get((n, x), {}).get(f"W:{p}", 0) for p in outputs[n]),
                )
                for x in action_names[n]
            ),
        )
        for n in names
    )
    buffers = tuple(
        TraceBuffer(
            source=names.index(s),
            source_port=outputs[s].index(sp),
            target=names.index(t),
            target_port=inputs[t].index(tp),
            token_bytes=4,
            token_bits=32,
        )
        for s, sp, t, tp in edges
    )
    firings = tuple(
        np.array([action_names[n].index(step[1]) for step in steps if step[0] == n], dtype=np.uint8) for n in names
    )
    return TurnusCase(
        trace=Trace(topology=Topology(name="t", actors=actors, buffers=buffers), firings=firings, digest=str(path)),
        weights=_weights(lines),
        runs=tuple(_run(words) for words in lines if words[0] == "RUN"),
    )


def _weights(lines: list[list[str]]) -> WeightTable:
    def cost(text: str) -> Cost:
        return Cost(mean_cycles=Fraction(text))

    transfers = {}
    for words in lines:
        if words[0] == "CW":
            s, sp, t, tp, read, _write = words[1:]
            for kind in ("local", "cpu_cpu"):
                # TURNUS charges the read entry when the producer pushes, and nothing when the consumer pops.
                transfers[s, sp, t, tp, kind, "cpu", "write"] = cost(read)
                transfers[s, sp, t, tp, kind, "cpu", "read"] = cost("0")
    return WeightTable(
        name="turnus",
        compute={(w[1], w[2], "cpu"): cost(w[3]) for w in lines if w[0] == "W"},
        scheduling={(w[1], w[2].replace("-", ""), w[3], "cpu"): cost(w[4]) for w in lines if w[0] == "SW"},
        transfers=transfers,  # type: ignore[arg-type]
    )


def _run(words: list[str]) -> Run:
    _, name, policy, capacity, communication, scheduling, release, mapping = words
    return Run(
        name=name,
        policy=policy,
        capacity=int(capacity),
        communication=communication == "1",
        scheduling=scheduling == "1",
        processing_release=release == "1",
        mapping=dict(pair.split("=") for pair in mapping.split(",")),
    )
