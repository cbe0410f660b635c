"""Addresses as pointers in compiled functions."""

from numba import config, types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from dse.base.errors import OptionError

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # here, since what follows has no form in Python
    raise OptionError(
        "NUMBA_DISABLE_JIT is set, and dse estimates with compiled code only", expected="unset it in the environment"
    )


class StillMemory(types.CPointer):
    """The memory of a run in which nothing travels, no firing has costs of its own, and no times are kept."""

    def __init__(self, name: str = "StillMemory") -> None:
        super().__init__(types.int64)
        self.name = name


class PlainMemory(StillMemory):
    """That of a run that also has no links and no blocks of firings."""

    def __init__(self) -> None:
        super().__init__("PlainMemory")


class TravellingBench(types.CPointer):
    """The bench of a burst run (``burst_layout``) in which tokens, or room too, take time to another core."""

    def __init__(self) -> None:
        super().__init__(types.int64)
        self.name = "TravellingBench"


class LinkedBench(types.CPointer):
    """The bench of a burst run in which transfers ask shared links."""

    def __init__(self) -> None:
        super().__init__(types.int64)
        self.name = "LinkedBench"


for _kind in (StillMemory, PlainMemory, TravellingBench, LinkedBench):
    register_model(_kind)(models.PointerModel)


def _is_of(kind):
    """Return a function of the kernel that tells whether a memory is of a kind.

    It is known when a function is compiled, so that what only other memories have costs nothing.
    """

    @intrinsic
    def is_of(typing_context, memory):  # noqa: ARG001  (numba's signature)
        def generate(context, builder, signature, arguments):  # noqa: ARG001
            return context.get_constant(types.boolean, isinstance(signature.args[0], kind))

        return types.boolean(memory), generate

    return is_of


is_still = _is_of(StillMemory)
is_plain = _is_of(PlainMemory)
is_travelling = _is_of(TravellingBench)
is_linked = _is_of(LinkedBench)


def _pointer_to(kind):
    """Return a function of the kernel that makes an address a pointer of a kind.

    Arrays are counted references, and the counting at every call cost two thirds of the time of a run.
    """

    @intrinsic
    def pointer(typing_context, address):  # noqa: ARG001  (numba's signature)
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return kind(address), generate

    return pointer


int64_pointer = _pointer_to(types.CPointer(types.int64))
float64_pointer = _pointer_to(types.CPointer(types.float64))
uint16_pointer = _pointer_to(types.CPointer(types.uint16))
still_pointer = _pointer_to(StillMemory())
plain_pointer = _pointer_to(PlainMemory())
travelling_pointer = _pointer_to(TravellingBench())
linked_pointer = _pointer_to(LinkedBench())
