"""One file of C++ for each actor and way of being connected: a class that the runtime visits.

State variables are members, functions and procedures and actions are member functions, and ``run`` makes the choice of
the next action until none can fire. The contract with the runtime is that of ``dse/native/runtime/dse/actor.hpp``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dse.base.source import NO_SPAN, Span
from dse.codegen.cpp.choice import ChoiceNames, ChoiceWriter, trials_of
from dse.codegen.cpp.expressions import Sites
from dse.codegen.cpp.layout import folded
from dse.codegen.cpp.lists import CppLists
from dse.codegen.cpp.natives import NativeForms
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cpp.spelling import CPP, Names
from dse.codegen.cpp.statements import CppStatements, PortNames, SourceLines, no_source
from dse.codegen.cpp.storage import list_text, view_text, zero_text
from dse.codegen.cpp.types import storage_type
from dse.codegen.emitter import Lines
from dse.model.rounds import LoopKey
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import ExplicitActor, Guard, Peek, Wiring
from dse.program.ir import Action, Actor, ReadTokens, Routine, Variable, WriteTokens
from dse.program.types import ListType, dimensions_of, scalar_of

_MOST_NARROW_ACTIONS = 256
_MOST_BRACKETS = 200
"""Brackets inside each other that every compiler takes: clang has a bound of 256."""
_WHAT_CAL_MAY_SAY = ("-Wunused", "-Wtype-limits", "-Wtautological-compare")
"""Warnings about what a program in CAL may say, as a variable that is never read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorUnit:
    """The file of an actor. ``spans[k]`` is where line k + 1 of ``text`` stems from."""

    name: str
    """Name of the class; ``actors::make_NAME`` makes one."""
    actor: Actor
    wiring: Wiring
    text: str
    spans: tuple[Span, ...]
    sites: tuple[tuple[Span, str], ...]
    """The places that the code names by number, with the list that is accessed there or ""."""
    loops: tuple[LoopKey, ...]
    """The loops whose entries and rounds are counted, in the order of their pairs of counters."""
    guards_call: bool
    """Whether a guard calls a native, so that it may change without a token having moved."""


def actor_unit(
    actor: Actor,
    wiring: Wiring,
    natives: NativeForms,
    *,
    name: str | None = None,
    source: SourceLines = no_source,
) -> ActorUnit:
    """Return the file of an actor for one wiring.

    ``name``: that of the class, see ``unit_name``. ``source`` gives the lines of CAL for the comments. Raises
    NoNativeForm for what has no C++ form.
    """
    facts = gather_facts(actor)
    try:
        explicit, values = make_explicit(actor, wiring, facts)
        names, sites = Names(), Sites()
        class_name = name or unit_name(actor, set())
        names.taken.add(class_name)
        expressions = CppLists(actor, facts, values, natives, names, sites)
        writer = _UnitWriter(explicit, facts, expressions, class_name, source)
        lines = writer.write()
    except RecursionError as error:
        raise NoNativeForm(f"'{actor.name}' nests too deep for C++", span=actor.span) from error
    _check_brackets(lines, actor)
    lines = folded(lines)
    return ActorUnit(
        name=class_name,
        actor=actor,
        wiring=wiring,
        text="\n".join(lines.texts) + "\n",
        spans=tuple(lines.spans),
        sites=tuple(sites.places),
        loops=explicit.loops,
        guards_call=any(a.guard_calls_native for a in facts.accesses),
    )


def unit_name(actor: Actor, taken: set[str]) -> str:
    """Return a name for the class of an actor, and add it to those that are ``taken``, letter case ignored."""
    stem = Names().fresh(actor.name.rpartition(".")[2])
    found, number = stem, 1
    while found.lower() in taken:
        number += 1
        found = f"{stem}_{number}"
    taken.add(found.lower())
    return found


def _check_brackets(lines: Lines, actor: Actor) -> None:
    """Raise NoNativeForm where more brackets stand inside each other than compilers take."""
    depth = 0
    for text, span in zip(lines.texts, lines.spans, strict=True):
        if text.lstrip().startswith("//"):
            continue
        for char in text:
            depth += (char in "([{") - (char in ")]}")
            if depth > _MOST_BRACKETS:
                raise NoNativeForm(f"'{actor.name}' nests too deep for C++", span=span)


class _UnitWriter:
    """Writes the file of one actor."""

    def __init__(
        self,
        explicit: ExplicitActor,
        facts: ActorFacts,
        expressions: CppLists,
        name: str,
        source: SourceLines,
    ) -> None:
        self.explicit = explicit
        self.actor = explicit.actor
        self.facts = facts
        self.expressions = expressions
        self.names = expressions.names
        self.name = name
        self.source = source
        self.lines = Lines(CPP.indent)
        actor = self.actor
        ports = Names()
        self.ports = PortNames(
            arriving=explicit.wiring.inputs,
            leaving=tuple(p.type for p in actor.outputs),
            inputs=tuple(ports.of(f"<{p.name}", p.name) for p in actor.inputs),
            outputs=tuple(ports.of(f">{p.name}", p.name) for p in actor.outputs),
        )
        self.inputs = sorted({p.port for a in actor.actions for p in a.inputs if explicit.wiring.inputs[p.port]})
        self.outputs = sorted({p.port for a in actor.actions for p in a.outputs if explicit.wiring.fan_outs[p.port]})
        self.trials = trials_of((*explicit.start, *explicit.choice))
        states = Names()
        self.choice_names = ChoiceNames(
            inputs=self.ports.inputs,
            outputs=self.ports.outputs,
            actions=tuple(self.names.of(f"{k} action", a.name) for k, a in enumerate(actor.actions)),
            guards={k: self.names.of(f"{k} guard", f"can_{actor.actions[k].name}") for k in self.trials},
            states=tuple(states.of(str(k), s or "only") for k, s in enumerate(actor.states)),
            guarded=explicit.wiring.accesses,
        )
        self.tables = [t for v in explicit.variables if (t := expressions.variable_table(v)) is not None]
        self.constant = {v.name for v in explicit.variables if expressions.variable_table(v) is not None}
        self.variables = [v for v in explicit.variables if v.name not in self.constant]

    # The file ---------------------------------------------------------------------------------------------------------

    def write(self) -> Lines:
        """Return the lines of the file. The class is written first: it says which tables it needs."""
        self._class()
        body, self.lines = self.lines, Lines(CPP.indent)
        add = self.lines.add
        add(f"// {self.actor.name}, written by dse from {self.actor.path}.")
        add("#include <limits>")
        add("#include <memory>")
        add("#include <string>")
        add("#include <vector>")
        add("")
        for header in ("actor", "context", "lists", "numbers", "text"):
            add(f'#include "dse/{header}.hpp"')
        add("")
        for warning in _WHAT_CAL_MAY_SAY:
            add(f'#pragma GCC diagnostic ignored "{warning}"')
        add("#ifdef __clang__")
        add('#pragma clang diagnostic ignored "-Wself-assign"')
        add("#endif")
        add("")
        forms = (self.expressions.native_forms.get((n.declared_in, n.source_name)) for n in self.actor.natives)
        for declaration in dict.fromkeys(f.declaration for f in forms if f is not None and f.declaration):
            add(declaration)
        add("namespace {")
        add("")
        add("using namespace dse;")
        add("using namespace std::string_literals;")
        add("")
        for lines in (*self.tables, self.expressions.tables):
            for line in lines:
                add(line)
        if self.tables or self.expressions.tables:
            add("")
        self.lines.extend(body)
        add("")
        add("}  // namespace")
        add("")
        add("namespace actors {")
        add("")
        add(f"std::unique_ptr<dse::Actor> make_{self.name}(const dse::Wires& wires);")
        add(f"std::unique_ptr<dse::Actor> make_{self.name}(const dse::Wires& wires) {{")
        add(f"  return std::make_unique<{self.name}>(wires);")
        add("}")
        add("")
        add("}  // namespace actors")
        return self.lines

    def _class(self) -> None:
        add = self.lines.add
        self._comment(self.actor.span)
        add(f"class {self.name} final : public Actor {{", self.actor.span)
        add(" public:")
        self.lines.depth += 1
        self._constructor()
        self._start()
        self._run()
        self._explain()
        self.lines.depth -= 1
        add(" private:")
        self.lines.depth += 1
        if len(self.actor.states) > 1:
            add(f"enum class State {{ {', '.join(self.choice_names.states)} }};")
            add("")
        self._ports()
        for routine in self.explicit.routines:
            self._routine(routine)
        for action, (peek, guard) in sorted(self.trials.items()):
            self._guard(action, peek, guard)
        for index, firing in enumerate(self.explicit.firings):
            if firing is not None:
                self._action(index)
        self._members()
        self.lines.depth -= 1
        add("};")

    def _open(self, head: str, span: Span = NO_SPAN) -> None:
        self.lines.add(f"{head} {{", span)
        self.lines.depth += 1

    def _close(self, end: str = "}") -> None:
        self.lines.depth -= 1
        self.lines.add(end)

    def _comment(self, span: Span) -> None:
        """Write the first line of the source of something."""
        writer = CppStatements(self.expressions, self.ports, self.source)
        writer.comment(span, 1)
        self.lines.extend(writer.lines)

    def _statements(self) -> CppStatements:
        return CppStatements(self.expressions, self.ports, self.source)

    # State ------------------------------------------------------------------------------------------------------------

    def _constructor(self) -> None:
        """Write the constructor, which computes the initial values in the order of the variables."""
        self._open(f"explicit {self.name}(const Wires& wires) : Actor(wires), ports_(wires)", self.actor.span)
        writer = self._statements()
        for variable in self.variables:
            self._initial(variable, writer)
        self.lines.extend(writer.lines)
        self._close()
        self.lines.add("")

    def _initial(self, variable: Variable, writer: CppStatements) -> None:
        if variable.initial is None:
            return
        self.expressions.statement = variable.span
        writer.comment(variable.span)
        target, of = self.names.of(variable.name), variable.type
        if isinstance(of, ListType):
            writer.line(f"copy_into({target}, {self.expressions.place(variable.initial)})", variable.span)
        else:
            writer.line(f"{target} = {writer.stored(variable.initial, storage_type(of))}", variable.span)

    def _members(self) -> None:
        """Write the variables of the actor, the state of its machine and its ports."""
        add = self.lines.add
        for variable in self.variables:
            target, of = self.names.of(variable.name), variable.type
            if isinstance(of, ListType):
                held_list = list_text(self.expressions.elements[variable.name], dimensions_of(of))
                add(f"{held_list} {target};", variable.span)
            else:
                held = storage_type(of)
                zero = "" if held.family == "string" else zero_text(held)
                add(f"{held.name} {target}{{{zero}}};", variable.span)
        if len(self.actor.states) > 1:
            add(f"State state_ = State::{self.choice_names.states[self.actor.initial_state]};")
        if self.expressions.effects.recursive:
            add("Recursion recursion_;")
        add("Ports ports_;")

    def _ports(self) -> None:
        """Write the class of the ends of the FIFOs."""
        members, starts = [], []
        for i in self.inputs:
            arriving = self.explicit.wiring.inputs[i]
            assert arriving is not None
            members.append(f"Reader<{storage_type(scalar_of(arriving)).name}> {self.ports.inputs[i]};")
            starts.append(f"{self.ports.inputs[i]}(wires.inputs[{i}])")
        for j in self.outputs:
            of = storage_type(scalar_of(self.ports.leaving[j])).name
            members.append(f"Writer<{of}, {self.explicit.wiring.fan_outs[j]}> {self.ports.outputs[j]};")
            starts.append(f"{self.ports.outputs[j]}(wires.outputs[{j}])")
        ends = [self.ports.inputs[i] for i in self.inputs] + [self.ports.outputs[j] for j in self.outputs]
        self._open("struct Ports")
        wires = "const Wires& wires" if starts else "const Wires&"
        self.lines.add(f"explicit Ports({wires}){' : ' if starts else ''}{', '.join(starts)} {{}}")
        self.lines.add("")
        self.lines.add("template <class Do>")
        self._open("void each([[maybe_unused]] Do&& act)")
        for end in ends:
            self.lines.add(f"act({end});")
        self._close()
        self.lines.add("")
        for member in members:
            self.lines.add(member)
        self._close("};")
        self.lines.add("")

    # Routines and actions ---------------------------------------------------------------------------------------------

    def _routine(self, routine: Routine) -> None:
        """Write a function or procedure."""
        result = "void"
        if routine.result_type is not None:
            held = storage_type(scalar_of(routine.result_type))
            of_list = isinstance(routine.result_type, ListType)
            result = list_text(held, dimensions_of(routine.result_type)) if of_list else held.name
        parameters = ", ".join(self._parameter(p) for p in routine.parameters)
        self._comment(routine.span)
        self._open(f"{result} {self.names.of(routine.name)}({parameters})", routine.span)
        writer = self._statements()
        if routine.name in self.expressions.effects.recursive:
            self.expressions.statement = routine.span
            writer.line(f"const Depth depth(recursion_, {self.expressions.site()})", routine.span)
        writer.body(routine.body)
        if routine.result is not None:
            self._result(routine, writer)
        self.lines.extend(writer.lines)
        self._close()
        self.lines.add("")

    def _result(self, routine: Routine, writer: CppStatements) -> None:
        assert routine.result is not None
        assert routine.result_type is not None
        self.expressions.statement = routine.result.span
        of = storage_type(scalar_of(routine.result_type))
        writer.comment(routine.result.span)
        if isinstance(routine.result_type, ListType):
            writer.line(f"return {self.expressions.made(routine.result, of)}", routine.result.span)
        else:
            writer.line(f"return {writer.stored(routine.result, of)}", routine.result.span)

    def _parameter(self, parameter: Variable) -> str:
        name, of = self.names.of(parameter.name), parameter.type
        if isinstance(of, ListType):
            constant = parameter.name not in self.facts.mutated
            view = view_text(self.expressions.elements[parameter.name], len(dimensions_of(of)), constant=constant)
            return f"{view} {name}"
        held = storage_type(of)
        if held.family == "string" and parameter.name not in self.facts.mutated:
            return f"const std::string& {name}"
        return f"{held.name} {name}"

    def _guard(self, action: int, peek: Peek | None, guard: Guard) -> None:
        """Write the guard of an action; the tokens that it looks at are there."""
        span = self.actor.actions[action].span
        self._open(f"bool {self.choice_names.guards[action]}([[maybe_unused]] const Ports& p)", span)
        writer = self._statements()
        for read in () if peek is None else peek.reads:
            writer.statement(read)
        self.expressions.statement = guard.conditions[0].span
        tests = [self.expressions.scalar(c) for c in guard.conditions]
        writer.comment(guard.conditions[0].span.to(guard.conditions[-1].span))
        text = tests[0].text if len(tests) == 1 else " && ".join(t.at(6) for t in tests)
        writer.line(f"return {text}", guard.conditions[0].span)
        self.lines.extend(writer.lines)
        self._close()
        self.lines.add("")

    def _action(self, index: int) -> None:
        """Write what a firing of an action does."""
        action, firing = self.actor.actions[index], self.explicit.firings[index]
        assert firing is not None
        self._comment(action.span)
        self._open(f"void {self.choice_names.actions[index]}(Visit<{self._visit()}>& visit)", action.span)
        writer = self._statements()
        if self._touches_ports(action):
            writer.line("Ports& p = visit.ports", action.span)
        writer.line(f"visit.chose({index})", action.span)
        reads = [s for s in firing if isinstance(s, ReadTokens)]
        peek = self.trials[index][0] if index in self.trials else None
        peeked = peek.reads if peek is not None else ()
        known = {r.variable.name for r in reads}
        for read in peeked:
            if read.variable.name not in known and self._is_needed(action, read):
                writer.statement(read)
        told = wrote = False
        for stmt in firing:
            is_read = isinstance(stmt, ReadTokens) or type(stmt).__name__ == "ConsumeTokens"
            if not is_read and not told:
                writer.line(f"visit.have_read({index})", action.span)
                told = True
            if isinstance(stmt, WriteTokens) and not wrote:
                writer.line(f"visit.computed({index})", action.span)
                wrote = True
            writer.statement(stmt)
        if not told:
            writer.line(f"visit.have_read({index})", action.span)
        if not wrote:
            writer.line(f"visit.computed({index})", action.span)
        self._meet(action, writer)
        writer.line(f"visit.fired({index})", action.span)
        self.lines.extend(writer.lines)
        self._close()
        self.lines.add("")

    def _touches_ports(self, action: Action) -> bool:
        ins = any(p.port in self.inputs for p in action.inputs)
        return ins or any(p.port in self.outputs for p in action.outputs)

    def _is_needed(self, action: Action, read: ReadTokens) -> bool:
        """Return whether the body of an action uses a token that its guard has looked at."""
        _, body = self.facts.of_actions[self.actor.actions.index(action)]
        return read.variable.name in body.reads | body.writes

    def _meet(self, action: Action, writer: CppStatements) -> None:
        """Write what shows the tokens of a connection from the actor to itself at once."""
        ins, outs = {p.port for p in action.inputs}, {p.port for p in action.outputs}
        for i, j in self.explicit.wiring.loops:
            if (i in ins or j in outs) and i in self.inputs and j in self.outputs:
                writer.line(f"meet(p.{self.ports.inputs[i]}, p.{self.ports.outputs[j]})", action.span)

    def _visit(self) -> str:
        return "Ports" if len(self.actor.actions) <= _MOST_NARROW_ACTIONS else "Ports, WideId"

    # Choice -----------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if not self.explicit.start:
            self.lines.add("void start() override {}")
            self.lines.add("")
            return
        self._open("void start() override")
        self.lines.add("// The choice of the initializer, made once.")
        self._open("const auto choose = [this](auto& visit)")
        self.lines.add("[[maybe_unused]] Ports& p = visit.ports;")
        writer = ChoiceWriter(self.choice_names, "return;")
        writer.write(self.explicit.start)
        self.lines.extend(writer.lines)
        self._close("};")
        self.lines.add(f"Visit<{self._visit()}> visit(*this, ports_);")
        self.lines.add("choose(visit);")
        self.lines.add("visit.outcome = Condition::ready;")
        self._close()
        self.lines.add("")

    def _run(self) -> None:
        self._open("void run(std::int64_t budget) override")
        self.lines.add(f"Visit<{self._visit()}> visit(*this, ports_);")
        self.lines.add("[[maybe_unused]] Ports& p = visit.ports;")
        self._open("for (std::int64_t left = budget; left != 0; --left)")
        writer = ChoiceWriter(self.choice_names, "continue;")
        writer.write(self.explicit.choice)
        self.lines.extend(writer.lines)
        self.lines.add("return;")
        self._close()
        self.lines.add("visit.outcome = Condition::ready;")
        self._close()
        self.lines.add("")

    def _explain(self) -> None:
        """Write the first condition that does not hold, for each candidate action of the present state."""
        actor = self.actor
        self._open("void explain([[maybe_unused]] std::vector<Wait>& waits) override")
        self.lines.add("[[maybe_unused]] Ports p = ports_;")
        self.lines.add("p.each([](auto& port) { port.refresh(); });")
        if len(actor.states) == 1:
            self._explain_actions(t.action for t in actor.transitions[0])
        else:
            self._open("switch (state_)")
            for state, transitions in enumerate(actor.transitions):
                self._open(f"case State::{self.choice_names.states[state]}:")
                self._explain_actions(t.action for t in transitions)
                self.lines.add("break;")
                self._close()
            self._close()
        self._close()
        self.lines.add("")

    def _explain_actions(self, actions: Iterable[int]) -> None:
        for index in actions:
            tests = [*self._token_waits(index)]
            if index in self.trials:
                tests.append((f"!{self.choice_names.guards[index]}(p)", f"{index}, WaitKind::guard"))
            for output in self.actor.actions[index].outputs:
                if output.port in self.outputs:
                    room = f"p.{self.ports.outputs[output.port]}.room()"
                    wait = f"{index}, WaitKind::room, {output.port}, {room}, {output.tokens}"
                    tests.append((f"{room} < {output.tokens}", wait))
            for k, (test, wait) in enumerate(tests):
                head = f"if ({test})" if k == 0 else f"}} else if ({test})"
                self.lines.depth -= k > 0
                self._open(head)
                self.lines.add(f"waits.push_back({{{wait}}});")
                self.lines.depth -= 1
                self.lines.depth += 1
            if tests:
                self._close()

    def _token_waits(self, index: int) -> Iterable[tuple[str, str]]:
        for pattern in self.actor.actions[index].inputs:
            if pattern.port not in self.inputs:
                yield "true", f"{index}, WaitKind::unconnected, {pattern.port}, 0, {pattern.tokens}"
                return
            count = f"p.{self.ports.inputs[pattern.port]}.count()"
            yield f"{count} < {pattern.tokens}", f"{index}, WaitKind::tokens, {pattern.port}, {count}, {pattern.tokens}"
