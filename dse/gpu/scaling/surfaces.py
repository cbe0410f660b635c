"""Scaling values and the surfaces that they make: Wu et al. 2015, section III-B, figures 7 and 8, equation 1.

A scaling value is the ratio of a quantity at two neighbouring configurations, the upper one over the lower one.
"""

from collections.abc import Sequence

import numpy as np

from dse.model.scaling import Reals


def memory_values(times: Reals) -> Reals:
    """Return m[i, j] = t[i, j + 1] / t[i, j] of a matrix by clock of core and of memory, shape (n_core, n_mem - 1)."""
    return times[..., 1:] / times[..., :-1]


def core_values(times: Reals) -> Reals:
    """Return e[i, j] = t[i + 1, j] / t[i, j] of the same matrix, shape (n_core - 1, n_mem)."""
    return times[..., 1:, :] / times[..., :-1, :]


def unit_values(times: Reals) -> Reals:
    """Return c[i] = t[i + 1] / t[i] of a vector by compute units, shape (n_units - 1,)."""
    return times[..., 1:] / times[..., :-1]


def clock_values(times: Reals) -> Reals:
    """Return the values of figure 7 of matrices (..., n_core, n_mem) in one row each: first those of the memory."""
    rows = (memory_values(times), core_values(times))
    return np.concatenate([row.reshape(*times.shape[:-2], -1) for row in rows], axis=-1)


def split_values(values: Reals, n_core: int, n_memory: int) -> tuple[Reals, Reals]:
    """Return the memory and the core values of a row of ``clock_values``."""
    of_memory = n_core * (n_memory - 1)
    return values[:of_memory].reshape(n_core, n_memory - 1), values[of_memory:].reshape(n_core - 1, n_memory)


def along(ratios: Reals, base: int) -> Reals:
    """Return what ratios along the first axis make of 1 at ``base``: products upward, reciprocals downward."""
    up = np.cumprod(ratios[base:], axis=0)
    down = np.cumprod((1 / ratios[:base])[::-1], axis=0)[::-1]
    return np.concatenate([down, np.ones_like(ratios[:1], shape=(1, *ratios.shape[1:])), up])


def clock_surface(values: Reals, n_core: int, n_memory: int, base: tuple[int, int]) -> Reals:
    """Return a quantity over that at the base clocks, shape (n_core, n_memory), by equation 1.

    First the clock of the core changes in the memory column of the base, then that of the memory in the row reached.
    """
    of_memory, of_core = split_values(values, n_core, n_memory)
    column = along(of_core[:, base[1]], base[0])
    return column[:, None] * along(of_memory.T, base[1]).T


def whole_surface(
    of_units: Reals, of_clocks: Sequence[Reals], shape: tuple[int, int, int], base: tuple[int, int, int]
) -> Reals:
    """Return a quantity over that at the base configuration, shape ``shape``: compute units before all clocks.

    ``of_units``: values over compute units, shape (n_units - 1,); ``of_clocks``: a row of values for each number.
    """
    first = along(of_units, base[0])
    return np.stack([f * clock_surface(row, *shape[1:], base[1:]) for f, row in zip(first, of_clocks, strict=True)])
