"""The denoise network: its picture, by an independent program in numpy; what it refuses; its parameters."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from dse.base.errors import DseError
from dse.frontend.network.elaborate import load_network
from dse.run.execution import run_network
from dse.run.options import RunOptions

ACTORS = Path(__file__).resolve().parents[2] / "actors"
FOLDER = ACTORS / "denoise"
sys.path.insert(0, str(FOLDER))
from make_input import NOISE, noisy, pgm, scene  # noqa: E402

Picture = NDArray[np.int64]
TABLE = np.rint(4096 * np.exp(-16 * np.arange(183) / (9 * (0.4 * NOISE) ** 2))).astype(np.int64)
"""exp(-d / h^2) of the paper with h = 0.4 sigma, by steps of 16 of nine times the mean square d."""
SMALL = {"TILE": 8, "SEARCH": 3}
"""Squares and windows that Python is through with soon."""


def cleaned(picture: NDArray[np.uint8], search: int, patch: int = 1) -> Picture:
    """Return non-local means of a whole picture at once, tones adjusted; shape as ``picture``."""
    (height, width), halo = picture.shape, search + patch
    wide = np.pad(picture.astype(np.int64), halo, mode="edge")

    def moved(y: int, x: int, margin: int) -> Picture:
        return wide[halo - margin + y : halo + margin + y + height, halo - margin + x : halo + margin + x + width]

    sums, totals = np.zeros(picture.shape, np.int64), np.zeros(picture.shape, np.int64)
    for dy in range(-search, search + 1):
        for dx in range(-search, search + 1):
            squares = (moved(0, 0, patch) - moved(dy, dx, patch)) ** 2
            within = np.lib.stride_tricks.sliding_window_view(squares, (2 * patch + 1, 2 * patch + 1)).sum((2, 3))
            step = np.maximum(within - int(9 * 2 * NOISE**2), 0) >> 4
            weight = np.where(step < len(TABLE), TABLE[np.minimum(step, len(TABLE) - 1)], 0)
            sums += weight
            totals += weight * moved(dy, dx, 0)
    clean = (totals + sums // 2) // sums
    return (clean * clean * (765 - 2 * clean) + 32512) // 65025


def network_with(folder: Path, constants: dict[str, int]) -> str:
    """Copy the program, with other constants in its unit; return the path of the network."""
    shutil.copytree(ACTORS, folder / "actors", ignore=shutil.ignore_patterns("jpeg", "matrix", "smith_waterman"))
    unit = folder / "actors" / "denoise" / "Format.cal"
    text = unit.read_text()
    for name, value in constants.items():
        text = re.sub(rf"\b{name} = \d+;", f"{name} = {value};", text)
    unit.write_text(text)
    return str(folder / "actors" / "denoise" / "denoise.xdf")


def shown(network: str, data: bytes, folder: Path) -> Picture:
    """Return the picture that a run shows for an input."""
    (folder / "in.pgm").write_bytes(data)
    out = folder / "out.png"
    run_network(load_network(network).network, RunOptions(input=str(folder / "in.pgm"), output=str(out)))
    return np.asarray(Image.open(out).convert("L")).astype(np.int64)


@pytest.mark.parametrize(("height", "width"), [(8, 8), (11, 19), (1, 1), (17, 5)])
def test_squares_give_what_the_whole_picture_gives(height: int, width: int, tmp_path: Path) -> None:
    picture = noisy(height, width, seed=height)
    found = shown(network_with(tmp_path, SMALL), pgm(picture), tmp_path)
    assert found.tolist() == cleaned(picture, SMALL["SEARCH"]).tolist()


def test_the_expected_picture_is_that_of_numpy_with_the_parameters_of_the_paper_and_has_less_noise() -> None:
    expected = np.asarray(Image.open(FOLDER / "expected" / "picture.png").convert("L")).astype(np.int64)
    picture = noisy(64, 64)
    assert pgm(picture) == (FOLDER / "input.pgm").read_bytes()
    assert expected.tolist() == cleaned(picture, search=10).tolist()
    true = scene(64, 64)
    toned = true * true * (765 - 2 * true) / 65025
    before = picture * (picture.astype(float)) * (765.0 - 2 * picture) / 65025
    assert np.sqrt(((expected - toned) ** 2).mean()) < 0.6 * np.sqrt(((before - toned) ** 2).mean())


def test_the_weights_in_the_source_are_those_of_the_paper() -> None:
    listed = re.search(r"weights\[WEIGHTS\] = \[([^]]*)\]", (FOLDER / "Filter.cal").read_text())
    assert listed is not None
    assert [int(n) for n in listed[1].split(",")] == TABLE.tolist()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"P6\n1 1\n255\nabc", "this is no binary PGM file"),
        (b"", "the picture ends too early"),
        (b"P5\n2 2\n255\nabc", "the picture ends too early"),
        (b"P5\n2 2\n65535\nabcdefgh", "have 65535 as their greatest value, not 255"),
        (b"P5\n5000 2\n255\n", "the picture has 5000 columns and 2 lines"),
        (b"P5\n2x 2\n255\n", "the header of the picture has a bad number"),
    ],
)
def test_files_that_are_no_such_picture(data: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(DseError, match=said):
        shown(str(FOLDER / "denoise.xdf"), data, tmp_path)


def test_comments_and_spaces_in_the_header_are_skipped(tmp_path: Path) -> None:
    picture = noisy(3, 4)
    data = b"P5 # made by hand\n#\n4\t3 \r\n255\n" + picture.tobytes()
    assert shown(network_with(tmp_path, SMALL), data, tmp_path).tolist() == cleaned(picture, SMALL["SEARCH"]).tolist()
