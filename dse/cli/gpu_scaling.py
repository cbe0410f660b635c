"""``dse gpu scaling``: time and power of GPU kernels over clocks and compute units, learnt from measured kernels."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rich.table import Table

from dse.base.errors import OptionError
from dse.cli.pictures import say_pictures, write_pictures
from dse.cli.streams import print_json, say
from dse.flows.scaling import (
    PredictedScaling,
    SetOptions,
    at_configuration,
    judge_set,
    predict_scaling,
    train_model,
)
from dse.formats.scaling_model import write_scaling_model
from dse.formats.scaling_sets import parse_configuration
from dse.gpu.scaling.judge import BEST_OF, Judged
from dse.gpu.scaling.train import CHOICES, TrainOptions
from dse.model.scaling import Configuration, ScalingSet
from dse.report.ranking import render
from dse.report.scaling_pictures import error_by_distance, grid_text, judged_pictures, training_pictures
from dse.report.scaling_tables import (
    clusters_table,
    configurations_table,
    judged_kernels_table,
    judged_means_table,
)

_MOST_CLUSTERS = 1000
_LEAST_PENALTY = 1e-9
_MOST_SEED = 2**32 - 1
"""Seeds of scikit-learn are 32 bits."""


def run_scaling(args: argparse.Namespace) -> int:
    """Train, predict or judge, and print."""
    if args.step == "predict":
        return _predict(args)
    return _train(args) if args.step == "train" else _judge(args)


def _set_options(args: argparse.Namespace) -> SetOptions:
    if args.clusters is not None and not 1 <= args.clusters <= _MOST_CLUSTERS:
        raise OptionError(f"--clusters is {args.clusters}", expected=f"1 to {_MOST_CLUSTERS}")
    if args.penalty is not None and not _LEAST_PENALTY <= args.penalty <= 1 / _LEAST_PENALTY:
        raise OptionError(f"--penalty is {args.penalty:g}", expected=f"{_LEAST_PENALTY:g} to {1 / _LEAST_PENALTY:g}")
    if not 0 <= args.seed <= _MOST_SEED:
        raise OptionError(f"--seed is {args.seed}", expected=f"0 to {_MOST_SEED}")
    return SetOptions(
        files=tuple(args.set),
        base=parse_configuration(args.base, "--base"),
        options=TrainOptions(clusters=args.clusters, penalty=args.penalty, seed=args.seed),
    )


def _train(args: argparse.Namespace) -> int:
    model, given = train_model(_set_options(args), args.card)
    write_scaling_model(args.output, model)
    pictures = [] if args.plot is None else write_pictures(args.plot, training_pictures(given, model))
    if args.json:
        print_json(
            {
                "card": model.card,
                "kernels": len(given.kernels),
                "base": str(model.base),
                "configurations": given.grid.shape,
                "counters": list(model.counter_names),
                "notes": list(given.notes),
                "written": args.output,
                "pictures": pictures,
            }
        )
        return 0
    say(f"{model.card}: {_set_text(given)}, base {model.base}")
    print("\n" + render(clusters_table(model)))
    _say_notes(given, quiet=args.quiet)
    say(f"wrote {args.output}")
    say_pictures(pictures)
    return 0


def _judge(args: argparse.Namespace) -> int:
    options = _set_options(args)
    judged, given = judge_set(options)
    pictures: list[str] = []
    if args.plot is not None:
        pictures = write_pictures(args.plot, judged_pictures(judged, given, _by_clusters(options, given)))
    if args.json:
        print_json(_judged_document(judged, given) | {"pictures": pictures})
        return 0
    say(
        f"{_set_text(given)}, base {given.base}: each kernel by models of all others, error at all other configurations"
    )
    print("\n" + render(judged_means_table(judged)))
    if not args.quiet:
        print("\n" + render(judged_kernels_table(judged)))
        if not judged[0].classified:
            count = options.options.clusters or BEST_OF
            say(f"no counters: the best of {count} clusters is taken, which knows the answer")
    _say_notes(given, quiet=args.quiet)
    say_pictures(pictures)
    return 0


def _by_clusters(options: SetOptions, given: ScalingSet) -> list[tuple[int, Sequence[Judged]]]:
    """Return what each number of clusters gives, for the picture of it."""
    found: list[tuple[int, Sequence[Judged]]] = []
    for count in (c for c in CHOICES if c < len(given.kernels)):
        fixed = replace(options.options, clusters=count)
        found.append((count, judge_set(SetOptions(files=options.files, base=options.base, options=fixed))[0]))
    return found


def _judged_document(judged: Sequence[Judged], given: ScalingSet) -> dict[str, Any]:
    return {
        "base": str(given.base),
        "notes": list(given.notes),
        "quantities": [
            {
                "quantity": one.quantity,
                "classified": one.classified,
                "error": one.mean("error"),
                "best_cluster": one.mean("best"),
                "mean_surface": one.mean("mean"),
                "base_value": one.mean("copied"),
                "by_distance": [
                    {"steps": d, "error": error, "base_value": copied}
                    for d, error, copied in error_by_distance(one, given)
                ],
                "kernels": [
                    {
                        "kernel": k.name,
                        "clusters": k.clusters,
                        "error": k.error,
                        "best_cluster": k.best,
                        "mean_surface": k.mean,
                        "base_value": k.copied,
                    }
                    for k in one.kernels
                ],
            }
            for one in judged
        ],
    }


def _predict(args: argparse.Namespace) -> int:
    model, kernels = predict_scaling(args.model, args.counters)
    asked = [parse_configuration(text, "--at") for text in args.at] or list(model.grid.configurations())
    rows = [(kernel, where, at_configuration(model, where)) for kernel in kernels for where in asked]
    if args.json:
        print_json(
            {
                "card": model.card,
                "base": str(model.base),
                "predictions": [_prediction_document(kernel, where, at) for kernel, where, at in rows],
            }
        )
        return 0
    say(f"{model.card} ({model.source}), base {model.base}")
    print("\n" + render(_prediction_table(kernels, rows)))
    return 0


_Predicted: TypeAlias = tuple[PredictedScaling, Configuration, tuple[int, int, int]]


def _prediction_table(kernels: Sequence[PredictedScaling], rows: Sequence[_Predicted]) -> Table:
    """Return times and powers, over the base unless all kernels tell theirs there."""
    timed = all(kernel.kernel.time_ms is not None for kernel in kernels)
    powered = all(kernel.kernel.power_watt is not None for kernel in kernels)
    cells = []
    for kernel, where, at in rows:
        known = _at(kernel, at)
        time, power = known.time_ms if timed else known.time, known.power_watt if powered else known.power
        cells.append((kernel.kernel.name, where, time or 0.0, power))
    return configurations_table(cells, ("ms" if timed else "over the base", "W" if powered else "over the base"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _At:
    """A prediction at one configuration: over the base, and absolutely where the value at the base is known."""

    time: float
    power: float | None
    time_ms: float | None
    power_watt: float | None


def _at(kernel: PredictedScaling, at: tuple[int, int, int]) -> _At:
    time, power = float(kernel.time[at]), None if kernel.power is None else float(kernel.power[at])
    known_ms, known_watt = kernel.kernel.time_ms, kernel.kernel.power_watt
    return _At(
        time=time,
        power=power,
        time_ms=None if known_ms is None else known_ms * time,
        power_watt=None if known_watt is None or power is None else known_watt * power,
    )


def _prediction_document(
    kernel: PredictedScaling, where: Configuration, at: tuple[int, int, int]
) -> dict[str, str | float | None]:
    found = _at(kernel, at)
    return {
        "kernel": kernel.kernel.name,
        "configuration": str(where),
        "time_over_base": found.time,
        "power_over_base": found.power,
        "time_ms": found.time_ms,
        "power_watt": found.power_watt,
    }


def _set_text(given: ScalingSet) -> str:
    power = "" if given.power_watt is None else ", with power"
    return f"{len(given.kernels)} kernels, {grid_text(given.grid)}{power}, {len(given.counter_names)} counters"


def _say_notes(given: ScalingSet, *, quiet: bool) -> None:
    for note in () if quiet else given.notes:
        say(f"note: {note}")
    if not quiet and len(given.grid.compute_units) < 2:
        say("note: the set does not vary compute units, so nothing is learnt of them")
