"""``dse gpu breakdown``: measured times of an OpenCL kernel over tile widths, split into computing and moving data."""

import argparse
from dataclasses import asdict
from typing import Any

from dse.base.errors import OptionError
from dse.base.numbers import integer_from
from dse.cli.kernel_words import defines_of
from dse.cli.pictures import write_pictures
from dse.cli.streams import print_json, say
from dse.flows.breakdown import BreakdownOptions, BrokenDown, Profile, answer_lines, break_down
from dse.formats.tiles_csv import write_tiles
from dse.model.breakdown import Breakdown
from dse.report.breakdown_pictures import breakdown_pictures
from dse.report.breakdown_tables import coefficients_table, counts_table, parts_table, terms_table
from dse.report.quantities import wrapped
from dse.report.ranking import render

_MOST_REPEATS, _MOST_TILE = 100_000, 1 << 12
_MOST_OPERATIONS = 1e24


def run_breakdown(args: argparse.Namespace) -> int:
    """Break a kernel down and print."""
    found = break_down(_options(args))
    if args.output:
        write_tiles(args.output, found.measured)
    pictures: list[str] = []
    if args.plot is not None:
        pictures = write_pictures(args.plot, breakdown_pictures(found.counts[0].kernel, found.measured, found.fits))
    if args.json:
        print_json(_document(found) | {"pictures": pictures})
        return 0
    _show(found, next(fit for fit in found.fits if fit.reading == args.put), quiet=args.quiet)
    for path in [*([args.output] if args.output else []), *pictures]:
        say(f"wrote {path}")
    return 0


def _options(args: argparse.Namespace) -> BreakdownOptions:
    if args.measured is not None and args.profile is not None:
        raise OptionError("--measured and --profile", expected="measured times, or tiles to measure")
    if args.output and args.profile is None:
        raise OptionError("-o writes what --profile measures", expected="--profile 1,2,4,8 -o FILE.csv")
    if not 1 <= args.repeats <= _MOST_REPEATS:
        raise OptionError(f"--repeats is {args.repeats}", expected=f"1 to {_MOST_REPEATS}")
    if args.operations is not None and not 1 <= args.operations <= _MOST_OPERATIONS:
        raise OptionError(f"--operations is {args.operations:g}", expected=f"1 to {_MOST_OPERATIONS:g}")
    profile = None if args.profile is None else Profile(tiles=_tiles(args.profile), repeats=args.repeats)
    return BreakdownOptions(
        path=args.kernel_file,
        device=args.device,
        measured=args.measured,
        profile=profile,
        kernel=args.kernel,
        host=args.host,
        defines=defines_of(args.define),
        tile_macro=args.tile,
        size=args.size,
        operations=args.operations,
        knots=args.knots,
        model=args.model,
    )


def _tiles(text: str) -> tuple[int, ...]:
    tiles = [integer_from(part, least=1, most=_MOST_TILE) for part in text.split(",")]
    found = tuple(sorted({tile for tile in tiles if tile is not None}))
    if None in tiles or len(found) < 3:
        raise OptionError(f"--profile '{text[:40]}' is not understood", expected="three tile widths or more: 1,2,4,8")
    return found


def _show(found: BrokenDown, fit: Breakdown, *, quiet: bool) -> None:
    ran = "" if found.ran_on is None else f", measured on {found.ran_on}"
    say(f"{found.counts[0].kernel}, N = {found.size:,}, on {found.device.name}{ran}")
    if not quiet:
        print("\nof one work-item, elements moved:\n" + render(counts_table(found.counts, found.measured)))
        terms = next(of for of, one in zip(found.factors, found.fits, strict=True) if one is fit)
        print("\nterms:\n" + render(terms_table(terms)))
    print("\n" + render(coefficients_table(found.fits)))
    print(f"\n{fit.reading}:\n" + render(parts_table(fit, found.measured, found.predicted.tiles)) + "\n")
    for line in answer_lines(found, fit):
        print(wrapped(line))
    if quiet:
        return
    print(wrapped(f"mean error of the fit {100 * fit.error:.2f} %; condition number of the terms {fit.condition:,.0f}"))
    if fit.correlation > 0.99:
        together = f"{100 * fit.correlation:.2f} %"
        print(wrapped(f"G2ST and S2PT go together ({together}): their split is uncertain, see the intervals"))
    for note in found.counts[0].notes:
        print(wrapped(f"note: {note}"))


def _document(found: BrokenDown) -> dict[str, Any]:
    return {
        "kernel": found.counts[0].kernel,
        "device": found.device.name,
        "size": found.size,
        "ran_on": found.ran_on,
        "predicted": asdict(found.predicted),
        "measured": [asdict(tile) for tile in found.measured],
        "counts": [asdict(one) for one in found.counts],
        "fits": [
            asdict(fit) | {"terms": [asdict(one) for one in terms], "answer": list(answer_lines(found, fit))}
            for fit, terms in zip(found.fits, found.factors, strict=True)
        ],
    }
