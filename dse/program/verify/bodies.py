"""Rules of expressions and statements: names in scope, types, kinds of variables, calls."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from dse.base.source import Span
from dse.program.ir import (
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Conditional,
    Const,
    ConstList,
    Declare,
    Expr,
    ForEach,
    Generator,
    If,
    Index,
    ListExpr,
    Load,
    Native,
    Print,
    Routine,
    Stmt,
    Unary,
    Variable,
    VariableKind,
    While,
)
from dse.program.text.tokens import type_text
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type, dimensions_of, scalar_of
from dse.program.typing import COMPARISONS, LOGICAL, is_bindable, is_convertible, is_number
from dse.program.verify.findings import Findings

_VALUES: dict[type, tuple[type, ...]] = {
    BoolType: (bool,),
    StringType: (str,),
    FloatType: (int, float),
    IntType: (int,),
}
"""Classes of the Python values that literals of a type may have."""


@dataclass(slots=True)
class Scope:
    """The variables that may be named at a place."""

    outer: "Scope | None" = None
    variables: dict[str, Variable] = field(default_factory=dict)

    def find(self, name: str) -> Variable | None:
        """Return the variable of a name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.outer
        return None

    def with_variables(self, variables: Iterable[Variable]) -> "Scope":
        """Return a scope inside this one."""
        return Scope(self, {v.name: v for v in variables})


class BodyVerifier:
    """Checks expressions and statements of one actor, as front ends make them."""

    exact_tables = False
    """Whether lists inside a table must have the sizes of its type; shorter ones are filled where they are stored."""

    def __init__(self, findings: Findings, routines: Iterable[Routine | Native]) -> None:
        self.findings = findings
        self.require = findings.require
        self._routines = {routine.name: routine for routine in routines}

    # What the explicit IR says otherwise ------------------------------------------------------------------------------

    def stored(self, value: Expr, target: Type, what: str, span: Span) -> None:
        """Check that a value may be stored in a place of a type."""
        text = f"{what}: {type_text(value.type)} does not convert to {type_text(target)}"
        self.require(is_convertible(value.type, target), text, span)

    def element(self, value: Expr, target: Type) -> None:
        """Check an element of a list that is made here."""
        self.stored(value, target, "an element", value.span)

    def accessed(self, variable: Variable, indices: tuple[Expr, ...], span: Span) -> None:
        """Check the indices of an access, whose number and types are right, to a variable."""

    def index(self, index: Expr, scope: Scope) -> None:
        """Check what stands where an index stands."""
        self.integer(index, scope, "an index")

    # Expressions ------------------------------------------------------------------------------------------------------

    def expression(self, expression: Expr, scope: Scope) -> None:
        """Check an expression and its parts."""
        check = self.expression_rules.get(type(expression))
        if check is None:
            self.findings.add(f"{type(expression).__name__} may not stand here", expression.span)
        else:
            check(self, expression, scope)

    def expressions(self, expressions: Iterable[Expr], scope: Scope) -> None:
        """Check several expressions."""
        for expression in expressions:
            self.expression(expression, scope)

    def condition(self, expression: Expr, scope: Scope, what: str) -> None:
        """Check an expression that has to be a bool."""
        self.expression(expression, scope)
        self.require(isinstance(expression.type, BoolType), f"{what} is no bool", expression.span)

    def integer(self, expression: Expr, scope: Scope, what: str) -> None:
        """Check an expression that has to be an integer."""
        self.expression(expression, scope)
        self.require(isinstance(expression.type, IntType), f"{what} is no integer", expression.span)

    def _const(self, const: Const, _scope: Scope) -> None:
        self.require(_is_value(const.value, const.type), f"{const.value!r} is no {type_text(const.type)}", const.span)

    def _const_list(self, table: ConstList, _scope: Scope) -> None:
        self.table(table, exact=self.exact_tables)

    def table(self, table: ConstList, *, exact: bool) -> None:
        """Check the values of a table; unless it has to be ``exact``, its lists may be shorter than its type says."""
        if self.require(isinstance(table.type, ListType), "a table has no list type", table.span):
            right = is_table(table.values, dimensions_of(table.type), scalar_of(table.type), exact=exact)
            self.require(right, f"a table does not have the shape of {type_text(table.type)}", table.span)

    def _load(self, load: Load, scope: Scope) -> None:
        self.place(load.name, (), load.type, scope, load.span)

    def _index(self, index: Index, scope: Scope) -> None:
        self.require(bool(index.indices), f"'{index.name}' is indexed by nothing", index.span)
        self.place(index.name, index.indices, index.type, scope, index.span)

    def place(self, name: str, indices: tuple[Expr, ...], of: Type | None, scope: Scope, span: Span) -> Variable | None:
        """Check an access; ``of`` is the type it says it has. Return the variable if the access is right so far."""
        for index in indices:
            self.index(index, scope)
        variable = scope.find(name)
        if variable is None:
            self.findings.add(f"'{name}' is not declared here", span)
            return None
        found = element_type(variable.type, len(indices))
        if found is None:
            self.findings.add(f"'{name}' has {len(indices)} indices but is {type_text(variable.type)}", span)
            return None
        text = f"'{name}' with {len(indices)} indices is {type_text(found)}"
        if of is not None and not self.require(found == of, f"{text}, not {type_text(of)}", span):
            return None
        self.accessed(variable, indices, span)
        return variable

    def _unary(self, unary: Unary, scope: Scope) -> None:
        self.expression(unary.operand, scope)
        operand = unary.operand.type
        right = {
            "~": isinstance(operand, IntType) and isinstance(unary.type, IntType),
            "not": isinstance(operand, BoolType) and isinstance(unary.type, BoolType),
            "-": is_number(operand) and isinstance(unary.type, type(operand)),
            "#": isinstance(operand, ListType) and isinstance(unary.type, IntType),
        }[unary.op]
        self.require(right, f"{unary.op} of {type_text(operand)} gives no {type_text(unary.type)}", unary.span)

    def _binary(self, binary: Binary, scope: Scope) -> None:
        chain: list[Binary] = []
        leftmost: Expr = binary
        while isinstance(leftmost, Binary):  # long chains lean to the left; they must not nest calls
            chain.append(leftmost)
            leftmost = leftmost.left
        self.expression(leftmost, scope)
        for node in reversed(chain):
            self.expression(node.right, scope)
            left, right = node.left.type, node.right.type
            text = f"{type_text(left)} {node.op} {type_text(right)} gives no {type_text(node.type)}"
            self.require(_is_operation(node.op, left, right, node.type), text, node.span)

    def _conditional(self, conditional: Conditional, scope: Scope) -> None:
        self.condition(conditional.condition, scope, "the condition of an 'if'")
        for branch in (conditional.then, conditional.otherwise):
            self.expression(branch, scope)
            text = f"a branch of {type_text(branch.type)} is no {type_text(conditional.type)}"
            self.require(is_convertible(branch.type, conditional.type), text, branch.span)

    def _call(self, call: Call, scope: Scope) -> None:
        self.expressions(call.arguments, scope)
        routine = self.routine(call)
        if routine is not None:
            text = f"'{call.routine}' does not give {type_text(call.type)}"
            self.require(routine.result_type == call.type, text, call.span)

    def _list(self, expression: ListExpr, scope: Scope) -> None:
        self.expressions(expression.elements, scope)
        of = expression.type
        if self.require(isinstance(of, ListType), "a list has no list type", expression.span):
            assert isinstance(of, ListType)
            count = len(expression.elements)
            self.require(of.size == count, f"{count} elements make no {type_text(of)}", expression.span)
            for element in expression.elements:
                self.element(element, of.element)

    def _generator(self, generator: Generator, scope: Scope) -> None:
        inner, count = scope, len(generator.elements)
        for loop in generator.loops:
            self.expressions((loop.low, loop.high), inner)
            count *= self._rounds(loop.low, loop.high)
            self.variable(loop.variable, "loop")
            inner = inner.with_variables((loop.variable,))
        self.expressions(generator.elements, inner)
        of = generator.type
        if self.require(isinstance(of, ListType), "a generator has no list type", generator.span):
            assert isinstance(of, ListType)
            self.require(of.size == count, f"{count} elements make no {type_text(of)}", generator.span)
            for element in generator.elements:
                self.element(element, of.element)

    def _rounds(self, low: Expr, high: Expr) -> int:
        match low, high:
            case Const(value=int(first)), Const(value=int(last)):
                return max(0, last - first + 1)
            case _:
                self.findings.add("the bounds of a generator are no constants", low.span)
                return 0

    def _cast(self, cast: Cast, scope: Scope) -> None:
        self.expression(cast.operand, scope)
        scalar = not isinstance(cast.type, ListType) and not isinstance(cast.operand.type, ListType)
        self.require(scalar, "a cast is for scalars", cast.span)

    expression_rules: ClassVar[dict[type, "Callable[..., None]"]] = {
        Const: _const,
        ConstList: _const_list,
        Load: _load,
        Index: _index,
        Unary: _unary,
        Binary: _binary,
        Conditional: _conditional,
        Call: _call,
        ListExpr: _list,
        Generator: _generator,
        Cast: _cast,
    }

    # Calls ------------------------------------------------------------------------------------------------------------

    def routine(self, call: Call | CallStmt) -> Routine | Native | None:
        """Check a call's arguments, and return what is called if it is of the right sort."""
        routine = self._routines.get(call.routine)
        if routine is None:
            self.findings.add(f"there is no routine '{call.routine}'", call.span)
            return None
        function = isinstance(call, Call)
        text = f"'{call.routine}' is no {'function' if function else 'procedure'}"
        if not self.require((routine.result_type is not None) == function, text, call.span):
            return None
        taken, given = len(routine.parameters), len(call.arguments)
        if self.require(taken == given, f"'{call.routine}' takes {taken} arguments, not {given}", call.span):
            for argument, parameter in zip(call.arguments, routine.parameters, strict=True):
                self._bound(argument, parameter, call.span)
        return routine

    def _bound(self, argument: Expr, parameter: Variable, span: Span) -> None:
        what = f"the argument for '{parameter.name}'"
        if isinstance(parameter.type, ListType):
            text = f"{what}: {type_text(argument.type)} is no {type_text(parameter.type)}"
            self.require(is_bindable(argument.type, parameter.type), text, span)
        else:
            self.stored(argument, parameter.type, what, span)

    # Statements -------------------------------------------------------------------------------------------------------

    def block(self, statements: Iterable[Stmt], scope: Scope) -> Scope:
        """Check statements, and return the scope behind them: what is declared is seen up to the end of its block."""
        inner = scope.with_variables(())
        for statement in statements:
            check = self.statement_rules.get(type(statement))
            if check is None:
                self.findings.add(f"{type(statement).__name__} may not stand here", statement.span)
            else:
                check(self, statement, inner)
        return inner

    def variable(self, variable: Variable, kind: VariableKind) -> None:
        """Check the kind of a variable that is declared in a body, where it has no initial value."""
        self.require(variable.kind == kind, f"'{variable.name}' is declared as {variable.kind}", variable.span)
        self.require(variable.initial is None, f"'{variable.name}' has an initial value", variable.span)

    def _declare(self, statement: Declare, scope: Scope) -> None:
        variable, value = statement.variable, statement.value
        self.variable(variable, "local")
        if value is not None:
            self.expression(value, scope)
            self.stored(value, variable.type, f"the value of '{variable.name}'", statement.span)
        scope.variables[variable.name] = variable

    def _assign(self, statement: Assign, scope: Scope) -> None:
        self.expression(statement.value, scope)
        of = self.target(statement.name, statement.indices, scope, statement.span)
        if of is not None:
            self.stored(statement.value, of, f"what is assigned to '{statement.name}'", statement.span)

    def target(self, name: str, indices: tuple[Expr, ...], scope: Scope, span: Span) -> Type | None:
        """Check the target of an assignment, and return its type if it is right."""
        variable = self.place(name, indices, None, scope, span)
        if variable is None:
            return None
        self.require(variable.kind != "constant", f"the constant '{name}' is assigned", span)
        return element_type(variable.type, len(indices))

    def _call_statement(self, statement: CallStmt, scope: Scope) -> None:
        self.expressions(statement.arguments, scope)
        self.routine(statement)

    def _print(self, statement: Print, scope: Scope) -> None:
        if statement.value is not None:
            self.expression(statement.value, scope)

    def _if(self, statement: If, scope: Scope) -> None:
        self.condition(statement.condition, scope, "the condition of an 'if'")
        self.block(statement.then, scope)
        self.block(statement.otherwise, scope)

    def _while(self, statement: While, scope: Scope) -> None:
        self.condition(statement.condition, scope, "the condition of a 'while'")
        self.block(statement.body, scope)

    def _foreach(self, statement: ForEach, scope: Scope) -> None:
        self.integer(statement.low, scope, "a bound of a 'foreach'")
        self.integer(statement.high, scope, "a bound of a 'foreach'")
        self.require(statement.step != 0, "the step of a 'foreach' is 0", statement.span)
        self.variable(statement.variable, "loop")
        self.require(isinstance(statement.variable.type, IntType), "a loop variable is no integer", statement.span)
        self.block(statement.body, scope.with_variables((statement.variable,)))

    statement_rules: ClassVar[dict[type, "Callable[..., None]"]] = {
        Declare: _declare,
        Assign: _assign,
        CallStmt: _call_statement,
        Print: _print,
        If: _if,
        While: _while,
        ForEach: _foreach,
    }


_Operands: TypeAlias = Callable[[Type, Type, Type], bool]


def _integers(left: Type, right: Type, result: Type) -> bool:
    return all(isinstance(of, IntType) for of in (left, right, result))


def _bools(left: Type, right: Type, result: Type) -> bool:
    return all(isinstance(of, BoolType) for of in (left, right, result))


def _comparable(left: Type, right: Type, result: Type) -> bool:
    return isinstance(result, BoolType) and (left == right or (is_number(left) and is_number(right)))


def _numbers(left: Type, right: Type, result: Type) -> bool:
    return all(is_number(of) for of in (left, right, result))


def _sum(left: Type, right: Type, result: Type) -> bool:
    """Tell whether ``+`` adds numbers, or puts Strings or lists behind one another."""
    if isinstance(result, StringType):
        return isinstance(left, StringType) or isinstance(right, StringType)
    if isinstance(result, ListType):
        return isinstance(left, ListType) and isinstance(right, ListType)
    return _numbers(left, right, result)


_OPERANDS: dict[str, _Operands] = {
    **dict.fromkeys(("&", "|", "^", "<<", ">>", "mod", "**"), _integers),
    **dict.fromkeys(LOGICAL, _bools),
    **dict.fromkeys(COMPARISONS, _comparable),
    **dict.fromkeys(("-", "*", "/"), _numbers),
    "+": _sum,
}


def _is_operation(op: str, left: Type, right: Type, result: Type) -> bool:
    """Return whether an operator takes operands of these types and gives one of the third."""
    return _OPERANDS[op](left, right, result)


def element_type(of: Type, indices: int) -> Type | None:
    """Return the type of an element; None where there are more indices than dimensions."""
    for _ in range(indices):
        if not isinstance(of, ListType):
            return None
        of = of.element
    return of


def _is_value(value: object, of: Type) -> bool:
    """Return whether a Python value is one of a scalar type: of its class, and an integer within its container."""
    if isinstance(of, ListType) or (isinstance(value, bool) and not isinstance(of, BoolType)):
        return False
    if not isinstance(value, _VALUES[type(of)]):
        return False
    if not (isinstance(of, IntType) and isinstance(value, int)):
        return True
    low, high = of.limits
    return low <= value <= high


def is_table(values: object, sizes: tuple[int, ...], of: Type, *, exact: bool) -> bool:
    """Return whether a table has these sizes, from the outermost in, and values of a type.

    Unless it has to be ``exact``, lists may be shorter: the type of a literal is that of its longest parts.
    """
    if not sizes:
        return _is_value(values, of)
    if not isinstance(values, tuple) or len(values) > sizes[0] or (exact and len(values) < sizes[0]):
        return False
    return all(is_table(v, sizes[1:], of, exact=exact) for v in values)
