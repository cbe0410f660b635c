"""A design point: partitions with their actors, unit and policy, buffer capacities, and the modes of the estimation."""

import functools
import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Policy: TypeAlias = Literal["NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL", "STATIC_ORDER"]
POLICIES: tuple[Policy, ...] = ("NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL", "STATIC_ORDER")
ReleaseMode: TypeAlias = Literal["reading", "processing"]
TransferMode: TypeAlias = Literal["sequential", "parallel"]
DEFAULT_CAPACITY_TOKENS = 512
"""Default FIFO capacity (cal.md 3, formats.md)."""
MOST_TOKENS = 1 << 40
"""No capacity is larger: engines add them up in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition. ``actors`` are indices into the topology, in partition order (the order policies search in)."""

    name: str
    actors: tuple[int, ...]
    unit: str
    policy: Policy = "NON_PREEMPTIVE"
    cores: int = 1
    static_order: tuple[int, ...] = ()
    """For STATIC_ORDER: the cyclic list of actor indices; actors may repeat."""
    clock_mhz: Fraction | None = None
    """The clock chosen for the unit, the same in all its partitions; None: the clock of the weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignPoint:
    """One point of the design space. Every actor is in exactly one partition; ``capacities`` has one entry a buffer."""

    partitions: tuple[Partition, ...]
    capacities: tuple[int, ...]
    release: ReleaseMode = "reading"
    transfers: TransferMode = "sequential"
    name: str = ""
    """A label for reports (a file name, a search method's name); not part of the identity."""

    def partition_of(self, n_actors: int) -> tuple[int, ...]:
        """Return the partition index of each actor; -1 where an actor is in none."""
        owner = [-1] * n_actors
        for index, partition in enumerate(self.partitions):
            for actor in partition.actors:
                owner[actor] = index
        return tuple(owner)

    def digest(self) -> str:
        """Return the identity of the point (sha256 hex): everything that moves an estimate, no names of partitions.

        Two points with the same digest have the same estimate in one problem.
        """
        partitions = ",".join(
            f"[{_text(p.actors)},{_quoted(p.unit)},{_quoted(p.policy)},{p.cores},{_text(p.static_order)}{_clock(p)}]"
            for p in self.partitions
        )
        modes = f"{_quoted(self.release)},{_quoted(self.transfers)}"
        text = f"[[{partitions}],{_capacities(self.capacities)},{modes}]"
        return hashlib.sha256(text.encode()).hexdigest()


_quoted = functools.lru_cache(maxsize=256)(json.dumps)
"""Names recur from point to point: a search makes thousands of digests a second."""


def _text(numbers: tuple[int, ...]) -> str:
    """Return integers as JSON without blanks."""
    return str(list(numbers)).replace(" ", "")


_capacities = functools.lru_cache(maxsize=16)(_text)
"""Most points of a search have the same ones."""


def _clock(partition: Partition) -> str:
    return "" if partition.clock_mhz is None else f",{_quoted(str(partition.clock_mhz))}"
