"""How long ``dse VERB --help`` takes, beside an interpreter that does nothing.

usage: python -m benchmarks.help [--rounds N] [--most S]

Each round starts every command once, so that other work on the machine hits all of them alike; what is shown is the
median of the rounds, in seconds of the clock and of a processor. With ``--most S`` the exit code is 1 if the help of a
verb takes more than S seconds of the clock. What keeps it quick, the modules imported, is tested.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

from dse.cli.main import VERBS


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of the clock and of a processor that a command takes."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, (after.children_user - before.children_user) + (after.children_system - before.children_system)


def medians(rounds: int) -> dict[str, tuple[float, float]]:
    """Command -> median seconds of the clock and of a processor."""
    commands = {"(nothing)": [sys.executable, "-c", "pass"]}
    commands |= {verb or "dse": [sys.executable, "-m", "dse", *verb.split(), "--help"] for verb in ("", *VERBS)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(timed(command))
    return {
        n: (statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
        for n, times in found.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=float("inf"), metavar="S")
    args = parser.parse_args()
    found = medians(args.rounds)
    for name, (wall, processor) in found.items():
        print(f"{name:12} {wall:.3f} s, {processor:.3f} s of a processor")
    return int(any(wall > args.most for name, (wall, _) in found.items() if name in VERBS))


if __name__ == "__main__":
    sys.exit(main())
