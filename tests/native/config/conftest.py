"""The compiled program, made once for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native.config import readers as programs
from tests.native.config.readers import Readers


@pytest.fixture(scope="session")
def checked() -> Path:
    """The program under sanitizers."""
    return programs.compiled()


@pytest.fixture(scope="session")
def plain() -> Path:
    """The program without sanitizers, whose own handlers of signals would come first."""
    return programs.plain()


@pytest.fixture(scope="session")
def readers(checked: Path) -> Iterator[Readers]:
    """A process of the readers under sanitizers; it must not have crashed at the end."""
    running = Readers(str(checked))
    yield running
    assert running.close() == 0
