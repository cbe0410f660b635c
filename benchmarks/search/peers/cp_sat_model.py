"""The model that CP-SAT solves, in a process of its own: OR-Tools and highspy bring two HiGHS of one name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

WORK = 1.0
"""Deterministic time of one solution, which is about seconds, and the same on every machine."""
FEW = 5
"""So many solutions at most are taken of one model, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """``values[a]``: the slots of actor a; ``loads[a]``: what it takes on each; ``cuts``: (actor, actor, price)."""

    values: tuple[tuple[int, ...], ...]
    loads: tuple[tuple[int, ...], ...]
    cuts: tuple[tuple[int, int, int], ...]
    seed: int


def solve(wanted: Model) -> list[list[int]]:
    """Return solutions as indices of values, the best first: the largest load and the prices of cuts are least."""
    from ortools.sat.python import cp_model  # only in the process that solves, see above

    found: list[list[int]] = []

    class Solutions(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            found.append([next(i for i, var in enumerate(own) if self.value(var)) for own in at])

    model = cp_model.CpModel()
    at = [[model.new_bool_var(f"x{a}_{s}") for s in own] for a, own in enumerate(wanted.values)]
    for own in at:
        model.add_exactly_one(own)
    largest = model.new_int_var(0, sum(map(max, wanted.loads)), "largest")
    for slot in sorted({s for own in wanted.values for s in own}):
        terms = [
            loads[own.index(slot)] * here[own.index(slot)]
            for own, here, loads in zip(wanted.values, at, wanted.loads, strict=True)
            if slot in own
        ]
        model.add(sum(terms) <= largest)
    model.minimize(largest + sum(_cuts(model, at, wanted)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = wanted.seed
    solver.parameters.max_deterministic_time = WORK
    solver.solve(model, Solutions())
    return found[: -FEW - 1 : -1]


def _cuts(model: Any, at: list[list[Any]], wanted: Model) -> Iterator[Any]:
    """Yield the price of each buffer whose ends are apart."""
    for index, (source, target, price) in enumerate(wanted.cuts):
        apart = model.new_bool_var(f"cut{index}")
        there = wanted.values[target]
        for slot, here in zip(wanted.values[source], at[source], strict=True):
            model.add(here - (at[target][there.index(slot)] if slot in there else 0) <= apart)
        yield price * apart
