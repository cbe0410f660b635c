"""Our methods and optimizers of others, judged as auto-tuners are (``benchmarks.search.scoring``).

``python -m benchmarks.search.judge --out FILE`` performs what FILE lacks, one JSON line a run; then
``python -m benchmarks.search.judge_page FILE`` writes the table and the picture into ``docs/search-quality.md``.
The peers need ``requirements-peers.lock``; without it ``--no-peers`` leaves them out.
"""

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from benchmarks.search.compare import SEEDLESS, Result, Run, load, perform
from benchmarks.search.networks import JUDGED, Case
from benchmarks.search.peers import PEERS, register_peers
from benchmarks.search.scoring import baseline_of
from dse.estimate.engine import make_engine
from dse.explore.methods.registry import METHODS
from dse.explore.space.space import Candidate

NETWORKS = (*(r.name for r in JUDGED), "smith_waterman-4g", "matrix-4g")
BUDGET = 300
SAMPLE = 20_000
"""So many random points stand for a space that has more."""
LONG = 5_000
"""Evaluations of the searches that look for the best known."""
SLOW = {"peer-optuna": 3, "peer-cp-sat": 3}
"""Methods that get fewer seeds, since they take minutes for a search."""


def sampled(run: Run) -> Result:
    """Return what random search is expected to find, from all points of a space or a sample of them."""
    case, begin = load(run.network), time.perf_counter()
    values = list(_makespans(case))
    baseline = baseline_of(values, BUDGET)
    return {
        "key": run.key,
        "network": run.network,
        "role": run.role,
        "expected": baseline.expected,
        "median": baseline.median,
        "best": min(values),
        "points": len(values),
        "seconds": round(time.perf_counter() - begin, 3),
    }


def _makespans(case: Case) -> Iterator[int]:
    """Yield the makespans of all points, or of points drawn uniformly; those that deadlock are left out."""
    space, rng = case.space, np.random.default_rng(1)
    engine = make_engine("compiled", case.problem)
    whole = space.size <= SAMPLE
    points = (
        space.candidates() if whole else (Candidate(assignment=space.random_assignment(rng)) for _ in range(SAMPLE))
    )
    for candidate in points:
        (outcome,) = engine.outcomes([space.to_point(candidate)], None)
        if outcome is not None and not outcome.deadlock:
            yield outcome.makespan


def done_by(run: Run) -> Result:
    """Perform a run, in a process of its own."""
    register_peers()
    return sampled(run) if run.role == "baseline" else perform(run)


def runs(seeds: int, *, peers: bool) -> Iterator[Run]:
    """Yield all runs: baselines, best known, then every method, one seed after the other."""
    for network in NETWORKS:
        yield Run(network=network, method="sample", seed=1, evaluations=SAMPLE, role="baseline")
    for network in NETWORKS:
        yield Run(network=network, method="portfolio", seed=101, evaluations=LONG, role="long")
    methods = (*METHODS.names(), "auto", *(PEERS if peers else ()))
    for seed in range(1, seeds + 1):
        for method in dict.fromkeys(methods):
            if seed <= (1 if method in SEEDLESS else SLOW.get(method, seeds)):
                for network in NETWORKS:
                    yield Run(network=network, method=method, seed=seed, evaluations=BUDGET, role="judged")


def perform_missing(args: argparse.Namespace) -> None:
    """Perform the runs that the results lack."""
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    done = {json.loads(line)["key"] for line in lines}
    missing = [run for run in runs(args.seeds, peers=args.peers) if run.key not in done]
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        for future in as_completed([pool.submit(done_by, run) for run in missing]):
            out.write(json.dumps(future.result()) + "\n")
            out.flush()


def main() -> None:
    """Perform the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("judged.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    perform_missing(parser.parse_args())


if __name__ == "__main__":
    main()
