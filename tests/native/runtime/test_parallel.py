"""Runs on threads move the same tokens as a run on one, whatever the mapping; the sanitizers find nothing."""

from collections.abc import Iterator
from functools import cache

import pytest

from tests.examples import seldom
from tests.native.runtime.programs import TRIED, fan, output_of

# POLICY:CORES:ACTORS[:ORDER] of each partition; policies by their place in the enumeration of run_types.hpp. The actors
# are source 0, split 1, sum 2, sink 3.
MAPPINGS = {
    "non-preemptive": "0:1:0,1/0:1:2,3",
    "round robin": "1:1:0,1/1:1:2,3",
    "round robin, crossing back": "1:1:0,2/1:1:1,3",
    "data and demand": "2:1:0,3/2:1:1,2",
    "full parallel": "3:1:0,1,2,3",
    "static": "1:1:0/4:1:1,2:1,2,1/0:1:3",
    "static, alone": "4:1:0:0/4:1:1:1/4:1:2:2/0:1:3",
    "two cores": "0:2:0,1,2,3",
    "three cores and one": "1:3:0,1,2/1:1:3",
    "four cores": "2:4:0,1,2,3",
    "mixed": "0:1:0/1:1:3,1/2:1:2",
}


def moved(text: str) -> Iterator[str]:
    """Yield the lines that do not depend on when tokens arrive: the sink prefers one input."""
    return (line for line in text.splitlines() if not line.startswith("trace"))


@pytest.mark.parametrize("fifo_tokens", [4, *seldom(100)])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("variant", TRIED)
def test_moves_the_tokens_of_a_run_on_one_thread(variant: str, mapping: str, fifo_tokens: int) -> None:
    program = fan(variant)
    alone = moved_alone(variant, fifo_tokens)
    for _ in range(3 if variant == "plain" else 1):
        threaded = output_of(program, "fan", str(fifo_tokens), "0", MAPPINGS[mapping])
        assert list(moved(threaded)) == alone


@cache
def moved_alone(variant: str, fifo_tokens: int) -> list[str]:
    """What a run on one thread moves."""
    return list(moved(output_of(fan(variant), "fan", str(fifo_tokens), "0")))


@pytest.mark.parametrize("variant", TRIED)
@pytest.mark.parametrize("mapping", ["1:1:0,1/1:1:2,3", "0:2:0,1,2,3", "3:1:0,1,2,3"])
def test_idle_firings_end_a_run(variant: str, mapping: str) -> None:
    lines = output_of(fan(variant), "idle", "4096", "0", mapping).splitlines()
    assert lines[0] == "why livelock"
    tokens, idles = [int(x) for x in lines[7].split()[1:3]], int(lines[7].split()[3])
    assert tokens == [1667, 6670]
    assert idles >= 100_000


@pytest.mark.parametrize("variant", TRIED)
@pytest.mark.parametrize("limit", [1, 2, 7, 5000, 20_000])
@pytest.mark.parametrize("mapping", ["1:1:0,1/1:1:2,3", "0:2:0,1,2,3", "3:1:0,1,2,3"])
def test_makes_no_firing_more_and_none_less_than_allowed(variant: str, limit: int, mapping: str) -> None:
    lines = output_of(fan(variant), "fan", "64", str(limit), mapping).splitlines()
    assert lines[0] == "why budget"
    counts = [int(n) for line in lines if line.startswith("actions") for n in line.split()[1:]]
    assert sum(counts) == limit


def test_a_static_order_that_cannot_be_followed_is_told() -> None:
    text = output_of(fan(), "fan", "64", "0", "4:1:0,1,2,3:0,0,0,1,2,1,3")
    assert "the static order of 'p0' cannot be followed: when it was the turn of 'split'" in text


# The order of the first partition ends at the turn of the source, which has no more, with tokens left for split; the
# other one then waits for sum, which gets some of these, while sink behind it could fire.
UNEVEN = ["4:1:0,1:" + ",".join("0" * 9 + "1" * 6), "4:1:2,3:" + ",".join("2" * 4 + "3" * 5)]


@pytest.mark.parametrize("variant", TRIED)
@pytest.mark.parametrize("mapping", ["/".join(UNEVEN), "/".join(reversed(UNEVEN))])
def test_an_actor_is_passed_over_only_when_it_has_ended(variant: str, mapping: str) -> None:
    program = fan(variant)
    threaded = output_of(program, "fan", "100", "0", mapping)
    assert list(moved(threaded)) == list(moved(output_of(program, "fan", "100", "0")))
