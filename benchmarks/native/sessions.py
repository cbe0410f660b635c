"""What one session of measuring tells about another: the noise that hours make, beside that of the runs of one session.

    python -m benchmarks.native.sessions FOLDER OTHER [FOLDER ...]

The folders are those of jobs that ``benchmarks.native.agreement`` or ``dse measure`` has left, each with a
``measured.json``, of the same mappings. For each pair of sessions and each state of the machine two lines: how near the
times measured in the first are to those measured in the second, and how near the first one's estimates are. No estimate
can be nearer than another measurement but by chance.
"""

import argparse
import json
import math
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


def read_session(folder: Path) -> dict[str, dict[str, Times]]:
    """Return the times of the mappings that were scored, by state and name."""
    document = json.loads((folder / "measured.json").read_text())
    return {
        state["state"]: {
            pair["name"]: Times(
                estimated=pair["estimated_ns"] or math.inf, median=pair["median_ns"], least=pair["least_ns"]
            )
            for pair in state["pairs"]
            if pair["scored"]
        }
        for state in document["states"]
    }


def rows(first: Path, second: Path) -> Iterator[str]:
    """Yield the lines of a table of two sessions."""
    one, other = read_session(first), read_session(second)
    for state in sorted(one.keys() & other.keys()):
        common = sorted(one[state].keys() & other[state].keys())
        pairs = [(one[state][n], other[state][n]) for n in common if math.isfinite(one[state][n].estimated)]
        if len(pairs) < _FEWEST:
            continue
        head = (first.parent.name, second.parent.name, state, str(len(pairs)))
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
    for first, second in permutations(args.folders, 2):
        print("\n".join(rows(first, second)))


if __name__ == "__main__":
    main()
