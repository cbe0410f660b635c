"""Programs of these tests lie in one cache of all workers: what one has compiled the others find."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def _cache_of_all_workers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSE_CACHE", str(Path(os.environ["DSE_TEST_PROGRAMS"]).with_name("same-cache")))
        yield
