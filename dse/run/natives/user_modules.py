"""The Python modules of the user that hold natives: found beside the network first, and loaded anew for each run."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


class UserModules:
    """The modules of one run. ``home``: the folder of the network."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._loaded: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        """Return the module ``name``: of a file beside the network, else one of the working folder or an installed one.

        One that lies beside the network is executed once for each run, so that no run depends on those before it, and
        modules of one name beside two networks do not meet. It may import what lies beside it while it is loaded.

        Raises:
            ImportError: there is none. Whatever else its code raises.
        """
        if name not in self._loaded:
            path = self.home.joinpath(*name.split(".")).with_suffix(".py")
            with _found_from(self.home, Path()):
                self._loaded[name] = _executed(name, path) if path.is_file() else importlib.import_module(name)
        return self._loaded[name]


def _executed(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"dse_natives_{name.replace('.', '_')}", path.resolve())
    assert spec is not None, "a file of Python has a loader"
    assert spec.loader is not None, "a file of Python has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _found_from(*folders: Path) -> Iterator[None]:
    """Let modules be found in folders too."""
    before = sys.path[:]
    sys.path[:0] = [str(folder.resolve()) for folder in folders]
    try:
        yield
    finally:
        sys.path[:] = before
