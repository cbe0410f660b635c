"""Costs that were drawn at random, many sets of them, as engines take them: see ``Engine.drawn``."""

from dataclasses import dataclass, field, replace

import numpy as np

from dse.estimate.problem.tables import IntArray, ProblemTables

_NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnCosts:
    """``n`` sets of costs, in ticks, that stand for those of ``ProblemTables``.

    ``compute``: shape (n, n_rows, n_actions). ``block_ticks``: shape (n, n_block_ticks). ``deviations``: as in
    ``ProblemTables``, the same in all sets; shape (0,) exactly where the tables have none. The others have the shapes
    of the tables behind n; ``reads`` and ``writes`` are of their ``ticks``. None: as in the tables.
    """

    compute: IntArray
    block_ticks: IntArray
    deviations: IntArray = field(default_factory=lambda: _NONE)
    first_scheduling: IntArray | None = None
    pair_scheduling: IntArray | None = None
    reads: IntArray | None = None
    writes: IntArray | None = None

    def one(self, index: int) -> "DrawnCosts":
        """Return one of the sets."""

        def of(ticks: IntArray | None) -> IntArray | None:
            return None if ticks is None else ticks[index : index + 1]

        return DrawnCosts(
            compute=self.compute[index : index + 1],
            block_ticks=self.block_ticks[index : index + 1],
            deviations=self.deviations,
            first_scheduling=of(self.first_scheduling),
            pair_scheduling=of(self.pair_scheduling),
            reads=of(self.reads),
            writes=of(self.writes),
        )

    def put_into(self, tables: ProblemTables, index: int) -> ProblemTables:
        """Return tables with one of the sets in the place of their costs."""

        def of(ticks: IntArray | None, given: IntArray) -> IntArray:
            return given if ticks is None else ticks[index]

        return replace(
            tables,
            compute=self.compute[index],
            block_ticks=self.block_ticks[index],
            deviations=self.deviations,
            first_scheduling=of(self.first_scheduling, tables.first_scheduling),
            pair_scheduling=of(self.pair_scheduling, tables.pair_scheduling),
            reads=replace(tables.reads, ticks=of(self.reads, tables.reads.ticks)),
            writes=replace(tables.writes, ticks=of(self.writes, tables.writes.ticks)),
        )
