"""Mappings in tables: lines that break between names only, names without what all have in common, differences.

Lines and shorter names are still what ``--mapping`` takes; a difference from another mapping is for people alone.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from dse.formats.mapping_text import CompleteTexts, MappingTexts, common_prefix, head_text, partition_text
from dse.formats.mapping_words import quoted_name
from dse.model.design_point import DesignPoint, Partition

_ATOM = re.compile(r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,'"])+,?""")
"""A name with the comma behind it; the first one of a partition with what stands before it."""
LONG_LINES = 3
"""A mapping that takes more lines of a table than this is shown with shorter names, and others as differences."""


def atoms(text: str) -> list[str]:
    """Return a mapping in the parts that stand in one line, with the blank before a part where there is one."""
    return [(" " if text[m.start() - 1 : m.start()] == " " else "") + m[0] for m in _ATOM.finditer(text)]


def lines_of(text: str, width: int) -> list[str]:
    """Return a mapping in lines of ``width`` columns; a name that is longer has a line of its own."""
    lines = [""]
    for atom in atoms(text):
        if lines[-1] and len(lines[-1]) + len(atom) > width:
            lines.append("")
        lines[-1] += atom if lines[-1] else atom.lstrip()
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMappings:
    """How the mappings of a table are shown; ``short``: names without what all begin with, where that is called for."""

    texts: MappingTexts | CompleteTexts
    short: MappingTexts | CompleteTexts
    prefix: str
    width: int

    @classmethod
    def of(cls, texts: MappingTexts | CompleteTexts, first: DesignPoint, width: int) -> "ShownMappings":
        """Return how mappings like ``first`` are shown in ``width`` columns."""
        if len(lines_of(texts.of(first), width)) <= LONG_LINES:
            return cls(texts=texts, short=texts, prefix="", width=width)
        prefix = common_prefix([actor.name for actor in texts.topology.actors])
        actors = tuple(replace(actor, name=actor.name[len(prefix) :]) for actor in texts.topology.actors)
        short = replace(texts, topology=replace(texts.topology, actors=actors))
        return cls(texts=texts, short=short, prefix=prefix, width=width)

    def full(self, point: DesignPoint) -> list[str]:
        """Return the lines of a mapping."""
        return lines_of(self.short.of(point), self.width)

    def beside(self, point: DesignPoint, first: DesignPoint, called: str) -> list[str]:
        """Return the lines of a mapping, or of its difference from the ``first`` one where those are fewer.

        ``called``: what the first one is called, such as the number of its row.
        """
        full = self.full(point)
        if len(full) == 1:
            return full
        difference = lines_of(f"as {called}, but {difference_text(first, point, self.short)}", self.width)
        return difference if len(difference) < len(full) else full


def difference_text(first: DesignPoint, second: DesignPoint, texts: MappingTexts | CompleteTexts) -> str:
    """Return what is other in the second mapping: ``P1+a,b`` (more actors in P1), partitions and settings of its own.

    Names of partitions are those of the first one: partitions are the same that share most actors.
    """
    twins = _twins(first, second)
    owners = first.partition_of(len(texts.topology.actors))
    words, taken = list[str](), {p.name for p in first.partitions}
    for index, partition in enumerate(second.partitions):
        twin = twins[index]
        if twin is None:
            named = replace(partition, name=_free_name(partition.name, taken))
            taken.add(named.name)
            words.append(partition_text(named, texts.topology, texts.platform))
            continue
        came = [actor for actor in partition.actors if owners[actor] != twin]
        if came:
            names = ",".join(quoted_name(texts.topology.actors[actor].name) for actor in came)
            words.append(f"{quoted_name(first.partitions[twin].name, head=True)}+{names}")
        if _frame(partition) != _frame(first.partitions[twin]):
            named = replace(partition, name=first.partitions[twin].name)
            words.append(f"{head_text(named, texts.topology, texts.platform)}")
    words += _other_settings(first, second, texts)
    return " ".join(words) or "other orders of the same"


def _other_settings(first: DesignPoint, second: DesignPoint, texts: MappingTexts | CompleteTexts) -> Iterator[str]:
    """Yield the settings of the second mapping that the first one has otherwise."""
    bare = [texts.of(replace(point, partitions=())).split(" ") for point in (first, second)]
    yield from (word for word in bare[1] if word and word not in bare[0])
    if first.capacities != second.capacities and not any(word.startswith("buffers=") for word in bare[1]):
        yield "the usual FIFO sizes"


def _frame(partition: Partition) -> tuple[object, ...]:
    return partition.unit, partition.policy, partition.cores, partition.clock_mhz


def _twins(first: DesignPoint, second: DesignPoint) -> list[int | None]:
    """Return for each partition of the second mapping the one of the first that shares most actors, each used once."""
    shared = sorted(
        (-len(set(a.actors) & set(b.actors)), i, j)
        for i, a in enumerate(first.partitions)
        for j, b in enumerate(second.partitions)
        if a.unit == b.unit and set(a.actors) & set(b.actors)
    )
    found: list[int | None] = [None] * len(second.partitions)
    for _, i, j in shared:
        if found[j] is None and i not in found:
            found[j] = i
    return found


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name of a partition, or another one where that is taken."""
    numbered = (f"P{number}" for number in range(len(taken) + 1))
    return next(free for free in (name, *numbered) if free not in taken)


def wide_note(shown: ShownMappings, lines: Sequence[str], whole: str) -> str:
    """Return what has to be said below a table with shorter mappings; empty below others.

    ``lines``: the first one of each; ``whole``: what has all of them in full.
    """
    notes = [f"names of actors are without '{shown.prefix}'"] if shown.prefix else []
    if any(line.startswith("as ") for line in lines):
        notes.append(f"every row in full, for --mapping, is in {whole}")
    return "; ".join(notes)
