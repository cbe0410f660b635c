"""Buffer sizes with which the steady state of a static program is as quick as with any: the least memory that does it.

The sizes are the last point of the front of memory and throughput (``dse.sdf.throughput.storage``), for actors on cores
of their own, whose firings take what they take on the CPU; where those of one phase take several times and do not
repeat, the mean stands for each. A mapping that is limited by its cores is as quick with them as with more room, or
nearly so: room also changes which firing comes first on a core.
"""

from dse.estimate.problem.tables import ProblemTables
from dse.estimate.static_program import cpu_times, whole_region
from dse.model.design_point import ReleaseMode
from dse.sdf.throughput.storage import TimedDataflow, storage_front


def steady_capacities(tables: ProblemTables, release: ReleaseMode, of_loops: tuple[int, ...]) -> tuple[int, ...]:
    """Return tokens of each buffer; ``of_loops``: those of buffers from an actor to itself, which limit nothing.

    Raises:
        OptionError: the program is not one static region, or nothing but sizes limits it.
    """
    region = whole_region(tables, cpu_times(tables), timed=True)
    flow = TimedDataflow(
        graph=region.graph,
        firings=region.firings,
        times=tuple(actor.times[0].times for actor in region.graph.actors),
        release=release,
    )
    sizes = dict(zip(region.buffers, storage_front(flow).points[-1].sizes, strict=True))
    return tuple(sizes[b] or least for b, least in enumerate(of_loops))
