"""How device code is compiled: by nvcc for some cards, or by the compiler of the processor against the emulation.

nvcc is the one on the path, else that of the wheels of NVIDIA (extra ``dse[cuda]``), which need no installation by the
system. It compiles to SASS for each architecture that is asked for, and to PTX for newer ones.
"""

import importlib.util
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import BuildError, OptionError
from dse.native.project import EMULATION_FOLDERS, emulation_headers
from dse.native.toolchain import Compiler, call_tool

ARCHITECTURES = (75, 80, 86, 89, 90)
"""Of which cards a program has code by default: compute capability times 10, and PTX of the last for newer ones."""
LEAST_ARCHITECTURE = 75
"""What CUDA 13 compiles for at least."""
NO_NVCC = "install the CUDA toolkit, or the wheels of NVIDIA: pip install 'dse[cuda]'"
_WHEEL_PACKAGES = ("nvidia.cu13",)
_ASKING_SECONDS = 120.0
_RESOURCES = re.compile(r"Compiling entry function '(?P<kernel>\w+)' for 'sm_(?P<arch>\d+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_FOLDER = re.compile(r'"-L([^"]+)"')
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvcc:
    """A compiler of CUDA. ``root``: of its wheels, else None: it finds its own files."""

    path: str
    root: Path | None = None

    @property
    def identity(self) -> str:
        """What changes when it is replaced."""
        state = Path(self.path).resolve()
        try:
            facts = state.stat()
        except OSError:
            return self.path
        return f"{state} {facts.st_size} {facts.st_mtime_ns}"

    @property
    def libraries(self) -> tuple[str, ...]:
        """What a program is linked with: the runtime of CUDA, statically.

        Raises:
            BuildError: nvcc does not tell where it is.
        """
        folders = [self.root / "lib"] if self.root is not None else _library_folders(self.path)
        found = (folder / "libcudart_static.a" for folder in folders)
        static = next((str(path) for path in found if path.is_file()), None)
        if static is None:
            raise BuildError(f"'{self.path}' has no libcudart_static.a beside it", expected=NO_NVCC)
        return (static, "-ldl", "-lrt")


def _library_folders(nvcc: str) -> list[Path]:
    """Return where an nvcc of the system has libraries, which may be a script that calls another."""
    said = call_tool((nvcc, "--dryrun", "-x", "cu", os.devnull, "-o", os.devnull), time_limit_s=_ASKING_SECONDS)
    lines = said.text.splitlines()
    named = [Path(found) for line in lines if line.startswith("#$ LIBRARIES=") for found in _FOLDER.findall(line)]
    tops = [Path(line.removeprefix("#$ TOP=").strip()) for line in lines if line.startswith("#$ TOP=")]
    return [*named, *(top / name for top in tops for name in ("lib64", "lib"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceBuild:
    """How the device code of a program is compiled. ``nvcc`` None: against the emulation, as C++ of the processor.

    ``atomics``: a folder with headers of libcu++ for the emulation, None: those of the standard library stand for them.
    """

    nvcc: Nvcc | None = None
    architectures: tuple[int, ...] = ARCHITECTURES
    atomics: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """All that the object of device code depends on, besides its text and the flags of every compilation."""
        if self.nvcc is None:
            return ("emulated", self.atomics or "", *(text for _, text in emulation_headers()))
        return (self.nvcc.identity, *map(str, self.architectures))

    @property
    def link_flags(self) -> tuple[str, ...]:
        """What the program is linked with besides."""
        return () if self.nvcc is None else self.nvcc.libraries

    def document(self) -> dict[str, object]:
        """Return what a manifest tells of it."""
        if self.nvcc is None:
            return {"emulated": True}
        return {"emulated": False, "compiler": self.nvcc.path, "architectures": list(self.architectures)}

    def emulated_flags(self) -> tuple[str, ...]:
        """Return the flags with which the compiler of the processor takes device code."""
        runtime, own_atomics = EMULATION_FOLDERS
        atomics = ("-isystem", self.atomics) if self.atomics else ("-I", own_atomics)
        return ("-x", "c++", "-I", runtime, *atomics)

    def nvcc_command(self, compiler: Compiler, host_flags: Sequence[str], jobs: int) -> tuple[str, ...]:
        """Return the call of nvcc without its files; ``host_flags``: for the compiler of the processor, which it calls.

        ``jobs``: architectures at once; each takes as long as all the rest.

        Raises:
            BuildError: the compiler of the processor is one that nvcc cannot call.
        """
        assert self.nvcc is not None
        if len(compiler.command) != 1:
            raise BuildError(
                f"nvcc cannot call '{compiler.name}', a command of several words",
                expected="g++ or clang++ by --compiler or CXX",
            )
        codes = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in self.architectures]
        newest = max(self.architectures)
        return (
            self.nvcc.path,
            "-std=c++20",
            "-O2",
            "-ccbin",
            compiler.command[0],
            "--expt-relaxed-constexpr",
            "--fmad=false",
            "--Werror=all-warnings",
            "--resource-usage",
            f"--threads={max(1, min(jobs, len(codes) + 1))}",
            *codes,
            f"-gencode=arch=compute_{newest},code=compute_{newest}",
            *(flag if flag.startswith("-D") else f"-Xcompiler={flag}" for flag in host_flags),
        )


def find_nvcc() -> Nvcc:
    """Return the compiler of CUDA.

    Raises:
        BuildError: there is none.
    """
    on_path = shutil.which("nvcc")
    if on_path is not None:
        return Nvcc(path=on_path)
    for package in _WHEEL_PACKAGES:
        root = _package_folder(package)
        if root is not None and (root / "bin" / "nvcc").is_file():
            return Nvcc(path=str(root / "bin" / "nvcc"), root=root)
    raise BuildError("there is no nvcc: neither on the path nor in the wheels of NVIDIA", expected=NO_NVCC)


def libcuxx_folder() -> str | None:
    """Return the folder of the headers of libcu++ in the wheels of NVIDIA; None where they are not installed."""
    for package in _WHEEL_PACKAGES:
        root = _package_folder(package)
        if root is not None and (root / "include" / "cccl" / "cuda" / "atomic").is_file():
            return str(root / "include" / "cccl")
    return None


def _package_folder(package: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def nvcc_version(nvcc: Nvcc) -> str:
    """Return what a compiler of CUDA says of itself. Raises ``BuildError``."""
    said = call_tool((nvcc.path, "--version"), time_limit_s=_ASKING_SECONDS)
    lines = [line for line in said.text.splitlines() if line.startswith("Cuda compilation tools")]
    if said.code != 0 or not lines:
        raise BuildError(f"'{nvcc.path}' is no compiler of CUDA that dse knows", expected=NO_NVCC)
    return lines[0]


def architectures_of(text: str) -> tuple[int, ...]:
    """Return the architectures of a list such as ``75,86``. Raises ``OptionError``."""
    found = []
    for part in text.split(","):
        word = part.strip().removeprefix("sm_")
        if not word.isascii() or not word.isdigit() or len(word) > 3 or int(word) < LEAST_ARCHITECTURE:
            raise OptionError(
                f"'{part.strip()}' is no architecture of a GPU that dse builds for",
                expected=f"compute capabilities times 10, {LEAST_ARCHITECTURE} at least: 75,86",
            )
        found.append(int(word))
    return tuple(sorted(set(found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelResources:
    """What a kernel takes of a card, for one architecture, as ptxas says."""

    architecture: int
    registers: int
    stack_bytes: int
    shared_bytes: int
    spilled_bytes: int


def resources_in(text: str) -> tuple[KernelResources, ...]:
    """Return what ptxas has said of kernels, by architecture."""
    found, architecture, stack, spilled = [], 0, 0, 0
    for line in text.splitlines():
        entry, frame, used = _RESOURCES.search(line), _STACK.search(line), _USED.search(line)
        if entry is not None:
            architecture = int(entry["arch"])
        if frame is not None and architecture:
            stack, spilled = int(frame[1]), int(frame[2]) + int(frame[3])
        if used is not None and architecture:
            shared = _SHARED.search(used[2])
            found.append(
                KernelResources(
                    architecture=architecture,
                    registers=int(used[1]),
                    stack_bytes=stack,
                    shared_bytes=int(shared[1]) if shared else 0,
                    spilled_bytes=spilled,
                )
            )
            architecture = 0
    return tuple(sorted(found, key=lambda k: k.architecture))
