"""When an actor is asked again that could not fire, and with which one a search begins."""

import pytest

from tests.native.runtime.programs import alone, output_of


@pytest.mark.parametrize(
    ("what", "kind", "expected"),
    [
        ("tokens", "crossing", "0 1 0 1 0"),
        ("tokens", "inside", "0 0 0 0 0"),
        ("room", "crossing", "0 0 1 0 1 0"),
        ("room", "inside", "0 0 0 0 0 0"),
    ],
)
def test_news_is_what_another_thread_has_published(what: str, kind: str, expected: str) -> None:
    assert output_of(alone("run_news.cpp"), what, kind).split() == expected.split()


def test_who_waited_goes_on_at_the_actor_that_was_at_work_last() -> None:
    """As NON_PREEMPTIVE of the estimate tries the current actor first."""
    assert output_of(alone("run_news.cpp"), "search", "-") == "0 1 2 | 0 1 2 | 1 2 0 | 1 2 0 | 1 2 0 | 0 1 2 | \n"
