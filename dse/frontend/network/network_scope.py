"""Parameters and variables of a network, and the types that XDF files write."""

from collections.abc import Mapping
from typing import TypeAlias

from dse.base.diagnostics import Gatherer
from dse.base.registry import nearest_names
from dse.base.source import Span
from dse.frontend.cal.consteval import Value
from dse.frontend.network.expressions import convert, evaluate, kind_of, zero_of
from dse.model.xdf import XdfDecl, XdfExpr, XdfNetwork, XdfType
from dse.program.types import (
    BOOL,
    LARGEST_INT_BITS,
    LARGEST_LIST,
    STRING,
    FloatType,
    IntType,
    ListType,
    Type,
    elements_of,
)

_TYPE_NAMES = ("int", "uint", "bool", "float", "half", "double", "String", "List")
_UNSIZED: Mapping[str, Type] = {"bool": BOOL, "String": STRING}
_FLOAT_BITS = {"half": 16, "float": 32, "double": 64}


NetworkArguments: TypeAlias = Mapping[str, tuple[Value, Span]]
"""The arguments of a network by name: value, and the place that gives it."""


class NetworkScope:
    """The values of one network's declarations for given arguments, evaluated when they are first asked for."""

    def __init__(self, network: XdfNetwork, arguments: NetworkArguments, gather: Gatherer) -> None:
        self.network = network
        self.gather = gather
        self._declarations = {declaration.name: declaration for declaration in reversed(network.declarations)}
        self._arguments = arguments
        self._values: dict[str, Value | None] = {}
        self._open: list[str] = []

    def evaluate_declarations(self) -> None:
        """Evaluate all declarations, so that errors in unused ones come out too."""
        for declaration in self.network.declarations:
            self.lookup(declaration.name, declaration.span)

    def evaluate(self, expr: XdfExpr) -> Value | None:
        """Return the value of an expression, or None with the reason reported."""
        return evaluate(expr, self.lookup, self.gather)

    def lookup(self, name: str, span: Span) -> Value | None:
        """Return the value of a parameter or variable, or None with the reason reported."""
        if name in self._values:
            return self._values[name]
        declaration = self._declarations.get(name)
        if declaration is None:
            known = tuple(d.name for d in self.network.declarations)
            self.gather.error(
                f"network '{self.network.name}' has no parameter or variable '{name}'", span, nearest_names(name, known)
            )
            return None
        if name in self._open:
            circle = " -> ".join([*self._open[self._open.index(name) :], name])
            self.gather.error(f"'{name}' depends on itself", declaration.span, f"the circle is {circle}")
            return None
        self._open.append(name)
        self._values[name] = self._value_of(declaration)
        self._open.pop()
        return self._values[name]

    def _value_of(self, declaration: XdfDecl) -> Value | None:
        """Return argument, written value or zero of a declaration, as a value of its type."""
        value: Value | None = None
        place = declaration.span
        wanted = None if declaration.type is None else self.type_of(declaration.type)
        if declaration.kind == "Param" and declaration.name in self._arguments:
            value, place = self._arguments[declaration.name]
        elif declaration.value is not None:
            value = self.evaluate(declaration.value)
            if value is None:
                return None
        if value is None:
            return 0 if wanted is None else zero_of(wanted)
        if wanted is None:
            return value
        converted = convert(value, wanted)
        if converted is None:
            message = f"'{declaration.name}' of network '{self.network.name}' is declared {wanted}"
            self.gather.error(message, place, f"the value given is of type {kind_of(value)}")
        return converted

    def type_of(self, written: XdfType) -> Type | None:
        """Return the type that an XDF file writes, or None with the reason reported."""
        size = None if written.size is None else self._size(written.size, written)
        if written.size is not None and size is None:
            return None
        match written.name:
            case "int" | "uint":
                return IntType(32 if size is None else size, written.name == "int")
            case "half" | "float" | "double":
                return FloatType(size if size in (16, 32, 64) else _FLOAT_BITS[written.name])
            case "List":
                return self._list_type(written, size)
        of = _UNSIZED.get(written.name)
        if of is None:
            known = nearest_names(written.name, _TYPE_NAMES)
            self.gather.error(f"unknown type '{written.name}'", written.span, known)
        return of

    def _list_type(self, written: XdfType, size: int | None) -> Type | None:
        if written.element is None or size is None:
            self.gather.error("a List type needs the entries 'type' and 'size'", written.span)
            return None
        element = self.type_of(written.element)
        if element is None:
            return None
        if size * elements_of(element) > LARGEST_LIST:
            expected = f"expected at most {LARGEST_LIST}, those of the lists in it counted"
            self.gather.error(f"a list of {size * elements_of(element)} elements is too large", written.span, expected)
            return None
        return ListType(element, size)

    def _size(self, size: XdfExpr, written: XdfType) -> int | None:
        value = self.evaluate(size)
        limit = LARGEST_LIST if written.name == "List" else LARGEST_INT_BITS
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= limit):
            self.gather.error(f"bad size of type {written.name}", size.span, f"expected an integer from 1 to {limit}")
            return None
        return value if isinstance(value, int) else None


def same_kind(source: Type, target: Type) -> bool:
    """Return whether tokens of one type may flow into a port of another: sizes may differ, kinds may not.

    cal.md 2.1: any int sizes convert silently; bool, float and String are kinds of their own.
    """
    if isinstance(source, ListType) and isinstance(target, ListType):
        return source.size <= target.size and same_kind(source.element, target.element)
    return type(source) is type(target)
