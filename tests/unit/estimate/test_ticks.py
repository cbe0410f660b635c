"""Conversion of costs to ticks: what is refused."""

from fractions import Fraction

import pytest

from dse.base.errors import FormatError
from dse.estimate.problem.ticks import MOST_TICKS, TickConverter


def test_costs_that_sums_in_64_bits_cannot_hold_are_refused() -> None:
    converter = TickConverter()
    assert converter.ticks("weight a", Fraction(MOST_TICKS), None) == MOST_TICKS
    converter.check()
    converter.ticks("weight b", Fraction(10) ** 22, None)
    converter.transfer_ticks("weight c", Fraction(1), Fraction(10) ** 22, None)
    with pytest.raises(FormatError) as refused:
        converter.check()
    assert [d.message.split(" is ")[0] for d in refused.value.diagnostics] == ["the weight b", "the weight c"]
