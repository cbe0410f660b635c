"""Files that a program is put together from, as objects: to look at, to change, to hand to ``dse.load``."""

from collections.abc import Sequence

from dse.api.given import AnyPath, path_text, paths_of
from dse.flows.trace import open_trace
from dse.formats.platform_yaml import load_platform as platform_of
from dse.formats.weights_folder import read_weights
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable


def load_platform(name: AnyPath = "default") -> Platform:
    """Return the platform of a file, or one that comes with dse by its name. Raises ``FormatError``."""
    return platform_of(path_text(name, "platform"))


def load_weights(paths: AnyPath | Sequence[AnyPath]) -> WeightTable:
    """Return the weights of a folder, or of files. Raises ``FormatError`` with everything that is wrong in them."""
    return read_weights(paths_of(paths, "weights"))


def load_trace(path: AnyPath) -> Trace:
    """Return the trace of a file: one of dse, or one of TURNUS. Raises ``FormatError`` and ``OptionError``."""
    return open_trace(path_text(path, "trace"))
