"""The C++ project of a network as files: what they hold, and putting them into a folder that may hold an older one.

::

    DIR/CMakeLists.txt   DIR/manifest.json   DIR/app
    DIR/src/network.cpp  DIR/src/actors/NAME.cpp  DIR/src/natives/FILE.cpp  DIR/runtime/dse/...

A folder is ours where its ``manifest.json`` says so; only files that the manifest names are ever replaced or deleted,
and only as long as they are as they were written.
"""

import contextlib
import functools
import json
from dataclasses import dataclass
from pathlib import Path

from dse.base.digests import file_digest, text_digest
from dse.base.errors import OptionError
from dse.base.files import write_whole
from dse.base.source import Span

APP = "app"
"""Name of the program in its folder."""
MANIFEST = "manifest.json"
KIND = "native program of dse"
"""How a manifest says that a folder is ours."""
RUNTIME = "runtime"
COLD = "-Og"
"""How what is cold is optimized: it compiles a fifth sooner than with ``-O1``."""
MEANING = ("-ffp-contract=off", "-fno-finite-loops", "-fno-tree-vectorize")
"""Flags that every build needs: a network rounds as Python does, operation by operation, and may have loops without
end. g++ 12 makes wrong code where it vectorizes loops (tests/native/same/test_sums.py), so nothing is vectorized."""
EMULATION_FOLDERS = ("emulation", "emulation_atomic")
"""Folders of a project with the headers that stand for those of CUDA: its runtime; atomics, which libcu++ has too."""
_RUNTIME_SOURCE = Path(__file__).parent / "runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """One file that is compiled. ``path``: below the folder; ``spans[k]``: where line k + 1 comes from, if known.

    ``cold``: what it holds runs seldom, so that it is optimized less and compiled sooner. ``foreign``: somebody else
    wrote it, so that warnings about it are no errors. ``device``: it is device code. ``prelude``: a header of the lines
    that it includes and many units do (``dse.native.prelude``); empty: there are none. ``untimed``: it is the same in
    the profiler's program, which finds the object of the plain one.
    """

    path: str
    text: str
    spans: tuple[Span, ...] = ()
    cold: bool = False
    foreign: bool = False
    device: bool = False
    prelude: str = ""
    untimed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All sources of one program. ``headers``: (path below ``runtime``, text)."""

    name: str
    units: tuple[SourceUnit, ...]
    headers: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...] = ()
    """(path below the folder, text) of further headers: those that stand for CUDA's."""

    def files(self) -> dict[str, str]:
        """Return the text of each source file by its path."""
        sources = {unit.path: unit.text for unit in self.units}
        return sources | {f"{RUNTIME}/{path}": text for path, text in self.headers} | dict(self.others)


@functools.cache
def runtime_headers() -> tuple[tuple[str, str], ...]:
    """Return the headers that every program gets: (path below ``runtime``, text), in the order of their paths."""
    paths = sorted((_RUNTIME_SOURCE / "dse").rglob("*.hpp"))
    return tuple((path.relative_to(_RUNTIME_SOURCE).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


@functools.cache
def emulation_headers() -> tuple[tuple[str, str], ...]:
    """Return the headers that stand for those of CUDA: (path below the folder of a project, text)."""
    paths = [p for name in EMULATION_FOLDERS for p in sorted((_RUNTIME_SOURCE / name).rglob("*")) if p.is_file()]
    return tuple((p.relative_to(_RUNTIME_SOURCE).as_posix(), p.read_text(encoding="utf-8")) for p in paths)


def cmake_text(project: Project) -> str:
    """Return the ``CMakeLists.txt`` with which a user builds the project again."""
    sources = "\n".join(f"  {_cmake_word(unit.path)}" for unit in project.units)
    cold = " ".join(_cmake_word(unit.path) for unit in project.units if unit.cold)
    device = "".join(_cmake_device(unit.path) for unit in project.units if unit.device)
    less = f"set_source_files_properties({cold} PROPERTIES COMPILE_OPTIONS {COLD})\n" if cold else ""
    return f"""\
# Builds the same program as `dse build` has put beside this file:
#   cmake -B build && cmake --build build --parallel    (then: build/{APP} --help)
cmake_minimum_required(VERSION 3.16)
project({_cmake_name(project.name)} LANGUAGES CXX)

option(DSE_MARCH_NATIVE "Use all instructions of this machine; the program may not run on another one" OFF)
set(DSE_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
find_package(Threads REQUIRED)

{device}add_executable({APP}
{sources}
)
target_compile_features({APP} PRIVATE cxx_std_20)
set_target_properties({APP} PROPERTIES CXX_EXTENSIONS OFF)
target_include_directories({APP} PRIVATE {RUNTIME})
target_compile_options({APP} PRIVATE {_cmake_flags(project)})
target_link_libraries({APP} PRIVATE Threads::Threads)
{less}if(DSE_MARCH_NATIVE)
  target_compile_options({APP} PRIVATE -march=native)
endif()
if(DSE_SANITIZE)
  target_compile_options({APP} PRIVATE -g -fsanitize=${{DSE_SANITIZE}} -fno-sanitize-recover=all)
  target_link_options({APP} PRIVATE -fsanitize=${{DSE_SANITIZE}})
endif()
"""


def _cmake_flags(project: Project) -> str:
    flags = ("-Wall", "-Wextra", *MEANING)
    if any(unit.device for unit in project.units):
        return f'"$<$<COMPILE_LANGUAGE:CXX>:{";".join(flags)}>"'
    return " ".join(flags)


def _cmake_device(path: str) -> str:
    """Return the lines for a file of device code: by the compiler of CUDA, or for an emulated GPU."""
    word, (runtime, atomics) = _cmake_word(path), EMULATION_FOLDERS
    return f"""\
option(DSE_EMULATED_GPU "Let threads of the processor stand for those of a GPU" OFF)
if(DSE_EMULATED_GPU)
  set_source_files_properties({word} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  include_directories({runtime} {atomics})
else()
  set(CMAKE_CUDA_ARCHITECTURES 75 80 86 89 90 CACHE STRING "Cards, by compute capability times 10")
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set_source_files_properties({word} PROPERTIES COMPILE_OPTIONS "-std=c++20;--expt-relaxed-constexpr;--fmad=false")
endif()

"""


def _cmake_name(name: str) -> str:
    """Return a name that CMake takes for a project, whatever the network is called."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)
    return f"network_{plain}" if not plain[:1].isalpha() else plain


def _cmake_word(path: str) -> str:
    """Return a path as one quoted word of CMake, which takes it as it is: users name files as they like."""
    for special in ("\\", '"', "$"):
        path = path.replace(special, f"\\{special}")
    return f'"{path}"'


def check_folder(folder: Path) -> dict[str, str]:
    """Return the digests of the files that an earlier build has written into a folder, by path; empty where none has.

    Raises:
        OptionError: the folder holds something else, or a file of the earlier build was changed since.
    """
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise OptionError(f"'{folder}' is no folder", expected="name another with -o")
    if not any(folder.iterdir()):
        return {}
    ours = _earlier_files(folder / MANIFEST)
    if ours is None:
        raise OptionError(
            f"the folder '{folder}' holds something else than a native program of dse",
            expected="name an empty folder, or one that 'dse build' has made, with -o",
        )
    for path, digest in ours.items():
        if path == APP:  # built again at will, by CMake too
            continue
        with contextlib.suppress(OSError):
            if file_digest(folder / path) != digest:
                raise OptionError(
                    f"'{folder / path}' was changed since dse wrote it",
                    expected="move it away to keep it, or name another folder with -o",
                )
    return ours


def _earlier_files(manifest: Path) -> dict[str, str] | None:
    """Return what a manifest says of the files, or None where it is none of ours."""
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("kind") != KIND or not isinstance(document.get("files"), dict):
        return None
    return {path: str(digest) for path, digest in document["files"].items() if _is_inside(path)}


def _is_inside(path: str) -> bool:
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def write_sources(project: Project, folder: Path, earlier: dict[str, str]) -> dict[str, str]:
    """Write the sources into a folder, and delete those of ``earlier`` that are no part of it; return their digests.

    A file that would not change is left alone, so that its time says when it last did.

    Raises:
        OSError: a file cannot be written.
    """
    files = {**project.files(), "CMakeLists.txt": cmake_text(project)}
    digests = {path: text_digest(text) for path, text in files.items()}
    for path, text in files.items():
        target = folder / path
        if earlier.get(path) != digests[path] or not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, text.encode("utf-8", "surrogateescape"))
    for path in earlier.keys() - digests.keys() - {APP}:
        (folder / path).unlink(missing_ok=True)
    return digests
