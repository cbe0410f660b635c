"""``pip install .`` gives a working command that needs nothing from the checkout."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_built_package_holds_the_configs_and_finds_them(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "configs", "dse"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "built")]
    done = subprocess.run(build, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    subprocess.run(["rm", "-r", str(source)], check=True)
    program = (
        "from dse.formats.platform_yaml import builtin_platforms, load_platform\n"
        "from dse.formats.device_yaml import builtin_devices, load_device\n"
        "print(*[name for name in builtin_platforms() if load_platform(name)])\n"
        "print(*[name for name in builtin_devices() if load_device(name)])\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "built", capture_output=True, text=True, check=True
    )
    configs = [ROOT / "configs" / "platforms", ROOT / "configs" / "platforms" / "devices"]
    assert found.stdout.splitlines() == [" ".join(sorted(p.stem for p in c.glob("*.yaml"))) for c in configs]


@pytest.mark.slow
def test_installed_command_works_away_from_the_checkout(tmp_path: Path) -> None:
    # The new environment sees our pinned packages through a .pth file, so that the test needs no network; our pip
    # installs into it. The machine code that numba keeps beside the modules is copied, so that nothing is compiled
    # anew: numba takes it only for the very same source.
    environment = tmp_path / "env"
    venv.create(environment, with_pip=False)
    ours = next(p for p in sys.path if p.endswith("site-packages"))
    site = next((environment / "lib").glob("python*/site-packages"))
    python = environment / "bin" / "python"
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "configs", "dse"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    (site / "pinned.pth").write_text(ours + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    install = [*pip, "--quiet", "--no-deps", "--no-build-isolation", str(source)]
    pip_environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ours}
    done = subprocess.run(install, capture_output=True, text=True, env=pip_environment, check=False)
    assert done.returncode == 0, done.stderr
    for kept in (ROOT / "dse").rglob("__pycache__/*.nb[ic]"):
        target = site / kept.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(kept, target)
    network = tmp_path / "pingpong"
    subprocess.run(["cp", "-r", str(ROOT / "actors" / "pingpong"), str(network)], check=True)
    explore = ("explore", "pingpong/pingpong.xdf", "--weights", "nominal", "--out", "result", "--json", "--quiet")
    command = [environment / "bin" / "dse", *explore]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "result" / "best-01.xcf").exists()
    where = subprocess.run(
        [python, "-c", "import dse; print(dse.__file__)"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert str(environment) in where.stdout
