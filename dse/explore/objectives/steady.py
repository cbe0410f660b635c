"""The throughput of the steady state: iterations a second once the pipeline is full, not those of one run.

For programs that are one static region (SDF, CSDF; ``dse.sdf.regions``). The period of a mapping is what its estimated
run repeats (``dse.estimate.steady``), the least that any mapping can have is known (``dse.estimate.static_program``).
"""

from fractions import Fraction

from dse.base.errors import DeadlockError, OptionError
from dse.base.units import PS_PER_S, round_half_up
from dse.estimate.static_program import StaticProgram
from dse.estimate.steady import last_half, steady_state
from dse.explore.objectives.objectives import Basis, Outcome, no_argument
from dse.explore.space.space import SpaceOptions
from dse.model.design_point import DesignPoint

ITERATIONS = 1000
"""A cost is the ticks of so many iterations, so that it is a whole number."""
LEAST_ITERATIONS = 3
"""A run of fewer iterations has no part that is neither its beginning nor its end."""


class SteadyThroughput:
    """Iterations a second, or a cycle, in the steady state. Cost: ticks of 1,000 iterations, rounded half up.

    Each point is estimated once more, with the times of all firings. Where its run is too short to repeat, the mean of
    its last half stands for the period, which is then taken not to reach what is the least.

    Raises ``OptionError`` where the program is not one static region, or the trace goes through it too seldom.
    """

    maximise = True
    of_makespan = False

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument("steady-throughput", argument)
        self._engine = basis.engine
        self._program = StaticProgram(basis.tables)
        if self._program.iterations < LEAST_ITERATIONS:
            name, times = basis.tables.topology.name, self._program.iterations
            raise OptionError(
                f"the trace goes {times} times through '{name}', too seldom for a steady state",
                expected="a longer input, or --iterations of a graph",
            )
        in_ps = basis.tables.tick_unit == "ps"
        self._ticks = PS_PER_S if in_ps else 1
        self.unit = f"iterations/{'s' if in_ps else 'cycle'}"
        self._known: dict[str, int] = {}
        self._unsteady = 0

    @property
    def remark(self) -> str:
        """Of how many points the run was too short."""
        if not self._unsteady:
            return ""
        whose = f"{self._unsteady:,} of {len(self._known):,} mappings"
        return f"the mean of the last half of a run as the period of {whose}, which does not repeat within it"

    def cost(self, point: DesignPoint, _outcome: Outcome) -> int:
        """Return the ticks of 1,000 iterations of a point that does not deadlock."""
        digest = point.digest()
        if digest not in self._known:
            self._known[digest] = self._measured(point)
        return self._known[digest]

    def _measured(self, point: DesignPoint) -> int:
        times = self._engine.estimate(point, firing_times=True).firing_times
        if times is None:
            raise DeadlockError("a mapping without a deadlock deadlocks", expected="this is a fault of dse: report it")
        starts = [of_actor.start for of_actor in times]
        found = steady_state(starts, self._program.firings)
        if found is not None:
            return _cost(found.period)
        self._unsteady += 1
        period, _ = last_half(starts, self._program.firings)
        return max(_cost(period), self.bound(point) + 1)

    def value(self, cost: int) -> float:
        """Return iterations per second, or per cycle where weights have no clock; 0 where no time passes."""
        return ITERATIONS * self._ticks / cost if cost else 0.0

    def least(self, options: SpaceOptions, cores: int) -> int:
        """Return the ticks of 1,000 iterations that no point beats."""
        return _cost(self._program.of_any_point(options.capacities, options.release, cores))

    def bound(self, point: DesignPoint) -> int:
        """Return the ticks of 1,000 iterations that a point cannot beat."""
        return _cost(self._program.of_point(point))


def _cost(period: Fraction) -> int:
    """Return the cost of a period, not above that of a longer one."""
    return round_half_up(ITERATIONS * period)
