"""An actor compiled to Python: one factory function whose closure holds the state; instances are calls of it.

Each action, guard, function and procedure becomes Python source once per actor and connection shape. State variables
that only actions touch become locals of the scheduler generator; those that routines share are closure cells.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from dse.base.errors import ExecutionError
from dse.base.source import Span
from dse.codegen.emitter import Lines
from dse.codegen.python import support
from dse.codegen.python.expressions import Namespace, PythonExpressions
from dse.codegen.python.scheduler import SchedulerWriter
from dse.codegen.python.spelling import python_name, routine_name, zero_text
from dse.codegen.python.statements import PythonStatements
from dse.codegen.python.storage import new_list_text
from dse.model.rounds import LoopKey
from dse.passes import arithmetic
from dse.passes.analyses.uses import ActorFacts, gather_facts, recursive_routines
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import ByState, Choice, ExplicitActor, Guard, When, Wiring
from dse.program.ir import Actor, Expr, Routine, Variable
from dse.program.types import ListType

_SERIAL = itertools.count()
_RUNTIME: dict[str, object] = {
    "add": operator.add,
    "fmod": math.fmod,
    "single": arithmetic.single,
    "quotient": arithmetic.quotient,
    "remainder": arithmetic.remainder,
    "shift_left": arithmetic.shift_left,
    "shift_right": arithmetic.shift_right,
    "float_quotient": arithmetic.float_quotient,
    "Recursion": support.Recursion,
    "copy_nested": support.copy_nested,
    "endless": support.endless,
    "copy_into": support.copy_into,
    "filled": support.filled,
    "zeros": support.zeros,
    "large_list": support.large_list,
    "float_text": support.float_text,
    "bool_text": support.bool_text,
    "list_text": support.list_text,
    "flattened": support.flattened,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledActor:
    """Code of an actor for one wiring. ``spans[k]`` is where line k + 1 of ``source`` stems from."""

    actor: Actor
    wiring: Wiring
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


def compile_actor(actor: Actor, wiring: Wiring) -> CompiledActor:
    """Return the compiled actor. Compilation has no effect and reads no file.

    Raises ExecutionError for what Python cannot hold, as more than 20 loops inside each other.
    """
    facts = gather_facts(actor)
    explicit, values = make_explicit(actor, wiring, facts)
    expressions = PythonExpressions(values, Namespace(natives=frozenset(n.name for n in actor.natives)))
    lines = Lines()
    lines.add("def make(me, S, moved, R, A, signature, output, stray, stray_list, natives, ports, rounds):")
    lines.depth = 1
    _write_ports(lines, wiring)
    for native in actor.natives:
        lines.add(f"{routine_name(native.name)} = natives[{native.name!r}]", native.span)
    recursive = recursive_routines(facts.of_routines)
    if recursive:
        lines.add("nested = Recursion()")
    for routine in explicit.routines:
        written = facts.of_routines[routine.name].writes
        _write_routine(lines, explicit, expressions, routine, written, counted=routine.name in recursive)
    for variable in explicit.variables:  # after the routines: an initial value may call one
        _write_variable(lines, expressions, variable)
    _write_run(lines, explicit, expressions, facts)
    lines.add("return run()")
    source = "\n".join(lines.texts) + "\n"
    filename = f"<{actor.name} #{next(_SERIAL)}>"
    try:
        code: CodeType = compile(source, filename, "exec")
    except SyntaxError as error:
        raise ExecutionError(
            f"'{actor.name}' cannot be compiled to Python: {error.msg}",
            span=lines.spans[(error.lineno or 1) - 1],
            expected="put fewer blocks inside each other",
        ) from error
    guards = _guards((*explicit.start, *explicit.choice))
    texts = [tuple(expressions.write(g).text for g in guards.get(k, ())) for k in range(len(actor.actions))]
    namespace: dict[str, Any] = {**_RUNTIME, **expressions.names.objects}
    exec(code, namespace)  # running generated code is the purpose of this module
    return CompiledActor(
        actor=actor,
        wiring=wiring,
        facts=facts,
        source=source,
        filename=filename,
        spans=tuple(lines.spans),
        guards=tuple(texts),
        sites=tuple(expressions.names.sites),
        make=namespace["make"],
        loops=explicit.loops,
    )


def _guards(choice: Choice) -> dict[int, tuple[Expr, ...]]:
    """Return the guards that a choice tests, by action."""
    found: dict[int, tuple[Expr, ...]] = {}
    for decision in choice:
        match decision:
            case When():
                if isinstance(decision.condition, Guard):
                    found[decision.condition.action] = decision.condition.conditions
                found |= _guards(decision.then)
            case ByState():
                for state in decision.states:
                    found |= _guards(state)
            case _:
                pass
    return found


def _write_ports(lines: Lines, wiring: Wiring) -> None:
    """Write the unpacking of the FIFOs: inputs are (list, positions, reader, compact, writer), outputs (list, ...)."""
    for i, source in enumerate(wiring.inputs):
        if source is not None:
            lines.add(f"D{i}, H{i}, k{i}, X{i}, w{i} = ports[0][{i}]")
    for j, fan_out in enumerate(wiring.fan_outs):
        if fan_out:
            lines.add(f"E{j}, G{j}, C{j}, y{j} = ports[1][{j}]")
    for i, j in wiring.loops:
        lines.add(f"g{i} = k{i}  # position of the own reader on output {j}")


def _write_variable(lines: Lines, expressions: PythonExpressions, variable: Variable) -> None:
    """Write the initial value of a constant or state variable."""
    if variable.initial is not None:
        text = expressions.write(variable.initial).text
    else:
        of = variable.type
        text = new_list_text(of) if isinstance(of, ListType) else zero_text(of)
    lines.add(f"{python_name(variable.name)} = {text}", variable.span)


def _write_routine(
    lines: Lines,
    explicit: ExplicitActor,
    expressions: PythonExpressions,
    routine: Routine,
    written: set[str],
    *,
    counted: bool,
) -> None:
    """Write a function or procedure as a nested function; the state it assigns is nonlocal.

    ``counted``: it may call itself, and watches how deep it is.
    """
    parameters = ", ".join(python_name(p.name) for p in routine.parameters)
    lines.add(f"def {routine_name(routine.name)}({parameters}):", routine.span)
    lines.depth += 1
    _write_nonlocal(lines, explicit.variables, written)
    if counted:
        lines.add("nested.enter()", routine.span)
        lines.add("try:")
        lines.depth += 1
    writer = PythonStatements(expressions)
    writer.body(routine.body)
    lines.extend(writer.lines)
    if routine.result is not None:
        lines.add(f"return {expressions.write(routine.result).text}", routine.result.span)
    if counted:
        lines.depth -= 1
        lines.add("finally:")
        lines.depth += 1
        lines.add("nested.depth -= 1")
        lines.depth -= 1
    lines.depth -= 1


def _write_nonlocal(lines: Lines, variables: Iterable[Variable], written: set[str]) -> None:
    names = [python_name(v.name) for v in variables if v.name in written and not isinstance(v.type, ListType)]
    if names:
        lines.add(f"nonlocal {', '.join(names)}")


def _write_run(lines: Lines, explicit: ExplicitActor, expressions: PythonExpressions, facts: ActorFacts) -> None:
    """Write the scheduler generator. What routines assign stays in cells; all else becomes a local by a default."""
    scalars = {v.name for v in explicit.variables if not isinstance(v.type, ListType)}
    cells = facts.shared & facts.assigned & scalars
    scheduler = SchedulerWriter(explicit, expressions)
    body = scheduler.write()
    locals_ = [python_name(v.name) for v in explicit.variables if v.name not in cells]
    locals_ += scheduler.port_names()
    lines.add(f"def run({', '.join(f'{n}={n}' for n in (*locals_, 'R', 'S', 'me', 'moved'))}):")
    lines.depth += 1
    written = {name for _, body in facts.of_actions for name in body.writes}
    _write_nonlocal(lines, explicit.variables, written & cells)
    lines.extend(body)
    lines.depth -= 1
