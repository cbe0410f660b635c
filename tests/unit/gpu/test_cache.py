"""The cache against an independent simulation, on random sequences of lines."""

from collections import OrderedDict, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.gpu.trace.cache import count_hits, reuse_distances

TRACES = st.one_of(st.lists(st.integers(0, most), min_size=least, max_size=200) for most, least in ((60, 0), (12, 40)))
SETS = st.integers(1, 9)
WAYS = st.integers(1, 6)


def simulated_hits(lines: list[int], sets: int, ways: int) -> int:
    """A cache of dictionaries in order of use: nothing in common with the compiled one."""
    contents: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(sets)]
    hits = 0
    for line in lines:
        held = contents[line % sets]
        if line in held:
            hits += 1
            held.move_to_end(line)
            continue
        if len(held) == ways:
            held.popitem(last=False)
        held[line] = None
    return hits


@settings(deadline=None)
@given(TRACES, SETS, WAYS)
def test_lru_equals_an_independent_simulation(lines: list[int], sets: int, ways: int) -> None:
    assert count_hits(np.array(lines, np.int64), sets, ways) == simulated_hits(lines, sets, ways)


@pytest.mark.parametrize(
    ("lines", "ways", "hits"),
    [
        ([1, 2, 1, 2], 2, 2),
        ([1, 2, 3, 1], 2, 0),
        ([1, 2, 1, 3, 1], 2, 2),
        ([1, 2, 3, 1, 2, 3], 3, 3),
        ([1, 2, 3, 4, 2, 1], 3, 1),
        ([5, 5, 5], 1, 2),
        ([5, 6, 5], 1, 0),
    ],
)
def test_the_least_recently_used_line_goes(lines: list[int], ways: int, hits: int) -> None:
    assert count_hits(np.array(lines, np.int64), 1, ways) == hits


@settings(deadline=None)
@given(TRACES, SETS, WAYS)
def test_a_reuse_below_the_associativity_is_a_hit(lines: list[int], sets: int, ways: int) -> None:
    """Equation (9): the temporal conflict set has fewer lines than the set has ways."""
    distances = reuse_distances(np.array(lines, np.int64), sets)
    assert int(((distances >= 0) & (distances < ways)).sum()) == simulated_hits(lines, sets, ways)


@settings(deadline=None)
@given(TRACES, SETS)
def test_reuse_distances_by_their_definition(lines: list[int], sets: int) -> None:
    found = reuse_distances(np.array(lines, np.int64), sets).tolist()
    for at, line in enumerate(lines):
        between: deque[int] = deque()
        expected = -1
        for earlier in reversed(lines[:at]):
            if earlier == line:
                expected = len(set(between))
                break
            if earlier % sets == line % sets:
                between.append(earlier)
        assert found[at] == expected
