"""``dse gpu``: the cost of C kernels on GPUs, without a GPU; which accelerator to choose."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.cli.gpu_breakdown import run_breakdown
from dse.cli.gpu_link import run_link
from dse.cli.gpu_scaling import run_scaling
from dse.cli.gpu_sweep import run_sweep
from dse.cli.gpu_words import C_SUFFIXES, GREATEST, parse_block, positive
from dse.cli.kernel_documents import (
    calibration_document,
    choice_document,
    device_document,
    fpga_document,
    hand_document,
    prediction_document,
)
from dse.cli.kernel_words import defines_of
from dse.cli.streams import filtered, print_json, say, unfiltered
from dse.cli.timing import note_stage
from dse.flows.calibrate import CalibratedDevice, CalibrateOptions, calibrate_device
from dse.flows.gpu import (
    ChooseOptions,
    KernelOptions,
    ModelOptions,
    PredictedKernel,
    Prediction,
    PredictOptions,
    choose_accelerator,
    predict,
    predict_by_hand,
)
from dse.formats.device_yaml import builtin_devices, load_device
from dse.formats.device_yaml_write import write_device
from dse.formats.fpga_yaml import builtin_fpgas, is_fpga_file, load_fpga
from dse.gpu.models.memory_pipeline import PipelineInputs
from dse.model.fpga import Fpga
from dse.report.kernel_tables import (
    advice_table,
    choice_table,
    constants_table,
    devices_table,
    fpga_table,
    instructions_table,
    judged_table,
    kernels_table,
    rates_table,
    seconds_text,
    sensitivity_table,
)
from dse.report.quantities import wrapped
from dse.report.ranking import render

_HAND = ("requests", "transactions", "warps")
_OPTIONS_OF_WORDS = ("define", "parallel", "tile", "devices", "fpga")
"""Options that take words up to the next option, and with them the file when it stands behind them."""


def run(args: argparse.Namespace) -> int:
    """Predict, choose or list devices, and print."""
    if args.action in _OTHER_VERBS:
        return _OTHER_VERBS[args.action](args)
    args.kernel = args.kernel or _swallowed_kernel(args)
    if args.action == "choose":
        return _choose(args)
    if any(getattr(args, name) is not None for name in _HAND):
        return _by_hand(args)
    if args.kernel is None:
        raise OptionError("no kernel is given", expected="a C file, or --requests, --transactions and --warps")
    note_stage("predicting")
    prediction = predict(
        PredictOptions(
            kernels=_kernel_options(args),
            device=args.device,
            model=_model_options(args),
            advice=not args.no_advice,
            sensitivity=args.sensitivity,
        )
    )
    note_stage("printing")
    if args.json:
        print_json(prediction_document(prediction))
    else:
        print("\n".join(_prediction_parts(prediction, quiet=args.quiet)))
    return 0


def _swallowed_kernel(args: argparse.Namespace) -> str | None:
    """Take the C file out of the words of an option that ate it: ``--define N=1024 gemm.c``; None if there is none."""
    for option in _OPTIONS_OF_WORDS:
        words: list[str] = getattr(args, option, [])
        for at, word in reversed(list(enumerate(words))):
            if Path(word).suffix.lower() in C_SUFFIXES and "=" not in word:
                return words.pop(at)
    return None


def _calibrate(args: argparse.Namespace) -> int:
    """Calibrate a device, write it where that is asked for, and print."""
    if args.output and not args.output.endswith((".yaml", ".yml")):
        raise OptionError(f"'{args.output}' is no name of a device file", expected="-o FILE.yaml")
    silent = args.quiet or args.json or not sys.stderr.isatty()
    with Console(file=unfiltered(sys.stderr), quiet=silent).status("") as status, filtered():
        found = calibrate_device(
            CalibrateOptions(device=args.device, measured=args.measured, kernels=args.kernels, loads=args.dlcm),
            lambda what: status.update(Text(shown(what))),
        )
    if args.output:
        write_device(args.output, found.device)
    if args.json:
        print_json(calibration_document(found) | {"written": args.output})
    else:
        _show_calibration(found, args.output, quiet=args.quiet)
    return 0


def _show_calibration(found: CalibratedDevice, output: str | None, *, quiet: bool) -> None:
    """Print the rates with their intervals, and what they are worth."""
    fit = found.calibration
    say(f"{found.device.name}: {fit.samples} times of {fit.kernels} kernels, median error {100 * fit.error:.1f} %")
    print("\n" + render(rates_table(fit)))
    if found.judged:
        print("\neach program by the device file, and by a fit to the others, which has not seen it:")
        print(render(judged_table(found.judged)))
    for why, count in () if quiet else found.left_out:
        print(f"left out {count:,} rows {why}")
    if output:
        say(f"wrote {output}")


def _devices(args: argparse.Namespace) -> int:
    """List the built-in devices, or the constants of one device with their sources."""
    if args.device is None:
        devices = tuple(load_device(name) for name in builtin_devices())
        if args.json:
            print_json({"devices": [device_document(device) for device in devices]})
        else:
            print(render(devices_table(devices)))
            print(f"FPGAs for dse gpu choose --fpga: {', '.join(builtin_fpgas())}")
        return 0
    if args.device.lower() in builtin_fpgas() or is_fpga_file(args.device):
        return _fpga(load_fpga(args.device), as_json=args.json)
    device = load_device(args.device)
    if args.json:
        print_json(device_document(device))
    else:
        print(render(constants_table(device)))
    return 0


def _fpga(fpga: Fpga, *, as_json: bool) -> int:
    if as_json:
        print_json(fpga_document(fpga))
    else:
        print(render(fpga_table(fpga)))
    return 0


def _choose(args: argparse.Namespace) -> int:
    if args.kernel is None:
        raise OptionError("no kernel is given", expected="a C file: dse gpu choose KERNEL.c --devices D D ...")
    if not args.devices:
        raise OptionError("no device is given", expected="--devices takes device files or names of built-in ones")
    options = ChooseOptions(
        kernels=_kernel_options(args),
        devices=tuple(dict.fromkeys(args.devices)),
        model=_model_options(args),
        fpgas=tuple(dict.fromkeys(args.fpga)),
        fpga_ms=positive(args.fpga_ms, "--fpga-ms"),
        cpu_ms=positive(args.cpu_ms, "--cpu-ms"),
        with_host=args.with_host,
    )
    choice = choose_accelerator(options)
    if args.json:
        print_json(choice_document(choice, with_host=args.with_host))
        return 0
    print(render(choice_table(choice, with_host=args.with_host)))
    print(f"\n{wrapped(f'{choice.winner.name} by a factor of {choice.margin:.2f}: {choice.reason}')}")
    return 0


def _check_by_hand(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` where inputs by hand do not go with the other arguments, or one is missing."""
    if args.model != "memory_pipeline":
        raise OptionError(
            "--requests, --transactions and --warps are inputs of another model", expected="--model memory_pipeline"
        )
    if args.kernel is not None:
        raise OptionError("inputs by hand and a kernel", expected="either a C file or inputs by hand")
    missing = [f"--{name}" for name in _HAND if getattr(args, name) is None]
    if missing:
        raise OptionError(f"{', '.join(missing)} missing", expected="--requests, --transactions and --warps together")


def _by_hand(args: argparse.Namespace) -> int:
    _check_by_hand(args)
    inputs = PipelineInputs(
        requests=positive(args.requests, "--requests") or 0.0,
        transactions=positive(args.transactions, "--transactions") or 0.0,
        warps=positive(args.warps, "--warps") or 0.0,
        launches=args.launches,
    )
    device, answer = predict_by_hand(inputs, args.device, args.read_cycle)
    if args.json:
        print_json(hand_document(device, inputs, answer))
        return 0
    say(f"{seconds_text(answer.time_s)} ({answer.cycles:,.0f} cycles) on {device.name}")
    if not args.quiet:
        rc = f"{answer.read_cycle_s * 1e9:.4f} ns a DRAM transaction ({args.read_cycle})"
        print(f"{rc}; {answer.throughput_hz / 1e6:,.1f} million requests a second")
    return 0


def _prediction_parts(prediction: Prediction, *, quiet: bool) -> Iterable[str]:
    pairs = [(k.features, k.cost) for k in prediction.kernels]
    many = f", the sum of {len(pairs)} kernels" if len(pairs) > 1 else ""
    yield shown(f"{prediction.path} on {prediction.device.name}: {seconds_text(prediction.time_s)}{many}") + "\n"
    yield render(kernels_table(pairs))
    for kernel in prediction.kernels:
        yield from _kernel_parts(kernel, named=len(pairs) > 1, quiet=quiet)
    if prediction.sensitivity:
        rows = [(p.sizes, p.time_s, p.kernels) for p in prediction.sensitivity]
        yield "\nother work sizes, same trace size:\n" + render(sensitivity_table(rows))
    if prediction.assumed and not quiet:
        assumed = ", ".join(origin.key for origin in prediction.assumed)
        yield "\n" + wrapped(f"assumed of {prediction.device.name}: {assumed} (see its device file)")


def _kernel_parts(kernel: PredictedKernel, *, named: bool, quiet: bool) -> Iterable[str]:
    features, cost = kernel.features, kernel.cost
    title = f"{cost.kernel}: " if named else ""
    yield "\n" + wrapped(f"{title}{cost.bottleneck}: {cost.reason}")
    if not quiet:
        yield wrapped(f"threads: {features.how_parallel}")
        if features.shared is not None and cost.parallelism is not None:
            sync_s = cost.sync_cycles * cost.time_s / cost.cycles
            yield wrapped(f"synchronisation, not in the time: {seconds_text(sync_s)} (23)")
        for note in cost.notes:
            yield wrapped(f"note: {note}")
    if features.instructions:
        yield "\n" + render(instructions_table(features.instructions))
    if kernel.advice:
        yield "\n" + render(advice_table(kernel.advice))


def _kernel_options(args: argparse.Namespace) -> KernelOptions:
    if args.trace_size is not None and args.trace_size < 1:
        raise OptionError(f"--trace-size is {args.trace_size}", expected="a size above 0, such as 128")
    return KernelOptions(
        path=args.kernel,
        function=args.function,
        defines=defines_of(args.define),
        block=None if args.block is None else parse_block(args.block),
        trace_size=args.trace_size,
        promote_accumulators=not args.no_promotion,
        tiles=tuple(args.tile),
        parallel=tuple(args.parallel),
    )


def _model_options(args: argparse.Namespace) -> ModelOptions:
    if args.launches < 1:
        raise OptionError(f"--launches is {args.launches}", expected="a number above 0")
    if args.launches > GREATEST:
        raise OptionError(f"--launches is {args.launches}", expected=f"at most {GREATEST:g}")
    return ModelOptions(name=args.model, read_cycle=args.read_cycle, launches=args.launches, loads=args.dlcm)


_OTHER_VERBS: dict[str, Callable[[argparse.Namespace], int]] = {
    "devices": _devices,
    "calibrate": _calibrate,
    "breakdown": run_breakdown,
    "link": run_link,
    "scaling": run_scaling,
    "sweep": run_sweep,
}
"""Sub-verbs that predict nothing of a C file."""
