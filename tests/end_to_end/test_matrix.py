"""The matrix network: what it prints, and that the ranking with predicted GPU weights is sensible."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.frontend.network.elaborate import load_network
from dse.run.execution import RunOptions, run_network
from tests.examples import IN_FULL, seldom

ACTORS = Path(__file__).resolve().parents[2] / "actors"
FOLDER = ACTORS / "matrix"
N, PAIRS = 64, 8


def wrapped(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def product(a: list[int], b: list[int]) -> list[int]:
    columns = [b[j::N] for j in range(N)]
    return [sum(x * y for x, y in zip(a[N * i : N * i + N], c, strict=True)) for i in range(N) for c in columns]


def test_prints_what_a_plain_program_computes() -> None:
    state, lines = 1, []
    for number in range(1, PAIRS + 1):
        elements = []
        for _ in range(2 * N * N):
            state = wrapped(state * 1103515245 + 12345)
            elements.append(((state >> 16) & 15) - 8)
        left, right = elements[::2], elements[1::2]
        digest = 0
        for element in product([max(0, x) >> 6 for x in product(left, right)], right):
            digest = wrapped(31 * digest + element)
        lines.append(f"Matrix {number}: {digest}")
    result = run_network(load_network(str(FOLDER / "matrix.xdf")).network, RunOptions())
    assert result.stdout.splitlines() == lines == (FOLDER / "expected" / "stdout.txt").read_text().splitlines()
    assert result.n_firings == 6 * PAIRS


def explored(tmp_path: Path, network: str, platform: str, *more: str) -> dict[str, Any]:
    path = str(ACTORS / network / f"{network}.xdf")
    argv = ["explore", path, "--platform", platform, "--out", str(tmp_path / platform), "--quiet", "--json", *more]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main(argv) == 0
    document: dict[str, Any] = json.loads(text.getvalue())
    return document


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The matrix network on a desktop, searched by one worker."""
    return explored(tmp_path_factory.mktemp("desktop"), "matrix", "desktop-gtx1660s")


def on_gpu(document: dict[str, Any]) -> set[str]:
    """The actors that the best mapping has on the GPU."""
    partitions = document["ranking"][0]["design_point"]["partitions"]
    return {actor for p in partitions if p["unit"] == "gpu" for actor in p["actors"]}


@pytest.mark.parametrize("platform", ["desktop-gtx1660s", "server-h200", *seldom("jetson-tk1")])
def test_products_go_to_the_gpu_and_control_stays(tmp_path: Path, platform: str, desktop: dict[str, Any]) -> None:
    document = desktop if platform == "desktop-gtx1660s" else explored(tmp_path, "matrix", platform)
    assert {"first", "second"} <= on_gpu(document) <= {"first", "rectify", "second"}
    assert any(text.startswith("predicted GPU weights (hierarchy on ") for text in document["assumed"])


@IN_FULL
def test_small_blocks_stay_on_the_cpu(tmp_path: Path) -> None:
    """Parser and Huffman decoder are one thread, and a block of 64 tokens costs more to move than to compute."""
    assert on_gpu(explored(tmp_path, "jpeg", "server-h200")) == set()


def test_a_search_with_predicted_weights_does_not_depend_on_the_workers(
    tmp_path: Path, desktop: dict[str, Any]
) -> None:
    two = explored(tmp_path, "matrix", "desktop-gtx1660s", "--workers", "2")
    assert [row["design_point"] for row in desktop["ranking"]] == [row["design_point"] for row in two["ranking"]]


def test_nominal_weights_can_be_asked_for(tmp_path: Path) -> None:
    document = explored(tmp_path, "matrix", "desktop-gtx1660s", "--missing-weights", "nominal")
    assert "nominal CPU and GPU weights (operation counts)" in document["assumed"]
    assert on_gpu(document) == set()
