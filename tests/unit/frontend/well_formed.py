"""The rules of ``dse.program.ir`` as assertions on a lowered actor: names, order, types of what is stored."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from dse.base.source import Span
from dse.program import ir
from dse.program.types import BoolType, IntType, ListType, Type
from dse.program.typing import is_bindable, is_convertible


def nodes(tree: object) -> Iterator[object]:
    """Yield every IR node below ``tree``, itself included."""
    if isinstance(tree, Span):
        return
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif is_dataclass(tree):
        yield tree
        if not isinstance(tree, ir.ConstList):
            for field in fields(tree):
                yield from nodes(getattr(tree, field.name))


class WellFormed:
    """Checks one actor."""

    def __init__(self, actor: ir.Actor) -> None:
        self.actor = actor
        self.types: dict[str, Type] = {}
        self.routines = {r.name: r for r in actor.routines}
        self.natives = {n.name: n for n in actor.natives}

    def check(self) -> None:
        actor = self.actor
        assert not set(self.routines) & set(self.natives)
        seen: set[str] = set()
        for variable in actor.variables:
            needed = self._global_names(variable.initial)
            assert needed <= seen, f"{variable.name} needs {needed - seen} before"
            self._enter(variable)
            seen.add(variable.name)
        initials = tuple(v.initial for v in actor.variables if v.initial is not None)
        for node in nodes((initials, actor.actions, actor.routines, actor.natives)):
            if isinstance(node, ir.Variable):
                self._enter(node)
        assert not set(self.types) & (set(self.routines) | set(self.natives))
        for node in nodes((actor.variables, actor.actions, actor.routines)):
            self._check_node(node)
        self._check_schedule()

    def _enter(self, variable: ir.Variable) -> None:
        assert variable.name not in self.types, f"{variable.name} is declared twice"
        self.types[variable.name] = variable.type

    def _global_names(self, tree: object) -> set[str]:
        own = {v.name for v in self.actor.variables}
        found: set[str] = set()
        pending, called = [tree], set()
        while pending:
            for node in nodes(pending.pop()):
                if isinstance(node, ir.Load | ir.Index):
                    found |= {node.name} & own
                elif isinstance(node, ir.Call) and node.routine in self.routines and node.routine not in called:
                    called.add(node.routine)
                    pending.append(self.routines[node.routine])
        return found

    def _check_node(self, node: object) -> None:
        match node:
            case ir.Load():
                assert self.types[node.name] == node.type
            case ir.Index():
                assert all(isinstance(i.type, IntType) for i in node.indices)
                assert self._element(node.name, len(node.indices)) == node.type
            case ir.Assign():
                assert all(isinstance(i.type, IntType) for i in node.indices)
                assert is_convertible(node.value.type, self._element(node.name, len(node.indices)))
            case ir.Declare():
                assert node.value is None or is_convertible(node.value.type, node.variable.type)
            case ir.Variable():
                assert node.initial is None or is_convertible(node.initial.type, node.type)
            case ir.Call() | ir.CallStmt():
                self._check_call(node)
            case ir.If() | ir.While() | ir.Conditional():
                assert isinstance(node.condition.type, BoolType)
            case ir.Routine():
                assert (node.result is None) == (node.result_type is None)
            case ir.Action():
                assert all(isinstance(g.type, BoolType) for g in node.guards)
                for pattern in node.outputs:
                    port = self.actor.outputs[pattern.port].type
                    for value in pattern.values:
                        of = ListType(port, value.type.size) if isinstance(value.type, ListType) else port
                        assert is_convertible(value.type, of)
                        assert dimensions(value.type) >= pattern.repeat

    def _check_call(self, call: ir.Call | ir.CallStmt) -> None:
        routine = self.routines.get(call.routine) or self.natives[call.routine]
        assert (routine.result_type is None) == isinstance(call, ir.CallStmt)
        for argument, parameter in zip(call.arguments, routine.parameters, strict=True):
            assert is_bindable(argument.type, parameter.type)

    def _element(self, name: str, indices: int) -> Type:
        of = self.types[name]
        for _ in range(indices):
            assert isinstance(of, ListType)
            of = of.element
        return of

    def _check_schedule(self) -> None:
        actor = self.actor
        names = [a.name for a in actor.actions]
        assert len(set(names)) == len(names)
        assert len(actor.transitions) == len(actor.states)
        assert 0 <= actor.initial_state < len(actor.states)
        for state, candidates in enumerate(actor.transitions):
            tried = [c.action for c in candidates]
            assert len(set(tried)) == len(tried)
            assert not set(tried) & set(actor.initializers)
            for candidate in candidates:
                assert 0 <= candidate.target < len(actor.states)
                assert actor.actions[candidate.action].tagged or candidate.target == state


def dimensions(of: Type) -> int:
    return of.size if isinstance(of, ListType) else 0


def assert_well_formed(actor: ir.Actor) -> None:
    """Raise ``AssertionError`` where an actor breaks a rule of the IR."""
    WellFormed(actor).check()
