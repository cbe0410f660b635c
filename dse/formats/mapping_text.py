"""Mappings as people write them: ``P0:a,b P1@big=2000/round-robin:c PG:d buffers=512``; reader and writer.

One text is one design point, for a command line, a table or a cell of a CSV file; the format is our own and its grammar
stands in ``mapping_words``. A partition is a name and its actors. Between them stands what is not the default:

* ``*2``: two cores; ``@big``: unit ``big``, ``@big=2000``: at 2000 MHz; ``/round-robin``: a policy;
  ``/static-order=a,b,a``: the cyclic list of a static order (without it: the actors as they are listed);
* a partition that is called as the ``partition`` of a unit of the platform (``PG``) is on that unit, any other one on
  the first CPU unit, as in mapping files; the policy is NON_PREEMPTIVE; the clock is that of the weights, or the one
  that another partition on the unit names;
* ``*`` in place of actors: all that are named nowhere else.

Behind the partitions, or before them: ``buffers=N`` (all FIFOs hold N tokens), ``buffers=N,N,N`` (one for each FIFO in
the order of the network) or ``buffers=a.Out->b.In=N`` (that one only); ``release=processing``; ``transfers=parallel``.

An actor may be named without what the names of all actors begin with, and by the end of its name behind ``/``, ``_``
or ``.``, where only one ends so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, takewhile
from typing import cast, get_args

from dse.base.diagnostics import Gatherer
from dse.base.numbers import CLOCK_MHZ, CORES, integer_from, parse_decimal, shortened
from dse.base.registry import nearest_names
from dse.formats.connections import Buffers
from dse.formats.decimals import format_decimal
from dse.formats.mapping_words import LONGEST, MappingWords, PartitionWords, SettingWords, TextOrigin, Word, quoted_name
from dse.formats.xml_reading import raise_errors
from dse.model.design_point import (
    MOST_TOKENS,
    POLICIES,
    DesignPoint,
    Partition,
    Policy,
    ReleaseMode,
    TransferMode,
)
from dse.model.platform import Platform
from dse.model.trace import Topology

_SETTINGS = ("buffers", "release", "transfers")
_NAMED_FIFOS = 2
"""So many FIFOs whose size is not the usual one are named; where there are more, the sizes of all are listed."""
_MISSING_SHOWN = 5


def read_mapping_text(
    text: str,
    topology: Topology,
    platform: Platform,
    *,
    capacities: tuple[int, ...] | None = None,
    origin: TextOrigin | None = None,
) -> DesignPoint:
    """Return the design point of a text; its name is empty.

    ``capacities``: in tokens, of the buffers whose size the text does not say; None: those of the network, else 512.
    ``origin``: where the text stands, for the messages.

    Raises:
        FormatError: with everything that is wrong: what cannot be read, unknown, repeated and missing actors, unknown
            units, policies and FIFOs, sizes and clocks that are none. Each has its place and the nearest names.
    """
    gather = Gatherer()
    words = MappingWords(text[:LONGEST], origin or TextOrigin(), gather)
    if len(text) > LONGEST:
        words.error(f"the mapping has {len(text):,} characters", Word(text="", start=0, end=0), "is this a mapping?")
    usual = Buffers(topology).capacities({}) if capacities is None else capacities
    point = _Resolver(words, _Actors(topology), platform).design_point(usual)
    raise_errors(gather)
    return point


def states_buffers(text: str) -> bool:
    """Return whether a text that ``read_mapping_text`` accepts says the size of any FIFO."""
    words = MappingWords(text, TextOrigin(), Gatherer())
    return any(setting.name.text == "buffers" for setting in words.settings)


def common_prefix(names: Sequence[str]) -> str:
    """Return what all names begin with, up to the last ``/``, ``_`` or ``.`` in it; nothing of fewer than two names."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)  # what these have in common all names between them have
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first[:-1], last, strict=False))
    begin = "".join(character for character, _ in same)
    return begin[: max(begin.rfind(sign) for sign in "/_.") + 1]


class _Actors:
    """The actors of a network by what a mapping may call them."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.names = tuple(actor.name for actor in topology.actors)
        self._exact = {name: index for index, name in enumerate(self.names)}
        self._loose = [_loose(name) for name in self.names]
        cut = len(common_prefix(self.names))
        self._cut = {name[cut:]: index for index, name in enumerate(self.names)} if cut else {}

    def __len__(self) -> int:
        return len(self.names)

    def found(self, name: str) -> list[int]:
        """Return the index of the actor of that name; where there is none, of all whose name may be meant."""
        for known in (self._exact, self._cut):
            if name in known:
                return [known[name]]
        loose = _loose(name)
        same = [index for index, other in enumerate(self._loose) if other == loose]
        return same or [index for index, other in enumerate(self._loose) if name and other.endswith(f"_{loose}")]


def _loose(name: str) -> str:
    """Return a name with one sign for all that part the names of networks and actors."""
    return name.replace("/", "_").replace(".", "_")


@dataclass(slots=True)
class _Resolver:
    """Finds what the words mean in a network on a platform; errors go to the words."""

    words: MappingWords
    actors: _Actors
    platform: Platform
    owners: dict[int, Word] = field(default_factory=dict)
    rest: Word | None = None
    unclear: bool = False
    """Whether a word was found that names no actor, or one of several."""

    def design_point(self, usual: tuple[int, ...]) -> DesignPoint:
        """Return what the text says; only of use when no error was gathered."""
        partitions = self._partitions()
        settings = self._settings()
        capacities = _Sizes(self.words, self.actors.topology, usual).capacities(settings.get("buffers"))
        return DesignPoint(
            partitions=partitions,
            capacities=capacities,
            release=cast(ReleaseMode, self._mode(settings.get("release"), get_args(ReleaseMode))),
            transfers=cast(TransferMode, self._mode(settings.get("transfers"), get_args(TransferMode))),
        )

    # Partitions

    def _partitions(self) -> tuple[Partition, ...]:
        self._refuse_twice()
        members = self._members()
        units = [self._unit(written) for written in self.words.partitions]
        clocks = self._clocks(units)
        return tuple(
            self._partition(written, own, unit, clocks.get(unit))
            for written, own, unit in zip(self.words.partitions, members, units, strict=True)
        )

    def _refuse_twice(self) -> None:
        """Record that partitions have one name."""
        names: dict[str, Word] = {}
        for written in self.words.partitions:
            first = names.setdefault(written.name.text, written.name)
            if first is not written.name:
                message = f"partition '{written.name.text}' stands twice"
                self.words.error(message, written.name, f"the first one is {self.words.place_text(first)}; join them")

    def _members(self) -> list[tuple[int, ...]]:
        """Return the actors of each partition; in the place of ``*`` all that are named nowhere."""
        claimed = [list(chain.from_iterable(map(self._claimed, p.actors))) for p in self.words.partitions]
        left = [index for index in range(len(self.actors)) if index not in self.owners]
        if self.rest is None:
            self._refuse_missing(left)
        return [tuple(chain.from_iterable(left if a is None else (a,) for a in actors)) for actors in claimed]

    def _claimed(self, word: Word) -> list[int | None]:
        """Return the actor of a word, or None for all that are left, if it may stand here."""
        if word.is_rest:
            if self.rest is not None:
                place = self.words.place_text(self.rest)
                self.words.error("'*' stands twice", word, f"the first one is {place}; it takes all that are left")
            self.rest = self.rest or word
            return [None]
        index = self._actor(word)
        if index is None:
            return []
        first = self.owners.setdefault(index, word)
        if first is word:
            return [index]
        message = f"actor '{self.actors.names[index]}' is placed twice"
        self.words.error(message, word, f"the first place is {self.words.place_text(first)}")
        return []

    def _actor(self, word: Word) -> int | None:
        """Return the actor that a word names; that it is none, or not clear, is an error."""
        found = self.actors.found(word.text)
        if len(found) == 1:
            return found[0]
        network, self.unclear = self.actors.topology.name, True
        if found:
            names = " or ".join(f"'{self.actors.names[index]}'" for index in found[:3])
            message = f"'{shortened(word.text)}' fits {len(found)} actors of network '{network}'"
            self.words.error(message, word, f"did you mean {names}?")
        else:
            message = f"there is no actor '{shortened(word.text)}' in network '{network}'"
            self.words.error(message, word, nearest_names(word.text, self.actors.names))
        return None

    def _refuse_missing(self, left: Sequence[int]) -> None:
        """Record that actors are in no partition, unless words that could not be read may have meant them."""
        if not left or self.words.malformed or self.unclear:
            return
        names = [f"'{self.actors.names[index]}'" for index in left[:_MISSING_SHOWN]]
        more = f" and {len(left) - _MISSING_SHOWN} more" if len(left) > _MISSING_SHOWN else ""
        message = f"actors in no partition: {', '.join(names)}{more}"
        expected = "name each in one partition, P0:a,b P1:c with quotes around it all; '*' stands for all others: P1:*"
        self.words.error(message, self.words.whole, expected)

    def _partition(self, written: PartitionWords, own: tuple[int, ...], unit: str, clock: Fraction | None) -> Partition:
        policy = self._policy(written.policy)
        return Partition(
            name=written.name.text,
            actors=own,
            unit=unit,
            policy=policy,
            cores=self._cores(written.cores),
            static_order=self._order(written, policy, own),
            clock_mhz=clock,
        )

    def _cores(self, word: Word | None) -> int:
        if word is None:
            return 1
        value = integer_from(word.text, least=1, most=int(CORES.most))
        if value is None:
            self.words.error(f"'{shortened(word.text)}' is no number of cores", word, f"expected {CORES}")
        return value or 1

    def _policy(self, word: Word | None) -> Policy:
        if word is None:
            return "NON_PREEMPTIVE"
        name = word.text.upper().replace("-", "_")
        policy = next((p for p in POLICIES if p == name), None)
        if policy is None:
            known = tuple(map(_written_policy, POLICIES))
            message = f"unknown policy '{shortened(word.text)}'"
            self.words.error(message, word, nearest_names(word.text.lower().replace("_", "-"), known))
        return policy or "NON_PREEMPTIVE"

    def _order(self, written: PartitionWords, policy: Policy, own: tuple[int, ...]) -> tuple[int, ...]:
        """Return the cyclic list of a static order: the one that is written, else the actors as they are listed."""
        if policy != "STATIC_ORDER":
            for word in written.order[:1]:
                self.words.error("this policy takes no order", word, "a cyclic list of actors is for static-order")
            return ()
        order = [index for word in written.order for index in self._of_partition(word, own)]
        left_out = [self.actors.names[index] for index in own if written.order and index not in order]
        if left_out:
            message = f"the static order leaves out actor '{left_out[0]}'"
            self.words.error(message, written.order[0], "expected each actor of the partition at least once")
        return tuple(order) or own

    def _of_partition(self, word: Word, own: tuple[int, ...]) -> list[int]:
        """Return the actor that an order names, if it is one and in the partition."""
        index = self._actor(word)
        if index is None or index in own:
            return [] if index is None else [index]
        message = f"actor '{self.actors.names[index]}' of the order is not in the partition"
        self.words.error(message, word, "add it to both")
        return []

    # Units

    def _unit(self, written: PartitionWords) -> str:
        """Return the name of the unit of a partition; "" after an error."""
        units, name = self.platform.units, written.name.text
        if written.unit is not None:
            known = tuple(unit.name for unit in units)
            if written.unit.text not in known:
                message = f"there is no unit '{shortened(written.unit.text)}' in platform '{self.platform.name}'"
                self.words.error(message, written.unit, nearest_names(written.unit.text, known))
            return written.unit.text
        unit = usual_unit(name, self.platform)
        if unit is None:
            units_text = ", ".join(f"'{unit.name}' ({unit.kind})" for unit in units)
            kind = "gpu" if name.upper() == "PG" else "cpu"
            message = f"platform '{self.platform.name}' has no {kind} unit for partition '{name}'"
            self.words.error(message, written.name, f"its units: {units_text}; write '{name}@UNIT:', or see --platform")
        return unit or ""

    def _clocks(self, units: Sequence[str]) -> dict[str, Fraction]:
        """Return the clock in MHz of each unit that is given one."""
        clocks: dict[str, Fraction] = {}
        for written, unit in zip(self.words.partitions, units, strict=True):
            if written.clock is None:
                continue
            value = parse_decimal(written.clock.text)
            if value is None or value <= 0 or not CLOCK_MHZ.holds(value):
                message = f"the clock of partition '{written.name.text}' is '{shortened(written.clock.text)}'"
                self.words.error(message, written.clock, f"expected a number from {CLOCK_MHZ}")
            elif clocks.setdefault(unit, value) != value:
                message = f"unit '{unit}' has another clock in a partition before this one"
                self.words.error(message, written.clock, "all partitions of a unit have one clock")
        return clocks

    # Settings

    def _settings(self) -> dict[str, SettingWords]:
        found: dict[str, SettingWords] = {}
        for setting in self.words.settings:
            name = setting.name.text
            if name not in _SETTINGS:
                message = f"there is nothing to set that is called '{shortened(name)}'"
                self.words.error(message, setting.name, nearest_names(name, _SETTINGS))
            elif found.setdefault(name, setting) is not setting:
                place = self.words.place_text(found[name].name)
                self.words.error(f"'{name}=' stands twice", setting.name, f"the first one is {place}")
        return found

    def _mode(self, setting: SettingWords | None, known: tuple[str, ...]) -> str:
        """Return the mode that a setting names; the first of the known ones without a setting."""
        if setting is None:
            return known[0]
        (of, value), more = setting.values[0], setting.values[1:]
        if of is not None or more or value.text not in known:
            message = f"unknown {setting.name.text} '{shortened(value.text)}'"
            self.words.error(message, value, nearest_names(value.text, known))
        return value.text


@dataclass(slots=True)
class _Sizes:
    """Reads the sizes of FIFOs; ``usual``: those of FIFOs that are not named, in tokens."""

    words: MappingWords
    topology: Topology
    usual: tuple[int, ...]

    def capacities(self, setting: SettingWords | None) -> tuple[int, ...]:
        """Return the size of each FIFO in tokens."""
        if setting is None:
            return self.usual
        plain = [(value, self._tokens(value)) for of, value in setting.values if of is None]
        named = [(of, value) for of, value in setting.values if of is not None]
        base = self._base([value for value, _ in plain], [tokens for _, tokens in plain], alone=not named)
        return self._with_named(base, named)

    def _base(self, plain: list[Word], sizes: list[int], *, alone: bool) -> list[int]:
        """Return the size of each FIFO by the sizes that name none; ``alone``: no other size does."""
        if len(sizes) < 2:
            return sizes * len(self.usual) or list(self.usual)
        if not alone or len(sizes) != len(self.usual):
            message = f"{len(sizes)} sizes for {len(self.usual)} FIFOs"
            expected = "expected one for all, one for each FIFO, or the FIFO before each: buffers=a.Out->b.In=64"
            self.words.error(message, plain[1], expected)
        return sizes

    def _with_named(self, base: list[int], named: list[tuple[Word, Word]]) -> tuple[int, ...]:
        """Return the sizes with those of the FIFOs that are named."""
        known = {self.topology.buffer_name(b): b for b in range(len(self.usual))}
        loose = {_loose_ends(name): b for name, b in known.items()}
        seen: set[int] = set()
        for of, value in named:
            tokens, buffer = self._tokens(value), known.get(of.text, loose.get(_loose_ends(of.text)))
            if buffer is None:
                message = f"there is no FIFO '{shortened(of.text)}' in network '{self.topology.name}'"
                self.words.error(message, of, nearest_names(of.text, tuple(known)))
            elif buffer in seen:
                self.words.error(f"FIFO '{of.text}' has two sizes", of, "say it once")
            elif buffer < len(base):
                seen.add(buffer)
                base[buffer] = tokens
        return tuple(base)

    def _tokens(self, word: Word) -> int:
        value = integer_from(word.text, least=1, most=MOST_TOKENS)
        if value is None:
            message = f"the size '{shortened(word.text)}' is no number of tokens"
            self.words.error(message, word, f"expected a whole number from 1 to {MOST_TOKENS}")
        return value or 1


def _loose_ends(name: str) -> str:
    return name.replace("/", "_")


def usual_unit(name: str, platform: Platform) -> str | None:
    """Return the unit of a partition of that name where nothing else is said, or None where the platform has none."""
    fixed = next((u.name for u in platform.units if (u.partition or "").lower() == name.lower() != ""), None)
    kind = "gpu" if name.upper() == "PG" else "cpu"
    return fixed or next((unit.name for unit in platform.units if unit.kind == kind), None)


def mapping_text(
    point: DesignPoint, topology: Topology, platform: Platform | None, *, capacities: tuple[int, ...] | None = None
) -> str:
    """Return the text of a design point from which ``read_mapping_text`` reads the same point, in one line.

    ``platform`` None: it is not known, so each unit and the sizes of all FIFOs are said. ``capacities``: the sizes in
    tokens that need not be said; None: those of the network, else 512. Left out are the name of the point and
    partitions without actors.
    """
    words = [partition_text(p, topology, platform) for p in point.partitions if p.actors]
    if platform is None:
        words += [_sizes_text(point.capacities)] if point.capacities else []
    else:
        usual = Buffers(topology).capacities({}) if capacities is None else capacities
        words += filter(None, (buffers_text(point.capacities, topology, usual),))
    words += [f"release={point.release}"] if point.release != get_args(ReleaseMode)[0] else []
    words += [f"transfers={point.transfers}"] if point.transfers != get_args(TransferMode)[0] else []
    return " ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingTexts:
    """Writes the mappings of one network on one platform; ``capacities``: the sizes in tokens that need not be said."""

    topology: Topology
    platform: Platform
    capacities: tuple[int, ...] | None = None

    def of(self, point: DesignPoint) -> str:
        """Return the text of a design point."""
        return mapping_text(point, self.topology, self.platform, capacities=self.capacities)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteTexts:
    """Writes the mappings of one network where the platform is not known: nothing is left unsaid."""

    topology: Topology
    platform: None = None

    def of(self, point: DesignPoint) -> str:
        """Return the text of a design point."""
        return mapping_text(point, self.topology, None)


def partition_text(partition: Partition, topology: Topology, platform: Platform | None) -> str:
    """Return one partition with its actors: ``P1@big=2000:a,b``."""
    return f"{head_text(partition, topology, platform)}:{_names(partition.actors, topology)}"


def head_text(partition: Partition, topology: Topology, platform: Platform | None) -> str:
    """Return the name of a partition, and its cores, unit, clock and policy where they are not the default."""
    usual = None if platform is None else usual_unit(partition.name, platform)
    head = quoted_name(partition.name, head=True)
    if partition.cores != 1:
        head += f"*{partition.cores}"
    if partition.clock_mhz is not None or partition.unit != usual:
        head += f"@{quoted_name(partition.unit, head=True)}"
    if partition.clock_mhz is not None:
        head += f"={format_decimal(partition.clock_mhz)}"
    if partition.policy != "NON_PREEMPTIVE":
        head += f"/{_written_policy(partition.policy)}"
    if partition.policy == "STATIC_ORDER" and partition.static_order != partition.actors:
        head += f"={_names(partition.static_order, topology)}"
    return head


def _names(actors: Sequence[int], topology: Topology) -> str:
    return ",".join(quoted_name(topology.actors[actor].name) for actor in actors)


def _written_policy(policy: Policy) -> str:
    return policy.lower().replace("_", "-")


def buffers_text(sizes: tuple[int, ...], topology: Topology, usual: tuple[int, ...]) -> str:
    """Return what a mapping says of the sizes of FIFOs, in tokens; empty where they are the usual ones."""
    others = [b for b, (size, of) in enumerate(zip(sizes, usual, strict=True)) if size != of]
    if not others:
        return ""
    if len(set(sizes)) == 1:
        return _sizes_text(sizes)
    named = Counter(map(topology.buffer_name, range(len(sizes))))
    if len(others) <= _NAMED_FIFOS and all(named[topology.buffer_name(b)] == 1 for b in others):
        return "buffers=" + ",".join(f"{quoted_name(topology.buffer_name(b))}={sizes[b]}" for b in others)
    return _sizes_text(sizes)


def _sizes_text(sizes: tuple[int, ...]) -> str:
    """Return the sizes of all FIFOs, of which there is one at least."""
    return "buffers=" + ",".join(map(str, sizes[:1] if len(set(sizes)) == 1 else sizes))
