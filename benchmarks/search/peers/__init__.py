"""Optimizers of others, as search methods: registered by name like any method, they see what every method sees.

Each knows of a problem only its variables, one an actor whose values are the slots that the actor may have, and the
makespans that it was told; CP-SAT has loads and traffic besides, since it needs something to solve. Needs the packages
of ``requirements-peers.lock``.
"""

from dse.explore.methods.registry import METHODS

PEERS = {
    "peer-cp-sat": "benchmarks.search.peers.cp_sat:CpSat",
    "peer-pymoo": "benchmarks.search.peers.pymoo_ga:PymooGa",
    "peer-cma-es": "benchmarks.search.peers.cma_es:CmaEs",
    "peer-optuna": "benchmarks.search.peers.optuna_tpe:OptunaTpe",
    "peer-annealing": "benchmarks.search.peers.annealing:Metropolis",
    "peer-scipy": "benchmarks.search.peers.annealing:ScipyDual",
}
"""Name -> class, as in ``dse.explore.methods.registry``."""
LONG_PEERS = {
    "peer-pymoo": PEERS["peer-pymoo"],
    "peer-annealing-long": "benchmarks.search.peers.annealing:LongMetropolis",
    "peer-cma-es": PEERS["peer-cma-es"],
}
"""Those that can spend 20,000 evaluations: Optuna and CP-SAT take minutes for 300."""


def register_peers() -> None:
    """Make the peers known to this process, once."""
    for name, place in {**PEERS, **LONG_PEERS}.items():
        if name not in METHODS.names():
            METHODS.register(name, place)
