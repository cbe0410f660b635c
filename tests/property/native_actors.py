"""Random actors of RVC-CAL as text: ports, state, routines, actions and their order.

An actor that is not ``timed`` does not depend on when its tokens arrive: all actions that may be tried together ask for
the same tokens, or their guards exclude each other, so lack of a token never lets another action fire.
"""

import random
from dataclasses import dataclass, field, replace

from dse.program.types import BOOL, INT32, STRING, FloatType, IntType, ListType, ScalarType, Type
from tests.property.native_expressions import ExpressionWriter, Named, Scope, Signature, Text, type_text
from tests.property.native_statements import INDENT, StatementWriter

KEYWORDS = ("class", "new", "this", "auto", "template", "operator", "delete", "errno", "NULL", "std", "main", "signed")
"""Names that mean something in C++, or in what the program is made of."""


@dataclass(frozen=True, slots=True)
class PortText:
    """A port and the type of its tokens."""

    name: str
    type: ScalarType


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorShape:
    """What an actor is to be like. ``firings``: how often it fires at most, where it has no inputs."""

    name: str
    inputs: tuple[ScalarType, ...]
    outputs: tuple[ScalarType, ...]
    timed: bool = False
    firings: int = 0
    feedback: int | None = None
    """An input that its own output of the same number feeds, one token for each."""
    reads_input: bool = False
    """Whether its actions call natives that read the input."""
    silent: bool = False
    """Whether it does nothing that a GPU cannot do."""
    apart: bool = False
    """Whether most of its actions leave nothing for the next firing, so that a GPU may fire them several at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorText:
    """An actor as text. ``parameters``: those that an instance may give."""

    name: str
    text: str
    inputs: tuple[PortText, ...]
    outputs: tuple[PortText, ...]
    parameters: tuple[Named, ...]


Needs = dict[int, int]
"""Tokens by input."""


@dataclass(slots=True)
class _Action:
    tag: str
    needs: Needs
    guard: str = ""
    """A condition of the schedule, besides random ones."""
    guarded: bool = True
    """Whether random guards may be added."""
    before: list[str] = field(default_factory=list)
    """Statements that come first."""


class ActorWriter:
    """Writes one actor."""

    def __init__(self, source: random.Random, shape: ActorShape, *, faults: bool = False, exotic: bool = False) -> None:
        self.random = source
        self.shape = shape
        self.expressions = ExpressionWriter(source, faults=faults, exotic=exotic, silent=shape.silent)
        self.statements = StatementWriter(self.expressions, shape.name)
        self.chance = self.expressions.chance
        self.pick = self.expressions.pick
        self.inputs = tuple(PortText(self._port("I", k), of) for k, of in enumerate(shape.inputs))
        self.outputs = tuple(PortText(self._port("O", k), of) for k, of in enumerate(shape.outputs))
        self.scope = Scope()
        self.lines: list[str] = []

    def _port(self, letter: str, number: int) -> str:
        return f"{letter}{number}" if self.chance(0.8) else f"{self.pick(KEYWORDS)}_{letter}{number}"

    def write(self) -> ActorText:
        """Return the actor."""
        parameters = self._parameters()
        self.scope = self.scope.inner(*parameters)
        self._natives()
        self._state()
        for _ in range(self.random.randint(0, 2)):
            lines, signature = self.statements.function(self.scope)
            self.lines += lines
            self.scope.functions.append(signature)
        for _ in range(self.random.randint(0, 2)):
            lines, signature = self.statements.procedure(self.scope)
            self.lines += lines
            self.scope.procedures.append(signature)
        self._initialize()
        self._actions()
        head = ", ".join(self._parameter(p) for p in parameters)
        ports = " ==> ".join(", ".join(f"{type_text(p.type)} {p.name}" for p in side) for side in self._sides())
        text = [f"actor {self.shape.name} ({head}) {ports} :", *(INDENT + line for line in self.lines), "end"]
        return ActorText(
            name=self.shape.name,
            text="\n".join(text) + "\n",
            inputs=self.inputs,
            outputs=self.outputs,
            parameters=parameters,
        )

    def _sides(self) -> tuple[tuple[PortText, ...], tuple[PortText, ...]]:
        return self.inputs, self.outputs

    # Declarations -----------------------------------------------------------------------------------------------------

    def _parameters(self) -> tuple[Named, ...]:
        texts = [] if self.shape.silent else [STRING]
        types: list[Type] = [self.expressions.int_type(), BOOL, *texts, FloatType(32), INT32]
        return tuple(Named(f"P{k}", self.pick(types)) for k in range(self.random.choice((0, 0, 1, 2))))

    def _parameter(self, parameter: Named) -> str:
        text = f"{type_text(parameter.type)} {parameter.name}"
        return text if self.chance(0.7) else f"{text} = {self.expressions.value(parameter.type, Scope(), 0).text}"

    def _natives(self) -> None:
        if not self.shape.reads_input:
            return
        self.lines += ["@native procedure source_init () end", "@native function source_sizeOfFile () --> int end"]
        self.lines += ["@native function source_readByte () --> uint(size=8) end"]
        buffer = "List(type: uint(size=8), size=4) buffer"
        self.lines += [f"@native procedure source_readNBytes ({buffer}, uint n) end"]
        self.scope.functions.append(Signature("source_readByte", (), IntType(8, False)))
        self.scope.functions.append(Signature("source_sizeOfFile", (), INT32))

    def _state(self) -> None:
        """Write constants and state variables; a few have names that are words of C++."""
        functions, self.scope.functions = self.scope.functions, []
        for _ in range(self.random.randint(2, 5)):
            of: Type = self.expressions.list_type() if self.chance(0.4) else self.expressions.scalar_type()
            constant = self.chance(0.2)
            name = self.statements.fresh("s") if self.chance(0.85) else self.statements.fresh(f"{self.pick(KEYWORDS)}_")
            self.lines.append(self.statements.declaration(of, name, self.scope, "=" if constant else ":=") + ";")
            self.scope = self.scope.inner(Named(name, of, writable=not constant))
        if self.chance(0.3):
            self.lines.append("int large[90][100];")
            self.scope = self.scope.inner(Named("large", ListType(ListType(INT32, 100), 90), writable=True))
        self.lines += [f"int left := {self.shape.firings};", "int mode := 0;"]
        self.scope.functions = functions

    # Actions ----------------------------------------------------------------------------------------------------------

    def _initialize(self) -> None:
        feedback = self.shape.feedback
        if feedback is None and not self.shape.reads_input and self.chance(0.7):
            return
        outputs = []
        if feedback is not None:
            count = self.random.randint(1, 3)
            values = [self.expressions.value(self.outputs[feedback].type, self.scope, 1).text for _ in range(count)]
            outputs.append(f"{self.outputs[feedback].name}:[{', '.join(values)}]")
        first = ["source_init();"] if self.shape.reads_input else []
        body = [*first, *self.statements.block(self.scope, self.random.randint(0, 2), 1)]
        head = f"initialize ==> {', '.join(outputs)}".rstrip()
        self.lines += [head, *(["do", *(INDENT + line for line in body)] if body else []), "end"]

    def _needs(self) -> Needs:
        """Return tokens for one action: some on some inputs, at least one where there are inputs."""
        ports = [k for k in range(len(self.inputs)) if k != self.shape.feedback]
        chosen = [k for k in ports if self.chance(0.75)] or ports[:1]
        needs = {k: self.pick((1, 1, 1, 2, 3, 4)) for k in chosen}
        if self.shape.feedback is not None:
            needs[self.shape.feedback] = 1
        return needs

    def _actions(self) -> None:
        """Write the actions and in which order they are tried."""
        if self.shape.feedback is not None or (self.inputs and self.chance(0.35)):
            self._with_one_need()
        elif self.inputs and not self.shape.timed and not self.shape.apart and self.chance(0.3):
            self._with_modes()
        else:
            self._with_states()

    def _with_one_need(self) -> None:
        """Write actions that all ask for the same tokens, with any schedule."""
        needs = self._needs()
        untagged = self.random.randint(0, 2) if self.chance(0.3) else 0
        for _ in range(untagged):
            self._action(_Action("", needs))
        tags = [f"a{k}" for k in range(self.random.randint(1, 3))]
        plain = self.chance(0.6)
        for tag in tags:
            self._action(_Action(tag, needs, guarded=tag != tags[-1]))
        if plain:
            self._priority(tags)
        elif self.chance(0.6):
            self._fsm([[(tag, self.pick((0, 1))) for tag in tags] for _ in range(2)])
            self._priority(tags)
        else:
            rest = " | ".join(tags)
            self.lines.append(f"schedule regexp ({tags[0]}? ({rest}))* end")

    def _with_modes(self) -> None:
        """Write actions for other tokens whose guards exclude each other."""
        count = self.random.randint(2, 3)
        for k in range(count):
            needs, step = self._needs(), self.random.randint(1, count)
            before = [f"mode := (mode + {step}) mod {count};"]
            self._action(_Action(f"m{k}", needs, guard=f"mode = {k}", guarded=False, before=before))

    def _with_states(self) -> None:
        """Write a state machine of one or more states, or plain actions."""
        count = self.pick((1, 1, 2, 3)) if self.inputs or not self.shape.apart else 1
        states: list[list[tuple[str, int]]] = []
        tags: list[str] = []
        if self.shape.timed and self.chance(0.3):
            self._action(self._free("", self._needs() if self.inputs else {}))
        for state in range(count):
            needs = self._needs() if self.inputs else {}
            number = self.random.randint(1, 3)
            names = [f"t{state}.{'abc'[k]}" if self.chance(0.5) else f"t{state}_{k}" for k in range(number)]
            for name in names:
                own = self._needs() if self.shape.timed and self.inputs else needs
                action = self._free(name, own)
                action.guarded = (self.shape.timed and bool(self.inputs)) or name != names[-1]
                self._action(action)
            tags += names
            prefixed = [n for n in names if "." in n]
            target = self.random.randrange(count)
            moves = [(n, self.random.randrange(count)) for n in names if "." not in n]
            states.append(moves + ([(f"t{state}", target)] if prefixed else []))
        if count > 1:
            self._fsm(states)
        self._priority(tags)

    def _free(self, tag: str, needs: Needs) -> _Action:
        """Return an action; without inputs it may fire so often only."""
        if self.inputs:
            return _Action(tag, needs)
        return _Action(tag, needs, guard="left > 0", before=["left := left - 1;"])

    def _fsm(self, states: list[list[tuple[str, int]]]) -> None:
        lines = [f"{INDENT}x{k} ({tag}) --> x{target};" for k, moves in enumerate(states) for tag, target in moves]
        self.lines += ["schedule fsm x0 :", *lines, "end"]

    def _priority(self, tags: list[str]) -> None:
        if len(tags) > 1 and self.chance(0.6):
            chain = self.random.sample(tags, self.random.randint(2, len(tags)))
            # The last one of untimed actors has no guard, so it must be tried last in its state.
            chain = [t for t in tags if t in chain] if not self.shape.timed else chain
            self.lines += ["priority", f"{INDENT}{' > '.join(chain)};", "end"]

    def _action(self, action: _Action) -> None:
        """Write one action."""
        patterns: list[str] = []
        tokens: list[Named] = []
        for k, count in action.needs.items():
            pattern, named = self._pattern(k, count, tokens)
            patterns.append(pattern)
            tokens += named
        scope = self.scope.inner(*tokens)
        guards = [action.guard] if action.guard else []
        plain = [t for t in tokens if isinstance(t.type, IntType)]
        apart = self.shape.apart and not action.before and self.chance(0.85)
        if apart:
            scope = _without_effects(scope, tokens)
        if apart and action.guarded and plain and self.chance(0.6):
            guards.append(f"{self.pick(plain).name} {self.pick(('<', '>', '!='))} {self.random.randint(-2, 9)}")
        elif action.guarded and self.chance(0.7):
            guards += [self.expressions.condition(scope, 2).text for _ in range(self.random.randint(1, 2))]
        texts, inner = self.statements.locals(scope, self.random.randint(0, 2))
        texts.append("int count1 := 0")
        inner = inner.inner(Named("count1", INT32))
        body = [*action.before, *self._reading(inner), *self.statements.block(inner, self.random.randint(1, 4), 2)]
        outputs = self._outputs(inner, tokens)
        annotated = self.chance(0.1) and self.shape.timed
        tag = f"{action.tag}: " if action.tag else ""
        lines = ["@schedule_outputs"] if annotated else []
        lines.append(f"{tag}action {', '.join(patterns)} ==> {', '.join(outputs)}".rstrip())
        lines += ["guard", f"{INDENT}{', '.join(guards)}"] if guards else []
        lines += [f"var {', '.join(texts)}", "do", *(INDENT + line for line in body), "end"]
        self.lines += lines

    def _reading(self, scope: Scope) -> list[str]:
        """Return statements that read the input by a native, where the actor does."""
        if not self.shape.reads_input or self.chance(0.4):
            return []
        lists = [v for v in scope.variables if v.writable and isinstance(v.type, ListType) and _is_flat_int(v.type)]
        if lists and self.chance(0.6):
            return [f"source_readNBytes({self.pick(lists).name}, {self.random.randint(0, 2)});"]
        return [f'println("{self.shape.name} " + (source_readByte() - source_readByte()));']

    def _pattern(self, port: int, count: int, others: list[Named]) -> tuple[str, list[Named]]:
        """Return an input pattern for so many tokens, and its variables; a name may hide one of the state."""
        of, name = self.inputs[port].type, self.inputs[port].name
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        repeat = self.pick(divisors) if count > 1 and self.chance(0.6) else 0
        number = count // repeat if repeat else count
        names = [self.statements.fresh("x") for _ in range(number)]
        hides = [v.name for v in self.scope.variables if v.writable and v.name not in {t.name for t in others}]
        if hides and self.chance(0.06):
            names[0] = self.pick(hides)
        text = f"{name}:[{', '.join(names)}]" + (f" repeat {repeat}" if repeat else "")
        kind: Type = ListType(of, repeat) if repeat else of
        return text, [Named(n, kind, writable=True) for n in names]

    def _outputs(self, scope: Scope, tokens: list[Named]) -> list[str]:
        """Return the output patterns of an action; on a feedback it writes as much as it reads."""
        texts = []
        for k, port in enumerate(self.outputs):
            if k == self.shape.feedback:
                texts.append(f"{port.name}:[{self.expressions.value(port.type, scope, 2).text}]")
                continue
            kind = self.random.random()
            if kind < 0.15 and len(self.outputs) > 1 and not self.shape.apart:
                continue
            if kind < 0.7:
                values = [self._output(port.type, scope, tokens).text for _ in range(self.pick((1, 1, 2, 3)))]
                texts.append(f"{port.name}:[{', '.join(values)}]")
            else:
                repeat, number = self.random.randint(1, 4), self.pick((1, 1, 2))
                of = ListType(port.type, repeat)
                values = [self._long(of, scope).text for _ in range(number)]
                texts.append(f"{port.name}:[{', '.join(values)}] repeat {repeat}")
        return texts

    def _long(self, of: ListType, scope: Scope) -> Text:
        """Return a list that is at least as long as asked for."""
        for _ in range(4):
            found = self.expressions.list(of, scope, 1)
            if isinstance(found.type, ListType) and found.type.size >= of.size:
                return found
        return self.expressions.generator(of, scope, 1)

    def _output(self, of: ScalarType, scope: Scope, tokens: list[Named]) -> Text:
        """Return a value of an output: a token that was read, often."""
        same = [t for t in tokens if t.type == of]
        if same and self.chance(0.3):
            return Text(self.pick(same).name, of)
        return self.expressions.value(of, scope, self.pick((0, 1, 2, 3)))


def _without_effects(scope: Scope, tokens: list[Named]) -> Scope:
    """Return the scope of an action that leaves nothing for the next one: several threads may fire it at once."""
    kept = {t.name for t in tokens}
    return Scope([v if v.name in kept else replace(v, writable=False) for v in scope.variables], scope.functions, [])


def _is_flat_int(of: ListType) -> bool:
    return isinstance(of.element, IntType)
