"""Generated code of one firing: reading tokens, the body, writing tokens; and the conditions under which it may happen.

The local names of the generated scheduler, for input i and output j: ``D<i>`` the token list, ``h<i>`` the position of
the next token, ``n<i>`` the end of the list; ``E<j>`` the token list, ``r<j>`` the room left, least over its readers.
"""

from dataclasses import dataclass

from dse.codegen.python.code import AND, CONDITIONAL, Code, stored
from dse.codegen.python.expressions import ExpressionWriter
from dse.codegen.python.scope import Scope
from dse.codegen.python.statements import Lines, StatementWriter
from dse.passes.analyses import ranges as intervals
from dse.passes.analyses.ranges import container
from dse.passes.analyses.uses import uses_of
from dse.program.ir import Action, Call, Const, Expr, InputPattern, OutputPattern, Variable
from dse.program.types import FloatType, IntType, ListType, Type, scalar_of
from dse.program.walk import sub_expressions


@dataclass(frozen=True, slots=True)
class Shape:
    """How an instance is connected, as far as its code depends on it. Instances of one shape share their code."""

    inputs: tuple[Type | None, ...]
    """Type of the tokens that arrive, or None for an unconnected input."""
    loops: tuple[tuple[int, int], ...]
    """(input, output) pairs of connections from the actor to itself."""
    fan_outs: tuple[int, ...]
    """Number of readers of each output."""
    accesses: bool
    """Whether guard and state accesses are recorded."""
    rounds: bool = False
    """Whether the rounds of loops are counted."""


class FiringWriter:
    """Writes the parts of the firings of one actor."""

    def __init__(self, scope: Scope, shape: Shape) -> None:
        self.scope = scope
        self.shape = shape
        self.expressions = ExpressionWriter(scope)

    # Conditions -------------------------------------------------------------------------------------------------------

    def possible(self, action: Action) -> bool:
        """Return whether every input that the action needs is connected."""
        return all(self.shape.inputs[p.port] is not None for p in action.inputs)

    def declare_tokens(self, action: Action) -> None:
        """Add the token variables of an action to the scope, with the bounds of what may arrive."""
        for pattern in action.inputs:
            source = self.shape.inputs[pattern.port]
            for variable in pattern.variables:
                narrow = None
                if source is not None and intervals.fits(container(source), container(variable.type)):
                    narrow = container(source)
                self.scope.declare(variable, narrow if variable.name not in self.scope.facts.mutated else None)

    def token_test(self, action: Action) -> str:
        """Return the test that enough tokens wait, or "" for an action that reads none."""
        return " and ".join(
            f"n{p.port} > h{p.port}" if p.tokens == 1 else f"n{p.port} - h{p.port} >= {p.tokens}" for p in action.inputs
        )

    def guard_test(self, action: Action) -> str:
        """Return the conjunction of the guards, or "" where they are literally true."""
        guards = [g for g in action.guards if not (isinstance(g, Const) and g.value is True)]
        codes = [self.expressions.write(g) for g in guards]
        if len(codes) == 1:
            return codes[0].text
        return " and ".join(c.at(AND) for c in codes)

    def room_test(self, action: Action, *, lacking: bool) -> str:
        """Return the test that an output lacks room (or that all have it), or "" where nothing is written."""
        written = [p for p in action.outputs if self.shape.fan_outs[p.port]]
        if lacking:
            return " or ".join(f"r{p.port} < {p.tokens}" for p in written)
        return " and ".join(f"r{p.port} >= {p.tokens}" for p in written)

    # Reading ----------------------------------------------------------------------------------------------------------

    def peeks(self, action: Action) -> list[str]:
        """Return the lines that load the token variables that guards look at."""
        names = uses_of(action.guards).reads
        return [self._read(p, k) for p in action.inputs for k, v in enumerate(p.variables) if v.name in names]

    def _read(self, pattern: InputPattern, position: int) -> str:
        """Return the line that loads one token variable, without moving the position."""
        variable = pattern.variables[position]
        name = self.scope.symbols[variable.name].python
        d, h, width = f"D{pattern.port}", f"h{pattern.port}", len(pattern.variables)
        source = self.shape.inputs[pattern.port]
        assert source is not None, "an action that reads an unconnected input is never written"
        offset = f"{h} + {position}" if position else h
        if not pattern.repeat:
            return f"{name} = {self._converted(f'{d}[{offset}]', source, variable)}"
        end = f"{h} + {pattern.tokens}"
        tokens = f"{d}[{offset}:{end}]" if width == 1 else f"{d}[{offset}:{end}:{width}]"
        converted = self._converted("e", source, variable)
        return f"{name} = {tokens}" if converted == "e" else f"{name} = [{converted} for e in {tokens}]"

    def _converted(self, text: str, source: Type, variable: Variable) -> str:
        target = scalar_of(variable.type)
        bounds = container(source)
        if isinstance(target, IntType) and intervals.fits(bounds, container(target)):
            return text
        real = isinstance(source, FloatType)
        code = Code(
            text, interval=bounds, real=real, single=real and isinstance(source, FloatType) and source.bits <= 32
        )
        return stored(code, target, self.scope.names).text

    # Firing -----------------------------------------------------------------------------------------------------------

    def fire(self, action: Action) -> Lines:
        """Return the lines that read, compute and write; guards have loaded the tokens that they look at."""
        writer = StatementWriter(self.scope, self.expressions)
        lines = writer.lines
        needed = uses_of([v for p in action.outputs for v in p.values], (*action.declarations, *action.body))
        peeked = uses_of(action.guards).reads
        names = needed.reads | needed.writes
        for pattern in action.inputs:
            for k, variable in enumerate(pattern.variables):
                if variable.name in names and variable.name not in peeked:
                    lines.add(self._read(pattern, k), action.span)
            lines.add(f"h{pattern.port} += {pattern.tokens}", action.span)
        for stmt in (*action.declarations, *action.body):
            writer.statement(stmt)
        for output in action.outputs:
            self._write(output, action, lines)
        for i, j in self._looped(action):
            lines.add(f"G{j}[g{i}] = h{i}; n{i} = len(D{i})")
            lines.add(f"r{j} = {room_text(j, self.shape.fan_outs[j])}")
        return lines

    def _looped(self, action: Action) -> list[tuple[int, int]]:
        """Return the self-loops whose tokens the action moves."""
        ins, outs = {p.port for p in action.inputs}, {p.port for p in action.outputs}
        return [(i, j) for i, j in self.shape.loops if i in ins or j in outs]

    def _write(self, pattern: OutputPattern, action: Action, lines: Lines) -> None:
        port = self.scope.actor.outputs[pattern.port]
        if not self.shape.fan_outs[pattern.port]:
            for value in pattern.values:
                if any(isinstance(e, Call) for e in sub_expressions(value)):
                    lines.add(self.expressions.write(value).text, value.span)
            return
        e = f"E{pattern.port}"
        span = pattern.values[0].span
        if pattern.repeat:
            lines.add(f"{e} += {self._repeated(pattern, port.type, lines)}", span)
        else:
            values = [self.expressions.stored(v, port.type) for v in pattern.values]
            if len(values) == 1:
                lines.add(f"{e}.append({values[0].text})", span)
            else:
                lines.add(f"{e} += ({', '.join(v.at(CONDITIONAL) for v in values)})", span)
        lines.add(f"r{pattern.port} -= {pattern.tokens}", action.span)

    def _repeated(self, pattern: OutputPattern, of: Type, lines: Lines) -> str:
        """Return the tokens of an output with repeat, in order: element i of every value before element i + 1."""
        parts = [self._elements(v, of, pattern.repeat, lines) for v in pattern.values]
        if len(parts) == 1:
            return parts[0]
        return f"[e for row in zip({', '.join(parts)}) for e in row]"

    def _elements(self, value: Expr, of: Type, repeat: int, lines: Lines) -> str:
        code = self.expressions.write(value)
        if code.length is None or code.length < repeat:
            dims, zero = f"({repeat},)", "0"
            convert = self.expressions.element_conversion(code, value.type, ListType(of, repeat))
            return f"filled({dims}, {zero}, {code.text}, {convert})"
        part = code.text if code.length == repeat else f"{code.at(CONDITIONAL + 1)}[:{repeat}]"
        if self.expressions.elements_fit(code, value.type, of):
            return part
        if not part.isidentifier():
            # A comprehension may not iterate over an expression that assigns a temporary.
            name = self.scope.names.temporary()
            lines.add(f"{name} = {part}", value.span)
            part = name
        real = isinstance(scalar_of(value.type), FloatType)
        element = stored(Code("e", interval=code.interval, real=real), of, self.scope.names)
        return f"[{element.text} for e in {part}]"


def room_text(output: int, fan_out: int) -> str:
    """Return the expression for the room of an output: that of its fullest reader."""
    if fan_out == 1:
        return f"C{output}[0] + G{output}[0] - len(E{output})"
    return f"min(map(add, C{output}, G{output})) - len(E{output})"
