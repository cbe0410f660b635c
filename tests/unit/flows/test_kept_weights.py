"""Measured weights in a folder of results: kept with what they are for, put aside, never in the place of others'."""

from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import FormatError, OptionError
from dse.flows.kept_weights import keep_weights, kept_weights, put_weights_aside
from dse.flows.manifest import weights_digest
from dse.formats.platform_yaml import read_platform, write_platform
from dse.formats.weights_folder import read_weights, write_weights_folder
from dse.model.platform import Platform, Unit
from dse.model.weights import Cost, WeightTable

BOX = Platform(
    name="this machine",
    units=(Unit(name="cpu", kind="cpu", cores=2, clock_mhz=Fraction("2899.9981"), source='a: b\'s "core" #1'),),
)
IDENTITY = {"network": "abc", "input": "123", "machine": "a CPU: 2 cores"}


def table(cycles: int = 7) -> WeightTable:
    cost = Cost(mean_cycles=Fraction(cycles), frequency_mhz=Fraction("2899.9981"))
    return WeightTable(
        name="top",
        compute={("s", "x", "cpu"): cost},
        scheduling={("s", "", "x", "cpu"): cost},
        transfers={("s", "O", "k", "I", "cpu_cpu", "cpu", "write"): cost},
        manifest=(("how", "measured on one core"), ("core distance", "far")),
    )


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert kept_weights(out) is None
    made = keep_weights(out, BOX, table(), IDENTITY)
    found = kept_weights(out)
    assert found == made
    assert (found.platform, found.identity) == (BOX, IDENTITY)
    assert weights_digest(found.table) == weights_digest(made.table)
    assert dict(found.table.manifest)["core distance"] == "far"
    assert all(cost.origin == "measured" for cost in found.table.compute.values())
    # and others may be given both
    assert read_weights([str(out / "weights")]).compute == found.table.compute
    assert read_platform(str(out / "platform.yaml")) == BOX


def test_differences_are_named(tmp_path: Path) -> None:
    kept = keep_weights(tmp_path, BOX, table(), IDENTITY)
    assert kept.differences(IDENTITY) == ()
    assert kept.differences({"network": "abc"}) == ()  # what cannot be told now is not asked
    assert kept.differences(IDENTITY | {"input": "124", "compiler": "new"}) == ("input", "compiler")


def test_another_set_puts_the_first_one_aside(tmp_path: Path) -> None:
    keep_weights(tmp_path, BOX, table(1), IDENTITY)
    first = everything(tmp_path)
    keep_weights(tmp_path, BOX, table(2), IDENTITY)
    keep_weights(tmp_path, BOX, table(3), IDENTITY)
    assert everything(tmp_path / "weights-previous") == first
    assert {p.name for p in tmp_path.iterdir()} == {
        "weights",
        "platform.yaml",
        "weights-previous",
        "weights-previous-2",
    }
    kept = kept_weights(tmp_path)
    assert kept is not None
    assert [cost.mean_cycles for cost in kept.table.compute.values()] == [3]
    assert put_weights_aside(tmp_path) == tmp_path / "weights-previous-3"
    assert kept_weights(tmp_path) is None
    assert put_weights_aside(tmp_path) is None


def test_half_of_a_set_is_none_and_is_put_aside(tmp_path: Path) -> None:
    keep_weights(tmp_path, BOX, table(), IDENTITY)
    (tmp_path / "platform.yaml").unlink()  # as where a kill came between
    assert kept_weights(tmp_path) is None
    keep_weights(tmp_path, BOX, table(), IDENTITY)
    assert not (tmp_path / "weights-previous" / "platform.yaml").exists()
    described = (tmp_path / "platform.yaml").read_text()
    (tmp_path / "platform.yaml").write_text(described.replace("cores: 2", "cores: 3"))
    assert kept_weights(tmp_path) is None  # the weights are not of this platform


def test_what_others_put_there_stays(tmp_path: Path) -> None:
    weights, described, linked = (tmp_path / name for name in ("weights", "described", "linked"))
    write_weights_folder(table(), str(weights / "weights"))
    described.mkdir()
    write_platform(BOX, str(described / "platform.yaml"))
    keep_weights(tmp_path / "real", BOX, table(), IDENTITY)
    linked.mkdir()
    (linked / "weights").symlink_to(tmp_path / "real" / "weights")
    for folder in (weights, described, linked):
        before = everything(tmp_path)
        for deed in (kept_weights, put_weights_aside, lambda out: keep_weights(out, BOX, table(), IDENTITY)):
            with pytest.raises(OptionError, match="was not put there by a search"):
                deed(folder)
        assert everything(tmp_path) == before


def test_a_damaged_set_is_an_error_with_its_place(tmp_path: Path) -> None:
    kept = keep_weights(tmp_path, BOX, table(), IDENTITY)
    file = kept.folder / "weights-CPU.exdf"
    file.write_text(file.read_text().replace("7", "seven"))
    with pytest.raises(FormatError) as damaged:
        kept_weights(tmp_path)
    assert damaged.value.diagnostics[0].span.path == str(file)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot keep the measured weights"):
        keep_weights(tmp_path / "file" / "out", BOX, table(), IDENTITY)
