"""What pages say to the server, checked field by field: a JSON object with a ``type``, and nothing that is unknown.

A message is an edit (``dse.studio.edits``) or a command. Numbers that are no counts (factors, clocks) are decimal
texts, so that they stay exact. The journal on disk holds messages of the same form, and is checked as they are.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias, TypeVar, cast, get_args

from dse.base.errors import OptionError
from dse.base.numbers import CORES, parse_decimal, shortened
from dse.base.registry import nearest_names
from dse.model.design_point import MOST_TOKENS, POLICIES, Policy, ReleaseMode, TransferMode
from dse.model.trace import Topology
from dse.studio.edits import Edit, Fix, Move, Replace, Resize, Scale, SetClock, SetCores, SetModes, SetPolicy, SetUnit

LONGEST_MESSAGE = 1 << 20
"""Characters; a mapping of a thousand actors with all its FIFOs takes a tenth."""
MOST_FACTOR = 1000
_LONGEST_NAME = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Back to the design before the last edit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Forth again to what was undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The design as it is now is what others are compared with; ``pinned`` False: no design is."""

    pinned: bool


Change: TypeAlias = Edit | Undo | Redo | Pin
"""What changes the session, and is kept in its journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSearch:
    """Search from the present design, for so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSearch:
    """End the search; what it found stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBest:
    """The best mapping of the search, or of the folder that is followed, becomes the design."""

    found_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """Write the design as a mapping file into the output folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Write the design as one HTML file into the output folder."""


Command: TypeAlias = StartSearch | StopSearch | TakeBest | Save | Share
Message: TypeAlias = Change | Command
FOUND_BY = ("search", "explore")
_T = TypeVar("_T")


def parse_message(text: str, topology: Topology) -> Message:
    """Return what a page says. Raises ``OptionError`` for anything that is not as told."""
    return message_of(object_of(text), topology)


def message_of(entries: Mapping[str, Any], topology: Topology) -> Message:
    """Return the message of a JSON object. Raises ``OptionError`` for anything that is not as told."""
    fields = _Fields(entries, topology)
    kind = fields.text("type")
    read = _READERS.get(kind)
    if read is None:
        raise OptionError(f"unknown message '{shortened(kind)}'", expected=nearest_names(kind, tuple(_READERS)))
    message = read(fields)
    fields.finish()
    return message


def is_change(message: Message) -> bool:
    """Return whether a message changes the session."""
    return not isinstance(message, get_args(Command))


def object_of(text: str) -> Mapping[str, Any]:
    """Return a JSON object. Raises ``OptionError`` where the text is none."""
    if len(text) > LONGEST_MESSAGE:
        raise OptionError(f"a message of {len(text):,} characters is too long", expected=f"at most {LONGEST_MESSAGE:,}")
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as cause:
        raise OptionError(f"the message is no JSON: {shortened(str(cause))}") from cause
    if not isinstance(found, dict):
        raise OptionError("the message is no JSON object")
    return cast("Mapping[str, Any]", found)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


class _Fields:
    """The fields of a message by typed access; ``finish`` refuses those that nobody asked for."""

    def __init__(self, entries: Mapping[str, Any], topology: Topology) -> None:
        self._entries = entries
        self._topology = topology
        self._seen: set[str] = set()

    def has(self, key: str) -> bool:
        """Return whether a field is there and not null."""
        self._seen.add(key)
        return self._entries.get(key) is not None

    def text(self, key: str, longest: int = _LONGEST_NAME) -> str:
        """Return a text."""
        value = self._value(key)
        if not isinstance(value, str) or len(value) > longest:
            raise self._wrong(key, f"a text of at most {longest:,} characters")
        return value

    def integer(self, key: str, least: int, most: int) -> int:
        """Return an integer within bounds."""
        value = self._value(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._wrong(key, f"a whole number from {least} to {most}")
        return value

    def boolean(self, key: str) -> bool:
        """Return a truth value."""
        value = self._value(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def decimal(self, key: str, most: int, *, zero: bool) -> Fraction:
        """Return an exact number from a decimal text, above 0, or 0 where that is allowed."""
        value = parse_decimal(self.text(key))
        if value is None or not 0 <= value <= most or (value == 0 and not zero):
            raise self._wrong(
                key, f'a decimal number as text, such as "0.5", {"from" if zero else "above"} 0 to {most}'
            )
        return value

    def choice(self, key: str, known: tuple[str, ...]) -> str:
        """Return one of several words."""
        value = self.text(key)
        if value not in known:
            raise self._wrong(key, f"one of {', '.join(known)}")
        return value

    def actor(self) -> int:
        """Return the index of an actor."""
        return self.integer("actor", 0, len(self._topology.actors) - 1)

    def action(self, actor: int) -> int | None:
        """Return the index of an action, None for all."""
        if not self.has("action"):
            return None
        return self.integer("action", 0, len(self._topology.actors[actor].actions) - 1)

    def fifo(self) -> int | None:
        """Return the index of a FIFO, None for all."""
        return self.integer("fifo", 0, len(self._topology.buffers) - 1) if self.has("fifo") else None

    def optional(self, key: str, read: Callable[[str], _T]) -> _T | None:
        """Return what is read of a field, None where it is not there."""
        return read(key) if self.has(key) else None

    def finish(self) -> None:
        """Refuse fields that this message does not have. Raises ``OptionError``."""
        unknown = next((key for key in self._entries if key not in self._seen), None)
        if unknown is not None:
            kind = self._entries.get("type")
            raise OptionError(f"message '{kind}' has no field '{shortened(str(unknown))}'", expected="leave it out")

    def _value(self, key: str) -> Any:
        self._seen.add(key)
        return self._entries.get(key)

    def _wrong(self, key: str, expected: str) -> OptionError:
        value = shortened(json.dumps(self._entries.get(key)))
        return OptionError(f"field '{key}' of the message is {value}", expected=expected)


def _move(fields: _Fields) -> Move:
    move = Move(
        actor=fields.actor(),
        partition=fields.optional("partition", fields.text),
        unit=fields.optional("unit", fields.text),
    )
    if (move.partition is None) == (move.unit is None):
        raise OptionError("a move names no place, or two", expected="give 'partition', or 'unit' for a new one there")
    return move


def _resize(fields: _Fields) -> Resize:
    return Resize(tokens=fields.integer("tokens", 1, MOST_TOKENS), fifo=fields.fifo())


def _policy(fields: _Fields) -> SetPolicy:
    policy = cast("Policy", fields.choice("policy", POLICIES))
    return SetPolicy(policy=policy, partition=fields.optional("partition", fields.text))


def _cores(fields: _Fields) -> SetCores:
    return SetCores(partition=fields.text("partition"), cores=fields.integer("cores", 1, int(CORES.most)))


def _unit(fields: _Fields) -> SetUnit:
    return SetUnit(partition=fields.text("partition"), unit=fields.text("unit"))


def _clock(fields: _Fields) -> SetClock:
    mhz = fields.decimal("mhz", 100_000, zero=False) if fields.has("mhz") else None
    if mhz is not None and (mhz * 10**6).denominator != 1:
        raise OptionError("a clock is no whole number of hertz", expected="at most 6 decimals of MHz")
    return SetClock(unit=fields.text("unit"), mhz=mhz)


def _modes(fields: _Fields) -> SetModes:
    release = fields.choice("release", get_args(ReleaseMode)) if fields.has("release") else None
    transfers = fields.choice("transfers", get_args(TransferMode)) if fields.has("transfers") else None
    return SetModes(release=cast("ReleaseMode | None", release), transfers=cast("TransferMode | None", transfers))


def _scale(fields: _Fields) -> Scale:
    actor = fields.actor()
    return Scale(actor=actor, action=fields.action(actor), factor=fields.decimal("factor", MOST_FACTOR, zero=True))


_READERS: dict[str, Callable[[_Fields], Message]] = {
    "move": _move,
    "resize": _resize,
    "policy": _policy,
    "cores": _cores,
    "unit": _unit,
    "clock": _clock,
    "modes": _modes,
    "scale": _scale,
    "fix": lambda fields: Fix(actor=fields.actor(), fixed=fields.boolean("fixed")),
    "mapping": lambda fields: Replace(mapping=fields.text("mapping", LONGEST_MESSAGE)),
    "undo": lambda _: Undo(),
    "redo": lambda _: Redo(),
    "pin": lambda fields: Pin(pinned=fields.boolean("pinned")),
    "search": lambda fields: StartSearch(seconds=fields.integer("seconds", 1, 86_400)),
    "stop": lambda _: StopSearch(),
    "take": lambda fields: TakeBest(found_by=fields.choice("found_by", FOUND_BY)),
    "save": lambda _: Save(),
    "share": lambda _: Share(),
}
"""Type of a message -> how its fields are read."""
