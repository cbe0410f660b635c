"""Random statements and routines of RVC-CAL as text. Every loop ends, and every recursion."""

from collections.abc import Callable

from dse.program.types import INT32, STRING, IntType, ListType, Type
from dse.program.typing import is_convertible
from tests.property.native_expressions import ExpressionWriter, Named, Scope, Signature, type_text

INDENT = "  "
_LARGEST_ROUNDS = 7


class StatementWriter:
    """Writes the statements of one actor; ``tag`` begins each line that it prints."""

    def __init__(self, expressions: ExpressionWriter, tag: str) -> None:
        self.expressions = expressions
        self.tag = tag
        self.chance = expressions.chance
        self.pick = expressions.pick
        self.names = 0

    def fresh(self, prefix: str) -> str:
        """Return an unused name."""
        self.names += 1
        return f"{prefix}{self.names}"

    # Declarations -----------------------------------------------------------------------------------------------------

    def declaration(self, of: Type, name: str, scope: Scope, sign: str = ":=") -> str:
        """Return the declaration of a variable, with an initial value most often."""
        text = self.declared(of, name)
        if sign == "=" or self.chance(0.8):
            value = self.expressions.value(of, scope, 2)
            return f"{text} {sign} {value.text}"
        return text

    def declared(self, of: Type, name: str) -> str:
        """Return type and name, the dimensions of a list in one of their two forms."""
        if isinstance(of, ListType) and self.chance(0.5):
            sizes = ""
            while isinstance(of, ListType):
                sizes, of = f"{sizes}[{of.size}]", of.element
            return f"{type_text(of)} {name}{sizes}"
        return f"{type_text(of)} {name}"

    def locals(self, scope: Scope, count: int, *, hiding: bool = True) -> tuple[list[str], Scope]:
        """Return declarations of local variables, each of which may use those before, and the scope with them.

        ``hiding``: whether one may have the name of a variable outside.
        """
        texts: list[str] = []
        own: list[str] = []
        for _ in range(count):
            of: Type = self.expressions.list_type() if self.chance(0.35) else self.expressions.scalar_type()
            hides = [v.name for v in scope.variables if v.writable and v.name not in own]
            hide = hiding and bool(hides) and self.chance(0.1)
            name = self.fresh("v") if not hide else self.pick(hides)
            constant = self.chance(0.2)
            visible = Scope([v for v in scope.variables if v.name != name], scope.functions, scope.procedures)
            texts.append(self.declaration(of, name, visible, "=" if constant else ":="))
            own.append(name)
            scope = scope.inner(Named(name, of, writable=not constant))
        return texts, scope

    # Statements -------------------------------------------------------------------------------------------------------

    def block(self, scope: Scope, count: int, depth: int) -> list[str]:
        """Return some statements, one line or more each."""
        return [line for _ in range(count) for line in self.statement(scope, depth)]

    def statement(self, scope: Scope, depth: int) -> list[str]:
        """Return one statement."""
        makers: list[tuple[float, Callable[[Scope, int], list[str]]]] = [(0.5, self.assignment), (0.62, self.printing)]
        makers += [(0.72, self.call), (0.84, self.choice), (0.94, self.foreach), (1.0, self.while_loop)]
        kind = self.expressions.random.random() * (1.0 if depth else 0.72)
        for bound, make in makers:
            if kind < bound:
                return make(scope, depth)
        return self.assignment(scope, depth)

    def assignment(self, scope: Scope, _depth: int) -> list[str]:
        """Return an assignment to a variable, an element or a sub-list."""
        targets = [v for v in scope.variables if v.writable]
        if not targets:
            return self.printing(scope, 0)
        target = self.pick(targets)
        text, of = target.name, target.type
        while isinstance(of, ListType) and self.chance(0.7):
            text += f"[{self.expressions.index(of.size, scope)}]"
            of = of.element
        if of == STRING:  # made of text only, so that it does not grow without end
            scope = Scope([v for v in scope.variables if v.type != STRING and not _holds_text(v.type)])
        value = self.expressions.value(of, scope, self.pick((1, 2, 2, 3)))
        assert is_convertible(value.type, of), (value, of)
        return [f"{text} := {value.text};"]

    def printing(self, scope: Scope, _depth: int) -> list[str]:
        """Return a line of what it prints; none where it is silent."""
        if self.expressions.silent:
            return []
        if self.chance(0.05):
            return [f'println("{self.tag}");']
        value = self.expressions.printable(scope, self.pick((0, 1, 2)))
        return [f'println("{self.tag} " + {value.text});']

    def call(self, scope: Scope, depth: int) -> list[str]:
        """Return the call of a procedure."""
        if not scope.procedures:
            return self.assignment(scope, depth)
        procedure = self.pick(scope.procedures)
        arguments = self.expressions.arguments(procedure, scope, 1)
        return self.assignment(scope, depth) if arguments is None else [f"{procedure.name}({arguments});"]

    def choice(self, scope: Scope, depth: int) -> list[str]:
        """Return an if statement."""
        lines = [f"if {self.expressions.condition(scope, 2).text} then"]
        lines += self.indented(scope, 2, depth)
        if self.chance(0.3):
            lines += [f"elsif {self.expressions.condition(scope, 1).text} then", *self.indented(scope, 1, depth)]
        if self.chance(0.6):
            lines += ["else", *self.indented(scope, 1, depth)]
        return [*lines, "end"]

    def foreach(self, scope: Scope, depth: int) -> list[str]:
        """Return a foreach; its bounds may be values, and its variable narrower than they are."""
        name, expressions = self.fresh("i"), self.expressions
        kind = expressions.random.random()
        of = INT32 if kind < 0.6 else expressions.int_type()
        if kind < 0.5:
            low, high = str(self.pick((-2, 0, 0, 1))), str(self.pick((0, 2, 3)))
        elif kind < 0.8:
            low, high = self.pick(("0", "1")), f"({expressions.integer(scope, 1).text} & {_LARGEST_ROUNDS})"
        else:
            low, high, of = "-1", "3", IntType(self.pick((3, 8, 16)), True)
        inner = scope.inner(Named(name, of))
        return [f"foreach {type_text(of)} {name} in {low} .. {high} do", *self.indented(inner, 2, depth), "end"]

    def while_loop(self, scope: Scope, depth: int) -> list[str]:
        """Return a while loop over a counter that nothing else writes; without one, another statement."""
        counters = [v.name for v in scope.variables if v.name.startswith("count")]
        if not counters:
            return self.assignment(scope, depth)
        name = counters[0]
        scope = Scope([v for v in scope.variables if v.name != name], scope.functions, scope.procedures)
        also = f" and {self.expressions.condition(scope, 1).text}" if self.chance(0.4) else ""
        body = [f"{INDENT}{name} := {name} + 1;", *self.indented(scope, 2, depth)]
        return [f"{name} := 0;", f"while {name} < {self.pick((1, 3, 5))}{also} do", *body, "end"]

    def indented(self, scope: Scope, count: int, depth: int) -> list[str]:
        """Return statements inside of another one."""
        return [INDENT + line for line in self.block(scope, self.expressions.random.randint(1, count), depth - 1)]

    # Routines ---------------------------------------------------------------------------------------------------------

    def parameters(self) -> list[Named]:
        """Return parameters of a routine."""
        found = []
        for _ in range(self.expressions.random.randint(0, 3)):
            of: Type = self.expressions.list_type() if self.chance(0.4) else self.expressions.scalar_type()
            found.append(Named(self.fresh("p"), of, writable=True))
        return found

    def function(self, scope: Scope) -> tuple[list[str], Signature]:
        """Return a function of a scalar result; a few call themselves."""
        parameters = self.parameters()
        result = self.expressions.scalar_type()
        name = self.fresh("f")
        recursive = isinstance(result, IntType) and self.chance(0.25) and not self.expressions.silent
        if recursive:
            parameters = [Named(self.fresh("n"), IntType(8, True)), *parameters]
        inner = scope.inner(*parameters)
        texts, inner = self.locals(inner, self.expressions.random.randint(0, 2), hiding=not recursive)
        value = self.expressions.value(result, inner, 3).text
        if recursive:
            rest = "".join(f", {p.name}" for p in parameters[1:])
            count = parameters[0].name
            value = f"if {count} <= 0 or {count} > 9 then {value} else {name}({count} - 1{rest}) + {count} end"
        head = ", ".join(self.declared(p.type, p.name) for p in parameters)
        lines = [f"function {name} ({head}) --> {type_text(result)}"]
        lines += _var(texts)
        return [*lines, f": {value}", "end"], Signature(name, tuple(p.type for p in parameters), result)

    def procedure(self, scope: Scope) -> tuple[list[str], Signature]:
        """Return a procedure; it may write its parameters, lists among them, and the state."""
        parameters = self.parameters()
        name = self.fresh("q")
        texts, inner = self.locals(scope.inner(*parameters), self.expressions.random.randint(0, 2))
        texts.append("int count0 := 0")
        inner = inner.inner(Named("count0", INT32))
        head = ", ".join(self.declared(p.type, p.name) for p in parameters)
        body = [INDENT + line for line in self.block(inner, self.expressions.random.randint(1, 4), 1)]
        lines = [f"procedure {name} ({head})", *_var(texts), "begin", *body, "end"]
        return lines, Signature(name, tuple(p.type for p in parameters), None)


def _var(texts: list[str]) -> list[str]:
    return [f"var {', '.join(texts)}"] if texts else []


def _holds_text(of: Type) -> bool:
    return isinstance(of, ListType) and (of.element == STRING or _holds_text(of.element))
