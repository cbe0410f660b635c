"""The compiled readers, made once for all tests that ask them."""

from collections.abc import Iterator

import pytest

from tests.native.config.readers import COMPILER, NO_COMPILER, SOURCE, Readers, compile_program


@pytest.fixture(scope="session")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    """A process of the readers under sanitizers; it must not have crashed at the end."""
    if COMPILER is None:
        pytest.skip(NO_COMPILER)
    running = Readers(compile_program(SOURCE, tmp_path_factory.mktemp("readers") / "readers"))
    yield running
    assert running.close() == 0
