"""A design point: partitions with their actors, unit and policy, buffer capacities, and the modes of the estimation."""

import functools
import hashlib
import json
from collections.abc import Iterable
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
        actors = [p.actors for p in self.partitions]
        frames = [frame_text(p.unit, p.policy, p.cores, p.static_order, p.clock_mhz) for p in self.partitions]
        return identity_of(actors, frames, modes_text(self.capacities, self.release, self.transfers))


def identity_of(actors: Iterable[tuple[int, ...]], frames: Iterable[str], modes: str) -> str:
    """Return the digest of a design point: the actors and ``frame_text`` of each partition, and ``modes_text``."""
    partitions = ",".join([f"[{_text(own)},{frame}]" for own, frame in zip(actors, frames, strict=True)])
    return hashlib.sha256(f"[[{partitions}],{modes}]".encode()).hexdigest()


@functools.lru_cache(maxsize=1024)
def _text(numbers: tuple[int, ...]) -> str:
    """Return integers as JSON without blanks. Neighbours of a point share most partitions with it."""
    return str(list(numbers)).replace(" ", "")


@functools.lru_cache(maxsize=256)
def frame_text(unit: str, policy: Policy, cores: int, static_order: tuple[int, ...], clock_mhz: Fraction | None) -> str:
    """Return what the identity of a point says of a partition without its actors. Few recur from point to point."""
    clock = "" if clock_mhz is None else f",{json.dumps(str(clock_mhz))}"
    return f"{json.dumps(unit)},{json.dumps(policy)},{cores},{_text(static_order)}{clock}"


@functools.lru_cache(maxsize=16)
def modes_text(capacities: tuple[int, ...], release: ReleaseMode, transfers: TransferMode) -> str:
    """Return what the identity of a point says beside its partitions. Most points of a search have the same."""
    return f"{_text(capacities)},{json.dumps(release)},{json.dumps(transfers)}"
