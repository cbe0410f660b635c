"""What a measurement has so far, on disk while it goes on: whatever ends it, no run and no weights are lost."""

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from dse.base.escaping import shown
from dse.flows.profile import ProfiledNetwork
from dse.flows.profile_files import write_profiled_set, written_into
from dse.formats.study_place import made_aside
from dse.measure.session import MeasuredRun

WEIGHTS = "weights"
"""Folder with the weights that were measured for the estimates; a set for each input and FIFO size where there are
several."""
RUNS = "runs.tsv"
"""File with every run in the order of their making, as a table with tabs."""
OUT = "--out"
"""The option that names the folder of the results."""
UNDER_WAY = "under-way"
"""Folder below that of the results with both while a measurement goes on; the results take its place."""
EARLIER = "under-way-previous"
"""Where both are moved if a measurement that was ended has left them, with a number where there are several."""
_RUN_HEADINGS = ("round", "candidate", "run_ns", "state", "round_trips_ns", "work_ns", "involuntary_switches", "result")


class Journal:
    """Is told of a measurement as it goes on. This one keeps nothing, for who asks for the outcome only."""

    def begins(self, network: str) -> None:
        """Learn the name of the network."""

    def profiled(self, profiles: Sequence[tuple[str, ProfiledNetwork]]) -> None:
        """Take the weights of all that is profiled by now, with their labels."""

    def ran(self, name: str, run: MeasuredRun) -> None:
        """Take a run of the mapping of a name."""


NO_JOURNAL = Journal()


class FolderJournal(Journal):
    """Keeps weights and runs in a folder of its own below that of the results, whose files stay as they are.

    ``results``: returns the folder of the results of a network. Raises ``ExecutionError`` where it cannot be written.
    """

    def __init__(self, results: Callable[[str], Path]) -> None:
        self._results = results
        self._folder = Path(UNDER_WAY)
        self._runs: IO[str] | None = None
        self._begun = False
        self.earlier: Path | None = None
        """The folder to which what an earlier measurement had left was moved, None where there was nothing."""

    def begins(self, network: str) -> None:
        """As ``Journal``."""
        self._folder = self._results(network) / UNDER_WAY

    def profiled(self, profiles: Sequence[tuple[str, ProfiledNetwork]]) -> None:
        """As ``Journal``."""
        if profiles:
            with self._written():
                write_profiles(profiles, self._folder / WEIGHTS)

    def ran(self, name: str, run: MeasuredRun) -> None:
        """As ``Journal``."""
        with self._written():
            if self._runs is None:
                self._runs = (self._folder / RUNS).open("w", encoding="utf-8", buffering=1)
                self._runs.write("\t".join(_RUN_HEADINGS) + "\n")
            self._runs.write(run_row(name, run))

    @property
    def place(self) -> Path | None:
        """The folder, None where nothing is in it."""
        return self._folder if self._begun else None

    def close(self) -> None:
        """Write no more; what is there stays."""
        if self._runs is not None:
            self._runs.close()

    def remove(self) -> None:
        """Delete what was written: the results take its place."""
        self.close()
        if self._begun:
            shutil.rmtree(self._folder / WEIGHTS, ignore_errors=True)
            (self._folder / RUNS).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # the user keeps something there
                self._folder.rmdir()

    @contextlib.contextmanager
    def _written(self) -> Iterator[None]:
        """Do what writes, in a folder that is there; what an earlier measurement left there is moved aside first."""
        with written_into(self._folder, OUT):
            if not self._begun:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._set_aside()
                self._begun = True
            yield

    def _set_aside(self) -> None:
        left = [path for path in (self._folder / WEIGHTS, self._folder / RUNS) if path.exists()]
        if left:
            self.earlier = made_aside(self._folder.parent, EARLIER, None)
            for path in left:
                path.rename(self.earlier / path.name)


def runs_text(runs: Sequence[tuple[str, MeasuredRun]]) -> str:
    """Return every run with the name of its mapping, in the order of their making, as a table with tabs."""
    return "\t".join(_RUN_HEADINGS) + "\n" + "".join(run_row(name, run) for name, run in runs)


def run_row(name: str, run: MeasuredRun) -> str:
    """Return the line of a run of the mapping of a name."""
    trips = " ".join(f"{trip.before_ns:.0f}/{trip.after_ns:.0f}" for trip in run.trips)
    work = " ".join("{:.2f},{:.2f}/{:.2f},{:.2f}".format(*trip.work_ns) for trip in run.trips if trip.work_ns)
    switches = "" if run.switches is None else str(run.switches)
    result = "wrong" if run.wrong else "right"
    cells = (str(run.round), shown(name), str(run.run_ns), run.state or "mixed", trips, work, switches, result)
    return "\t".join(cells) + "\n"


def write_profiles(profiles: Sequence[tuple[str, ProfiledNetwork]], folder: Path) -> list[Path]:
    """Write weights of estimates, so that others can be made with them, each by its label; return the files."""
    written: list[Path] = []
    taken: set[str] = set()
    for label, profiled in profiles:
        name = re.sub(r"[^\w.-]+", "-", label, flags=re.ASCII).strip(".-") or ("input" if label else "")
        while name in taken:
            name += "-"
        taken.add(name)
        written += [folder / name / file for file in write_profiled_set(profiled, folder / name)]
    return written
