"""Names of a C kernel while it is lowered: symbols, types of declarations, unique names of the IR."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pycparser import c_ast

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic, SourceError
from dse.base.source import NO_SPAN, Span
from dse.frontend.c.parse import CFile
from dse.model.kernel import ArrayInfo
from dse.program.ir import Expr, Variable
from dse.program.types import FLOAT32, FLOAT64, INT32, FloatType, IntType, ScalarType

Number: TypeAlias = int | float

_TYPES: dict[str, ScalarType] = {
    "float": FLOAT32,
    "double": FLOAT64,
    "long double": FLOAT64,
    "_Bool": IntType(8, False),
    "char": IntType(8, True),
    "short": IntType(16, True),
    "int": INT32,
    "long": IntType(64, True),
}
_SIGNS = ("signed", "unsigned")
MOST_NODES = 200_000
"""Nodes of the expressions of one function with all that is inlined; far less makes a kernel that no GPU runs well."""
MOST_TYPEDEFS = 10
"""Types that stand for each other in a row; beyond it they are taken to go in a circle."""


@dataclass(slots=True)
class ScalarSymbol:
    """A scalar: ``value`` where it is known before the kernel starts; ``inlined`` for arguments of inlined calls."""

    variable: Variable
    value: Number | None = None
    outside: bool = True
    """Declared outside the kernel that is being lowered."""
    stale: bool = False
    """It was the variable of a loop that has ended."""
    inlined: Expr | None = None
    size: int = 0
    """The nodes of ``inlined``."""


@dataclass(slots=True)
class ArraySymbol:
    """An array."""

    info: ArrayInfo


Symbol: TypeAlias = ScalarSymbol | ArraySymbol


@dataclass(slots=True)
class KernelScope:
    """Nested scopes of one function, with what the whole function shares."""

    file: CFile
    gatherer: Gatherer
    levels: list[dict[str, Symbol]] = field(default_factory=lambda: [{}])
    taken: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Plain integer constants met in dimensions and loop bounds."""
    collecting: bool = False
    """Constants met now are sizes."""
    made: int = 0
    """Nodes of expressions lowered so far, those of inlined calls counted each time."""
    calls: tuple[str, ...] = ()
    """Functions that are being inlined."""
    broken: set[str] = field(default_factory=set)
    """Names whose declaration has an error: their uses are no errors of their own."""
    bad_sizes: set[str] = field(default_factory=set)
    """Sizes that were refused: other arrays of the same size are not reported again."""

    def error(self, message: str, at: c_ast.Node | Span, expected: str) -> None:
        """Record an error at a node."""
        span = at if isinstance(at, Span) else self.file.span(at)
        self.gatherer.error(message, span, expected)

    def find(self, name: str) -> Symbol | None:
        """Return the innermost symbol of that name."""
        for level in reversed(self.levels):
            if name in level:
                return level[name]
        return None

    def declare(self, name: str, symbol: Symbol) -> None:
        """Enter a symbol into the innermost scope."""
        self.levels[-1][name] = symbol

    def inlined(self, name: str, of: ScalarType, argument: Expr, size: int) -> ScalarSymbol:
        """Return the symbol of a parameter that stands for its argument, which has ``size`` nodes."""
        return ScalarSymbol(variable=Variable(name, name, of, "parameter"), inlined=argument, size=size)

    def count(self, nodes: int, at: c_ast.Node) -> None:
        """Count nodes of expressions. Raises ``SourceError`` where calls in calls make too many of one function."""
        self.made += nodes
        if self.made > MOST_NODES:
            message = f"the calls in this function make more than {MOST_NODES} operations of it"
            expected = "keep intermediate values in variables of their own"
            raise SourceError([Diagnostic(message=message, span=self.file.span(at), expected=expected)])

    def unique(self, name: str) -> str:
        """Return a name of the IR that is not in use."""
        count = self.taken.get(name, 0) + 1
        self.taken[name] = count
        return name if count == 1 else f"{name}_{count}"

    def note_size(self, name: str) -> None:
        """Remember the plain constants that a constant in a dimension or bound is computed from."""
        for base in self.file.source.bases.get(name, (name,)):
            value = self.file.source.constants.get(base)
            if self.collecting and isinstance(value, int):
                self.sizes[base] = value

    def constant(self, name: str) -> Number | None:
        """Return the value of an integer macro or a given parameter."""
        return self.file.source.constants.get(name)

    def scalar_type(self, node: c_ast.Node) -> ScalarType | None:
        """Return the type of a declaration of a scalar, None (and an error) if it is no arithmetic type."""
        while isinstance(node, c_ast.TypeDecl | c_ast.Typename):
            node = node.type
        if isinstance(node, c_ast.IdentifierType):
            found = self._named_type(list(node.names), 0)
            if found is not None:
                return found
            self.error(
                f"the type {' '.join(node.names)} is not known here",
                node,
                "use float, double or an integer type, or give the type with --define NAME=float",
            )
            return None
        kind = {"Struct": "a struct", "Union": "a union", "Enum": "an enum", "PtrDecl": "a pointer"}
        what = kind.get(type(node).__name__, "this type")
        self.error(f"{what} is not supported in a kernel", node, "use arrays and scalars of arithmetic types")
        return None

    def _named_type(self, names: list[str], depth: int) -> ScalarType | None:
        if len(names) == 1 and names[0] not in (*_TYPES, *_SIGNS) and depth < MOST_TYPEDEFS:
            of = next(self._typedefs(names[0]), None)
            return None if of is None else self._named_type(of, depth + 1)
        found = _TYPES.get(_plain_name([n for n in names if n not in _SIGNS]))
        return IntType(found.size, False) if "unsigned" in names and isinstance(found, IntType) else found

    def _typedefs(self, name: str) -> Iterator[list[str]]:
        for node in self.file.tree.ext:
            if isinstance(node, c_ast.Typedef) and node.name == name and isinstance(node.type, c_ast.TypeDecl):
                of = node.type.type
                if isinstance(of, c_ast.IdentifierType):
                    yield list(of.names)


def _plain_name(words: list[str]) -> str:
    """Return a type without the words that add nothing: ``short`` of ``short int``, ``long`` of ``long long``."""
    if "long" in words and "double" not in words:
        return "long"
    return "short" if "short" in words else " ".join(words) or "int"


def arithmetic_type(left: object, right: object) -> ScalarType:
    """Return the common type of C's usual arithmetic conversions."""
    for of in (FLOAT64, FLOAT32):
        if of in (left, right):
            return of
    sizes = [t for t in (left, right) if isinstance(t, IntType)]
    widest = max([32, *(t.size for t in sizes)])
    return IntType(widest, not any(t.size == widest and not t.signed for t in sizes))


def is_float(of: object) -> bool:
    """Whether a type is a floating type."""
    return isinstance(of, FloatType)


def variable(name: str, source_name: str, of: ScalarType, kind: str, span: Span = NO_SPAN) -> Variable:
    """Return a variable of the IR."""
    return Variable(name, source_name, of, "loop" if kind == "loop" else "local", None, span)
