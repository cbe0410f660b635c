"""``dse throughput``: the most that a static graph or region can do, what limits it, and what sizes it takes."""

import argparse
from fractions import Fraction

from rich.table import Table

from dse.base.errors import OptionError
from dse.base.units import PS_PER_S
from dse.cli.problem_arguments import compiling_notice, print_warnings, problem_options
from dse.cli.streams import print_json, say
from dse.flows.throughput import (
    ActorRate,
    RegionThroughput,
    Throughput,
    ThroughputOptions,
    cycle_text,
    find_throughput,
)
from dse.model.estimate import TickUnit
from dse.report.quantities import time_text, wrapped
from dse.report.ranking import render
from dse.report.tables import NamesTable
from dse.sdf.throughput.storage import Storage

_ACTORS_SHOWN = 12
"""The actors that work longest are printed; ``--json`` has all."""
_POINTS_SHOWN = 12
"""Points of a front that are printed, spread over it."""


def run(args: argparse.Namespace) -> int:
    """Analyse and print."""
    if args.storage is not None and args.storage < 1:
        raise OptionError(f"{args.storage} sizes to try are none", expected="--storage of 1 or more")
    options = ThroughputOptions(
        problem=problem_options(args),
        release=args.release,
        overlap=args.overlap,
        storage=args.storage,
        mappings=tuple(args.mapping),
        buffers=args.buffers,
        out=args.out,
    )
    found = find_throughput(options, compiling_notice(quiet=args.quiet))
    if not args.quiet:
        print_warnings(found.warnings)
    if args.json:
        print_json(as_document(found))
    else:
        _print(found, args.quiet)
        if args.out is not None and not args.quiet:
            print()
            say(f"written to {args.out}")
    return 0


def as_document(found: Throughput) -> dict[str, object]:
    """Return the JSON; times are ticks of ``unit``, as texts where they are no whole numbers."""
    return {
        "network": found.network,
        "unit": found.tick_unit,
        "regions": [_region_document(region, found.tick_unit) for region in found.regions],
        "not_static": list(found.others),
        "mappings": [
            {
                "mapping": rate.mapping,
                "period": None if rate.steady is None else _exact(rate.steady.period),
                "repeats_after_iterations": None if rate.steady is None else rate.steady.iterations,
                "last_half": _exact(rate.last_half),
                "iterations": rate.iterations,
            }
            for rate in found.mappings
        ],
        "assumed": list(found.assumed),
    }


def _region_document(region: RegionThroughput, unit: TickUnit) -> dict[str, object]:
    return {
        "period": _exact(region.period),
        "throughput": _per_second(region.period, unit),
        "throughput_unit": "iterations/s" if unit == "ps" else "iterations/cycle",
        "work": _exact(region.work),
        "least_cores": region.least_cores,
        "cycle": [{"actor": turn.actor, "channel": turn.channel, "room": turn.room} for turn in region.cycle],
        "iterations": region.iterations,
        "mean_times": list(region.averaged),
        "actors": [
            {"name": a.name, "firings": a.firings, "work": _exact(a.work), "own_period": _exact(a.own_period)}
            for a in region.actors
        ],
        "storage": None if region.storage is None else _storage_document(region, region.storage),
    }


def _storage_document(region: RegionThroughput, storage: Storage) -> dict[str, object]:
    return {
        "unit": storage.unit,
        "proven": storage.proven,
        "analyses": storage.analyses,
        "points": [
            {
                "memory": point.memory,
                "period": _exact(point.period),
                "sizes_tokens": dict(zip(region.channels, point.sizes, strict=True)),
            }
            for point in storage.points
        ],
    }


def _exact(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else str(value)


def _per_second(period: Fraction, unit: TickUnit) -> float | None:
    """Return iterations a second, or a cycle; None where nothing limits them."""
    return None if not period else float((PS_PER_S if unit == "ps" else 1) / period)


def _print(found: Throughput, quiet: bool) -> None:
    if not quiet and found.assumed:
        say(f"assumed: {'; '.join(found.assumed)}")
    for number, region in enumerate(found.regions):
        if number or not quiet:
            print()
        _print_region(region, found, quiet)
    _print_mappings(found)
    if found.others and not quiet:
        print()
        say(wrapped(f"not static: {', '.join(found.others)}"))


def _print_region(region: RegionThroughput, found: Throughput, quiet: bool) -> None:
    say(_headline(region, found.network))
    if not region.period:
        print("throughput  not limited: no cycle takes time")
        return
    rate = _per_second(region.period, found.tick_unit)
    print(f"period      {_time(region.period, found.tick_unit)} an iteration, exactly: no schedule is quicker")
    print(f"throughput  {rate:.6g} iterations/{'s' if found.tick_unit == 'ps' else 'cycle'}")
    say(wrapped(f"limited by  {_limit(region)}"))
    print(f"cores       {region.least_cores} at least: {_time(region.work, found.tick_unit)} of work an iteration")
    if region.averaged and not quiet:
        say(wrapped(f"{', '.join(region.averaged)}: firings take several times, the mean stands for each"))
    if not quiet:
        print()
        print(render(_actor_table(region, found.tick_unit)))
    if region.storage is not None:
        print()
        _print_storage(region, region.storage, found.tick_unit)


def _headline(region: RegionThroughput, network: str) -> str:
    firings = sum(actor.firings for actor in region.actors)
    through = "" if region.iterations is None else f", {region.iterations:,} of them in the trace"
    actors = "1 actor" if len(region.actors) == 1 else f"{len(region.actors)} actors"
    made = "1 firing" if firings == 1 else f"{firings:,} firings"
    return f"{actors} of '{network}', {made} an iteration{through}"


def _print_mappings(found: Throughput) -> None:
    """Print the steady states of mappings, if any were given."""
    if not found.mappings:
        return
    print()
    print(render(_mapping_table(found)))
    if not all(rate.steady for rate in found.mappings):
        print("about: not steady within the run, the mean of its last half")


def _mapping_table(found: Throughput) -> Table:
    """Return a row for each mapping: its period, how much of the throughput of the graph it has, what repeats."""
    (region,) = found.regions
    table = NamesTable()
    table.add_column("mapping", overflow="fold")
    for name in ("period", "of the most", "repeats after"):
        table.add_column(name, justify="right", no_wrap=True)
    for rate in found.mappings:
        period = rate.last_half if rate.steady is None else rate.steady.period
        about = "about " if rate.steady is None else ""
        share = f"{float(100 * region.period / period):.1f} %" if period else ""
        repeats = "" if rate.steady is None else f"{rate.steady.iterations:,}"
        table.add_row(rate.mapping, about + _time(period, found.tick_unit), share, repeats)
    return table


def _limit(region: RegionThroughput) -> str:
    text = cycle_text(region.cycle)
    return text if any(turn.channel for turn in region.cycle) else f"{text}, which is never idle"


def _time(value: Fraction, unit: TickUnit) -> str:
    """Return a time; of cycles the fraction too."""
    if unit == "cycles" and value.denominator != 1:
        return f"{value} cycles"
    return time_text(round(value), unit)


def _actor_table(region: RegionThroughput, unit: TickUnit) -> Table:
    """Return a row for each of the actors that work longest."""
    table = NamesTable()
    table.add_column("actor", overflow="fold")
    for name in ("firings", "work", "busy", "own period"):
        table.add_column(name, justify="right", no_wrap=True)
    heaviest = sorted(region.actors, key=lambda actor: -actor.work)
    for actor in heaviest[:_ACTORS_SHOWN]:
        table.add_row(
            actor.name, f"{actor.firings:,}", _time(actor.work, unit), _busy(actor, region), _own(actor, unit)
        )
    if len(heaviest) > _ACTORS_SHOWN:
        table.add_row(f"and {len(heaviest) - _ACTORS_SHOWN} more", "", "", "", "")
    return table


def _busy(actor: ActorRate, region: RegionThroughput) -> str:
    return f"{float(100 * actor.work / region.period):.1f} %"


def _own(actor: ActorRate, unit: TickUnit) -> str:
    return _time(actor.own_period, unit)


def _print_storage(region: RegionThroughput, storage: Storage, unit: TickUnit) -> None:
    """Print the front, and the sizes of its last point."""
    table = NamesTable()
    for name in ("memory", "period", "of the best"):
        table.add_column(name, justify="right", no_wrap=True)
    best = storage.points[-1].period
    step = -(-len(storage.points) // _POINTS_SHOWN)
    for point in (*storage.points[:-1:step], storage.points[-1]):
        memory = f"{point.memory:,} {'B' if storage.unit == 'bytes' else 'tokens'}"
        share = f"{float(100 * best / point.period):.1f} %" if point.period else ""
        table.add_row(memory, _time(point.period, unit), share)
    print(render(table))
    proven = storage.proven == len(storage.points)
    print("no smaller sizes do the same" if proven else _unproven(storage))
    last = storage.points[-1]
    sizes = ", ".join(f"{n} {size}" for n, size in zip(region.channels, last.sizes, strict=True) if size is not None)
    say(wrapped(f"sizes of the last: {sizes}"))


def _unproven(storage: Storage) -> str:
    return f"proven for the first {storage.proven} only, after {storage.analyses:,} sizes: --storage N tries more"
