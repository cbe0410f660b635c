"""Execution times of a static graph as weights: types of processors become kinds of units, as far as that goes.

Weights are of a kind of unit, cpu or gpu; a graph may have times for any number of types. One type stands for the CPU
cores: what the user says, else the one that units of the platform are named after, else the one that the file marks as
default, else the first. Another one may stand for the GPU. The times of all others are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.model.dataflow_graph import DataflowActor, DataflowGraph, ProcessorTime
from dse.model.weights import ComputeKey, Cost, UnitKind, WeightTable
from dse.sdf.unfold import phases_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphWeights:
    """The weights of a graph, and in words which times were taken and which were left out."""

    table: WeightTable
    words: tuple[str, ...]


def graph_weights(graph: DataflowGraph, processors: tuple[tuple[UnitKind, str], ...] = ()) -> GraphWeights | None:
    """Return the times of a graph as weights; None where it has none at all.

    ``processors``: the type of processor that stands for a kind of unit. Times on another type are not put in the
    place of missing ones, unless nothing is said: then each actor has its own default.

    Raises:
        OptionError: no actor has times on a type that is named.
    """
    types = tuple(dict.fromkeys(time.processor for actor in graph.actors for time in actor.times))
    if not types:
        return None
    wanted = dict(processors)
    for name in wanted.values():
        if name not in types:
            raise OptionError(f"no actor of '{graph.name}' has times on '{name}'", expected=nearest_names(name, types))
    compute: dict[ComputeKey, Cost] = {}
    taken: dict[str, None] = {}
    kinds: tuple[UnitKind, ...] = ("cpu", "gpu") if "gpu" in wanted else ("cpu",)
    for kind in kinds:
        for actor in graph.actors:
            time = _time(actor, wanted.get(kind))
            if time is not None:
                taken[time.processor] = None
                compute |= _costs(graph, actor, time, kind)
    table = WeightTable(
        name=graph.name,
        compute=compute,
        has_scheduling=False,
        has_transfers=False,
        manifest=(("times of", f"{graph.tool} file, on {', '.join(taken)}"),),
    )
    return GraphWeights(table=table, words=_words(graph, tuple(taken), types, wanted))


def phase_times(graph: DataflowGraph, wanted: str | None = None) -> tuple[tuple[Fraction, ...] | None, ...]:
    """Return for each actor what its phases take on a type of processor, None: on its default one; None where unknown.

    Raises:
        OptionError: no actor has times on the type that is named.
    """
    types = tuple(dict.fromkeys(time.processor for actor in graph.actors for time in actor.times))
    if wanted is not None and wanted not in types:
        raise OptionError(f"no actor of '{graph.name}' has times on '{wanted}'", expected=nearest_names(wanted, types))
    found = (_time(actor, wanted) for actor in graph.actors)
    return tuple(None if time is None else time.times for time in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTypes:
    """The types of processors that units of a platform are named after, as far as weights can tell them apart.

    ``processors``: the type for a kind of unit. ``others``: names of further units of types of their own, which take
    the times of their kind.
    """

    processors: tuple[tuple[UnitKind, str], ...]
    others: tuple[str, ...]


def types_of_units(graph: DataflowGraph, units: Sequence[tuple[str, UnitKind]]) -> NamedTypes:
    """Return the types that units, given as (name, kind), are named after: of each kind the first one.

    For the CPU a type counts where every actor that has times has some on it; actors without stay off a GPU.
    """
    timed = [{time.processor for time in actor.times} for actor in graph.actors if actor.times]
    known = set().union(*timed)
    whole = known.intersection(*timed)
    found: dict[UnitKind, str] = {}
    for name, kind in units:
        if name in (whole if kind == "cpu" else known):
            found.setdefault(kind, name)
    others = tuple(name for name, kind in units if name in known and name != found.get(kind))
    return NamedTypes(processors=tuple(found.items()), others=others)


def _time(actor: DataflowActor, wanted: str | None) -> ProcessorTime | None:
    """Return the times of an actor on a type, or on its default one; None where there are none."""
    if wanted is not None:
        return next((time for time in actor.times if time.processor == wanted), None)
    return next((time for time in actor.times if time.default), actor.times[0] if actor.times else None)


def _costs(graph: DataflowGraph, actor: DataflowActor, time: ProcessorTime, kind: UnitKind) -> dict[ComputeKey, Cost]:
    phases = phases_of(actor)
    return {
        (actor.name, name, kind): Cost(mean_cycles=time.times[k], frequency_mhz=graph.unit_mhz, origin="unknown")
        for name, k in zip(phases.names, phases.first, strict=True)
    }


def _words(
    graph: DataflowGraph, taken: tuple[str, ...], types: tuple[str, ...], wanted: dict[UnitKind, str]
) -> tuple[str, ...]:
    """Return in words which times are used, and which are not."""
    named = [f"those of '{name}' on the {kind}" for kind, name in wanted.items()]
    if "cpu" not in wanted:
        of = f"'{taken[0]}'" if len(taken) == 1 else "each actor's default processor"
        named.insert(0, f"those of {of} on the CPU")
    left = [name for name in types if name not in taken]
    more = f" (times on {_list(left)} are left out: --processor TYPE takes others)" if left else ""
    return (f"execution times of the {graph.tool} file, {', '.join(named)}{more}",)


def _list(names: list[str]) -> str:
    """Return names in a row, of many the first few."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more types"
