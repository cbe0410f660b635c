"""``dse weights``: show, convert and merge weight sets, count nominal ones, predict those of a GPU."""

import argparse
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.cli.predicted_documents import prediction_document, prediction_lines
from dse.cli.progress import run_line
from dse.cli.run_arguments import run_options
from dse.cli.streams import filtered, print_json, say, unfiltered
from dse.cli.timing import note_stage
from dse.flows.execution import EXECUTIONS
from dse.flows.predict import parse_shape
from dse.flows.weights import PredictWeightsOptions, predict_weight_files
from dse.formats.device_yaml import builtin_devices
from dse.formats.platform_yaml import load_platform
from dse.formats.weights_folder import SUFFIXES, read_weights, refuse_mixed, write_weights_folder
from dse.formats.weights_xml import FileRole, read_weight_file, role_of_name
from dse.formats.weights_xml_write import write_communication, write_compute, write_scheduling
from dse.frontend.network.elaborate import load_network
from dse.gpu.default_device import DEFAULT_MODEL
from dse.model.weights import (
    Arrival,
    ComputeKey,
    Cost,
    FifoKind,
    SchedulingKey,
    SimdCost,
    UnitKind,
    Visits,
    WeightTable,
    merge_weights,
)
from dse.passes.analyses.nominal import nominal_weights
from dse.run.options import PLAIN_RUN

Key = TypeVar("Key", ComputeKey, SchedulingKey)
Value = TypeVar("Value", Cost, SimdCost)


def _check_output(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` where the action writes and is not told where, or the other way round."""
    if args.action != "show" and not args.output:
        raise OptionError(f"'{args.action}' writes weights", expected="say where: -o FOLDER, or -o FILE.exdf")
    if args.action == "show" and args.output:
        raise OptionError("'show' writes nothing", expected="leave out -o, or use 'convert'")
    if args.action != "merge" and len(args.files) > 1 and args.output:
        raise OptionError(f"'{args.action}' takes one weight set", expected="'merge' takes several")


def run(args: argparse.Namespace) -> int:
    """Do what is asked with weight sets."""
    if args.action == "predict":
        return _predict(args)
    _refuse_options_of_predict(args)
    _check_output(args)
    note_stage("counting the weights" if args.action == "nominal" else "reading the weights")
    table = _load(args)
    written: tuple[str, ...] = ()
    left_out = ""
    if args.output:
        note_stage("writing the weights")
        if Path(args.output).suffix.lower() in SUFFIXES:
            whole, table = table, _part(table, args.output, args.unit)
            left_out = _left_out(whole, table)
        written = _write(table, args.output, args.unit, keep=args.files[0] if args.action == "convert" else None)
    note_stage("printing")
    if args.json:
        print_json(as_document(table) | {"written": list(written)})
    elif args.action == "show":
        _show(table, quiet=args.quiet)
    else:
        say(f"{_summary(table)}; wrote {', '.join(written)}")
    if left_out and not args.quiet:
        say(f"warning: {args.output} has no place for {left_out}: -o FOLDER writes all", error=True)
    return 0


def _predict(args: argparse.Namespace) -> int:
    """Predict the GPU weights of a network."""
    options = _predict_options(args)
    silent = args.quiet or args.json or not sys.stderr.isatty()
    with Console(file=unfiltered(sys.stderr), quiet=silent).status("") as status, filtered(), run_line() as line:
        stage = line.show if silent and not args.quiet else lambda what: status.update(Text(shown(what)))
        files = predict_weight_files(options, stage)
    if args.json:
        print_json(prediction_document(files))
    else:
        print("\n".join(prediction_lines(files)))
        if not args.quiet and files.execution is not None:
            say(f"the network was {EXECUTIONS[files.execution]}", error=True)
    return 0


def _predict_options(args: argparse.Namespace) -> PredictWeightsOptions:
    """Return what is to be predicted. Raises ``OptionError``."""
    if len(args.files) > 1:
        raise OptionError("'predict' takes one network", expected="dse weights predict NETWORK.xdf --device D")
    if not args.device:
        raise OptionError(
            "'predict' needs the device to predict for",
            expected=f"--device FILE.yaml, or --device with one of {', '.join(builtin_devices())}",
        )
    if args.output and Path(args.output).suffix.lower() in SUFFIXES:
        raise OptionError(f"'predict' writes several files, '{args.output}' is one", expected="-o FOLDER")
    if args.unit is not None:
        raise OptionError("'predict' is for GPUs: it takes no --unit", expected="leave out --unit")
    return PredictWeightsOptions(
        program=args.files[0],
        device=args.device,
        input=args.input,
        source_paths=tuple(args.source_path),
        platform=args.platform,
        shape=parse_shape(args.threads) if args.threads else None,
        model=args.model or DEFAULT_MODEL,
        output=args.output,
        run=run_options(args),
    )


def _refuse_options_of_predict(args: argparse.Namespace) -> None:
    if run_options(args) != PLAIN_RUN:
        raise OptionError(
            f"'{args.action}' runs no network", expected="'predict' does; leave out the options of the run"
        )
    given = ((args.input, "-i"), (args.device, "--device"), (args.threads, "--threads"), (args.model, "--model"))
    for value, option in given:
        if value is not None:
            raise OptionError(f"'{args.action}' takes no {option}", expected=f"'predict' takes {option}; leave it out")


def _load(args: argparse.Namespace) -> WeightTable:
    """Return the weights that the arguments name."""
    if args.action == "nominal":
        loaded = load_network(args.files[0], source_paths=tuple(args.source_path))
        return nominal_weights(loaded.network, load_platform(args.platform) if args.platform else load_platform())
    if args.unit is None:
        return read_weights(args.files)
    tables = []
    for path in args.files:
        if Path(path).is_dir():
            raise OptionError(f"--unit is for single files; '{path}' is a folder", expected="leave out --unit")
        tables.append(read_weight_file(path, FileRole(kind=args.unit, host=role_of_name(path).host)))
    refuse_mixed(list(zip(args.files, tables, strict=True)))
    return merge_weights(*tables)


def _write(table: WeightTable, output: str, unit: UnitKind | None, keep: str | None) -> tuple[str, ...]:
    """Write a set as a folder, or the one part of it that a file name asks for."""
    if Path(output).suffix.lower() not in SUFFIXES:
        kept = keep if keep is not None and Path(keep).is_dir() else None
        return tuple(str(Path(output) / name) for name in write_weights_folder(table, output, keep=kept))
    _write_part(table, output, unit, keep if keep is not None and Path(keep).is_file() else None)
    return (output,)


def _part(table: WeightTable, output: str, unit: UnitKind | None) -> WeightTable:
    """Return the part of a set that a file name asks for. Raises ``OptionError`` where that is nothing."""
    kind, part = unit or role_of_name(output).kind, WeightTable(name=table.name, manifest=table.manifest)
    part = replace(part, has_scheduling=False, has_transfers=False)
    match Path(output).suffix.lower():
        case ".exdf":
            part = replace(part, compute=_of_unit(table.compute, kind), simd=_of_unit(table.simd, kind))
        case ".sxdf":
            part = replace(part, scheduling=_of_unit(table.scheduling, kind), has_scheduling=True)
        case _:
            fifos = _fifos(output, unit)
            moved = {key: cost for key, cost in table.transfers.items() if key[4] in fifos and key[5] == kind}
            part = replace(part, transfers=moved, has_transfers=True)
            part = replace(part, arrival=table.arrival if "cpu_cpu" in fifos else None)
    if _left_out(table, part) and not _left_out(part, WeightTable(name="")):
        raise OptionError(
            f"'{output}' has no place for any of these: {_left_out(table, part)}",
            expected="-o FOLDER writes all; an .exdf has compute, a .sxdf scheduling, a .cxdf communication weights",
        )
    return part


def _of_unit(table: dict[Key, Value], kind: UnitKind) -> dict[Key, Value]:
    """Return the entries of a kind of unit, which each key ends with."""
    return {key: cost for key, cost in table.items() if key[-1] == kind}


def _left_out(whole: WeightTable, part: WeightTable) -> str:
    """Return in words how many weights of a set a part of it lacks; empty where it has all."""
    counts = {
        "compute": len(whole.compute) + len(whole.simd) - len(part.compute) - len(part.simd),
        "scheduling": len(whole.scheduling) - len(part.scheduling),
        "communication": len(whole.transfers) - len(part.transfers),
    }
    kinds = [f"{count} {kind}" for kind, count in counts.items() if count]
    found = [f"{', '.join(kinds)} weights"] if kinds else []
    if whole.arrival is not None and part.arrival is None:
        found.append("how tokens arrive")
    return " and ".join(found)


def _fifos(output: str, unit: UnitKind | None) -> tuple[FifoKind, ...]:
    """Return the FIFO kinds whose weights a file of a name has."""
    role = role_of_name(output)
    if role.host:
        return ("host",)
    return ("local", "cpu_cpu") if (unit or role.kind) == "cpu" else ("cuda",)


def _write_part(table: WeightTable, output: str, unit: UnitKind | None, keep: str | None) -> None:
    """Write the part of a set that a file name asks for."""
    suffix, role = Path(output).suffix.lower(), role_of_name(output)
    kind = unit or role.kind
    if suffix == ".exdf":
        write_compute(table, kind, output, keep=keep)
    elif suffix == ".sxdf":
        write_scheduling(table, kind, output, keep=keep)
    else:
        write_communication(table, _fifos(output, unit), kind, output, keep=keep)


# Output ---------------------------------------------------------------------------------------------------------------


def as_document(table: WeightTable) -> dict[str, object]:
    """Return the JSON document of a weight set: every entry, cycles as numbers."""
    return {
        "name": table.name,
        "manifest": dict(table.manifest),
        "origins": _origins(table),
        "compute": [
            {"actor": actor, "action": action, "unit": unit} | _cost(cost)
            for (actor, action, unit), cost in table.compute.items()
        ],
        "simd": [
            {"actor": key[0], "action": key[1], "unit": key[2], "block_cycles": [_number(c) for c in cost.block_cycles]}
            for key, cost in table.simd.items()
        ],
        "scheduling": [
            {"actor": actor, "previous": previous, "action": action, "unit": unit} | _cost(cost)
            for (actor, previous, action, unit), cost in table.scheduling.items()
        ]
        if table.has_scheduling
        else None,
        "communication": [
            {
                "source_actor": key[0],
                "source_port": key[1],
                "target_actor": key[2],
                "target_port": key[3],
                "fifo": key[4],
                "unit": key[5],
                "side": key[6],
                "per_token_cycles": _number(cost.per_token_cycles),
            }
            | _cost(cost)
            for key, cost in table.transfers.items()
        ]
        if table.has_transfers
        else None,
        "arrival": None if table.arrival is None else _arrival(table.arrival),
    }


def _arrival(arrival: Arrival) -> dict[str, object]:
    clock = arrival.frequency_mhz
    return {
        "cycles": _number(arrival.cycles),
        "frequency_mhz": None if clock is None else _number(clock),
        "turn_firings": arrival.turn_firings,
        "turn_parts": arrival.turn_parts,
        "visits": None if arrival.visits is None else _visits(arrival.visits),
    }


def _visits(visits: Visits) -> dict[str, object]:
    ends = ("source_actor", "source_port", "target_actor", "target_port", "side")
    return {
        "look_cycles": _number(visits.look_cycles),
        "glance_cycles": _number(visits.glance),
        "wake_cycles": _number(visits.wake_cycles),
        "entries": [
            dict(zip(ends, key, strict=True)) | {"cycles": _number(cycles)} for key, cycles in visits.entries.items()
        ],
    }


def _cost(cost: Cost) -> dict[str, object]:
    values = {
        "mean_cycles": cost.mean_cycles,
        "min_cycles": cost.min_cycles,
        "max_cycles": cost.max_cycles,
        "variance_cycles2": cost.variance_cycles2,
        "frequency_mhz": cost.frequency_mhz,
    }
    numbers = {name: None if value is None else _number(value) for name, value in values.items()}
    return numbers | {"count": cost.count, "origin": cost.origin}


def _number(value: Fraction) -> int | float:
    """Return a number for JSON: an integer where it is one."""
    return value.numerator if value.denominator == 1 else float(value)


def _all_costs(table: WeightTable) -> tuple[Cost, ...]:
    return (*table.compute.values(), *table.scheduling.values(), *table.transfers.values())


def _origins(table: WeightTable) -> dict[str, int]:
    return dict(sorted(Counter(cost.origin for cost in _all_costs(table)).items()))


def _summary(table: WeightTable) -> str:
    scheduling = f"{len(table.scheduling)} scheduling" if table.has_scheduling else "no scheduling"
    transfers = f"{len(table.transfers)} communication" if table.has_transfers else "no communication"
    arrival = "" if table.arrival is None else f"; tokens arrive after {_arrival_text(table.arrival)}"
    return f"{table.name or 'unnamed'}: {len(table.compute)} compute, {scheduling}, {transfers} weights{arrival}"


def _arrival_text(arrival: Arrival) -> str:
    clock, turn = arrival.frequency_mhz, arrival.turn_firings
    time = f"{float(arrival.cycles):.6g} cycles" + ("" if clock is None else f" at {float(clock):.6g} MHz")
    parts = f", each {arrival.turn_parts}th part of a FIFO" if arrival.turn_parts else ""
    published = f"{time} on another core, published each {turn} firings{parts} or at the end of a turn"
    return published if arrival.visits is None else f"{published}; {_visits_text(arrival.visits)}"


def _visits_text(visits: Visits) -> str:
    """Return what calls of a scheduler cost, in cycles of the clock of the arrival."""
    look, glance, wake = (f"{float(n):.6g}" for n in (visits.look_cycles, visits.glance, visits.wake_cycles))
    ends = f"ends of FIFOs that take more once a visit: {len(visits.entries)}"
    only = f", {glance} of an actor that only writes to other cores" if glance != look else ""
    return f"a call in vain takes {look} cycles{only}, waking {wake}; {ends}"


def _show(table: WeightTable, *, quiet: bool) -> None:
    """Print a summary and the entries as aligned columns."""
    if not quiet:
        _print_head(table)
    head = ("cycles", "per token", "minimum", "maximum", "unit", "origin", "of")
    rows: list[tuple[str, ...]] = [head]
    rows += [_row(c, unit, f"{actor}.{action}") for (actor, action, unit), c in table.compute.items()]
    rows += [
        _row(c, unit, f"{actor}.{action} after {previous or 'any other'} (scheduling)")
        for (actor, previous, action, unit), c in table.scheduling.items()
    ]
    rows += [_row(c, k[5], f"{k[0]}.{k[1]}->{k[2]}.{k[3]} ({k[4]} {k[6]})") for k, c in table.transfers.items()]
    rows += _entry_rows(table.arrival)
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        numbers = "  ".join(row[i].rjust(widths[i]) for i in range(4))
        say(f"{numbers}  {row[4]:<{widths[4]}}  {row[5]:<{widths[5]}}  {row[6]}")


def _entry_rows(arrival: Arrival | None) -> list[tuple[str, ...]]:
    """Return a row for each end of a FIFO that takes something once a visit."""
    entries = {} if arrival is None or arrival.visits is None else arrival.visits.entries
    return [
        (f"{float(cycles):.10g}", "", "", "", "cpu", "", f"{k[0]}.{k[1]}->{k[2]}.{k[3]} (a visit, cpu_cpu {k[4]})")
        for k, cycles in entries.items()
    ]


def _print_head(table: WeightTable) -> None:
    """Print what holds for a whole set: how much it is, its clocks, where it comes from."""
    say(_summary(table))
    clocks = sorted({cost.frequency_mhz for cost in _all_costs(table) if cost.frequency_mhz is not None})
    print(f"clocks: {', '.join(f'{float(c):g} MHz' for c in clocks) or 'none, raw cycles'}")
    say(f"origin: {', '.join(f'{n} {origin}' for origin, n in _origins(table).items()) or 'nothing'}")
    for key, value in table.manifest:
        say(f"{key}: {value}")


def _row(cost: Cost, unit: str, name: str) -> tuple[str, ...]:
    per_token = f"{float(cost.per_token_cycles):g}" if cost.per_token_cycles else ""
    bounds = ("" if value is None else f"{float(value):g}" for value in (cost.min_cycles, cost.max_cycles))
    return (f"{float(cost.mean_cycles):.10g}", per_token, *bounds, unit, cost.origin, name)
