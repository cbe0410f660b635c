"""Compiled functions as PTX, the assembly language of NVIDIA's cards: numba lowers them, LLVM writes them.

What numba makes of a function before anything is optimised names no processor but in its head. So the very functions
that run on a processor are handed to LLVM's other target; no second text of them exists.
"""

import functools
import re
from collections.abc import Callable

import llvmlite.binding as llvm
from numba import types

from benchmarks.gpu_batch.share_kernel import SHARES
from dse.estimate.compiled.burst import BurstKind

ENTRY = "dse_share"
"""The name of the kernel; its parameter is the address of the task, 8 bytes."""
_TRIPLE = "nvptx64-nvidia-cuda"
_NEWEST = 90
"""Cards newer than this compile its PTX themselves."""
_HEAD = re.compile(r"^target (?:datalayout|triple) = .*$", re.MULTILINE)
_REGISTERS = ("tid", "ntid", "ctaid", "nctaid")
_KERNEL = (
    "\n".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _REGISTERS)
    + """
declare i32 @"SHARE"(ptr, ptr, i64, i64, i64)

define ptx_kernel void @ENTRY(i64 %task) {
"""
    + "\n".join(f"  %{name} = call i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _REGISTERS)
    + """
  %before = mul i32 %ntid, %ctaid
  %own = add i32 %before, %tid
  %all = mul i32 %ntid, %nctaid
  %thread = zext i32 %own to i64
  %threads = zext i32 %all to i64
  %returned = alloca ptr
  %raised = alloca ptr
  %status = call i32 @"SHARE"(ptr %returned, ptr %raised, i64 %task, i64 %thread, i64 %threads)
  ret void
}
"""
)


@functools.cache
def share_ptx(kind: BurstKind, capability: int) -> str:
    """Return the kernel that makes points of a kind, for cards of a compute capability times 10."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(_TRIPLE)
    machine = target.create_target_machine(cpu=f"sm_{min(capability, _NEWEST)}", opt=3)
    name, text = _lowered(SHARES[kind])
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{_TRIPLE}"\n'
    module = llvm.parse_assembly(head + _HEAD.sub("", text))
    module.link_in(llvm.parse_assembly(head + _KERNEL.replace("SHARE", name).replace("ENTRY", ENTRY)))
    for found in (*module.functions, *module.global_variables):
        if not found.is_declaration and found.name != ENTRY:
            found.linkage = "internal"
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    return str(machine.emit_assembly(module))


def _lowered(function: Callable[..., None]) -> tuple[str, str]:
    """Return the name of an inner function of three integers in LLVM's language, and the module that has it."""
    signature = (types.int64, types.int64, types.int64)
    function.compile(signature)  # type: ignore[attr-defined]
    compiled = function.overloads[signature]  # type: ignore[attr-defined]
    return compiled.fndesc.llvm_func_name, str(compiled.library._final_module)
