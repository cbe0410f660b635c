"""``dse weights predict`` as a function: run a network, predict what it costs on a GPU, write the weights."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.flows.predict import left_out_actors, predict_for_device
from dse.flows.program import load_program, record_trace
from dse.flows.trace import execution_of
from dse.formats.device_yaml import load_device
from dse.formats.platform_yaml import load_platform
from dse.formats.weights_folder import write_weights_folder
from dse.gpu.actors.firing import LaunchShape, actor_model
from dse.gpu.actors.weights import PredictedWeights
from dse.gpu.default_device import DEFAULT_MODEL
from dse.run.execution import Execution
from dse.run.options import PLAIN_RUN, RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictWeightsOptions:
    """What ``dse weights predict`` predicts. ``platform`` None: the built-in default, for the CPU's clock."""

    program: str
    device: str
    input: str | None = None
    source_paths: tuple[str, ...] = ()
    platform: str | None = None
    shape: LaunchShape | None = None
    model: str = DEFAULT_MODEL
    output: str | None = None
    run: RunOptions = PLAIN_RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedFiles:
    """A prediction, what it left out, and the files that it was written to. ``execution``: what ran the network."""

    predicted: PredictedWeights
    left_out: tuple[str, ...]
    written: tuple[str, ...]
    execution: Execution | None = None


def predict_weight_files(
    options: PredictWeightsOptions, stage: Callable[[str], None] = lambda _: None
) -> PredictedFiles:
    """Run a network, predict its GPU weights and write them as a folder when one is given.

    Raises:
        SourceError, FormatError, OptionError, ExecutionError: an input is wrong, or the folder cannot be written.
        ModelNotApplicable: no actor can run on a GPU.
    """
    actor_model(options.model)  # a name that is wrong is told before the network is run
    device = load_device(options.device)
    platform = load_platform(options.platform) if options.platform else load_platform()
    stage("reading the program")
    program = load_program(options.program, options.source_paths)
    if program.network is None:
        raise OptionError(
            f"'{options.program}' is a trace, without the actors to predict from", expected="give the network (.xdf)"
        )
    trace, _ = record_trace(program, options.input, run=options.run, count_rounds=True, stage=stage)
    stage("predicting the weights")
    predicted = predict_for_device(
        program.network, trace, device, platform, shape=options.shape, model=options.model, stage=stage
    )
    written: tuple[str, ...] = ()
    if options.output is not None:
        names = write_weights_folder(predicted.table, options.output)
        written = tuple(str(Path(options.output) / name) for name in names)
    left_out = left_out_actors(program.network, platform)
    names_left_out = tuple(i.name for i in program.network.instances if i.name in left_out)
    return PredictedFiles(predicted=predicted, left_out=names_left_out, written=written, execution=execution_of(trace))
