"""Instances of compiled actors wired to their FIFOs: everything a run holds about one actor."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any

from dse.base.errors import ExecutionError
from dse.base.source import NO_SPAN, Span
from dse.codegen.python.compile_actor import CompiledActor, compile_actor
from dse.codegen.python.support import Strays
from dse.program.explicit import Wiring
from dse.program.ir import Actor
from dse.program.network import Connection, Network
from dse.program.types import Type
from dse.run.fifo import PortBuffer
from dse.run.recursion import room_for_recursion

NativeFunction = Callable[..., Any]


class Signatures(dict[tuple[int, int], int]):
    """Numbers (guards evaluated, as bits by action; action fired) in the order in which they first occur."""

    def __missing__(self, key: tuple[int, int]) -> int:
        """Give a new pair the next number."""
        number = self[key] = len(self)
        return number


@dataclass(slots=True, kw_only=True)
class RunningActor:
    """One actor instance of a run. ``generator`` fires it; ``firings`` gathers its action ids."""

    index: int
    name: str
    compiled: CompiledActor
    generator: "GeneratorType[int, int, None]"
    firings: list[int]
    signature_ids: list[int]
    signatures: Signatures
    strays: Strays
    round_counts: list[int] = field(default_factory=list)
    """Entries and rounds of each counted loop, alternating."""
    archive: "array[int]" = field(default_factory=lambda: array("H"))
    signature_archive: "array[int]" = field(default_factory=lambda: array("H"))

    def flush(self) -> None:
        """Move the action ids gathered so far to compact storage."""
        if self.firings:
            self.archive.extend(self.firings)
            self.firings.clear()
        if self.signature_ids:
            self.signature_archive.extend(self.signature_ids)
            self.signature_ids.clear()

    @property
    def n_firings(self) -> int:
        """Number of firings so far."""
        return len(self.archive) + len(self.firings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """All FIFOs of a run: the buffer of each connected output port, and of each connection its reader number."""

    buffers: dict[tuple[int, int], PortBuffer]
    readers: tuple[int, ...]
    network: Network

    def buffer(self, connection: Connection) -> PortBuffer:
        """Return the buffer that a connection reads."""
        return self.buffers[connection.source, connection.source_port]


def capacities(network: Network, default_tokens: int) -> tuple[int, ...]:
    """Return the capacity of each connection: max(option, bufferSize, producer rate, consumer rate) (cal.md 3)."""
    rates = [_port_rates(i.actor) for i in network.instances]
    return tuple(
        max(
            default_tokens,
            c.capacity or 0,
            rates[c.source][1].get(c.source_port, 0),
            rates[c.target][0].get(c.target_port, 0),
        )
        for c in network.connections
    )


def _port_rates(actor: Actor) -> tuple[dict[int, int], dict[int, int]]:
    """Return the largest number of tokens that one firing moves, by input and by output."""
    inputs: dict[int, int] = {}
    outputs: dict[int, int] = {}
    for action in actor.actions:
        for p in action.inputs:
            inputs[p.port] = max(inputs.get(p.port, 0), p.tokens)
        for q in action.outputs:
            outputs[q.port] = max(outputs.get(q.port, 0), q.tokens)
    return inputs, outputs


def build_fabric(network: Network, default_tokens: int, *, hashing: bool) -> Fabric:
    """Return the empty FIFOs of a network."""
    buffers: dict[tuple[int, int], PortBuffer] = {}
    readers = []
    for connection, capacity in zip(network.connections, capacities(network, default_tokens), strict=True):
        key = (connection.source, connection.source_port)
        buffer = buffers.setdefault(key, PortBuffer([], [], hashing=hashing))
        readers.append(len(buffer.heads))
        buffer.heads.append(0)
        buffer.capacities.append(capacity)
    return Fabric(buffers=buffers, readers=tuple(readers), network=network)


def wiring_of(network: Network, index: int, *, accesses: bool, rounds: bool = False) -> Wiring:
    """Return how instance ``index`` is connected."""
    actor = network.instances[index].actor
    sources: list[Type | None] = [None] * len(actor.inputs)
    fan_outs = [0] * len(actor.outputs)
    loops = []
    for c in network.connections:
        if c.target == index:
            source = network.instances[c.source].actor
            sources[c.target_port] = source.outputs[c.source_port].type
        if c.source == index:
            fan_outs[c.source_port] += 1
            if c.target == index:
                loops.append((c.target_port, c.source_port))
    return Wiring(tuple(sources), tuple(loops), tuple(fan_outs), accesses, rounds)


class Workshop:
    """Builds the running actors of one network; compiles each actor once for each wiring."""

    def __init__(self, fabric: Fabric, *, accesses: bool, rounds: bool = False) -> None:
        self.fabric = fabric
        self.accesses = accesses
        self.rounds = rounds
        self._cache: dict[tuple[int, Wiring], CompiledActor] = {}
        self._inputs, self._outputs = _wiring(fabric.network)

    def build(
        self,
        index: int,
        states: list[int],
        moved: list[int],
        output: Callable[[str], object],
        natives: dict[str, NativeFunction],
    ) -> RunningActor:
        """Return the running actor of instance ``index``; its initializers run when it is first resumed."""
        instance = self.fabric.network.instances[index]
        compiled = self.compiled(index)
        firings: list[int] = []
        ids: list[int] = []
        signatures = Signatures()
        strays = Strays(compiled.sites)
        round_counts = [0] * (2 * len(compiled.loops))
        try:
            with room_for_recursion():
                generator = compiled.make(
                    index,
                    states,
                    moved,
                    firings,
                    ids,
                    signatures,
                    output,
                    strays.stray,
                    strays.stray_list,
                    natives,
                    self._ports(index),
                    round_counts,
                )
        except MemoryError as fault:
            raise ExecutionError(
                f"the initial values of '{instance.name}' need more memory than the run may take",
                span=instance.actor.span,
                expected="--max-memory SIZE allows more",
            ) from fault
        except (ArithmeticError, ValueError, RecursionError, IndexError) as fault:
            raise ExecutionError(
                f"the initial values of '{instance.name}' cannot be computed: {fault_text(fault)}",
                span=instance.actor.span,
            ) from fault
        return RunningActor(
            index=index,
            name=instance.name,
            compiled=compiled,
            generator=generator,
            firings=firings,
            signature_ids=ids,
            signatures=signatures,
            strays=strays,
            round_counts=round_counts,
        )

    def compiled(self, index: int) -> CompiledActor:
        """Return the code of instance ``index``."""
        actor = self.fabric.network.instances[index].actor
        wiring = wiring_of(self.fabric.network, index, accesses=self.accesses, rounds=self.rounds)
        key = (id(actor), wiring)
        if key not in self._cache:
            self._cache[key] = compile_actor(actor, wiring)
        return self._cache[key]

    def _ports(self, index: int) -> tuple[dict[int, Any], dict[int, Any]]:
        """Return what the generated code unpacks: see ``_write_ports`` of the compiler."""
        inputs: dict[int, Any] = {}
        outputs: dict[int, Any] = {}
        network = self.fabric.network
        for k in self._inputs[index]:
            c = network.connections[k]
            buffer = self.fabric.buffer(c)
            inputs[c.target_port] = (buffer.data, buffer.heads, self.fabric.readers[k], buffer.compact, c.source)
        for k in self._outputs[index]:
            c = network.connections[k]
            buffer = self.fabric.buffer(c)
            if c.source_port not in outputs:
                outputs[c.source_port] = (buffer.data, buffer.heads, buffer.capacities, [])
            outputs[c.source_port][3].append(c.target)
        return inputs, outputs


def _wiring(network: Network) -> tuple[list[list[int]], list[list[int]]]:
    """Return the connections that enter and that leave each instance."""
    inputs: list[list[int]] = [[] for _ in network.instances]
    outputs: list[list[int]] = [[] for _ in network.instances]
    for k, c in enumerate(network.connections):
        inputs[c.target].append(k)
        outputs[c.source].append(k)
    return inputs, outputs


def fault_place(running: RunningActor, fault: BaseException) -> tuple[str, Span]:
    """Return (action or routine, span) of the generated line on which a fault happened."""
    line = 0
    trace = fault.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == running.compiled.filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    span = running.compiled.spans[line - 1] if line else NO_SPAN
    actor = running.compiled.actor
    owners = [(a.name, a.span) for a in actor.actions] + [(r.source_name, r.span) for r in actor.routines]
    return next((name for name, place in owners if _contains(place, span)), ""), span


def fault_text(fault: BaseException) -> str:
    """Return what is told of a fault: the words of a native program."""
    match fault:
        case ZeroDivisionError():
            return "division by zero"
        case RecursionError():
            return "the recursion is too deep"
        case OverflowError():
            return "a value becomes too large"
        case ValueError() if "shift" in str(fault):
            return "a shift by a negative count"
        case _:
            return f"{type(fault).__name__}: {fault}"


def _contains(outer: Span, inner: Span) -> bool:
    if outer.path != inner.path or inner.line == 0:
        return False
    return (outer.line, outer.column) <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= (
        outer.end_line,
        outer.end_column,
    )
