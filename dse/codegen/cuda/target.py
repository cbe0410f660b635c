"""The table of CUDA: what stands around an actor's class in the file of device code."""

from dse.codegen.cpp.target import Target

GPU = Target(
    name="CUDA",
    function="DSE_FN ",
    procedure="DSE_APART ",
    loop="DSE_LOOP ",
    table="__device__ ",
    override="",
    waits="Waits&",
    called=False,
    grows=False,
    lanes=True,
    head="""\
namespace of_{name} {{
""",
    end="""\

}}  // namespace of_{name}
""",
)
"""One of the classes in the file of device code; see ``device_unit``."""
