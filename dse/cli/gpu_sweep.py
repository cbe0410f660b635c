"""``dse gpu sweep``: predicted times over sizes, strides, blocks or warps, as a table and as pictures."""

import argparse
import re
from dataclasses import asdict
from pathlib import Path

from dse.base.errors import OptionError
from dse.cli.gpu_words import C_SUFFIXES, GREATEST, parse_block, positive
from dse.cli.kernel_words import defines_of
from dse.cli.pictures import say_pictures, write_pictures
from dse.cli.streams import print_json
from dse.cli.timing import note_stage
from dse.flows.gpu import KernelOptions
from dse.flows.kernels import Block
from dse.flows.sweep import BLOCK, INPUTS, SIMPLE_CACHE, SweepOptions, sweep
from dse.formats.sweep_csv import write_sweep
from dse.gpu.models import KERNEL_COST_MODELS
from dse.model.sweep import SweepAxis
from dse.report.ranking import render
from dse.report.sweep_pictures import sweep_pictures, sweep_table

_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_VALUES = 200
_WORDS = ("define", "devices", "models")
"""Options that take words up to the next option, and with them files that stand behind them."""


def run_sweep(args: argparse.Namespace) -> int:
    """Predict at all values and print."""
    options = _options(args)
    note_stage("predicting")
    found = sweep(options)
    note_stage("printing")
    if args.output:
        write_sweep(args.output, found)
    pictures = [] if args.plot is None else write_pictures(args.plot, sweep_pictures(found))
    if args.json:
        points = [asdict(point) | {"error": point.error} for point in found.points]
        print_json({"axes": [asdict(axis) for axis in found.axes], "points": points, "pictures": pictures})
        return 0
    print(render(sweep_table(found)))
    say_pictures([*([args.output] if args.output else []), *pictures])
    return 0


def _options(args: argparse.Namespace) -> SweepOptions:
    files = [*args.kernel, *_swallowed(args)]
    axes = tuple(_axis(text, by_hand=not files) for text in args.over)
    given = {name: positive(getattr(args, name), f"--{name}") for name in INPUTS}
    by_hand = tuple((name, value) for name, value in given.items() if value is not None)
    models = tuple(dict.fromkeys(args.models))
    _check_numbers(args)
    _check_inputs(models, files=bool(files), by_hand=bool(by_hand))
    return SweepOptions(
        kernels=_kernels(args, files),
        axes=axes,
        devices=tuple(dict.fromkeys(args.devices)),
        models=models,
        blocks=tuple(_blocks(axes)),
        by_hand=by_hand,
        read_cycle=args.read_cycle,
        launches=args.launches,
        measured=args.measured,
    )


def _kernels(args: argparse.Namespace, files: list[str]) -> tuple[KernelOptions, ...]:
    block = None if args.block is None else parse_block(args.block)
    defines = defines_of(args.define)
    return tuple(
        KernelOptions(path=path, function=args.function, defines=defines, block=block, trace_size=args.trace_size)
        for path in files
    )


def _check_numbers(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` for too many axes, no device, or numbers that are impossible."""
    if len(args.over) > 2:
        raise OptionError(f"--over is given {len(args.over)} times", expected="once or twice")
    if not args.devices:
        raise OptionError("no device is given", expected="--devices takes device files or names of built-in ones")
    if not 1 <= args.launches <= GREATEST:
        raise OptionError(f"--launches is {args.launches}", expected="a number above 0")
    if args.trace_size is not None and args.trace_size < 1:
        raise OptionError(f"--trace-size is {args.trace_size}", expected="a size above 0, such as 128")


def _check_inputs(models: tuple[str, ...], *, files: bool, by_hand: bool) -> None:
    """Raise ``OptionError`` where a model is unknown or does not go with what is given."""
    for name in models:
        if name != SIMPLE_CACHE:
            KERNEL_COST_MODELS.load(name)
    if not files and models != ("memory_pipeline",):
        raise OptionError("no kernel is given", expected="a C file, or --models memory_pipeline and inputs by hand")
    if files and by_hand:
        raise OptionError("inputs by hand and a kernel", expected="either C files or inputs by hand")


def _swallowed(args: argparse.Namespace) -> list[str]:
    """Take the C files out of the words of options that ate them: ``--define M=8 gemm.c``."""
    found = []
    for option in _WORDS:
        words: list[str] = getattr(args, option)
        eaten = [word for word in words if Path(word).suffix.lower() in C_SUFFIXES and "=" not in word]
        for word in eaten:
            words.remove(word)
        found += eaten
    return found


def _axis(text: str, *, by_hand: bool) -> SweepAxis:
    """Return what varies, of ``N=256,512``. Raises ``OptionError``."""
    name, equals, rest = text.partition("=")
    values = tuple(value.strip() for value in rest.split(","))
    if not equals or not _NAME.fullmatch(name) or not all(values):
        raise OptionError(f"--over '{text[:60]}' is not understood", expected="NAME=VALUE,VALUE: N=256,512,1024")
    if len(set(values)) < len(values) or len(values) > _MOST_VALUES:
        raise OptionError(
            f"--over {name} has {len(values)} values, {len(set(values))} of them different",
            expected=f"each value once, at most {_MOST_VALUES}",
        )
    if by_hand and name in INPUTS:
        for value in values:
            positive(_number(value, name), f"--over {name}")
    return SweepAxis(name=name, values=values)


def _number(value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise OptionError(f"--over {name} has '{value[:40]}'", expected="numbers above 0") from None


def _blocks(axes: tuple[SweepAxis, ...]) -> list[tuple[str, Block]]:
    return [(value, parse_block(value)) for axis in axes if axis.name == BLOCK for value in axis.values]
