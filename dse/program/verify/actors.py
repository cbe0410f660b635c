"""Rules of a whole actor: names, order of initial values, patterns, the schedule."""

from collections import Counter
from collections.abc import Iterable, Iterator

from dse.program.ir import (
    Action,
    Actor,
    Call,
    Index,
    InputPattern,
    Load,
    OutputPattern,
    Routine,
    Variable,
)
from dse.program.text.tokens import type_text
from dse.program.types import ListType, Type
from dse.program.verify.bodies import BodyVerifier, Scope
from dse.program.verify.findings import Finding, Findings
from dse.program.walk import nodes_of


def verify(actor: Actor) -> tuple[Finding, ...]:
    """Return the rules of ``dse.program.ir`` that an actor breaks; none for one that a front end may make."""
    findings = Findings()
    _ActorVerifier(actor, findings).check()
    return tuple(findings.found)


def check_variables(
    bodies: BodyVerifier, variables: tuple[Variable, ...], reach: "Reachable", findings: Findings
) -> Scope:
    """Check state and constants, each of whose initial values needs only those before, and return their scope."""
    scope = Scope()
    own = {variable.name for variable in variables}
    for variable in variables:
        findings.where = f"variable {variable.name}"
        findings.require(variable.kind in ("state", "constant"), f"its kind is {variable.kind}", variable.span)
        if variable.initial is not None:
            bodies.expression(variable.initial, scope)
            bodies.stored(variable.initial, variable.type, "the initial value", variable.span)
            later = (reach.names(variable.initial) & own) - scope.variables.keys()
            findings.require(not later, f"its value needs {', '.join(sorted(later))} before", variable.span)
        scope.variables[variable.name] = variable
    return scope


def check_routine(bodies: BodyVerifier, routine: Routine, scope: Scope, findings: Findings) -> None:
    """Check a function or procedure."""
    findings.where = f"{'procedure' if routine.result_type is None else 'function'} {routine.name}"
    for parameter in routine.parameters:
        bodies.variable(parameter, "parameter")
    inner = bodies.block((*routine.declarations, *routine.body), scope.with_variables(routine.parameters))
    both = (routine.result is None) == (routine.result_type is None)
    findings.require(both, "it has a result without its type, or the type without it", routine.span)
    if routine.result is not None and routine.result_type is not None:
        bodies.expression(routine.result, inner)
        bodies.stored(routine.result, routine.result_type, "the result", routine.span)


class Reachable:
    """The variables that an expression names, itself or in the functions that it calls."""

    def __init__(self, routines: Iterable[Routine]) -> None:
        self._routines = {routine.name: routine for routine in routines}

    def names(self, tree: object) -> set[str]:
        """Return the names."""
        found: set[str] = set()
        pending, called = [tree], set[str]()
        while pending:
            for node in nodes_of(pending.pop()):
                match node:
                    case Load() | Index():
                        found.add(node.name)
                    case Call() if node.routine in self._routines and node.routine not in called:
                        called.add(node.routine)
                        pending.append(self._routines[node.routine])
                    case _:
                        pass
        return found


class _ActorVerifier:
    """Checks one actor of the source IR."""

    def __init__(self, actor: Actor, findings: Findings) -> None:
        self._actor = actor
        self._findings = findings
        self._bodies = BodyVerifier(findings, (*actor.routines, *actor.natives))

    def check(self) -> None:
        """Gather what is wrong."""
        actor = self._actor
        self._check_names()
        scope = check_variables(self._bodies, actor.variables, Reachable(actor.routines), self._findings)
        for routine in actor.routines:
            check_routine(self._bodies, routine, scope, self._findings)
        for native in actor.natives:
            self._findings.where = f"native {native.name}"
            for parameter in native.parameters:
                self._bodies.variable(parameter, "parameter")
        for action in actor.actions:
            self._check_action(action, scope)
        self._findings.where = "the schedule"
        self._check_schedule()
        for state in range(len(actor.transitions)):
            self._check_transitions(state)

    def _check_names(self) -> None:
        actor = self._actor
        variables = [node.name for node in nodes_of(actor) if isinstance(node, Variable)]
        routines = [*(routine.name for routine in actor.routines), *(native.name for native in actor.natives)]
        self._once(variables, "variables are called")
        self._once(routines, "routines are called")
        for name in sorted(set(variables) & set(routines)):
            self._findings.add(f"a variable and a routine are called '{name}'")
        self._once((port.name for port in actor.inputs), "inputs are called")
        self._once((port.name for port in actor.outputs), "outputs are called")
        self._once((action.name for action in actor.actions), "actions are called")
        self._once(actor.states, "states are called")

    def _once(self, names: Iterable[object], text: str) -> None:
        for name, times in Counter(names).items():
            self._findings.require(times == 1, f"{times} {text} '{name}'")

    # Actions ----------------------------------------------------------------------------------------------------------

    def _check_action(self, action: Action, scope: Scope) -> None:
        self._findings.where = f"action {action.name}"
        tokens = scope.with_variables(self._inputs(action))
        for guard in action.guards:
            self._bodies.condition(guard, tokens, "a guard")
        inner = self._bodies.block((*action.declarations, *action.body), tokens)
        self._ports_once((pattern.port for pattern in action.outputs), len(self._actor.outputs), action)
        for pattern in action.outputs:
            self._bodies.expressions(pattern.values, inner)
            if 0 <= pattern.port < len(self._actor.outputs):
                self._check_output(pattern, self._actor.outputs[pattern.port].type)

    def _ports_once(self, ports: Iterable[int], count: int, action: Action) -> None:
        for port, times in Counter(ports).items():
            self._findings.require(0 <= port < count, f"a pattern is for port {port} of {count}", action.span)
            self._findings.require(times == 1, f"{times} patterns are for port {port}", action.span)

    def _inputs(self, action: Action) -> Iterator[Variable]:
        """Check the input patterns, and yield their variables."""
        self._ports_once((pattern.port for pattern in action.inputs), len(self._actor.inputs), action)
        for pattern in action.inputs:
            if 0 <= pattern.port < len(self._actor.inputs):
                self._check_input(pattern, self._actor.inputs[pattern.port].type)
            yield from pattern.variables

    def _check_input(self, pattern: InputPattern, port: Type) -> None:
        of = ListType(port, pattern.repeat) if pattern.repeat else port
        for variable in pattern.variables:
            self._bodies.variable(variable, "token")
            text = f"the tokens of '{variable.name}' are {type_text(of)}, not {type_text(variable.type)}"
            self._findings.require(variable.type == of, text, variable.span)

    def _check_output(self, pattern: OutputPattern, port: Type) -> None:
        for value in pattern.values:
            of = port
            if pattern.repeat:
                long = isinstance(value.type, ListType) and value.type.size >= pattern.repeat
                if not self._findings.require(long, f"an output is no list of {pattern.repeat} tokens", value.span):
                    continue
                assert isinstance(value.type, ListType)
                of = ListType(port, value.type.size)
            self._bodies.stored(value, of, "an output", value.span)

    # The schedule -----------------------------------------------------------------------------------------------------

    def _check_schedule(self) -> None:
        actor, require = self._actor, self._findings.require
        require(len(actor.transitions) == len(actor.states), "there are not as many lists of transitions as states")
        require(0 <= actor.initial_state < len(actor.states), f"there is no initial state {actor.initial_state}")
        require(actor.has_fsm or actor.states == ("",), "there are states without an FSM")
        require(len(set(actor.initializers)) == len(actor.initializers), "an initializer stands twice")
        for action in actor.initializers:
            if require(0 <= action < len(actor.actions), f"there is no initializer {action}"):
                name = actor.actions[action].name
                require(not actor.actions[action].inputs, f"the initializer '{name}' reads tokens")

    def _check_transitions(self, state: int) -> None:
        actor, require = self._actor, self._findings.require
        transitions = actor.transitions[state]
        self._once((f"#{t.action}" for t in transitions), f"transitions of state {state} are for action")
        for transition in transitions:
            require(0 <= transition.target < len(actor.states), f"a transition leads to state {transition.target}")
            if not require(0 <= transition.action < len(actor.actions), f"there is no action {transition.action}"):
                continue
            name = actor.actions[transition.action].name
            require(transition.action not in actor.initializers, f"the initializer '{name}' has a transition")
            stays = actor.actions[transition.action].tagged or transition.target == state
            require(stays, f"the untagged action '{name}' leaves its state")
