"""``dse profile`` and ``dse measure`` from the command line to files, on one of our networks."""

import json
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.cli.main import main
from dse.formats.weights_folder import read_weights_folder
from dse.native.toolchain import find_compiler

ROOT = Path(__file__).resolve().parents[2]
NETWORK = str(ROOT / "actors" / "matrix" / "matrix.xdf")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    try:
        find_compiler()
    except BuildError as error:
        pytest.skip(f"no compiler: {error}")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a measured weight set."""
    folder = tmp_path_factory.mktemp("profile") / "weights"
    assert main(["profile", NETWORK, "-o", str(folder), "--runs", "2", "--calibrate", "1", "--samples"]) == 0
    return folder


def test_the_weights_are_whole(weights: Path) -> None:
    table = read_weights_folder(str(weights))
    assert {cost.origin for cost in table.compute.values()} == {"measured"}
    assert all(cost.frequency_mhz for cost in table.compute.values())
    assert dict(table.manifest)["how"].startswith("measured on one core, 2 timed")
    assert (weights / "samples.npz").is_file()


def test_they_estimate_the_network(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", NETWORK, "--weights", str(weights), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["unit"] == "ps"
    assert found["makespan"] > 0


def test_mappings_beside_estimates(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["measure", NETWORK, "--sample", "3", "--runs", "2", "--weights", str(weights), "--out", str(out)]
    assert main([*arguments, "--json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["network"] == "matrix"
    assert document["runs"] == 6
    assert document["wrong"] == []
    assert len((out / "runs.tsv").read_text().splitlines()) == 7
    assert (out / "measured.json").is_file()
