"""An actor compiled to Python: one factory function whose closure holds the state; instances are calls of it.

Each action, guard, function and procedure becomes Python source once per actor and connection shape. State variables
that only actions touch become locals of the scheduler generator; those that routines share are closure cells.
"""

import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from dse.base.source import Span
from dse.codegen.python import support
from dse.codegen.python.expressions import ExpressionWriter, routine_name, zero_text
from dse.codegen.python.firing import FiringWriter, Shape
from dse.codegen.python.scheduler import SchedulerWriter
from dse.codegen.python.scope import Scope, open_scope, python_name
from dse.codegen.python.statements import Lines, StatementWriter
from dse.model.rounds import LoopKey
from dse.passes import arithmetic
from dse.passes.analyses.uses import ActorFacts, uses_of
from dse.program.ir import Actor, Routine, Variable
from dse.program.types import ListType, dimensions_of

_SERIAL = itertools.count()
_RUNTIME: dict[str, object] = {
    "add": operator.add,
    "fmod": math.fmod,
    "single": arithmetic.single,
    "quotient": arithmetic.quotient,
    "remainder": arithmetic.remainder,
    "shift_left": support.shift_left,
    "shift_right": support.shift_right,
    "float_quotient": arithmetic.float_quotient,
    "copy_nested": support.copy_nested,
    "endless": support.endless,
    "copy_into": support.copy_into,
    "filled": support.filled,
    "zeros": support.zeros,
    "float_text": support.float_text,
    "bool_text": support.bool_text,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledActor:
    """Code of an actor for one shape. ``spans[k]`` is where line k + 1 of ``source`` stems from."""

    actor: Actor
    shape: Shape
    facts: ActorFacts
    source: str
    filename: str
    spans: tuple[Span, ...]
    sites: tuple[tuple[Span, str], ...]
    guards: tuple[tuple[str, ...], ...]
    """Python text of the guards of each action, for the diagnosis of a network that stopped."""
    make: Callable[..., Any]
    """``make(ports, record, support)`` returns the scheduler generator of a new instance; see ``instance.py``."""
    loops: tuple[LoopKey, ...] = ()
    """The loops whose entries and rounds are counted, in the order of their pairs of counters."""


def compile_actor(actor: Actor, shape: Shape) -> CompiledActor:
    """Return the compiled actor. Compilation has no effect and reads no file."""
    scope = open_scope(actor)
    scope.loops = {} if shape.rounds else None
    firing = FiringWriter(scope, shape)
    lines = Lines()
    lines.add("def make(me, S, moved, R, A, signature, output, stray, stray_list, natives, ports, rounds):")
    lines.depth = 1
    _write_ports(lines, shape)
    for native in actor.natives:
        lines.add(f"{routine_name(native.name)} = natives[{native.name!r}]", native.span)
    for routine in actor.routines:
        _declare_parameters(scope, routine)
    for routine in actor.routines:
        _write_routine(lines, scope, routine)
    for variable in actor.variables:  # after the routines: an initial value may call one
        _write_variable(lines, scope, variable)
    _write_run(lines, scope, firing)
    lines.add("return run()")
    source = "\n".join(lines.texts) + "\n"
    filename = f"<{actor.name} #{next(_SERIAL)}>"
    code: CodeType = compile(source, filename, "exec")
    namespace: dict[str, Any] = {**_RUNTIME, **scope.names.objects}
    exec(code, namespace)  # running generated code is the purpose of this module
    guards = tuple(
        tuple(firing.expressions.write(g).text for g in a.guards) if firing.possible(a) else () for a in actor.actions
    )
    return CompiledActor(
        actor=actor,
        shape=shape,
        facts=scope.facts,
        source=source,
        filename=filename,
        spans=tuple(lines.spans),
        sites=tuple(scope.sites),
        guards=guards,
        make=namespace["make"],
        loops=tuple(scope.loops or ()),
    )


def _write_ports(lines: Lines, shape: Shape) -> None:
    """Write the unpacking of the FIFOs: inputs are (list, positions, reader, compact, writer), outputs (list, ...)."""
    for i, source in enumerate(shape.inputs):
        if source is not None:
            lines.add(f"D{i}, H{i}, k{i}, X{i}, w{i} = ports[0][{i}]")
    for j, fan_out in enumerate(shape.fan_outs):
        if fan_out:
            lines.add(f"E{j}, G{j}, C{j}, y{j} = ports[1][{j}]")
    for i, j in shape.loops:
        lines.add(f"g{i} = k{i}  # position of the own reader on output {j}")


def _write_variable(lines: Lines, scope: Scope, variable: Variable) -> None:
    """Write the initial value of a constant or state variable; a literal constant stands for itself everywhere."""
    symbol = scope.symbols[variable.name]
    if symbol.literal is not None:
        return
    of = variable.type
    if variable.initial is None:
        text = f"zeros({dimensions_of(of)}, {zero_text(of)})" if isinstance(of, ListType) else zero_text(of)
        if symbol.zero_part:
            text = f"zeros({dimensions_of(of)[: symbol.lazy_depth]}, {symbol.zero_part})"
    else:
        text = ExpressionWriter(scope).stored(variable.initial, of).text
    lines.add(f"{symbol.python} = {text}", variable.span)


def _declare_parameters(scope: Scope, routine: Routine) -> None:
    for parameter in routine.parameters:
        scope.declare(parameter, by_reference=isinstance(parameter.type, ListType))


def _write_routine(lines: Lines, scope: Scope, routine: Routine) -> None:
    """Write a function or procedure as a nested function; the state it assigns is nonlocal."""
    parameters = ", ".join(scope.symbols[p.name].python for p in routine.parameters)
    lines.add(f"def {routine_name(routine.name)}({parameters}):", routine.span)
    lines.depth += 1
    uses = uses_of((), (*routine.declarations, *routine.body))
    _write_nonlocal(lines, scope, uses.writes)
    writer = StatementWriter(scope, ExpressionWriter(scope))
    writer.body((*routine.declarations, *routine.body))
    lines.extend(writer.lines)
    if routine.result is not None and routine.result_type is not None:
        lines.add(f"return {writer.expressions.stored(routine.result, routine.result_type).text}", routine.result.span)
    lines.depth -= 1


def _write_nonlocal(lines: Lines, scope: Scope, written: set[str]) -> None:
    names = [
        python_name(v.name) for v in scope.actor.variables if v.name in written and not isinstance(v.type, ListType)
    ]
    if names:
        lines.add(f"nonlocal {', '.join(names)}")


def _write_run(lines: Lines, scope: Scope, firing: FiringWriter) -> None:
    """Write the scheduler generator. What routines assign stays in cells; all else becomes a local by a default."""
    facts = scope.facts
    cells = [
        v
        for v in scope.actor.variables
        if v.name in facts.shared and v.name in facts.assigned and not isinstance(v.type, ListType)
    ]
    kept = [v.name for v in cells]
    scheduler = SchedulerWriter(firing)
    body = scheduler.write()
    locals_ = [
        python_name(v.name)
        for v in scope.actor.variables
        if v.name not in kept and scope.symbols[v.name].literal is None
    ]
    for i in scheduler.inputs:
        locals_ += [f"D{i}", f"H{i}", f"k{i}", f"X{i}", f"w{i}"]
    for j in scheduler.outputs:
        locals_ += [f"E{j}", f"G{j}", f"C{j}", f"y{j}"]
    locals_ += ["R", "S", "me", "moved"]
    lines.add(f"def run({', '.join(f'{n}={n}' for n in locals_)}):")
    lines.depth += 1
    written = {n for a in scope.actor.actions for n in uses_of((), (*a.declarations, *a.body)).writes}
    _write_nonlocal(lines, scope, written & set(kept))
    lines.extend(body)
    lines.depth -= 1
