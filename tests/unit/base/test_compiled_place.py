"""Where numba keeps code, for users that own neither the package nor a home."""

import os
from pathlib import Path

import pytest

from dse.base.compiled_place import name_compiled_place

FOLDERS = ("estimate", "estimate/compiled", "gpu/trace")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package and a home in which nothing can be written: what should be a folder is a file, even for root."""
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "DSE_CACHE"):
        monkeypatch.setenv(name, "to be restored")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "home").touch()
    for folder in FOLDERS:
        (tmp_path / "dse" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "dse" / folder / "__pycache__").touch()
    return tmp_path / "dse"


def test_a_folder_that_is_the_users_alone(package: Path) -> None:
    own = package.parent / f"dse-compiled-{os.getuid()}"
    for _ in range(2):
        name_compiled_place(package)
        assert os.environ.pop("NUMBA_CACHE_DIR") == str(own)
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)  # anybody could put code there
    name_compiled_place(package)
    other = Path(os.environ["NUMBA_CACHE_DIR"])
    assert other != own
    assert other.stat().st_mode & 0o777 == 0o700


def test_the_folder_of_our_caches(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSE_CACHE", str(package.parent / "new"))
    name_compiled_place(package)
    assert os.environ["NUMBA_CACHE_DIR"] == str(package.parent / "new" / "numba")


@pytest.mark.parametrize("asked", ["folder", "file/below"])
def test_a_folder_that_is_asked_for(package: Path, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    (package.parent / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(package.parent / asked))
    name_compiled_place(package)
    assert (os.environ["NUMBA_CACHE_DIR"] == str(package.parent / asked)) is (asked == "folder")


def test_where_numba_has_a_place_nothing_is_changed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in FOLDERS:
        (package / folder / "__pycache__").unlink()
    name_compiled_place(package)
    assert "NUMBA_CACHE_DIR" not in os.environ
    (package / "gpu" / "trace" / "__pycache__").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(package.parent / "xdg"))
    name_compiled_place(package)
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_nobody_knows_the_home(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    for folder in FOLDERS:
        (package / folder / "__pycache__").unlink()
    name_compiled_place(package)
    assert os.environ["NUMBA_CACHE_DIR"] == str(package.parent / f"dse-compiled-{os.getuid()}")
