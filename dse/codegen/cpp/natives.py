"""How generated code calls a native function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class NativeForm:
    """The C++ form of a native: ``call`` is the text before its arguments, as ``context.natives.source.read_byte``.

    ``declaration``: a line that declares it, for functions of users. Integers are passed as ``i64`` (``u64`` where they
    have 64 bits without a sign, ``Big`` where they may be wider), bool, double, ``const std::string&``, lists as
    ``View<T, D>``.
    """

    call: str
    declaration: str = ""


NativeForms: TypeAlias = Mapping[tuple[str, str], NativeForm]
"""(declaring unit, name of the native) to its form; calling one that has none is a fault."""
