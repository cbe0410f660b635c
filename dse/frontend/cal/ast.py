"""The abstract syntax of RVC-CAL, as ``Cal.xtext`` of Orcc defines it. Private to the front-end: it is lowered to IR.

Every node ends with its span. Nodes are frozen; lists are tuples.
"""

from dataclasses import dataclass
from typing import TypeAlias

from dse.base.source import Span


@dataclass(frozen=True, slots=True)
class Annotation:
    """``@name(key="value", key)``; a key without a value has ""."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    span: Span


# Types ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType:
    """``bool``, ``float``, ``half``, ``double``, ``String``, ``int`` or ``uint``, with the size expression or None."""

    name: str
    size: "Expr | None"
    span: Span


@dataclass(frozen=True, slots=True)
class ListTypeExpr:
    """``List(type: element, size=size)``."""

    element: "TypeExpr"
    size: "Expr"
    span: Span


TypeExpr: TypeAlias = NamedType | ListTypeExpr


# Expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lit:
    """An integer, real, boolean or string literal as a Python value. Strings have their escapes kept as written."""

    value: int | float | bool | str
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A variable reference; a dotted name keeps its dots."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class IndexExpr:
    """``name[i][j]``."""

    name: Name
    indices: tuple["Expr", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CallExpr:
    """``f(a, b)``."""

    function: Name
    arguments: tuple["Expr", ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnaryExpr:
    """``op operand`` with op one of ``~ not - #``."""

    op: str
    operand: "Expr"
    span: Span


@dataclass(frozen=True, slots=True)
class BinaryExpr:
    """``left op right``, op as written."""

    op: str
    left: "Expr"
    right: "Expr"
    span: Span


@dataclass(frozen=True, slots=True)
class IfExpr:
    """``if c then a elsif d then b else e end``: an elsif is an ``IfExpr`` as ``otherwise``."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    span: Span


@dataclass(frozen=True, slots=True)
class GeneratorClause:
    """``for type variable in low .. high``."""

    variable: "VarDecl"
    low: "Expr"
    high: "Expr"
    span: Span


@dataclass(frozen=True, slots=True)
class ListLit:
    """``[e, ... : generators]``."""

    elements: tuple["Expr", ...]
    generators: tuple[GeneratorClause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class IntList:
    """``[1, 0x2, ...]``: a list of integer literals only, folded by the parser. ``-1`` counts as a literal here."""

    values: tuple[int, ...]
    span: Span


Expr: TypeAlias = Lit | Name | IndexExpr | CallExpr | UnaryExpr | BinaryExpr | IfExpr | ListLit | IntList


# Statements -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssignStmt:
    """``target[i]... := value;``."""

    target: Name
    indices: tuple[Expr, ...]
    value: Expr
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CallStmt:
    """``procedure(arguments);``."""

    procedure: Name
    arguments: tuple[Expr, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class IfStmt:
    """``if``; an elsif is an ``IfStmt`` alone in ``otherwise``."""

    condition: Expr
    then: tuple["Stmt", ...]
    otherwise: tuple["Stmt", ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class WhileStmt:
    """``while``."""

    condition: Expr
    body: tuple["Stmt", ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ForeachStmt:
    """``foreach``."""

    variable: "VarDecl"
    low: Expr
    high: Expr
    body: tuple["Stmt", ...]
    annotations: tuple[Annotation, ...]
    span: Span


Stmt: TypeAlias = AssignStmt | CallStmt | IfStmt | WhileStmt | ForeachStmt


# Declarations ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VarDecl:
    """``type name[dims]... (= | :=) value``. ``constant``: declared with ``=``."""

    type: TypeExpr
    name: str
    dimensions: tuple[Expr, ...]
    value: Expr | None
    constant: bool
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """A function; ``body`` None for a native one."""

    name: str
    parameters: tuple[VarDecl, ...]
    result: TypeExpr
    locals: tuple[VarDecl, ...]
    body: Expr | None
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ProcedureDecl:
    """A procedure; ``body`` None for a native one."""

    name: str
    parameters: tuple[VarDecl, ...]
    locals: tuple[VarDecl, ...]
    body: tuple[Stmt, ...] | None
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PortDecl:
    """``type name`` in the port lists of an actor."""

    type: TypeExpr
    name: str
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class InputPatternDecl:
    """``port:[a, b] repeat r``; the token names are ``Name`` nodes."""

    port: Name
    tokens: tuple[Name, ...]
    repeat: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class OutputPatternDecl:
    """``port:[e, f] repeat r``."""

    port: Name
    values: tuple[Expr, ...]
    repeat: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class ActionDecl:
    """An action, or an ``initialize`` (``initialize`` true). ``tag`` is the dotted tag or ""."""

    tag: str
    initialize: bool
    inputs: tuple[InputPatternDecl, ...]
    outputs: tuple[OutputPatternDecl, ...]
    guards: tuple[Expr, ...]
    locals: tuple[VarDecl, ...]
    body: tuple[Stmt, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Tag:
    """A dotted action tag."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Transition:
    """``source (tag) --> target;``."""

    source: Name
    tag: Tag
    target: Name
    span: Span


@dataclass(frozen=True, slots=True)
class FsmDecl:
    """``schedule fsm initial: transitions end``."""

    initial: Name
    transitions: tuple[Transition, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RegExpTag:
    """A tag in a regular-expression schedule."""

    tag: Tag
    span: Span


@dataclass(frozen=True, slots=True)
class RegExpSequence:
    """Juxtaposition."""

    parts: tuple["RegExp", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RegExpChoice:
    """``a | b``."""

    parts: tuple["RegExp", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RegExpRepeat:
    """``a*`` or ``a?``."""

    child: "RegExp"
    op: str
    span: Span


RegExp: TypeAlias = RegExpTag | RegExpSequence | RegExpChoice | RegExpRepeat


@dataclass(frozen=True, slots=True)
class RegExpDecl:
    """``schedule regexp e end``."""

    expression: RegExp
    span: Span


@dataclass(frozen=True, slots=True)
class ActorDecl:
    """An actor. ``priorities`` holds each inequality as its chain of tags. ``actions`` includes the initializers."""

    name: str
    parameters: tuple[VarDecl, ...]
    inputs: tuple[PortDecl, ...]
    outputs: tuple[PortDecl, ...]
    variables: tuple[VarDecl, ...]
    functions: tuple[FunctionDecl, ...]
    procedures: tuple[ProcedureDecl, ...]
    actions: tuple[ActionDecl, ...]
    schedule: FsmDecl | RegExpDecl | None
    priorities: tuple[tuple[Tag, ...], ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnitDecl:
    """A unit: constants, functions and procedures."""

    name: str
    variables: tuple[VarDecl, ...]
    functions: tuple[FunctionDecl, ...]
    procedures: tuple[ProcedureDecl, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ImportDecl:
    """``import a.b.Unit.*;`` (``wildcard``) or ``import a.b.Unit.name;``. ``name`` is without the ``.*``."""

    name: str
    wildcard: bool
    span: Span


@dataclass(frozen=True, slots=True)
class CalFile:
    """One ``.cal`` file. ``package`` is "" when there is none."""

    path: str
    package: str
    imports: tuple[ImportDecl, ...]
    entity: ActorDecl | UnitDecl
    span: Span
