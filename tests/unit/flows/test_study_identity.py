"""What makes a study the same study: each input changes one of its keys, and a resumed search with another is refused.

The cases name every option and every field of what is digested, so that one that is added has to be placed here.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.base.digests import text_digest
from dse.base.errors import OptionError
from dse.explore.evaluator import Budget
from dse.flows.explore import explore
from dse.flows.manifest import platform_digest, weights_digest
from dse.flows.options import ClockRequest, ExploreOptions, ProblemOptions
from dse.flows.search.store import STORE_NAME
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import ClockScaling, Link, Platform, Unit
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, trace_digest
from dse.model.weights import Arrival, Cost, SimdCost, Visits, WeightTable
from tests.unit.run.programs import network_of

SOURCE = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < {n} do n := n + 1; end end"
TWIN = "actor T () int I ==> int O : action I:[x] ==> O:[x + 1] end end"
LAST = "actor K () int I, int J ==> : action I:[x], J:[y] ==> end end"
WIRING = "s=S t=T u=T k=K s.O->t.I s.O->u.I t.O->k.I u.O->k.J"
PLATFORM = """name: box
units:
  cpu: {{kind: cpu, cores: {cores}, clock_mhz: 1000}}
  gpu: {{kind: gpu, clock_mhz: {clock}}}
links:
  bus: {{between: [cpu, gpu], latency_ns: 10, bandwidth_gb_s: 2}}
"""
ACTOR_COSTS = '<actor id="{0}" frequency="1000"><action id="untagged_0" clockcycles="77"/></actor>'
EXDF = f"<network name='Top'>{''.join(map(ACTOR_COSTS.format, 'stuk'))}</network>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs, platforms and weights to choose from."""
    root = tmp_path_factory.mktemp("identity")
    for name, firings, wiring in (
        ("base", 3, WIRING),
        ("longer", 4, WIRING),
        ("sized", 3, WIRING.replace("->k.I", "->k.I:9").replace("->k.J", "->k.J:9")),
    ):
        (root / name).mkdir()
        network_of(root / name, (SOURCE.format(n=firings), TWIN, LAST), wiring)
    (root / "box.yaml").write_text(PLATFORM.format(cores=3, clock=500))
    (root / "faster.yaml").write_text(PLATFORM.format(cores=3, clock=501))
    (root / "larger.yaml").write_text(PLATFORM.format(cores=4, clock=500))
    (root / "weights").mkdir()
    for kind in ("CPU", "GPU"):
        (root / "weights" / f"weights-{kind}.exdf").write_text(EXDF)
    return root


@dataclass(frozen=True)
class Input:
    """Another value of one option, and the keys of the identity that it changes, adds or takes away."""

    option: str
    value: Any
    keys: frozenset[str]


def case(option: str, value: Any, *keys: str) -> Any:
    return pytest.param(Input(option, value, frozenset(keys)), id=f"{option}-{value}")


INPUTS = (
    case("program", "longer/Top.xdf", "trace"),
    case("program", "sized/Top.xdf", "trace", "buffers"),
    case("weights", ("weights",), "weights"),
    case("missing_weights", "zero", "weights", "missing weights"),
    case("platform", "faster.yaml", "platform", "weights"),  # nominal weights carry the clock of their unit
    case("platform", "larger.yaml", "platform"),
    case("gpu_capable", ("t",), "gpu-capable and pinned", "platform", "identical actors"),
    case("partitions", (1, 3), "partitions"),
    case("partitions", (2, 2), "partitions"),
    case("pins", (("s", "cpu"),), "gpu-capable and pinned"),
    case("pins", (("t", "gpu"),), "gpu-capable and pinned", "identical actors"),
    case("policies", ("ROUND_ROBIN",), "policies"),
    case("policies", ("NON_PREEMPTIVE", "ROUND_ROBIN"), "policies"),
    case("policy_per_partition", True, "policy of each partition"),
    case("buffers", ("9",), "buffers"),
    case("buffers", ("512", "9"), "buffers"),
    case("clocks", (ClockRequest(names=("cpu",), clocks_mhz=(Fraction(900),)),), "clocks"),
    case("clocks", (ClockRequest(names=("gpu",), clocks_mhz=(Fraction(900),)),), "clocks"),
    case("release", "processing", "release"),
    case("transfers", "sequential", "transfers", "identical actors"),  # k reads one twin first
    case("method", "local-search", "method"),
    case("objectives", ("makespan", "memory"), "objectives"),
    case("objectives", ("memory", "makespan"), "objectives"),
    case("seed", 2, "seed"),
    case("batch", 3, "batch"),
)
NOT_AN_INPUT = {
    "engine": "all engines give the same integers", "input": "what it changes is the trace",
    "run": "what it changes is the trace",
    "source_paths": "what it changes is the trace", "problem": "its options are listed one by one",
    "budget": "more of it continues a study", "workers": "no result depends on it",
    "cluster": "no result depends on it", "best": "what is delivered, not what is searched",
    "dialect": "what is delivered, not what is searched",
    "out": "where it is", "resume": "what is tried here",
    "graph": "what it changes is the trace", "study_file": "where the options are from",
    "measured_in": "the weights and the platform that it changes are inputs",
    "robust": "how the best are ranked after the search", "errors": "as robust", "draws": "as robust",
    "limits": "what may be loaded", "of_objects": "what is at hand is the same problem",
    "scaling": "its digest is an input: tests/end_to_end/test_scaling_cli.py",
    "screening": "that it is left out is one: screening, no",
    "cuda": "the weights and the platform that it changes are inputs",
    "measure": "what is run after the search", "refine": "the weights that it changes are an input",
    "refined": "the weights that it counts are an input",
}  # fmt: skip
FREE = (
    ("engine", "reference"), ("budget", Budget(evaluations=3)), ("workers", 2), ("best", 1),
    ("objectives", ("makespan",)), ("policies", ("NON_PREEMPTIVE",)), ("buffers", ("512",)), ("seed", 1),
)  # fmt: skip
PROBLEM = [field.name for field in fields(ProblemOptions)]


def options_of(folder: Path, **changes: Any) -> ExploreOptions:
    """A search of two evaluations; changes of the problem are told by the names of its options."""
    problem = {"program": "base/Top.xdf", "platform": "box.yaml"}
    problem |= {name: changes.pop(name) for name in list(changes) if name in PROBLEM}
    for name in ("program", "platform"):
        problem[name] = str(folder / problem[name])
    problem["weights"] = tuple(str(folder / name) for name in problem.get("weights", ()))  # type: ignore[assignment]
    chosen: dict[str, Any] = {"method": "random", "budget": Budget(evaluations=2), "partitions": (1, 2)}
    chosen |= {"transfers": "parallel"} | changes
    return ExploreOptions(problem=ProblemOptions(**problem), **chosen)  # type: ignore[arg-type]


def rows(study: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(study)) as database:
        return sorted(database.execute(f"SELECT * FROM {table}"))


def identity(study: Path) -> dict[str, str]:
    return {key: value for key, value, _ in rows(study, "identity")}


@pytest.fixture(scope="module")
def base(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the study that the others are compared to."""
    out = tmp_path_factory.mktemp("base")
    explore(options_of(folder, out=out))
    return out


def differences(message: str) -> set[str]:
    """The keys that a refused resumption names: ``(the trace changed; seed: 1 in the study, 2 now)``."""
    changes = message.partition("made from other inputs (")[2].removesuffix(")").split("; ")
    return {text.partition(": ")[0].removeprefix("the ").removesuffix(" changed") for text in changes}


@pytest.mark.parametrize("changed", INPUTS)
def test_another_input_is_another_study(folder: Path, base: Path, changed: Input) -> None:
    before = rows(base / STORE_NAME, "evaluation")
    with pytest.raises(OptionError) as refused:
        explore(options_of(folder, out=base, resume=True, **{changed.option: changed.value}))
    assert differences(refused.value.diagnostics[0].message) == changed.keys
    assert rows(base / STORE_NAME, "evaluation") == before  # the file is free again, and as it was


def test_every_key_has_an_input_that_changes_it(folder: Path, base: Path, tmp_path: Path) -> None:
    """A key that is added without a case above is in the identity of some search, and in no case."""
    keys = {*identity(base / STORE_NAME)}
    explore(
        options_of(
            folder, out=tmp_path, policy_per_partition=True, objectives=("memory",), batch=2,
            clocks=(ClockRequest(names=("cpu",), clocks_mhz=(Fraction(900),)),),
        )
    )  # fmt: skip
    keys |= {*identity(tmp_path / STORE_NAME)}
    assert keys == set().union(*(param.values[0].keys for param in INPUTS))


def test_every_option_is_an_input_or_said_to_be_none() -> None:
    options = {field.name for kind in (ExploreOptions, ProblemOptions) for field in fields(kind)}
    inputs = {param.values[0].option for param in INPUTS}
    assert inputs | {*NOT_AN_INPUT} == options
    assert not inputs & {*NOT_AN_INPUT}


@pytest.mark.parametrize(("option", "value"), FREE)
def test_the_same_study_goes_on(folder: Path, tmp_path: Path, option: str, value: Any) -> None:
    explore(options_of(folder, out=tmp_path))
    known = identity(tmp_path / STORE_NAME)
    again = explore(options_of(folder, out=tmp_path, resume=True, **{option: value}))
    assert identity(tmp_path / STORE_NAME) == known
    assert again.study.evaluations == (3 if option == "budget" else 2)
    assert len(rows(tmp_path / STORE_NAME, "evaluation")) == again.study.evaluations


# -- what is digested: every field counts ------------------------------------------------------------------------------

CLOCK, HALF = Fraction(1000), Fraction(1, 2)
COST = Cost(mean_cycles=Fraction(5))
COSTS = {
    "mean_cycles": Fraction(6), "frequency_mhz": CLOCK, "per_token_cycles": HALF, "min_cycles": HALF,
    "max_cycles": Fraction(9), "variance_cycles2": HALF, "count": 3, "origin": "nominal",
}  # fmt: skip
UNIT = Unit(name="cpu", kind="cpu", clock_mhz=CLOCK)
UNITS = {
    "name": "cpu2", "kind": "gpu", "cores": 2, "clock_mhz": HALF, "device": "d", "partition": "PG",
    "power_watt": HALF, "memory_bytes": 7, "source": "a page", "scaling": ClockScaling(),
}  # fmt: skip
SCALINGS = {
    "range_mhz": (HALF, CLOCK), "static_watt": HALF, "exponent": 1, "points": ((CLOCK, HALF),),
}  # fmt: skip
LINK = Link(name="l", between=("cpu", "gpu"))
LINKS = {
    "name": "m", "between": ("gpu", "cpu"), "latency_ns": HALF, "bandwidth_gb_s": HALF, "shared": True,
    "directions": 2, "source": "a page", "emulated": True,
}  # fmt: skip
BOX = Platform(name="box", units=(UNIT,), links=(LINK,))
BOXES = {
    "name": "other", "units": (UNIT, replace(UNIT, name="cpu2")), "links": (), "dynamic_network": True,
    "gpu_capable": ("a",),
}  # fmt: skip
KEY = ("a", "x", "cpu")
ENDS = ("a", "o", "b", "i", "local", "cpu", "read")
BLOCK = SimdCost(block_cycles=(Fraction(5),))
BLOCKS = {"block_cycles": (Fraction(5), Fraction(6)), "frequency_mhz": CLOCK}
WEIGHTS = WeightTable(name="w", compute={KEY: COST})  # type: ignore[dict-item]
TABLES = {
    "compute": {("a", "y", "cpu"): COST}, "scheduling": {("a", "", "x", "cpu"): COST}, "transfers": {ENDS: COST},
    "simd": {KEY: BLOCK}, "has_scheduling": False, "has_transfers": False, "arrival": Arrival(cycles=Fraction(9)),
}  # fmt: skip
ARRIVAL = Arrival(cycles=Fraction(9))
ARRIVALS = {
    "cycles": Fraction(8), "frequency_mhz": CLOCK, "turn_firings": 2, "turn_parts": 4, "visits": Visits(),
}  # fmt: skip
VISITS = {
    "look_cycles": Fraction(5), "glance_cycles": Fraction(5), "wake_cycles": Fraction(5),
    "entries": {("a", "o", "b", "i", "read"): Fraction(5)},
}  # fmt: skip
ACTION = TraceAction(name="x", reads=(1,), writes=(1,))
ACTIONS = {"name": "y", "reads": (2,), "writes": (2,), "initializer": True}
ACTOR = TraceActor(name="a", class_name="A", inputs=("i",), outputs=("o",), actions=(ACTION,))
ACTORS = {
    "name": "b", "class_name": "B", "inputs": ("j",), "outputs": ("p",), "actions": (ACTION, ACTION), "fsm": True,
    "stateless": True,
}  # fmt: skip
BUFFER = TraceBuffer(source=0, source_port=0, target=0, target_port=0, token_bytes=4, token_bits=32)
BUFFERS = {
    "source": 1, "source_port": 1, "target": 1, "target_port": 1, "token_bytes": 8, "token_bits": 31, "capacity": 4,
    "initial_tokens": 1,
}  # fmt: skip
TOPOLOGY = Topology(name="t", actors=(ACTOR,), buffers=(BUFFER,))
TOPOLOGIES = {"name": "u", "actors": (ACTOR, ACTOR), "buffers": ()}
PARTITION = Partition(name="P", actors=(0, 1), unit="cpu")
PARTITIONS = {
    "actors": (1, 0), "unit": "gpu", "policy": "ROUND_ROBIN", "cores": 2, "static_order": (0, 1), "clock_mhz": CLOCK,
}  # fmt: skip
POINT = DesignPoint(partitions=(PARTITION,), capacities=(1, 12))
POINTS = {
    "partitions": (PARTITION, replace(PARTITION, name="Q")), "capacities": (11, 2), "release": "processing",
    "transfers": "parallel",
}  # fmt: skip

Digest = Callable[[Any], str]
DIGESTED: tuple[tuple[str, Any, dict[str, Any], set[str], Digest], ...] = (
    ("cost", COST, COSTS, {"spread"}, lambda cost: weights_digest(replace(WEIGHTS, compute={KEY: cost}))),
    ("block", BLOCK, BLOCKS, set(), lambda block: weights_digest(replace(WEIGHTS, simd={KEY: block}))),
    ("weights", WEIGHTS, TABLES, {"name", "manifest"}, weights_digest),
    ("arrival", ARRIVAL, ARRIVALS, set(), lambda arrival: weights_digest(replace(WEIGHTS, arrival=arrival))),
    (
        "visits", Visits(), VISITS, set(),
        lambda visits: weights_digest(replace(WEIGHTS, arrival=replace(ARRIVAL, visits=visits))),
    ),
    ("unit", UNIT, UNITS, set(), lambda unit: platform_digest(replace(BOX, units=(unit,)))),
    (
        "scaling", ClockScaling(), SCALINGS, set(),
        lambda scaling: platform_digest(replace(BOX, units=(replace(UNIT, scaling=scaling),))),
    ),
    ("link", LINK, LINKS, set(), lambda link: platform_digest(replace(BOX, links=(link,)))),
    ("platform", BOX, BOXES, set(), platform_digest),
    (
        "action", ACTION, ACTIONS, set(),
        lambda action: trace_digest(replace(TOPOLOGY, actors=(replace(ACTOR, actions=(action,)),)), []),
    ),
    ("actor", ACTOR, ACTORS, set(), lambda actor: trace_digest(replace(TOPOLOGY, actors=(actor,)), [])),
    ("buffer", BUFFER, BUFFERS, set(), lambda buffer: trace_digest(replace(TOPOLOGY, buffers=(buffer,)), [])),
    ("topology", TOPOLOGY, TOPOLOGIES, set(), lambda topology: trace_digest(topology, [])),
    (
        "partition", PARTITION, PARTITIONS, {"name"},
        lambda partition: replace(POINT, partitions=(partition,)).digest(),
    ),
    ("point", POINT, POINTS, {"name"}, lambda point: point.digest()),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "base_of", "others", "labels", "digest"), DIGESTED, ids=lambda v: v if isinstance(v, str) else ""
)
def test_every_field_is_in_the_digest_or_a_label(
    kind: str, base_of: Any, others: dict[str, Any], labels: set[str], digest: Digest
) -> None:
    assert {field.name for field in fields(base_of)} == {*others} | labels, kind
    found = {name: digest(replace(base_of, **{name: value})) for name, value in others.items()}
    assert digest(base_of) not in found.values()
    assert len({*found.values()}) == len(found)
    for label in labels:
        value = (("key", "value"),) if label == "manifest" else "another"
        assert digest(replace(base_of, **{label: value})) == digest(base_of)


def test_firings_are_in_the_digest_of_a_trace_with_their_order_and_their_actor() -> None:
    two = replace(TOPOLOGY, actors=(ACTOR, ACTOR))
    firings = ([[0, 1], [1]], [[1, 0], [1]], [[0], [1, 1]], [[], [0, 1, 1]], [[0, 1, 1], []])
    found = [trace_digest(two, [np.array(of, dtype=np.uint8) for of in each]) for each in firings]
    assert len(set(found)) == len(firings)


def test_the_order_of_weights_is_no_part_of_them() -> None:
    costs = {("a", "x", "cpu"): COST, ("a", "y", "cpu"): COST}
    turned = dict(reversed(costs.items()))
    assert weights_digest(WeightTable(name="", compute=costs)) == weights_digest(WeightTable(name="", compute=turned))  # type: ignore[arg-type]


def test_the_order_of_entries_of_visits_is_no_part_of_weights() -> None:
    entries = {("a", "o", "b", "i", side): Fraction(5) for side in ("read", "write")}
    found = {
        weights_digest(replace(WEIGHTS, arrival=replace(ARRIVAL, visits=Visits(entries=some))))  # type: ignore[arg-type]
        for some in (entries, dict(reversed(entries.items())))
    }
    assert len(found) == 1


def test_weights_without_visits_are_who_they_were_before_there_were_any() -> None:
    identity = (
        "([[], [], [], []], True, True, "
        "Arrival(cycles=Fraction(9, 1), frequency_mhz=None, turn_firings=1, turn_parts=0))"
    )
    assert weights_digest(WeightTable(name="", arrival=ARRIVAL)) == text_digest(identity)
