"""From options and a setting to the space that is searched, with everything that is assumed in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dse.estimate.deadlock import always_deadlocks
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.merged import merged_space
from dse.explore.space.space import Space, SpaceOptions
from dse.flows.buffers import parse_sizing_method, sized_capacities
from dse.flows.capacities import Capacities, read_capacities, search_capacities
from dse.flows.defaults import cpu_only_actors
from dse.flows.options import ExploreOptions
from dse.flows.setting import Setting
from dse.model.design_point import DesignPoint
from dse.sizing.methods import SIZING_METHODS


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedSpace:
    """A space, and what is assumed in it."""

    space: Space
    assumed: tuple[str, ...]


def searched_space(options: ExploreOptions, setting: Setting, domains: tuple[ClockDomain, ...]) -> SearchedSpace:
    """Return the space of the mappings that ``options`` allow. Raises ``InfeasibleDesign`` where there is none."""
    choices = _alive([_capacities(text, options, setting) for text in options.buffers or ("",)], setting)
    cpu_only = cpu_only_actors(setting.tables, setting.network)
    built = build_space(
        setting.trace.topology,
        setting.platform,
        SpaceOptions(
            partitions=options.partitions,
            pins=options.pins,
            policies=options.policies,
            policy_per_partition=options.policy_per_partition,
            capacities=tuple(dict.fromkeys(choice.tokens for choice in choices)),
            release=options.release,
            transfers=options.transfers,
            clocks=domains,
        ),
        cpu_only=cpu_only.actors,
    )
    return SearchedSpace(
        space=merged_space(built, setting.tables),
        assumed=(*_assumed(choices), *cpu_only.assumed),
    )


def _capacities(text: str, options: ExploreOptions, setting: Setting) -> Capacities:
    """Return the capacities that one ``--buffers`` asks for."""
    if text in SIZING_METHODS:
        return sized_capacities(parse_sizing_method(text), setting, options.problem.engine)
    return read_capacities(text, setting) if text else search_capacities(setting)


def _alive(choices: list[Capacities], setting: Setting) -> list[Capacities]:
    """Return the capacities to choose from without those with which every mapping deadlocks, if any are left."""
    if len(choices) == 1:
        return choices
    alive = [choice for choice in choices if not always_deadlocks(setting.tables, choice.tokens)]
    left_out = len(choices) - len(alive)
    if not alive or not left_out:
        return choices
    note = f"{left_out} of {len(choices)} choices of --buffers left out: with them every mapping deadlocks"
    return [replace(alive[0], assumed=(*alive[0].assumed, note)), *alive[1:]]


def _assumed(choices: Sequence[Capacities]) -> list[str]:
    return [note for choice in choices for note in choice.assumed]


def reference_point(space: Space) -> DesignPoint:
    """Return the mapping on one core, or the first of a space where that has none."""
    return space.one_core() or first_point(space)


def first_point(space: Space) -> DesignPoint:
    """Return the first point of a space."""
    return space.to_point(next(space.candidates()))


def holds(space: Space, n_partitions: int) -> bool:
    """Return whether the space holds a point that was evaluated; only the reference mapping on one core may not be."""
    return n_partitions > 1 or space.least == 1
