"""Folders of results as data: what a search evaluated, what it ranked, and how several differ."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, repeat
from pathlib import Path
from typing import Any, TypeAlias

from dse.base.errors import FormatError, OptionError
from dse.base.source import file_span
from dse.flows.deliver import RANKING
from dse.flows.search.store import STORE_NAME
from dse.formats.mapping_text import mapping_text
from dse.formats.study_file import StoredStudy, point_to_json, read_study
from dse.formats.tables import Column
from dse.model.study import Evaluation
from dse.model.trace import Topology
from dse.report.ranking import busiest_partition

SHOWN = 10
"""So many of the best mappings are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedResult:
    """What ``ranking.json`` says of a search that is over. ``digests``: of the mappings of its ranking, in order."""

    network: str
    method: str
    stop: str
    lower_bound: int
    lower_bound_reason: str
    assumed: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A folder of results. ``ranking``: the mappings whose makespan is known, best first.

    ``ranked``: None where the search was interrupted before it wrote a ranking.
    """

    folder: str
    stored: StoredStudy
    ranked: RankedResult | None
    ranking: tuple[Evaluation, ...]

    @property
    def topology(self) -> Topology:
        """The actors by name; of the FIFOs only the number is known."""
        return self.stored.topology

    @property
    def best(self) -> Evaluation | None:
        """The first of the ranking."""
        return self.ranking[0] if self.ranking else None


def read_results(place: str) -> Results:
    """Return the results in a folder, or of the study file (SQLite) that is named.

    Raises:
        OptionError: there are none, or a search is writing them. FormatError: a file is damaged.
    """
    path = Path(place)
    folder, store = (path, path / STORE_NAME) if path.is_dir() else (path.parent, path)
    if not store.is_file() or store.suffix.lower() in (".yaml", ".yml"):
        raise _no_results(path)
    stored = read_study(store)
    ranked = _ranked(folder / RANKING) if store.name == STORE_NAME else None
    order = {} if ranked is None else {digest: rank for rank, digest in enumerate(ranked.digests)}
    known = [e for e in stored.evaluations if not (e.deadlock or e.cut)]
    listed = sorted(known, key=lambda e: (order.get(e.digest, len(order)), e.makespan, e.ordinal))
    return Results(folder=place, stored=stored, ranked=ranked, ranking=tuple(listed))


def _no_results(path: Path) -> OptionError:
    """Return the error for a place without results."""
    what = "is no folder of results"
    if path.is_dir():
        what = "holds no results of a search"
    elif path.is_file():
        what = "says what to search for, and holds no results"
    return OptionError(f"'{path}' {what}", expected="name a folder that `dse explore` wrote, with its study.sqlite")


def _ranked(path: Path) -> RankedResult | None:
    """Return what a ranking says. Raises ``FormatError`` where it is none."""
    try:
        document: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as cause:
        raise _no_ranking(path, str(cause)) from cause
    try:
        return RankedResult(
            network=_typed(document["network"], str),
            method=_typed(document["method"], str),
            stop=_typed(document["stop"], str),
            lower_bound=_typed(document["lower_bound"], int),
            lower_bound_reason=_typed(document["lower_bound_reason"], str),
            assumed=tuple(_typed(text, str) for text in _typed(document["assumed"], list)),
            digests=tuple(_typed(row["digest"], str) for row in _typed(document["ranking"], list)),
        )
    except (KeyError, TypeError) as cause:
        raise _no_ranking(path, f"{cause} is missing or of another kind") from cause


def _typed(value: Any, kind: type[Any]) -> Any:
    """Return a value of a kind. Raises ``TypeError`` for another one."""
    if type(value) is not kind:
        raise TypeError(f"'{str(value)[:40]}'")
    return value


def _no_ranking(path: Path, why: str) -> FormatError:
    return FormatError(
        f"this is no ranking of a search: {why}",
        span=file_span(str(path), 0),
        expected="remove it, or search again: what was evaluated is in study.sqlite",
    )


def results_json(results: Results) -> dict[str, object]:
    """Return the JSON object of a folder: how much was evaluated, where it came from, and the ranking."""
    stored, ranked = results.stored, results.ranked
    of_ranking = ("network", "method", "stop", "lower_bound")
    return {
        "folder": results.folder,
        **{key: None if ranked is None else getattr(ranked, key) for key in of_ranking},
        "evaluations": len(stored.evaluations),
        "deadlocks": sum(e.deadlock for e in stored.evaluations),
        "cut_while_running": sum(e.cut for e in stored.evaluations),
        "best": [_best_json(rank, e, results.topology) for rank, e in enumerate(results.ranking[:SHOWN], start=1)],
        "manifest": dict(stored.manifest),
        "identity": dict(stored.identity),
    }


def _best_json(rank: int, evaluation: Evaluation, topology: Topology) -> dict[str, object]:
    return {
        "rank": rank,
        "makespan": evaluation.makespan,
        "unit": evaluation.tick_unit,
        "mapping": mapping_text(evaluation.point, topology, None),
        "digest": evaluation.digest,
        "design_point": point_to_json(evaluation.point, topology),
    }


def evaluation_columns(results: Results) -> tuple[Column, ...]:
    """Return all evaluations of a study as a table, in the order in which they were made.

    ``state``: ``exact``; ``at least``: the simulation was stopped, and takes at least ``makespan``; or ``deadlock``.
    ``makespan``: in ticks of ``unit``. ``estimated_s``: what the estimation took.
    """
    rows = [_row(evaluation, results.topology) for evaluation in results.stored.evaluations]
    columns = zip(*rows, strict=True) if rows else repeat(())
    return tuple(Column(name=name, values=values) for name, values in zip(_COLUMNS, columns, strict=False))


_COLUMNS = (
    "name",
    "state",
    "makespan",
    "unit",
    "partitions",
    "busiest_partition",
    "busiest_share",
    "estimated_s",
    "mapping",
    "digest",
)


def _row(evaluation: Evaluation, topology: Topology) -> tuple[str | int | float | None, ...]:
    """Return the values of the columns for one evaluation."""
    e, point = evaluation, evaluation.point
    busiest = busiest_partition(point, e.partitions) if e.partitions else None
    return (
        f"e{e.ordinal}",
        _state(e),
        None if e.deadlock else e.makespan,
        e.tick_unit,
        e.n_partitions,
        None if busiest is None else busiest.partition,
        None if busiest is None else busiest.busy / busiest.core_time,
        e.seconds,
        mapping_text(point, topology, None),
        e.digest,
    )


def _state(evaluation: Evaluation) -> str:
    return "deadlock" if evaluation.deadlock else "at least" if evaluation.cut else "exact"


Difference: TypeAlias = tuple[str, str | None, str | None]
"""A key, and what it is in two studies."""


def differences(first: Results, second: Results) -> list[Difference]:
    """Return what two studies do not have in common of their inputs and options: (key, of the first, of the second).

    Digests are shortened. Where files lie does not count, nor what no result depends on.
    """
    one, two = _compared(first), _compared(second)
    return [(key, one.get(key), two.get(key)) for key in sorted({*one, *two}) if one.get(key) != two.get(key)]


_NO_MATTER = ("host", "python", "execution")
_FILES = ("source ", "input ", "read ")
"""How keys of a manifest begin that name a file; their values are digests."""
_DIGEST = re.compile("([0-9a-f]{12})[0-9a-f]{52}")


def _compared(results: Results) -> dict[str, str]:
    """Return identity and manifest of a study, of files only the names."""
    found: dict[str, str] = {}
    for key, value in {**results.stored.identity, **results.stored.manifest}.items():
        kind = next((kind for kind in _FILES if key.startswith(kind)), None)
        text = Path(value).name if key == "program" else _DIGEST.sub(r"\1...", value)
        if kind is not None:
            key = f"{kind}{Path(key.removeprefix(kind)).name}"
            text = ", ".join(filter(None, (found.get(key), text)))  # two files of one name, in two folders
        if key not in _NO_MATTER:
            found[key] = text
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRank:
    """A mapping, and its rank in each of several studies; None where it is not ranked."""

    evaluation: Evaluation
    ranks: tuple[int | None, ...]


def shared_ranks(several: Sequence[Results]) -> list[SharedRank]:
    """Return the best mappings of the first study with their ranks in all."""
    by_digest = [dict(zip((e.digest for e in results.ranking), count(1), strict=False)) for results in several]
    return [
        SharedRank(evaluation=e, ranks=tuple(ranks.get(e.digest) for ranks in by_digest))
        for e in several[0].ranking[:SHOWN]
    ]
