"""Where the weights of a table come from: asked, and said of all of them."""

from dataclasses import replace
from typing import TypeVar

from dse.model.weights import Cost, Origin, WeightTable

_Key = TypeVar("_Key")
MANIFEST_GPU = "gpu"
"""The key of a manifest that names the card on which weights were measured."""


def origins_of(table: WeightTable) -> frozenset[Origin]:
    """Return the origins of the weights of a table."""
    costs = (*table.compute.values(), *table.scheduling.values(), *table.transfers.values())
    return frozenset(cost.origin for cost in costs)


def with_origin(table: WeightTable, origin: Origin) -> WeightTable:
    """Return a table all of whose weights come from ``origin``."""

    def told(costs: dict[_Key, Cost]) -> dict[_Key, Cost]:
        return {key: replace(cost, origin=origin) for key, cost in costs.items()}

    return replace(
        table,
        compute=told(table.compute),
        scheduling=told(table.scheduling),
        transfers=told(table.transfers),
    )


def why_apart(first: WeightTable, second: WeightTable) -> str:
    """Return in words why the weights of two tables do not belong into one; empty where they do."""
    origins = (origins_of(first), origins_of(second))
    if any("emulated" in a and "measured" in b for a, b in (origins, origins[::-1])):
        return "times of an emulated GPU do not go with measured ones"
    cards = [dict(table.manifest).get(MANIFEST_GPU) for table in (first, second)]
    if None not in cards and cards[0] != cards[1]:
        return f"they were measured on two GPUs: '{cards[0]}' and '{cards[1]}'"
    return ""
