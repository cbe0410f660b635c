"""What a kernel takes on an FPGA: the same loops, list-scheduled, pipelined, in lanes side by side, tile after tile.

The method is that of Lin-Analyzer (Zhong, Prakash, Liang, Mitra, Niar, DAC 2016): operators with latencies and
resources, memory on the chip with ports, list scheduling, an initiation interval from resources and recurrences. On it
the predictor is built that CGPredict takes its FPGA times from (Zhong et al., DATE 2017). Threads of the kernel are
independent, so they take turns in a pipeline, which hides recurrences, and lanes (copies of the data path) execute
neighbouring threads. Number of lanes, interval and width of tiles are chosen for the least time that fits the device.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from dse.base.errors import ModelNotApplicable
from dse.gpu.fpga.dataflow import Dataflow, Operation
from dse.gpu.fpga.nest import Nested, Piece, Straight, pieces_of, rounds_of_loops, steps_of_loops, straights
from dse.gpu.fpga.schedule import (
    depth_cycles,
    ports_interval,
    recurrence_interval,
    recurrences,
    units_for,
    updating_cycles,
)
from dse.gpu.fpga.tiles import Tiling, Touched, moved_bytes, tile_bytes
from dse.model.fpga import Fpga, FpgaEstimate, Resources
from dse.model.kernel import Kernel

_MOST_LANES = 1 << 12
_MOST_TILE = 1 << 16


def estimate_on_fpga(kernel: Kernel, fpga: Fpga) -> FpgaEstimate:
    """Return the least time of a kernel, all its launches.

    Raises:
        ModelNotApplicable: a loop has no known rounds, the code is one for GPUs, is empty, or nothing of it fits.
        FormatError: the FPGA file lacks an operator.
    """
    design = _Design.of(kernel, fpga)
    found = [one for lanes in design.lane_counts() for one in design.with_lanes(lanes)]
    if not found:
        raise ModelNotApplicable(
            f"nothing of {kernel.name} fits {fpga.name}", span=kernel.span, expected="an FPGA with more resources"
        )
    best = min(found, key=lambda one: (one.time_s, one.lanes, one.used.bram, -one.interval_cycles))
    return replace(best, limit=design.limit(best))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """A kernel as it is built on an FPGA, before lanes, interval and tiles are chosen."""

    kernel: Kernel
    fpga: Fpga
    pieces: tuple[Piece, ...]
    rounds: Mapping[str, float]
    steps: Mapping[str, int]
    touched: tuple[Touched, ...]
    waits: Mapping[str, Fraction]
    """Recurrence interval of each innermost loop, by its variable."""

    @staticmethod
    def of(kernel: Kernel, fpga: Fpga) -> "_Design":
        """Analyse a kernel."""
        pieces = pieces_of(kernel, fpga)
        if not any(straights(pieces)):
            raise ModelNotApplicable(
                f"{kernel.name} computes nothing", span=kernel.span, expected="loops with statements in them"
            )
        return _Design(
            kernel=kernel,
            fpga=fpga,
            pieces=pieces,
            rounds=rounds_of_loops(kernel, pieces),
            steps=steps_of_loops(kernel, pieces),
            touched=tuple(_touched(kernel, pieces)),
            waits=dict(_waits(pieces)),
        )

    def lane_counts(self) -> list[int]:
        """Return the numbers of lanes to try: powers of two up to the threads of x."""
        across = self.kernel.parallel[0].extent if self.kernel.parallel else 1
        found = [1]
        while found[-1] * 2 <= min(across, _MOST_LANES) and self._fits_at_all(found[-1] * 2):
            found.append(found[-1] * 2)
        return found

    def _fits_at_all(self, lanes: int) -> bool:
        """Whether so many lanes fit at the slowest interval."""
        slowest = max((n for piece in straights(self.pieces) for n in piece.flow.counts().values()), default=1)
        return self._logic(lanes, slowest).beyond(self.fpga.resources) is None

    def with_lanes(self, lanes: int) -> Iterator[FpgaEstimate]:
        """Yield what fits with so many lanes: at each interval that saves units the widest tiles that fit."""
        most = max((n for piece in straights(self.pieces) for n in piece.flow.counts().values()), default=1)
        for interval in range(1, most + 1):
            logic = self._logic(lanes, interval)
            if logic.beyond(self.fpga.resources) is None:
                yield from self._with_tiles(lanes, interval, logic)
                return  # a longer interval is slower, and its units are not needed

    def _with_tiles(self, lanes: int, interval: int, logic: Resources) -> Iterator[FpgaEstimate]:
        width = 1
        while width <= _MOST_TILE:
            tiling = Tiling(self.rounds, self.steps, width)
            used = replace(logic, bram=self._blocks(lanes, tiling))
            if used.beyond(self.fpga.resources) is not None:
                return
            yield self._timed(lanes, interval, tiling, used)
            if width >= max(self.rounds.values(), default=1):
                return
            width *= 2

    def _logic(self, lanes: int, interval: int) -> Resources:
        """Return what the data paths are built of: pieces take turns, so they share units."""
        units: dict[str, int] = {}
        for piece in straights(self.pieces):
            for name, number in units_for(piece.flow, max(interval, self._ports(piece.flow, lanes))).items():
                units[name] = max(units.get(name, 0), number)
        built = [(self.fpga.operator(name), n) for name, n in units.items() if not name.startswith(("load ", "store "))]
        return Resources(
            dsp=lanes * sum(n * one.dsp for one, n in built),
            lut=lanes * sum(n * one.lut for one, n in built),
            ff=lanes * sum(n * one.ff for one, n in built),
            bram=0,
        )

    def _ports(self, flow: Dataflow, lanes: int) -> int:
        """Return the interval that the ports of memories allow with so many lanes."""
        shared = {t.array.name for t in self.touched if self._banks(t, 2) == 0}
        ports = {}
        for name in flow.counts():
            if name.startswith("load "):
                ports[name] = self.fpga.read_ports
            elif name.startswith("store "):
                ports[name] = self.fpga.write_ports
        crowded = replace(flow, operations=tuple(_crowded(flow.operations, shared, lanes))) if shared else flow
        return ports_interval(crowded, ports)

    def _banks(self, touched: Touched, lanes: int) -> int:
        """Return the banks of an array: one a lane where lanes touch their own, else one; 0 where nobody knows."""
        if not self.kernel.parallel:
            return 1
        across = self.kernel.parallel[0].variable.name
        places = [of for one, _ in touched.accesses for of in one.place]
        if any(of is None for of in places) or touched.array.name in self.kernel.atomic:
            return 0
        return lanes if any(across in dict(of.terms) for of in places if of is not None) else 1

    def _blocks(self, lanes: int, tiling: Tiling) -> int:
        total = 0
        for touched in self.touched:
            banks = max(1, self._banks(touched, lanes))
            size = tile_bytes(touched, tiling) * (1 if touched.array.storage == "global" else lanes)
            total += banks * max(1, ceil(size / banks / self.fpga.bram_bytes))
        return total * (2 if self.fpga.overlap else 1)

    def _timed(self, lanes: int, interval: int, tiling: Tiling, used: Resources) -> FpgaEstimate:
        fpga, kernel = self.fpga, self.kernel
        grid = tiling.threads_tiles(loop.variable.name for loop in kernel.parallel)
        turns = max(1.0, kernel.threads / grid / lanes)
        cycles = grid * sum(self._cycles(piece, lanes, interval, turns, tiling) for piece in self.pieces)
        moved = kernel.launches * sum(moved_bytes(t, tiling) for t in self.touched if t.array.storage == "global")
        compute_s = kernel.launches * cycles / (fpga.clock_mhz * 1e6)
        transfer_s = moved / (fpga.memory_gb_s * 1e9)
        longest = max(straights(self.pieces), key=lambda p: len(p.flow.operations))
        real = max(interval, self._ports(longest.flow, lanes))
        return FpgaEstimate(
            kernel=kernel.name,
            time_s=max(compute_s, transfer_s) if fpga.overlap else compute_s + transfer_s,
            compute_s=compute_s,
            transfer_s=transfer_s,
            moved_bytes=moved,
            lanes=lanes,
            interval_cycles=real,
            depth_cycles=depth_cycles(longest.flow, real),
            tile=tiling.width,
            used=used,
            limit="",
        )

    def _cycles(self, piece: Piece, lanes: int, interval: int, turns: float, tiling: Tiling) -> float:
        """Return the cycles of a piece for ``turns`` threads that take turns in a lane."""
        if isinstance(piece, Straight):
            real = max(interval, self._ports(piece.flow, lanes))
            serial = turns * lanes * updating_cycles(piece.flow, self.kernel.atomic)
            return max(serial, depth_cycles(piece.flow, real) + (turns - 1) * real)
        flow = piece.pipelined
        if flow is None:
            return piece.rounds * sum(self._cycles(p, lanes, interval, turns, tiling) for p in piece.body)
        real = max(interval, self._ports(flow, lanes))
        depth = depth_cycles(flow, real)
        apart = max(float(real), float(self.waits[piece.variable]) / turns)
        fills = min(tiling.tiles(piece.variable), piece.rounds)
        serial = piece.rounds * turns * lanes * updating_cycles(flow, self.kernel.atomic)
        return max(serial, fills * depth + max(0.0, piece.rounds * turns - fills) * apart)

    def limit(self, best: FpgaEstimate) -> str:
        """Return in words what keeps the best design from being quicker."""
        if best.transfer_s > best.compute_s:
            return f"moving {best.moved_bytes / 1e6:.3g} MB bounds it"
        twice = 2 * best.lanes
        across = self.kernel.parallel[0].extent if self.kernel.parallel else 1
        if twice > across:
            return "computing bounds it: each of its threads has a lane" if across > 1 else "one thread computes it"
        if self.kernel.atomic:
            return "computing bounds it: threads wait for each other where they add to one array"
        lacking = self._logic(twice, 1).beyond(self.fpga.resources)
        return f"computing bounds it: twice the lanes need more {lacking or 'blocks of memory'} than there are"


def _crowded(operations: Sequence[Operation], shared: set[str], lanes: int) -> Iterator[Operation]:
    """Yield operations, those of arrays that all lanes reach for once for each lane."""
    for one in operations:
        yield from (one for _ in range(lanes if one.array in shared else 1))


def _touched(kernel: Kernel, pieces: Sequence[Piece]) -> Iterator[Touched]:
    threads = tuple(loop.variable.name for loop in reversed(kernel.parallel))
    for array in kernel.arrays:
        accesses = tuple(
            (one, (*threads, *piece.around))
            for piece in straights(pieces)
            for one in piece.flow.operations
            if one.array == array.name
        )
        if accesses:
            yield Touched(array=array, accesses=accesses)


def _waits(pieces: Sequence[Piece]) -> Iterator[tuple[str, Fraction]]:
    for piece in pieces:
        if not isinstance(piece, Nested):
            continue
        flow = piece.pipelined
        if flow is not None:
            yield piece.variable, recurrence_interval(recurrences(flow, piece.variable, piece.step))
        else:
            yield from _waits(piece.body)
