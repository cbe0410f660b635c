"""The file of the costs of single firings."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import FormatError
from dse.formats.samples_file import read_samples, samples_bytes
from tests.unit.estimate.networks import network

TRACE = network([("s.o", "k")], {"s": "xxx", "k": "xyx"})
COUNTS = {"s": np.array([1, 2.5, 3], dtype=np.float32), "k": np.array([0, 0, 7], dtype=np.float32)}


def written(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "samples.npz"
    file.write_bytes(data)
    return str(file)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = read_samples(written(tmp_path, samples_bytes(COUNTS)), TRACE)
    assert {name: counts.tolist() for name, counts in found.items()} == {"s": [1, 2.5, 3], "k": [0, 0, 7]}


def test_actors_may_be_absent(tmp_path: Path) -> None:
    assert list(read_samples(written(tmp_path, samples_bytes({"k": COUNTS["k"]})), TRACE)) == ["k"]


@pytest.mark.parametrize(
    ("name", "counts", "said"),
    [
        ("other", np.zeros(3, np.float32), "costs of an actor 'other', which the trace lacks"),
        ("s", np.zeros(2, np.float32), r"float32 costs of shape \(2,\) for the 3 firings of 's'"),
        ("s", np.zeros(4, np.float32), r"float32 costs of shape \(4,\) for the 3 firings of 's'"),
        ("s", np.zeros(3, np.float64), r"float64 costs of shape \(3,\)"),
        ("s", np.array([1, -1, 0], np.float32), "a cost of 's' is below 0 or no number"),
        ("s", np.array([1, np.nan, 0], np.float32), "a cost of 's' is below 0 or no number"),
        ("s", np.zeros(1_000_000, np.float32), "more firings of 's' than the 3 of the trace"),
    ],
)
def test_what_is_not_of_the_trace_is_refused(tmp_path: Path, name: str, counts: np.ndarray, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        read_samples(written(tmp_path, samples_bytes({name: counts})), TRACE)
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.path.endswith("samples.npz")


def test_objects_are_not_loaded(tmp_path: Path) -> None:
    file = tmp_path / "samples.npz"
    np.savez(file, s=np.array([print, 1, 2], dtype=object))
    with pytest.raises(FormatError, match="cannot read the costs of firings"):
        read_samples(str(file), TRACE)


def test_damaged_files_are_told(tmp_path: Path) -> None:
    whole = samples_bytes(COUNTS)
    for k in range(0, len(whole), 7):
        for data in (whole[:k], whole[:k] + bytes([whole[k] ^ 0x55]) + whole[k + 1 :]):
            try:
                read_samples(written(tmp_path, data), TRACE)
            except FormatError:
                continue
    with pytest.raises(FormatError, match="cannot read the costs of firings: No such file"):
        read_samples(str(tmp_path / "absent.npz"), TRACE)


def test_members_that_are_no_arrays_are_told(tmp_path: Path) -> None:
    file = tmp_path / "samples.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("s.npy", b"no array at all")
    with pytest.raises(FormatError, match="cannot read the costs of firings"):
        read_samples(str(file), TRACE)
