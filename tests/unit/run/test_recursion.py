"""Runs may have more frames than Python allows; nothing else may, behind them."""

import sys

from dse.run.recursion import MOST_FRAMES, room_for_recursion


def test_the_limit_is_as_before_when_no_run_goes_on() -> None:
    before = sys.getrecursionlimit()
    first, second = room_for_recursion(), room_for_recursion()
    with first:
        second.__enter__()
    assert sys.getrecursionlimit() == max(before, MOST_FRAMES)
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before
