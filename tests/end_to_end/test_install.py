"""``pip install`` gives a command that needs nothing from the checkout: of a source archive and of its wheel."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import dse
from tests.end_to_end.test_documents import ROOT, dry_run

SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "configs", "actors", "dse")


def copied_sources(folder: Path) -> Path:
    """A copy of what is built, so that nothing is written into the checkout."""
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    return source


def succeeds(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def data_files() -> set[str]:
    """The files of ``configs`` and ``actors`` in the checkout, as git knows them where there is git."""
    listing = subprocess.run(["git", "ls-files", "configs", "actors"], cwd=ROOT, capture_output=True, text=True)
    names = listing.stdout.split("\n") if listing.returncode == 0 else []
    return {name for name in names if name and (ROOT / name).is_file()}


def test_the_built_package_holds_configs_and_actors_and_finds_them(tmp_path: Path) -> None:
    source = copied_sources(tmp_path)
    succeeds(sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path / "built", folder=source)
    assert [name for name in data_files() if not (tmp_path / "built" / "dse" / name).is_file()] == []
    shutil.rmtree(source)
    program = (
        "from dse.formats.platform_yaml import builtin_platforms, load_platform\n"
        "from dse.formats.device_yaml import builtin_devices, load_device\n"
        "from dse.flows.examples import example_names\n"
        "print(*[name for name in builtin_platforms() if load_platform(name)])\n"
        "print(*[name for name in builtin_devices() if load_device(name)])\n"
        "print(*example_names())\n"
    )
    found = succeeds(sys.executable, "-c", program, folder=tmp_path / "built", PYTHONPATH="").splitlines()
    for names, pattern in zip(found, ("configs/platforms/*.yaml", "configs/platforms/devices/*.yaml"), strict=False):
        assert names == " ".join(sorted(path.stem for path in ROOT.glob(pattern)))
    assert found[2] == " ".join(sorted(path.parent.name for path in ROOT.glob("actors/*/README.md")))


@pytest.mark.slow
def test_the_wheel_of_the_source_archive_works_away_from_the_checkout(tmp_path: Path) -> None:
    # The wheel is built of the source archive, so that what is missing in either shows. The new environment sees our
    # pinned packages through a .pth file, so that the test needs no network; our pip installs into it. The machine code
    # that numba keeps beside the modules is copied, so that nothing is compiled anew: numba takes it only for the very
    # same source.
    source = copied_sources(tmp_path)
    succeeds(sys.executable, "setup.py", "-q", "sdist", "-d", tmp_path, folder=source)
    shutil.rmtree(source)
    archive = tmp_path / f"dse-{dse.__version__}.tar.gz"
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    assert data_files() <= held
    assert not [name for name in held if "__pycache__" in name]

    environment = tmp_path / "env"
    venv.create(environment, with_pip=False)
    ours = next(p for p in sys.path if p.endswith("site-packages"))
    pip = (sys.executable, "-m", "pip")
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ours}
    building = ("--quiet", "--no-deps", "--no-build-isolation")
    succeeds(*pip, "wheel", *building, "-w", tmp_path, archive, folder=tmp_path, **quiet)
    wheel = next(tmp_path.glob("*.whl"))
    with zipfile.ZipFile(wheel) as opened_wheel:
        assert {f"dse/{name}" for name in data_files()} <= set(opened_wheel.namelist())
    python = environment / "bin" / "python"
    succeeds(*pip, "--python", python, "install", "--quiet", "--no-deps", wheel, folder=tmp_path, **quiet)
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "pinned.pth").write_text(ours + "\n")
    for kept in (ROOT / "dse").rglob("__pycache__/*.nb[ic]"):
        target = site / kept.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(kept, target)

    work = tmp_path / "work"
    work.mkdir()

    def run(command: str) -> str:
        return succeeds(environment / "bin" / "dse", *command.split(), folder=work, PYTHONPATH="")

    assert run("--version") == f"dse {dse.__version__}\n"
    run("example pingpong jpeg")
    run("explore actors/pingpong/pingpong.xdf --weights nominal --out result --json --quiet")
    assert (work / "result" / "best-01.xcf").exists()
    run("run actors/jpeg/jpeg.xdf -o picture.png --quiet --execution python")
    assert (work / "picture.png").read_bytes() == (ROOT / "actors/jpeg/expected/picture.png").read_bytes()
    run("new mine")
    where = "import dse, unittest; print(dse.__file__); unittest.main('test_mine', argv=['test_mine'])"
    assert str(environment) in succeeds(python, "-c", where, folder=work / "mine", PYTHONPATH="")


def test_the_version_stands_in_one_place() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project
    assert 'attr = "dse.__version__"' in project
    assert re.fullmatch(r"\d+\.\d+\.\d+", dse.__version__)
    assert dse.__version__ not in (ROOT / "setup.py").read_text() + project


WARM = [f"python -m dse.{package}.warm" for package in ("estimate.compiled", "gpu.trace", "native")]
CONTAINER = ["apt-get ", "pip install .", *WARM]
"""What the Dockerfile runs: packages of the system; what the tests above do; what ``make setup`` does."""


def test_the_dockerfile_runs_only_what_is_tested() -> None:
    text = (ROOT / "Dockerfile").read_text()
    commands = re.findall(r"^RUN (.*)$", text, re.M)
    assert [c for c, known in zip(commands, CONTAINER, strict=True) if not c.startswith(known)] == []
    set_up = dry_run(["-B", "setup"]).stdout
    assert [command for command in WARM if f".venv/bin/{command}\n" not in set_up] == []
    assert 'ENTRYPOINT ["dse"]' in text
    assert text.index("WORKDIR /work") < text.index(WARM[0]), "in /source the engine of the sources is compiled"


@pytest.mark.slow
def test_the_dockerfile_builds_where_docker_is() -> None:
    base = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.M)[0]
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "pull", "-q", base], capture_output=True).returncode != 0:
        pytest.skip("there is no docker, or it cannot get what the image begins with")
    name = succeeds(docker, "build", "--quiet", ".", folder=ROOT).strip()
    assert succeeds(docker, "run", "--rm", name, "--version", folder=ROOT) == f"dse {dse.__version__}\n"
