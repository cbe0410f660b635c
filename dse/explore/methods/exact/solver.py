"""A linear program with whole numbers in the solver HiGHS (Huangfu and Hall 2018), deterministic: one thread, no clock.

What the solver may do is limited by its branches and by how often it asks whether to go on, both of which count the
same on every machine.
"""

import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.base.apart import apart

SCALE = 10_000.0
"""The sum of all costs in a program: large against the solver's tolerances of 1e-6, small enough for its floats."""
MARGIN = 0.05
"""What the solver's tolerances can make of an optimum at that scale, with room to spare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """``bound``: no solution costs less, tolerances aside, 0 where nothing is known; ``values``: of the columns, None
    where none was found."""

    bound: float
    values: tuple[float, ...] | None
    infeasible: bool


class Program:
    """A program to be minimised; ``nodes``, ``looks``: branches and questions of the solver for one solution."""

    def __init__(self, *, nodes: int, looks: int) -> None:
        self._module: Any = importlib.import_module("highspy")  # late: many commands solve nothing
        self._solver: Any = self._module.Highs()
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 1),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-3),
            ("mip_max_nodes", nodes),
        ):
            self._solver.setOptionValue(name, value)
        self._looks, self._most_looks = 0, looks
        self._whole: list[int] = []
        self._relaxed = False
        self._told = False
        """Whether the solver knows which of them have to be whole now."""
        self._solver.cbMipInterrupt.subscribe(self._look)

    def column(self, lower: float, upper: float, *, cost: float = 0.0) -> int:
        """Add a variable and return its number."""
        self._solver.addCol(cost, lower, upper, 0, [], [])
        return int(self._solver.getNumCol()) - 1

    def binary(self, free: bool) -> int:
        """Add a variable that is 0 or 1, or 0 where it is not free, and return its number."""
        column = self.column(0.0, 1.0 if free else 0.0)
        self._whole.append(column)
        self._told = False
        return column

    def row(self, lower: float, upper: float, terms: dict[int, float]) -> None:
        """Add the constraint that a sum of multiples of variables is within limits."""
        self._solver.addRow(lower, upper, len(terms), list(terms), list(terms.values()))

    def limit(self, column: int, lower: float, upper: float) -> None:
        """Change the limits of a variable."""
        self._solver.changeColBounds(column, lower, upper)

    def relax(self, relaxed: bool) -> None:
        """Let the variables that are 0 or 1 be anything between, or not."""
        self._relaxed = relaxed
        self._told = False

    def _tell_kinds(self) -> None:
        """Tell the solver which variables are whole numbers, all at once: one by one takes longer than to solve."""
        kinds = self._module.HighsVarType
        kind = int(kinds.kContinuous if self._relaxed else kinds.kInteger)
        columns = np.array(self._whole, dtype=np.int32)
        self._solver.changeColsIntegrality(len(columns), columns, np.full(len(columns), kind, dtype=np.uint8))
        self._told = True

    def solve(self) -> Solved:
        """Return the optimum, or what the solver knows of it when it has branched and asked as often as it may."""
        self._looks = 0
        if not self._told:
            self._tell_kinds()
        apart(self._solver.run, self._stop)
        status = self._solver.getModelStatus()
        if status == self._module.HighsModelStatus.kInfeasible:
            return Solved(bound=math.inf, values=None, infeasible=True)
        info = self._solver.getInfo()
        values = tuple(self._solver.getSolution().col_value) if info.primal_solution_status == 2 else None
        dual = float(info.objective_function_value if self._relaxed else info.mip_dual_bound)
        if self._relaxed and status != self._module.HighsModelStatus.kOptimal:
            dual = 0.0
        return Solved(bound=dual if math.isfinite(dual) else 0.0, values=values, infeasible=False)

    def _stop(self) -> None:
        """Have the solver end when it looks the next time."""
        self._looks = self._most_looks

    def _look(self, event: Any) -> None:
        """End a program that the solver has looked at so often: its root alone may take minutes, without a branch."""
        self._looks += 1
        if self._looks > self._most_looks:
            event.interrupt()
