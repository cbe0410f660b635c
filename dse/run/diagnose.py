"""Why a network stopped: what each actor waits for, and whether larger FIFOs would let it go on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dse.base.source import Span
from dse.codegen.python.spelling import python_name
from dse.passes.arithmetic import single, wrap
from dse.program.ir import Action
from dse.program.network import Network
from dse.program.types import FloatType, IntType, Type
from dse.run.instance import Fabric, RunningActor
from dse.run.recursion import room_for_recursion

WaitKind: TypeAlias = Literal["tokens", "guard", "room", "unconnected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What one candidate action of an actor waits for. ``have`` and ``need`` count tokens, or room for tokens."""

    actor: str
    action: str
    kind: WaitKind
    port: str = ""
    have: int = 0
    need: int = 0
    span: Span
    peers: tuple[str, ...] = ()
    """The writer of the input, or the readers of the output whose FIFOs are full."""

    def __str__(self) -> str:
        match self.kind:
            case "tokens":
                return f"{self.actor}: {self.action} waits for {self.need} tokens on {self.port}, has {self.have}"
            case "room":
                full = ", ".join(self.peers)
                where = f"on {self.port}, has room for {self.have} ({full})"
                return f"{self.actor}: {self.action} waits for room for {self.need} tokens {where}"
            case "guard":
                return f"{self.actor}: the guard of {self.action} is false"
            case "unconnected":
                return f"{self.actor}: {self.action} reads {self.port}, which is not connected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlock:
    """Actors that wait for each other, at least one of them for room."""

    actors: tuple[str, ...]
    fifo: str
    capacity_tokens: int
    """The capacity of the FIFO that is full."""
    needed_tokens: int
    """The least capacity with which the blocked action could fire."""


@room_for_recursion()
def find_waits(network: Network, actors: list[RunningActor], fabric: Fabric) -> tuple[Wait, ...]:
    """Return what each actor waits for: one entry for each candidate action of its present state."""
    return tuple(w for a in actors for w in _waits_of(network, a, fabric))


def _waits_of(network: Network, running: RunningActor, fabric: Fabric) -> list[Wait]:
    actor = running.compiled.actor
    frame = running.generator.gi_frame
    if frame is None:
        return []
    values: dict[str, Any] = dict(frame.f_locals)
    strays = dict(running.strays.counts)
    result = []
    for candidate in actor.transitions[values.get("s", actor.initial_state)]:
        wait = _wait(network, running, candidate.action, values, fabric)
        if wait is not None:
            result.append(wait)
    running.strays.counts.clear()
    running.strays.counts.update(strays)  # what the guards do here is no part of the run
    return result


def _wait(network: Network, running: RunningActor, index: int, values: dict[str, Any], fabric: Fabric) -> Wait | None:
    """Return the first condition of an action that does not hold."""
    actor = running.compiled.actor
    action = actor.actions[index]

    def wait(kind: WaitKind, port: str = "", have: int = 0, need: int = 0, peers: tuple[str, ...] = ()) -> Wait:
        return Wait(
            actor=running.name,
            action=action.name,
            kind=kind,
            port=port,
            have=have,
            need=need,
            span=action.span,
            peers=peers,
        )

    return (
        _token_wait(network, running, action, fabric, wait)
        or (wait("guard") if not _guards_hold(running, index, values) else None)
        or _room_wait(network, running, action, fabric, wait)
    )


def _token_wait(
    network: Network, running: RunningActor, action: Action, fabric: Fabric, wait: Callable[..., Wait]
) -> Wait | None:
    for pattern in action.inputs:
        name = running.compiled.actor.inputs[pattern.port].name
        entering = [
            k for k, c in enumerate(network.connections) if c.target == running.index and c.target_port == pattern.port
        ]
        if not entering:
            return wait("unconnected", name, 0, pattern.tokens)
        connection = network.connections[entering[0]]
        have = fabric.buffer(connection).left(fabric.readers[entering[0]])
        if have < pattern.tokens:
            return wait("tokens", name, have, pattern.tokens, (network.instances[connection.source].name,))
    return None


def _guards_hold(running: RunningActor, index: int, values: dict[str, Any]) -> bool:
    """Return whether the guards of an action hold now, for the tokens that are there."""
    actor = running.compiled.actor
    action = actor.actions[index]
    local = dict(values)
    namespace = running.compiled.make.__globals__
    for pattern in action.inputs:
        tokens, position = values[f"D{pattern.port}"], values[f"H{pattern.port}"][values[f"k{pattern.port}"]]
        width = len(pattern.variables)
        port = actor.inputs[pattern.port].type
        waiting = [_converted(t, port) for t in tokens[position : position + pattern.tokens]]
        for k, variable in enumerate(pattern.variables):
            local[python_name(variable.name)] = waiting[k::width] if pattern.repeat else waiting[k]
    scope = {**namespace, **local}
    return all(eval(text, scope) for text in running.compiled.guards[index])


def _converted(token: Any, port: Type) -> Any:
    """Return a token as an input takes it: that of another type wraps, or is rounded."""
    match port:
        case IntType():
            return wrap(int(token), port.container_bits, port.signed)
        case FloatType(bits=16 | 32):
            return single(token)
        case _:
            return token


def _room_wait(
    network: Network, running: RunningActor, action: Action, fabric: Fabric, wait: Callable[..., Wait]
) -> Wait | None:
    for pattern in action.outputs:
        buffer = fabric.buffers.get((running.index, pattern.port))
        if buffer is None:
            continue
        rooms = [c - buffer.left(k) for k, c in enumerate(buffer.capacities)]
        if min(rooms) >= pattern.tokens:
            continue
        full = tuple(
            network.instances[c.target].name
            for k, c in enumerate(network.connections)
            if (c.source, c.source_port) == (running.index, pattern.port) and rooms[fabric.readers[k]] < pattern.tokens
        )
        return wait("room", running.compiled.actor.outputs[pattern.port].name, min(rooms), pattern.tokens, full)
    return None


def find_deadlock(network: Network, waits: tuple[Wait, ...], fabric: Fabric) -> Deadlock | None:
    """Return the first cycle of waits with a full FIFO in it, or None: a reader that has stopped is no deadlock."""
    edges: dict[str, list[str]] = {}
    for w in waits:
        edges.setdefault(w.actor, []).extend(w.peers)
    for w in waits:
        if w.kind != "room":
            continue
        for peer in w.peers:
            path = _path(edges, peer, w.actor)
            if path is not None:
                return _deadlock(network, w, peer, path, fabric)
    return None


def _path(edges: dict[str, list[str]], start: str, goal: str) -> tuple[str, ...] | None:
    """Return the shortest chain of waits from one actor to another."""
    came: dict[str, str] = {start: ""}
    pending = [start]
    for node in pending:
        if node == goal:
            path = [node]
            while came[path[-1]]:
                path.append(came[path[-1]])
            return tuple(reversed(path))
        for other in edges.get(node, ()):
            if other not in came:
                came[other] = node
                pending.append(other)
    return None


def _deadlock(network: Network, wait: Wait, peer: str, path: tuple[str, ...], fabric: Fabric) -> Deadlock:
    for k, c in enumerate(network.connections):
        source, target = network.instances[c.source], network.instances[c.target]
        if (source.name, target.name) == (wait.actor, peer) and source.actor.outputs[c.source_port].name == wait.port:
            buffer = fabric.buffer(c)
            reader = fabric.readers[k]
            return Deadlock(
                actors=path,
                fifo=network.connection_name(c),
                capacity_tokens=buffer.capacities[reader],
                needed_tokens=buffer.left(reader) + wait.need,
            )
    raise AssertionError("a wait for room names a connection")
