"""Weights: cycles of actions, scheduling steps and transfers, per unit kind, with the clock they were counted in.

Keys are names, not indices: weights live in files and outlast a trace. ``formats.md``, section Weights.
"""

from collections.abc import Sized
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from dse.base.escaping import shown

UnitKind: TypeAlias = Literal["cpu", "gpu"]
FifoKind: TypeAlias = Literal["local", "cpu_cpu", "cuda", "host"]
SpreadOf: TypeAlias = Literal["firings", "visits"]
"""What minimum, maximum and variance are of: single firings, or visits to an actor, of which only means are known."""
Origin: TypeAlias = Literal["measured", "emulated", "predicted", "nominal", "zero", "unknown"]
"""Where a number comes from. ``emulated``: measured where threads of the processor stood for a GPU, so that it says
nothing of one; ``nominal``: counted operations; ``zero``: assumed by ``--missing-weights zero``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A cost in cycles of a clock. ``frequency_mhz`` None: raw cycles without a clock.

    ``per_token_cycles`` only for transfers (cost = mean + tokens * per_token). Minimum <= mean <= maximum.
    """

    mean_cycles: Fraction
    frequency_mhz: Fraction | None = None
    per_token_cycles: Fraction = Fraction(0)
    min_cycles: Fraction | None = None
    max_cycles: Fraction | None = None
    variance_cycles2: Fraction | None = None
    count: int | None = None
    origin: Origin = "measured"
    spread: SpreadOf = field(default="firings", repr=False)
    """Not in ``repr``, which is the identity of weights: no estimate looks at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimdCost:
    """Cost of a block of k firings of one action: ``block_cycles[k - 1]``, k = 1..width (estimation.md, SIMD)."""

    block_cycles: tuple[Fraction, ...]
    frequency_mhz: Fraction | None = None

    @property
    def width(self) -> int:
        """The largest block."""
        return len(self.block_cycles)


EntryKey: TypeAlias = tuple[str, str, str, str, Literal["read", "write"]]
"""(source actor, source port, target actor, target port, side that pays)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """What calls of a scheduler to actors cost where tokens arrive: ``dse.estimate.semantics``, "Visits".

    Cycles are those of the clock of the arrival. ``look_cycles``: a call in vain of an actor with a FIFO from another
    CPU core. ``glance_cycles``: of one that has only FIFOs to other cores, None: the same. ``wake_cycles``: what a core
    that waited takes more to find its work. ``entries``: what an end of such a FIFO takes in a visit that moves tokens
    there, if no other end takes more; an end that is not named takes nothing.
    """

    look_cycles: Fraction = Fraction(0)
    wake_cycles: Fraction = Fraction(0)
    glance_cycles: Fraction | None = None
    entries: dict[EntryKey, Fraction] = field(default_factory=dict)

    @property
    def glance(self) -> Fraction:
        """What a call in vain takes of an actor that has only FIFOs to other cores."""
        return self.look_cycles if self.glance_cycles is None else self.glance_cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """How tokens get from one CPU core to another where that is known: ``dse.estimate.semantics``, "Arrival".

    ``cycles``: from the moment at which the writer publishes tokens to the one at which the reader sees them, above 0.
    ``turn_firings``: an actor publishes at the end of its turn, and within it after so many firings; at least 1.
    ``turn_parts``: and after those that may move one of so many equal parts of a FIFO to or from another core; 0: none.
    ``visits``: None: room in FIFOs comes back at once, and an actor sees what arrives while it is at work.
    """

    cycles: Fraction
    frequency_mhz: Fraction | None = None
    turn_firings: int = 1
    turn_parts: int = 0
    visits: Visits | None = field(default=None, repr=False)
    """Not in ``repr``: ``dse.flows.manifest`` has a part of its own for it in the identity of weights."""


ComputeKey: TypeAlias = tuple[str, str, UnitKind]
"""(actor, action, unit kind)."""
SchedulingKey: TypeAlias = tuple[str, str, str, UnitKind]
"""(actor, previous action or "" for none or other, action, unit kind)."""
TransferKey: TypeAlias = tuple[str, str, str, str, FifoKind, UnitKind, Literal["read", "write"]]
"""(source actor, source port, target actor, target port, FIFO kind, unit kind of the side that pays, side)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightTable:
    """All weights known for a network. Tables are plain mappings, never changed after construction."""

    name: str
    compute: dict[ComputeKey, Cost] = field(default_factory=dict)
    scheduling: dict[SchedulingKey, Cost] = field(default_factory=dict)
    transfers: dict[TransferKey, Cost] = field(default_factory=dict)
    simd: dict[ComputeKey, SimdCost] = field(default_factory=dict)
    has_scheduling: bool = True
    """Whether a scheduling file was given at all; without one scheduling costs nothing and nothing is missing."""
    has_transfers: bool = True
    """The same for communication."""
    arrival: Arrival | None = None
    """Of ``cpu_cpu`` FIFOs; None: the reader sees tokens as soon as they are written."""
    manifest: tuple[tuple[str, str], ...] = ()
    """Provenance as (key, value) pairs."""

    def __repr__(self) -> str:
        of: dict[str, Sized] = {
            "actions": self.compute,
            "blocks": self.simd,
            "scheduling": self.scheduling,
            "transfers": self.transfers,
        }
        counts = ", ".join(f"{len(table)} {what}" for what, table in of.items() if table)
        return f"<WeightTable {shown(self.name) or 'unnamed'}: {counts or 'empty'}>"


def merge_weights(*tables: WeightTable) -> WeightTable:
    """Return the union of weight tables; where two know an entry the later one wins. The name is the first's.

    What the manifests say under one key stands side by side, in the order of the tables.
    """
    assert tables, "merge_weights needs a table"
    compute: dict[ComputeKey, Cost] = {}
    scheduling: dict[SchedulingKey, Cost] = {}
    transfers: dict[TransferKey, Cost] = {}
    simd: dict[ComputeKey, SimdCost] = {}
    for table in tables:
        compute |= table.compute
        scheduling |= table.scheduling
        transfers |= table.transfers
        # a later plain weight also replaces an earlier table of blocks
        simd = {key: cost for key, cost in simd.items() if key not in table.compute} | table.simd
    return WeightTable(
        name=next((table.name for table in tables if table.name), ""),
        compute=compute,
        scheduling=scheduling,
        transfers=transfers,
        simd=simd,
        has_scheduling=any(table.has_scheduling for table in tables),
        has_transfers=any(table.has_transfers for table in tables),
        arrival=_last_arrival(tables),
        manifest=_joined_manifest(tables),
    )


def _last_arrival(tables: tuple[WeightTable, ...]) -> Arrival | None:
    given = [table.arrival for table in tables if table.arrival is not None]
    return given[-1] if given else None


def _joined_manifest(tables: tuple[WeightTable, ...]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of all manifests, each key once: different texts of a key joined by semicolons."""
    texts: dict[str, dict[str, None]] = {}
    for table in tables:
        for key, text in table.manifest:
            texts.setdefault(key, {})[text] = None
    return tuple((key, "; ".join(found)) for key, found in texts.items())
