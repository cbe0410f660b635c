"""The typed IR: what actor actions and C kernels lower to, and all that passes, backends and cost models see.

Rules that every producer keeps and every consumer may rely on:

* Names are unique inside one ``Actor``: lowering renames locals, foreach variables, token names and the parameters and
  locals of functions, so a name means the same thing everywhere in the actor.
* Expressions carry the static type of CAL's type rules (cal.md 2.1) but are *evaluated* in unbounded integers. A value
  is wrapped to the container of its target type only where it is stored: assignment, declaration, parameter binding,
  function result, foreach variable, token read and write (cal.md 2.0, model R).
* Boolean operators short-circuit. Integer ``/`` and ``mod`` truncate toward zero. Out-of-bounds reads give 0 (false,
  0.0), out-of-bounds writes are dropped, one warning a site.
* Lists have value semantics on assignment (right side evaluated first, then copied); list *arguments* go by reference.
* An action runs: read tokens into their variables, ``declarations`` in order, ``body``, evaluate outputs, write.
  Guards see token variables (peeked), state and parameters, not the action's own declarations.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dse.base.source import NO_SPAN, Span
from dse.program.types import ListType, Type

BinaryOp: TypeAlias = Literal[
    "or", "and", "|", "^", "&", "=", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "mod", "**"
]
"""``div`` is lowered to ``/``, ``||`` to ``or``, ``&&`` to ``and``. ``+`` with a String operand
concatenates, with two lists it joins them."""
UnaryOp: TypeAlias = Literal["~", "not", "-", "#"]
"""``#`` is the length of a list."""
VariableKind: TypeAlias = Literal["state", "constant", "parameter", "local", "token", "loop"]
"""``state``: assignable actor variable; ``constant``: actor or unit constant, or actor parameter; ``parameter``: of a
function or procedure; ``local``: of an action, function or procedure; ``token``: input token(s); ``loop``: foreach or
generator variable."""


# Expressions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. ``value`` matches ``type``: int, float, bool or str (its escapes already replaced)."""

    value: int | float | bool | str
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ConstList:
    """A list of literals, folded: ``values`` is a (nested) tuple of Python values. Large tables stay small this way."""

    values: tuple[object, ...]
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Load:
    """The value of a variable, scalar or whole list."""

    name: str
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Index:
    """``base[i][j]...``: an element, or a sub-list when fewer indices than dimensions are given."""

    name: str
    indices: tuple["Expr", ...]
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Unary:
    """A unary operation."""

    op: UnaryOp
    operand: "Expr"
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation."""

    op: BinaryOp
    left: "Expr"
    right: "Expr"
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Conditional:
    """``if condition then then else otherwise end``; only the chosen branch is evaluated."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the actor's ``routines`` or ``natives``, by its unique name."""

    routine: str
    arguments: tuple["Expr", ...]
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ListExpr:
    """``[a, b, c]`` whose elements are not all literals."""

    elements: tuple["Expr", ...]
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Generator:
    """``[elements : for v in low .. high, ...]``: the elements for each value of the variables, the first outermost."""

    elements: tuple["Expr", ...]
    loops: tuple["GeneratorLoop", ...]
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class GeneratorLoop:
    """One ``for variable in low .. high`` of a generator; both ends included, bounds are constants."""

    variable: "Variable"
    low: "Expr"
    high: "Expr"


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to ``type``: integers wrap to its container, floats are rounded to it, float to int truncates toward
    zero, anything to String is its text as it is printed.

    Front ends make it of C's casts only, since CAL converts where it stores; the explicit IR has one at every place
    where a value may have to change to be stored, and none where it is known to fit.
    """

    operand: "Expr"
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Check:
    """An index that is tested before the access it belongs to (explicit IR only; it stands where an index stands).

    ``low``: tested against 0; ``high``: tested against ``size``, or against the length that the list has at run time
    where that is None. One failed test makes the access stray: a read gives zero, a write is dropped, and both count
    at the place of the access. All tests of an access are made before any of its indices is used.
    """

    operand: "Expr"
    size: int | None
    low: bool
    high: bool
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Copy:
    """A new list of exactly type ``type``, filled from another: cut where that is longer, zeros where it is shorter.

    Explicit IR only. ``convert``: its scalars are converted to the type's, as by ``Cast``; else they fit as they are.
    """

    operand: "Expr"
    type: ListType
    convert: bool
    span: Span = NO_SPAN


Expr: TypeAlias = (
    Const | ConstList | Load | Index | Unary | Binary | Conditional | Call | ListExpr | Generator | Cast | Check | Copy
)


# Statements -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declare:
    """The declaration of a local; without a value it is zero (false, "", lists of zeros)."""

    variable: "Variable"
    value: Expr | None
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Assign:
    """``name[indices...] := value``; no indices assign the variable, fewer than the dimensions a sub-list."""

    name: str
    indices: tuple[Expr, ...]
    value: Expr
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class CallStmt:
    """A call of a procedure of the actor's ``routines`` or ``natives``, by its unique name."""

    routine: str
    arguments: tuple[Expr, ...]
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Print:
    """``print`` or ``println`` (built in); ``value`` is None for a call without argument."""

    value: Expr | None
    newline: bool
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class If:
    """``if``; an ``elsif`` is an ``If`` alone in ``otherwise``."""

    condition: Expr
    then: tuple["Stmt", ...]
    otherwise: tuple["Stmt", ...]
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class While:
    """``while condition do body end``."""

    condition: Expr
    body: tuple["Stmt", ...]
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ForEach:
    """``foreach variable in low .. high``, both ends included. Bounds are evaluated once.

    The first value is ``low`` wrapped to the variable's type (cal.md 2.0). ``step`` is for C kernels; CAL has 1.
    """

    variable: "Variable"
    low: Expr
    high: Expr
    body: tuple["Stmt", ...]
    span: Span = NO_SPAN
    step: int = 1


@dataclass(frozen=True, slots=True)
class CopyInto:
    """A list assignment (explicit IR only): the first elements of a list, or sub-list, become those of ``value``.

    The value is evaluated first. A value that is longer is cut; what a shorter one does not reach stays as it is.
    ``convert``: its scalars are converted to those of the target, as by ``Cast``.
    """

    name: str
    indices: tuple[Expr, ...]
    value: Expr
    convert: bool
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ReadTokens:
    """The token variable of an input takes its value; no token is consumed yet (explicit IR only).

    The tokens are those at ``offset``, ``offset + stride``, ... from the front of the FIFO; ``count`` of them make a
    list, 0 is one token and a scalar. ``convert``: they are converted to the variable's type, as by ``Cast``.
    """

    variable: "Variable"
    port: int
    offset: int
    stride: int
    count: int
    convert: bool
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ConsumeTokens:
    """The first ``tokens`` tokens of an input are gone (explicit IR only)."""

    port: int
    tokens: int
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class WriteTokens:
    """Tokens are written to an output (explicit IR only), every value converted to the type of the port.

    ``repeat`` 0: each value is one token. Else each is a list of exactly ``repeat`` elements, and element i of all
    values is written before element i + 1 of any.
    """

    port: int
    values: tuple[Expr, ...]
    repeat: int
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Count:
    """One is added to a counter of the actor (explicit IR only): 2 k at each entry of loop k, 2 k + 1 at each round."""

    counter: int
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression is evaluated for what its calls do, its value dropped (explicit IR only)."""

    value: Expr
    span: Span = NO_SPAN


Stmt: TypeAlias = (
    Declare
    | Assign
    | CallStmt
    | Print
    | If
    | While
    | ForEach
    | CopyInto
    | ReadTokens
    | ConsumeTokens
    | WriteTokens
    | Count
    | Evaluate
)
ExplicitExpr: TypeAlias = Check | Copy
ExplicitStmt: TypeAlias = CopyInto | ReadTokens | ConsumeTokens | WriteTokens | Count | Evaluate


def not_of_source(node: ExplicitExpr | ExplicitStmt) -> AssertionError:
    """Return what to raise for the nodes that no front end makes, in what reads only the IR of front ends."""
    return AssertionError(f"{type(node).__name__} is of the explicit IR")


# Declarations ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: unique ``name``, the ``source_name`` the user wrote; ``initial`` only for state and constants."""

    name: str
    source_name: str
    type: Type
    kind: VariableKind
    initial: Expr | None = None
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Routine:
    """A function (``result`` given, body usually empty) or a procedure (``result`` and ``result_type`` None)."""

    name: str
    source_name: str
    parameters: tuple[Variable, ...]
    declarations: tuple[Declare, ...]
    body: tuple[Stmt, ...]
    result: Expr | None
    result_type: Type | None
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Native:
    """A ``@native`` function or procedure, bound by ``(declared_in, source_name)``: names collide across programs."""

    name: str
    source_name: str
    declared_in: str
    """Qualified name of the declaring unit or actor, e.g. ``std.stdio.Source``."""
    parameters: tuple[Variable, ...]
    result_type: Type | None
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an actor with the type of its tokens."""

    name: str
    type: Type
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class InputPattern:
    """``port:[names] repeat r``. Without repeat (``repeat`` 0) each name is one token; with it each is a list of r.

    Element i of name j is token ``i * len(names) + j``. ``tokens`` is the number consumed.
    """

    port: int
    variables: tuple[Variable, ...]
    repeat: int

    @property
    def tokens(self) -> int:
        """Number of tokens that one firing consumes from the port."""
        return len(self.variables) * max(1, self.repeat)


@dataclass(frozen=True, slots=True)
class OutputPattern:
    """``port:[values] repeat r``; evaluated after the body. With repeat each value is a list of at least r elements."""

    port: int
    values: tuple[Expr, ...]
    repeat: int

    @property
    def tokens(self) -> int:
        """Number of tokens that one firing produces on the port."""
        return len(self.values) * max(1, self.repeat)


@dataclass(frozen=True, slots=True)
class Action:
    """An action or ``initialize``. ``name`` is the tag, ``untagged_K`` (K-th untagged one, from 0), or ``initialize``.

    ``schedule_outputs``: output room is part of the firing condition (annotation); else a selected action blocks.
    """

    name: str
    tagged: bool
    inputs: tuple[InputPattern, ...]
    outputs: tuple[OutputPattern, ...]
    guards: tuple[Expr, ...]
    declarations: tuple[Declare, ...]
    body: tuple[Stmt, ...]
    schedule_outputs: bool = False
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Transition:
    """An action that may be tried in a state (index into ``Actor.actions``), and the state that firing it leads to."""

    action: int
    target: int


@dataclass(frozen=True, slots=True)
class Actor:
    """A lowered actor: one for each distinct (class, parameter values).

    ``variables``: constants and state in an order in which the initialisers can be evaluated.
    ``actions``: the actions in document order, then the initializers; a trace's action ids index this tuple.
    ``initializers``: indices of the ``initialize`` actions, in document order.
    ``states``: FSM state names, or ``("",)`` without an FSM; ``transitions[s]`` lists what to try in state s, in order
    (untagged first, then by priority; cal.md 2.3).
    """

    name: str
    path: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    variables: tuple[Variable, ...]
    routines: tuple[Routine, ...]
    natives: tuple[Native, ...]
    actions: tuple[Action, ...]
    initializers: tuple[int, ...]
    states: tuple[str, ...]
    initial_state: int
    transitions: tuple[tuple[Transition, ...], ...]
    span: Span = NO_SPAN
    has_fsm: bool = False
    native: bool = field(default=False)
    """``@native actor``: there is no behaviour to run."""
