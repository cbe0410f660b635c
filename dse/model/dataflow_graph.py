"""Static dataflow graphs (SDF, CSDF) as other tools write them: rates, initial tokens, execution times; no program.

An actor has one phase (SDF) or several that it goes through in turn, again and again (CSDF: Bilsen, Engels, Lauwereins
and Peperstraete, IEEE Transactions on Signal Processing 44(2), 1996). A firing is one phase.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from dse.base.source import NO_SPAN, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorTime:
    """What the phases of an actor take on one type of processor, in the unit of the graph; one entry a phase."""

    processor: str
    times: tuple[Fraction, ...]
    default: bool = False
    """The file marks this type as the one to take where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowActor:
    """An actor. ``reads[i][k]`` and ``writes[j][k]``: tokens on input i and output j in phase k."""

    name: str
    class_name: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    n_phases: int = 1
    reads: tuple[tuple[int, ...], ...] = ()
    writes: tuple[tuple[int, ...], ...] = ()
    times: tuple[ProcessorTime, ...] = ()
    stateless: bool = True
    """A firing sees nothing of the one before but what comes over channels."""
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowChannel:
    """A channel from an output port to an input port, both as indices; ``capacity_tokens`` None: the file has none."""

    name: str
    source: int
    source_port: int
    target: int
    target_port: int
    initial_tokens: int = 0
    token_bits: int = 0
    capacity_tokens: int | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowGraph:
    """Actors and channels in the order of the file; ``path``: the file that it was read from.

    ``tool``: whose form the file has. ``unit_mhz``: times are cycles of such a clock (1: microseconds); None: cycles
    of no clock in particular.
    """

    name: str
    path: str
    tool: str
    actors: tuple[DataflowActor, ...]
    channels: tuple[DataflowChannel, ...]
    unit_mhz: Fraction | None = None
    notes: tuple[str, ...] = ()
    """What of the file is left out, in words."""

    def ends(self, channel: DataflowChannel) -> tuple[DataflowActor, DataflowActor]:
        """Return the actors that write to and read from a channel."""
        return self.actors[channel.source], self.actors[channel.target]

    def written(self, channel: DataflowChannel) -> tuple[int, ...]:
        """Return the tokens that each phase of the source writes to a channel."""
        return self.actors[channel.source].writes[channel.source_port]

    def read(self, channel: DataflowChannel) -> tuple[int, ...]:
        """Return the tokens that each phase of the target reads from a channel."""
        return self.actors[channel.target].reads[channel.target_port]
