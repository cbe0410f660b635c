"""The files that a user names, and the input of a network when none is named."""

from pathlib import Path

from dse.base.errors import FormatError
from dse.base.source import file_span

DEFAULT_INPUT = "input.default"
"""File beside a network whose first word names the input that it is run on when none is given."""


def require_file(path: str, expected: str) -> None:
    """Do nothing if a file is at ``path``. Raises ``FormatError``, with what was expected, if not."""
    if Path(path).is_dir():
        raise FormatError("this is a folder, not a file", span=file_span(path, 0), expected=expected)
    if not Path(path).is_file():
        raise FormatError("there is no such file", span=file_span(path, 0), expected=expected)


def default_input(network_path: str) -> str | None:
    """Return the input that ``input.default`` beside a network names, or None where there is no such file.

    Raises:
        FormatError: the file it names does not exist.
    """
    pointer = Path(network_path).parent / DEFAULT_INPUT
    if not pointer.is_file():
        return None
    name = pointer.read_text(encoding="utf-8").strip()
    path = pointer.parent / name
    if not name or not path.is_file():
        raise FormatError(
            f"the default input '{name}' does not exist",
            span=file_span(str(pointer)),
            expected="name a file beside the network, or give the input with -i",
        )
    return str(path)
