"""Printing of actors, as the IR of front ends and as explicit actors."""

from collections.abc import Iterator
from itertools import chain

from dse.base.source import Span
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Condition,
    Decision,
    ExplicitActor,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Need,
    Peek,
    When,
    Wiring,
)
from dse.program.ir import Action, Actor, InputPattern, Native, OutputPattern, Port, Routine, Stmt, Variable
from dse.program.text.declared import declared_in
from dse.program.text.expressions import ExpressionPrinter
from dse.program.text.statements import References, StatementPrinter, indented
from dse.program.text.tokens import name_text, string_text, type_text


def print_actor(actor: Actor, *, spans: bool = False) -> str:
    """Return the text of an actor; ``spans``: with the places in its sources."""
    printer = _ActorPrinter(actor, ExpressionPrinter(declared_in(actor), actor.path, spans))
    return "\n".join(printer.actor()) + "\n"


def print_explicit(explicit: ExplicitActor, *, spans: bool = False) -> str:
    """Return the text of an explicit actor and of the actor it was made from; ``spans`` as in ``print_actor``."""
    expressions = ExpressionPrinter(declared_in(explicit), explicit.actor.path, spans)
    return "\n".join(_ExplicitPrinter(explicit, expressions).explicit()) + "\n"


class _ActorPrinter:
    """Prints one actor and parts of it."""

    def __init__(self, actor: Actor, expressions: ExpressionPrinter) -> None:
        self._actor = actor
        self.expressions = expressions
        self.statements = StatementPrinter(expressions, actor.inputs, actor.outputs)
        self.actions = References(action.name for action in actor.actions)
        self.states = References(actor.states)

    def actor(self) -> Iterator[str]:
        """Yield the lines of the actor."""
        actor = self._actor
        native = " native" if actor.native else ""
        yield f"{self.mark(actor.span)}actor {name_text(actor.name)} from {string_text(actor.path)}{native}"
        yield from indented(chain.from_iterable(self._parts(actor)))
        yield "end"

    def _parts(self, actor: Actor) -> Iterator[Iterator[str]]:
        yield (self._port("input", port) for port in actor.inputs)
        yield (self._port("output", port) for port in actor.outputs)
        yield self.variables(actor.variables)
        for routine in actor.routines:
            yield self.routine(routine)
        for native in actor.natives:
            yield iter((self._native(native),))
        for action in actor.actions:
            yield self._action(action)
        yield self._schedule(actor)

    def mark(self, span: Span) -> str:
        """Return a span as it stands before a declaration."""
        mark = self.expressions.mark(span)
        return f"{mark} " if mark else ""

    def _port(self, direction: str, port: Port) -> str:
        return f"{direction} {name_text(port.name)}{self.expressions.mark(port.span)}: {type_text(port.type)}"

    def variables(self, variables: tuple[Variable, ...]) -> Iterator[str]:
        """Yield the lines of variables of an actor."""
        for variable in variables:
            yield self.expressions.variable(variable, None)

    def routine(self, routine: Routine) -> Iterator[str]:
        """Yield the lines of a function or procedure."""
        word = "procedure" if routine.result_type is None else "function"
        yield f"{self.mark(routine.span)}{word} {self._signature(routine)}"
        yield from self.statements.block(routine.declarations)
        if routine.body:
            yield from indented(self._body(routine.body))
        if routine.result is not None:
            yield from indented([f"return {self.expressions.text(routine.result)}"])
        yield "end"

    def _body(self, body: tuple[Stmt, ...]) -> Iterator[str]:
        yield "do"
        yield from self.statements.block(body)

    def _signature(self, routine: Routine | Native) -> str:
        source = "" if routine.source_name == routine.name else f" {string_text(routine.source_name)}"
        parameters = ", ".join(self.expressions.variable(p, "parameter") for p in routine.parameters)
        result = "" if routine.result_type is None else f" -> {type_text(routine.result_type)}"
        return f"{name_text(routine.name)}{source}({parameters}){result}"

    def _native(self, native: Native) -> str:
        word = "procedure" if native.result_type is None else "function"
        where = string_text(native.declared_in)
        return f"{self.mark(native.span)}native {word} {self._signature(native)} in {where}"

    # Actions and their schedule ---------------------------------------------------------------------------------------

    def _action(self, action: Action) -> Iterator[str]:
        flags = " untagged" * (not action.tagged) + " schedule_outputs" * action.schedule_outputs
        yield f"{self.mark(action.span)}action {name_text(action.name)}{flags}"
        yield from indented(self._input(pattern) for pattern in action.inputs)
        yield from indented(f"guard {self.expressions.text(guard)}" for guard in action.guards)
        yield from self.statements.block(action.declarations)
        if action.body:
            yield from indented(self._body(action.body))
        yield from indented(self._output(pattern) for pattern in action.outputs)
        yield "end"

    def _input(self, pattern: InputPattern) -> str:
        names = ", ".join(self.expressions.variable(v, "token") for v in pattern.variables)
        return f"input {self.statements.inputs.text(pattern.port)}: [{names}]{_repeat(pattern.repeat)}"

    def _output(self, pattern: OutputPattern) -> str:
        values = self.expressions.several(pattern.values)
        return f"output {self.statements.outputs.text(pattern.port)}: [{values}]{_repeat(pattern.repeat)}"

    def _schedule(self, actor: Actor) -> Iterator[str]:
        yield "schedule fsm" if actor.has_fsm else "schedule"
        yield from indented(self._schedule_parts(actor))
        yield "end"

    def _schedule_parts(self, actor: Actor) -> Iterator[str]:
        yield _list("states", (name_text(state) for state in actor.states))
        yield f"initial {self.states.text(actor.initial_state)}"
        if actor.initializers:
            yield _list("initializers", (self.actions.text(action) for action in actor.initializers))
        for state, transitions in enumerate(actor.transitions):
            yield f"in {self.states.text(state)}"
            for transition in transitions:
                target = "" if transition.target == state else f" -> {self.states.text(transition.target)}"
                yield from indented([self.actions.text(transition.action) + target])


class _ExplicitPrinter(_ActorPrinter):
    """Prints one explicit actor."""

    def __init__(self, explicit: ExplicitActor, expressions: ExpressionPrinter) -> None:
        super().__init__(explicit.actor, expressions)
        self._explicit = explicit

    def explicit(self) -> Iterator[str]:
        """Yield the lines of the explicit actor."""
        yield "explicit"
        yield from indented(chain.from_iterable(self._explicit_parts(self._explicit)))
        yield "end"

    def _explicit_parts(self, explicit: ExplicitActor) -> Iterator[Iterator[str]]:
        yield self._wiring(explicit.wiring)
        yield (self._counted(span, words) for span, words in explicit.loops)
        yield self.variables(explicit.variables)
        for routine in explicit.routines:
            yield self.routine(routine)
        for action in range(len(explicit.firings)):
            yield self._firing(action)
        yield self._whole_choice("start", explicit.start)
        yield self._whole_choice("choice", explicit.choice)
        yield self.actor()

    def _wiring(self, wiring: Wiring) -> Iterator[str]:
        yield "wiring"
        inputs, outputs = self.statements.inputs, self.statements.outputs
        for port, of in enumerate(wiring.inputs):
            yield from indented([f"input {inputs.text(port)}: {'unconnected' if of is None else type_text(of)}"])
        for port, readers in enumerate(wiring.fan_outs):
            yield from indented([f"output {outputs.text(port)}: {readers}"])
        for into, out in wiring.loops:
            yield from indented([f"loop {outputs.text(out)} -> {inputs.text(into)}"])
        flags = (("accesses", wiring.accesses), ("rounds", wiring.rounds))
        yield from indented(word for word, said in flags if said)
        yield "end"

    def _counted(self, span: Span, words: str) -> str:
        return f"{self.mark(span)}counted {string_text(words)}"

    def _firing(self, action: int) -> Iterator[str]:
        statements = self._explicit.firings[action]
        name = self.actions.text(action)
        if statements is None:
            yield f"firing {name} impossible"
        else:
            yield f"firing {name}"
            yield from self.statements.block(statements)
            yield "end"

    def _whole_choice(self, word: str, choice: Choice) -> Iterator[str]:
        yield word
        yield from self._choice(choice)
        yield "end"

    def _choice(self, choice: Choice) -> Iterator[str]:
        for decision in choice:
            yield from indented(self._decision(decision))

    def _decision(self, decision: Decision) -> Iterator[str]:
        match decision:
            case When():
                yield from self._test(decision)
            case Peek():
                yield "peek"
                for read in decision.reads:
                    yield from self.statements.block((read,))
                yield "end"
            case ByState():
                yield "by state"
                for state, choice in enumerate(decision.states):
                    yield from indented([f"in {self.states.text(state)}"])
                    yield from indented(self._choice(choice))
                yield "end"
            case Fire():
                target = "" if decision.target is None else f" -> {self.states.text(decision.target)}"
                yield f"fire {self.actions.text(decision.action)}{target}"
            case Blocked():
                yield "blocked"
            case AwaitRoom():
                yield "await room"

    def _test(self, test: When) -> Iterator[str]:
        yield f"{self.mark(test.span)}if {self._condition(test.condition)} then"
        yield from self._choice(test.then)
        if test.otherwise:
            yield "else"
            yield from self._choice(test.otherwise)
        yield "end"

    def _condition(self, condition: Condition) -> str:
        match condition:
            case HasTokens():
                return _needs("tokens", condition.needs, self.statements.inputs)
            case HasRoom():
                return _needs("room", condition.needs, self.statements.outputs)
            case Guard():
                return f"guard {self.actions.text(condition.action)}({self.expressions.several(condition.conditions)})"


def _needs(word: str, needs: tuple[Need, ...], ports: References) -> str:
    return _list(word, (f"{ports.text(need.port)} {need.tokens}" for need in needs))


def _list(word: str, items: Iterator[str]) -> str:
    return f"{word} {', '.join(items)}".rstrip()


def _repeat(repeat: int) -> str:
    return f" repeat {repeat}" if repeat else ""
