"""Graphs of PREESM as they are written: PiSDF with parameters, expressions and hierarchy; scenarios with times."""

from dataclasses import dataclass, field

from dse.base.source import NO_SPAN, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class PiPort:
    """A data port; ``rate``: an expression."""

    name: str
    rate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PiNode:
    """A node: a parameter, an actor, an interface of the graph, a delay. ``expr``: of parameters and delays.

    ``refinement``: the file of the graph that an actor stands for; None where it is code.
    """

    name: str
    kind: str
    expr: str = ""
    inputs: tuple[PiPort, ...] = ()
    outputs: tuple[PiPort, ...] = ()
    config_outputs: bool = False
    refinement: str | None = None
    setter: str = ""
    getter: str = ""
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PiFifo:
    """A FIFO between ports. ``delay``: the node that says how many tokens are in it at the beginning.

    ``initial``: an expression that says it in older files.
    """

    source: str
    source_port: str
    target: str
    target_port: str
    type: str = ""
    delay: str | None = None
    initial: str = "0"
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PiDependency:
    """What a node takes its parameter from; ``target_port`` empty: it has the name of its source there."""

    source: str
    target: str
    target_port: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PiGraph:
    """One file."""

    name: str
    path: str
    nodes: tuple[PiNode, ...]
    fifos: tuple[PiFifo, ...]
    dependencies: tuple[PiDependency, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PiTiming:
    """What a vertex takes on a type of operator, an expression; ``vertex``: names with slashes, the graph's first."""

    operator: str
    vertex: str
    time: str
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PiScenario:
    """A scenario: its algorithm, times, values of parameters by (graph, name), bits of types of data."""

    path: str
    algorithm: str
    timings: tuple[PiTiming, ...] = ()
    parameters: dict[tuple[str, str], str] = field(default_factory=dict)
    type_bits: dict[str, int] = field(default_factory=dict)
