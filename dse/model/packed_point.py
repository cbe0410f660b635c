"""A design point in few bytes, for the tens of thousands that a search keeps: what most points share is kept once."""

import functools
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from dse.base.packing import pack_integers, unpack_integers
from dse.model.design_point import DesignPoint, Partition, Policy, ReleaseMode, TransferMode

SHARED = 4096
"""So many layouts, and frames of partitions, are remembered to be shared."""
VIEWED = 16
"""So many points stay unpacked: methods look at the one where they are again and again."""


class PartitionFrame(NamedTuple):
    """A partition without its actors; the fields are those of ``Partition``."""

    name: str
    unit: str
    policy: Policy
    cores: int
    static_order: tuple[int, ...]
    clock_mhz: Fraction | None


@dataclass(frozen=True, slots=True)
class PointLayout:
    """A design point without the actors of its partitions: equal for most points of a search."""

    frames: tuple[PartitionFrame, ...]
    capacities: tuple[int, ...]
    release: ReleaseMode
    transfers: TransferMode
    name: str


@dataclass(frozen=True, slots=True)
class PackedPoint:
    """A design point. ``members``: the number of actors of each partition, then the actors of each (``packing``).

    Two are equal if their points are.
    """

    layout: PointLayout
    members: bytes

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.layout.frames)

    def unpacked(self) -> DesignPoint:
        """Return the point. Raises ``ValueError`` where ``members`` do not belong to the layout."""
        return _unpacked(self)


@functools.lru_cache(maxsize=VIEWED)
def _unpacked(packed: PackedPoint) -> DesignPoint:
    layout, integers = packed.layout, unpack_integers(packed.members)
    begin = len(layout.frames)
    if begin + sum(integers[:begin]) != len(integers):
        raise ValueError(f"{len(integers)} numbers are not the actors of {begin} partitions")
    partitions = []
    for (name, unit, policy, cores, static_order, clock_mhz), size in zip(layout.frames, integers, strict=False):
        actors = integers[begin : begin + size]
        begin += size
        partitions.append(
            Partition(
                name=name,
                actors=actors,
                unit=unit,
                policy=policy,
                cores=cores,
                static_order=static_order,
                clock_mhz=clock_mhz,
            )
        )
    return DesignPoint(
        partitions=tuple(partitions),
        capacities=layout.capacities,
        release=layout.release,
        transfers=layout.transfers,
        name=layout.name,
    )


_FRAME_OF = attrgetter(*PartitionFrame._fields)


def pack_point(point: DesignPoint) -> PackedPoint:
    """Return a point in few bytes. Layouts are shared between points; nothing else is kept of it."""
    actors = [partition.actors for partition in point.partitions]
    frames = tuple(map(_FRAME_OF, point.partitions))
    return PackedPoint(
        layout=shared_layout(frames, point.capacities, point.release, point.transfers, point.name),
        members=pack_integers([*map(len, actors), *chain.from_iterable(actors)]),
    )


@functools.lru_cache(maxsize=SHARED)
def shared_layout(
    frames: tuple[PartitionFrame, ...],
    capacities: tuple[int, ...],
    release: ReleaseMode,
    transfers: TransferMode,
    name: str,
) -> PointLayout:
    """Return one layout for equal arguments."""
    shared = tuple(_shared_frame(*frame) for frame in frames)
    return PointLayout(frames=shared, capacities=capacities, release=release, transfers=transfers, name=name)


_shared_frame = functools.lru_cache(maxsize=SHARED)(PartitionFrame)
