"""Generated Python of random expressions gives what a plain evaluator of unbounded integers gives (cal.md 2.0, 2.1)."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    ConstList,
    Declare,
    Expr,
    Index,
    Load,
    Print,
    Stmt,
    Transition,
    Unary,
    Variable,
)
from dse.program.network import Instance, Network
from dse.program.types import BOOL, IntType, ListType, Type
from dse.program.verify.actors import verify
from dse.program.verify.findings import assert_none
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.examples import examples

WIDTHS = (1, 3, 7, 8, 9, 16, 20, 31, 32, 33, 64)
ANY = IntType(64, True)
INT_OPS: tuple[BinaryOp, ...] = ("+", "-", "*", "&", "|", "^", "/", "mod", "mod", "<<", ">>")
COMPARISONS: tuple[BinaryOp, ...] = ("=", "!=", "<", "<=", ">", ">=")
LENGTH = 4


class Writer:
    """Writes random programs. Plain ``random`` from a drawn seed: hypothesis keeps its own examples too small here."""

    def __init__(self, seed: int, *, any_counts: bool = False) -> None:
        self.any_counts = any_counts
        """Whether shift counts may be negative and beyond the width."""
        self.random = random.Random(seed)
        # Few types a program, so that stores meet containers as wide as the operands.
        widths = [self.random.choice(WIDTHS) for _ in range(self.random.randint(1, 3))]
        self.types = [IntType(w, self.random.random() < 0.6) for w in widths]
        self.names: dict[str, Type] = {}

    def value(self, of: IntType) -> int:
        """A value that the container holds, corner cases often."""
        bits = of.container_bits
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if of.signed else (0, (1 << bits) - 1)
        return self.random.choice([low, high, 0, 1, max(low, -1), self.random.randint(low, high)])

    def condition(self, depth: int) -> Expr:
        """A boolean expression."""
        kind = self.random.choice(("compare", "not", "and", "or")) if depth else "compare"
        if kind == "not":
            return Unary("not", self.condition(depth - 1), BOOL)
        if kind == "compare":
            op = self.random.choice(COMPARISONS)
            return Binary(op, self.expression(max(0, depth - 1)), self.expression(max(0, depth - 1)), BOOL)
        return Binary("and" if kind == "and" else "or", self.condition(depth - 1), self.condition(depth - 1), BOOL)

    def expression(self, depth: int) -> Expr:
        """An integer expression over scalar and list variables."""
        kinds = ("const", "load", "index", "unary", "if", "binary", "binary", "binary", "binary")
        match self.random.choice(kinds) if depth else "load":
            case "const":
                return Const(self.random.choice([self.random.randint(0, 70), self.random.getrandbits(40)]), ANY)
            case "unary":
                return Unary(self.random.choice(("-", "~")), self.expression(depth - 1), ANY)
            case "if":
                branches = self.expression(depth - 1), self.expression(depth - 1)
                return Conditional(self.condition(depth - 1), *branches, ANY)
            case "binary":
                return self.operation(depth)
            case _:
                name = self.random.choice(sorted(self.names))
                of = self.names[name]
                if isinstance(of, ListType):
                    return Index(name, (self.expression(max(0, depth - 1)),), of.element)
                return Load(name, of)

    def operation(self, depth: int) -> Expr:
        """A binary operation; shift counts stay within some hundred."""
        op = self.random.choice(INT_OPS)
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if op in ("<<", ">>") and self.any_counts and self.random.random() < 0.5:
            right = Binary("mod", right, Const(self.random.choice((3, 40, 70, 200)), ANY), ANY)
        elif op in ("<<", ">>"):
            right = Binary("&", right, Const(self.random.choice((7, 15, 63)), ANY), ANY)
        elif op in ("/", "mod") and self.random.random() < 0.4:
            right = Const(self.random.randint(1, 300), ANY)
        return Binary(op, left, right, ANY)

    def variables(self) -> tuple[list[Variable], dict[str, object]]:
        """State variables and the values that they start with."""
        variables: list[Variable] = []
        env: dict[str, object] = {}
        for name in "abc":
            of = self.random.choice(self.types)
            value = self.value(of)
            env[name] = value
            variables.append(Variable(name, name, of, "state", Const(value, of)))
        of = self.random.choice(self.types)
        table = [self.value(of) for _ in range(LENGTH)]
        env["l"] = table
        whole = ListType(of, LENGTH)
        variables.append(Variable("l", "l", whole, "state", ConstList(tuple(table), whole)))
        self.names = {v.name: v.type for v in variables}
        return variables, env


class DivisionByZero(Exception):
    """The evaluator divides by zero."""


def evaluate(expr: Expr, env: dict[str, object]) -> int:
    """The value of an expression, straight from the rules."""
    match expr:
        case Const():
            assert isinstance(expr.value, int)
            return expr.value
        case Load():
            value = env[expr.name]
            assert isinstance(value, int)
            return value
        case Index():
            values, index = env[expr.name], evaluate(expr.indices[0], env)
            assert isinstance(values, list)
            return int(values[index]) if 0 <= index < len(values) else 0
        case Unary():
            value = evaluate(expr.operand, env)
            return {"-": -value, "~": ~value, "not": int(not value)}[expr.op]
        case Conditional():
            return evaluate(expr.then if evaluate(expr.condition, env) else expr.otherwise, env)
        case Binary():
            return evaluate_binary(expr, env)
        case _:
            raise AssertionError(expr)


def evaluate_binary(expr: Binary, env: dict[str, object]) -> int:
    left = evaluate(expr.left, env)
    if expr.op in ("and", "or"):
        return evaluate(expr.right, env) if bool(left) == (expr.op == "and") else left
    right = evaluate(expr.right, env)
    match expr.op:
        case "/" | "mod":
            if right == 0:
                raise DivisionByZero
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if expr.op == "/" else left - quotient * right
        case "<<":
            return int(left * 2 ** masked(right, expr.left.type))
        case ">>":
            return int(left // 2 ** masked(right, expr.left.type))
        case "&" | "|" | "^":
            bits = {"&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b}
            return bits[expr.op](left, right)
        case "+" | "-" | "*":
            return {"+": left + right, "-": left - right, "*": left * right}[expr.op]
        case _:
            truth = {"=": left == right, "!=": left != right, "<": left < right, "<=": left <= right}
            truth |= {">": left > right, ">=": left >= right}
            return int(truth[expr.op])


def masked(count: int, left: Type) -> int:
    """The count of a shift: one below 0 keeps its last 5 bits, or 6 for more than 32 bits on the left (cal.md 2.1)."""
    assert isinstance(left, IntType)
    return count if count >= 0 else count % (64 if left.size > 32 else 32)


def wrap(value: int, of: Type) -> int:
    """Model R, in other words than the product's."""
    assert isinstance(of, IntType)
    bits = next(b for b in (8, 16, 32, 64) if of.size <= b)
    value %= 2**bits
    return value - 2**bits if of.signed and value >= 2 ** (bits - 1) else value


def touching(variables: list[Variable]) -> tuple[Stmt, ...]:
    """Statements that write everything, so that nothing counts as constant."""
    return tuple(
        Assign(v.name, (Const(0, ANY),) if isinstance(v.type, ListType) else (), Const(0, ANY)) for v in variables
    )


def run_statements(variables: list[Variable], body: list[Stmt]) -> list[int]:
    """The numbers that one firing prints."""
    ran = Variable("ran", "ran", BOOL, "state", Const(value=False, type=BOOL))
    once = Unary("not", Load("ran", BOOL), BOOL)
    begin = Assign("ran", (), Const(value=True, type=BOOL))
    action = Action("go", True, (), (), (once,), (), (begin, *body))
    never = Action("never", True, (), (), (Const(value=False, type=BOOL),), (), touching(variables))
    actor = Actor(
        "A",
        "",
        (),
        (),
        (ran, *variables),
        (),
        (),
        (action, never),
        (),
        ("",),
        0,
        ((Transition(0, 0), Transition(1, 0)),),
    )
    assert_none(verify(actor), "the random actor")
    network = Network(name="N", path="N.xdf", instances=(Instance(name="a", actor=actor),), connections=())
    return [int(word) for word in run_network(network, RunOptions()).stdout.split()]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 1 << 32))
def test_stores_and_values_equal_those_of_a_plain_evaluator(seed: int) -> None:
    writer = Writer(seed, any_counts=True)
    variables, env = writer.variables()
    body: list[Stmt] = []
    expected: list[int] = []
    for k in range(25):
        of, expr = writer.random.choice(writer.types), writer.expression(writer.random.randint(1, 3))
        try:
            value = evaluate(expr, env)
        except DivisionByZero:
            continue
        target = Variable(f"x{k}", f"x{k}", of, "local")
        cell = Variable(f"y{k}", f"y{k}", ListType(of, 2), "local")
        body += [
            Declare(target, expr),
            Print(Load(target.name, of), newline=True),
            Declare(cell, None),
            Assign(cell.name, (Const(1, ANY),), expr),
            Print(Index(cell.name, (Const(1, ANY),), of), newline=True),
            Print(expr, newline=True),
        ]
        expected += [wrap(value, of), wrap(value, of), value]
    assert run_statements(variables, body) == expected
