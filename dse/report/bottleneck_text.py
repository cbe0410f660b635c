"""The critical path of a mapping in tables and sentences, readable with ten actors and with a hundred."""

from collections.abc import Sequence

from rich.table import Table

from dse.model.critical_path import Cause, SegmentKind
from dse.report.bottlenecks import ActorSlack, Bottlenecks, CauseShare, FifoShare, LinkShare, PathShare
from dse.report.quantities import percent_text, time_text, wrapped
from dse.report.ranking import render
from dse.report.tables import NamesTable

_HEADS = ("sched", "read", "comp", "write", "arrive")
"""Heads of ``SegmentKind``, short."""
_DOES = ("scheduling", "reading", "processing", "writing", "tokens or room on the way to another core")
_COMES = {
    Cause.OWN: "because the actor's firing before had ended",
    Cause.CORE: "because another actor had left the core",
    Cause.TOKENS: "because tokens came (the FIFO had been empty)",
    Cause.ROOM: "because room came (the FIFO had been full)",
    Cause.LINK: "because the link had ended another transfer",
    Cause.PUBLISHED: "because it was published for another core",
    Cause.LOOK: "because what was published before had arrived",
}


def path_text(found: Bottlenecks, top: int) -> str:
    """Return all that is said of a path; of long lists the first ``top`` rows, and how many more there are."""
    parts = [*_headline(found), ""]
    for title, rows, table in (
        ("bottlenecks: what each action has of the path, in % of the makespan", found.actions, shares_table),
        ("the same by actor", found.actors, shares_table),
    ):
        parts += [title + ":", render(table(rows[:top], found.makespan)), *_more(len(rows), top, "with less"), ""]
    if found.fifos:
        parts += [_FIFOS, render(fifos_table(found.fifos[:top], found.makespan))]
        parts += [*_more(len(found.fifos), top, "with less"), ""]
    used = [link for link in found.links if link.moving or link.waits]
    if used:
        parts += ["links on the path:", render(links_table(used, found.makespan)), ""]
    slack = sorted((of for of in found.slack if of.least is not None), key=lambda of: (of.least, of.median))
    parts += [_SLACK, *([_AT_LEAST] if found.slack_at_least else []), render(slack_table(slack[:top], found))]
    parts += _more(len(slack), top, "with more slack; --slack F.csv writes that of every firing")
    return "\n".join(parts)


_FIFOS = wrapped(
    "FIFOs on the path: time of transfers, and how often it comes through an empty or a full FIFO, with the time for"
    " which only that kept a firing from beginning:"
)
_SLACK = wrapped(
    "slack: by how much the firings of an actor may begin later, all else in its order, without a longer run"
    " (critical: not at all):"
)
_AT_LEAST = wrapped(
    "transfers ask links here: a firing is thought to move as a whole, so that the true slack may be more than this"
)


def _headline(found: Bottlenecks) -> list[str]:
    time = time_text(found.makespan, found.tick_unit)
    what = (
        f"critical path to the last event before the deadlock: {time}" if found.deadlock else f"critical path: {time}"
    )
    firings = sum(share.firings for share in found.actors)
    lines = [f"{what}, through {firings:,} firings"]
    made_of = [
        f"{percent_text(found.kinds[kind], found.makespan)} {_DOES[kind]}"
        for kind in sorted(SegmentKind, key=lambda kind: -found.kinds[kind])
        if found.kinds[kind]
    ]
    if made_of:
        lines.append(f"made of: {', '.join(made_of)}")
    comes = [
        f"{share.times:,}x {_COMES[share.cause]}{_alone(share, found.makespan)}"
        for share in found.causes
        if share.cause in _COMES
    ]
    if comes:
        lines.append(f"a firing on it begins: {'; '.join(comes)}")
    return [*map(wrapped, (*lines, *_advice(found)))]


def _alone(share: CauseShare, makespan: int) -> str:
    """Return for how long only a cause kept firings from beginning, where that is a fault of the mapping."""
    counts = share.cause in (Cause.TOKENS, Cause.ROOM, Cause.LINK) and 2000 * share.waited >= makespan
    return f", {percent_text(share.waited, makespan)} of the time only for that" if counts else ""


def _advice(found: Bottlenecks) -> list[str]:
    """Return what the largest bottleneck would give, as far as the path alone can tell."""
    if not found.actions or not found.makespan or found.deadlock:
        return []
    first = found.actions[0]
    left = found.makespan - first.total
    gain = f"up to {found.makespan / left:.2f}x" if left else "all of it"
    lines = [
        f"largest bottleneck: {first.name} has {percent_text(first.total, found.makespan)} of the path; without it:"
        f" {gain}, as long as firings keep their order and no other path is as long"
    ]
    costly = max(found.fifos, key=lambda fifo: fifo.full_waited, default=None)
    if costly is not None and 200 * costly.full_waited >= found.makespan:
        lines.append(
            f"{costly.name} is full {costly.full:,}x on the path and alone took"
            f" {percent_text(costly.full_waited, found.makespan)}: try more than its {costly.capacity_tokens:,} tokens"
        )
    return lines


def _more(count: int, top: int, how: str) -> list[str]:
    return [f"({count - top:,} more {how}; --top {count} shows all)"] if count > top else []


def _share(ticks: int, makespan: int) -> str:
    """Return a share in per cent without its sign, nothing for none."""
    return percent_text(ticks, makespan).removesuffix(" %") if ticks else ""


def shares_table(shares: Sequence[PathShare], makespan: int) -> Table:
    """Return a row for each share; kinds of which none has any are left out."""
    table = NamesTable()
    table.add_column("")
    table.add_column("in")
    shown = [kind for kind in SegmentKind if any(share.ticks[kind] for share in shares)]
    for head in ("path %", *(_HEADS[kind] for kind in shown), "firings on it"):
        table.add_column(head, justify="right")
    for share in shares:
        ticks = (_share(share.ticks[kind], makespan) for kind in shown)
        table.add_row(share.name, share.partition, _share(share.total, makespan), *ticks, f"{share.firings:,}")
    return table


def fifos_table(fifos: Sequence[FifoShare], makespan: int) -> Table:
    """Return a row for each FIFO; columns in which none has anything are left out."""
    table = NamesTable()
    table.add_column("FIFO")
    rows = [
        (
            f"{f.capacity_tokens:,}",
            _share(f.moving, makespan),
            _share(f.arrival, makespan),
            _waits(f.empty, f.empty_waited, makespan),
            _waits(f.full, f.full_waited, makespan),
        )
        for f in fifos
    ]
    heads = ("size", "transfers %", "arrive %", "empty", "full")
    shown = [c for c in range(len(heads)) if any(row[c] for row in rows)]
    for c in shown:
        table.add_column(heads[c], justify="right")
    for f, row in zip(fifos, rows, strict=True):
        table.add_row(f.name, *(row[c] for c in shown))
    return table


def _waits(times: int, ticks: int, makespan: int) -> str:
    return f"{times:,}x {percent_text(ticks, makespan)}" if times else ""


def links_table(links: Sequence[LinkShare], makespan: int) -> Table:
    """Return a row for each link: transfers over it on the path, and how often and long one waited for another."""
    table = NamesTable()
    table.add_column("link")
    for head in ("transfers %", "waits for it"):
        table.add_column(head, justify="right")
    for link in links:
        table.add_row(link.name, _share(link.moving, makespan), _waits(link.waits, link.waited, makespan))
    return table


def slack_table(slack: Sequence[ActorSlack], found: Bottlenecks) -> Table:
    """Return a row for each actor: least and median slack, and how many firings have none."""
    table = NamesTable()
    table.add_column("actor")
    for head in ("least", "median", "critical", "firings"):
        table.add_column(head, justify="right")
    for of in slack:
        times = (time_text(ticks, found.tick_unit) if ticks is not None else "" for ticks in (of.least, of.median))
        table.add_row(of.name, *times, f"{of.critical:,}", f"{of.firings:,}")
    return table
