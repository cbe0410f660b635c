"""What a search leaves behind: the evaluated design points, the bound that is proven for all, and what was assumed."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeAlias

from dse.base.escaping import shown
from dse.base.packing import count_and_first, pack_integers, unpack_integers
from dse.model.design_point import DesignPoint, Policy
from dse.model.estimate import PartitionAccount, TickUnit
from dse.model.packed_point import VIEWED, PackedPoint, pack_point

StopReason: TypeAlias = Literal["complete", "evaluations", "seconds", "interrupted"]
"""Why a search ended: the method was done, a budget ran out, or the user interrupted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One evaluated design point: what the search and the ranking look at, and what the store keeps of an estimate.

    ``ordinal`` counts the evaluations of a study from 0. ``makespan`` is in ticks and means nothing in a deadlock;
    where ``cut`` is set it is no makespan but a proven lower bound of it. A search keeps tens of thousands, so that the
    point and the times are packed: ``Evaluation.of`` makes one from the plain ones, which the properties unpack.
    """

    ordinal: int
    packed: PackedPoint
    """The design point; see ``point``."""
    digest: str
    makespan: int
    tick_unit: TickUnit
    deadlock: bool
    times: bytes
    """What ``pack_times`` returned; see ``partitions`` and ``waiting``."""
    seconds: float
    """Wall time of the estimation, in seconds; no result depends on it."""
    costs: tuple[int, ...] = ()
    """The cost of each objective of the search, smaller is better; empty where it only looks at the makespan."""
    cut: bool = False
    """The simulation was stopped: the point takes at least ``makespan`` ticks, or deadlocks. It has no accounts."""

    def __repr__(self) -> str:
        least = "at least " if self.cut else ""
        found = "deadlock" if self.deadlock else f"{least}{self.makespan:,} {self.tick_unit}"
        return f"<Evaluation {self.ordinal}: {found}, {self.n_partitions} partitions, digest {self.digest[:12]}>"

    @classmethod
    def of(
        cls,
        *,
        ordinal: int,
        point: DesignPoint,
        digest: str,
        makespan: int,
        tick_unit: TickUnit,
        deadlock: bool,
        partitions: Sequence[PartitionAccount],
        seconds: float,
        waiting: Sequence[int] = (),
        costs: tuple[int, ...] = (),
        cut: bool = False,
    ) -> "Evaluation":
        """Return the evaluation of a point; ``partitions`` and ``waiting`` as the properties of these names."""
        return cls(
            ordinal=ordinal,
            packed=pack_point(point),
            digest=digest,
            makespan=makespan,
            tick_unit=tick_unit,
            deadlock=deadlock,
            times=_packed_times(tuple(partitions), tuple(waiting)),
            seconds=seconds,
            costs=costs,
            cut=cut,
        )

    @property
    def point(self) -> DesignPoint:
        """The design point."""
        return self.packed.unpacked()

    @property
    def n_partitions(self) -> int:
        """The number of partitions of the point; costs nothing."""
        return self.packed.n_partitions

    @property
    def partitions(self) -> tuple[PartitionAccount, ...]:
        """Core time of each partition of the point, in ticks; empty where it is not known."""
        return unpack_times(self.times)[0]

    @property
    def waiting(self) -> tuple[int, ...]:
        """For each actor the ticks that it was ready while no core of its partition was free; empty where unknown."""
        return unpack_times(self.times)[1]


def pack_times(partitions: Sequence[PartitionAccount], waiting: Sequence[int]) -> bytes:
    """Return times as bytes (``dse/base/packing.py``): the number of partitions, each category of all, the waiting.

    The categories are the fields of ``PartitionAccount`` in their order. Nothing at all is no bytes.
    """
    if not partitions and not waiting:
        return b""
    categories = chain.from_iterable(zip(*partitions, strict=True))
    return pack_integers([len(partitions), *categories, *waiting], squeeze=True)


def _packed_times(partitions: tuple[PartitionAccount, ...], waiting: tuple[int, ...]) -> bytes:
    """Return packed times, and remember what they hold: a search looks at it next."""
    times = pack_times(partitions, waiting)
    if len(_VIEWED_TIMES) >= VIEWED:
        _VIEWED_TIMES.clear()
    _VIEWED_TIMES[times] = partitions, waiting
    return times


def check_times(times: bytes, n_partitions: int, n_actors: int) -> None:
    """Raise ``ValueError`` where packed times are not those of so many partitions and actors, as far as they go."""
    if not times:
        return
    categories = len(PartitionAccount._fields)
    count, accounts = count_and_first(times, most=1 + categories * n_partitions + n_actors)
    if accounts not in (0, n_partitions) or count - 1 - categories * accounts not in (0, n_actors):
        raise ValueError("the times of an evaluation are not those of its partitions and actors")


_VIEWED_TIMES: dict[bytes, tuple[tuple[PartitionAccount, ...], tuple[int, ...]]] = {}
"""What the times packed last hold."""


def unpack_times(times: bytes) -> tuple[tuple[PartitionAccount, ...], tuple[int, ...]]:
    """Return what ``pack_times`` was given. Raises ``ValueError`` where the bytes are not from it."""
    viewed = _VIEWED_TIMES.get(times)
    return _unpacked_times(times) if viewed is None else viewed


@functools.lru_cache(maxsize=VIEWED)
def _unpacked_times(times: bytes) -> tuple[tuple[PartitionAccount, ...], tuple[int, ...]]:
    if not times:
        return (), ()
    count, *integers = unpack_integers(times)
    end = len(PartitionAccount._fields) * count
    if not 0 <= end <= len(integers):
        raise ValueError(f"{len(integers)} times are too few for {count} partitions")
    categories = (integers[begin : begin + count] for begin in range(0, end, count or 1))
    return tuple(map(PartitionAccount._make, zip(*categories, strict=True))), tuple(integers[end:])


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """A makespan that no design point of the space can beat, in ticks, and the argument for it in words."""

    makespan: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSetting:
    """A policy and sizes of the FIFOs that nobody asked for, with which a ranked mapping is quicker than the best.

    ``policy``: None where it is the one of the search; ``buffers``: the value of ``--buffers`` for the sizes, empty
    where they are those of the search. ``more_bytes`` of memory than those take, below 0 where it is less.
    ``makespan`` in ticks, ``than`` that of the best of the ranking.
    """

    policy: Policy | None
    buffers: str
    more_bytes: int
    makespan: int
    than: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What went before a search of a long trace: a search of a shorter one, whose best points were then estimated.

    ``firings`` of the shorter trace, ``whole`` of the long one. ``estimates`` of the shorter one were made; they count
    as ``counted`` evaluations of the long one. ``agreed``: whether they ranked as the long one does; if not, the search
    began as without them.
    """

    firings: int
    whole: int
    estimates: int
    counted: int
    agreed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveAxis:
    """An objective as people read it: its name, the unit of its values, and whether more is better."""

    name: str
    unit: str
    maximise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A point that no other evaluated one beats in every objective; ``values`` in the units of the axes."""

    evaluation: Evaluation
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The outcome of a search with several objectives, or with another one than the makespan.

    ``reference`` and ``ideal``: the worst value of each objective among all evaluations without deadlock, and the best
    one. ``hypervolume``: the share of the box between them that the points dominate, 0 to 1; the reference point is
    taken one unit of cost behind the worst, so that points at the border count; only the first four objectives count.
    ``history``: (number of evaluations, hypervolume) at changes of the front, some left out where there are many.
    ``limits``: of each objective a value that no mapping of the space beats, None where none is known.
    """

    axes: tuple[ObjectiveAxis, ...]
    points: tuple[FrontPoint, ...]
    reference: tuple[float, ...]
    ideal: tuple[float, ...]
    hypervolume: float
    history: tuple[tuple[int, float], ...]
    limits: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The outcome of one search.

    ``ranking``: the distinct design points without deadlock, best first. ``baseline``: all actors on one core, or
    None where that is impossible. ``pruned``: points that a bound proved worse than the ranking, without estimation.
    ``cut``: evaluations whose simulation was stopped when it was clear that they are not among the best.
    ``complete``: every point of the space was estimated or pruned, so the best of the ranking is the best there is.
    """

    network: str
    method: str
    method_reason: str
    seed: int
    space_size: int
    evaluations: int
    deadlocks: int
    pruned: int
    complete: bool
    stop: StopReason
    seconds: float
    """Wall time of bounding and searching, in seconds; running the network and the report are not in it."""
    ranking: tuple[Evaluation, ...]
    baseline: Evaluation | None
    lower_bounds: tuple[LowerBound, ...]
    """Proven for the whole space, the highest first; never empty."""
    symmetric: int = 0
    """Placements left out of the space because they only number identical cores or units in another way."""
    symmetric_actors: int = 0
    """Mappings left out of the space because they only exchange identical actors."""
    cut: int = 0
    assumed: tuple[str, ...]
    front: Front | None = None
    """None where the makespan is the only objective."""
    other: OtherSetting | None = None
    """What another policy or other sizes would give, where nobody chose them and it is worth a word."""
    screening: Screening | None = None
    """None where the search began on the trace itself."""
    values: tuple[tuple[float, ...], ...] = ()
    """Of each point of the ranking its values on the axes of the front; empty where there is no front."""

    def ended(self, *, interrupted: bool) -> "Study":
        """Return the study as one that an interrupt ended, where one came meanwhile."""
        return replace(self, stop="interrupted") if interrupted else self

    def __repr__(self) -> str:
        best = f"{self.ranking[0].makespan:,} {self.ranking[0].tick_unit}" if self.ranking else "none"
        return (
            f"<Study of {shown(self.network)}: {self.evaluations:,} evaluations by {self.method}, best makespan {best}>"
        )
