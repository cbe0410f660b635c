"""Addresses as pointers in compiled functions."""

from numba import types
from numba.extending import intrinsic


def _pointer_to(element):
    """Return a function of the kernel that makes an address a pointer to ``element``.

    Arrays are counted references, and the counting at every call cost two thirds of the time of a run.
    """

    @intrinsic
    def pointer(typing_context, address):  # noqa: ARG001  (numba's signature)
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(element)(address), generate

    return pointer


int64_pointer = _pointer_to(types.int64)
uint16_pointer = _pointer_to(types.uint16)
