"""Hypothesis strategies for syntax trees of RVC-CAL, as the parser could have made them; spans are all ``NO_SPAN``."""

import functools
from typing import Any, TypeVar

from hypothesis import strategies as st

from dse.base.source import NO_SPAN
from dse.frontend.cal.ast import (
    ActionDecl,
    ActorDecl,
    Annotation,
    AssignStmt,
    BinaryExpr,
    CalFile,
    CallExpr,
    CallStmt,
    Expr,
    ForeachStmt,
    FsmDecl,
    FunctionDecl,
    GeneratorClause,
    IfExpr,
    IfStmt,
    ImportDecl,
    IndexExpr,
    InputPatternDecl,
    IntList,
    ListLit,
    ListTypeExpr,
    Lit,
    Name,
    NamedType,
    OutputPatternDecl,
    PortDecl,
    ProcedureDecl,
    RegExpChoice,
    RegExpDecl,
    RegExpRepeat,
    RegExpSequence,
    RegExpTag,
    Stmt,
    Tag,
    Transition,
    UnaryExpr,
    UnitDecl,
    VarDecl,
    WhileStmt,
)
from dse.frontend.cal.tokens import BINARY_LEVELS, RESERVED, UNARY_OPERATORS

T = TypeVar("T")
SPAN = st.just(NO_SPAN)


def some(strategy: st.SearchStrategy[T], low: int = 0, high: int = 3) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, min_size=low, max_size=high).map(tuple)


identifiers = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,4}", fullmatch=True), st.sampled_from(sorted(RESERVED | {"native"}))
)
dotted = st.lists(identifiers, min_size=1, max_size=3).map(".".join)
names = st.builds(Name, identifiers, SPAN)
references = st.builds(Name, dotted, SPAN)
string_values = st.lists(st.sampled_from(["a", " ", "é", "'", "//", "/*", r"\n", r"\"", r"\\", "\t", "0"]), max_size=5)
annotations = some(
    st.builds(Annotation, identifiers, some(st.tuples(identifiers, string_values.map("".join)), 0, 2), SPAN),
    0,
    2,
)
integers = st.one_of(st.integers(0, 20), st.integers(0, 2**70))
reals = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
literals = st.builds(Lit, st.one_of(integers, reals, st.booleans(), string_values.map("".join)), SPAN)


def not_foldable(node: Any) -> bool:
    """The parser folds lists of integers, so no tree holds one as ``ListLit``."""
    return bool(node.generators) or not all(
        (isinstance(e, Lit) and type(e.value) is int)
        or (isinstance(e, UnaryExpr) and e.op == "-" and isinstance(e.operand, Lit) and type(e.operand.value) is int)
        for e in node.elements
    )


@functools.cache
def _larger(depth: int) -> st.SearchStrategy[Expr]:
    inner = _expression(depth - 1)
    sized = st.one_of(st.none(), inner)
    types = st.recursive(
        st.one_of(
            st.builds(NamedType, st.sampled_from(["bool", "float", "half", "double", "String"]), st.none(), SPAN),
            st.builds(NamedType, st.sampled_from(["int", "uint"]), sized, SPAN),
        ),
        lambda element: st.builds(ListTypeExpr, element, inner, SPAN),
        max_leaves=2,
    )
    plain = st.builds(VarDecl, types, identifiers, some(inner, 0, 2), st.none(), st.just(False), annotations, SPAN)
    generators = some(st.builds(GeneratorClause, plain, inner, inner, SPAN), 0, 2)
    return st.one_of(
        st.builds(UnaryExpr, st.sampled_from(sorted(UNARY_OPERATORS)), inner, SPAN),
        st.builds(BinaryExpr, st.sampled_from(sorted(BINARY_LEVELS)), inner, inner, SPAN),
        st.builds(IndexExpr, references, some(inner, 1, 2), SPAN),
        st.builds(CallExpr, references, some(inner), annotations, SPAN),
        st.builds(IfExpr, inner, inner, inner, SPAN),
        st.builds(ListLit, some(inner, 1), generators, SPAN).filter(not_foldable),
    )


_leaves: st.SearchStrategy[Expr] = st.one_of(
    literals, references, st.builds(IntList, some(st.integers(-(2**40), 2**40), 1, 4), SPAN)
)


@st.composite
def _expression(draw: st.DrawFn, depth: int) -> Expr:
    """An expression of at most ``depth`` levels; a function, so that what uses it has a short representation."""
    if depth == 0 or draw(st.booleans()):
        return draw(_leaves)
    return draw(_larger(depth))


expressions = _expression(3)
types = st.recursive(
    st.one_of(
        st.builds(NamedType, st.sampled_from(["bool", "float", "half", "double", "String"]), st.none(), SPAN),
        st.builds(NamedType, st.sampled_from(["int", "uint"]), st.one_of(st.none(), expressions), SPAN),
    ),
    lambda element: st.builds(ListTypeExpr, element, expressions, SPAN),
    max_leaves=2,
)


@st.composite
def declarations(draw: st.DrawFn, values: str = "= :=", required: bool = False) -> VarDecl:
    """A variable; ``values``: the signs that may give it one."""
    sign = draw(st.sampled_from(values.split() + ([] if required else [""])))
    value = draw(expressions) if sign else None
    dimensions = draw(some(expressions, 0, 2))
    return VarDecl(draw(types), draw(identifiers), dimensions, value, sign == "=", draw(annotations), NO_SPAN)


parameters = some(declarations(values=""), 0, 2)
locals_ = some(declarations(), 0, 2)


def _compound(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    body = some(inner, 0, 2)
    return st.one_of(
        st.builds(IfStmt, expressions, body, body, annotations, SPAN),
        st.builds(WhileStmt, expressions, body, annotations, SPAN),
        st.builds(ForeachStmt, declarations(values=""), expressions, expressions, body, annotations, SPAN),
    )


statements: st.SearchStrategy[Stmt] = st.recursive(
    st.one_of(
        st.builds(AssignStmt, references, some(expressions, 0, 2), expressions, annotations, SPAN),
        st.builds(CallStmt, references, some(expressions), annotations, SPAN),
    ),
    _compound,
    max_leaves=4,
)
bodies = some(statements)
repeats = st.one_of(st.none(), expressions)
outputs = some(st.builds(OutputPatternDecl, names, some(expressions, 1), repeats, SPAN), 0, 2)
inputs = some(st.builds(InputPatternDecl, names, some(names, 1), repeats, SPAN), 0, 2)


@st.composite
def actions(draw: st.DrawFn) -> ActionDecl:
    initialize = draw(st.booleans())
    return ActionDecl(
        draw(st.one_of(st.just(""), dotted)),
        initialize,
        () if initialize else draw(inputs),
        draw(outputs),
        draw(some(expressions, 0, 2)),
        draw(locals_),
        draw(bodies),
        draw(annotations),
        NO_SPAN,
    )


@st.composite
def functions(draw: st.DrawFn) -> FunctionDecl:
    body = draw(st.one_of(st.none(), expressions))
    variables = draw(locals_) if body is not None else ()
    return FunctionDecl(draw(identifiers), draw(parameters), draw(types), variables, body, draw(annotations), NO_SPAN)


@st.composite
def procedures(draw: st.DrawFn) -> ProcedureDecl:
    body = draw(st.one_of(st.none(), bodies))
    variables = draw(locals_) if body is not None else ()
    return ProcedureDecl(draw(identifiers), draw(parameters), variables, body, draw(annotations), NO_SPAN)


tags = st.builds(Tag, dotted, SPAN)
regexps = st.recursive(
    st.builds(RegExpTag, tags, SPAN),
    lambda inner: st.one_of(
        st.builds(RegExpSequence, some(inner, 2), SPAN),
        st.builds(RegExpChoice, some(inner, 2), SPAN),
        st.builds(RegExpRepeat, inner, st.sampled_from("*?"), SPAN),
    ),
    max_leaves=5,
)
fsms = st.builds(FsmDecl, names, some(st.builds(Transition, names, tags, names, SPAN)), SPAN)
schedules = st.one_of(st.none(), fsms, st.builds(RegExpDecl, regexps, SPAN))
ports = some(st.builds(PortDecl, types, identifiers, annotations, SPAN), 0, 2)
actors = st.builds(
    ActorDecl,
    identifiers,
    some(declarations(values="="), 0, 2),
    ports,
    ports,
    some(declarations(), 0, 2),
    some(functions(), 0, 1),
    some(procedures(), 0, 1),
    some(actions(), 0, 2),
    schedules,
    some(some(tags, 2), 0, 2),
    annotations,
    SPAN,
)
units = st.builds(
    UnitDecl,
    identifiers,
    some(declarations(values="=", required=True), 0, 2),
    some(functions(), 0, 2),
    some(procedures(), 0, 2),
    annotations,
    SPAN,
)
imports = some(st.builds(ImportDecl, dotted, st.booleans(), SPAN), 0, 2)
cal_files = st.builds(
    CalFile, st.just("a.cal"), st.one_of(st.just(""), dotted), imports, st.one_of(actors, units), SPAN
)
