"""What the algorithmic critical path of a program is made of, in numbers, tables and sentences. Times are ticks."""

from dataclasses import dataclass

import numpy as np
from rich.table import Table

from dse.base.escaping import shown
from dse.model.dependencies import DEPENDENCY_KINDS
from dse.model.estimate import TickUnit
from dse.model.program_path import IN_ORDER, AlgorithmicPath
from dse.model.trace import Trace
from dse.report.quantities import percent_text, time_text, wrapped
from dse.report.ranking import render
from dse.report.tables import NamesTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOnPath:
    """What an action has of the path: its time and firings there, and the least slack of all its firings."""

    name: str
    ticks: int
    firings: int
    of_firings: int
    least_slack: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyOnPath:
    """How often the path goes through a dependency. ``of``: the FIFO, port or variable; empty where there is none."""

    kind: str
    of: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPath:
    """What the algorithmic path is made of; lists are sorted, the largest first."""

    length: int
    tick_unit: TickUnit
    work: int
    in_order: int
    """Length of the path on which the firings of each actor also follow each other."""
    accesses: bool
    unit_kind: str
    firings: int
    actions: tuple[ActionOnPath, ...]
    dependencies: tuple[DependencyOnPath, ...]


def program_path(trace: Trace, path: AlgorithmicPath, in_order: int) -> ProgramPath:
    """Return what a path is made of; ``in_order``: length of the path with the order of each actor's firings."""
    kinds = list(zip(path.kind.tolist(), path.label.tolist(), strict=True))
    times: dict[tuple[str, str], int] = {}
    for kind, label in kinds:
        if kind >= 0:
            name = dependency_name(kind), dependency_of(trace, path, kind, label)
            times[name] = times.get(name, 0) + 1
    dependencies = [DependencyOnPath(kind=kind, of=of, times=n) for (kind, of), n in times.items()]
    return ProgramPath(
        length=path.length,
        tick_unit=path.tick_unit,
        work=path.work,
        in_order=in_order,
        accesses=path.accesses,
        unit_kind=path.unit_kind,
        firings=len(path.firing),
        actions=_actions(trace, path),
        dependencies=tuple(sorted(dependencies, key=lambda d: (-d.times, d.kind, d.of))),
    )


def dependency_name(kind: int) -> str:
    """Return the name of a dependency of ``AlgorithmicPath.kind``; empty at the first firing."""
    return "order of firings" if kind == IN_ORDER else DEPENDENCY_KINDS[kind] if kind >= 0 else ""


def dependency_of(trace: Trace, path: AlgorithmicPath, kind: int, label: int) -> str:
    """Return of which FIFO, port or variable a dependency is; empty where of none."""
    if label < 0 or kind < 0:
        return ""
    return trace.topology.buffer_name(label) if DEPENDENCY_KINDS[kind] == "tokens" else path.names[label]


def _actions(trace: Trace, path: AlgorithmicPath) -> tuple[ActionOnPath, ...]:
    found = []
    for a, (actor, ids, slack) in enumerate(zip(trace.topology.actors, trace.firings, path.slack, strict=True)):
        n = len(actor.actions)
        mine = path.actor == a
        here = np.asarray(ids)[path.firing[mine]]
        times, ticks = np.bincount(here, minlength=n), np.zeros(n, dtype=np.int64)
        np.add.at(ticks, here, (path.end - path.start)[mine])
        least = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(least, ids, slack)
        count = np.bincount(ids, minlength=n)
        found += [
            ActionOnPath(
                name=f"{actor.name}.{action.name}",
                ticks=int(ticks[x]),
                firings=int(times[x]),
                of_firings=int(count[x]),
                least_slack=int(least[x]),
            )
            for x, action in enumerate(actor.actions)
            if count[x]
        ]
    return tuple(sorted(found, key=lambda action: (-action.ticks, action.least_slack)))


_LOWER_BOUND = (
    "this is a lower bound: the trace tells tokens, ports and FSMs, but not which state variables and guards its"
    " firings touched"
)
_RECORDS = "; this records them, for `dse why` again:"


def program_text(found: ProgramPath, record: str, top: int) -> str:
    """Return all that is said of a path; ``record``: the command that records what it lacks, empty if nothing."""
    length, work, in_order = (time_text(t, found.tick_unit) for t in (found.length, found.work, found.in_order))
    least = "" if found.accesses else "at least "
    firings = f"{found.firings:,} firing{'s' * (found.firings != 1)}"
    lines = [
        f"critical path of the program itself: {least}{length}, through {firings}",
        f"all firings together take {work}: side by side, however many cores, {_side_by_side(found)}",
        f"with the firings of each actor one after the other: {in_order}; no mapping on {found.unit_kind.upper()} cores"
        " takes less",
    ]
    parts = list(map(wrapped, lines))
    if not found.accesses:
        parts += [wrapped(_LOWER_BOUND + _RECORDS), f"  {shown(record)}"] if record else [wrapped(_LOWER_BOUND)]
    parts += ["", "what each action has of the path:"]
    parts.append(render(_actions_table(found, top)))
    if len(found.actions) > top:
        parts.append(f"({len(found.actions) - top:,} more with less; --top {len(found.actions)} shows all)")
    if found.dependencies:
        parts += ["", "through what the path goes from firing to firing:", render(_dependencies_table(found, top))]
    if len(found.dependencies) > top:
        parts.append(f"({len(found.dependencies) - top:,} more)")
    return "\n".join(parts)


def _side_by_side(found: ProgramPath) -> str:
    if not found.length:
        return "nothing takes any time"
    return (
        f"up to {found.work / found.length:.2f}x as fast"
        if found.accesses
        else "what is known allows" + (f" {found.work / found.length:.2f}x")
    )


def _actions_table(found: ProgramPath, top: int) -> Table:
    table = NamesTable()
    table.add_column("")
    for head in ("path %", "firings on it", "of", "least slack"):
        table.add_column(head, justify="right")
    for action in found.actions[:top]:
        share = percent_text(action.ticks, found.length).removesuffix(" %") if action.ticks else ""
        slack = time_text(action.least_slack, found.tick_unit)
        table.add_row(action.name, share, f"{action.firings:,}", f"{action.of_firings:,}", slack)
    return table


def _dependencies_table(found: ProgramPath, top: int) -> Table:
    table = NamesTable()
    table.add_column("dependency")
    table.add_column("of")
    table.add_column("times", justify="right")
    for dependency in found.dependencies[:top]:
        table.add_row(dependency.kind, dependency.of, f"{dependency.times:,}")
    return table
