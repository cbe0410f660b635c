"""Random networks do the same natively as in Python, to the firing and to the last bit, for any FIFO size and budget.

A fixed sample runs always, also with sanitizers. DSE_NATIVE_CASES adds so many networks more.
"""

from pathlib import Path

import pytest

from dse.native.build import BuildOptions
from dse.run.options import RunOptions
from tests.native.same.batches import CASES, batch
from tests.native.same.comparing import ADDRESS, PLAIN, built, compared, compiler, sanitizes

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
A_BATCH = 10
SAMPLE = [pytest.param(range(1), PLAIN, id="plain"), pytest.param(range(3, 4), ADDRESS, id="sanitized")]
MORE = [
    pytest.param(range(first, first + A_BATCH), ADDRESS if k % 4 == 3 else PLAIN, id=f"from-{first}")
    for k, first in enumerate(range(1000, 1000 + CASES, A_BATCH))
]


@pytest.mark.parametrize(("seeds", "build"), [*SAMPLE, *MORE])
def test_random_networks_do_the_same_in_both_executions(seeds: range, build: BuildOptions, tmp_path: Path) -> None:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")
    drawn = batch(seeds, small=True)
    of = built(drawn.network, build, rounds=True)
    for k, (fifo, firings) in enumerate(((512, None), (1, None), (7, None), (64, 1000), (512, 37), (3, 400))):
        options = RunOptions(
            input=str(drawn.input), fifo_tokens=fifo, max_firings=firings, hash_channels=True, count_rounds=True
        )
        assert compared(of, options, tmp_path / f"run{k}") == [], f"-s {fifo}, at most {firings} firings"
