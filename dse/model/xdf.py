"""An XDF network as written: ports, declarations, instances and connections of one file, before elaboration.

Nodes compare without their spans, so that reading what was written gives an equal network. What the reader does not
know is kept in ``extra`` and written back.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dse.base.source import NO_SPAN, Span

LiteralKind: TypeAlias = Literal["Integer", "Real", "Boolean", "String"]
Direction: TypeAlias = Literal["Input", "Output"]
DeclKind: TypeAlias = Literal["Param", "Variable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfExtra:
    """Unknown XML attributes (name, value) and unknown child elements (as XML text) of an element."""

    attributes: tuple[tuple[str, str], ...] = ()
    elements: tuple[str, ...] = ()


NO_EXTRA = XdfExtra()


# Expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfLiteral:
    """``Expr kind="Literal"``; ``text`` is the value as written."""

    kind: LiteralKind
    value: int | float | bool | str
    text: str
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfVar:
    """``Expr kind="Var"``: a parameter or variable of the network."""

    name: str
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfUnary:
    """``Expr kind="UnaryOp"``."""

    op: str
    operand: "XdfExpr"
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfSequence:
    """``Expr kind="BinOpSeq"`` (or ``BinOp``): operands with one operator between each two, precedence unresolved."""

    operands: tuple["XdfExpr", ...]
    operators: tuple[str, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfListExpr:
    """``Expr kind="List"``."""

    elements: tuple["XdfExpr", ...]
    span: Span = field(default=NO_SPAN, compare=False)


XdfExpr: TypeAlias = XdfLiteral | XdfVar | XdfUnary | XdfSequence | XdfListExpr


# Structure ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfType:
    """``Type``: a scalar with its optional ``size``, or ``List`` with ``element`` and ``size``."""

    name: str
    size: XdfExpr | None = None
    element: "XdfType | None" = None
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfAttribute:
    """``Attribute`` of a port, instance or connection; ``value`` only where it holds an expression."""

    name: str
    kind: str
    value: XdfExpr | None = None
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfPort:
    """A port of the network itself."""

    name: str
    direction: Direction
    type: XdfType | None
    attributes: tuple[XdfAttribute, ...] = ()
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfDecl:
    """A parameter or variable of the network."""

    name: str
    kind: DeclKind
    type: XdfType | None
    value: XdfExpr | None
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfParameter:
    """An argument given to an instance."""

    name: str
    value: XdfExpr
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfInstance:
    """An instance of an actor or network class. ``class_span`` is the place of the class name."""

    id: str
    class_name: str
    parameters: tuple[XdfParameter, ...] = ()
    attributes: tuple[XdfAttribute, ...] = ()
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)
    class_span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfEndpoint:
    """One end of a connection; ``instance`` is "" for a port of the network itself."""

    instance: str
    port: str
    instance_span: Span = field(default=NO_SPAN, compare=False)
    port_span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfConnection:
    """A connection from an output (or network input) to an input (or network output)."""

    source: XdfEndpoint
    target: XdfEndpoint
    attributes: tuple[XdfAttribute, ...] = ()
    extra: XdfExtra = NO_EXTRA
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class XdfNetwork:
    """One XDF file. Each group keeps the order of the file."""

    name: str
    path: str = field(default="", compare=False)
    ports: tuple[XdfPort, ...] = ()
    declarations: tuple[XdfDecl, ...] = ()
    instances: tuple[XdfInstance, ...] = ()
    connections: tuple[XdfConnection, ...] = ()
    extra: XdfExtra = NO_EXTRA
    namespaces: tuple[tuple[str, str], ...] = ()
    """Prefixes and URIs that unknown parts use."""
    span: Span = field(default=NO_SPAN, compare=False)

    def port_names(self, direction: Direction) -> tuple[str, ...]:
        """Return the names of the input or output ports in the order of the file."""
        return tuple(port.name for port in self.ports if port.direction == direction)
