"""What an evaluation costs beside its simulation: bytes in the study file, memory, CPU time of keeping and storing it.

``python -m benchmarks.study_file`` searches generated networks of 60 and of 200 actors by ``auto``, as ``dse explore``
does but without stopped simulations, whose evaluations are smaller.
"""

import argparse
import gc
import tempfile
import time
import tracemalloc
from pathlib import Path

from benchmarks.search.compare import NoStore, context_of, load
from benchmarks.search.networks import Case
from dse.estimate.engine import make_engine
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, EvaluationStore, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.choose import choose_method
from dse.explore.methods.registry import METHODS
from dse.explore.search import run_search
from dse.flows.program import unheard
from dse.formats.study_file import StudyStore, create_study, resume_study
from dse.model.study import Evaluation

NETWORKS = ("pipeline-60x8g", "pipeline-200x16")


class TimedStore:
    """A study file that measures the CPU time of ``add``, in seconds."""

    def __init__(self, store: StudyStore) -> None:
        self._store = store
        self.seconds = 0.0

    def known(self) -> dict[str, Evaluation]:
        """Return what the file holds."""
        return self._store.known()

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation."""
        begin = time.thread_time()
        self._store.add(evaluation)
        self.seconds += time.thread_time() - begin

    def commit(self) -> None:
        """Make what was added durable."""
        self._store.commit()


def searched(case: Case, context: SearchContext, evaluations: int, store: EvaluationStore) -> Evaluator:
    """Run a search and return all that is kept of its evaluations; what the method keeps itself goes."""
    method = METHODS.load(choose_method(case.space)[0])(context)
    estimator = ThreadEstimator(make_engine("compiled", case.problem), 1, case.problem.trace.n_firings)
    evaluator = Evaluator(
        estimator, budget=Budget(evaluations=evaluations), store=store, clock=time.perf_counter, progress=unheard
    )
    run_search(method, evaluator, case.space.one_core())
    return evaluator


def stored(case: Case, evaluations: int, path: Path) -> str:
    """Return the cost of the study file in words."""
    topology = case.problem.trace.topology
    store = create_study(path, topology, {}, {})
    empty, timed = path.stat().st_size, TimedStore(store)
    searched(case, context_of(case, 1), evaluations, timed)
    store.close()
    size = path.stat().st_size - empty
    store = resume_study(path, topology, {}, {})
    begin = time.thread_time()
    found = len(store.known())
    read = time.thread_time() - begin
    store.close()
    times = f"{timed.seconds / found * 1e6:.0f} us to add, {read / found * 1e6:.0f} us to read"
    return f"{size / found:.0f} bytes of file, {times}"


def kept(case: Case, evaluations: int) -> str:
    """Return the memory that the evaluator keeps in words."""
    context = context_of(case, 1)
    searched(case, context, 8, NoStore())  # whatever is made once
    context = context_of(case, 1)
    gc.collect()
    tracemalloc.start()
    evaluator = searched(case, context, evaluations, NoStore())
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return f"{size / len(evaluator.evaluations):.0f} bytes of memory"


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=2000)
    args = parser.parse_args()
    for name in NETWORKS:
        case = load(name)
        with tempfile.TemporaryDirectory() as folder:
            of_file = stored(case, args.evaluations, Path(folder) / "study.sqlite")
        print(f"{name}, each evaluation: {of_file}, {kept(case, args.evaluations)}", flush=True)


if __name__ == "__main__":
    main()
