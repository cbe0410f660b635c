"""Every network of a corpus that runs, in both executions: a table of what they did and whether it was the same.

usage: python -m benchmarks.native.corpora [DIR] [--only TEXT] [--firings N] [--sanitize address,undefined|thread]
                                          [--markdown FILE] [--rows FILE]

DIR is the folder of orc-apps (default: DSE_CORPORA). Inputs are those of DSE_REFERENCE_DATA/streams, or of the
applications themselves. A network that cannot run on its own is told with the reason. The traces, the tokens of every
channel, what is printed and written, out-of-bounds accesses and how the run ended must be equal, firing by firing. With
--sanitize the programs are built with sanitizers, which end them where they find something; with ``thread`` they run on
two threads, and only tokens must be equal, where the network does not depend on time and comes to an end. With --rows,
rows are kept in a file as they are found, and a run that was ended goes on from there.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dse.base.errors import DseError
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.formats.xdf import read_xdf
from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.passes.analyses.time_dependence import find_time_dependence
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.natives.effects import native_effects
from dse.run.options import RunOptions
from tests.golden.acceptance import REFERENCE_DATA, corpus
from tests.native.same.comparing import (
    Built,
    built,
    compiler,
    differences,
    on_two_threads,
    outcome,
    with_files,
    written_alike,
)

FIRINGS = 200_000
_STREAMS = (
    ("JPEG/src/jpeg/encoder/", "bits.bin"),
    ("JPEG/", "foreman_qcif_1f.mjpg"),
    ("part10", "b1n.264"),
    ("avc", "b1n.264"),
    ("Genetic/", "dna.txt"),
    ("", "bits.bin"),
)
"""Part of a network's path -> the stream that it gets; the first that fits."""
_OWN_INPUTS = (
    ("DigitalFiltering/src/FIR/", "DigitalFiltering/lib/input_signals/fir"),
    ("DigitalFiltering/src/IIR/", "DigitalFiltering/lib/input_signals/iir"),
    ("DigitalFiltering/src/LMS/", "DigitalFiltering/lib/input_signals/lms"),
    ("ImageProcessing/src/image/textures/", "DigitalFiltering/lib/input_signals/fir"),
    ("Predistortion/", "Predistortion/lib/input_signals"),
    ("ZigBee/", "ZigBee/lib/input_signals/tx_stream.in"),
)
"""The same for inputs that the corpus itself has."""
_NO_FORM = re.compile(r"has no (Python counterpart|C\+\+ form)(\n(?!  = ).*)*\n  = bind it with .*")
"""How each execution says that it lacks a native function; the hint below tells how to bind one in its language."""
_LACKING = re.compile(r".*: in '.*', .*: (?=native '.*', declared in .*, has no form)")
"""Where it is lacking: on two threads, either of two actors may be the first to call it."""


HEAD = """# The public corpora in both executions

`python -m benchmarks.native.corpora --markdown docs/native-corpora.md` made this table from all networks of orc-apps
that have no ports, at most 200 000 firings each. *Equal* means: traces, tokens of every channel, text, files, warnings,
and how the run ended. A network that stops at a native function that neither execution has is equal when both stop
there. Times were taken while the machine had other work.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one network. ``why``: how the run ended, or why there was none."""

    path: str
    actors: int = 0
    firings: int = 0
    ended: str = ""
    equal: str = ""
    timed: str = ""
    python_s: float = 0.0
    native_s: float = 0.0


def tops(root: Path) -> Iterator[Path]:
    """Yield the networks without ports, in the order of their paths."""
    for path in sorted(root.rglob("*.xdf")):
        try:
            network = read_xdf(str(path))
        except DseError:
            continue
        if not network.ports and network.instances:
            yield path


def input_of(name: str, root: Path) -> Path:
    """Return the input with which a network is run."""
    for part, path in _OWN_INPUTS:
        if part in name and (root / path).exists():
            return root / path
    stream = next(stream for part, stream in _STREAMS if part.lower() in name.lower())
    return REFERENCE_DATA / "streams" / stream


def row_of(path: Path, root: Path, firings: int, build: BuildOptions) -> Row:
    """Run one network in both executions."""
    name = path.relative_to(root).as_posix()
    try:
        network = load_network(str(path)).network
    except DseError as error:
        return Row(path=name, ended=f"does not load: {error.first_error.message}")
    row = Row(path=name, actors=len(network.instances), timed=_dependence(network))
    options = RunOptions(input=str(input_of(name, root)), output="out.yuv", max_firings=firings, hash_channels=True)
    with tempfile.TemporaryDirectory(prefix="dse-corpora-") as folder:
        return _both(row, network, options, build, Path(folder))


def _dependence(network: Network) -> str:
    found = {f.actor for f in find_time_dependence(network, native_effects())}
    return f"{len(found)} actors" if found else "no"


def _both(row: Row, network: Network, options: RunOptions, build: BuildOptions, folder: Path) -> Row:
    places = [folder / "python", folder / "native"]
    for place in places:
        place.mkdir()
    start = time.perf_counter()
    python = outcome(lambda: run_network(network, with_files(options, places[0])))
    seconds = time.perf_counter() - start
    row = replace(_ran(row, python), python_s=seconds)
    try:
        of = built(network, build)
    except NoNativeForm as reason:
        return replace(row, equal=f"no C++ form: {reason.first_error.message}")
    except DseError as error:
        return replace(row, equal=f"not built: {error.first_error.message}")
    compare = _compared_on_threads if "thread" in build.sanitize else _compared
    return compare(row, of, options, python, places)


def _compared(row: Row, of: Built, options: RunOptions, python: RunResult | str, places: list[Path]) -> Row:
    start = time.perf_counter()
    native = of.run(with_files(options, places[1]))
    seconds = time.perf_counter() - start
    found = differences(_comparable(python, places[0]), _comparable(native, places[1]))
    found += written_alike(*places)
    return replace(row, native_s=seconds, equal=f"**no**: {found[0]}" if found else "yes")


def _compared_on_threads(row: Row, of: Built, options: RunOptions, python: RunResult | str, places: list[Path]) -> Row:
    start = time.perf_counter()
    native = on_two_threads(of, with_files(options, places[1]), places[1].parent)
    row, ours, theirs = replace(row, native_s=time.perf_counter() - start), python, native
    if isinstance(ours, RunResult) and isinstance(theirs, RunResult):
        ended = "budget" not in (ours.why, theirs.why) and row.timed == "no"
        return replace(row, equal="yes" if not ended or ours.channels == theirs.channels else "**no**: other tokens")
    sides = _comparable(ours, places[0]), _comparable(theirs, places[1])
    found = differences(*(_LACKING.sub("", side) if isinstance(side, str) else side for side in sides))
    return replace(row, equal=f"**no**: {found[0]}" if found else "yes")


def _comparable(result: RunResult | str, folder: Path) -> RunResult | str:
    """Return an error without the name of the folder of its execution, and without the language of a missing native."""
    if isinstance(result, RunResult):
        return result
    return _NO_FORM.sub("has no form", result.replace(str(folder), "OUT"))


def _ran(row: Row, python: RunResult | str) -> Row:
    """Return the row with what the run in Python did."""
    if isinstance(python, RunResult):
        return replace(row, firings=python.n_firings, ended=python.why)
    return replace(row, ended=python.splitlines()[0].partition("error: ")[2])


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown: those that ran, then those that did not load."""
    ran = [r for r in rows if r.equal]
    lines = [
        f"{sum(r.equal == 'yes' for r in ran)} of {len(ran)} networks do the same in both executions;"
        f" {sum(r.firings > 0 for r in ran)} of them fire.",
        "",
        "| network | actors | firings | ended | depends on time | Python s | native s | equal |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in ran:
        seconds = f"{r.python_s:.2f} | {r.native_s:.2f}"
        cells = (r.path, r.actors, f"{r.firings:,}", _cell(r.ended), r.timed, seconds, _cell(r.equal))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lost = [r for r in rows if not r.equal]
    lines += ["", f"{len(lost)} networks do not load:", "", "| network | why |", "| --- | --- |"]
    lines += [f"| {r.path} | {_cell(r.ended)} |" for r in lost]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    plain = " ".join(text.replace("|", "/").split())
    return plain if len(plain) <= 160 else plain[:157] + "..."


def _rows(root: Path, only: str, firings: int, build: BuildOptions, kept: Path | None) -> list[Row]:
    """Run the networks whose path holds a text and that are not among the rows that are kept; return all of these."""
    rows = _kept(kept)
    for path in tops(root):
        name = path.relative_to(root).as_posix()
        if only in name and name not in rows:
            row = row_of(path, root, firings, build)
            print(row.path, row.firings, row.ended, row.equal or "-", sep=" | ", file=sys.stderr, flush=True)
            rows[name] = row
            _keep(kept, row)
    return [rows[name] for name in sorted(rows) if only in name]


def _kept(path: Path | None) -> dict[str, Row]:
    """Return the rows of an earlier run, by the path of their network."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    return {row.path: row for row in (Row(**json.loads(line)) for line in lines)}


def _keep(path: Path | None, row: Row) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run every network of a corpus in both executions.")
    parser.add_argument("corpus", metavar="DIR", nargs="?")
    parser.add_argument("--only", metavar="TEXT", default="", help="networks whose path holds it")
    parser.add_argument("--firings", metavar="N", type=int, default=FIRINGS, help="end each run after so many")
    parser.add_argument("--sanitize", choices=("", "address,undefined", "thread"), default="", help="build so")
    parser.add_argument("--markdown", metavar="FILE", help="write the table to a file")
    parser.add_argument("--rows", metavar="FILE", type=Path, help="keep the rows in a file, and begin with those in it")
    args = parser.parse_args()
    if compiler() is None:
        print("there is no C++ compiler", file=sys.stderr)
        return 1
    root = Path(args.corpus) if args.corpus else corpus()
    build = BuildOptions(sanitize=tuple(filter(None, args.sanitize.split(","))))
    found = _rows(root, args.only, args.firings, build, args.rows)
    text = HEAD + table(found).replace(f"{root}/", "")
    if args.markdown:
        Path(args.markdown).write_text(text, encoding="utf-8")
    print(text, end="")
    return 1 if any(r.equal.startswith("**no**") for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
