"""Builds the space of a network on a platform, or says everything that makes it empty."""

from dataclasses import replace

from dse.base.errors import Diagnostic, InfeasibleDesign
from dse.base.registry import nearest_names
from dse.explore.space.clocks import ClockDomain, exchangeable
from dse.explore.space.space import SEARCHED_POLICIES, Space, SpaceOptions, UnitSlots
from dse.model.design_point import Policy
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology


def build_space(
    topology: Topology, platform: Platform, options: SpaceOptions, *, cpu_only: tuple[int, ...] = ()
) -> Space:
    """Return the space of mappings of ``topology`` on ``platform``.

    Each core of a CPU unit and each GPU unit is one slot. ``cpu_only``: actors that must stay on a CPU besides those
    that the platform does not list as GPU-capable. Raises ``InfeasibleDesign`` with everything that makes it empty.
    """
    problems = [*_whole_problems(topology, platform), *_policy_problems(options.policies)]
    pinned = _pinned_units(topology, platform, options.pins, problems)
    allowed = tuple(
        _allowed_units(actor, topology, platform, pinned.get(actor), actor in cpu_only, problems)
        for actor in range(len(topology.actors))
    )
    units = tuple(_unit_slots(unit) for unit in platform.units)
    slots = sum(u.slots for u in units)
    if options.policy_per_partition:
        problems += _mixed_policy_problems(options.policies)
        units, allowed = _for_each_policy(units, allowed, options.policies)
        options = replace(options, policies=options.policies[:1])
    least, most = options.partitions or (1, slots)
    problems += _partition_problems(least, most, slots, len(topology.actors), platform.name)
    if problems:
        raise _infeasible(problems)
    alike = None if options.policy_per_partition else _alike(platform, allowed, options.clocks)
    space = Space(units=units, allowed=allowed, least=least, most=most, options=options, alike=alike)
    if space.size == 0:
        raise InfeasibleDesign(
            f"no mapping of '{topology.name}' has between {least} and {most} partitions under the given pins",
            expected="allow other numbers of partitions, or unpin actors",
        )
    return space


def _whole_problems(topology: Topology, platform: Platform) -> list[Diagnostic]:
    """Return what makes every space of a network on a platform empty."""
    problems: list[Diagnostic] = []
    if not topology.actors:
        problems.append(Diagnostic(message=f"network '{topology.name}' has no actors: there is nothing to map"))
    if not platform.cpu_indices:
        problems.append(
            Diagnostic(
                message=f"platform '{platform.name}' has no CPU unit",
                expected="give it a unit with `kind: cpu`: sources, sinks and the run-time system need one",
            )
        )
    return problems


def _for_each_policy(
    units: tuple[UnitSlots, ...], allowed: tuple[tuple[int, ...], ...], policies: tuple[Policy, ...]
) -> tuple[tuple[UnitSlots, ...], tuple[tuple[int, ...], ...]]:
    """Return units of which each stands once for each policy, and the indices in them that actors may run on."""
    kinds = len(policies)
    entries = tuple(replace(unit, policy=policy) for unit in units for policy in policies)
    return entries, tuple(tuple(u * kinds + k for u in of_actor for k in range(kinds)) for of_actor in allowed)


def _unit_slots(unit: Unit) -> UnitSlots:
    if unit.kind == "cpu":
        return UnitSlots(unit=unit.name, slots=max(1, unit.cores), partition=unit.partition)
    return UnitSlots(unit=unit.name, slots=1, partition=unit.partition or "PG")


def _alike(
    platform: Platform, allowed: tuple[tuple[int, ...], ...], clocks: tuple[ClockDomain, ...]
) -> tuple[int, ...]:
    """Return for each unit the first one that can be exchanged with it: identical, and for no actor another choice."""
    names = [unit.name for unit in platform.units]

    def alike(a: int, b: int) -> bool:
        same = _identical(platform, a, b) and exchangeable(clocks, names[a], names[b])
        return same and all((a in units) == (b in units) for units in allowed)

    return tuple(next(v for v in range(u + 1) if alike(v, u)) for u in range(len(names)))


def _identical(platform: Platform, a: int, b: int) -> bool:
    """Return whether exchanging two units changes nothing but names: equal units, and links that map on links."""
    first, second = platform.units[a], platform.units[b]
    names = {first.name: second.name, second.name: first.name}
    if replace(first, name="", source="", partition=None) != replace(second, name="", source="", partition=None):
        return False
    if _shared_link_tells(platform, a, b):
        return False

    def links(exchanged: dict[str, str]) -> list[str]:
        ends = [sorted(exchanged.get(end, end) for end in link.between) for link in platform.links]
        plain = [replace(link, name="", source="", between=("", "")) for link in platform.links]
        return sorted(map(repr, zip(ends, plain, strict=True)))

    return links({}) == links(names)


def _shared_link_tells(platform: Platform, a: int, b: int) -> bool:
    """Return whether exchanging two units could change whom a shared link serves first: it goes by partition index.

    It could not if the units are GPUs whose shared links lead to the one CPU unit, and that stands before or behind
    both. Other units may read or write over a link that is not theirs: by a port that another reader makes ``host``.
    """
    shared = platform.shared_links
    if a == b or not shared or not platform.has_gpu:
        return False
    cpus = platform.cpu_indices
    if platform.dynamic_network or len(cpus) != 1 or min(a, b) <= cpus[0] <= max(a, b):
        return True
    cpu = platform.units[cpus[0]].name
    theirs = {platform.units[a].name, platform.units[b].name}
    return any(theirs.intersection(link.between) for link in shared if cpu not in link.between)


def _infeasible(problems: list[Diagnostic]) -> InfeasibleDesign:
    error = InfeasibleDesign(problems[0].message, expected=problems[0].expected)
    error.diagnostics = tuple(problems)
    return error


def _policy_problems(policies: tuple[Policy, ...]) -> list[Diagnostic]:
    found = [
        Diagnostic(
            message=f"policy {policy} cannot be searched",
            expected="a static order belongs to one mapping; estimate it with `dse estimate --mapping`",
        )
        for policy in policies
        if policy not in SEARCHED_POLICIES
    ]
    if not policies:
        found.append(Diagnostic(message="the space has no policy", expected="name at least one policy"))
    return found


def _mixed_policy_problems(policies: tuple[Policy, ...]) -> list[Diagnostic]:
    if "FULL_PARALLEL" not in policies:
        return []
    return [
        Diagnostic(
            message="FULL_PARALLEL cannot be mixed with other policies: it takes a core for each actor",
            expected="leave it out, or leave out --policy-per-partition",
        )
    ]


def _pinned_units(
    topology: Topology, platform: Platform, pins: tuple[tuple[str, str], ...], problems: list[Diagnostic]
) -> dict[int, int]:
    """Return the unit index of each pinned actor; what cannot be resolved is added to ``problems``."""
    unit_names = tuple(u.name for u in platform.units)
    actor_names = tuple(a.name for a in topology.actors)
    pinned: dict[int, int] = {}
    for actor_name, unit_name in pins:
        actor = topology.actor_index(actor_name)
        if actor is None:
            expected = nearest_names(actor_name, actor_names)
            problems.append(Diagnostic(message=f"pinned actor '{actor_name}' is not in the network", expected=expected))
        if unit_name not in unit_names:
            message = f"actor '{actor_name}' is pinned to unit '{unit_name}', which platform '{platform.name}' lacks"
            problems.append(Diagnostic(message=message, expected=nearest_names(unit_name, unit_names)))
        if actor is not None and unit_name in unit_names:
            unit = unit_names.index(unit_name)
            if pinned.setdefault(actor, unit) != unit:
                problems.append(Diagnostic(message=f"actor '{actor_name}' is pinned to two units"))
    return pinned


def _allowed_units(
    actor: int, topology: Topology, platform: Platform, pin: int | None, cpu_only: bool, problems: list[Diagnostic]
) -> tuple[int, ...]:
    """Return the units that an actor may run on, as indices."""
    name = topology.actors[actor].name
    capable = not cpu_only and platform.may_use_gpu(name)
    units = tuple(u for u, unit in enumerate(platform.units) if unit.kind == "cpu" or capable)
    if pin is None:
        return units
    if pin not in units:
        problems.append(
            Diagnostic(
                message=f"actor '{name}' is pinned to unit '{platform.units[pin].name}', where it cannot run",
                expected="it is not GPU-capable: see `gpu_capable` of the platform, its natives and its GPU weights",
            )
        )
    return (pin,)


def _partition_problems(least: int, most: int, slots: int, actors: int, platform: str) -> list[Diagnostic]:
    found = []
    if least < 1 or most < least:
        found.append(Diagnostic(message=f"{least} to {most} partitions is not a range", expected="1 <= least <= most"))
    elif most > slots:
        message = f"{most} partitions are asked for, but platform '{platform}' holds {slots}"
        expected = "each CPU core and each GPU holds one partition; ask for fewer or give the platform more cores"
        found.append(Diagnostic(message=message, expected=expected))
    elif actors and least > actors:
        message = f"at least {least} partitions are asked for, but the network has {actors} actors"
        found.append(Diagnostic(message=message, expected="a partition needs an actor"))
    return found
