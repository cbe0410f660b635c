"""Trained scaling models as JSON: numbers only, nothing that is run when it is read. ``dse.model.scaling`` is written.

One object: ``format`` (``dse-scaling-1``), ``card``, ``source``, ``seed``, ``grid``, ``base``, ``counters``, and for
``time`` and ``power`` the clusters with their centroids, members and classifiers. Numbers come back as they were.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from dse.base.errors import DseError, FormatError
from dse.base.escaping import json_text
from dse.base.files import write_whole
from dse.base.numbers import CLOCK_MHZ, parse_decimal
from dse.base.source import file_span
from dse.formats.decimals import format_decimal
from dse.formats.mapping_csv import read_text
from dse.model.scaling import (
    Classifier,
    ClusterSet,
    Configuration,
    Reals,
    ScalingGrid,
    ScalingModel,
    SurfaceModel,
)

FORMAT = "dse-scaling-1"
_WANTED = "a file that 'dse gpu scaling train -o' has written"
_MATRICES = ("mean", "deviation", "hidden", "hidden_bias", "head", "head_bias")
_T = TypeVar("_T")


def write_scaling_model(path: str, model: ScalingModel) -> None:
    """Write a model. Raises ``OSError``."""
    write_whole(path, json_text(_document(model)) + "\n")


def _document(model: ScalingModel) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "card": model.card,
        "source": model.source,
        "seed": model.seed,
        "grid": {
            "compute_units": list(model.grid.compute_units),
            "core_mhz": [format_decimal(clock) for clock in model.grid.core_mhz],
            "memory_mhz": [format_decimal(clock) for clock in model.grid.memory_mhz],
        },
        "base": {
            "compute_units": model.base.compute_units,
            "core_mhz": format_decimal(model.base.core_mhz),
            "memory_mhz": format_decimal(model.base.memory_mhz),
        },
        "counters": list(model.counter_names),
        "time": _surface_document(model.time),
        "power": None if model.power is None else _surface_document(model.power),
    }


def _surface_document(model: SurfaceModel) -> dict[str, Any]:
    by_units = None if model.by_units is None else _set_document(model.by_units)
    return {"by_clocks": [_set_document(found) for found in model.by_clocks], "by_units": by_units}


def _set_document(found: ClusterSet) -> dict[str, Any]:
    classifier = None
    if found.classifier is not None:
        classifier = {name: getattr(found.classifier, name).tolist() for name in _MATRICES}
    return {
        "centroids": found.centroids.tolist(),
        "members": [list(names) for names in found.members],
        "classifier": classifier,
    }


def read_scaling_model(path: str) -> ScalingModel:
    """Return the model of a file. Raises ``FormatError`` where it is none, or its parts do not fit together."""
    try:
        document = json.loads(read_text(path))
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"there is no format {FORMAT}")
        return _model(document)
    except (ValueError, KeyError, TypeError, RecursionError) as cause:
        what = f"no {cause}" if isinstance(cause, KeyError) else str(cause)
        raise FormatError(
            f"this is no scaling model: {what[:120]}", span=file_span(path, 0), expected=_WANTED
        ) from cause
    except DseError as error:
        raise FormatError(error.first_error.message, span=file_span(path, 0), expected=_WANTED) from error


def _model(document: dict[str, Any]) -> ScalingModel:
    """Return the model of a document. Raises ``ValueError``, ``KeyError`` or ``TypeError``."""
    grid = ScalingGrid(
        compute_units=_ascending(document["grid"]["compute_units"], _units),
        core_mhz=_ascending(document["grid"]["core_mhz"], _clock),
        memory_mhz=_ascending(document["grid"]["memory_mhz"], _clock),
    )
    base = Configuration(
        compute_units=None if document["base"]["compute_units"] is None else _units(document["base"]["compute_units"]),
        core_mhz=_clock(document["base"]["core_mhz"]),
        memory_mhz=_clock(document["base"]["memory_mhz"]),
    )
    if grid.index(base) is None:
        raise ValueError(f"its base {base} is not on its grid")
    names = tuple(_text(name) for name in document["counters"])
    power = document["power"]
    return ScalingModel(
        card=_text(document["card"]),
        source=_text(document["source"]),
        seed=int(document["seed"]),
        grid=grid,
        base=base,
        counter_names=names,
        time=_surface(document["time"], grid, len(names)),
        power=None if power is None else _surface(power, grid, len(names)),
    )


def _ascending(values: Any, parse: Callable[[Any], _T]) -> tuple[_T, ...]:
    found = tuple(parse(value) for value in values)
    if list(found) != sorted(set(found)):  # type: ignore[type-var]
        raise ValueError("an axis of its grid does not ascend")
    return found


def _clock(value: Any) -> Fraction:
    clock = parse_decimal(_text(value))
    if clock is None or clock <= 0 or not CLOCK_MHZ.holds(clock):
        raise ValueError(f"'{value}' is no clock")
    return clock


def _units(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1 << 20:
        raise ValueError(f"'{value}' is no number of compute units")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"'{value}' is no text")
    return value


def _surface(document: Any, grid: ScalingGrid, counters: int) -> SurfaceModel:
    units, core, memory = grid.shape
    width = core * (memory - 1) + (core - 1) * memory
    sets = document["by_clocks"]
    if len(sets) != units or (document["by_units"] is None) != (units == 1):
        raise ValueError("its clusters do not fit its compute units")
    by_units = document["by_units"]
    return SurfaceModel(
        by_clocks=tuple(_set(found, width, counters) for found in sets),
        by_units=None if by_units is None else _set(by_units, units - 1, counters),
    )


def _set(document: Any, width: int, counters: int) -> ClusterSet:
    clusters = len(document["centroids"])
    if not clusters or len(document["members"]) != clusters:
        raise ValueError("its clusters and their members differ in number")
    centroids = _array(document["centroids"], (clusters, width))
    if (centroids <= 0).any():
        raise ValueError("a scaling value is not above 0")
    classifier = None
    if document["classifier"] is not None:
        classifier = _classifier(document["classifier"], counters, clusters)
    elif clusters > 1:
        raise ValueError("several clusters have no classifier: it was trained without counters")
    members = tuple(tuple(_text(name) for name in names) for names in document["members"])
    return ClusterSet(centroids=centroids, members=members, classifier=classifier)


def _classifier(document: Any, counters: int, clusters: int) -> Classifier:
    hidden = len(document["hidden_bias"])
    found = Classifier(
        mean=_array(document["mean"], (counters,)),
        deviation=_array(document["deviation"], (counters,)),
        hidden=_array(document["hidden"], (counters, hidden)),
        hidden_bias=_array(document["hidden_bias"], (hidden,)),
        head=_array(document["head"], (hidden, clusters)),
        head_bias=_array(document["head_bias"], (clusters,)),
    )
    if (found.deviation <= 0).any():
        raise ValueError("a deviation of a counter is not above 0")
    return found


def _array(values: Any, shape: tuple[int, ...]) -> Reals:
    found = np.array(values, dtype=np.float64)
    if found.size == 0 and 0 in shape:
        found = found.reshape(shape)
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"an array has the shape {found.shape}, and not {shape}, or has no end")
    return found
