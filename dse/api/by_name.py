"""Accounts of an estimate by name: ``found.actors["idct"].blocked_reading``; as tables for pandas and notebooks."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dse.api.frames import DataFrame, Row, TimeUnit, check_time_unit, frame, in_unit
from dse.api.markup import block, table
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.base.registry import nearest_names
from dse.model.estimate import TickUnit
from dse.report.accounts import ActorTimes, FifoTimes, NamedAccounts, actor_json, fifo_json
from dse.report.quantities import time_text
from dse.report.why import CORE_CATEGORIES, PartitionTime

_Account = TypeVar("_Account")
SHOWN = 40
"""So many lines of a table are shown in a notebook; ``to_frame`` has all."""


class UnknownName(OptionError, KeyError):
    """There is no actor, FIFO or partition of that name; the message names the nearest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns(Generic[_Account]):
    """How accounts of one kind become lines of a table. ``times``: the columns that are times."""

    kind: str
    row: Callable[[_Account], Row]
    times: frozenset[str]


class AccountsByName(Mapping[str, _Account]):
    """Accounts of one kind, each under its name, in the declared order. Times are ticks of ``tick_unit``."""

    def __init__(self, accounts: Sequence[tuple[str, _Account]], columns: Columns[_Account], unit: TickUnit) -> None:
        self._accounts = dict(accounts)
        self._columns = columns
        self.tick_unit: TickUnit = unit
        """Unit of the times: ps, or cycles where no clock is known."""

    def __getitem__(self, name: str) -> _Account:
        """Return the account of that name. Raises ``UnknownName``, with the nearest names, where there is none."""
        if name not in self._accounts:
            raise UnknownName(
                f"there is no {self._columns.kind} '{name}'", expected=nearest_names(str(name), tuple(self._accounts))
            )
        return self._accounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._accounts)

    def __len__(self) -> int:
        return len(self._accounts)

    def __repr__(self) -> str:
        names = [shown(name) for name in self._accounts]
        more = ", ..." if len(names) > 3 else ""
        return f"<{len(names)} {self._columns.kind}s by name: {', '.join(names[:3])}{more}>"

    def to_frame(self, unit: TimeUnit = "ticks") -> DataFrame:
        """Return a table of pandas, a line for each name. Raises ``OptionError`` without pandas.

        Times are ticks, or floating-point numbers with ``unit="seconds"``; that is an ``OptionError`` where ticks are
        cycles without a clock.
        """
        check_time_unit(unit, self.tick_unit)
        return frame([in_unit(row, self._columns.times, unit) for row in self._rows()], "name")

    def _rows(self) -> list[Row]:
        return [self._columns.row(account) for account in self._accounts.values()]

    def _repr_html_(self) -> str:
        rows = self._rows()
        heads = [name for name in (rows[0] if rows else {}) if name != "name"]
        lines = ([*(self._cell(name, row[name]) for name in heads), str(row["name"])] for row in rows[:SHOWN])
        left_out = len(rows) - SHOWN
        more = f"<p>and {left_out:,} more: to_frame() has all</p>" if left_out > 0 else ""
        return block(table([*(name.replace("_", " ") for name in heads), self._columns.kind], lines), more)

    def _cell(self, name: str, cell: object) -> str:
        if isinstance(cell, bool):
            return "yes" if cell else ""
        if isinstance(cell, int):
            return time_text(cell, self.tick_unit) if name in self._columns.times else f"{cell:,}"
        return str(cell)


_ACTOR_TIMES = frozenset(
    (
        *("scheduling", "reading", "processing", "writing", "link_waiting"),
        *("blocked_reading", "blocked_writing", "idle", "finished", "busy"),
    )
)


def _actor_row(actor: ActorTimes) -> Row:
    return _plain(actor_json(actor))


def _fifo_row(fifo: FifoTimes) -> Row:
    return _plain(fifo_json(fifo))


def _partition_row(partition: PartitionTime) -> Row:
    times = dict(zip(CORE_CATEGORIES, partition.ticks, strict=True))
    return {"name": partition.name, "unit": partition.unit, "cores": partition.cores, **times}


def _plain(document: Mapping[str, object]) -> Row:
    """Return a flat JSON object as a line of a table."""
    return {key: value if isinstance(value, (str, int, float)) else None for key, value in document.items()}


def actors_by_name(accounts: NamedAccounts) -> AccountsByName[ActorTimes]:
    """Return where the time of each actor went."""
    columns = Columns(kind="actor", row=_actor_row, times=_ACTOR_TIMES)
    return AccountsByName([(a.name, a) for a in accounts.actors], columns, accounts.tick_unit)


def fifos_by_name(accounts: NamedAccounts) -> AccountsByName[FifoTimes]:
    """Return what each FIFO carried and whom it kept waiting; names are ``source.port->target.port``."""
    columns = Columns(kind="FIFO", row=_fifo_row, times=frozenset(("read_blocked", "write_blocked")))
    return AccountsByName([(f.name, f) for f in accounts.fifos], columns, accounts.tick_unit)


def partitions_by_name(partitions: Collection[PartitionTime], unit: TickUnit) -> AccountsByName[PartitionTime]:
    """Return the core time of each partition by category."""
    columns = Columns(kind="partition", row=_partition_row, times=frozenset(CORE_CATEGORIES))
    return AccountsByName([(p.name, p) for p in partitions], columns, unit)
