"""Random actors that hold every node of the IR, with types and names that mean nothing: the text keeps all."""

import math
import random
from collections.abc import Callable
from typing import TypeVar

from dse.base.source import NO_SPAN, Span
from dse.program import explicit as ex
from dse.program import ir
from dse.program.types import BOOL, STRING, FloatType, IntType, ListType, Type

Item = TypeVar("Item")

NAMES = (
    "a",
    "b_1",
    "x~0",
    "in.put",
    "state",
    "count",
    "output",
    "end",
    "i32",
    "if",
    "",
    "it's",
    'q"',
    "é",
    "a b\n",
    "$t",
)
STRINGS = ("", "plain", 'say "so"', "back\\slash", "line\nline", "tab\t", "\x00\x7f", "ü ∞", "'", "\\u{41}")
KINDS: tuple[ir.VariableKind, ...] = ("state", "constant", "parameter", "local", "token", "loop")
BINARY: tuple[ir.BinaryOp, ...] = (
    *("or", "and", "|", "^", "&", "=", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "mod", "**"),
)
UNARY: tuple[ir.UnaryOp, ...] = ("~", "not", "-", "#")
FLOATS = (0.0, -0.0, 1.5, -2.0, 1e300, 5e-324, 0.1, 1e16, math.inf, -math.inf, math.nan, 3.4028234663852886e38)


class RandomIr:
    """Makes random nodes; ``spans``: with places, those of the actor's file and of others."""

    def __init__(self, seed: int, *, spans: bool = False) -> None:
        self.random = random.Random(seed)
        self.spans = spans

    # Small things -----------------------------------------------------------------------------------------------------

    def chance(self, likely: float = 0.5) -> bool:
        return self.random.random() < likely

    def name(self) -> str:
        return self.random.choice(NAMES)

    def string(self) -> str:
        return self.random.choice(STRINGS)

    def small(self) -> int:
        return self.random.randint(0, 4)

    def several(self, make: Callable[[], Item], most: int = 3) -> tuple[Item, ...]:
        return tuple(make() for _ in range(self.random.randint(0, most)))

    def span(self) -> Span:
        if not self.spans or self.chance(0.3):
            return NO_SPAN
        path = self.random.choice(("actor.cal", "other unit.cal", 'odd"\n.cal'))
        return Span(path, *(self.random.randint(0, 999) for _ in range(4)))

    def type(self, depth: int = 2) -> Type:
        match self.random.randint(0, 6 if depth else 4):
            case 0:
                return BOOL
            case 1:
                return STRING
            case 2:
                return FloatType(self.random.choice((16, 32, 64)))
            case 3 | 4:
                return IntType(self.random.choice((1, 3, 8, 32, 64, 100)), self.chance())
            case _:
                return self.list_type(depth)

    def list_type(self, depth: int = 2) -> ListType:
        return ListType(self.type(depth - 1), self.random.choice((0, 1, 2, 7, 4096)))

    def value(self) -> int | float | bool | str:
        match self.random.randint(0, 3):
            case 0:
                return self.chance()
            case 1:
                return self.string()
            case 2:
                return self.random.choice(FLOATS)
            case _:
                return self.random.choice((0, 1, -1, 5, -128, 2**70, -(2**70), self.random.randint(-99, 99)))

    def table(self, depth: int = 2) -> tuple[object, ...]:
        if depth and self.chance(0.3):
            return (self.table(depth - 1),) * self.random.choice((1, 2, 5)) + self.several(
                lambda: self.table(depth - 1)
            )
        values = self.several(self.value, 4)
        return (
            values
            + (self.value(),) * self.random.choice((0, 0, 1, 3, 4, 30))
            + self.several(self.value, self.random.choice((0, 2, 20)))
        )

    # Expressions ------------------------------------------------------------------------------------------------------

    def expressions(self, depth: int, most: int = 3) -> tuple[ir.Expr, ...]:
        return self.several(lambda: self.expression(depth), most)

    def expression(self, depth: int = 3) -> ir.Expr:
        leaves: tuple[Callable[[int], ir.Expr], ...] = (self.const, self.const_list, self.load)
        inner = (self.index, self.unary, self.binary, self.binary, self.conditional, self.call, self.list_expression)
        more = (self.generator, self.cast, self.check, self.copy)
        return self.random.choice((*leaves, *inner, *more) if depth else leaves)(depth - 1)

    def const(self, _depth: int) -> ir.Expr:
        return ir.Const(self.value(), self.type(), self.span())

    def const_list(self, _depth: int) -> ir.Expr:
        return ir.ConstList(self.table(), self.type(), self.span())

    def load(self, _depth: int) -> ir.Expr:
        return ir.Load(self.name(), self.type(), self.span())

    def index(self, depth: int) -> ir.Expr:
        return ir.Index(self.name(), (self.expression(depth), *self.expressions(depth, 1)), self.type(), self.span())

    def unary(self, depth: int) -> ir.Expr:
        return ir.Unary(self.random.choice(UNARY), self.expression(depth), self.type(), self.span())

    def binary(self, depth: int) -> ir.Expr:
        op = self.random.choice(BINARY)
        return ir.Binary(op, self.expression(depth), self.expression(depth), self.type(), self.span())

    def conditional(self, depth: int) -> ir.Expr:
        parts = self.expression(depth), self.expression(depth), self.expression(depth)
        return ir.Conditional(*parts, self.type(), self.span())

    def call(self, depth: int) -> ir.Expr:
        return ir.Call(self.name(), self.expressions(depth), self.type(), self.span())

    def list_expression(self, depth: int) -> ir.Expr:
        return ir.ListExpr(self.expressions(depth), self.type(), self.span())

    def generator(self, depth: int) -> ir.Expr:
        loops = (self.loop(depth), *self.several(lambda: self.loop(depth), 1))
        return ir.Generator(self.expressions(depth), loops, self.type(), self.span())

    def loop(self, depth: int) -> ir.GeneratorLoop:
        return ir.GeneratorLoop(self.variable("loop", 0), self.expression(depth), self.expression(depth))

    def cast(self, depth: int) -> ir.Expr:
        return ir.Cast(self.expression(depth), self.type(), self.span())

    def check(self, depth: int) -> ir.Expr:
        size = self.small() if self.chance() else None
        return ir.Check(self.expression(depth), size, self.chance(), self.chance(), self.type(), self.span())

    def copy(self, depth: int) -> ir.Expr:
        return ir.Copy(self.expression(depth), self.list_type(), self.chance(), self.span())

    def variable(self, usual: ir.VariableKind, depth: int = 2) -> ir.Variable:
        name = self.name()
        source = name if self.chance(0.7) else self.string()
        kind = usual if self.chance(0.9) else self.random.choice(KINDS)
        initial = self.expression(depth) if depth and self.chance(0.2) else None
        return ir.Variable(name, source, self.type(), kind, initial, self.span())

    # Statements -------------------------------------------------------------------------------------------------------

    def statements(self, depth: int = 2) -> tuple[ir.Stmt, ...]:
        return self.several(lambda: self.statement(depth), 4)

    def statement(self, depth: int) -> ir.Stmt:
        single: tuple[Callable[[], ir.Stmt], ...] = (self.declare, self.assign, self.call_statement, self.print)
        more = (self.copy_into, self.read, self.consume, self.write, self.count, self.evaluate)
        blocks = (lambda: self.if_(depth - 1), lambda: self.while_(depth - 1), lambda: self.foreach(depth - 1))
        return self.random.choice((*single, *more, *blocks, *blocks) if depth else (*single, *more))()

    def declare(self) -> ir.Declare:
        value = self.expression() if self.chance() else None
        return ir.Declare(self.variable("local"), value, self.span())

    def assign(self) -> ir.Stmt:
        return ir.Assign(self.name(), self.expressions(1, 2), self.expression(), self.span())

    def call_statement(self) -> ir.Stmt:
        return ir.CallStmt(self.name(), self.expressions(2), self.span())

    def print(self) -> ir.Stmt:
        return ir.Print(self.expression() if self.chance() else None, self.chance(), self.span())

    def if_(self, depth: int) -> ir.Stmt:
        return ir.If(self.expression(), self.statements(depth), self.statements(depth), self.span())

    def while_(self, depth: int) -> ir.Stmt:
        return ir.While(self.expression(), self.statements(depth), self.span())

    def foreach(self, depth: int) -> ir.Stmt:
        bounds = self.expression(1), self.expression(1)
        step = self.random.choice((1, 2, -1))
        return ir.ForEach(self.variable("loop"), *bounds, self.statements(depth), self.span(), step)

    def copy_into(self) -> ir.Stmt:
        return ir.CopyInto(self.name(), self.expressions(1, 2), self.expression(), self.chance(), self.span())

    def read(self) -> ir.ReadTokens:
        numbers = self.small(), self.small(), self.small(), self.small()
        return ir.ReadTokens(self.variable("token"), *numbers, self.chance(), self.span())

    def consume(self) -> ir.Stmt:
        return ir.ConsumeTokens(self.small(), self.small(), self.span())

    def write(self) -> ir.Stmt:
        return ir.WriteTokens(self.small(), self.expressions(2), self.small(), self.span())

    def count(self) -> ir.Stmt:
        return ir.Count(self.small(), self.span())

    def evaluate(self) -> ir.Stmt:
        return ir.Evaluate(self.expression(), self.span())

    # Actors -----------------------------------------------------------------------------------------------------------

    def routine(self) -> ir.Routine:
        return ir.Routine(
            name=self.name(),
            source_name=self.string(),
            parameters=self.several(lambda: self.variable("parameter")),
            declarations=self.several(self.declare),
            body=self.statements(),
            result=self.expression() if self.chance() else None,
            result_type=self.type() if self.chance() else None,
            span=self.span(),
        )

    def native(self) -> ir.Native:
        parameters = self.several(lambda: self.variable("parameter"))
        result = self.type() if self.chance() else None
        return ir.Native(self.name(), self.name(), self.string(), parameters, result, self.span())

    def port(self) -> ir.Port:
        return ir.Port(self.name(), self.type(), self.span())

    def action(self) -> ir.Action:
        return ir.Action(
            name=self.name(),
            tagged=self.chance(),
            inputs=self.several(self.input_pattern),
            outputs=self.several(lambda: ir.OutputPattern(self.small(), self.expressions(2), self.small())),
            guards=self.expressions(2),
            declarations=self.several(self.declare),
            body=self.statements(),
            schedule_outputs=self.chance(),
            span=self.span(),
        )

    def input_pattern(self) -> ir.InputPattern:
        return ir.InputPattern(self.small(), self.several(lambda: self.variable("token")), self.small())

    def transition(self) -> ir.Transition:
        return ir.Transition(self.small(), self.small())

    def actor(self) -> ir.Actor:
        return ir.Actor(
            name=self.name(),
            path="actor.cal",
            inputs=self.several(self.port),
            outputs=self.several(self.port),
            variables=self.several(lambda: self.variable("state")),
            routines=self.several(self.routine),
            natives=self.several(self.native),
            actions=self.several(self.action, 4),
            initializers=self.several(self.small),
            states=self.several(self.name),
            initial_state=self.small(),
            transitions=self.several(lambda: self.several(self.transition)),
            span=self.span(),
            has_fsm=self.chance(),
            native=self.chance(),
        )

    # Explicit actors --------------------------------------------------------------------------------------------------

    def explicit(self) -> ex.ExplicitActor:
        return ex.ExplicitActor(
            actor=self.actor(),
            wiring=self.wiring(),
            variables=self.several(lambda: self.variable("state")),
            routines=self.several(self.routine, 2),
            firings=self.several(lambda: self.statements() if self.chance(0.8) else None),
            start=self.choice(),
            choice=self.choice(),
            loops=self.several(lambda: (self.span(), self.string())),
        )

    def wiring(self) -> ex.Wiring:
        return ex.Wiring(
            inputs=self.several(lambda: self.type() if self.chance() else None),
            loops=self.several(lambda: (self.small(), self.small())),
            fan_outs=self.several(self.small),
            accesses=self.chance(),
            rounds=self.chance(),
        )

    def choice(self, depth: int = 3) -> ex.Choice:
        return self.several(lambda: self.decision(depth))

    def decision(self, depth: int) -> ex.Decision:
        match self.random.randint(0, 7 if depth else 3):
            case 0:
                return ex.Peek(self.several(self.read))
            case 1:
                return ex.Fire(self.small(), self.small() if self.chance() else None)
            case 2:
                return ex.Blocked()
            case 3:
                return ex.AwaitRoom()
            case 4:
                return ex.ByState(self.several(lambda: self.choice(depth - 1)))
            case _:
                return ex.When(self.condition(), self.choice(depth - 1), self.choice(depth - 1), self.span())

    def condition(self) -> ex.Condition:
        match self.random.randint(0, 2):
            case 0:
                return ex.HasTokens(self.several(self.need))
            case 1:
                return ex.HasRoom(self.several(self.need))
            case _:
                return ex.Guard(self.small(), self.expressions(2))

    def need(self) -> ex.Need:
        return ex.Need(self.small(), self.small())
