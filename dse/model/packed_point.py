"""A design point in few bytes, for the tens of thousands that a search keeps: what most points share is kept once."""

import functools
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import NamedTuple

from dse.base.packing import pack_integers, unpack_integers
from dse.model.design_point import (
    DesignPoint,
    Partition,
    Policy,
    ReleaseMode,
    TransferMode,
    frame_text,
    modes_text,
)

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

    def texts(self) -> tuple[list[str], str]:
        """Return what ``identity_of`` needs to know of a point beside its actors."""
        frames = [frame_text(*frame[1:]) for frame in self.frames]
        return frames, modes_text(self.capacities, self.release, self.transfers)


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

    def first_actors(self) -> list[int]:
        """Return the first actor of each partition, of which none may be empty."""
        begin = len(self.layout.frames)
        integers = unpack_integers(self.members)
        return [integers[first] for first in accumulate(integers[: begin - 1], initial=begin)]

    def actors(self, most: int | None = None) -> list[tuple[int, ...]]:
        """Return the actors of each partition, ``most`` of them at most if it is given.

        Raises ``ValueError`` where ``members`` do not belong to the layout, or hold more.
        """
        begin = len(self.layout.frames)
        integers = unpack_integers(self.members, most=None if most is None else begin + most)
        sizes = integers[:begin]
        if len(sizes) != begin or begin + sum(sizes) != len(integers) or min(sizes, default=0) < 0:
            raise ValueError(f"{len(integers)} numbers are not the actors of {begin} partitions")
        return [integers[first:end] for first, end in pairwise(accumulate(sizes, initial=begin))]


@functools.lru_cache(maxsize=VIEWED)
def _unpacked(packed: PackedPoint) -> DesignPoint:
    layout, partitions = packed.layout, []
    for (name, unit, policy, cores, static_order, clock_mhz), actors in zip(
        layout.frames, packed.actors(), strict=True
    ):
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
