"""What a native program tells of its run: the file of ``--result`` and that of ``--trace``, as the Python run tells it.

The result is JSON (version 1; names and units as in ``dse/native/runtime/dse/run_types.hpp``). The trace is binary and
little-endian: the magic ``DSENATV1``, the number of actors (4 bytes), for each actor the number of its firings
(8 bytes) and the bytes of an action id (1 byte), then all ids, actor by actor.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import Diagnostic, ExecutionError, OptionError
from dse.base.source import NO_SPAN, Span
from dse.model.rounds import Rounds, mean_rounds
from dse.model.trace import Trace, make_trace
from dse.program.network import Network
from dse.run.diagnose import Deadlock, Wait
from dse.run.execution import ChannelResult, RunResult, option_warnings, stray_warnings
from dse.run.natives.screen import Comparison
from dse.run.options import RunOptions
from dse.run.record import topology_of

VERSION = 1
_COUNTS = np.dtype([("count", "<u8"), ("bytes", "u1")])
MAGIC = b"DSENATV1"
Document = dict[str, Any]
"""The JSON of a result; what is missing or of another kind in it is found by ``Reading``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorTables:
    """What a result names by number: places of accesses to lists, and counted loops, of one actor."""

    sites: tuple[tuple[Span, str], ...]
    loops: tuple[tuple[Span, str], ...]


def read_result(path: Path) -> Document:
    """Return the document of a result.

    Raises:
        ExecutionError: there is none, or it is damaged or of another version.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise _damaged(path, f"it is not of version {VERSION}")
    return document


def _damaged(path: Path, why: str) -> ExecutionError:
    return ExecutionError(f"the result of the native program in '{path}' cannot be read: {why}")


def failure_of(document: Document) -> ExecutionError | OptionError | None:
    """Return the error that ended a run, or None for one that came to an end of its own."""
    error = document.get("error")
    if not isinstance(error, dict):
        return None
    line = int(error.get("line", 0))
    path = str(error.get("path", ""))
    places = (int(error.get(key, 0)) for key in ("column", "end_line", "end_column"))
    span = Span(path, line, *places) if path and path != NO_SPAN.path else NO_SPAN
    kind = OptionError if error.get("kind") == "option" else ExecutionError
    return kind(str(error.get("message", "")), span=span, expected=str(error.get("expected", "")))


def read_trace(path: Path) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
    """Return the action ids of each actor.

    Raises:
        ExecutionError: the file is missing or damaged.
    """
    try:
        data: NDArray[np.uint8] = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise _damaged(path, str(error)) from error
    start = len(MAGIC) + 4
    if data[: len(MAGIC)].tobytes() != MAGIC or len(data) < start:
        raise _damaged(path, "it is no trace")
    n_actors = int.from_bytes(data[len(MAGIC) : start].tobytes(), "little")
    end = start + _COUNTS.itemsize * n_actors
    if len(data) < end:
        raise _damaged(path, "its head is cut off")
    found: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    for count, width in data[start:end].view(_COUNTS).tolist():
        ids = data[end : end + count * width]
        if width not in (1, 2) or len(ids) != count * width:
            raise _damaged(path, "it is cut off")
        found.append(ids if width == 1 else np.frombuffer(ids.tobytes(), dtype="<u2"))
        end += len(ids)
    return found


def run_result(
    network: Network,
    options: RunOptions,
    document: Document,
    trace: Trace,
    stdout: str,
    tables: Callable[[], Sequence[ActorTables]],
) -> RunResult:
    """Return what a run did, as the Python execution returns it; ``tables`` of each instance, asked for if needed.

    Raises:
        ExecutionError: the document lacks something.
    """
    try:
        return _run_result(network, options, document, trace, stdout, tables)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ExecutionError(
            f"the result of the native program is not as expected: {type(error).__name__}: {error}",
            expected="it may be of another version of dse: build it again",
        ) from error


def _run_result(
    network: Network,
    options: RunOptions,
    document: Document,
    trace: Trace,
    stdout: str,
    tables: Callable[[], Sequence[ActorTables]],
) -> RunResult:
    actors = document["actors"]
    loops, strays = _by_number(actors, tables, rounds=options.count_rounds)
    return RunResult(
        why=document["why"],
        exit_code=int(document["exit_code"]),
        n_firings=int(document["firings"]),
        actions=tuple(tuple(map(int, entry["actions"])) for entry in actors),
        channels=_channels(network, document["channels"]),
        stdout=stdout,
        frames=int(document["frames"]),
        outputs=tuple(document["outputs"]),
        comparison=_comparison(document["comparison"]),
        waits=tuple(_wait(network, wait) for wait in document["waits"]),
        deadlock=_deadlock(network, document["deadlock"]),
        warnings=_warnings(options, document, strays),
        trace=replace(trace, rounds=loops) if options.count_rounds else trace,
        idle_tail=_tail(actors) if document["why"] == "livelock" else (),
        inputs=tuple(document["read"]),
        execution="native",
        batched=() if document["gpu"] is None else tuple(map(int, document["gpu"]["batched"])),
        shared_rounds=() if document["gpu"] is None else tuple(map(int, document["gpu"]["shared"])),
    )


def _by_number(
    actors: Sequence[Document], tables: Callable[[], Sequence[ActorTables]], *, rounds: bool
) -> tuple[tuple[Rounds, ...], list[tuple[Span, str, int]]]:
    """Return what is told by number, by name: mean rounds of the loops of each actor, and the strays of all."""
    if not rounds and not any(entry["strays"] for entry in actors):
        return (), []
    known = list(zip(actors, tables(), strict=True))
    loops = tuple(mean_rounds(table.loops, entry["rounds"]) for entry, table in known)
    return loops, [(*table.sites[site], int(count)) for entry, table in known for site, count in entry["strays"]]


def _tail(actors: Sequence[Document]) -> tuple[int, ...]:
    return tuple(int(entry["tail"]) for entry in actors)


def trace_of(network: Network, path: Path) -> Trace:
    """Return the trace that a program has written. Raises ``ExecutionError`` where it is damaged."""
    ids = read_trace(path)
    topology = topology_of(network)
    if len(ids) != len(topology.actors):
        raise _damaged(path, "it is of another network")
    return make_trace(topology, ids)


def _warnings(options: RunOptions, document: Document, strays: list[tuple[Span, str, int]]) -> tuple[Diagnostic, ...]:
    return (
        *stray_warnings(strays),
        *option_warnings(
            options,
            reads_input=bool(document["input_read"]) or bool(document["input_asked"]),
            reads_loops=bool(document["loops_asked"]),
        ),
    )


def _channels(network: Network, entries: Sequence[Document]) -> tuple[ChannelResult, ...]:
    return tuple(
        ChannelResult(
            name=network.connection_name(connection),
            tokens=int(entry["tokens"]),
            left=int(entry["left"]),
            digest=None if entry.get("hash") is None else int(entry["hash"]),
        )
        for connection, entry in zip(network.connections, entries, strict=True)
    )


def _comparison(entry: Document | None) -> Comparison | None:
    if entry is None:
        return None
    return Comparison(
        compared=int(entry["compared"]),
        equal=int(entry["equal"]),
        missing=int(entry["missing"]),
        max_difference=int(entry["max_difference"]),
    )


def _wait(network: Network, entry: Document) -> Wait:
    instance = network.instances[entry["actor"]]
    actor = instance.actor
    action = actor.actions[entry["action"]]
    ports = {"tokens": actor.inputs, "unconnected": actor.inputs, "room": actor.outputs}.get(entry["kind"])
    return Wait(
        actor=instance.name,
        action=action.name,
        kind=entry["kind"],
        port="" if ports is None else ports[entry["port"]].name,
        have=int(entry["have"]),
        need=int(entry["need"]),
        span=action.span,
        peers=tuple(network.instances[k].name for k in entry["peers"]),
    )


def _deadlock(network: Network, entry: Document | None) -> Deadlock | None:
    if entry is None:
        return None
    return Deadlock(
        actors=tuple(network.instances[k].name for k in entry["actors"]),
        fifo=network.connection_name(network.connections[entry["connection"]]),
        capacity_tokens=int(entry["capacity_tokens"]),
        needed_tokens=int(entry["needed_tokens"]),
    )
