"""Building a project: every unit to an object, several at once, and the objects to a program.

Objects are kept (``dse/native/cache.py``) by the digest of their text, of the runtime headers that it includes, of the
flags and of the compiler; so a changed actor costs one compilation, and a second build of the same network none.
Headers that many files include are precompiled (``dse/native/prelude.py``).
"""

import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.caches import digest_of
from dse.base.cores import usable_cores
from dse.base.errors import BuildError
from dse.base.files import whole_file, write_whole
from dse.base.source import NO_SPAN, Span
from dse.native.cache import FileCache
from dse.native.cuda import DeviceBuild, KernelResources, resources_in
from dse.native.prelude import FEWEST_UNITS, has_prelude, kept_preludes, preludes_of
from dse.native.process import signal_name
from dse.native.project import COLD, MEANING, RUNTIME, Project, SourceUnit
from dse.native.toolchain import Compiler, RunningTools, ToolResult, call_tool, is_gcc, native_target, quick_flags

SANITIZERS = ("address", "undefined", "thread")
COMPILE_SECONDS = 1800.0
"""A compiler that takes longer for one file hangs."""
_STANDARD = ("-std=c++20", "-Wall", "-Wextra", "-Werror", *MEANING, "-pthread")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_FIRST_ERROR = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)
_RUNNABLE = 0o755
NO_PRELUDES: Mapping[str, int] = {}
_UNDEFINED = re.compile(r"undefined (?:reference|symbol).*")
_LIBRARY = re.compile(r"undefined (?:reference|symbol).*\b(?:std::|__cxa_|__cxxabiv1)")
_LINKER_FAILED = re.compile(r"(?:collect2|clang[\w+-]*): error: (?:ld returned|linker command failed)")
_FULL = "No space left on device"
_TOO_LARGE = re.compile(r"File (?:size limit exceeded|too large)")
_KILLED = re.compile(r"Killed signal|signal 9\b|: Killed")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How to build. ``sanitize``: of ``SANITIZERS``; ``timed``: with the profiler's clock readings in the program.

    ``jobs``: compilers at once, None: one a core. ``background``: giving way to other work. ``device``: how device code
    is compiled; None: the program has none.
    """

    march_native: bool = False
    sanitize: tuple[str, ...] = ()
    timed: bool = False
    jobs: int | None = None
    background: bool = False
    device: DeviceBuild | None = None

    def portable_flags(self, compiler: Compiler) -> tuple[str, ...]:
        """Return the flags of all calls with which a compiler makes portable code: that of zig does not by itself."""
        return ("-mcpu=baseline",) if compiler.zig and not self.march_native else ()

    def target(self, compiler: Compiler) -> tuple[str, ...]:
        """Return what, besides flags, the instructions depend on: a cache may move to another machine.

        Raises:
            BuildError: the compiler does not tell.
        """
        return (native_target(compiler),) if self.march_native else ()

    def flags_of(self, unit: SourceUnit) -> tuple[str, ...]:
        """Return the flags with which a unit is compiled."""
        emulated = self.device.emulated_flags() if unit.device and self.device is not None else ()
        cold = (COLD,) if unit.cold or emulated else ()
        flags = replace(self, timed=False).flags if unit.untimed else self.flags
        return (*flags, *cold, *(("-Wno-error",) if unit.foreign else ()), *emulated)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of every compilation."""
        careful = (COLD, "-g1", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all")
        optimize = careful if self.sanitize else ("-O2", "-g0")
        return (
            *_STANDARD,
            *optimize,
            *self._common,
            *(("-march=native",) if self.march_native else ()),
            *(("-DDSE_TIMED",) if self.timed else ()),
        )

    @property
    def link_flags(self) -> tuple[str, ...]:
        """The flags of linking."""
        return ("-pthread", *self._common)

    @property
    def libraries(self) -> tuple[str, ...]:
        """What stands behind the objects in a call that links them."""
        return () if self.device is None else self.device.link_flags

    @property
    def host_flags(self) -> tuple[str, ...]:
        """The flags of the compiler of the processor, where nvcc calls it."""
        return tuple(flag for flag in self.flags if not flag.startswith(("-std=", "-W", "-O")))

    @property
    def _common(self) -> tuple[str, ...]:
        return (f"-fsanitize={','.join(self.sanitize)}",) if self.sanitize else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildCounts:
    """What a build did: units that were compiled, and those whose objects were kept from before.

    ``kernels``: what the kernel takes of a card, by architecture, where nvcc compiled it.
    """

    compiled: int
    reused: int
    kernels: tuple[KernelResources, ...] = ()


def object_key(unit: SourceUnit, headers: dict[str, str], compiler: Compiler, options: BuildOptions) -> str:
    """Return the digest of all that the object of a unit depends on."""
    used = included_headers(unit.text, headers)
    flags = (*options.portable_flags(compiler), *options.target(compiler), *options.flags_of(unit))
    if unit.device and options.device is not None:
        flags = (*flags, *options.device.words)
    return digest_of(compiler.identity, *flags, unit.path, unit.text, *(part for h in used for part in (h, headers[h])))


def prelude_key(text: str, headers: dict[str, str], compiler: Compiler, options: BuildOptions) -> str:
    """Return the digest of all that a precompiled prelude depends on: that of a file of its lines."""
    return object_key(SourceUnit(path="prelude.hpp", text=text), headers, compiler, options)


def included_headers(text: str, headers: dict[str, str]) -> list[str]:
    """Return the headers of ``headers`` (text by name) that a text includes, directly or by others, sorted."""
    found: set[str] = set()
    pending = [text]
    while pending:
        for name in included_names(pending.pop()):
            if name in headers and name not in found:
                found.add(name)
                pending.append(headers[name])
    return sorted(found)


def included_names(text: str) -> list[str]:
    """Return the names between the quotes of the includes of a text."""
    return _INCLUDE.findall(text)


def compiled_size(unit: SourceUnit, headers: dict[str, str]) -> int:
    """Return the characters that a compiler reads for a unit, without headers of the system."""
    return len(unit.text) + sum(len(headers[name]) for name in included_headers(unit.text, headers))


def missing_objects(project: Project, compiler: Compiler, options: BuildOptions) -> list[SourceUnit]:
    """Return the units for which no object is kept: what a build would have to compile."""
    cache, headers = FileCache("objects", ".o"), dict(project.headers)
    return [u for u in project.units if cache.get(object_key(u, headers, compiler, options)) is None]


def build_program(
    project: Project,
    folder: Path,
    app: Path,
    compiler: Compiler,
    options: BuildOptions,
    *,
    log: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    tools: RunningTools | None = None,
) -> BuildCounts:
    """Compile the sources of a project, which are in ``folder``, and link them to ``app``.

    ``log`` gets all that the compiler says if it fails; None: a file in the folder of the caches. ``progress`` hears
    how many units of how many are done.
    ``tools``: by whose ``end`` another thread stops the build.

    Raises:
        BuildError: the compiler cannot be started, or fails; the message holds its first error. OSError: disk full.
    """
    live = tools or RunningTools(background=options.background)
    with tempfile.TemporaryDirectory(prefix="dse-build-") as work:
        step = _Compilation(project, folder, Path(work), compiler, options, log, live)
        try:
            objects, counts = step.compile_all(progress)
            step.link(objects, app)
        except BaseException:  # an interrupt too: no compiler is to go on alone
            live.end()
            raise
    return counts


def build_objects(
    project: Project, folder: Path, compiler: Compiler, options: BuildOptions, *, preludes: Sequence[str] = ()
) -> BuildCounts:
    """Compile the sources of a project, which are in ``folder``, for builds to come, and preludes.

    Raises: as ``build_program``.
    """
    live = RunningTools(background=options.background)
    with tempfile.TemporaryDirectory(prefix="dse-build-") as work:
        step = _Compilation(project, folder, Path(work), compiler, options, None, live)
        wanted = dict.fromkeys(preludes if is_gcc(compiler) else (), FEWEST_UNITS)
        return step.compile_all(lambda _done, _all: None, wanted)[1]


class _Compilation:
    """One build: where its pieces are."""

    def __init__(
        self,
        project: Project,
        folder: Path,
        work: Path,
        compiler: Compiler,
        options: BuildOptions,
        log: Path | None,
        live: RunningTools,
    ) -> None:
        self._project = project
        self._folder = folder
        self._work = work
        self._compiler = compiler
        self._options = options
        self._jobs = options.jobs or len(usable_cores())
        self._log = log or _general_log()
        self._live = live
        self._cache = FileCache("objects", ".o")
        self._said = FileCache("objects", ".said")
        self._preludes = kept_preludes()
        self._preludes_serve = True
        self._kernels: tuple[KernelResources, ...] = ()
        self._headers = dict(project.headers)
        self._lock = threading.Lock()
        self._failure: BuildError | None = None

    def compile_all(
        self, progress: Callable[[int, int], None], wanted: Mapping[str, int] = NO_PRELUDES
    ) -> tuple[list[Path], BuildCounts]:
        """Return the objects in the order of the units. ``wanted``: preludes to make, beside those of the units."""
        units = self._project.units
        keys = {u.path: object_key(u, self._headers, self._compiler, self._options) for u in units}
        objects = {u.path: path for u in units if (path := self._kept_of(u, keys[u.path])) is not None}
        # The largest first: the last one to end should be short.
        todo = sorted((u for u in units if u.path not in objects), key=lambda u: -compiled_size(u, self._headers))
        done = len(objects)

        def heard(unit: SourceUnit, path: Path) -> None:
            objects[unit.path] = path
            progress(len(objects), len(units))

        self._compile_missing(todo, keys, {**preludes_of(todo, self._compiler), **wanted}, heard)
        counts = BuildCounts(compiled=len(todo), reused=done, kernels=self._kernels)
        return [objects[u.path] for u in units], counts

    def _compile_missing(
        self,
        todo: Sequence[SourceUnit],
        keys: Mapping[str, str],
        shared: Mapping[str, int],
        heard: Callable[[SourceUnit, Path], None],
    ) -> None:
        """Compile units, several at once, and tell each with its object, in their order.

        ``shared``: the preludes, and how many units have each.
        """
        with ThreadPoolExecutor(max_workers=max(1, min(self._jobs, len(todo) + len(shared)))) as pool:
            try:
                preludes = {text: self._prelude(text, uses, pool) for text, uses in shared.items()}
                for unit, path in pool.map(lambda u: self._compile(u, keys[u.path], preludes.get(u.prelude)), todo):
                    heard(unit, path)
                for prelude in preludes.values():
                    prelude.result()
            except BaseException:  # before the pool waits for what is queued
                self._live.end()
                raise

    def _kept_of(self, unit: SourceUnit, key: str) -> Path | None:
        """Return the kept object of a unit; of device code only with what nvcc has said of it."""
        if not self._is_for_nvcc(unit):
            return self._kept(key)
        said = self._said.get(key)
        if said is None:
            return None
        self._kernels = resources_in(said.read_text(encoding="utf-8", errors="replace"))
        return self._kept(key)

    def _is_for_nvcc(self, unit: SourceUnit) -> bool:
        return unit.device and self._options.device is not None and self._options.device.nvcc is not None

    def _kept(self, key: str) -> Path | None:
        """Return a kept object, under a name of this build: another one may delete it from the cache meanwhile."""
        own = self._work / f"{key}.o"
        return own if own.exists() or self._cache.take(key, own) else None

    def _prelude(self, text: str, uses: int, pool: ThreadPoolExecutor) -> Future[Path | None]:
        """Return a header that is precompiled beside its file, or soon is; None where that does not pay."""
        key = prelude_key(text, self._headers, self._compiler, self._options)
        header, found = self._work / f"{key}.hpp", Future[Path | None]()
        write_whole(header, text)
        if self._preludes.take(key, header.with_suffix(".hpp.gch")):
            found.set_result(header)
        elif uses < FEWEST_UNITS:
            found.set_result(None)
        else:
            return pool.submit(self._made_prelude, key, header)
        return found

    def _made_prelude(self, key: str, header: Path) -> Path | None:
        """Precompile a header; return it, None where that fails."""
        made = header.with_suffix(".hpp.gch")
        command = (*self._compiler.command, *self._options.portable_flags(self._compiler), *self._options.flags)
        files = ("-I", RUNTIME, "-x", "c++-header", str(header), "-o", str(made))
        if not self._can_make((*command, *quick_flags(self._compiler), *files), made):
            return None
        self._preludes.put(key, made)
        return header

    def _is_made_with(self, header: Path | None, command: Sequence[str], files: Sequence[str], made: Path) -> bool:
        """Compile with a prelude; return whether that went well. If once not, no other file is tried with one."""
        if header is None or not self._preludes_serve:
            return False
        is_made = self._can_make((*command, "-include", str(header), *files), made)
        self._preludes_serve &= is_made
        return is_made

    def _can_make(self, command: tuple[str, ...], made: Path) -> bool:
        """Call a compiler that may fail; return whether it has written ``made``."""
        return self._called(command).code == 0 and made.is_file()

    def _compile(self, unit: SourceUnit, key: str, prelude: Future[Path | None] | None) -> tuple[SourceUnit, Path]:
        made = self._work / f"{key}.o"
        files = ("-I", RUNTIME, "-c", unit.path, "-o", str(made))
        device = self._options.device
        if device is not None and self._is_for_nvcc(unit):
            command = device.nvcc_command(self._compiler, self._options.host_flags, self._jobs)
            text = self._call((*command, *files), unit, made)
            write_whole(made.with_suffix(".said"), text)
            self._said.put(key, made.with_suffix(".said"))
            self._kernels = resources_in(text)
        else:
            command = (*self._compiler.command, *self._options.portable_flags(self._compiler))
            flags = (*self._options.flags_of(unit), *quick_flags(self._compiler))
            header = prelude.result() if prelude is not None and has_prelude(unit) and prelude.done() else None
            if not self._is_made_with(header, (*command, *flags), files, made):
                self._call((*command, *flags, *files), unit, made)  # it says what is wrong without the prelude
        self._cache.put(key, made)
        return unit, made

    def link(self, objects: list[Path], app: Path) -> None:
        """Link the objects to the program."""
        made = self._work / "app"
        listed = self._work / "objects"
        write_whole(listed, "".join(f'"{path}"\n' for path in objects))
        command = (*self._compiler.command, *self._options.portable_flags(self._compiler), *self._options.link_flags)
        self._call((*command, f"@{listed}", "-o", str(made), *self._options.libraries), None, made)
        app.parent.mkdir(parents=True, exist_ok=True)
        place_program(made, app)

    def _call(self, command: tuple[str, ...], unit: SourceUnit | None, made: Path) -> str:
        """Call a compiler that is to write ``made``; return what it said."""
        result = self._called(command)
        self._go_on()
        if result.code != 0 or not made.is_file():
            with self._lock:
                if self._failure is None:  # those that are ended after it fail too
                    self._failure = self._failed(command, result.code, result.text, unit)
            self._live.end()
            raise self._failure
        return result.text

    def _called(self, command: tuple[str, ...]) -> ToolResult:
        """Call a compiler in the folder of the sources, if nothing has ended the build."""
        self._go_on()
        return call_tool(
            command, folder=self._folder, scratch=self._work, time_limit_s=COMPILE_SECONDS, among=self._live
        )

    def _go_on(self) -> None:
        """Raise what has ended the build, if anything has."""
        if self._live.ended:
            raise self._failure or BuildError("the build was ended")

    def _failed(self, command: tuple[str, ...], code: int, text: str, unit: SourceUnit | None) -> BuildError:
        """Return the error that says where and why the compiler failed, and where all that it said is."""
        where = "linking" if unit is None else f"compiling {unit.path}"
        if _FULL in text:
            return BuildError("the disk is full: the compiler cannot write what it makes", expected="make room")
        if _TOO_LARGE.search(text) or code == -signal.SIGXFSZ:
            return BuildError(
                f"the compiler failed, {where}: what it makes is larger than files may be", expected="see 'ulimit -f'"
            )
        found = _FIRST_ERROR.search(text)
        what, span = (_said(text, code), NO_SPAN) if found is None else _what_failed(found, self._project.units)
        hints = (_hint(text, code), self._log_written(command, text))
        return BuildError(
            f"the compiler failed, {where}: {what}", span=span, expected="; ".join(hint for hint in hints if hint)
        )

    def _log_written(self, command: tuple[str, ...], text: str) -> str:
        """Write down all that the compiler said; return in words where it is."""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._log, f"{' '.join(command)}\n{text}")
        except OSError:
            return "what it said could not be written to a file"
        return f"all that it said is in '{self._log}'"


def _what_failed(found: re.Match[str], units: tuple[SourceUnit, ...]) -> tuple[str, Span]:
    """Return the first error of the compiler, and the place in the CAL source where the line comes from."""
    path, line = found["path"], int(found["line"])
    unit = next((u for u in units if u.path == path), None)
    span = unit.spans[line - 1] if unit is not None and 0 < line <= len(unit.spans) else NO_SPAN
    return f"{found['what']} ({path}:{line})", span


def _said(text: str, code: int) -> str:
    """Return what a compiler said that names no line of a file: a missing symbol, its first error, or its last line."""
    undefined = _UNDEFINED.search(text)
    if undefined is not None:
        return undefined[0]
    said = [line.strip() for line in text.splitlines() if line.strip() and not _LINKER_FAILED.match(line)]
    told = next((line for line in said if "error: " in line), said[-1] if said else "")
    return f"{told} ({_ended(code)})" if told else _ended(code)


def _ended(code: int) -> str:
    if code == 0:
        return "it ended as if all were well, but wrote nothing"
    return f"it ended with code {code}" if code > 0 else f"it was ended by {signal_name(-code)}"


def _hint(text: str, code: int) -> str:
    """Return what to do about a failure that users can do something about."""
    if _LIBRARY.search(text):
        return "a C++ compiler is needed, such as g++, by --compiler or CXX"
    if code == -signal.SIGKILL or _KILLED.search(text):
        return "the memory may be too small for several compilers at once: 'dse build --jobs 1'"
    return ""


def _general_log() -> Path:
    """Return where a compiler that fails in a build without a folder of its own leaves what it said."""
    folder = FileCache("programs").folder
    return (folder.parent if folder is not None else Path(tempfile.gettempdir())) / "dse-build.log"


def place_program(made: Path, app: Path) -> None:
    """Copy a program to its place, whole or not at all, so that one that runs goes on undisturbed."""
    with whole_file(app) as target, made.open("rb") as source:
        shutil.copyfileobj(source, target)
        os.fchmod(target.fileno(), _RUNNABLE)
    app.chmod(_RUNNABLE)  # one that was there before has kept its rights
