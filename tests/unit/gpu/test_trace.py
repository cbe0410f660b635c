"""The compiled trace against a plain Python simulation of the rules, on random affine kernels."""

import itertools
from collections import OrderedDict

from hypothesis import given, settings
from hypothesis import strategies as st

from dse.model.kernel import TraceMachine
from tests.examples import examples
from tests.unit.gpu.kernel_support import features

LANES, BATCH, LINE, SETS, WAYS = 32, 2048, 64, 128, 16
STEPS = 3


def simulated(coefficients: tuple[int, int, int], offset: int, n: int) -> tuple[list[int], int, int]:
    """Executions by class, accesses of lines and misses of ``a[ci*i + cj*j + ck*k + offset]`` in blocks of 32 x 32.

    The array starts at address 0; the second instruction of an iteration is the store of ``b``, promoted away.
    """
    classes, accesses, misses = [0, 0, 0], 0, 0
    cache: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(SETS)]
    grid = -(-n // 32)
    threads = [
        (block // grid * 32 + place // 32, block % grid * 32 + place % 32)
        for block in range(grid * grid)
        for place in range(1024)
    ]
    for start in range(0, min(len(threads), 2 * BATCH), BATCH):
        for k in range(STEPS):
            for first in range(start, min(start + BATCH, len(threads)), LANES):
                active = [(i, j) for i, j in threads[first : first + LANES] if i < n and j < n]
                places = [coefficients[0] * i + coefficients[1] * j + coefficients[2] * k + offset for i, j in active]
                if not places:
                    continue
                stride = max((abs(b - a) for a, b in itertools.pairwise(places)), default=0)
                classes[min(stride, 2)] += 1
                for line in dict.fromkeys(p * 4 // LINE for p in places):
                    accesses += 1
                    held = cache[line % SETS]
                    if line not in held:
                        misses += 1
                        if len(held) == WAYS:
                            held.popitem(last=False)
                        held[line] = None
                    held.move_to_end(line)
    return classes, accesses, misses


@settings(deadline=None, max_examples=examples(25))
@given(
    st.tuples(st.integers(0, 100), st.integers(0, 40), st.integers(0, 3000)), st.integers(0, 50), st.integers(1, 100)
)
def test_random_affine_kernels(coefficients: tuple[int, int, int], offset: int, n: int) -> None:
    ci, cj, ck = coefficients
    text = f"""
    void f(float a[20000], float b[N][N]) {{
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          for (int k = 0; k < {STEPS}; k++) b[i][j] += a[{ci} * i + {cj} * j + {ck} * k + {offset}];
    }}"""
    (load,) = features(text, n).instructions
    classes, accesses, misses = simulated(coefficients, offset, n)
    assert (load.warp_executions, load.accesses, load.misses) == (sum(classes), accesses, misses)
    assert load.access == ("constant", "coalesced", "uncoalesced")[classes.index(max(classes))]
    assert TraceMachine().sets == SETS
