"""Reads design points back from JSON, to show that nothing of them is lost there."""

from fractions import Fraction
from typing import Any

from dse.model.design_point import DesignPoint, Partition
from dse.model.trace import Topology


def point_from_json(data: dict[str, Any], topology: Topology) -> DesignPoint:
    """Return the design point that ``point_to_json`` wrote. Raises ``KeyError`` on unknown actors and absent fields."""
    index = {actor.name: a for a, actor in enumerate(topology.actors)}
    partitions = tuple(
        Partition(
            name=p["name"], unit=p["unit"], policy=p["policy"], cores=p["cores"],
            actors=tuple(index[a] for a in p["actors"]), static_order=tuple(index[a] for a in p["static_order"]),
            clock_mhz=Fraction(str(p["clock_mhz"])) if "clock_mhz" in p else None,
        )
        for p in data["partitions"]
    )  # fmt: skip
    return DesignPoint(
        partitions=partitions, capacities=tuple(data["capacities_tokens"]), release=data["release"],
        transfers=data["transfers"],
    )  # fmt: skip
