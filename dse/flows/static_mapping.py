"""The one mapping that a program may be built for: ``dse build --static X.xcf``."""

from pathlib import Path

from dse.base.cores import usable_cores
from dse.base.errors import FormatError, OptionError
from dse.base.escaping import shown
from dse.base.source import file_span
from dse.codegen.cpp.network_unit import FixedMapping
from dse.flows.gpu_actors import abilities_of
from dse.formats.xcf import read_xcf_and_text
from dse.model.platform import Platform, Unit
from dse.program.network import Network
from dse.run.record import topology_of

GPU = Unit(name="gpu", kind="gpu", partition="PG")


def fixed_mapping(network: Network, path: str, has_device_code: bool) -> FixedMapping:
    """Return the mapping of an XCF file as a program holds it.

    Raises:
        FormatError: the file is none, or not for this network, or has an actor on a GPU that cannot run there.
        OptionError: it has actors on a GPU, and the program has no device code.
    """
    here = Platform(name="this machine", units=(Unit(name="cpu", kind="cpu", cores=len(usable_cores())), GPU))
    topology = topology_of(network)
    point, text = read_xcf_and_text(path, topology, here)
    on_gpu = frozenset(a for part in point.partitions if part.unit == GPU.name for a in part.actors)
    if on_gpu and not has_device_code:
        raise OptionError(
            f"the mapping '{shown(path)}' has actors on a GPU, and the program has no device code",
            expected="give --cuda too",
        )
    _refuse_unable(network, on_gpu, path)
    return FixedMapping(name=Path(path).name, text=text, on_gpu=on_gpu)


def _refuse_unable(network: Network, on_gpu: frozenset[int], path: str) -> None:
    """Raise ``FormatError`` for an actor that is to run on a GPU and cannot."""
    for index, actor in enumerate(abilities_of(network) if on_gpu else ()):
        if index in on_gpu and not actor.able:
            raise FormatError(
                f"actor '{shown(actor.name)}' cannot run on a GPU: {actor.reason}",
                span=file_span(path, 0),
                expected="place it on a CPU; dse check --gpu lists them",
            )
