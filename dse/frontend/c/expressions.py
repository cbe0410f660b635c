"""C expressions to the IR: pure expressions over arrays and scalars, calls of mathematical functions."""

import re
from dataclasses import dataclass

from pycparser import c_ast

from dse.base.numbers import shortened
from dse.base.source import Span
from dse.frontend.c import constants
from dse.frontend.c.scope import ArraySymbol, KernelScope, Number, ScalarSymbol, arithmetic_type, is_float
from dse.program.ir import Binary, BinaryOp, Call, Cast, Conditional, Const, Expr, Index, Load, Unary
from dse.program.types import BOOL, FLOAT32, FLOAT64, INT32, BoolType, IntType, Type

LONGEST_INTEGER = 400
"""Digits of an integer; longer ones fit no type, and Python does not convert them."""

MATH = frozenset(
    [
        *("sqrt", "rsqrt", "cbrt", "hypot", "fabs", "abs", "labs", "exp", "exp2", "log", "log2", "log10", "pow"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
        *("floor", "ceil", "round", "trunc", "fmin", "fmax", "min", "max", "fmod"),
    ]
)
"""Mathematical functions, without the f of their float forms; each is one instruction."""

_SAME: tuple[BinaryOp, ...] = ("+", "-", "*", "/", "&", "|", "^", "<<", ">>")
_ARITHMETIC: dict[str, BinaryOp] = {**{op: op for op in _SAME}, "%": "mod"}
_COMPARISON: dict[str, BinaryOp] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "!="}
_LOGIC: dict[str, BinaryOp] = {"&&": "and", "||": "or"}
ZERO = Const(0, INT32)


@dataclass(slots=True)
class ExpressionLowering:
    """Lowers expressions in a scope; after an error it goes on with a zero, so that one run finds all errors."""

    scope: KernelScope

    def lower(self, node: c_ast.Node) -> Expr:
        """Return the IR of an expression used for its value; a comparison becomes 0 or 1."""
        found = self.any(node)
        if isinstance(found.type, BoolType):
            return Conditional(found, Const(1, INT32), ZERO, INT32, found.span)
        return found

    def condition(self, node: c_ast.Node) -> Expr:
        """Return the IR of a condition, of type bool."""
        found = self.any(node)
        if isinstance(found.type, BoolType):
            return found
        return Binary("!=", found, Const(0, INT32), BOOL, found.span)

    def any(self, node: c_ast.Node) -> Expr:  # ways: one case for each expression of C
        """Return the IR of an expression; comparisons and logic are bool."""
        self.scope.count(1, node)
        match node:
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ID():
                return self._name(node)
            case c_ast.ArrayRef():
                return self.element(node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                condition = self.condition(node.cond)
                then, otherwise = self.lower(node.iftrue), self.lower(node.iffalse)
                of = arithmetic_type(then.type, otherwise.type)
                return Conditional(condition, then, otherwise, of, self.scope.file.span(node))
            case c_ast.Cast():
                target = self.scope.scalar_type(node.to_type.type)
                return Cast(self.lower(node.expr), target or INT32, self.scope.file.span(node))
            case c_ast.FuncCall():
                return self._call(node)
            case c_ast.Assignment():
                return self._refuse("an assignment inside an expression", node, "assign in a statement of its own")
            case c_ast.StructRef():
                return self._refuse("a struct member", node, "use arrays and scalars")
            case _:
                return self._refuse(f"this expression ({type(node).__name__})", node, "write it with operators")

    def _refuse(self, what: str, node: c_ast.Node, expected: str) -> Expr:
        self.scope.error(f"{what} is not supported in a kernel", node, expected)
        return ZERO

    def _constant(self, node: c_ast.Constant) -> Expr:
        span = self.scope.file.span(node)
        text = str(node.value)
        if "float" in node.type or "double" in node.type:
            return Const(float_value(text), FLOAT32 if text[-1] in "fF" else FLOAT64, span)
        if node.type == "char":
            body = text[1:-1]
            escapes = {"n": 10, "t": 9, "0": 0, "r": 13, "\\": 92, "'": 39}
            return Const(escapes.get(body[1:], 0) if body.startswith("\\") else ord(body), INT32, span)
        digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", text)
        if digits is None:
            return self._refuse("a string", node, "kernels have no text")
        value_int = _integer_of(digits.group())
        if value_int is None:
            return self._refuse(f"the number {shortened(text)}", node, "write a number that fits its type")
        return Const(value_int, integer_type(value_int, text[digits.end() :]), span)

    def _name(self, node: c_ast.ID) -> Expr:
        span = self.scope.file.span(node)
        symbol = self.scope.find(node.name)
        value = self.scope.constant(node.name)
        if value is not None and not isinstance(symbol, ArraySymbol):
            self.scope.note_size(node.name)
            return number(value, span)
        match symbol:
            case None:
                if node.name not in self.scope.broken:
                    hint = f"declare it, or give it with --define {node.name}=VALUE"
                    self.scope.error(f"{node.name} is not declared", node, hint)
                return ZERO
            case ArraySymbol():
                return self._refuse(f"the array {node.name} as a value", node, "use an element: write [..] after it")
            case ScalarSymbol():
                return self._scalar(symbol, node, span)

    def _scalar(self, symbol: ScalarSymbol, node: c_ast.ID, span: Span) -> Expr:
        if symbol.inlined is not None:
            self.scope.count(symbol.size, node)
            return symbol.inlined
        if symbol.stale:
            self.scope.error(
                f"{node.name} is used after the loop that counts with it",
                node,
                "keep the value in a variable of its own",
            )
        if symbol.value is not None:
            return number(symbol.value, span, symbol.variable.type)
        return Load(symbol.variable.name, symbol.variable.type, span)

    def element(self, node: c_ast.ArrayRef) -> Expr:
        """Return the IR of an array element."""
        indices: list[c_ast.Node] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            indices.insert(0, base.subscript)
            base = base.name
        if not isinstance(base, c_ast.ID):
            return self._refuse("pointer arithmetic", node, "index an array by name")
        symbol = self.scope.find(base.name)
        if symbol is None and base.name in self.scope.broken:
            return ZERO
        if not isinstance(symbol, ArraySymbol):
            what = "is not declared" if symbol is None else "is not an array"
            self.scope.error(f"{base.name} {what}", node, "declare it as an array parameter")
            return ZERO
        if len(indices) != len(symbol.info.dims):
            return self._refuse(
                f"{len(indices)} subscripts on {base.name}, which has {len(symbol.info.dims)} dimensions",
                node,
                "give one subscript for each dimension",
            )
        lowered = tuple(self.lower(i) for i in indices)
        return Index(symbol.info.name, lowered, symbol.info.element, self.scope.file.span(node))

    def _unary(self, node: c_ast.UnaryOp) -> Expr:
        span = self.scope.file.span(node)
        match node.op:
            case "-":
                operand = self.lower(node.expr)
                if isinstance(operand, Const) and not isinstance(operand.value, str):
                    return Const(-operand.value, operand.type, span)
                return Unary("-", operand, arithmetic_type(operand.type, INT32), span)
            case "+":
                return self.lower(node.expr)
            case "~":
                operand = self.lower(node.expr)
                return Unary("~", operand, arithmetic_type(operand.type, INT32), span)
            case "!":
                return Unary("not", self.condition(node.expr), BOOL, span)
            case "++" | "--" | "p++" | "p--":
                return self._refuse(f"{node.op.strip('p')} inside an expression", node, "put it in a statement")
            case "*" | "&":
                return self._refuse("pointer arithmetic", node, "write an array element: a[i] instead of *(a + i)")
            case _:
                return self._refuse(f"the operator {node.op}", node, "write the number")

    def _binary(self, node: c_ast.BinaryOp) -> Expr:
        span = self.scope.file.span(node)
        if node.op in _LOGIC:
            return Binary(_LOGIC[node.op], self.condition(node.left), self.condition(node.right), BOOL, span)
        left, right = self.lower(node.left), self.lower(node.right)
        if node.op in _COMPARISON:
            return Binary(_COMPARISON[node.op], left, right, BOOL, span)
        return self.arithmetic(node.op, left, right, node)

    def arithmetic(self, op: str, left: Expr, right: Expr, node: c_ast.Node) -> Expr:
        """Return an arithmetic operation, folded when both sides are integer constants."""
        of = arithmetic_type(left.type, right.type)
        if op in ("%", "&", "|", "^", "<<", ">>") and is_float(of):
            return self._refuse(f"{op} of floating numbers", node, "convert to an integer first")
        if op in ("<<", ">>"):
            of = arithmetic_type(left.type, INT32)
        folded = fold(op, left, right)
        if folded is not None:
            return Const(folded, of, left.span)
        return Binary(_ARITHMETIC[op], left, right, of, self.scope.file.span(node))

    def _call(self, node: c_ast.FuncCall) -> Expr:
        arguments, sizes = list[Expr](), list[int]()
        for argument in node.args.exprs if node.args is not None else []:
            before = self.scope.made
            arguments.append(self.lower(argument))
            sizes.append(self.scope.made - before)
        name = node.name.name if isinstance(node.name, c_ast.ID) else "?"
        plain = name if name in MATH else name.removesuffix("f").lstrip("_")
        if plain in MATH:
            of = FLOAT32 if name.endswith("f") else _result_type(plain, arguments)
            return Call(plain, tuple(arguments), of, self.scope.file.span(node))
        return self._inline(name, arguments, sizes, node)

    def _inline(self, name: str, arguments: list[Expr], sizes: list[int], node: c_ast.FuncCall) -> Expr:
        """Put the expression of a function ``{ return expression; }`` in the place of its call.

        ``sizes``: the nodes that each argument has, and puts wherever its parameter stands.
        """
        if name in self.scope.calls:
            return self._refuse(f"recursion of {name}", node, "write it as a loop")
        result, parameters = self._function(name)
        if result is None or len(parameters) != len(arguments):
            hint = "use a mathematical function, or a function of one return statement"
            return self._refuse(f"the call of {name}", node, hint)
        level: dict[str, ArraySymbol | ScalarSymbol] = {}
        for parameter, argument, size in zip(parameters, arguments, sizes, strict=True):
            of = self.scope.scalar_type(parameter.type)
            level[str(parameter.name)] = self.scope.inlined(str(parameter.name), of or INT32, argument, size)
        self.scope.levels.append(level)
        self.scope.calls += (name,)
        lowered = self.lower(result)
        self.scope.calls = self.scope.calls[:-1]
        self.scope.levels.pop()
        return lowered

    def _function(self, name: str) -> tuple[c_ast.Node | None, list[c_ast.Node]]:
        """Return the expression and the parameters of a function ``{ return expression; }``; None if it is none."""
        for node in self.scope.file.tree.ext:
            if isinstance(node, c_ast.FuncDef) and node.decl.name == name:
                declared = node.decl.type.args
                parameters = [] if declared is None else list(declared.params)
                match node.body.block_items:
                    case [c_ast.Return(expr=expression)]:
                        return expression, parameters
                return None, parameters
        return None, []

    def constant_value(self, node: c_ast.Node) -> int | None:
        """Return the value of a constant integer expression, None if it is not one (no error is recorded)."""
        match node:
            case c_ast.ID():
                return self._constant_name(node.name)
            case c_ast.Constant():
                return self._constant_integer(node)
            case c_ast.UnaryOp(op="-"):
                value = self.constant_value(node.expr)
                return None if value is None else -value
            case c_ast.BinaryOp():
                return self._constant_operation(node)
            case c_ast.Cast():
                return self.constant_value(node.expr)
            case _:
                return None

    def _constant_integer(self, node: c_ast.Constant) -> int | None:
        if node.type.replace("unsigned ", "").replace("long ", "") not in ("int", "long", "char"):
            return None
        found = self._constant(node)
        return found.value if isinstance(found, Const) and isinstance(found.value, int) else None

    def _constant_operation(self, node: c_ast.BinaryOp) -> int | None:
        left, right = self.constant_value(node.left), self.constant_value(node.right)
        return None if left is None or right is None else constants.whole(node.op, left, right, INT32.size)

    def _constant_name(self, name: str) -> int | None:
        symbol, value = self.scope.find(name), self.scope.constant(name)
        if value is not None:
            self.scope.note_size(name)
        elif isinstance(symbol, ScalarSymbol):
            value = symbol.value
        return value if isinstance(value, int) else None


def number(value: Number, span: Span, of: Type | None = None) -> Const:
    """Return a constant; without a type an integer is int or long, a float double."""
    if of is None:
        of = integer_type(value, "") if isinstance(value, int) else FLOAT64
    return Const(float(value) if is_float(of) else value, of, span)


def float_value(text: str) -> float:
    """Return the value of a floating literal of C."""
    plain = text.rstrip("fFlL") if "p" in text.lower() or not text.lower().startswith("0x") else text
    return float.fromhex(plain) if plain.lower().startswith("0x") else float(plain)


def integer_type(value: int, suffix: str) -> IntType:
    """Return the type of an integer literal."""
    long = "l" in suffix.lower() or not -(1 << 31) <= value < 1 << 31
    return IntType(64 if long else 32, "u" not in suffix.lower())


def fold(op: str, left: Expr, right: Expr) -> int | float | None:
    """Return the value of an operation on two numbers, None if it is not one or cannot be had."""
    match left, right:
        case Const(value=int(a), type=of), Const(value=int(b)):
            return constants.whole(op, int(a), int(b), of.size if isinstance(of, IntType) else 0)
        case Const(value=int() | float() as x), Const(value=int() | float() as y):
            return constants.real(op, x, y)
        case _:
            return None


def _result_type(name: str, arguments: list[Expr]) -> Type:
    if name in ("abs", "labs", "min", "max") and arguments:
        of = arguments[0].type
        for argument in arguments[1:]:
            of = arithmetic_type(of, argument.type)
        return of
    return FLOAT64


def _integer_of(word: str) -> int | None:
    """Return the value of an integer of C, or None where it is too large for every type or has a wrong digit."""
    base = 16 if word[:2].lower() == "0x" else 8 if word[0] == "0" else 10
    if len(word) > LONGEST_INTEGER or (base == 8 and not set(word) <= set("01234567")):
        return None
    value = int(word, base)
    return value if value >> 64 == 0 else None
