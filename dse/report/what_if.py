"""What changes would give, as text and as JSON: what saves most, alone and in pairs, and what the path promised."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.changes import Change, Faster, FreeLink, FreeTransfers, Room, Uncontended
from dse.model.estimate import TickUnit
from dse.model.platform import Platform
from dse.model.trace import Topology
from dse.model.what_if import Curve, CurvePoint, SearchedAgain, Tried, WhatIf
from dse.report.mapping_cells import difference_text
from dse.report.quantities import time_text
from dse.report.tables import NamesTable

SHOWN = 12
"""So many places of a kind are shown, those where most is saved; JSON has all."""
TELLS = Fraction(1, 1000)
"""What saves less of the makespan than this is not shown."""
WRONG = Fraction(1, 100)
"""Where a promise is further from the truth than this share of the makespan, that is said."""
PROMISED = "the path says (2x)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What changes are called: of a network, on a platform, with capacities in tokens."""

    topology: Topology
    platform: Platform
    capacities: tuple[int, ...]

    def place(self, change: Change) -> str:
        """Return what a change concerns: ``actor``, ``actor.action``, a FIFO or a link."""
        match change:
            case Faster():
                actor = self.topology.actors[change.actor]
                return actor.name if change.action is None else f"{actor.name}.{actor.actions[change.action].name}"
            case Room() | FreeTransfers():
                return self.topology.buffer_name(change.buffer)
            case FreeLink() | Uncontended():
                return self.platform.links[change.link].name

    def words(self, change: Change) -> str:
        """Return a change in words."""
        place = self.place(change)
        match change:
            case Faster():
                return f"{place} {speed_text(change.speed)}"
            case Room():
                return f"{place} with {change.tokens:,} tokens instead of {self.capacities[change.buffer]:,}"
            case FreeTransfers():
                return f"transfers of {place} at no cost"
            case Uncontended():
                return f"link {place} without contention"
            case FreeLink():
                return f"link {place} at no cost"

    def more_bytes(self, change: Room) -> int:
        """Return how many bytes more a FIFO takes."""
        return (change.tokens - self.capacities[change.buffer]) * self.topology.buffers[change.buffer].token_bytes


def speed_text(speed: Fraction | None) -> str:
    """Return a speed in words: ``10 % faster``, ``2 times as fast``, ``infinitely fast``."""
    if speed is None:
        return "infinitely fast"
    if 1 < speed < Fraction(3, 2):
        return f"{float(100 * (speed - 1)):g} % faster"
    return f"{float(speed):g} times as fast"


def whole(makespan: Fraction) -> int:
    """Return a makespan in whole ticks, halves up."""
    return int(makespan + Fraction(1, 2))


def what_if_lines(found: WhatIf, names: Names) -> list[str]:
    """Return in sentences what saves most: alone, in pairs, with more memory; and where the path is wrong."""
    lines = [*_best_single(found, names), *_best_pair(found, names), _best_memory(found, names)]
    return [*lines, *_wrong_promises(found, names)]


def best_single(found: WhatIf) -> Tried | None:
    """Return the change that saves most alone, as pairs are made of them; None where none saves anything."""
    return found.pool[0] if found.pool else None


def best_pair(found: WhatIf) -> Tried | None:
    """Return the pair that saves most; None where no pair completes."""
    return min((t for t in found.pairs if t.makespan is not None), key=_makespan, default=None)


def _makespan(tried: Tried) -> Fraction:
    assert tried.makespan is not None, "what deadlocks is not compared"
    return tried.makespan


def _best_single(found: WhatIf, names: Names) -> Iterator[str]:
    best = best_single(found)
    if best is None:
        yield "no single change saves anything"
        return
    yield f"the best single improvement: {names.words(best.changes[0])} saves {_saved(found, best)}"


def _best_pair(found: WhatIf, names: Names) -> Iterator[str]:
    best = best_pair(found)
    if best is None:
        return
    alone = {t.changes[0]: t for t in found.pool}
    words = " and ".join(names.words(change) for change in best.changes)
    each = " and ".join(_share(found.saved(alone[change])) for change in best.changes)
    yield (
        f"the best pair among the {len(found.pool)} that save most alone (all {len(found.pairs)} pairs were simulated):"
        f" {words} save {_saved(found, best)}; alone {each}"
    )


def _best_memory(found: WhatIf, names: Names) -> str:
    best = found.memory
    left = len(found.untouched)
    if best is None:
        more = f"; {left} of {len(names.capacities)} FIFOs are never short of it" if left else ""
        return f"more room in one FIFO saves nothing{more}"
    change = best.changes[0]
    assert isinstance(change, Room), "more memory is room"
    return (
        f"the best FIFO for more memory: {names.words(change)} ({names.more_bytes(change):,} B more) saves"
        f" {_saved(found, best)}"
    )


def _wrong_promises(found: WhatIf, names: Names) -> Iterator[str]:
    """Yield where the critical path promises something else than the simulation gives, the worst first."""
    wrong = [(error, tried) for tried in found.singles if (error := _error(found, tried)) is not None]
    wrong = [(error, tried) for error, tried in wrong if abs(error) > WRONG * found.makespan]
    wrong.sort(key=lambda pair: -abs(pair[0]))
    if not wrong:
        return
    yield (
        f"of {sum(t.promised is not None for t in found.singles)} changes the critical path alone would be wrong about"
        f" {len(wrong)} by more than {float(100 * WRONG):g} % of the makespan; most about these:"
    )
    for _, tried in wrong[:3]:
        assert tried.promised is not None, "only promises are wrong"
        promise = _share(1 - tried.promised / found.makespan)
        yield f"  {names.words(tried.changes[0])}: the path promises {promise}, simulated {_share(found.saved(tried))}"


def _error(found: WhatIf, tried: Tried) -> Fraction | None:
    if tried.promised is None or tried.makespan is None or not found.makespan:
        return None
    return tried.makespan - tried.promised


def _saved(found: WhatIf, tried: Tried) -> str:
    makespan = _makespan(tried)
    return f"{_share(found.saved(tried))}: {time_text(whole(makespan), found.unit)}"


def _share(saved: Fraction | None) -> str:
    """Return what is saved as a share with one decimal."""
    if saved is None:
        return "nothing, it deadlocks"
    text = f"{float(100 * saved):.1f}"
    return f"{'0.0' if text == '-0.0' else text} %"


_Column = tuple[str, Callable[[Change], bool]]


def _speed(wanted: Fraction | None) -> Callable[[Change], bool]:
    return lambda change: isinstance(change, Faster) and change.speed == wanted


def what_if_tables(found: WhatIf, names: Names) -> list[Table]:
    """Return what single changes save: tables of actors and actions, of FIFOs, of links; no empty ones."""

    def twice(change: Change) -> bool:
        return isinstance(change, Room) and change.tokens == 2 * names.capacities[change.buffer]

    computing: list[_Column] = [
        ("10 % faster", _speed(Fraction(11, 10))),
        ("2x as fast", _speed(Fraction(2))),
        ("infinitely", _speed(None)),
    ]
    fifos: list[_Column] = [
        ("twice the room", twice),
        ("endless room", lambda change: isinstance(change, Room) and not twice(change)),
        ("free transfers", lambda change: isinstance(change, FreeTransfers)),
    ]
    links: list[_Column] = [
        ("no contention", lambda change: isinstance(change, Uncontended)),
        ("no cost", lambda change: isinstance(change, FreeLink)),
    ]
    tables = [
        _table(found, names, "actor or action", computing, order=1, promises=True),
        _table(found, names, "FIFO", fifos, order=None),
        _table(found, names, "link", links, order=None),
    ]
    return [table for table in tables if table is not None]


def _table(
    found: WhatIf, names: Names, head: str, columns: Sequence[_Column], *, order: int | None, promises: bool = False
) -> Table | None:
    """Return what changes save by place; the rows by column ``order``, None: by the most of a row."""
    rows = _rows(found, names, columns)
    shown = [(place, row) for place, row in rows.items() if _most(found, row, None, absolute=True) >= TELLS]
    if not shown:
        return None
    shown.sort(key=lambda item: -_most(found, item[1], order))
    table = NamesTable()
    table.add_column(f"saved if {head}", overflow="fold")
    told = promises and any(_promise(found, row) for _, row in shown)
    for name in (*(name for name, _ in columns), *[PROMISED] * told):
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in shown[:SHOWN]:
        table.add_row(place, *_cells(found, row, len(columns)), *[_promise(found, row)] * told)
    if len(rows) > min(SHOWN, len(shown)):
        table.add_row(f"{len(rows) - min(SHOWN, len(shown))} more save less", *[""] * (len(columns) + told))
    return table


def _cells(found: WhatIf, row: dict[int, Tried], columns: int) -> list[str]:
    return [_share(found.saved(row[c])) if c in row else "" for c in range(columns)]


def _most(found: WhatIf, row: dict[int, Tried], order: int | None, *, absolute: bool = False) -> Fraction:
    """Return the most that is saved in a row, or in one column of it; ``absolute``: or lost."""
    of = row.values() if order is None else [row[order]] if order in row else []
    saved = [found.saved(tried) or Fraction(0) for tried in of]
    return max((abs(share) if absolute else share for share in saved), default=Fraction(0))


def _promise(found: WhatIf, row: dict[int, Tried]) -> str:
    """Return what the path promises of the second column; empty where it promises nothing."""
    tried = row.get(1)
    if tried is None or tried.promised is None or not found.makespan:
        return ""
    return _share(1 - tried.promised / found.makespan)


def _rows(found: WhatIf, names: Names, columns: Sequence[_Column]) -> dict[str, dict[int, Tried]]:
    """Return by place what was tried, by number of the column."""
    rows: dict[str, dict[int, Tried]] = {}
    for tried in found.singles:
        for number, (_, belongs) in enumerate(columns):
            if belongs(tried.changes[0]):
                rows.setdefault(names.place(tried.changes[0]), {})[number] = tried
    return rows


def searched_table(again: SearchedAgain, names: Names, texts: MappingTexts) -> Table:
    """Return which improvements pay over the best mapping of each."""
    table = NamesTable()
    table.add_column("saved over the best mapping of each", overflow="fold")
    for head in ("makespan", "saved", "on the mapping above"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("its best mapping", overflow="fold")
    for row in again.improvements:
        kept = None if row.kept is None else _part(row.kept, again.makespan)
        same = row.point.digest() == again.point.digest()
        mapping = "the same" if same else difference_text(again.point, row.point, texts)
        cells = (time_text(whole(row.found), again.unit), _share(_part(row.found, again.makespan)), _share(kept))
        table.add_row(names.words(row.change), *cells, mapping)
    return table


def searched_words(again: SearchedAgain) -> str:
    """Return how the improvements were searched for, and what of it is no merit of theirs."""
    words = (
        f"{again.evaluations:,} mappings were estimated for the best, half as many for each improvement, from the best"
        f" known; searched for were the {len(again.improvements)} improvements that save most on one of the best; no"
        " search is a proof"
    )
    better = sum(row.without is not None and row.without < again.makespan for row in again.improvements)
    if better:
        words += f". {better} of the mappings found are better even without the improvement: give --search more"
    return words


def _part(makespan: Fraction, before: Fraction) -> Fraction:
    """Return the share of a makespan that is saved."""
    return 1 - makespan / before if before else Fraction(0)


def searched_json(again: SearchedAgain, names: Names, texts: MappingTexts) -> dict[str, object]:
    """Return the JSON of the improvements that were searched for; makespans are in ticks of ``unit``."""
    return {
        "mapping": texts.of(again.point),
        "makespan": number(again.makespan),
        "unit": again.unit,
        "evaluations": again.evaluations,
        "improvements": [
            {
                **_change_json(row.change, names),
                "makespan": number(row.found),
                "saved_share": float(_part(row.found, again.makespan)),
                "makespan_on_mapping": None if row.kept is None else number(row.kept),
                "best_mapping": texts.of(row.point),
                "best_mapping_without": None if row.without is None else number(row.without),
            }
            for row in again.improvements
        ],
    }


def curve_table(curve: Curve, found: WhatIf) -> Table:
    """Return a sensitivity curve as a table."""
    table = NamesTable()
    of_tokens = any(point.tokens is not None for point in curve.points)
    table.add_column(f"{curve.name}: tokens" if of_tokens else f"{curve.name}: speed", justify="right", overflow="fold")
    table.add_column("makespan", justify="right", no_wrap=True)
    table.add_column("saved", justify="right", no_wrap=True)
    for point in curve.points:
        at = f"{point.tokens:,}" if point.tokens is not None else _speed_cell(point)
        if point.makespan is None:
            table.add_row(at, "deadlock", "")
            continue
        saved = 1 - point.makespan / found.makespan if found.makespan else Fraction(0)
        table.add_row(at, time_text(whole(point.makespan), found.unit), _share(saved))
    return table


def _speed_cell(point: CurvePoint) -> str:
    return "infinite" if point.speed is None else f"{float(point.speed):g}x"


def what_if_json(found: WhatIf, names: Names) -> dict[str, object]:
    """Return the JSON of all that was simulated; makespans are in ticks of ``unit``."""
    single, pair, memory = best_single(found), best_pair(found), found.memory
    return {
        "makespan": number(found.makespan),
        "unit": found.unit,
        "singles": [tried_json(found, tried, names) for tried in found.singles],
        "pairs_among": [names.words(tried.changes[0]) for tried in found.pool],
        "pairs": [tried_json(found, tried, names) for tried in found.pairs],
        "best_single": None if single is None else tried_json(found, single, names),
        "best_pair": None if pair is None else tried_json(found, pair, names),
        "best_memory": None if memory is None else tried_json(found, memory, names),
        "never_short_of_room": [names.topology.buffer_name(buffer) for buffer in found.untouched],
        "curves": [_curve_json(curve, found.unit) for curve in found.curves],
        "simulations": found.simulations,
    }


def tried_json(found: WhatIf, tried: Tried, names: Names) -> dict[str, object]:
    """Return the JSON of changes that were made together."""
    saved = found.saved(tried)
    return {
        "changes": [_change_json(change, names) for change in tried.changes],
        "makespan": None if tried.makespan is None else number(tried.makespan),
        "saved_share": None if saved is None else float(saved),
        **({} if tried.promised is None else {"critical_path_promises": number(tried.promised)}),
    }


def _change_json(change: Change, names: Names) -> dict[str, object]:
    place = names.place(change)
    match change:
        case Faster():
            speed = None if change.speed is None else float(change.speed)
            return {
                "kind": "faster",
                "of": "actor" if change.action is None else "action",
                "what": place,
                "speed": speed,
            }
        case Room():
            return {"kind": "room", "of": "fifo", "what": place, "tokens": change.tokens}
        case FreeTransfers():
            return {"kind": "free", "of": "fifo", "what": place}
        case Uncontended():
            return {"kind": "uncontended", "of": "link", "what": place}
        case FreeLink():
            return {"kind": "free", "of": "link", "what": place}


def _curve_json(curve: Curve, unit: TickUnit) -> dict[str, object]:
    return {"what": curve.name, "unit": unit, "points": [_point_json(point) for point in curve.points]}


def _point_json(point: CurvePoint) -> dict[str, object]:
    makespan = None if point.makespan is None else number(point.makespan)
    if point.tokens is not None:
        return {"tokens": point.tokens, "makespan": makespan}
    return {"speed": None if point.speed is None else float(point.speed), "makespan": makespan}


def number(value: Fraction) -> int | float:
    """Return a number of ticks for JSON: whole ones as integers."""
    return value.numerator if value.denominator == 1 else float(value)
