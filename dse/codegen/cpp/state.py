"""What an actor keeps: its variables with their initial values, its ports, its functions and procedures."""

from collections.abc import Sequence

from dse.codegen.cpp.scope import MemberWriter
from dse.codegen.cpp.statements import CppStatements
from dse.codegen.cpp.storage import list_text, zero_text
from dse.codegen.cpp.types import storage_type
from dse.program.ir import Expr, Routine, Variable
from dse.program.types import ListType, Type, dimensions_of, scalar_of


class StateWriter(MemberWriter):
    """Writes the members of the class of an actor that are no actions."""

    def constructor(self, variables: Sequence[Variable]) -> None:
        """Write the constructor, which computes the initial values in the order of the variables."""
        span = self.scope.actor.span
        self.open_function(f"explicit {self.scope.class_name}(const Wires& wires) : Actor(wires), ports_(wires)", span)
        writer = self.scope.statements()
        for variable in variables:
            if variable.initial is not None:
                self._initial(variable, variable.initial, writer)
        self.lines.extend(writer.lines)
        self.close_member()

    def _initial(self, variable: Variable, value: Expr, writer: CppStatements) -> None:
        write = self.scope.expressions
        write.statement = variable.span
        writer.comment(variable.span)
        target, of = write.names.of(variable.name), variable.type
        if isinstance(of, ListType):
            writer.line(f"copy_into({target}, {write.place(value)})", variable.span)
        else:
            writer.line(f"{target} = {writer.stored(value, storage_type(of))}", variable.span)

    def members(self, variables: Sequence[Variable]) -> None:
        """Write the variables of the actor, the state of its machine and its ports."""
        add, write, scope = self.lines.add, self.scope.expressions, self.scope
        for variable in variables:
            target, of = write.names.of(variable.name), variable.type
            if isinstance(of, ListType):
                add(f"{list_text(write.elements[variable.name], dimensions_of(of))} {target};", variable.span)
            else:
                held = storage_type(of)
                zero = "" if held.family == "string" else zero_text(held)
                add(f"{held.name} {target}{{{zero}}};", variable.span)
        if scope.has_states:
            add(f"State state_ = State::{scope.names.states[scope.actor.initial_state]};")
        if write.effects.recursive:
            add("Recursion recursion_;")
        add("Ports ports_;")

    def ports(self) -> None:
        """Write the class of the ends of the FIFOs."""
        scope, names = self.scope, self.scope.ports
        members, starts = [], []
        for i in scope.inputs:
            members.append(f"Reader<{_token_text(names.arriving[i])}> {names.inputs[i]};")
            starts.append(f"{names.inputs[i]}(wires.inputs[{i}])")
        for j in scope.outputs:
            fan_out = scope.explicit.wiring.fan_outs[j]
            members.append(f"Writer<{_token_text(names.leaving[j])}, {fan_out}> {names.outputs[j]};")
            starts.append(f"{names.outputs[j]}(wires.outputs[{j}])")
        self.open("struct Ports")
        wires = "const Wires& wires" if starts else "const Wires&"
        self.lines.add(
            f"{scope.target.function}explicit Ports({wires}){' : ' if starts else ''}{', '.join(starts)} {{}}"
        )
        self.lines.add("")
        self.lines.add("template <class Do>")
        self.open_function("void each([[maybe_unused]] Do&& act)")
        for end in (*(names.inputs[i] for i in scope.inputs), *(names.outputs[j] for j in scope.outputs)):
            self.lines.add(f"act({end});")
        self.close_member()
        for member in members:
            self.lines.add(member)
        self.close_member("};")

    # Routines ---------------------------------------------------------------------------------------------------------

    def routine(self, routine: Routine) -> None:
        """Write a function or procedure, and what stands for it where the thread calls it that fires and shares."""
        write, scope = self.scope.expressions, self.scope
        parameters = [self._parameter(p) for p in routine.parameters]
        self._function(routine, write.names.of(routine.name), parameters, scope.statements())
        shared = scope.shared_routines.get(routine.name)
        if shared is not None:
            self._function(routine, shared, ["auto& visit", *parameters], scope.sharing_statements(-1, routine.name))

    def _function(self, routine: Routine, name: str, parameters: Sequence[str], writer: CppStatements) -> None:
        """Write a function; one that may call itself watches how deep it is."""
        write, span = self.scope.expressions, routine.span
        self.comment(span)
        target = self.scope.target
        qualifier = target.procedure if routine.body else target.function
        self.open(f"{qualifier}{_result_text(routine.result_type)} {name}({', '.join(parameters)})", span)
        if routine.name in write.effects.recursive:
            write.statement = span
            writer.line(f"const Depth depth(recursion_, {write.site()})", span)
        writer.body(routine.body)
        if routine.result is not None and routine.result_type is not None:
            self._result(routine.result, routine.result_type, writer)
        self.lines.extend(writer.lines)
        self.close_member()

    def _result(self, result: Expr, of: Type, writer: CppStatements) -> None:
        self.scope.expressions.statement = result.span
        writer.comment(result.span)
        writer.line(f"return {writer.result(result, of)}", result.span)

    def _parameter(self, parameter: Variable) -> str:
        write, of = self.scope.expressions, parameter.type
        name, constant = write.names.of(parameter.name), parameter.name not in write.mutated
        if isinstance(of, ListType):
            return f"{write.parameter_view(parameter)} {name}"
        held = storage_type(of)
        return f"const std::string& {name}" if held.family == "string" and constant else f"{held.name} {name}"


def _token_text(of: Type | None) -> str:
    assert of is not None, "an unconnected port has no end"
    return storage_type(scalar_of(of)).name


def _result_text(of: Type | None) -> str:
    if of is None:
        return "void"
    held = storage_type(scalar_of(of))
    return list_text(held, dimensions_of(of)) if isinstance(of, ListType) else held.name
