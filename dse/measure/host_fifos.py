"""What FIFOs between processor and GPU cost the processor: the program with such FIFOs everywhere, on one core.

Section 4.2 of paper 004: a configuration in which all actors are on the CPU and every FIFO is a HostFifo. What an actor
takes more there than with plain FIFOs is the price of its transfers, in equal parts.
"""

from dse.measure.crossing import dearer
from dse.measure.port_prices import PortPrice
from dse.measure.profile_weights import SIDES, local_weights, transfer_key
from dse.measure.profiling import ProfileRuns
from dse.model.trace import Topology
from dse.model.weights import Cost, TransferKey


def host_prices(
    topology: Topology, plain: ProfileRuns, host: ProfileRuns, able: frozenset[int]
) -> dict[TransferKey, Cost]:
    """Return the prices that the processor pays for FIFOs of which an actor in ``able`` is an end.

    ``plain``, ``host``: profiles of the same network on one core, with plain FIFOs and with those of a GPU.
    """
    local = local_weights(host.profile, topology, host.firings).transfers
    more = [
        max(0.0, with_host.total - without.total) / max(_transfers(topology, actor, host), 1)
        for actor, (with_host, without) in enumerate(zip(host.profile.actors, plain.profile.actors, strict=True))
    ]
    found: dict[TransferKey, Cost] = {}
    for index, buffer in enumerate(topology.buffers):
        if {buffer.source, buffer.target} & able:
            for side in SIDES:
                owner = buffer.target if side == "read" else buffer.source
                price = local[transfer_key(topology, index, "local", side)]
                found[transfer_key(topology, index, "host", side)] = dearer(price, PortPrice(fixed=more[owner]))
    return found


def _transfers(topology: Topology, actor: int, runs: ProfileRuns) -> int:
    """Return how often firings of an actor move tokens through a FIFO in a run."""
    fan_out = [
        sum(buffer.source == actor and buffer.source_port == port for buffer in topology.buffers)
        for port in range(len(topology.actors[actor].outputs))
    ]
    moved = 0
    for action, costs in zip(topology.actors[actor].actions, runs.profile.actors[actor].actions, strict=True):
        if costs is not None:
            read = sum(tokens > 0 for tokens in action.reads)
            written = sum(fan_out[port] for port, tokens in enumerate(action.writes) if tokens)
            moved += costs.firings * (read + written)
    return moved
