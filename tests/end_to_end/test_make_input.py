"""The scripts that make inputs of the applications: what they lack or refuse is one line, and no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

ACTORS = Path(__file__).resolve().parents[2] / "actors"
WITHOUT = "import runpy, sys; sys.modules[sys.argv.pop(1)] = None; runpy.run_path(sys.argv.pop(1), run_name='__main__')"


def script(application: str) -> str:
    return str(ACTORS / application / "make_input.py")


@pytest.mark.parametrize(("application", "package"), [("jpeg", "PIL"), ("jpeg", "numpy"), ("denoise", "numpy")])
def test_what_is_not_installed_is_named(application: str, package: str) -> None:
    command = [sys.executable, "-c", WITHOUT, package, script(application), "-o", "never-written"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("make_input.py needs numpy")
    assert done.stderr.splitlines()[1].startswith(f"  = {sys.executable} -m pip install numpy")
    assert not Path("never-written").exists()


@pytest.mark.parametrize(
    ("application", "options", "said"),
    [
        ("jpeg", "--width 0", "--width is from 1 to 65500"),
        ("jpeg", "--quality 101", "--quality is from 1 to 100"),
        ("jpeg", "--seed -1", "--seed is from 0"),
        ("jpeg", "-o no/such/folder.jpg", "cannot write the file: [Errno 2] No such file"),
        ("denoise", "--width 0", "--width is from 1 to 65535"),
        ("denoise", "--size -1", "--size is from 1 to 65535"),
        ("denoise", "-o no/such/folder.pgm", "cannot write the file: [Errno 2] No such file"),
        ("smith_waterman", "--query 0", "--query and --reference are at least 1"),
        ("smith_waterman", "-o no/such/folder.txt", "cannot write the file: [Errno 2] No such file"),
    ],
)
def test_what_cannot_be_made_is_refused(tmp_path: Path, application: str, options: str, said: str) -> None:
    if application == "jpeg":
        pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    command = [sys.executable, script(application), "-o", "out", *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"make_input.py: error: {said}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("application", "default"), [("jpeg", "input.jpg"), ("denoise", "input.pgm"), ("smith_waterman", "input.txt")]
)
def test_the_default_input_is_made_again(tmp_path: Path, application: str, default: str) -> None:
    if application == "jpeg":
        pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    subprocess.run([sys.executable, script(application), "-o", str(tmp_path / default)], check=True)
    if application != "jpeg":  # whose bytes depend on the version of Pillow
        assert (tmp_path / default).read_bytes() == (ACTORS / application / default).read_bytes()
