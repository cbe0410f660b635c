"""Options of a run, as the command line and the Python API give them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

ExecutionMode: TypeAlias = Literal["auto", "native", "python"]
"""``--execution``: native where it pays; always native, or an error that says why not; always in Python."""
EXECUTION_MODES: tuple[ExecutionMode, ...] = ("auto", "native", "python")
FIFO_TOKENS = 512
"""Default capacity of a FIFO in tokens (cal.md 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run a network. ``loops``: times the input is read; ``frames``: stop after so many pictures."""

    input: str | None = None
    output: str | None = None
    """Where pictures, or what a sink native writes, go."""
    write: str | None = None
    """Where a writer native writes; ``output`` if None."""
    reference: str | None = None
    """Planar pictures, or bytes, that the output must equal."""
    tolerance: int = 0
    """Largest difference of a sample from the reference that counts as equal."""
    loops: int = 1
    frames: int | None = None
    fifo_tokens: int = FIFO_TOKENS
    max_firings: int | None = None
    idle_firings: int = 100_000
    natives: tuple[tuple[str, str], ...] = ()
    """Overrides: ("unit.function", "python.module:callable"), or ("unit.function", "file.cpp:symbol")."""
    execution: ExecutionMode = "auto"
    """Which execution the flows choose; ``run_network`` itself is the one in Python."""
    hash_channels: bool = False
    record_accesses: bool = False
    count_rounds: bool = False
    """Count how often the loops run whose ends depend on data, and the branches taken (``Trace.rounds``)."""
    files: str | None = None
    """Folder below which files are created that the program names itself; None: ``dse-out/NETWORK/files``."""
    allow_files: tuple[str, ...] = ()
    """Folders below which the program may read and write whatever it names."""
    unnamed_output: str | None = None
    """Name below ``files`` of what a writer native writes when ``output`` and ``write`` are None; None: an error."""
    max_memory_bytes: int | None = None
    """By how much the memory of the process may grow during the run; None: four fifths of what is free."""
    console_input: tuple[str, ...] = ()
    """Lines that console natives read."""


PLAIN_RUN = RunOptions()
"""A run as it is when nothing is said about it."""
