"""What comes with the program: the configuration files of ``configs/`` and the applications of ``actors/``."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def builtin_names(folder: str) -> tuple[str, ...]:
    """Return the names of the YAML files in a folder of ``configs``, sorted."""
    entries = (entry.name for entry in _folder("configs").joinpath(folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


@contextmanager
def builtin_file(folder: str, name: str) -> Iterator[str]:
    """Yield the path of a file; it may be a temporary one, if the package is not installed as files."""
    with resources.as_file(_folder("configs").joinpath(folder).joinpath(f"{name}.yaml")) as path:
        yield str(path)


def builtin_kernels() -> Path:
    """Return the folder of the C kernels that measured times are known of; installed as files, as by pip."""
    return Path(str(_folder("configs"))) / "gpu-kernels"


def builtin_actors() -> Path:
    """Return the folder of the applications, each a package of its own in it; installed as files, as by pip."""
    return Path(str(_folder("actors")))


def _folder(name: str) -> Traversable:
    """Return a folder: inside the package where that is installed, beside it in a checkout."""
    installed = resources.files("dse").joinpath(name)
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / name
