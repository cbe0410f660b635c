"""How kernels are compiled that only Python calls and that are kept: without what others would need to call them.

With the machine code of a function numba keeps its code for the optimiser, which a compiled caller would be given. To
read that takes a process longer than all else about a kernel, 40 ms for some thousand lines, at each start. And before
it reads what is kept numba imports all that it can compile, which machine code has no need of: a fifth of what a short
estimate takes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numba
from llvmlite import binding
from numba import config, njit
from numba.core.caching import FunctionCache
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys

from dse.base.kept_code import function_of, kept_by_sources

TRIED = range(60, 69)
"""Minor versions of numba (0.60 and so on)."""


class _Alone(JITCodeLibrary):
    """Code that is kept with nothing but its names for whoever would link it.

    The names of the methods are those of numba. Where a version of it has no such steps, it keeps all.
    """

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return what is kept: name, kind, machine code, and a module that has the names only."""
        name, kind, (machine_code, code) = super().serialize_using_object_code()  # type: ignore[no-untyped-call]
        return name, kind, (machine_code, names_alone(code))

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Link a library. Raises TypeError for a kernel: one that was kept cannot be linked."""
        if function_of(library.name) is not None:
            raise TypeError(f"{self.name} calls {library.name}, a kernel, which only Python may call")
        super().add_linking_library(library)  # type: ignore[no-untyped-call]


def names_alone(code: bytes) -> bytes:
    """Return the bitcode of a module that defines what another one defines, and traps where it is run."""
    module = binding.parse_bitcode(code)
    functions = [
        f'define void @"{one.name}"() noinline {{ call void @llvm.trap() unreachable }}'
        for one in defined(module.functions)
    ]
    variables = [f'@"{one.name}" = global i8 0' for one in defined(module.global_variables)]
    text = "\n".join(["declare void @llvm.trap()", *variables, *functions])
    bitcode: bytes = binding.parse_assembly(text).as_bitcode()
    return bitcode


def defined(values: Any) -> list[Any]:
    """Return those values of a module that it defines."""
    return [one for one in values if not one.is_declaration]


class Kernel(Compiler):
    """For ``njit(..., cache=True, pipeline_class=Kernel)``: what is compiled with it can be called by Python only."""

    def compile_extra(self, func: Callable[..., object]) -> object:
        """Compile a function into a library that is kept alone."""
        self.state.library = _Alone(self.state.targetctx.codegen(), func.__qualname__)  # type: ignore[no-untyped-call]
        self.state.library.enable_object_caching()
        return super().compile_extra(func)  # type: ignore[no-untyped-call]


class KeptCode(FunctionCache):
    """Finds machine code that was kept, and readies no more of numba than running it takes.

    A kernel that is not kept is compiled: for that numba readies the rest by itself.
    """

    def load_overload(self, sig: object, target_context: Any) -> object:
        """Return what was compiled for a signature, None where nothing is kept."""
        if not loads_alone(numba.__version__):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def loads_alone(version: str) -> bool:
    """Return whether a version of numba was seen to run kept kernels that were loaded without the rest of it."""
    major, minor = version.split(".")[:2]
    return major == "0" and minor.isdigit() and int(minor) in TRIED


def kernel(
    signatures: list[str], *, nogil: bool = False, error_model: Literal["python", "numpy"] = "python"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a kernel for its signatures, or finds it kept; the options are numba's."""
    compiler = njit(nogil=nogil, error_model=error_model, pipeline_class=Kernel)

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        made = compiler(kept_by_sources(function))
        return _of_signatures(made, signatures) if isinstance(made, Dispatcher) else made

    return compiled


@contextmanager
def loops_as_they_are() -> Iterator[None]:
    """Have numba look for no vectors in loops: kernels have none to gain, and the look is a tenth of compiling them."""
    of_numba: Any = config
    before = of_numba.LOOP_VECTORIZE
    of_numba.LOOP_VECTORIZE = 0
    try:
        yield
    finally:
        of_numba.LOOP_VECTORIZE = before


def _of_signatures(made: Any, signatures: list[str]) -> Callable[..., Any]:
    """Compile a function for signatures, or find it kept, and for no others."""
    made._cache = KeptCode(made.py_func)  # type: ignore[no-untyped-call]
    with loops_as_they_are():
        for signature in signatures:
            made.compile(signature)
    made.disable_compile()
    found: Callable[..., Any] = made
    return found
