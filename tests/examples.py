"""How many random examples a test draws: a third where they are the same each time, as ``make test`` has them."""

from hypothesis import settings


def examples(number: int) -> int:
    """Return how many of ``number`` examples are drawn: all in ``make test-full``, which draws others each time."""
    return number if settings.get_current_profile_name() != "ci" else max(20, number // 3)
