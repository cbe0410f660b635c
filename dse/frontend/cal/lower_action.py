"""Lowering of ports and actions: patterns, guards, declarations, bodies, output expressions (cal.md 2.3)."""

from dataclasses import dataclass

from dse.base.source import Span
from dse.frontend.cal import ast
from dse.frontend.cal.names import FileScope, LocalScope, LocalVariable, NameSupply, nearest, number_text
from dse.frontend.cal.symbols import Symbols, conversion_hint
from dse.program import ir
from dse.program.types import LARGEST_LIST, ListType, Type
from dse.program.typing import is_convertible


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorPorts:
    """The ports of an actor; those with a wrong type are missing from the tuples but known by name."""

    inputs: tuple[ir.Port, ...]
    outputs: tuple[ir.Port, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]


def lower_ports(symbols: Symbols, actor: ast.ActorDecl, file: FileScope) -> ActorPorts:
    """Return the ports of an actor; reports types that are wrong and names used twice."""
    scope = LocalScope(file)
    seen: dict[str, Span] = {}
    sides: list[tuple[ir.Port, ...]] = []
    for declared in (actor.inputs, actor.outputs):
        ports: list[ir.Port] = []
        for port in declared:
            if port.name in seen:
                hint = f"rename one; the first is in line {seen[port.name].line}"
                symbols.reporter.error(f"there are two ports '{port.name}'", port.span, hint)
            seen.setdefault(port.name, port.span)
            of = symbols.lower_type(port.type, (), scope)
            if isinstance(of, ListType):
                symbols.reporter.error(
                    f"the port '{port.name}' carries lists", port.span, "lists are not supported here"
                )
            elif of is not None:
                ports.append(ir.Port(port.name, of, port.span))
        sides.append(tuple(ports))
    return ActorPorts(
        inputs=sides[0],
        outputs=sides[1],
        input_names=tuple(p.name for p in actor.inputs),
        output_names=tuple(p.name for p in actor.outputs),
    )


def action_names(actions: tuple[ast.ActionDecl, ...]) -> tuple[str, ...]:
    """Return a different name for each action: its tag, ``untagged_K``, or ``initialize``."""
    supply = NameSupply()
    names: list[str] = []
    untagged = 0
    for action in actions:
        if action.tag:
            names.append(supply.unique(action.tag))
        elif action.initialize:
            names.append(supply.unique("initialize"))
        else:
            names.append(supply.unique(f"untagged_{untagged}"))
            untagged += 1
    return tuple(names)


class ActionLowering:
    """Lowers the actions of one actor."""

    def __init__(self, symbols: Symbols, file: FileScope, ports: ActorPorts) -> None:
        self._symbols = symbols
        self._file = file
        self._ports = ports
        self._error = symbols.reporter.error

    def lower(self, action: ast.ActionDecl, name: str) -> ir.Action:
        """Return the action under the name given; what has an error is left out of it, after reporting."""
        tokens = LocalScope(self._file)
        inputs = self._inputs(action, tokens)
        guards = [self._symbols.expressions.lower_condition(g, tokens, "a guard") for g in action.guards]
        inner = tokens.inner()
        declarations = self._symbols.bodies.lower_declarations(action.locals, inner)
        body = self._symbols.bodies.lower_statements(action.body, inner)
        return ir.Action(
            name=name,
            tagged=bool(action.tag),
            inputs=inputs,
            outputs=self._outputs(action, inner),
            guards=tuple(g for g in guards if g is not None),
            declarations=declarations,
            body=body,
            schedule_outputs=any(a.name == "schedule_outputs" for a in action.annotations),
            span=action.span,
        )

    def _inputs(self, action: ast.ActionDecl, scope: LocalScope) -> tuple[ir.InputPattern, ...]:
        patterns: list[ir.InputPattern] = []
        used: set[str] = set()
        for pattern in action.inputs:
            port = self._port(pattern.port, used, is_input=True)
            repeat = self._repeat(pattern.repeat)
            of = None if port is None or repeat is None else self._token_type(self._ports.inputs[port].type, repeat)
            variables = tuple(self._token(token, of, scope) for token in pattern.tokens)
            if port is not None and repeat is not None and of is not None:
                typed = tuple(v.variable(of) for v in variables)
                patterns.append(ir.InputPattern(port, typed, repeat))
        return tuple(patterns)

    def _token_type(self, port: Type, repeat: int) -> Type:
        return ListType(port, repeat) if repeat else port

    def _token(self, token: ast.Name, of: Type | None, scope: LocalScope) -> LocalVariable:
        if token.name in scope.symbols:
            hint = "each token of an action needs a name of its own"
            self._error(f"the token name '{token.name}' is used twice", token.span, hint)
        symbol = LocalVariable(
            name=self._symbols.names.unique(token.name),
            source_name=token.name,
            kind="token",
            assignable=True,
            type=of,
            span=token.span,
        )
        scope.symbols[token.name] = symbol
        return symbol

    def _outputs(self, action: ast.ActionDecl, scope: LocalScope) -> tuple[ir.OutputPattern, ...]:
        patterns: list[ir.OutputPattern] = []
        used: set[str] = set()
        for pattern in action.outputs:
            port = self._port(pattern.port, used, is_input=False)
            repeat = self._repeat(pattern.repeat)
            values = [self._symbols.expressions.lower(v, scope) for v in pattern.values]
            if port is None or repeat is None:
                continue
            for node, value in zip(pattern.values, values, strict=True):
                if value is not None:
                    self._check_output(node, value, self._ports.outputs[port], repeat)
            good = tuple(v for v in values if v is not None)
            if len(good) == len(values):
                patterns.append(ir.OutputPattern(port, good, repeat))
        return tuple(patterns)

    def _check_output(self, node: ast.Expr, value: ir.Expr, port: ir.Port, repeat: int) -> None:
        of = value.type
        if repeat == 0:
            if not is_convertible(of, port.type):
                message = f"cannot write {of} to the port '{port.name}' of type {port.type}"
                hint = "give 'repeat n' to write the elements of a list" if isinstance(of, ListType) else ""
                self._error(message, node.span, hint or conversion_hint(of, port.type))
        elif not isinstance(of, ListType):
            message = f"with repeat the port '{port.name}' is written from a list, not from {of}"
            self._error(message, node.span, f"expected a list of at least {repeat} x {port.type}")
        elif not is_convertible(of.element, port.type):
            message = f"cannot write {of.element} to the port '{port.name}' of type {port.type}"
            self._error(message, node.span, conversion_hint(of.element, port.type))
        elif of.size < repeat:
            message = f"the list has {of.size} elements, but the port '{port.name}' is written {repeat} times"
            self._error(message, node.span, f"expected a list of at least {repeat} elements")

    def _port(self, name: ast.Name, used: set[str], *, is_input: bool) -> int | None:
        """Return the index of a port, or None after reporting what is wrong with the reference."""
        mine, other = self._ports.input_names, self._ports.output_names
        side, other_side = "input", "output"
        if not is_input:
            mine, other, side, other_side = other, mine, other_side, side
        if name.name not in mine:
            hint = f"'{name.name}' is an {other_side} port" if name.name in other else nearest(name.name, mine)
            self._error(f"the actor has no {side} port '{name.name}'", name.span, hint)
            return None
        if name.name in used:
            hint = "write all tokens of a port in one pattern"
            self._error(f"the port '{name.name}' occurs twice in one action", name.span, hint)
            return None
        used.add(name.name)
        ports = self._ports.inputs if is_input else self._ports.outputs
        return next((i for i, p in enumerate(ports) if p.name == name.name), None)

    def _repeat(self, repeat: ast.Expr | None) -> int | None:
        """Return the constant repeat of a pattern, 0 where it has none, None after reporting."""
        if repeat is None:
            return 0
        value = self._symbols.constant_int(repeat, LocalScope(self._file), "a repeat")
        if value is not None and value <= 0:
            self._error(f"a repeat must be greater than zero, not {number_text(value)}", repeat.span)
            return None
        if value is not None and value > LARGEST_LIST:
            message = f"a repeat of {number_text(value)} is too large"
            self._error(message, repeat.span, f"expected an integer from 1 to {LARGEST_LIST}")
            return None
        return value
