"""What one session of measuring tells about another: the noise that hours make, beside that of the runs of one session.

    python -m benchmarks.native.sessions FOLDER OTHER [FOLDER ...]

The folders are those of jobs that ``benchmarks.native.agreement`` or ``dse measure`` has left, each with a
``measured.json``, of the same mappings. For each pair of sessions and each state of the machine two lines: how near the
times measured in the first are to those measured in the second, and how near the first one's estimates are. No estimate
can be nearer than another measurement but by chance.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from dse.measure.agreement import agreement

_FEWEST = 8
"""Of fewer mappings that both sessions have in a state nothing is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What a session says of a mapping, in ns: estimated, the median of its runs, the fastest."""

    estimated: float
    median: float
    least: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The times of the mappings that were scored, by state and name."""

    name: str
    times: dict[str, dict[str, Times]]


def read_session(folder: Path) -> Session:
    """Return the session whose job has left a folder."""
    document = json.loads((folder / "measured.json").read_text())
    times = {
        state["state"]: {
            pair["name"]: Times(estimated=pair["estimated_ns"], median=pair["median_ns"], least=pair["least_ns"])
            for pair in state["pairs"]
            if pair["scored"]
        }
        for state in document["states"]
    }
    return Session(name=folder.parent.name, times=times)


def rows(first: Session, second: Session) -> Iterator[str]:
    """Yield the lines of a table of two sessions."""
    for state in sorted(first.times.keys() & second.times.keys()):
        one, other = first.times[state], second.times[state]
        pairs = [(one[name], other[name]) for name in sorted(one.keys() & other.keys())]
        if len(pairs) < _FEWEST:
            continue
        head = (first.name, second.name, state, str(len(pairs)))
        medians = [(guess.median, seen.median) for guess, seen in pairs]
        fastest = [(guess.least, seen.least) for guess, seen in pairs]
        yield _line(*head, "measured", *_cells(medians), *_cells(fastest))
        medians = [(guess.estimated, seen.median) for guess, seen in pairs]
        fastest = [(guess.estimated, seen.least) for guess, seen in pairs]
        yield _line(*head, "estimated", *_cells(medians), *_cells(fastest))


def _cells(pairs: Sequence[tuple[float, float]]) -> tuple[str, str]:
    """Return how near times are to those that were measured, in pairs."""
    guesses, measured = zip(*pairs, strict=True)
    found = agreement(guesses, measured)
    return f"{found.spearman:.3f}", f"{100 * found.normalised.mean:.1f} %, {100 * found.normalised.maximum:.1f} %"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="What one session of measuring tells about another.")
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    print("| of | of | cores | mappings | by | Spearman | divergence mean, max | fastest: Spearman | divergence |")
    print("|---|---|---|---|---|---|---|---|---|")
    for first, second in permutations(map(read_session, args.folders), 2):
        print("\n".join(rows(first, second)))


if __name__ == "__main__":
    main()
