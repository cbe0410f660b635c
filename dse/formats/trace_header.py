"""The header of the project's own trace file, read with distrust: right checksums prove only who damaged it.

Whoever can write a file can write its checksums. So each value is looked at once, with the name of its place, before
anything else sees it: compiled code that indexes with what stands here checks nothing again.
"""

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from dse.model.design_point import MOST_TOKENS
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Signature: TypeAlias = tuple[frozenset[str], frozenset[str], frozenset[str]]

MOST_ACTIONS = 1 << 16
"""The most actions of an actor, and access signatures: their ids are 16 bits."""
MOST_TOKEN_BITS = 1 << 42
"""The bits of a list of 2^32 integers of 512 bits, twice: no token is larger."""
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file can hold, half characters among them: no name of a program has one."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half characters, which no file can hold."""


class HeaderError(ValueError):
    """A value of the header that cannot be; the text says where it stands and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader:
    """What the header of a trace file says. ``counts``: the firings of each actor."""

    topology: Topology
    counts: tuple[int, ...]
    digest: str
    made_by: tuple[tuple[str, str], ...]
    signatures: tuple[tuple[Signature, ...], ...]
    """For each actor the access signatures of its firings; empty where none were recorded."""
    accesses_digest: str


def parse_header(text: bytes) -> TraceHeader:
    """Return the header of a JSON document in UTF-8.

    Raises:
        HeaderError: it is no such document, or a value in it cannot be.
    """
    try:
        document: Json = json.loads(text)
    except RecursionError:
        raise HeaderError("it is nested too deeply") from None
    except ValueError as error:  # no JSON, no UTF-8, or an integer of thousands of digits
        raise HeaderError(" ".join(str(error).split())) from error
    return _header(_Value(document, "header"))


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of the document and where it stands."""

    value: Json
    place: str

    def fields(self, *names: str) -> "tuple[_Value, ...]":
        """Return fields of an object, all of which must be there."""
        found = self.value
        if not isinstance(found, dict):
            raise self.wrong("an object")
        for name in names:
            if name not in found:
                raise HeaderError(f"{self.place} has no '{name}'")
        return tuple(_Value(found[name], f"{self.place}.{name}") for name in names)

    def field_or(self, name: str, absent: Json) -> "_Value":
        """Return a field of an object, or ``absent`` where it is not there."""
        assert isinstance(self.value, dict), "its required fields were read before"
        return _Value(self.value.get(name, absent), f"{self.place}.{name}")

    def items(self, *, count: int | None = None, most: int | None = None) -> "list[_Value]":
        """Return the items of a list, ``count`` of them or at most ``most``."""
        found = self.value
        if not isinstance(found, list):
            raise self.wrong("a list")
        if count is not None and len(found) != count:
            raise HeaderError(f"{self.place} has {len(found)} entries, expected {count}")
        if most is not None and len(found) > most:
            raise HeaderError(f"{self.place} has {len(found)} entries, expected at most {most}")
        return [_Value(item, f"{self.place}[{i}]") for i, item in enumerate(found)]

    def integer(self, least: int, most: int) -> int:
        """Return an integer from ``least`` to ``most``."""
        found = self.value
        if isinstance(found, int) and not isinstance(found, bool) and least <= found <= most:
            return found
        raise self.wrong(f"an integer from {least} to {most}" if least <= most else "nothing: there is none to choose")

    def truth(self) -> bool:
        """Return true or false."""
        if isinstance(self.value, bool):
            return self.value
        raise self.wrong("true or false")

    def note(self) -> str:
        """Return any text, such as the path of a file: JSON and terminals alone are to hold it, with escapes."""
        found = self.value
        if not isinstance(found, str) or _HALF.search(found):
            raise self.wrong("a text")
        return found

    def text(self) -> str:
        """Return a text that every output can hold."""
        found = self.value
        if not isinstance(found, str):
            raise self.wrong("a text")
        unfit = _UNFIT.search(found)
        if unfit is not None:
            raise HeaderError(f"{self.place} has the character U+{ord(unfit[0]):04X}, which no name has")
        return found

    def name(self) -> str:
        """Return a text that is not empty."""
        return self.text() or self._nameless()

    def wrong(self, expected: str) -> HeaderError:
        """Return the error that the value is another one than expected."""
        return HeaderError(f"{self.place} is {_shown(self.value)}, expected {expected}")

    def _nameless(self) -> str:
        raise self.wrong("a name")


def _shown(value: Json) -> str:
    """Return a value as it may stand in a message."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case int() if not -(1 << 80) < value < 1 << 80:
            return f"an integer of {value.bit_length()} bits"
        case _:
            text = json.dumps(value)
            return text if len(text) <= 40 else text[:37] + "..."


def _header(document: _Value) -> TraceHeader:
    topology, counts, digest, made_by = document.fields("topology", "firings", "digest", "made_by")
    found = _topology(topology)
    n = len(found.actors)
    accesses = document.field_or("accesses", []).items()
    if accesses and len(accesses) != n:
        raise HeaderError(f"{document.place}.accesses has {len(accesses)} entries, expected {n}")
    pairs = [pair.items(count=2) for pair in made_by.items()]
    return TraceHeader(
        topology=found,
        counts=tuple(c.integer(0, 1 << 48) for c in counts.items(count=n)),
        digest=digest.text(),
        made_by=tuple((key.text(), value.note()) for key, value in pairs),
        signatures=tuple(tuple(map(_signature, table.items(most=MOST_ACTIONS))) for table in accesses),
        accesses_digest=document.field_or("accesses_digest", "").text(),
    )


def _signature(value: _Value) -> Signature:
    guards, reads, writes = (frozenset(name.text() for name in names.items()) for names in value.items(count=3))
    return guards, reads, writes


# The topology ---------------------------------------------------------------------------------------------------------


def _topology(value: _Value) -> Topology:
    name, actors, buffers = value.fields("name", "actors", "buffers")
    found = tuple(map(_actor, actors.items()))
    _check_distinct(tuple(actor.name for actor in found), actors.place)
    topology = Topology(name=name.text(), actors=found, buffers=tuple(_buffer(b, found) for b in buffers.items()))
    readers: set[tuple[int, int]] = set()
    for index, buffer in enumerate(topology.buffers):
        if (buffer.target, buffer.target_port) in readers:
            name_of = topology.buffer_name(index)
            raise HeaderError(f"{buffers.place}[{index}] is a second buffer at one input: {name_of}")
        readers.add((buffer.target, buffer.target_port))
    return topology


def _actor(value: _Value) -> TraceActor:
    name, class_name, inputs, outputs, actions, fsm, stateless = value.fields(
        "name", "class_name", "inputs", "outputs", "actions", "fsm", "stateless"
    )
    ports = tuple(tuple(port.name() for port in side.items()) for side in (inputs, outputs))
    for side, names in zip((inputs, outputs), ports, strict=True):
        _check_distinct(names, side.place)
    return TraceActor(
        name=name.name(),
        class_name=class_name.text(),
        inputs=ports[0],
        outputs=ports[1],
        actions=tuple(_action(a, len(ports[0]), len(ports[1])) for a in actions.items(most=MOST_ACTIONS)),
        fsm=fsm.truth(),
        stateless=stateless.truth(),
    )


def _action(value: _Value, n_inputs: int, n_outputs: int) -> TraceAction:
    name, reads, writes, initializer = value.fields("name", "reads", "writes", "initializer")
    return TraceAction(
        name=name.name(),
        reads=tuple(n.integer(0, MOST_TOKENS) for n in reads.items(count=n_inputs)),
        writes=tuple(n.integer(0, MOST_TOKENS) for n in writes.items(count=n_outputs)),
        initializer=initializer.truth(),
    )


def _buffer(value: _Value, actors: tuple[TraceActor, ...]) -> TraceBuffer:
    source, source_port, target, target_port, token_bytes, token_bits, capacity, initial = value.fields(
        "source", "source_port", "target", "target_port", "token_bytes", "token_bits", "capacity", "initial_tokens"
    )
    writer, reader = (end.integer(0, len(actors) - 1) for end in (source, target))
    return TraceBuffer(
        source=writer,
        source_port=source_port.integer(0, len(actors[writer].outputs) - 1),
        target=reader,
        target_port=target_port.integer(0, len(actors[reader].inputs) - 1),
        token_bytes=token_bytes.integer(0, MOST_TOKEN_BITS),
        token_bits=token_bits.integer(0, MOST_TOKEN_BITS),
        capacity=None if capacity.value is None else capacity.integer(1, MOST_TOKENS),
        initial_tokens=initial.integer(0, MOST_TOKENS),
    )


def _check_distinct(names: tuple[str, ...], place: str) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise HeaderError(f"{place}[{index}] has the name '{name[:40]}' of another one")
        seen.add(name)
