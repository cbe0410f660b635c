"""``python -m tests.fuzz``: run the fuzzers for a time, or so many cases of each target, or one case again."""

import argparse
import collections
import os
import sys
import tempfile
from pathlib import Path

from tests.fuzz.harness import Case, Outcome, endless, fixed, run_case, run_cases, work
from tests.fuzz.scene import make_scene
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Run what the arguments ask for; return 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="targets (default: all)")
    parser.add_argument("--seconds", type=float, help="run for so long")
    parser.add_argument("--cases", type=int, help="run so many cases of each target")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-out"), help="folder of faults (default fuzz-out)")
    parser.add_argument("--case", metavar="TARGET:NUMBER", help="run one case in this process and print its fault")
    parser.add_argument("--work", nargs=2, type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(TARGETS, *args.work)
        return 0
    unknown = [name for name in args.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    with tempfile.TemporaryDirectory(prefix="dse-fuzz-") as temporary:
        scene = Path(temporary) / "scene"
        make_scene(scene)
        return _one(args.case, scene, args.keep) if args.case else _many(args, scene)


def _one(case: str, scene: Path, keep: Path) -> int:
    target, _, number = case.partition(":")
    fault = run_case(TARGETS[target], Case(target, int(number)), scene, keep)
    print("no fault" if fault is None else fault.text)
    return int(fault is not None)


def _many(args: argparse.Namespace, scene: Path) -> int:
    names = args.targets or list(TARGETS)
    cases = fixed(dict.fromkeys(names, args.cases), args.first) if args.cases else endless(names, args.first)
    outcome = run_cases(cases, args.jobs, scene, args.keep, args.seconds)
    _print(outcome)
    return int(bool(outcome.faults))


def _print(outcome: Outcome) -> None:
    """Print the cases of each target, and each kind of fault once."""
    kinds: dict[str, list[str]] = collections.defaultdict(list)
    for fault in outcome.faults:
        kinds[f"{fault.case.target}: {fault.kind}"].append(str(fault.case))
    for target, count in outcome.cases.items():
        faults = sum(fault.case.target == target for fault in outcome.faults)
        print(f"{target:20} {count:7} cases {faults:5} faults")
    print(f"{sum(outcome.cases.values())} cases, {len(outcome.faults)} faults in {outcome.seconds:.0f} s")
    for kind, found in sorted(kinds.items()):
        print(f"{len(found):5}  {kind}  ({found[0]})")


if __name__ == "__main__":
    sys.exit(main())
