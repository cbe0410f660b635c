"""Reading of actors, as the IR of front ends and as explicit actors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from dse.base.errors import FormatError
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
from dse.program.ir import (
    Action,
    Actor,
    Declare,
    Expr,
    InputPattern,
    Native,
    OutputPattern,
    Port,
    ReadTokens,
    Routine,
    Stmt,
    Transition,
    Variable,
)
from dse.program.text.read_expressions import KINDS, Item, Known
from dse.program.text.read_statements import StatementReader
from dse.program.text.tokens import tokenize
from dse.program.types import Type

Result = TypeVar("Result")


def read_actor(text: str, file: str = "<text>") -> Actor:
    """Return the actor of a text that ``print_actor`` has written, or could have.

    Raises FormatError with line and column of ``file`` where the text is malformed.
    """
    return _read_twice(text, file, ExplicitReader.actor)


def read_explicit(text: str, file: str = "<text>") -> ExplicitActor:
    """Return the explicit actor of a text. Raises FormatError as ``read_actor`` does."""
    return _read_twice(text, file, ExplicitReader.explicit)


def _read_twice(text: str, file: str, read: "Callable[[ExplicitReader], Result]") -> Result:
    """Read for what the text declares, and then with the types and names that follow from it."""
    tokens = tokenize(text, file)
    first = ExplicitReader(tokens, Known())
    first.whole(read)
    return ExplicitReader(tokens, first.found).whole(read)


@dataclass(frozen=True, slots=True)
class _Schedule:
    """What an actor's schedule says."""

    has_fsm: bool
    states: tuple[str, ...]
    initial_state: int
    initializers: tuple[int, ...]
    transitions: tuple[tuple[Transition, ...], ...]


class ActorReader(StatementReader):
    """Reads actors."""

    def whole(self, read: "Callable[..., Result]") -> Result:
        """Take all of a text."""
        self.skip_lines()
        result: Result = read(self)
        self.end_text()
        return result

    def actor(self) -> Actor:
        """Take an actor with its lines."""
        span = self.span()
        self.expect("actor")
        name = self.name("the name of the actor")
        self.expect("from")
        path = self.found.path = self.string("a path")
        native = self.accept("native")
        self.end_line()
        inputs, outputs = self._ports("input", self.found.inputs), self._ports("output", self.found.outputs)
        variables, routines = self.variables(), self.routines()
        natives = self._parts(("native",), self._native)
        actions = self._parts(("action",), self._action)
        schedule = self._schedule()
        self._close()
        return Actor(
            name=name,
            path=path,
            inputs=inputs,
            outputs=outputs,
            variables=variables,
            routines=routines,
            natives=natives,
            actions=actions,
            initializers=schedule.initializers,
            states=schedule.states,
            initial_state=schedule.initial_state,
            transitions=schedule.transitions,
            span=span,
            has_fsm=schedule.has_fsm,
            native=native,
        )

    def _close(self) -> None:
        """Take ``end`` and the end of its line."""
        self.expect("end")
        self.end_line()

    def _parts(self, words: tuple[str, ...], read: Callable[[], Item]) -> tuple[Item, ...]:
        """Take what begins with one of the words, a span before it or not, as often as it comes."""
        found: list[Item] = []
        while self.ahead(self.token.kind == "span").text in words:
            found.append(read())
        return tuple(found)

    # Declarations -----------------------------------------------------------------------------------------------------

    def _ports(self, direction: str, names: list[str]) -> tuple[Port, ...]:
        return self._parts((direction,), lambda: self._port(names))

    def _port(self, names: list[str]) -> Port:
        self.take()
        name = self.name("the name of a port")
        names.append(name)
        span = self.span()
        self.expect(":")
        of = self.type()
        self.end_line()
        return Port(name, of, span)

    def variables(self) -> tuple[Variable, ...]:
        """Take variables with their lines."""
        return self._parts(KINDS, self._variable_line)

    def _variable_line(self) -> Variable:
        variable = self.variable(None)
        self.end_line()
        return variable

    def routines(self) -> tuple[Routine, ...]:
        """Take functions and procedures with their lines."""
        return self._parts(("function", "procedure"), self._routine)

    def _routine(self) -> Routine:
        span = self.span()
        name, source, parameters, result_type = self._signature()
        self.end_line()
        declarations = self._declarations()
        body = self._do_block("return", "end")
        result: Expr | None = None
        if self.accept("return"):
            result = self.expression()
            self.end_line()
        self._close()
        return Routine(name, source, parameters, declarations, body, result, result_type, span)

    def _native(self) -> Native:
        span = self.span()
        self.expect("native")
        name, source, parameters, result_type = self._signature()
        self.expect("in")
        declared_in = self.string("the name of a unit or actor")
        self.end_line()
        return Native(name, source, declared_in, parameters, result_type, span)

    def _signature(self) -> tuple[str, str, tuple[Variable, ...], Type | None]:
        """Take ``function f "source" (parameters) -> type``, or ``procedure`` without type."""
        if not self.sees("function", "procedure"):
            self.missing("'function' or 'procedure'")
        function = self.take().text == "function"
        name = self.name("the name of a function or procedure")
        source = self.string("a name") if self.token.kind == "string" else name
        self.expect("(")
        parameters = self.several(")", lambda: self.variable("parameter"))
        if function:
            self.expect("->")
        result = self.type() if function else None
        self.found.declared.routine(name, result)
        return name, source, parameters, result

    def _declarations(self) -> tuple[Declare, ...]:
        return self._parts(KINDS, self._declaration_line)

    def _declaration_line(self) -> Declare:
        span = self.span()
        declaration = self.declaration()
        self.end_line()
        return replace(declaration, span=span)

    def _do_block(self, *ends: str) -> tuple[Stmt, ...]:
        if not self.accept("do"):
            return ()
        self.end_line()
        return self.block(*ends)

    # Actions ----------------------------------------------------------------------------------------------------------

    def _action(self) -> Action:
        span = self.span()
        self.expect("action")
        name = self.name("the name of the action")
        self.found.actions.append(name)
        tagged = not self.accept("untagged")
        schedule_outputs = self.accept("schedule_outputs")
        self.end_line()
        inputs = self._parts(("input",), self._input)
        guards = self._parts(("guard",), self._guard)
        declarations = self._declarations()
        body = self._do_block("output", "end")
        outputs = self._parts(("output",), self._output)
        self._close()
        return Action(name, tagged, inputs, outputs, guards, declarations, body, schedule_outputs, span)

    def _input(self) -> InputPattern:
        self.expect("input")
        port = self.reference(self.known.inputs, "an input")
        self.expect(":", "[")
        variables = self.several("]", lambda: self.variable("token"))
        pattern = InputPattern(port, variables, self.repeat())
        self.end_line()
        return pattern

    def _guard(self) -> Expr:
        self.expect("guard")
        guard = self.expression()
        self.end_line()
        return guard

    def _output(self) -> OutputPattern:
        self.expect("output")
        port = self.reference(self.known.outputs, "an output")
        self.expect(":", "[")
        values = self.several("]", self.expression)
        pattern = OutputPattern(port, values, self.repeat())
        self.end_line()
        return pattern

    # The schedule -----------------------------------------------------------------------------------------------------

    def action_reference(self) -> int:
        """Take the name of an action."""
        return self.reference(self.known.actions, "an action")

    def state_reference(self) -> int:
        """Take the name of a state."""
        return self.reference(self.known.states, "a state")

    def _schedule(self) -> _Schedule:
        self.expect("schedule")
        has_fsm = self.accept("fsm")
        self.end_line()
        self.expect("states")
        states = self._names_of_line(lambda: self.name("the name of a state"))
        self.found.states.extend(states)
        self.expect("initial")
        initial = self.state_reference()
        self.end_line()
        initializers = self._names_of_line(self.action_reference) if self.accept("initializers") else ()
        transitions = self.by_state(self._transitions)
        self._close()
        return _Schedule(has_fsm, states, initial, initializers, transitions)

    def _names_of_line(self, read: Callable[[], Item]) -> tuple[Item, ...]:
        """Take what stands between commas up to the end of the line, which is taken too."""
        items: list[Item] = []
        if self.token.kind != "line":
            items.append(read())
            while self.accept(","):
                items.append(read())
        self.end_line()
        return tuple(items)

    def by_state(self, read: Callable[[int], Item]) -> tuple[Item, ...]:
        """Take what is said of each state, from the first one on, behind ``in STATE``."""
        found: list[Item] = []
        while self.sees("in"):
            self.take()
            place = self.token.span
            if self.state_reference() != len(found) and self.known.complete:
                raise FormatError("the states stand in another order than they are declared in", span=place)
            self.end_line()
            found.append(read(len(found)))
        return tuple(found)

    def _transitions(self, state: int) -> tuple[Transition, ...]:
        found: list[Transition] = []
        while not self.sees("in", "end"):
            action = self.action_reference()
            found.append(Transition(action, self.state_reference() if self.accept("->") else state))
            self.end_line()
        return tuple(found)


class ExplicitReader(ActorReader):
    """Reads explicit actors."""

    def explicit(self) -> ExplicitActor:
        """Take an explicit actor with its lines."""
        self.expect("explicit")
        self.end_line()
        wiring = self._wiring()
        loops = self._parts(("counted",), self._counted)
        variables, routines = self.variables(), self.routines()
        firings = self._parts(("firing",), self._firing)
        start, choice = self._whole_choice("start"), self._whole_choice("choice")
        actor = self.actor()
        self._close()
        return ExplicitActor(
            actor=actor,
            wiring=wiring,
            variables=variables,
            routines=routines,
            firings=firings,
            start=start,
            choice=choice,
            loops=loops,
        )

    # The wiring -------------------------------------------------------------------------------------------------------

    def _wiring(self) -> Wiring:
        self.expect("wiring")
        self.end_line()
        inputs = self._parts(("input",), self._wired_input)
        fan_outs = self._parts(("output",), self._wired_output)
        loops = self._parts(("loop",), self._wired_loop)
        accesses, rounds = self._flag_line("accesses"), self._flag_line("rounds")
        self._close()
        return Wiring(inputs, loops, fan_outs, accesses, rounds)

    def _wired_input(self) -> Type | None:
        self.take()
        self.reference(self.known.inputs, "an input")
        self.expect(":")
        of = None if self.accept("unconnected") else self.type()
        self.end_line()
        return of

    def _wired_output(self) -> int:
        self.take()
        self.reference(self.known.outputs, "an output")
        self.expect(":")
        readers = self.natural("a number of readers")
        self.end_line()
        return readers

    def _wired_loop(self) -> tuple[int, int]:
        self.take()
        output = self.reference(self.known.outputs, "an output")
        self.expect("->")
        loop = (self.reference(self.known.inputs, "an input"), output)
        self.end_line()
        return loop

    def _flag_line(self, word: str) -> bool:
        found = self.accept(word)
        if found:
            self.end_line()
        return found

    def _counted(self) -> tuple[Span, str]:
        span = self.span()
        self.expect("counted")
        words = self.string("the name of a loop")
        self.end_line()
        return (span, words)

    def _firing(self) -> tuple[Stmt, ...] | None:
        self.expect("firing")
        self.action_reference()
        if self.accept("impossible"):
            self.end_line()
            return None
        self.end_line()
        statements = self.block("end")
        self._close()
        return statements

    # The choice of an action ------------------------------------------------------------------------------------------

    def _whole_choice(self, word: str) -> Choice:
        self.expect(word)
        self.end_line()
        choice = self._choice()
        self._close()
        return choice

    def _choice(self) -> Choice:
        found: list[Decision] = []
        while not self.sees("end", "else", "in"):
            found.append(self._decision())
        return tuple(found)

    def _decision(self) -> Decision:
        span = self.span()
        read = self._decisions.get(self.token.text)
        if read is None:
            self.missing("a decision: " + ", ".join(self._decisions))
        self.take()
        decision = read(self)
        self.end_line()
        return replace(decision, span=span) if isinstance(decision, When) else decision

    def _test(self) -> When:
        condition = self._condition()
        self.expect("then")
        self.end_line()
        then = self._choice()
        otherwise: Choice = ()
        if self.accept("else"):
            self.end_line()
            otherwise = self._choice()
        self.expect("end")
        return When(condition, then, otherwise)

    def _condition(self) -> Condition:
        if self.accept("tokens"):
            return HasTokens(self._needs(self.known.inputs, "an input"))
        if self.accept("room"):
            return HasRoom(self._needs(self.known.outputs, "an output"))
        if not self.accept("guard"):
            self.missing("'tokens', 'room' or 'guard'")
        action = self.action_reference()
        self.expect("(")
        return Guard(action, self.several(")", self.expression))

    def _needs(self, names: list[str], what: str) -> tuple[Need, ...]:
        if self.sees("then"):
            return ()
        found = [self._need(names, what)]
        while self.accept(","):
            found.append(self._need(names, what))
        return tuple(found)

    def _need(self, names: list[str], what: str) -> Need:
        return Need(self.reference(names, what), self.natural("a number of tokens"))

    def _peek(self) -> Peek:
        self.end_line()
        reads: tuple[ReadTokens, ...] = self._parts(("read",), self.read_tokens)
        self.expect("end")
        return Peek(reads)

    def _by_state(self) -> ByState:
        self.expect("state")
        self.end_line()
        choices = self.by_state(lambda _: self._choice())
        self.expect("end")
        return ByState(choices)

    def _fire(self) -> Fire:
        return Fire(self.action_reference(), self.state_reference() if self.accept("->") else None)

    def _blocked(self) -> Blocked:
        return Blocked()

    def _await_room(self) -> AwaitRoom:
        self.expect("room")
        return AwaitRoom()

    _decisions: ClassVar[dict[str, "Callable[[ExplicitReader], Decision]"]] = {
        "if": _test,
        "peek": _peek,
        "by": _by_state,
        "fire": _fire,
        "blocked": _blocked,
        "await": _await_room,
    }
