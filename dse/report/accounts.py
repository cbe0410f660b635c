"""Where the time of each actor and FIFO went, by name: the accounts of an estimate as people and programs read them.

Times are ticks. In a deadlock they end with the last event.
"""

from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, TickUnit
from dse.model.trace import Topology, Trace, tokens_of_buffers
from dse.report.quantities import percent_text, time_text, wrapped
from dse.report.ranking import render, unit_text
from dse.report.tables import NamesTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorTimes:
    """Where one actor's time went; the nine categories add up to the makespan exactly.

    ``unit``: with its clock if that was chosen. ``blocked_reading``: an input lacked tokens; ``blocked_writing``: an
    output lacked room; ``idle``: ready, but no core of the partition was free; ``finished``: after the last firing.
    """

    name: str
    partition: str
    unit: str
    firings: int
    scheduling: int
    reading: int
    processing: int
    writing: int
    link_waiting: int
    blocked_reading: int
    blocked_writing: int
    idle: int
    finished: int

    @property
    def busy(self) -> int:
        """The time that the actor held a core."""
        return self.scheduling + self.reading + self.processing + self.writing + self.link_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoTimes:
    """What one FIFO carried, and whom it kept waiting; an output port with several readers has a FIFO for each.

    ``crosses``: its ends are in two partitions. ``tokens``: written in the whole trace. ``max_tokens``: the highest
    filling, visible and in flight. ``read_blockings`` and ``read_blocked``: how often, and for how many ticks in all,
    its reader waited for tokens; the other two: its writer for room.
    """

    name: str
    source: str
    source_port: str
    target: str
    target_port: str
    crosses: bool
    capacity_tokens: int
    tokens: int
    max_tokens: int
    read_blockings: int
    read_blocked: int
    write_blockings: int
    write_blocked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAccounts:
    """The accounts of one mapping, actors and FIFOs in their declared order."""

    makespan: int
    """In ticks; in a deadlock the time of the last event."""
    tick_unit: TickUnit
    actors: tuple[ActorTimes, ...]
    fifos: tuple[FifoTimes, ...]


def named_accounts(trace: Trace, point: DesignPoint, estimate: Estimate) -> NamedAccounts:
    """Return the accounts of the ``estimate`` of a point by name."""
    topology = trace.topology
    owner = point.partition_of(len(topology.actors))
    return NamedAccounts(
        makespan=estimate.makespan,
        tick_unit=estimate.tick_unit,
        actors=_actors(topology, point, estimate, owner),
        fifos=_fifos(trace, point, estimate, owner),
    )


def _actors(
    topology: Topology, point: DesignPoint, estimate: Estimate, owner: tuple[int, ...]
) -> tuple[ActorTimes, ...]:
    return tuple(
        ActorTimes(
            name=actor.name,
            partition=point.partitions[index].name,
            unit=unit_text(point.partitions[index]),
            firings=account.firings,
            scheduling=account.scheduling,
            reading=account.reading,
            processing=account.processing,
            writing=account.writing,
            link_waiting=account.link_waiting,
            blocked_reading=account.blocked_reading,
            blocked_writing=account.blocked_writing,
            idle=account.idle,
            finished=account.finished,
        )
        for actor, account, index in zip(topology.actors, estimate.actors, owner, strict=True)
    )


def _fifos(trace: Trace, point: DesignPoint, estimate: Estimate, owner: tuple[int, ...]) -> tuple[FifoTimes, ...]:
    topology, found = trace.topology, []
    carried = tokens_of_buffers(trace)
    for index, (buffer, account) in enumerate(zip(topology.buffers, estimate.buffers, strict=True)):
        source, target = topology.actors[buffer.source], topology.actors[buffer.target]
        found.append(
            FifoTimes(
                name=topology.buffer_name(index),
                source=source.name,
                source_port=source.outputs[buffer.source_port],
                target=target.name,
                target_port=target.inputs[buffer.target_port],
                crosses=owner[buffer.source] != owner[buffer.target],
                capacity_tokens=point.capacities[index],
                tokens=carried[index],
                max_tokens=account.max_tokens,
                read_blockings=account.read_blockings,
                read_blocked=account.read_blocked,
                write_blockings=account.write_blockings,
                write_blocked=account.write_blocked,
            )
        )
    return tuple(found)


def actor_json(actor: ActorTimes) -> dict[str, object]:
    """Return the JSON object of an actor: its fields, and the time that it was ``busy``."""
    return {**asdict(actor), "busy": actor.busy}


def fifo_json(fifo: FifoTimes) -> dict[str, object]:
    """Return the JSON object of a FIFO: its fields."""
    return asdict(fifo)


def accounts_json(accounts: NamedAccounts) -> dict[str, object]:
    """Return the keys that accounts add to a JSON object of a mapping."""
    return {
        "actors": [actor_json(actor) for actor in accounts.actors],
        "fifos": [fifo_json(fifo) for fifo in accounts.fifos],
    }


_SHARES = ("sched", "read", "comp", "write", "link", "input", "room", "core", "done")
"""Heads of the nine categories of an actor in their order, short: the table has to fit a terminal."""
SHARES_LEGEND = (
    "sched, read, comp, write, link: the actor held a core for scheduling, its transfers and actions, and waiting for"
    " a link; input, room, core: it waited for tokens, for room in a FIFO, for a core; done: after its last firing"
)
_WIDE = 1 << 16


def actors_table(accounts: NamedAccounts) -> Table:
    """Return a row for each actor: its firings, its busy time, and the shares of the makespan in per cent.

    Categories in which no actor spent time are left out.
    """
    table = NamesTable()
    table.add_column("actor")
    table.add_column("in")
    spent = [_categories(actor) for actor in accounts.actors]
    shown = [c for c in range(len(_SHARES)) if any(ticks[c] for ticks in spent)]
    for head in ("firings", "busy", *(_SHARES[c] for c in shown)):
        table.add_column(head, justify="right")
    for a, ticks in zip(accounts.actors, spent, strict=True):
        shares = (_share(ticks[c], accounts.makespan) for c in shown)
        table.add_row(a.name, a.partition, f"{a.firings:,}", time_text(a.busy, accounts.tick_unit), *shares)
    return table


def _categories(a: ActorTimes) -> tuple[int, ...]:
    """Return the nine categories in the order of ``_SHARES``."""
    work = (a.scheduling, a.reading, a.processing, a.writing, a.link_waiting)
    return (*work, a.blocked_reading, a.blocked_writing, a.idle, a.finished)


def fifos_table(accounts: NamedAccounts) -> Table:
    """Return a row for each FIFO: tokens carried, highest filling and size, how often and how long it kept waiting."""
    table = NamesTable()
    table.add_column("FIFO")
    for head in ("tokens", "most", "size", "reader waits", "writer waits"):
        table.add_column(head, justify="right")
    for f in accounts.fifos:
        table.add_row(
            f.name,
            f"{f.tokens:,}",
            f"{f.max_tokens:,}",
            f"{f.capacity_tokens:,}",
            _waits(f.read_blockings, f.read_blocked, accounts.makespan),
            _waits(f.write_blockings, f.write_blocked, accounts.makespan),
        )
    return table


def accounts_text(accounts: NamedAccounts) -> str:
    """Return both tables, as wide as they need to be: names are whole, so that they can be searched for."""
    wide = Console(width=_WIDE, color_system=None, highlight=False, markup=False, emoji=False)
    actors, fifos = (render(table, console=wide) for table in (actors_table(accounts), fifos_table(accounts)))
    time = time_text(accounts.makespan, accounts.tick_unit)
    return "\n".join(
        (
            f"where the time of the actors went, in % of {time}:",
            actors,
            wrapped(f"({SHARES_LEGEND})"),
            "",
            "what the FIFOs carried, the most that was in them at once, and how often and long they kept waiting:",
            fifos,
        )
    )


def _share(ticks: int, makespan: int) -> str:
    """Return a share in per cent without its sign, nothing for none."""
    return percent_text(ticks, makespan).removesuffix(" %") if ticks else ""


def _waits(times: int, ticks: int, makespan: int) -> str:
    return f"{times:,}x {percent_text(ticks, makespan)}" if times else ""
