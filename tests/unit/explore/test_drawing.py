"""Large numbers are drawn as numpy draws bytes, and leave the generator as it does."""

import numpy as np
import pytest

from dse.explore.space.drawing import FEW_BYTES, random_numbers


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_numbers_are_those_of_numpys_bytes(kind: type[np.random.PCG64]) -> None:
    ours, theirs = (np.random.Generator(kind(seed)) for seed in (7, 7))
    number = random_numbers(ours)
    for n_bytes in (*range(1, 40), 9, FEW_BYTES, FEW_BYTES + 1, 9, 9, 200):
        assert number(n_bytes) == int.from_bytes(theirs.bytes(n_bytes), "little"), n_bytes
        if n_bytes % 5 == 0:
            assert ours.integers(1000, size=3).tolist() == theirs.integers(1000, size=3).tolist()
    assert ours.random() == theirs.random()
