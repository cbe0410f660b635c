"""How a function is compiled that calls others which are compiled already: without optimising these once more.

numba links what a function calls into it and optimises and generates all of it again, for each caller. For a generated
thread that is most of the work, and there is nothing to gain: what it calls has a loop over all threads of a batch.
"""

from collections.abc import Callable
from functools import cache

from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler

from dse.base.kept_code import function_of


@cache
def caller_of(names: tuple[str, ...]) -> type[Compiler]:
    """Return a class for ``njit(..., pipeline_class=...)``: functions of these names are called where they are.

    They have to be kept as long as the caller is (functions of modules are), and compiled with ``kept_by_sources``.
    """

    class Caller(Compiler):
        """Compiles a function into a library that leaves others where they are."""

        def compile_extra(self, func: Callable[..., object]) -> object:
            """Compile a function."""
            codegen = self.state.targetctx.codegen()
            self.state.library = _Calling(codegen, func.__qualname__, frozenset(names))
            return super().compile_extra(func)  # type: ignore[no-untyped-call]

    return Caller


class _Calling(JITCodeLibrary):
    """Code that calls other code by its symbol, which the engine of all code finds.

    The names are those of numba. Where a version of it has no such step, it links, which takes longer.
    """

    def __init__(self, codegen: object, name: str, elsewhere: frozenset[str]) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]
        self._elsewhere = elsewhere

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Link a library, unless it has one of the functions that stay where they are."""
        if function_of(library.name) in self._elsewhere:
            library._ensure_finalized()  # type: ignore[no-untyped-call]
            return
        super().add_linking_library(library)  # type: ignore[no-untyped-call]
