"""FPGA devices, and what a kernel would take on one: the contract of the FPGA estimate.

The constants are those that a high-level synthesis tool decides by: latency and resources of each operator, ports and
latency of the memory on the chip, and how quickly the memory outside is read.
"""

from dataclasses import dataclass

from dse.base.errors import FormatError

OPERATORS = (
    "integer_add",
    "integer_multiply",
    "integer_divide",
    "float_add",
    "float_multiply",
    "float_divide",
    "float_function",
    "double_add",
    "double_multiply",
    "double_divide",
    "double_function",
)
"""Operators of a data path; ``function``: square roots, exponentials and the like. Logic and comparisons are free."""


@dataclass(frozen=True, slots=True)
class FpgaConstant:
    """A constant and where it comes from. ``key``: as in the file (``operators.float_add.dsp``); false is 0, true 1."""

    key: str
    value: float
    source: str
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A pipelined unit that takes new operands in each cycle, and what it is built of."""

    latency_cycles: int
    dsp: int
    lut: int
    ff: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """DSP slices, look-up tables, flip-flops and blocks of memory: of a device, or used."""

    dsp: int
    lut: int
    ff: int
    bram: int

    def beyond(self, most: "Resources") -> str | None:
        """Return the name of a resource of which there is more here than ``most``, None if there is none."""
        pairs = (("dsp", "DSP slices"), ("lut", "look-up tables"), ("ff", "flip-flops"), ("bram", "blocks of memory"))
        return next((name for field, name in pairs if getattr(self, field) > getattr(most, field)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fpga:
    """An FPGA. ``bram_bytes``: of one block; ``overlap``: a tile is moved while another one is computed."""

    name: str
    clock_mhz: float
    memory_gb_s: float
    overlap: bool
    resources: Resources
    bram_bytes: int
    read_ports: int
    write_ports: int
    load_cycles: int
    store_cycles: int
    operators: tuple[tuple[str, Operator], ...]
    constants: tuple["FpgaConstant", ...] = ()

    def operator(self, name: str) -> Operator:
        """Return an operator. Raises ``FormatError`` where the file has none of that name."""
        found = dict(self.operators).get(name)
        if found is None:
            raise FormatError(
                f"FPGA '{self.name}' has no operator {name}, which the kernel needs",
                expected=f"add operators.{name} to the FPGA file: {{latency_cycles: , dsp: , lut: , ff: , source: }}",
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FpgaEstimate:
    """A kernel on an FPGA, all its launches. ``interval_cycles``: initiation interval of its longest loop, or body.

    ``lanes``: copies of the data path; ``tile``: rounds of each loop whose data are on the chip together;
    ``limit``: what keeps it from being quicker, in words.
    """

    kernel: str
    time_s: float
    compute_s: float
    transfer_s: float
    moved_bytes: float
    lanes: int
    interval_cycles: int
    depth_cycles: int
    tile: int
    used: Resources
    limit: str
