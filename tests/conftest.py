"""What all tests share: caches of the front-end stay inside the temporary folder of the run."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache_in_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("DSE_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


def pytest_collection_finish() -> None:
    """Leave the modules and the thousands of collected tests out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
