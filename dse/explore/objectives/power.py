"""Energy and power: what busy cores draw, at their clocks; of a GPU by the scaling model, if there is one."""

from collections.abc import Sequence
from fractions import Fraction

from dse.base.errors import OptionError
from dse.base.units import PS_PER_S, round_half_up
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import CostRow, ProblemTables
from dse.explore.objectives.objectives import Basis, Outcome, Unbounded, no_argument
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform
from dse.model.problem import GpuAt

_MICRO = 10**6


class _Watts:
    """The power of a busy partition of one problem. Raises ``OptionError`` where one is not known, or no times are."""

    def __init__(self, tables: ProblemTables, objective: str) -> None:
        platform = tables.problem.platform
        _check_known(tables, objective)
        self._tables = tables
        self._gpus = {unit.name for unit in platform.units if unit.kind == "gpu"}
        scaling = tables.problem.scaling
        self._at: dict[Fraction | None, GpuAt] = {} if scaling is None else scaling.at
        ruled = [pair for pair in tables.problem.clocks if self._scaled(*pair) is None]
        self._watt = _ruled_watts(platform, ruled, objective)

    def _scaled(self, unit: str, clock: Fraction | None) -> dict[tuple[str, str], Fraction] | None:
        """Return the watts of actions on a GPU at a clock, None where no model tells them."""
        return self._at[clock].watts if unit in self._gpus and clock in self._at else None

    def of(self, partition: Partition) -> Fraction:
        """Return the watts of a partition while it is busy.

        Of a GPU with a scaling model it is the mean of its actions, weighted by what their firings compute.
        """
        watts = self._scaled(partition.unit, partition.clock_mhz)
        if watts is None:
            return self._watt[partition.unit, partition.clock_mhz]
        tables = self._tables
        row = tables.rows.index(CostRow(UNIT_KINDS.index("gpu"), partition.clock_mhz))
        work, total = 0, Fraction(0)
        for a in partition.actors:
            actor, base = tables.topology.actors[a], int(tables.action_base[a])
            for x, action in enumerate(actor.actions):
                ticks = int(tables.count[base + x]) * max(0, int(tables.compute[row, base + x]))
                watt = watts.get((actor.name, action.name))
                if watt is not None:
                    work, total = work + ticks, total + ticks * watt
        return total / work if work else self._watt[partition.unit, None]

    def energy(self, point: DesignPoint, outcome: Outcome) -> Fraction:
        """Return busy core time times power, in picojoules; idle cores are taken to draw none."""
        accounts = zip(point.partitions, outcome.partitions, strict=True)
        return sum((account.busy * self.of(partition) for partition, account in accounts), Fraction(0))


def _check_known(tables: ProblemTables, objective: str) -> None:
    """Raise ``OptionError`` where a unit has no power, or the weights have no clock."""
    platform = tables.problem.platform
    lacking = [unit.name for unit in platform.units if unit.power_watt is None]
    if lacking:
        raise OptionError(
            f"{objective} needs the power of every unit; platform '{platform.name}' gives none for"
            f" {', '.join(lacking)}",
            expected="add `power_watt` to the units of the platform: the power of one busy core, or of the GPU",
        )
    if tables.tick_unit != "ps":
        raise OptionError(
            f"{objective} needs times, and the weights are cycles without a clock",
            expected="give weights with a clock",
        )


def _ruled_watts(
    platform: Platform, chosen: Sequence[tuple[str, Fraction]], objective: str
) -> dict[tuple[str, Fraction | None], Fraction]:
    """Return the power of each unit at its own clock (None) and at those chosen. Raises ``OptionError`` for a gap."""
    clocks = (*((unit.name, None) for unit in platform.units), *chosen)
    watts = {(name, clock): unit.power_at(clock) for name, clock in clocks if (unit := platform.unit(name))}
    silent = [f"{name} at {float(clock):.11g} MHz" for (name, clock), watt in watts.items() if clock and not watt]
    if silent:
        raise OptionError(
            f"{objective} needs the power at every clock; platform '{platform.name}' lacks {', '.join(silent)}",
            expected="add it to the `power_watt_at_mhz` of the unit",
        )
    return {key: watt for key, watt in watts.items() if watt is not None}


class Energy(Unbounded):
    """Busy core time times the power of a busy core (``Unit.power_at`` its clock); idle cores are taken to draw none.

    Cost in picojoules (1 W for 1 ps), rounded half up. Raises ``OptionError`` where a unit has no power or the weights
    have no clock.
    """

    maximise = False
    of_makespan = False
    unit = "joule"

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument("energy", argument)
        self._watts = _Watts(basis.tables, "energy")

    def cost(self, point: DesignPoint, outcome: Outcome) -> int:
        """Return the picojoules."""
        return round_half_up(self._watts.energy(point, outcome))

    def value(self, cost: int) -> float:
        """Return the joules."""
        return cost / PS_PER_S


class Power(Unbounded):
    """The energy over the makespan: the mean power of all busy cores. Cost in microwatts, rounded half up.

    Raises ``OptionError`` as ``Energy``.
    """

    maximise = False
    of_makespan = False
    unit = "watt"

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument("power", argument)
        self._watts = _Watts(basis.tables, "power")

    def cost(self, point: DesignPoint, outcome: Outcome) -> int:
        """Return the microwatts; 0 where no time passes."""
        if not outcome.makespan:
            return 0
        return round_half_up(_MICRO * self._watts.energy(point, outcome) / outcome.makespan)

    def value(self, cost: int) -> float:
        """Return the watts."""
        return cost / _MICRO
