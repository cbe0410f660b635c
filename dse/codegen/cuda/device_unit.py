"""The file of device code: the classes of all actors that may run on a GPU, and the kernel.

One file, since a kernel that calls functions of other files would need a linker of device code, and the compiler could
not bring a whole group into one function. Both the compiler of CUDA and, against the headers of the emulation, that of
the processor take it as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.source import NO_SPAN, Span
from dse.codegen.cpp.actor_unit import ActorUnit
from dse.codegen.cpp.spelling import comment_text
from dse.codegen.cpp.target import WARNINGS
from dse.program.network import Network

PROGRAM = "dse_device_program"
"""The function by which the tables of the network find the device code."""
_HEAD = """\
#define DSE_ON_DEVICE
#include "dse/device/kernel.hpp"

#ifndef __CUDACC__
{warnings}#else
#pragma nv_diag_suppress 128, 177, 186, 550, 940
#endif

namespace device_actors {{

using namespace dse::on_device;
using namespace dse::device;
"""
_END = """\
}}  // namespace device_actors

namespace {{

struct Classes {{
  __device__ static void serve(int unit, dse::device::Call& call) {{
    switch (unit) {{
{cases}
    }}
  }}
}};

__global__ void {kernel}(dse::device::Plan* plan) {{ dse::device::run_block<Classes>(plan); }}

}}  // namespace

#include "dse/device/cuda_gpu.hpp"

const dse::device::Program& {program}();
const dse::device::Program& {program}() {{
  static const dse::device::Unit units[] = {{
{units}
  }};
  static const dse::device::Program program = {{
    units, []() -> dse::device::Gpu* {{ return new dse::device::CudaGpu({kernel}); }}}};
  return program;
}}
"""
KERNEL = "run_actors"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceUnit:
    """The file of device code. ``spans[k]`` is where line k + 1 of ``text`` stems from."""

    text: str
    spans: tuple[Span, ...]


def device_unit(network: Network, units: Sequence[ActorUnit]) -> DeviceUnit:
    """Return the file for some classes, of which there is at least one; a class is known by its place."""
    title = comment_text(f"Device code of the network {network.name}, written by dse from {network.path}.")
    lines = f"// {title}\n{_HEAD.format(warnings=WARNINGS)}".split("\n")
    spans = [NO_SPAN] * len(lines)
    for unit in units:
        lines += unit.text.rstrip("\n").split("\n")
        spans += unit.spans
        lines.append("")
        spans.append(NO_SPAN)
    names = [f"device_actors::of_{unit.name}::{unit.name}" for unit in units]
    end = _END.format(
        cases="\n".join(
            f"      case {k}:\n        dse::device::serve<{name}>(call);\n        break;"
            for k, name in enumerate(names)
        ),
        units="\n".join(f"    {{sizeof({name}), {name}::has_lanes}}," for name in names),
        kernel=KERNEL,
        program=PROGRAM,
    )
    tail = end.split("\n")
    return DeviceUnit(text="\n".join([*lines, *tail]), spans=(*spans, *([NO_SPAN] * len(tail))))
