"""The Smith-Waterman network against an independent dynamic-programming implementation, and what it refuses."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import ExecutionError
from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.execution import RunOptions, RunResult, run_network
from tests.examples import seldom

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "actors" / "smith_waterman"
STREAMS = Path(os.environ.get("DSE_REFERENCE_DATA", ROOT.parent / "shared")) / "streams"
LOADED = load_network(str(FOLDER / "smith_waterman.xdf"))
Runner = Callable[[str], RunResult]


def align(reference: str, query: str, match: int = 5, mismatch: int = -3, gap: int = -3) -> tuple[int, str, str]:
    """Align by the recurrence on the whole matrix, with the tie-breaking that the network documents."""
    scores = np.zeros((len(query) + 1, len(reference) + 1), dtype=int)
    for i, own in enumerate(query, 1):
        for j, other in enumerate(reference, 1):
            diagonal = scores[i - 1, j - 1] + (match if own == other else mismatch)
            scores[i, j] = max(0, diagonal, scores[i - 1, j] + gap, scores[i, j - 1] + gap)
    # argmax returns the first maximum in row-major order.
    i, j = (int(k) for k in np.unravel_index(scores.argmax(), scores.shape))
    best, upper, lower = int(scores[i, j]), "", ""
    while scores[i, j] > 0:
        pair = match if query[i - 1] == reference[j - 1] else mismatch
        if scores[i, j] == scores[i - 1, j - 1] + pair:
            i, j, upper, lower = i - 1, j - 1, reference[j - 1] + upper, query[i - 1] + lower
        elif scores[i, j] == scores[i - 1, j] + gap:
            i, upper, lower = i - 1, "-" + upper, query[i - 1] + lower
        else:
            j, upper, lower = j - 1, reference[j - 1] + upper, "-" + lower
    return best, upper, lower


def printed(score: int, reference: str, query: str) -> str:
    return f"Score: {score}\nReference: {reference}\nQuery:     {query}\n"


def run_text(network: Network, path: Path, text: str, **options: int) -> RunResult:
    path.write_bytes(text.encode())
    return run_network(network, RunOptions(input=str(path), **options))


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    return lambda text: run_text(LOADED.network, tmp_path / "dna.txt", text)


def test_network_has_eleven_actors_and_four_pe() -> None:
    assert not LOADED.warnings
    instances = LOADED.network.instances
    assert len(instances) == 11
    assert sum(i.actor.name.endswith("Pe") for i in instances) == 4
    assert [i.name for i in instances if i.actor.natives] == ["source"]  # all others may go anywhere


def test_default_input_gives_the_expected_output() -> None:
    name = (FOLDER / "input.default").read_text().strip()
    result = run_network(LOADED.network, RunOptions(input=str(FOLDER / name)))
    assert result.stdout == (FOLDER / "expected" / "stdout.txt").read_text()
    assert result.stdout == printed(*align(*(FOLDER / name).read_text().split()))
    assert result.tokens_left == 0
    assert not result.warnings


@pytest.mark.parametrize("letters", ["AC", *seldom("ACGT", "A")])
def test_random_dna(letters: str, run: Runner) -> None:
    generator = random.Random(letters)
    for _ in range(40):
        reference, query = ("".join(generator.choices(letters, k=generator.randint(1, 35))) for _ in range(2))
        result = run(f"{reference}\n{query}\n")
        assert result.stdout == printed(*align(reference, query)), f"{reference} {query}"
        assert result.tokens_left == 0


@pytest.mark.parametrize(
    ("reference", "query"),
    [
        ("A", "A"),
        ("A", "C"),
        ("ACGTACGT", "ACGTACGT"),
        ("AAAAAAA", "CCCCC"),
        ("ACGTTGCA", "G"),
        ("G", "ACGTTGCA"),
        ("ACGT" * 60, "TACG"),
        ("TACG", "ACGT" * 60),
        ("AACCGGTT", "AACGGTT"),
        ("AACGGTT", "AACCGGTT"),
        ("ACGTA", "ACGTACGTA"),
    ],
    ids=lambda s: s if len(s) < 12 else f"{len(s)} letters",
)
def test_edge_cases(reference: str, query: str, run: Runner) -> None:
    assert run(f"{reference}\n{query}\n").stdout == printed(*align(reference, query))


def test_equal_sequences_align_without_gaps(run: Runner) -> None:
    assert run("GATTACA\nGATTACA\n").stdout == printed(35, "GATTACA", "GATTACA")


def test_no_match_gives_an_empty_alignment(run: Runner) -> None:
    assert run("AAAA\nCCCCCC\n").stdout == printed(0, "", "")


@pytest.mark.parametrize(
    "text", ["ACG\nAG", "ACG\r\nAG\r\n", "ACG\nAG\n\n \n"], ids=["no end", "two-character ends", "blanks"]
)
def test_line_ends(text: str, run: Runner) -> None:
    assert run(text).stdout == printed(*align("ACG", "AG"))


def test_longest_sequence(run: Runner) -> None:
    assert run("C" * 2047 + "A\nA\n").stdout == printed(5, "A", "A")


@pytest.mark.parametrize("fifo_tokens", [6, 7, 64, 4096])
def test_fifo_size_changes_nothing(fifo_tokens: int, tmp_path: Path) -> None:
    text = (FOLDER / "input.txt").read_text()
    results = [
        run_text(LOADED.network, tmp_path / "dna.txt", text, fifo_tokens=n, hash_channels=True)
        for n in (512, fifo_tokens)
    ]
    assert results[0].stdout == results[1].stdout
    assert results[0].actions == results[1].actions
    assert results[0].channels == results[1].channels


def test_scores_are_parameters_of_the_network(tmp_path: Path) -> None:
    text = (FOLDER / "smith_waterman.xdf").read_text()
    for old, new in (('value="5"', 'value="2"'), ('value="3"', 'value="1"')):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "other.xdf").write_text(text)
    network = load_network(str(tmp_path / "other.xdf"), source_paths=(str(FOLDER.parent),)).network
    generator = random.Random(7)
    for _ in range(10):
        reference, query = ("".join(generator.choices("ACGT", k=30)) for _ in range(2))
        result = run_text(network, tmp_path / "dna.txt", f"{reference}\n{query}\n")
        assert result.stdout == printed(*align(reference, query, match=2, mismatch=-1, gap=-1))


def test_reference_pair_has_the_score_of_the_public_network() -> None:
    path = STREAMS / "dna.txt"
    if not path.exists():
        pytest.skip(f"{path} is missing; set DSE_REFERENCE_DATA")
    assert run_network(LOADED.network, RunOptions(input=str(path))).stdout.startswith("Score: 436\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "line 1: no letters"),
        ("\nA\n", "line 1: no letters"),
        ("A\n", "line 2: the sequence is missing"),
        ("A\n\n", "line 2: no letters"),
        ("AcG\nA\n", "line 1, column 2: the character with code 99 is no letter of DNA"),
        ("ACG\nA G\n", "line 2, column 2: the character with code 32 is no letter of DNA"),
        ("A\rC\nA\n", "line 1, column 2: the character with code 13 is no letter of DNA"),
        ("A\nC\nG\n", "line 3: a third sequence"),
        ("A" * 2049 + "\nC\n", "line 1: more than 2048 letters"),
        ("A" * 9000, "the file has 9000 bytes, more than two sequences of 2048 letters need"),
    ],
)
def test_bad_input_is_refused(text: str, message: str, run: Runner, tmp_path: Path) -> None:
    with pytest.raises(ExecutionError) as caught:
        run(text)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == message
    assert diagnostic.span.path == str(tmp_path / "dna.txt")
    assert "two lines of the letters" in diagnostic.expected


def test_empty_file_is_refused(run: Runner) -> None:
    with pytest.raises(ExecutionError, match=r"line 1: the sequence is missing|is empty"):
        run("")
