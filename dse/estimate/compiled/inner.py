"""How functions are compiled that only compiled functions call: not at all, until the kernel that calls them is.

numba optimises each function that it compiles together with all that it calls, and makes machine code of them. So a
kernel of a hundred functions, ten calls deep, spends most of its compilation on code that nobody runs. Here the inside
is handed on as it was lowered, and is optimised once, where it is linked into the kernel.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_REFUSAL = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value
"""What is run where Python calls a function that is only for kernels: it raises TypeError."""


class _NoEnvironments:
    """The code generator of a library whose functions have no address, so none that environments are written to.

    What the functions may need of Python (objects to print or raise) is not there in the process that compiles them.
    """

    def __init__(self, codegen: object) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> object:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: object) -> None:
        """Set nothing."""


class _Inside(JITCodeLibrary):
    """Code that is linked into other code and never run by itself.

    The names are those of numba. Where a version of it has no such steps, it takes its own, and longer.
    """

    @property
    def codegen(self) -> _NoEnvironments:
        """Return the generator, without environments."""
        return _NoEnvironments(self._codegen)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave them to the kernel here too, but for where things lie in memory."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Leave the functions as they were lowered, with what they call beside them."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int | None:  # noqa: ARG002  numba's name for it
        """Return what Python runs if it calls the function."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return _REFUSAL


class Inner(Compiler):
    """For ``njit(..., pipeline_class=Inner)``: what is compiled with it can be called by compiled functions only."""

    def compile_extra(self, func: Callable[..., object]) -> object:
        """Compile a function into a library that is for linking."""
        self.state.library = _Inside(self.state.targetctx.codegen(), func.__qualname__)  # type: ignore[no-untyped-call]
        return super().compile_extra(func)  # type: ignore[no-untyped-call]


inner = njit(error_model="numpy", forceinline=False, pipeline_class=Inner)
"""Compiles what only a kernel calls, and nothing in Python: it may not raise.

That it is not always inlined has to be said: else numba hands that on from an ``inlined`` function to all that it
calls. So the general kernel was of 78,000 instructions, and most of its compilation for what hardly a firing comes to.
"""
inlined = njit(error_model="numpy", forceinline=True, pipeline_class=Inner)
"""The same for what most firings pass through."""
