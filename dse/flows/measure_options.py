"""What ``dse measure`` is asked for, and what of that is impossible."""

from dataclasses import dataclass, field

from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.estimate.engine import ENGINES
from dse.flows.cuda_request import CudaRequest
from dse.flows.measure_points import MeasureSettings
from dse.flows.profile import ProfileSettings, check_settings
from dse.run.options import PLAIN_RUN, RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What to measure. ``mappings``: files or texts; else the ``top`` best by estimate, or a ``sample`` of all.

    ``inputs``: each is profiled and measured; empty: the default one. ``buffers``: FIFO sizes in tokens, each mapping
    with each; empty: those of the network. ``weights``: of these folders and files; empty: they are measured first.
    ``timeline``: whether the fastest mapping is run once more for its timeline.
    ``cuda``: mappings may use the GPU, None: processors alone. ``dynamic``: every FIFO lies as if it might cross to the
    GPU, as in the dynamic networks of paper 004. ``link``: a platform whose link to the GPU estimates take.
    """

    program: str
    inputs: tuple[str, ...] = ()
    source_paths: tuple[str, ...] = ()
    run: RunOptions = PLAIN_RUN
    cuda: CudaRequest | None = None
    dynamic: bool = False
    link: str | None = None
    mappings: tuple[str, ...] = ()
    top: int | None = None
    sample: int | None = None
    buffers: tuple[int, ...] = ()
    weights: tuple[str, ...] = ()
    engine: str = "compiled"
    timeline: bool = False
    profile: ProfileSettings = field(default_factory=lambda: ProfileSettings(calibrate=3))
    settings: MeasureSettings = field(default_factory=MeasureSettings)


def check_options(options: MeasureOptions) -> None:
    """Raise ``OptionError`` where it is not clear which mappings are to be measured."""
    given = [bool(options.mappings), options.top is not None, options.sample is not None]
    if sum(given) != 1:
        raise OptionError(
            "which mappings are to be measured is not clear",
            expected="give one of --mappings DIR, --top N and --sample N",
        )
    for name, value in (("--top", options.top), ("--sample", options.sample), ("--runs", options.settings.rounds)):
        if value is not None and value < 1:
            raise OptionError(f"{name} {value} measures nothing", expected="1 or more")
    _check_gpu(options)
    check_settings(options.profile)
    ENGINES.load(options.engine)
    if len(usable_cores()) < 2:
        raise OptionError(
            "one core is all that dse may use here: there is one mapping, and nothing tells the state of the machine",
            expected="measure where two cores or more are allowed (nproc says how many are)",
        )


def _check_gpu(options: MeasureOptions) -> None:
    """Raise ``OptionError`` for what goes only with a GPU, or not with one."""
    for name, given in (("--dynamic", options.dynamic), ("--link", options.link is not None)):
        if given and options.cuda is None:
            raise OptionError(f"{name} is for mappings that use a GPU", expected="give --cuda too, or leave it out")
    if options.timeline and options.cuda is not None:
        raise OptionError("no timeline of firings on a GPU is measured", expected="leave out --timeline or --cuda")
