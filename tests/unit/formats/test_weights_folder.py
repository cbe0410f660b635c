"""Weight sets: the six files of the static heterogeneous set, the manifest, and errors of all files at once."""

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings

from dse.base.errors import FormatError
from dse.base.files import write_whole
from dse.formats.weights_folder import read_weights, read_weights_folder, write_weights_folder
from dse.model.weights import Cost, WeightTable, merge_weights
from tests.examples import examples
from tests.unit.formats.strategies import weight_tables


def cost(cycles: int) -> Cost:
    return Cost(mean_cycles=Fraction(cycles), frequency_mhz=Fraction(2900))


BUFFER = ("s", "O", "k", "I")
FULL = WeightTable(
    name="top",
    compute={("s", "x", "cpu"): cost(1), ("s", "x", "gpu"): cost(2)},
    scheduling={("s", "", "x", "cpu"): cost(3), ("s", "", "x", "gpu"): cost(4)},
    transfers={
        (*BUFFER, "local", "cpu", "write"): cost(5),
        (*BUFFER, "cpu_cpu", "cpu", "write"): cost(6),
        (*BUFFER, "cuda", "gpu", "write"): cost(7),
        (*BUFFER, "host", "cpu", "write"): cost(8),
        (*BUFFER, "host", "gpu", "read"): cost(9),
    },
    manifest=(("how", "measured with RDTSC"), ("where", "desktop"), ("confidence", "0.95")),
)


def test_the_static_heterogeneous_set(tmp_path: Path) -> None:
    names = write_weights_folder(FULL, str(tmp_path / "w"))
    assert names == (
        "weights-CPU.exdf", "weights-CPU.sxdf", "weights-CPU.cxdf", "weights-CPU-HostFifo.cxdf",
        "weights-GPU.exdf", "weights-GPU.sxdf", "weights-GPU.cxdf", "weights-GPU-HostFifo.cxdf", "manifest.yaml",
    )  # fmt: skip
    assert sorted(p.name for p in (tmp_path / "w").iterdir()) == sorted(names)
    assert read_weights_folder(str(tmp_path / "w")) == FULL


def test_a_merged_set_can_be_read_again(tmp_path: Path) -> None:
    """Two sets say the same things of themselves, each in its words; a manifest has a key once."""
    table = merge_weights(FULL, replace(FULL, manifest=(("how", "nominal"), ("where", "desktop"))))
    write_weights_folder(table, str(tmp_path / "w"))
    assert read_weights_folder(str(tmp_path / "w")) == table
    assert table.manifest == (("how", "measured with RDTSC; nominal"), ("where", "desktop"), ("confidence", "0.95"))


@given(table=weight_tables())
@settings(max_examples=examples(30), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, table: WeightTable) -> None:
    path = str(tmp_path_factory.mktemp("w"))
    write_weights_folder(table, path)
    read = read_weights_folder(path)
    assert replace(read, name=table.name) == table
    assert read.name in (table.name, "")


def test_a_plain_turnus_set(tmp_path: Path) -> None:
    text = '<network name="n"><actor id="a"><action id="x" clockcycles="5"/></actor></network>'
    (tmp_path / "WEIGHTS-cpu.EXDF").write_text(text)
    (tmp_path / "weights-GPU.exdf").write_text(text)
    (tmp_path / "notes.txt").write_text("not a weight file")
    table = read_weights_folder(str(tmp_path))
    assert {key[2]: c.mean_cycles for key, c in table.compute.items()} == {"cpu": 5, "gpu": 5}
    assert not table.has_scheduling
    assert not table.has_transfers
    assert {c.origin for c in table.compute.values()} == {"unknown"}


def test_the_manifest_gives_the_origin(tmp_path: Path) -> None:
    text = '<network name="n"><actor id="a"><action id="x" clockcycles="5"/></actor></network>'
    (tmp_path / "weights.exdf").write_text(text)
    (tmp_path / "manifest.yaml").write_text("how: Predicted, with the model of section 3\nmodel: cgpredict\n")
    table = read_weights_folder(str(tmp_path))
    assert [c.origin for c in table.compute.values()] == ["predicted"]
    assert table.manifest == (("how", "Predicted, with the model of section 3"), ("model", "cgpredict"))


def test_files_and_folders_together_the_later_wins(tmp_path: Path) -> None:
    write_weights_folder(FULL, str(tmp_path / "w"))
    better = tmp_path / "better.exdf"
    better.write_text('<network name="b"><actor id="s"><action id="x" clockcycles="99"/></actor></network>')
    table = read_weights([str(tmp_path / "w"), str(better)])
    assert table.compute["s", "x", "cpu"].mean_cycles == 99
    assert table.compute["s", "x", "gpu"].mean_cycles == 2
    assert table.name == "top"
    assert table.transfers == FULL.transfers


def test_unknown_parts_of_a_set_are_kept(tmp_path: Path) -> None:
    write_weights_folder(FULL, str(tmp_path / "old"))
    file = tmp_path / "old" / "weights-GPU.sxdf"
    file.write_text(file.read_text().replace("<scheduling ", '<scheduling comment="mine" '))
    write_weights_folder(FULL, str(tmp_path / "new"), keep=str(tmp_path / "old"))
    assert 'comment="mine"' in (tmp_path / "new" / "weights-GPU.sxdf").read_text()
    assert read_weights_folder(str(tmp_path / "new")) == FULL


def test_errors_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "weights-CPU.exdf").write_text('<network><actor id="a"><action id="x"/></actor></network>')
    (tmp_path / "weights-GPU.sxdf").write_text("<net/>")
    (tmp_path / "a-CPU.cxdf").write_text("<communication/>")
    (tmp_path / "b-cpu.cxdf").write_text("<communication/>")
    (tmp_path / "manifest.yaml").write_text("how: measured\nhow: predicted\nwhere: [a]\n")
    with pytest.raises(FormatError) as caught:
        read_weights_folder(str(tmp_path))
    assert [(Path(d.span.path).name, d.span.line, d.message) for d in caught.value.diagnostics] == [
        ("b-cpu.cxdf", 0, "'b-cpu.cxdf' and 'a-CPU.cxdf' are both CPU .cxdf files"),
        ("manifest.yaml", 2, "'how' is given twice in a manifest"),
        ("manifest.yaml", 3, "where is a list"),
        ("weights-CPU.exdf", 1, "'action' has no 'clockcycles'"),
        ("weights-GPU.sxdf", 1, "the root element is 'net'"),
    ]


def test_folders_that_are_no_sets(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no weights in this folder"):
        read_weights([str(tmp_path)])
    with pytest.raises(FormatError, match="no such file"):
        read_weights([str(tmp_path / "none.exdf")])
    with pytest.raises(FormatError, match="cannot read this folder"):
        read_weights_folder(str(tmp_path / "none"))


def test_a_set_is_not_mixed_with_another(tmp_path: Path) -> None:
    write_weights_folder(FULL, str(tmp_path))
    cpu_only = WeightTable(name="n", compute={("s", "x", "cpu"): cost(1)}, has_scheduling=False, has_transfers=False)
    with pytest.raises(FormatError, match=r"not part of this set: weights-CPU-HostFifo\.cxdf"):
        write_weights_folder(cpu_only, str(tmp_path))
    write_weights_folder(FULL, str(tmp_path))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="cannot make this folder"):
        write_weights_folder(FULL, str(tmp_path / "file" / "w"))


OTHER = replace(
    FULL,
    compute={("s", "x", "cpu"): cost(11), ("s", "x", "gpu"): cost(12)},
    scheduling={("s", "", "x", "cpu"): cost(13), ("s", "", "x", "gpu"): cost(14)},
    manifest=(("how", "predicted"),),
)


class Killed(BaseException):
    """The program is no more: nothing is tidied up after it."""


@pytest.mark.parametrize("first", [True, False], ids=["new-folder", "folder-with-a-set"])
def test_a_set_is_whole_or_as_it_was_whenever_the_program_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    """Each call of the system that changes something is the last one, once."""
    seen, instant = {"old": 0, "new": 0}, 0
    while True:
        folder = tmp_path / f"w{instant}"
        if not first:
            write_weights_folder(FULL, str(folder))
            (folder / "notes.txt").write_text("mine")
        with monkeypatch.context() as patch:
            calls: list[object] = []
            for owner, name in ((os, "mkdir"), (os, "rename"), (os, "replace"), (os, "rmdir"), (os, "open")):
                patch.setattr(owner, name, _lethal(getattr(owner, name), calls, instant))
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # a killed program does not tidy up
            try:
                write_weights_folder(OTHER, str(folder))
                killed = False
            except Killed:
                killed = True
        if first and not folder.exists():
            seen["old"] += 1
        else:
            read = read_weights_folder(str(folder))
            assert read in ((OTHER,) if first or not killed else (FULL, OTHER))
            seen["new" if read == OTHER else "old"] += 1
        assert first or (folder / "notes.txt").read_text() == "mine"
        write_weights_folder(FULL, str(folder))  # whatever is left is no obstacle
        assert read_weights_folder(str(folder)) == FULL
        if not killed:
            break
        instant += 1
    assert seen["old"] > 0 < seen["new"]
    assert instant > 2


def _lethal(call: Callable[..., object], calls: list[object], instant: int) -> Callable[..., object]:
    def struck(*args: object, **more: object) -> object:
        if len(calls) >= instant:
            raise Killed
        calls.append(args)
        return call(*args, **more)

    return struck


@pytest.mark.parametrize("failing", range(9))
def test_a_set_that_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    folder = tmp_path / "w"
    calls: list[str] = []
    write_weights_folder(FULL, str(folder))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(path: str, data: bytes) -> None:
        calls.append(path)
        if len(calls) > failing:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        write_whole(path, data)

    monkeypatch.setattr("dse.formats.xml_reading.write_whole", full)
    for target in (folder, tmp_path / "new"):
        calls.clear()
        with pytest.raises(FormatError, match="cannot write this file: No space left") as caught:
            write_weights_folder(OTHER, str(target))
        assert Path(caught.value.diagnostics[0].span.path).parent == target
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


def test_a_file_that_cannot_be_replaced_is_told_before_any_is(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write_weights_folder(FULL, str(folder))
    (folder / "weights-GPU.sxdf").unlink()
    (folder / "weights-GPU.sxdf").mkdir()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(FormatError, match="cannot write this file: Is a directory"):
        write_weights_folder(OTHER, str(folder))
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_set_without_manifest_takes_that_of_another_one_away(tmp_path: Path) -> None:
    write_weights_folder(FULL, str(tmp_path / "w"))
    write_weights_folder(replace(OTHER, manifest=()), str(tmp_path / "w"))
    assert read_weights_folder(str(tmp_path / "w")).manifest == ()
