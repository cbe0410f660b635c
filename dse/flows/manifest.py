"""Where a result came from: digests of the inputs, options, versions, host. Goes with every delivered result."""

import platform as host

import dse
from dse.base.digests import file_digest, text_digest
from dse.base.escaping import encodable
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import Arrival, WeightTable
from dse.program.network import Network


def weights_digest(table: WeightTable) -> str:
    """Return the identity of a weight table: every number, whatever the order of the files; no provenance."""
    tables = (table.compute, table.scheduling, table.transfers, table.simd)
    entries = [sorted((key, repr(cost)) for key, cost in entries.items()) for entries in tables]
    identity = (entries, table.has_scheduling, table.has_transfers)
    return text_digest(repr((*identity, *_arrival_identity(table.arrival))))


def _arrival_identity(arrival: Arrival | None) -> tuple[object, ...]:
    """Return what stands for an arrival in the identity of weights; a part that there is not stands for nothing."""
    if arrival is None or arrival.visits is None:
        return () if arrival is None else (arrival,)
    visits = arrival.visits
    return (arrival, visits.look_cycles, visits.glance, visits.wake_cycles, sorted(visits.entries.items()))


def platform_digest(platform: Platform) -> str:
    """Return the identity of a platform."""
    scalings, emulated = (unit.scaling for unit in platform.units), (link.emulated for link in platform.links)
    more = [part for part in (tuple(scalings), tuple(emulated)) if any(part)]
    return text_digest(repr((platform, *more)) if more else repr(platform))


def origins_text(table: WeightTable) -> str:
    """Return where the compute weights come from: ``12 measured, 3 nominal``."""
    counts: dict[str, int] = {}
    for cost in table.compute.values():
        counts[cost.origin] = counts.get(cost.origin, 0) + 1
    return ", ".join(f"{n} {origin}" for origin, n in sorted(counts.items())) or "none"


def program_manifest(network: Network | None, program: str, input_path: str | None) -> tuple[tuple[str, str], ...]:
    """Return what is known of a program and the input that it was run on; ``network`` None: it is a trace."""
    sources = () if network is None else network.sources
    return (
        ("program", encodable(program)),
        *((f"source {encodable(source)}", file_digest(source)) for source in sources),
        *(((f"input {encodable(input_path)}", file_digest(input_path)),) if input_path else ()),
    )


def weights_manifest(table: WeightTable) -> tuple[tuple[str, str], ...]:
    """Return what is known of weights."""
    return (
        ("weights", f"{table.name or 'unnamed'} ({origins_text(table)}), digest {weights_digest(table)}"),
        *((f"weights {key}", value) for key, value in table.manifest),
    )


def units_manifest(platform: Platform) -> tuple[tuple[str, str], ...]:
    """Return what is known of a platform and its units."""
    return (
        ("platform", f"{platform.name}, digest {platform_digest(platform)}"),
        *((f"unit {unit.name}", unit.source) for unit in platform.units if unit.source),
    )


def tool_manifest() -> tuple[tuple[str, str], ...]:
    """Return the versions of tool and interpreter, and the host."""
    return (
        ("tool", f"dse {dse.__version__}"),
        ("python", host.python_version()),
        ("host", f"{host.node()} ({host.machine()}, {host.system()})"),
    )


def trace_manifest(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Return what is known of a trace."""
    return (("trace", trace.digest), ("firings", str(trace.n_firings)), *trace.made_by)
