"""The names of the search methods, and which of them ``auto`` is."""

from dse.base.registry import Registry
from dse.explore.space.space import Space

METHODS = Registry(
    "search method",
    {
        "exhaustive": "dse.explore.methods.exact.exhaustive:Exhaustive",
        "branch-and-bound": "dse.explore.methods.exact.branch_and_bound:BranchAndBound",
        "integer-program": "dse.explore.methods.exact.integer_program:IntegerProgram",
        "greedy": "dse.explore.methods.constructive.greedy:Greedy",
        "workload-balance": "dse.explore.methods.constructive.workload_balance:WorkloadBalance",
        "balanced-pipeline": "dse.explore.methods.constructive.balanced_pipeline:BalancedPipeline",
        "kernighan-lin": "dse.explore.methods.improving.kernighan_lin:KernighanLin",
        "metis": "dse.explore.methods.constructive.metis:Metis",
        "hypergraph": "dse.explore.methods.constructive.hypergraph:Hypergraph",
        "round-robin": "dse.explore.methods.constructive.round_robin:RoundRobin",
        "random": "dse.explore.methods.sampling.random_search:RandomSearch",
        "local-search": "dse.explore.methods.improving.local_search:LocalSearch",
        "iterated-search": "dse.explore.methods.improving.iterated_search:IteratedSearch",
        "idle": "dse.explore.methods.improving.guided_descent:IdleSearch",
        "communication-frequency": "dse.explore.methods.improving.guided_descent:CommunicationSearch",
        "tabu": "dse.explore.methods.improving.tabu:Tabu",
        "tabu-joint": "dse.explore.methods.improving.tabu:TabuJoint",
        "tabu-reinsert": "dse.explore.methods.improving.tabu:TabuReinsert",
        "tabu-swap": "dse.explore.methods.improving.tabu:TabuSwap",
        "tabu-random": "dse.explore.methods.improving.tabu:TabuRandom",
        "tabu-idle": "dse.explore.methods.improving.tabu:TabuIdle",
        "tabu-communication": "dse.explore.methods.improving.tabu:TabuCommunication",
        "tabu-balancing": "dse.explore.methods.improving.tabu:TabuBalancing",
        "annealing": "dse.explore.methods.improving.annealing:SimulatedAnnealing",
        "nsga2": "dse.explore.methods.sampling.nsga2:Nsga2",
        "portfolio": "dse.explore.methods.sampling.portfolio:Portfolio",
        "pareto-search": "dse.explore.methods.sampling.pareto_search:ParetoSearch",
    },
)
"""Name -> class. ``auto`` is not a method: ``choose_method`` turns it into one of these."""
EXHAUSTIVE_POINTS = 200_000
"""Up to this many points ``exhaustive`` sorts by their bound (a few seconds) and ``auto`` prefers it.

Sorted, the points most likely to be good come first and few are left to estimate: of the 175 275 mappings of
``smith_waterman`` on four cores 237 had to be, in 1 s; local search took 5000 estimations to find no better one.
"""


def choose_method(space: Space) -> tuple[str, str]:
    """Return the method that ``auto`` stands for, and why in words."""
    if space.size <= EXHAUSTIVE_POINTS:
        return "exhaustive", "the likely best first, until a bound excludes the rest"
    return "portfolio", f"{size_text(space)} are too many to cover: searches in turns, and branch and bound for a proof"


def size_text(space: Space) -> str:
    """Return the size of a space in words."""
    if space.size == space.mappings:
        return f"{_short(space.size)} mappings"
    return f"{_short(space.size)} points ({_short(space.mappings)} mappings)"


def _short(number: int) -> str:
    """Return a number in full, or by its power of ten when it is long."""
    return f"{number:,}" if number < 10**9 else f"about 10^{len(str(number)) - 1}"
