"""What the rows of a study file say, and whether it can be true: digests of rows, and checks of what is read.

A row is believed when its digest is right and what it says is possible: a flipped bit shows in the digest, and a row
that somebody wrote with a right one is at most refused. Every function raises ``ValueError`` with the reason in words.
"""

import json
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from typing import Any, TypeAlias, cast, get_args

from dse.model.design_point import MOST_TOKENS, POLICIES, ReleaseMode, TransferMode, identity_of
from dse.model.estimate import TickUnit
from dse.model.packed_point import PackedPoint, PartitionFrame
from dse.model.study import Evaluation, check_times

Setting: TypeAlias = tuple[tuple[int, ...], ReleaseMode, TransferMode, str]
"""Capacities, release, transfers and name of a row of table ``setting``."""
DIGEST_BYTES = 16
_LIST = re.compile(r"\[([0-9]{1,18}(,[0-9]{1,18})*)?\]")
_CLOCK = re.compile(r"0*[1-9][0-9]{0,39}(/0*[1-9][0-9]{0,39})?")
_MOST_CORES = 1 << 31
_RELEASES, _TRANSFERS, _TICK_UNITS = get_args(ReleaseMode), get_args(TransferMode), get_args(TickUnit)


def row_digest(table: str, values: Sequence[Any]) -> bytes:
    """Return the first 16 bytes of the sha256 of a row of a table, its own digest left out: text, numbers, bytes, None.

    Digested is, in UTF-8, the Python text of a list of the table's name and the values, with its length in the place
    of each value that is bytes; then these bytes, in their order.
    """
    head = [len(value) if type(value) is bytes else value for value in values]
    blobs = [value for value in values if type(value) is bytes]
    return sha256(b"".join((f"{[table, *head]}".encode(), *blobs))).digest()[:DIGEST_BYTES]


def checked_row(table: str, row: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a row without its digest, which comes last and has to be that of the values."""
    values = row[:-1]
    if row_digest(table, values) != row[-1]:
        raise ValueError(f"a row of table '{table}' was changed: its digest is not that of what it says")
    return values


def setting_of(values: Sequence[Any], n_buffers: int) -> Setting:
    """Return what a row of table ``setting`` says, for a network of so many buffers."""
    _, tokens, release, transfers, name = values
    capacities = _numbers(tokens, "capacities")
    if len(capacities) != n_buffers:
        raise ValueError("its buffers are not those of the network")
    if max(capacities, default=0) > MOST_TOKENS:
        raise ValueError(f"a capacity is larger than {MOST_TOKENS} tokens")
    if release not in _RELEASES or transfers not in _TRANSFERS or not isinstance(name, str):
        raise ValueError("a setting has a mode or a name that does not exist")
    return capacities, release, transfers, name


def frame_of(values: Sequence[Any], n_actors: int) -> PartitionFrame:
    """Return what a row of table ``part`` says, for a network of so many actors."""
    _, name, unit, policy, cores, order, clock = values
    static_order = _numbers(order, "a static order")
    if max(static_order, default=0) >= n_actors > 0:
        raise ValueError(f"an actor has a number that is not below {n_actors}")
    if not (isinstance(name, str) and isinstance(unit, str)) or policy not in POLICIES:
        raise ValueError("a partition has a name, a unit or a policy that does not exist")
    if type(cores) is not int or not 1 <= cores < _MOST_CORES:
        raise ValueError("a partition has a number of cores that cannot be")
    return PartitionFrame(name, unit, policy, cores, static_order, _clock(clock))


def _numbers(text: Any, what: str) -> tuple[int, ...]:
    """Return the integers of a JSON list; none is negative, or has more than 18 digits."""
    if not isinstance(text, str) or not _LIST.fullmatch(text):
        raise ValueError(f"{what} should be a list of numbers")
    return tuple(json.loads(text))


def _clock(text: Any) -> Fraction | None:
    if text is None:
        return None
    if not isinstance(text, str) or not _CLOCK.fullmatch(text):
        raise ValueError("a clock should be a fraction above 0")
    return Fraction(text)


def text_of(numbers: tuple[int, ...]) -> str:
    """Return integers as JSON."""
    return json.dumps(numbers, separators=(",", ":"))


def check_evaluation(evaluation: Evaluation, texts: tuple[list[str], str], n_actors: int, least: int) -> None:
    """Raise ``ValueError`` where an evaluation cannot be one of a network of so many actors.

    ``texts``: those of its layout. ``least``: a makespan, in ticks, that is proven to be the smallest there can be.
    """
    _check_numbers(evaluation, least)
    packed = evaluation.packed
    actors = packed.actors(most=n_actors)
    present = {*chain.from_iterable(actors)}
    if len(present) != n_actors or min(present) < 0 or max(present) >= n_actors or sum(map(len, actors)) != n_actors:
        raise ValueError("a mapping does not have each actor of the network in one partition")
    if identity_of(actors, *texts) != evaluation.digest:
        raise ValueError(f"evaluation {evaluation.ordinal} is not of the mapping that its digest names")
    check_times(evaluation.times, packed.n_partitions, n_actors)


def _check_numbers(evaluation: Evaluation, least: int) -> None:
    ordinal, makespan = cast(Any, evaluation.ordinal), cast(Any, evaluation.makespan)
    if type(ordinal) is not int or type(makespan) is not int or ordinal < 0 or makespan < 0:
        raise ValueError("an evaluation has a number or a makespan that cannot be")
    if evaluation.tick_unit not in _TICK_UNITS:
        raise ValueError(f"evaluation {ordinal} has a unit of time that does not exist")
    _check_seconds(evaluation)
    check_least(evaluation, least)


def check_least(evaluation: Evaluation, least: int) -> None:
    """Raise ``ValueError`` for a makespan below ``least``, in ticks, which is proven to be the smallest."""
    if evaluation.makespan < least and not evaluation.deadlock and not evaluation.cut:
        raise ValueError(
            f"evaluation {evaluation.ordinal} has makespan {evaluation.makespan}, but no mapping takes less than"
            f" {least}, which is proven"
        )


def _check_seconds(evaluation: Evaluation) -> None:
    if type(evaluation.seconds) is not float or not 0 <= evaluation.seconds < math.inf:
        raise ValueError(f"evaluation {evaluation.ordinal} took a time that cannot be")


def evaluation_of(values: Sequence[Any], packed: PackedPoint) -> Evaluation:
    """Return what a row of table ``evaluation`` says of a point that is at hand, to go to ``check_evaluation``."""
    digest, ordinal, makespan, at_least, tick_unit, deadlock, seconds, *_, times = values
    if (makespan is None) is (at_least is None) or deadlock not in (0, 1) or not isinstance(times, bytes):
        raise ValueError("an evaluation has no makespan, or says it twice")
    return Evaluation(
        ordinal=ordinal,
        packed=packed,
        digest=digest.hex(),
        makespan=at_least if makespan is None else makespan,
        cut=makespan is None,
        tick_unit=tick_unit,
        deadlock=deadlock == 1,
        seconds=seconds,
        times=times,
    )
