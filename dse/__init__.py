"""dse: find the best split of a dataflow program over CPU cores and a GPU without building each one.

All that users need stands here, and is loaded when it is first asked for: docs/python.md tells how to use it. Type
checkers read the names in ``__init__.pyi``.
"""

import importlib

__version__ = "0.1.0"
_MODULES = {
    "dse.api.by_name": ("AccountsByName", "UnknownName"),
    "dse.api.estimated": ("EstimatedMapping", "EstimatedMappings"),
    "dse.api.exploration": ("Exploration", "RankedMapping", "Ranking"),
    "dse.api.load": ("load",),
    "dse.api.measured": ("MeasuredMapping", "MeasuredMappings"),
    "dse.api.picture": ("Picture",),
    "dse.api.program": ("Program",),
    "dse.api.progress": ("ProgressReport",),
    "dse.api.readers": ("load_platform", "load_trace", "load_weights"),
    "dse.api.sized": ("SizedFifos",),
    "dse.api.warned": ("DseWarning",),
    "dse.base.errors": (
        "BuildError",
        "DeadlockError",
        "Diagnostic",
        "DseError",
        "ExecutionError",
        "FormatError",
        "InfeasibleDesign",
        "ModelNotApplicable",
        "OptionError",
        "SourceError",
    ),
    "dse.explore.evaluator": ("Budget",),
    "dse.flows.throughput": ("RegionThroughput", "Throughput"),
    "dse.model.design_point": ("DesignPoint", "Partition"),
    "dse.model.estimate": ("Estimate",),
    "dse.model.platform": ("ClockScaling", "Link", "Platform", "Unit"),
    "dse.model.study": ("LowerBound", "Study"),
    "dse.model.trace": ("Topology", "Trace", "TraceAction", "TraceActor", "TraceBuffer", "make_trace"),
    "dse.model.weights": ("Cost", "WeightTable"),
    "dse.report.accounts": ("ActorTimes", "FifoTimes"),
    "dse.report.cores": ("CoresRow",),
    "dse.report.why": ("PartitionTime", "Reasons"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> object:
    """Return a name of ``__all__``, which loads the module that holds it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dse' has no attribute '{name}'")
    importlib.import_module("dse.base.compiled_place").name_compiled_place()
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
