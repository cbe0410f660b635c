"""Programs of these tests lie in one cache of all workers: what one has compiled the others find."""

from collections.abc import Iterator

import pytest

from tests.native.shared import native_cache


@pytest.fixture(autouse=True, scope="module")
def _cache_of_all_workers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSE_CACHE", str(native_cache()))
        yield
