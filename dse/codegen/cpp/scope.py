"""What the parts of an actor's file share: names, ports, guards, and the writers of statements."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dse.base.source import NO_SPAN, Span
from dse.codegen.cpp.choice import ChoiceNames, trials_of, uses_of_choice
from dse.codegen.cpp.lists import CppLists
from dse.codegen.cpp.shared import SharedLoop, SharedStatements, Written, name_loops, shared_names
from dse.codegen.cpp.spelling import Names
from dse.codegen.cpp.statements import CppStatements, PortNames, SourceLines
from dse.codegen.cpp.target import Target
from dse.codegen.emitter import Lines
from dse.passes.analyses.endless import endless_actions
from dse.passes.analyses.shared_loops import NOTHING_SHARED, SharedWork, shared_loops
from dse.passes.analyses.simd_firing import SimdFiring, simd_firings
from dse.passes.analyses.uses import ActorFacts
from dse.program.explicit import ExplicitActor, Guard, Peek, Wiring
from dse.program.ir import Action, Actor

_MOST_NARROW_ACTIONS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorScope:
    """One actor that is being written. ``inputs`` and ``outputs`` are the connected ports that some action uses."""

    explicit: ExplicitActor
    facts: ActorFacts
    expressions: CppLists
    class_name: str
    source: SourceLines
    target: Target
    ports: PortNames
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    guards: Mapping[int, tuple[Peek | None, Guard]]
    """By action: the tokens that its guard looks at, and the guard."""
    names: ChoiceNames
    endless: frozenset[int]
    """Actions whose firing may not end, which the program can name then."""
    batches: Mapping[int, SimdFiring]
    """By action: those that the target may fire several times at once."""
    work: SharedWork
    """What the target shares out to threads."""
    loops: tuple[SharedLoop, ...]
    """Loops of it."""
    shared_routines: Mapping[str, str]
    """The second function of each routine with such loops."""
    lone_names: Mapping[int, str]
    """Of actions that have both: the function for a thread that has a firing of its own and shares nothing."""
    written: Written
    repeated: frozenset[tuple[str, int]]
    """("guard" or "action", number) of those that the choice names in several places."""

    @property
    def actor(self) -> Actor:
        """The actor as the source has it."""
        return self.explicit.actor

    @property
    def has_states(self) -> bool:
        """Whether its machine has more than one state."""
        return len(self.actor.states) > 1

    def visit(self, timer: str = "") -> str:
        """Return the type of a visit of the actor, with the name of the class that times firings where one does."""
        narrow = len(self.actor.actions) <= _MOST_NARROW_ACTIONS
        if timer:
            return f"Visit<Ports, {'NarrowId' if narrow else 'WideId'}, {timer}>"
        return "Visit<Ports>" if narrow else "Visit<Ports, WideId>"

    def statements(self) -> CppStatements:
        """Return a writer of statements."""
        return CppStatements(self.expressions, self.ports, self.source)

    def shares(self, action: int) -> bool:
        """Whether loops of an action, or of a routine that it calls, are shared out."""
        return bool(self.work.of_action(action))

    def main_rounds(self, action: int) -> int:
        """Return the rounds of that loop of an action, of those that are shared out, which does most; 0: none is."""
        found = self.work.of_action(action)
        return max(found, key=lambda s: s.operations).rounds if found else 0

    def sharing_statements(self, action: int, routine: str = "") -> SharedStatements:
        """Return a writer of the statements of an action, or of a routine, that shares its loops out."""
        of = (action, routine)
        loops = {x.sharing.loops[0].variable.name: x for x in self.loops if (x.sharing.action, x.sharing.routine) == of}
        members, routines = self.work.members, self.shared_routines
        return SharedStatements(self.expressions, self.ports, self.source, loops, members, routines, self.written)

    def touches_ports(self, action: Action) -> bool:
        """Return whether a firing reads or writes a connected port."""
        ins = any(p.port in self.inputs for p in action.inputs)
        return ins or any(p.port in self.outputs for p in action.outputs)


class MemberWriter:
    """Writes members of the class of an actor."""

    def __init__(self, scope: ActorScope, lines: Lines) -> None:
        self.scope = scope
        self.lines = lines

    def open(self, head: str, span: Span = NO_SPAN) -> None:
        """Write the head of a block."""
        self.lines.add(f"{head} {{", span)
        self.lines.depth += 1

    def open_function(self, head: str, span: Span = NO_SPAN) -> None:
        """Write the head of a member function."""
        self.open(f"{self.scope.target.function}{head}", span)

    def open_choice(self, kind: str, index: int, head: str, span: Span) -> None:
        """Write the head of what stands for an action or its guard, which the choice may name in several places."""
        target = self.scope.target
        apart = (kind, index) in self.scope.repeated
        self.open(f"{target.procedure if apart else target.function}{head}", span)

    def close(self, end: str = "}") -> None:
        """End the block that was opened last."""
        self.lines.depth -= 1
        self.lines.add(end)

    def close_member(self, end: str = "}") -> None:
        """End a member; an empty line follows."""
        self.close(end)
        self.lines.add("")

    def comment(self, span: Span) -> None:
        """Write the first line of the source of something."""
        writer = self.scope.statements()
        writer.comment(span, 1)
        self.lines.extend(writer.lines)


def _port_names(actor: Actor, wiring: Wiring) -> PortNames:
    names = Names()
    return PortNames(
        arriving=wiring.inputs,
        leaving=tuple(p.type for p in actor.outputs),
        inputs=tuple(names.of(f"<{p.name}", p.name) for p in actor.inputs),
        outputs=tuple(names.of(f">{p.name}", p.name) for p in actor.outputs),
    )


def _used_ports(actor: Actor, wiring: Wiring) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the connected inputs and outputs that some action uses."""
    read = {p.port for a in actor.actions for p in a.inputs if wiring.inputs[p.port] is not None}
    written = {p.port for a in actor.actions for p in a.outputs if wiring.fan_outs[p.port]}
    return tuple(sorted(read)), tuple(sorted(written))


def _lone_names(work: SharedWork, batches: Iterable[int], actions: tuple[str, ...], names: Names) -> dict[int, str]:
    """Return the second function of each action that is fired several times at once and shares loops out."""
    return {k: names.fresh(f"{actions[k]}_alone") for k in sorted(batches) if work.of_action(k)}


def _of_lanes(
    explicit: ExplicitActor, facts: ActorFacts, expressions: CppLists
) -> tuple[dict[int, SimdFiring], SharedWork]:
    """Return the actions that several threads fire at once, and what they share of one firing."""
    judged = simd_firings(explicit, facts, expressions.values)
    work = shared_loops(explicit, facts, expressions.values)
    return {found.action: found for found in judged if found.able}, work


def scope_of(
    explicit: ExplicitActor,
    facts: ActorFacts,
    expressions: CppLists,
    class_name: str,
    source: SourceLines,
    target: Target,
) -> ActorScope:
    """Return what the parts of the file of an actor share."""
    actor, wiring, names = explicit.actor, explicit.wiring, expressions.names
    states, port_names = Names(), _port_names(actor, wiring)
    guards = trials_of((*explicit.start, *explicit.choice))
    batches, work = _of_lanes(explicit, facts, expressions) if target.lanes else ({}, NOTHING_SHARED)
    action_names = tuple(names.of(f"{k} action", a.name) for k, a in enumerate(actor.actions))
    choice_names = ChoiceNames(
        inputs=port_names.inputs,
        outputs=port_names.outputs,
        actions=action_names,
        guards={k: names.of(f"{k} guard", f"can_{actor.actions[k].name}") for k in guards},
        states=tuple(states.of(str(k), state) for k, state in enumerate(actor.states)),
        batches={k: names.of(f"{k} batch", f"batch_{actor.actions[k].name}") for k in sorted(batches)},
    )
    inputs, outputs = _used_ports(actor, wiring)
    return ActorScope(
        explicit=explicit,
        facts=facts,
        expressions=expressions,
        class_name=class_name,
        source=source,
        target=target,
        ports=port_names,
        inputs=inputs,
        outputs=outputs,
        guards=guards,
        names=choice_names,
        endless=endless_actions(actor, facts),
        batches=batches,
        work=work,
        loops=name_loops(work.able, action_names, names),
        shared_routines=shared_names(work.routines, names),
        lone_names=_lone_names(work, batches, action_names, names),
        written=Written(functions=[], members={}),
        repeated=frozenset(key for key, n in uses_of_choice(explicit.choice).items() if n > 1),
    )
