"""Why a mapping takes the time it takes: where the time went, who waits for what, which lower bound binds.

Everything is read off one estimate; nothing is simulated here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from dse.model.design_point import DesignPoint
from dse.model.estimate import BufferAccount, Deadlock, Estimate
from dse.model.study import LowerBound
from dse.model.trace import Topology
from dse.report.quantities import percent_text, time_text
from dse.report.ranking import Busiest, busiest_partition, unit_text
from dse.report.tables import NamesTable

TOP = 5
"""So many blocked actors and blocking FIFOs are named."""
CORE_CATEGORIES = ("scheduling", "reading", "processing", "writing", "link_waiting", "unoccupied")
"""The categories of a partition's core time, in the order of bars and tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTime:
    """Core time of one partition by category (``CORE_CATEGORIES``), in ticks."""

    name: str
    unit: str
    cores: int
    ticks: tuple[int, ...]

    @property
    def core_time(self) -> int:
        """All core time of the partition."""
        return sum(self.ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An actor or a FIFO with the time that it was kept waiting or kept others waiting, in ticks."""

    name: str
    by_tokens: int
    """For want of tokens: blocked reading."""
    by_space: int
    """For want of space: blocked writing."""
    by_core: int = 0
    """Ready, but its core was taken; actors only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why a mapping takes the time it takes. Lists are sorted, the largest first."""

    makespan: int
    partitions: tuple[PartitionTime, ...]
    busiest: Busiest | None
    waiting_actors: tuple[Waiting, ...]
    blocking_fifos: tuple[Waiting, ...]
    lower_bounds: tuple[LowerBound, ...]
    verdict: str
    """One sentence: what limits this mapping."""


def reasons_of(
    topology: Topology, point: DesignPoint, estimate: Estimate, lower_bounds: tuple[LowerBound, ...]
) -> Reasons:
    """Return the reasons behind an estimate without deadlock."""
    partitions = tuple(
        PartitionTime(
            name=p.name,
            unit=unit_text(p),
            cores=account.cores,
            ticks=(
                account.scheduling,
                account.reading,
                account.processing,
                account.writing,
                account.link_waiting,
                account.unoccupied,
            ),
        )
        for p, account in zip(point.partitions, estimate.partitions, strict=True)
    )
    actors = [
        Waiting(name=a.name, by_tokens=t.blocked_reading, by_space=t.blocked_writing, by_core=t.idle)
        for a, t in zip(topology.actors, estimate.actors, strict=True)
    ]
    fifos = [_fifo(topology, b, account) for b, account in enumerate(estimate.buffers)]
    busiest = busiest_partition(point, estimate.partitions)
    alone = "" if busiest is None else _alone(topology, point, partitions, busiest)
    return Reasons(
        makespan=estimate.makespan,
        partitions=partitions,
        busiest=busiest,
        waiting_actors=_top(actors),
        blocking_fifos=_top(fifos),
        lower_bounds=lower_bounds,
        verdict=_verdict(estimate, busiest, lower_bounds, alone),
    )


def _fifo(topology: Topology, buffer: int, account: BufferAccount) -> Waiting:
    return Waiting(name=topology.buffer_name(buffer), by_tokens=account.read_blocked, by_space=account.write_blocked)


def _top(waits: list[Waiting]) -> tuple[Waiting, ...]:
    """Return the longest waits; those that waited for their core alone are not of interest here."""
    found = [w for w in waits if w.by_tokens + w.by_space > 0]
    return tuple(sorted(found, key=lambda w: -(w.by_tokens + w.by_space))[:TOP])


def _alone(topology: Topology, point: DesignPoint, partitions: Sequence[PartitionTime], busiest: Busiest) -> str:
    """Return what a faster actor would give where the busiest partition is that actor alone; else nothing."""
    own = next(p.actors for p in point.partitions if p.name == busiest.partition)
    if len(own) != 1:
        return ""
    name, share = topology.actors[own[0]].name, 100 * busiest.busy / busiest.core_time
    text = f"{name} alone keeps {busiest.partition} {share:.0f} % busy: no mapping helps but on a faster unit; "
    following = max((p for p in partitions if p.name != busiest.partition), key=_load, default=None)
    if following is None or _load(following) == 0:
        return f"{text}as much as {name} is faster, so is the whole"
    load = _load(following)
    gain = f"a faster {name} gives up to {1 / load:.2f}x"
    return f"{text}{gain}, until {following.name} limits it ({100 * load:.0f} % busy)"


def _load(partition: PartitionTime) -> float:
    """Return the share of the core time of a partition in which it is busy."""
    return 1 - partition.ticks[-1] / partition.core_time if partition.core_time else 0.0


def _verdict(estimate: Estimate, busiest: Busiest | None, bounds: Sequence[LowerBound], alone: str) -> str:
    """Return what limits the mapping: its load, the space of the FIFOs, or the order in which tokens come.

    ``alone``: what a faster actor would give where the busiest partition is one actor; else empty.
    """
    if busiest is None or estimate.makespan == 0:
        return "nothing takes any time: are the weights all zero?"
    if bounds and estimate.makespan == bounds[0].makespan:
        return f"it meets a proven lower bound ({bounds[0].reason}): no mapping of this space is faster"
    share = busiest.busy / busiest.core_time
    if share >= 0.9:
        return alone or (
            f"the load of {busiest.partition} limits it ({100 * share:.0f} % busy): "
            "only taking work off that partition helps"
        )
    starved = sum(a.blocked_reading for a in estimate.actors)
    crowded = sum(a.blocked_writing for a in estimate.actors)
    if crowded > starved:
        return "actors wait for space more than for tokens: larger FIFOs may help"
    return "actors wait for tokens: the dependencies between firings limit it, more than the load of any partition"


def partition_table(reasons: Reasons) -> Table:
    """Return the core time of each partition in per cent of its cores' time."""
    table = NamesTable()
    for name in ("partition", "unit"):
        table.add_column(name)
    for name in CORE_CATEGORIES:
        table.add_column(name.replace("_", " "), justify="right", no_wrap=True)
    for p in reasons.partitions:
        unit = p.unit if p.cores == 1 else f"{p.unit} ({p.cores} cores)"
        table.add_row(p.name, unit, *(percent_text(ticks, p.core_time) for ticks in p.ticks))
    return table


def reason_lines(reasons: Reasons, estimate: Estimate) -> list[str]:
    """Return the reasons in words, one a line, without the table of partitions."""
    lines = [f"what limits it: {reasons.verdict}"]
    waits = [_wait_text(w, reasons.makespan) for w in reasons.waiting_actors if _counts(w, reasons)]
    if waits:
        lines.append("waiting longest: " + "; ".join(waits[:3]))
    fifos = [_fifo_text(w, reasons.makespan) for w in reasons.blocking_fifos if _counts(w, reasons)]
    if fifos:
        lines.append("blocking most: " + "; ".join(fifos[:3]))
    for number, bound in enumerate(reasons.lower_bounds):
        binding = " (the one that binds)" if number == 0 and len(reasons.lower_bounds) > 1 else ""
        lines.append(f"lower bound: {time_text(bound.makespan, estimate.tick_unit)}, {bound.reason}{binding}")
    return lines


def _counts(wait: Waiting, reasons: Reasons) -> bool:
    """Return whether a wait rounds to something."""
    return 2000 * max(wait.by_tokens, wait.by_space) >= reasons.makespan


def _wait_text(wait: Waiting, makespan: int) -> str:
    """Return the waits of an actor in words, those below 0.05 % left out."""
    parts = [
        f"{percent_text(ticks, makespan)} for {what}"
        for ticks, what in ((wait.by_tokens, "tokens"), (wait.by_space, "space"))
        if 2000 * ticks >= makespan
    ]
    return f"{wait.name} {', '.join(parts)}"


def _fifo_text(wait: Waiting, makespan: int) -> str:
    if wait.by_tokens >= wait.by_space:
        return f"{wait.name} empty {percent_text(wait.by_tokens, makespan)}"
    return f"{wait.name} full {percent_text(wait.by_space, makespan)}"


def deadlock_lines(topology: Topology, deadlock: Deadlock, capacities: Sequence[int]) -> list[str]:
    """Return a deadlock in words: who waits for what, and which capacities would help."""
    lines = []
    for row in deadlock.rows:
        actor = topology.actors[row.actor]
        what = (
            f"{row.need} tokens, {row.have} there"
            if row.kind == "tokens"
            else (f"space for {row.need} tokens, {row.have} free of {capacities[row.buffer]}")
        )
        lines.append(
            f"{actor.name}.{actor.actions[row.action].name} waits on {topology.buffer_name(row.buffer)} for {what}"
        )
    if not deadlock.sought:
        return lines
    if deadlock.remedy is None:
        lines.append("no buffer capacity helps: tokens are missing, not space")
        return lines
    raised = [
        f"{topology.buffer_name(b)} {before} -> {after}"
        for b, (before, after) in enumerate(zip(capacities, deadlock.remedy, strict=True))
        if after > before
    ]
    lines.append("larger capacities that would do: " + "; ".join(raised))
    return lines
