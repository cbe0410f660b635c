"""Costs that were drawn at random, many sets of them, as engines take them: see ``Engine.drawn``."""

from dataclasses import dataclass, field

import numpy as np

from dse.estimate.problem.tables import IntArray

_NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnCosts:
    """``n`` sets of costs of computing, in ticks, that stand for those of ``ProblemTables``.

    ``compute``: shape (n, n_rows, n_actions). ``block_ticks``: shape (n, n_block_ticks). ``deviations``: as in
    ``ProblemTables``, the same in all sets; shape (0,) exactly where the tables have none.
    """

    compute: IntArray
    block_ticks: IntArray
    deviations: IntArray = field(default_factory=lambda: _NONE)
