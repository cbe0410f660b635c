"""The least periods of the SDF3 graphs of a folder, what they take to compute, and what other tools say of them.

    python -m benchmarks.throughput FOLDER...

Sizes of channels are left out, as in SDF3's analysis of throughput, and where an actor has several default processors
the last one counts, as there. Both ways of firings are shown: one after the other, as Kiter's benchmarks have it by
channels of actors to themselves, and with overlap, as SDF3 has it.
"""

import argparse
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dse.base.errors import DseError
from dse.flows.graphs import is_graph, read_graph
from dse.model.dataflow_graph import DataflowActor
from dse.sdf.balance import repetition_vector
from dse.sdf.throughput.periodic import LeastPeriod, least_period
from dse.sdf.throughput.storage import TimedDataflow

KITER, SDF3 = "Kiter", "SDF3"
PUBLISHED: dict[str, tuple[str, float, str]] = {
    "BlackScholes": ("period", 42053349.0, KITER),
    "sample": ("period", 23.0, KITER),
    "h263decoder": ("throughput", 3.01163e-06, SDF3),
    "h263encoder": ("throughput", 4.72981e-06, SDF3),
    "modem": ("throughput", 0.0625, SDF3),
    "mp3decoder_block_parallelism": ("throughput", 3.58873e-06, SDF3),
    "mp3decoder_granule_parallelism": ("throughput", 3.58873e-06, SDF3),
    "mp3playback": ("throughput", 8.33333e-06, SDF3),
    "samplerate": ("throughput", 0.00104167, SDF3),
    "satellite": ("throughput", 0.00094697, SDF3),
    "expansion_paper_sdf": ("throughput", 0.222222, SDF3),
    "expansion_paper_norm_sdf": ("throughput", 0.222222, SDF3),
    "small_cyclic": ("throughput", 0.0117647, SDF3),
    "medium_cyclic": ("throughput", 0.00254453, SDF3),
    "large_cyclic": ("throughput", 0.00252525, SDF3),
}
"""File without ending -> what a tool says of it. Kiter: README.md and Makefile of the repository `bbodin/kiter` (one
firing at a time). SDF3: printed by `sdf3analysis-sdf --algo throughput` of its release of 7 March 2009 (repository
`rhishi/SDF3`), for its own testbench, Kiter's graphs and mocasin's examples; with overlap."""


@dataclass(frozen=True, slots=True)
class Row:
    """A graph: its size, the least period without and with overlap, None for a deadlock, and the seconds of both."""

    name: str
    n_actors: int
    n_firings: int
    alone: Fraction | None
    overlapping: Fraction | None
    seconds: float


def main() -> None:
    """Analyse all graphs of the folders and print a table."""
    parser = argparse.ArgumentParser(description="Least periods of SDF3 graphs, beside what other tools say.")
    parser.add_argument("folders", nargs="+", type=Path)
    compared = agreed = 0
    print(f"{'graph':<34}{'actors':>7}{'firings':>9}{'period':>16}{'overlap':>16}{'s':>8}  published")
    for path in [p for folder in parser.parse_args().folders for p in sorted(folder.glob("*.xml"))]:
        try:
            row = analysed(str(path))
        except DseError as error:
            print(f"{path.stem:<34}left out: {error.first_error.message[:70]}")
            continue
        said, agrees = beside(row)
        compared, agreed = compared + (said != ""), agreed + agrees
        numbers = "".join(f"{_text(period):>16}" for period in (row.alone, row.overlapping))
        print(f"{row.name:<34}{row.n_actors:>7}{row.n_firings:>9}{numbers}{row.seconds:>8.2f}  {said}", flush=True)
    print(f"\n{agreed} of {compared} agree with what is published, to the digits given")


def analysed(path: str) -> Row:
    """Return what is found of a graph. Raises ``DseError`` for a file that is not a static graph."""
    if not is_graph(path):
        raise DseError(f"'{path}' is no graph")
    graph = read_graph(path)
    firings = repetition_vector(graph)
    times = tuple(_times(actor) for actor in graph.actors)
    began, found = time.perf_counter(), list[LeastPeriod]()
    for overlap in (False, True):
        flow = TimedDataflow(graph=graph, firings=firings, times=times, overlap=overlap)
        timed = flow.timed(flow.unlimited)
        limit = least_period(timed)
        found.append(limit)
    seconds = time.perf_counter() - began
    periods = [None if one.ticks is None else one.ticks / timed.ticks_per_unit for one in found]
    return Row(Path(path).stem, len(graph.actors), sum(firings), periods[0], periods[1], seconds)


def _times(actor: DataflowActor) -> tuple[Fraction, ...]:
    """Return the times of an actor on the last of its default processors; 0 where there are none."""
    default = [time for time in actor.times if time.default] or list(actor.times[:1])
    return default[-1].times if default else (Fraction(0),) * actor.n_phases


def beside(row: Row) -> tuple[str, bool]:
    """Return what is published of a graph, and whether it is what was found."""
    if row.name not in PUBLISHED:
        return "", False
    quantity, value, tool = PUBLISHED[row.name]
    period = row.alone if tool == KITER else row.overlapping
    if not period:
        return f"{tool}: {quantity} {value:g}", False
    found = float(period if quantity == "period" else 1 / period)
    agrees = abs(found - value) <= 5e-6 * value
    return f"{tool}: {quantity} {value:g}{'' if agrees else ' DIFFERS'}", agrees


def _text(period: Fraction | None) -> str:
    return "deadlock" if period is None else str(period)


if __name__ == "__main__":
    main()
