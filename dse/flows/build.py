"""The journey of ``dse build``: a network as a C++ project in a folder, and the program that is built of it there."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from dse.base.collector import collector_paused
from dse.base.digests import file_digest
from dse.base.errors import BuildError, Diagnostic
from dse.flows.cuda_request import CudaRequest
from dse.flows.program import unheard
from dse.flows.static_mapping import fixed_mapping
from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildCounts, BuildOptions, build_program
from dse.native.cuda import DeviceBuild, find_nvcc, libcuxx_folder, nvcc_version
from dse.native.emission import Emission, EmissionOptions, emit
from dse.native.manifest import ManifestFacts, write_manifest
from dse.native.natives import user_natives
from dse.native.project import APP, check_folder, write_sources
from dse.native.toolchain import Compiler, CompilerVersion, compiler_version, find_compiler
from dse.program.network import Network

LOG = "build.log"
"""File of the folder that holds what a compiler said that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaReport:
    """The device code of a program. ``compiler``: in words; ``able``: the actors that have it."""

    compiler: str
    able: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What to build. ``folder``: where; ``compiler`` None: ``$CXX``, else the first one that is found.

    ``natives``: ("unit.function", "file.cpp:symbol"). ``rounds``: the program counts the rounds of loops. ``static``:
    an XCF file, for whose mapping alone the program is; None: it takes any.
    """

    network: str
    folder: Path
    source_paths: tuple[str, ...] = ()
    strict: bool = False
    compiler: str | None = None
    natives: tuple[tuple[str, str], ...] = ()
    rounds: bool = False
    options: BuildOptions = field(default_factory=BuildOptions)
    cuda: CudaRequest | None = None
    static: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What was built. ``app``: the program; ``seconds``: of writing and compiling; ``cuda``: device code, if it has."""

    network: Network
    app: Path
    compiler: Compiler
    version: CompilerVersion
    counts: BuildCounts
    seconds: float
    files: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    cuda: CudaReport | None = None


def build_file(request: BuildRequest, stage: Callable[[str], None] = unheard) -> BuildReport:
    """Write the project of the network of an XDF file into a folder, and build it there.

    Raises:
        SourceError: the network is wrong. NoNativeForm: an actor has no C++ form. OptionError: the folder holds
        something else, or an option is impossible. BuildError: there is no compiler, or it fails. OSError: disk full.
    """
    stage("reading the network")
    with collector_paused():
        loaded = load_network(request.network, source_paths=request.source_paths, strict=request.strict)
    return build_network(loaded.network, request, stage, warnings=loaded.warnings)


def build_network(
    network: Network,
    request: BuildRequest,
    stage: Callable[[str], None] = unheard,
    *,
    warnings: tuple[Diagnostic, ...] = (),
) -> BuildReport:
    """Build a network that is loaded; ``warnings``: of its loading. Raises: as ``build_file``."""
    started = time.monotonic()
    folder = request.folder
    earlier = check_folder(folder)
    overrides = user_natives(f"{key}={target}" for key, target in request.natives)
    stage("writing C++")
    device, cuda, lacking = _device_build(request.cuda)
    fixed = None if request.static is None else fixed_mapping(network, request.static, device is not None)
    emission = emit(
        network,
        EmissionOptions(rounds=request.rounds, overrides=overrides, device=device is not None, fixed=fixed),
    )
    options = replace(request.options, device=device)
    compiler = find_compiler(request.compiler)
    version = compiler_version(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    files = write_sources(emission.project, folder, earlier)
    facts = ManifestFacts(
        network=network,
        compiler=compiler,
        version=version,
        options=options,
        sources={path: file_digest(path) for path in network.sources if Path(path).is_file()},
        files=files,
        natives=request.natives,
    )
    write_manifest(folder, facts)  # before the build, too: what is there is ours whatever happens
    counts = _build(emission, folder, compiler, options, stage)
    app = folder / APP
    with_app = {**files, APP: file_digest(app)}
    write_manifest(folder, replace(facts, files=with_app))
    return BuildReport(
        network=network,
        app=app,
        compiler=compiler,
        version=version,
        counts=counts,
        seconds=time.monotonic() - started,
        files=tuple(files),
        warnings=(*warnings, *emission.warnings, *lacking),
        cuda=None if device is None else CudaReport(compiler=cuda, able=emission.able),
    )


def device_build(request: CudaRequest) -> tuple[DeviceBuild, str]:
    """Return how device code is compiled, and by what in words. Raises ``BuildError`` where that is impossible."""
    if request.emulated:
        return DeviceBuild(atomics=libcuxx_folder()), "the C++ compiler, for an emulated GPU"
    nvcc = find_nvcc()
    version = nvcc_version(nvcc)
    device = DeviceBuild(nvcc=nvcc, architectures=request.architectures)
    _ = device.link_flags  # whether there is what a program is linked with
    return device, version


def _device_build(request: CudaRequest | None) -> tuple[DeviceBuild | None, str, tuple[Diagnostic, ...]]:
    """Return how device code is compiled, by what in words, and a warning where that is asked for and impossible."""
    if request is None:
        return None, "", ()
    try:
        return (*device_build(request), ())
    except BuildError as error:
        lacking = replace(error.first_error, severity="warning")
        return None, "", (replace(lacking, message=f"{lacking.message}: the program has no device code"),)


def _build(
    emission: Emission, folder: Path, compiler: Compiler, options: BuildOptions, stage: Callable[[str], None]
) -> BuildCounts:
    stage("compiling")
    (folder / LOG).unlink(missing_ok=True)
    return build_program(
        emission.project,
        folder,
        folder / APP,
        compiler,
        options,
        log=folder / LOG,
        progress=lambda done, count: stage(f"compiling: {done} of {count} files"),
    )
