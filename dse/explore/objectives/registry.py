"""The names of the objectives."""

from dse.base.registry import Registry

MAKESPAN = "makespan"
OBJECTIVES = Registry(
    "objective",
    {
        MAKESPAN: "dse.explore.objectives.objectives:Makespan",
        "throughput": "dse.explore.objectives.objectives:Throughput",
        "steady-throughput": "dse.explore.objectives.steady:SteadyThroughput",
        "memory": "dse.explore.objectives.objectives:Memory",
        "traffic": "dse.explore.objectives.objectives:CrossTraffic",
        "partitions": "dse.explore.objectives.objectives:Partitions",
        "units": "dse.explore.objectives.objectives:Units",
        "energy": "dse.explore.objectives.power:Energy",
        "power": "dse.explore.objectives.power:Power",
    },
)
"""Name to a class whose constructor takes a ``Basis`` and the text behind a colon, if there is one."""
