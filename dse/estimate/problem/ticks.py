"""Conversion of exact cycles to integer ticks (``estimation.md``, section Time), with all that can be wrong in it."""

from fractions import Fraction
from typing import Final, TypeAlias

from dse.base.errors import FormatError
from dse.base.units import PS_PER_S, clock_hz, half_up
from dse.estimate.problem.failures import raise_gathered
from dse.model.estimate import TickUnit

MOST_TICKS = 10**15
"""The most that one cost may be (1000 s in ps): costs are added up in 64 bits."""
Quotient: TypeAlias = tuple[int, int]
"""Numerator, and denominator above 0, not reduced."""
ZERO: Final[Quotient] = (0, 1)
ONE: Final[Quotient] = (1, 1)


class TickConverter:
    """Converts costs to ticks and remembers what stands in the way, so that one error reports everything.

    A cost of 0 cycles is 0 ticks under any clock and without one; it takes no part in the check for mixtures. Quotients
    are a numerator and a denominator: a problem has thousands, and ``Fraction`` reduces each.
    """

    def __init__(self) -> None:
        self._clocked: list[str] = []
        self._unclocked: list[str] = []
        self._wrong: list[str] = []

    def ticks(self, entry: str, cycles: Fraction, frequency_mhz: Fraction | None) -> int:
        """Return the ticks of ``cycles``; ``entry`` names the weight in errors."""
        return half_up(*self._bounded(entry, cycles, self._scale(entry, (cycles,), frequency_mhz)))

    def transfer_ticks(
        self, entry: str, fixed_cycles: Fraction, per_token_cycles: Fraction, frequency_mhz: Fraction | None
    ) -> "TransferPrice":
        """Return the price of a transfer whose cost is fixed plus tokens times ``per_token_cycles``."""
        scale = self._scale(entry, (fixed_cycles, per_token_cycles), frequency_mhz)
        fixed = self._bounded(entry, fixed_cycles, scale)
        return TransferPrice(fixed, self._bounded(entry, per_token_cycles, scale))

    def _bounded(self, entry: str, cycles: Fraction, scale: Quotient) -> Quotient:
        """Return ticks, or note the entry as wrong and return 0 where sums over a run would not fit 64 bits."""
        numerator, denominator = cycles.numerator * scale[0], cycles.denominator * scale[1]
        if numerator <= MOST_TICKS * denominator:
            return numerator, denominator
        ticks = float(Fraction(numerator, denominator))
        self._wrong.append(f"the {entry} is {ticks:.3g} ticks, which is more than {MOST_TICKS:.0e}")
        return ZERO

    def check(self) -> None:
        """Raise ``FormatError`` with all weights that are negative, or else with those that mix clocks and none."""
        if self._wrong:
            raise_gathered(
                FormatError, self._wrong, expected="costs are at least 0, at most 1e+15 ticks; clocks are above 0"
            )
        if self._clocked and self._unclocked:
            few_clocked = len(self._clocked) < len(self._unclocked)
            few = self._clocked if few_clocked else self._unclocked
            tail = "has a clock while other weights have none" if few_clocked else "has no clock while other weights do"
            raise_gathered(
                FormatError, [f"the {entry} {tail}" for entry in few], expected="give all weights a clock, or none"
            )

    @property
    def unit(self) -> TickUnit | None:
        """The unit that the weights ask for; None while no weight above 0 was seen."""
        if self._clocked:
            return "ps"
        return "cycles" if self._unclocked else None

    def _scale(self, entry: str, cycles: tuple[Fraction, ...], frequency_mhz: Fraction | None) -> Quotient:
        """Return ticks per cycle, exactly; 0 for a weight that is wrong."""
        numerators = [c.numerator for c in cycles]
        if min(numerators) < 0:
            self._wrong.append(f"the {entry} is negative")
            return ZERO
        if frequency_mhz is None:
            if any(numerators):
                self._unclocked.append(entry)
            return ONE
        hz = clock_hz(frequency_mhz)
        if hz <= 0:
            self._wrong.append(f"the {entry} has a clock of {frequency_mhz} MHz")
            return ZERO
        if any(numerators):
            self._clocked.append(entry)
        return PS_PER_S, hz


class TransferPrice:
    """Ticks of a transfer by its number of tokens: fixed and per-token part are summed first, then rounded once."""

    __slots__ = ("_denominator", "_fixed", "_per_token")

    def __init__(self, fixed_ticks: Quotient, per_token_ticks: Quotient) -> None:
        self._fixed = fixed_ticks[0] * per_token_ticks[1]
        self._per_token = per_token_ticks[0] * fixed_ticks[1]
        self._denominator = fixed_ticks[1] * per_token_ticks[1]

    def ticks(self, tokens: int) -> int:
        """Return the ticks of ``tokens`` tokens moved in one transfer."""
        return half_up(self._fixed + tokens * self._per_token, self._denominator)
