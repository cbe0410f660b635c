"""The names of the search methods."""

from dse.base.registry import Registry

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
        "multilevel": "dse.explore.methods.improving.multilevel:Multilevel",
        "idle": "dse.explore.methods.improving.guided_descent:IdleSearch",
        "communication-frequency": "dse.explore.methods.improving.guided_descent:CommunicationSearch",
        "tabu": "dse.explore.methods.improving.tabu:Tabu",
        "tabu-joint": "dse.explore.methods.improving.tabu:TabuJoint",
        "tabu-swap": "dse.explore.methods.improving.tabu:TabuSwap",
        "tabu-balancing": "dse.explore.methods.improving.tabu:TabuBalancing",
        "annealing": "dse.explore.methods.improving.annealing:SimulatedAnnealing",
        "nsga2": "dse.explore.methods.sampling.nsga2:Nsga2",
        "portfolio": "dse.explore.methods.sampling.portfolio:Portfolio",
        "pareto-search": "dse.explore.methods.sampling.pareto_search:ParetoSearch",
    },
    removed=dict.fromkeys(("tabu-reinsert", "tabu-random", "tabu-idle", "tabu-communication"), "tabu"),
)
"""Name -> class. ``auto`` is not a method: ``choose_method`` turns it into one of these. Those that were removed
were worse than ``tabu`` and nowhere best (docs/search-quality.md)."""
