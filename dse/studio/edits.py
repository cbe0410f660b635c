"""The changes that a page can ask for, and what each makes of a design.

Actors, actions and FIFOs are named by their index in the topology, partitions by their name: their indices change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import TypeAlias

from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.flows.clocks import check_clocks
from dse.formats.mapping_text import read_mapping_text
from dse.model.design_point import DesignPoint, Partition, Policy, ReleaseMode, TransferMode
from dse.model.platform import Platform
from dse.model.trace import Topology
from dse.studio.design import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An actor goes to a partition; ``unit``: to a new one there. One of the two is given."""

    actor: int
    partition: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """A FIFO, or each where ``fifo`` is None, holds so many tokens."""

    tokens: int
    fifo: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """A partition, or each where it is None, is scheduled in another way."""

    policy: Policy
    partition: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCores:
    """A partition has so many cores."""

    partition: str
    cores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUnit:
    """A partition goes to another unit, with the clock that this has there."""

    partition: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetClock:
    """A unit runs at a clock; None: at that of the weights."""

    unit: str
    mhz: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModes:
    """The modes of the estimation; None: as it is."""

    release: ReleaseMode | None = None
    transfers: TransferMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Computing an action, or each action of the actor where ``action`` is None, costs so many times its weight."""

    actor: int
    factor: Fraction
    action: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A search leaves an actor on its unit, or may move it again."""

    actor: int
    fixed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Another mapping, as text; scaled costs and fixed actors stay. What it does not say of FIFOs stays too."""

    mapping: str


Edit: TypeAlias = Move | Resize | SetPolicy | SetCores | SetUnit | SetClock | SetModes | Scale | Fix | Replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What designs are made of: the network and the platform."""

    topology: Topology
    platform: Platform


def applied(edit: Edit, design: Design, around: Surroundings) -> Design:  # ways: one case for each edit
    """Return the design after an edit; partitions without actors are left out.

    Raises:
        OptionError: it names a partition, a unit, a clock that is not there. FormatError: a mapping is wrong.
    """
    match edit:
        case Move():
            return replace(design, point=_moved(edit, design.point, around))
        case Resize():
            return replace(design, point=replace(design.point, capacities=_resized(edit, design.point.capacities)))
        case SetPolicy():
            return replace(design, point=_with_policy(edit, design.point))
        case SetCores():
            return replace(design, point=_with(design.point, _Change(edit.partition, cores=edit.cores)))
        case SetUnit():
            _unit(edit.unit, around)
            clock = clock_of(design.point, edit.unit)
            return replace(design, point=_with(design.point, _Change(edit.partition, unit=edit.unit, clock_mhz=clock)))
        case SetClock():
            return replace(design, point=_with_clock(edit, design.point, around))
        case SetModes():
            release, transfers = edit.release or design.point.release, edit.transfers or design.point.transfers
            return replace(design, point=replace(design.point, release=release, transfers=transfers))
        case Scale():
            return replace(design, scales=_scaled(edit, design, around))
        case Fix():
            fixed = design.fixed | {edit.actor} if edit.fixed else design.fixed - {edit.actor}
            return replace(design, fixed=fixed)
        case Replace():
            return replace(design, point=_read(edit.mapping, design.point, around))


def clock_of(point: DesignPoint, unit: str) -> Fraction | None:
    """Return the clock that a unit has in a point; None: that of the weights."""
    return next((p.clock_mhz for p in point.partitions if p.unit == unit), None)


def free_name(point: DesignPoint) -> str:
    """Return the first of ``P0``, ``P1`` and so on that no partition has."""
    taken = {partition.name for partition in point.partitions}
    return next(name for name in _numbered() if name not in taken)


def _numbered() -> Iterator[str]:
    return (f"P{number}" for number in count())


def partition_index(point: DesignPoint, name: str) -> int:
    """Return the index of a partition. Raises ``OptionError`` where there is none of that name."""
    names = tuple(partition.name for partition in point.partitions)
    if name not in names:
        raise OptionError(f"there is no partition '{name}'", expected=nearest_names(name, names))
    return names.index(name)


def _unit(name: str, around: Surroundings) -> None:
    """Raise ``OptionError`` where the platform has no such unit."""
    if around.platform.unit(name) is None:
        names = tuple(unit.name for unit in around.platform.units)
        raise OptionError(
            f"platform '{around.platform.name}' has no unit '{name}'", expected=nearest_names(name, names)
        )


def _moved(edit: Move, point: DesignPoint, around: Surroundings) -> DesignPoint:
    """Return the point with an actor elsewhere, among the actors there in their declared order."""
    if edit.unit is not None:
        _unit(edit.unit, around)
        new = Partition(name=_new_name(edit.unit, point, around), actors=(), unit=edit.unit)
        parts = (*point.partitions, replace(new, clock_mhz=clock_of(point, edit.unit)))
        return _moved(Move(actor=edit.actor, partition=new.name), replace(point, partitions=parts), around)
    assert edit.partition is not None, "a move names a partition or a unit"
    target = partition_index(point, edit.partition)
    if edit.actor in point.partitions[target].actors:
        return replace(point, partitions=tuple(p for p in point.partitions if p.actors))
    parts = tuple(
        _with_actor(p, edit.actor) if index == target else _without_actor(p, edit.actor)
        for index, p in enumerate(point.partitions)
    )
    return replace(point, partitions=tuple(p for p in parts if p.actors))


def _new_name(unit: str, point: DesignPoint, around: Surroundings) -> str:
    """Return the name of a new partition on a unit: that which the platform fixes, where it is free."""
    fixed = next(u.partition for u in around.platform.units if u.name == unit)
    taken = {partition.name for partition in point.partitions}
    return fixed if fixed and fixed not in taken else free_name(point)


def _with_actor(partition: Partition, actor: int) -> Partition:
    order = (*partition.static_order, actor) if partition.policy == "STATIC_ORDER" else partition.static_order
    before = sum(other < actor for other in partition.actors)
    own = (*partition.actors[:before], actor, *partition.actors[before:])
    return replace(partition, actors=own, static_order=order)


def _without_actor(partition: Partition, actor: int) -> Partition:
    if actor not in partition.actors:
        return partition
    own, order = (tuple(a for a in some if a != actor) for some in (partition.actors, partition.static_order))
    return replace(partition, actors=own, static_order=order)


def _resized(edit: Resize, capacities: Sequence[int]) -> tuple[int, ...]:
    return tuple(edit.tokens if edit.fifo in (None, index) else tokens for index, tokens in enumerate(capacities))


def _with_policy(edit: SetPolicy, point: DesignPoint) -> DesignPoint:
    """Return the point with another policy; a static order is that of the actors as they stand."""
    chosen = None if edit.partition is None else partition_index(point, edit.partition)
    return replace(
        point,
        partitions=tuple(
            replace(p, policy=edit.policy, static_order=p.actors if edit.policy == "STATIC_ORDER" else ())
            if chosen in (None, index)
            else p
            for index, p in enumerate(point.partitions)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """What of a partition changes; None: nothing."""

    partition: str
    cores: int | None = None
    unit: str | None = None
    clock_mhz: Fraction | None = None


def _with(point: DesignPoint, change: _Change) -> DesignPoint:
    chosen = partition_index(point, change.partition)
    old = point.partitions[chosen]
    new = replace(old, cores=change.cores or old.cores)
    if change.unit is not None:
        new = replace(new, unit=change.unit, clock_mhz=change.clock_mhz)
    return replace(point, partitions=(*point.partitions[:chosen], new, *point.partitions[chosen + 1 :]))


def _with_clock(edit: SetClock, point: DesignPoint, around: Surroundings) -> DesignPoint:
    _unit(edit.unit, around)
    if edit.mhz is not None:
        check_clocks(((edit.unit, edit.mhz),), around.platform)
    if not any(p.unit == edit.unit for p in point.partitions):
        raise OptionError(f"no partition is on unit '{edit.unit}'", expected="move an actor there first")
    return replace(
        point,
        partitions=tuple(replace(p, clock_mhz=edit.mhz) if p.unit == edit.unit else p for p in point.partitions),
    )


def _scaled(edit: Scale, design: Design, around: Surroundings) -> dict[tuple[int, int], Fraction]:
    """Return the factors after an edit; 1 is none."""
    actions = range(len(around.topology.actors[edit.actor].actions)) if edit.action is None else (edit.action,)
    found = {**design.scales, **{(edit.actor, action): edit.factor for action in actions}}
    return {key: factor for key, factor in sorted(found.items()) if factor != 1}


def _read(mapping: str, point: DesignPoint, around: Surroundings) -> DesignPoint:
    return read_mapping_text(mapping, around.topology, around.platform, capacities=point.capacities)
