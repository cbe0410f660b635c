"""The configuration files that come with the program: those of ``configs/``, named without folder and suffix."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def builtin_names(folder: str) -> tuple[str, ...]:
    """Return the names of the YAML files in a folder of ``configs``, sorted."""
    entries = (entry.name for entry in _configs().joinpath(folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


@contextmanager
def builtin_file(folder: str, name: str) -> Iterator[str]:
    """Yield the path of a file; it may be a temporary one, if the package is not installed as files."""
    with resources.as_file(_configs().joinpath(folder).joinpath(f"{name}.yaml")) as path:
        yield str(path)


def _configs() -> Traversable:
    """Return the folder: inside the package where that is installed, beside it in a checkout."""
    installed = resources.files("dse").joinpath("configs")
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "configs"
