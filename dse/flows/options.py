"""What the user may say about a problem and a search: typed options of the flows, and how their text is understood."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias

from dse.base.errors import OptionError
from dse.base.limits import Limits
from dse.base.numbers import MOST_COUNTED, MOST_MHZ, integer_from, parse_decimal, shortened
from dse.base.registry import nearest_names
from dse.estimate.problem.prices import UNIT_KINDS
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget
from dse.flows.cuda_request import CudaRequest
from dse.formats.decimals import format_decimal
from dse.formats.xcf_write import XcfDialect
from dse.model.design_point import POLICIES, Policy, ReleaseMode, TransferMode
from dse.model.weights import UnitKind
from dse.run.options import PLAIN_RUN, RunOptions

MissingMode: TypeAlias = Literal["error", "zero", "nominal"]
"""``--missing-weights``: what an absent weight means."""
NOMINAL = "nominal"
"""Stands alone among the weights: they are to be counted from the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How a static graph of another tool becomes a trace with weights. ``iterations`` None: about 10,000 firings.

    ``processors``: the type of processor whose execution times stand for a kind of unit.
    """

    iterations: int | None = None
    processors: tuple[tuple[UnitKind, str], ...] = ()
    graph: str | None = None
    """Which of the graphs of a file with several; None: all of them."""


PLAIN_GRAPH = GraphOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemOptions:
    """What makes a problem. Paths as the user wrote them; None and empty mean the embedded default.

    ``program``: an XDF network, a trace, or a static graph of another tool. ``weights``: folders and files, or
    ``NOMINAL`` alone.
    """

    program: str
    input: str | None = None
    source_paths: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    missing_weights: MissingMode = "error"
    platform: str | None = None
    engine: str = "compiled"
    run: RunOptions = PLAIN_RUN
    """How the network is run; its input is ``input``."""
    gpu_capable: tuple[str, ...] | None = None
    """The actors that may run on the GPU, over what the platform says; None: as it says."""
    graph: GraphOptions = PLAIN_GRAPH
    """Where the program is a static graph of another tool: how it becomes a trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRequest:
    """One ``--clocks``: names of units or kinds, and clocks in MHz, the fastest first."""

    names: tuple[str, ...]
    clocks_mhz: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingFiles:
    """What ``--scaling`` and ``--counters`` name."""

    model: str
    counters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What makes a search. ``best``: how many mapping files are written. ``out``: the folder of all results.

    ``workers``: threads that estimate, or processes that walk legs; no result depends on it. ``cluster``: the address
    of a dask scheduler whose workers do that instead; no result depends on that either. ``batch``: points that are
    under way at once, at most; results depend on it, because a method chooses a batch knowing only the ones before.
    """

    problem: ProblemOptions
    partitions: tuple[int, int] | None = None
    pins: tuple[tuple[str, str], ...] = ()
    policies: tuple[Policy, ...] = ("NON_PREEMPTIVE",)
    policy_per_partition: bool = False
    buffers: tuple[str, ...] = ()
    clocks: tuple[ClockRequest, ...] = ()
    scaling: ScalingFiles | None = None
    """How costs of the GPU follow its clock; None: its cycles stay what they are."""
    release: ReleaseMode = "reading"
    transfers: TransferMode = "sequential"
    method: str = "auto"
    objectives: tuple[str, ...] = ("makespan",)
    budget: Budget | None = None
    seed: int = 1
    workers: int = 1
    cluster: str | None = None
    batch: int = BATCH
    screening: bool = True
    """Whether a search of a long trace may begin on a shorter one that stands for it."""
    best: int = 5
    dialect: XcfDialect = "exelixi"
    """Of the mapping files."""
    out: Path | None = None
    resume: bool = False
    measure: int | None = None
    """So many of the best mappings, and the one on one core, are run on this machine; None: nothing is."""
    refine: int = 0
    """So often, at most, the best mapping is measured in place and the search repeated with what that tells."""
    refined: int = 0
    """So many rounds of refining the weights rest on; the study remembers it."""
    cuda: CudaRequest | None = None
    """What is measured and run here has a GPU, which ``measure`` and ``refine`` use; None: processors alone."""
    measured_in: Path | None = None
    """The folder of an earlier search whose measured weights and platform are taken; nothing is measured then."""
    robust: str | None = None
    """By what the best mappings are ranked under drawn weights: mean, or a quantile; None: by their estimates."""
    errors: tuple[str, ...] = ()
    """With ``robust``: relative errors of weights (``dse.flows.robust``); ``draws``: how many are made."""
    draws: int | None = None
    study_file: Path | None = None
    """The study file that these options are from: a search in the folder where it lies leaves it as it is."""
    of_objects: bool = False
    """Parts of the problem are objects of Python and no files, so that no study file can name them: none is written."""
    limits: Limits | None = None
    """What small files may grow to in this search; None: as everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateOptions:
    """What to estimate: mapping files (none: all actors on one core). None: what the file says, else the default.

    ``samples``: each firing costs what a profile in the weights has kept of it.
    """

    problem: ProblemOptions
    mappings: tuple[str, ...] = ()
    buffers: str | None = None
    clocks: tuple[ClockRequest, ...] = ()
    scaling: ScalingFiles | None = None
    release: ReleaseMode | None = None
    transfers: TransferMode | None = None
    samples: bool = False


_FORM = "UNIT=MHZ[,MHZ], such as cpu=1200,2000,2900; units with one clock in common: big+little=1200,2000"


_TIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(s|m|h)")
MOST_SECONDS = 10**9
"""Thirty years, and less than what clocks of the system can wait."""
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_budget(text: str) -> Budget:
    """Return the budget of ``2000``, ``90s``, ``5m``, ``1h`` or ``2000,90s``. Raises ``OptionError``."""
    evaluations: int | None = None
    seconds: float | None = None
    twice = OptionError(f"budget '{shortened(text)}' says twice how much", expected="one number, one time, or both")
    for part in text.split(","):
        time = _TIME.fullmatch(part.strip())
        if time:
            if seconds is not None:
                raise twice
            seconds = float(time[1]) * _SECONDS[time[2]]
            if seconds > MOST_SECONDS:
                raise OptionError(f"a budget of {part.strip()} has no end", expected=f"at most {MOST_SECONDS} s")
        elif (number := integer_from(part, least=-MOST_COUNTED, most=MOST_COUNTED)) is not None:
            if evaluations is not None:
                raise twice
            evaluations = number
        else:
            raise OptionError(
                f"budget '{shortened(text)}' is not understood",
                expected="a number of evaluations, a time, or both: 2000, 90s, 5m, 1h, 2000,90s",
            )
    return Budget(evaluations=evaluations, seconds=seconds)


def parse_processor(text: str) -> tuple[UnitKind, str]:
    """Return what ``arm``, ``cpu=arm`` or ``gpu=dsp`` names: a kind of unit and a type. Raises ``OptionError``."""
    kind, equals, name = text.partition("=")
    if not equals:
        kind, name = "cpu", text
    known = next((k for k in UNIT_KINDS if k == kind.strip().lower()), None)
    if known is None or not name.strip():
        expected = "the name of a type, or cpu=TYPE, gpu=TYPE"
        raise OptionError(f"processor '{shortened(text)}' is not understood", expected=expected)
    return known, name.strip()


def parse_partitions(text: str) -> tuple[int, int]:
    """Return the range of ``4`` (one to four partitions) or ``2-4``. Raises ``OptionError``."""
    match = re.fullmatch(r"(?:([0-9]{1,9})-)?([0-9]{1,9})", text.strip())
    if not match:
        raise OptionError(f"partitions '{shortened(text)}' is not understood", expected="a number or a range: 4, 2-4")
    least, most = int(match[1] or 1), int(match[2])
    if not 1 <= least <= most:
        raise OptionError(f"{least} to {most} partitions is not a range", expected="1 <= least <= most")
    return least, most


def parse_pin(text: str) -> tuple[str, str]:
    """Return (actor, unit) of ``actor=unit``. Raises ``OptionError``."""
    actor, equals, unit = text.partition("=")
    if not equals or not actor or not unit:
        raise OptionError(f"pin '{text}' is not understood", expected="ACTOR=UNIT, such as display=cpu")
    return actor, unit


def parse_clocks(text: str) -> ClockRequest:
    """Return what ``cpu=1200,2000`` asks for. Raises ``OptionError``."""
    left, equals, right = text.partition("=")
    names = tuple(name.strip() for name in left.split("+"))
    if not equals or not all(names) or not right.strip():
        raise OptionError(f"clocks '{shortened(text)}' are not understood", expected=_FORM)
    clocks = [_clock(part.strip(), text) for part in right.split(",")]
    twice = next((clock for clock in clocks if clocks.count(clock) > 1), None)
    if twice is not None:
        raise OptionError(f"clocks '{text}': {format_decimal(twice)} MHz is named twice", expected="name each once")
    return ClockRequest(names=names, clocks_mhz=tuple(sorted(clocks, reverse=True)))


def _clock(word: str, text: str) -> Fraction:
    value = parse_decimal(word)
    if value is None:
        raise OptionError(f"clocks '{shortened(text)}': '{shortened(word)}' is no number", expected=_FORM)
    text, word = shortened(text), shortened(word)
    if value <= 0:
        raise OptionError(f"clocks '{text}': nothing runs at {word} MHz", expected="a clock is above 0")
    if value > MOST_MHZ:
        raise OptionError(f"clocks '{text}': {word} MHz is no clock", expected="clocks are in MHz: 2900 for 2.9 GHz")
    if (value * 10**6).denominator != 1:
        raise OptionError(f"clocks '{text}': {word} MHz is no whole number of hertz", expected="at most 6 decimals")
    return value


def parse_objectives(text: str) -> tuple[str, ...]:
    """Return the objectives of a list with commas, as they are written."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_policies(text: str) -> tuple[Policy, ...]:
    """Return the policies of a list with commas, in any letter case. Raises ``OptionError`` on an unknown one."""
    found: list[Policy] = []
    for part in text.split(","):
        name = part.strip().upper().replace("-", "_")
        policy = next((p for p in POLICIES if p == name), None)
        if policy is None:
            known = tuple(p for p in POLICIES if p != "STATIC_ORDER")  # whose lists no search makes
            raise OptionError(f"unknown policy '{part.strip()}'", expected=nearest_names(name, known))
        found.append(policy)
    return tuple(dict.fromkeys(found))


_MEMORY = re.compile(r"(\d{1,9})\s*([KMGT])(?:i?B)?", re.IGNORECASE)
_MEMORY_SHIFTS = {"K": 10, "M": 20, "G": 30, "T": 40}


def parse_memory(text: str) -> int:
    """Return the bytes of ``500M`` or ``4G``, units of 1024. Raises ``OptionError``."""
    match = _MEMORY.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise OptionError(f"memory '{text}' is not understood", expected="a whole number and its unit: 500M, 4G")
    return int(match[1]) << _MEMORY_SHIFTS[match[2].upper()]
