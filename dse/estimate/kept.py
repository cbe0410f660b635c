"""How kernels are compiled that only Python calls and that are kept: without what others would need to call them.

With the machine code of a function numba keeps its code for the optimiser, which a compiled caller would be given. To
read that takes a process longer than all else about a kernel, 40 ms for some thousand lines, at each start.
"""

from collections.abc import Callable
from typing import Any, Literal

from llvmlite import binding
from numba import njit
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler

from dse.base.kept_code import function_of, kept_by_sources


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


def kernel(
    signatures: list[str], *, nogil: bool = False, error_model: Literal["python", "numpy"] = "python"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a kernel for its signatures, or finds it kept; the options are numba's."""
    compiler = njit(signatures, cache=True, nogil=nogil, error_model=error_model, pipeline_class=Kernel)

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        found: Callable[..., Any] = compiler(kept_by_sources(function))
        return found

    return compiled
