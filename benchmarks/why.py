"""Times of what ``dse why`` does, beside those of the estimate alone, on the pipelines of ``benchmarks.engine``.

Run as ``python -m benchmarks.why [--quick]``. All sides run in turn in one process; the least of several runs counts.
Nothing is asserted.
"""

import argparse

from benchmarks.engine import Bench, bench, best_seconds
from dse.analyse.algorithmic_path import algorithmic_path
from dse.analyse.critical_path import path_of_record, slack_of_record
from dse.analyse.dependencies import derive_dependencies
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.problem.build import build_tables

SIZES = ((10, 4, 10_000), (10, 4, 100_000), (110, 4, 100_000), (10, 4, 1_000_000))
"""Actors, partitions and firings."""


def milliseconds(case: Bench, repeats: int) -> dict[str, float]:
    """Return the least time of each step."""
    engine, tables = CompiledEngine(case.problem), build_tables(case.problem)
    _, record = engine.record(case.point)
    dependencies = derive_dependencies(case.problem.trace)
    calls = {
        "estimate": lambda: engine.estimate(case.point),
        "with firing times": lambda: engine.estimate(case.point, firing_times=True),
        "with its record": lambda: engine.record(case.point),
        "critical path": lambda: path_of_record(record),
        "slack": lambda: slack_of_record(record),
        "dependencies": lambda: derive_dependencies(case.problem.trace),
        "algorithmic path": lambda: algorithmic_path(tables, dependencies),
    }
    return {name: 1e3 * best_seconds(call, repeats) for name, call in calls.items()}


def main() -> None:
    """Print a table: milliseconds of each step by size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    quick = parser.parse_args().quick
    for size in SIZES[: 2 if quick else None]:
        found = milliseconds(bench(*size), 3 if quick else 5)
        print(f"{size[0]} actors, {size[1]} partitions, {size[2]:,} firings, in ms:")
        for name, ms in found.items():
            print(f"  {name:20} {ms:10.2f}")


if __name__ == "__main__":
    main()
