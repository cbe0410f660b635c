"""Clocks as a dimension of the space: which units share a clock, and which clocks there are to choose from.

A choice is one *level* for each domain, an index into its clocks, of which the fastest comes first. A domain without an
actor has level 0, so that no two choices are the same point; ``()`` stands for level 0 everywhere.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

Levels: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDomain:
    """Units that have one clock in common, and the clocks to choose from, in MHz, the fastest first."""

    units: tuple[str, ...]
    clocks_mhz: tuple[Fraction, ...]


class Clocks:
    """The domains of a space. ``of_unit``: the domain of each of its units, None where the clock is not chosen."""

    def __init__(self, domains: tuple[ClockDomain, ...], units: Sequence[str]) -> None:
        self.domains = domains
        self.of_unit = tuple(next((d for d, domain in enumerate(domains) if u in domain.units), None) for u in units)

    def count(self, units: Collection[int]) -> int:
        """Return the number of choices where these units are in use."""
        ways = 1
        for domain in self.used(units):
            ways *= len(self.domains[domain].clocks_mhz)
        return ways

    def used(self, units: Collection[int]) -> list[int]:
        """Return the domains of some units, ascending."""
        return sorted({d for u in units if (d := self.of_unit[u]) is not None})

    def choices(self, units: Collection[int]) -> Iterator[Levels]:
        """Yield the choices where these units are in use: every combination, the fastest of all first."""
        if not self.domains:
            yield ()
            return
        used = self.used(units)
        for levels in itertools.product(*(range(len(self.domains[d].clocks_mhz)) for d in used)):
            yield self.of_levels(dict(zip(used, levels, strict=True)))

    def drawn(self, units: Collection[int], rng: np.random.Generator) -> Levels:
        """Return one of the choices, all as likely."""
        return self.of_levels({d: int(rng.integers(len(self.domains[d].clocks_mhz))) for d in self.used(units)})

    def of_levels(self, level_of: dict[int, int]) -> Levels:
        """Return the canonical choice of some levels by domain, 0 in all others."""
        return tuple(level_of.get(d, 0) for d in range(len(self.domains))) if any(level_of.values()) else ()

    def levels(self, chosen: Levels) -> Levels:
        """Return one level for each domain."""
        return chosen or (0,) * len(self.domains)

    def clock_mhz(self, unit: int, chosen: Levels) -> Fraction | None:
        """Return the clock of a unit, None where it is not chosen."""
        domain = self.of_unit[unit]
        return None if domain is None else self.domains[domain].clocks_mhz[self.levels(chosen)[domain]]


def exchangeable(domains: tuple[ClockDomain, ...], a: str, b: str) -> bool:
    """Return whether two units may change places as far as clocks go: one clock in common, or each its own of the same.

    With other units in the domain of only one of them, an exchange would change those.
    """
    mine, other = (next((d for d in domains if name in d.units), None) for name in (a, b))
    if mine is other:
        return True
    if mine is None or other is None:
        return False
    return len(mine.units) == len(other.units) == 1 and mine.clocks_mhz == other.clocks_mhz
