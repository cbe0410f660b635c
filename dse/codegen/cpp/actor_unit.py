"""One file of C++ for each actor and way of being connected: a class that the runtime visits.

State variables are members, functions and procedures and actions are member functions, and ``run`` makes the choice of
the next action until none can fire. The contract with the runtime is that of ``dse/native/runtime/dse/actor.hpp``.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from dse.base.source import Span
from dse.codegen.cpp.batches import BatchWriter
from dse.codegen.cpp.expressions import Sites
from dse.codegen.cpp.firing import FiringWriter
from dse.codegen.cpp.layout import folded
from dse.codegen.cpp.lists import CppLists
from dse.codegen.cpp.natives import NativeForms
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cpp.scheduling import SchedulingWriter
from dse.codegen.cpp.scope import ActorScope, scope_of
from dse.codegen.cpp.spelling import CPP, Names, comment_text
from dse.codegen.cpp.state import StateWriter
from dse.codegen.cpp.statements import SourceLines, no_source
from dse.codegen.cpp.target import PROCESSOR, Target
from dse.codegen.emitter import Lines
from dse.model.rounds import LoopKey
from dse.passes.analyses.uses import gather_facts
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from dse.program.ir import Actor

_MOST_BRACKETS = 200
"""Brackets inside each other that every compiler takes: clang has a bound of 256."""


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
    batched: tuple[int, ...] = ()
    """The actions that the target may fire several times at once."""
    shared: int = 0
    """Loops that the target shares out to threads."""


def actor_unit(
    actor: Actor,
    wiring: Wiring,
    natives: NativeForms,
    *,
    name: str | None = None,
    source: SourceLines = no_source,
    target: Target = PROCESSOR,
) -> ActorUnit:
    """Return the file of an actor for one wiring.

    ``name``: that of the class, see ``unit_name``. ``source`` gives the lines of CAL for the comments. Raises
    NoNativeForm for what has no form for the ``target``.
    """
    facts = gather_facts(actor)
    names, sites = Names(), Sites()
    class_name = name or unit_name(actor, set())
    names.taken.add(class_name)
    try:
        explicit, values = make_explicit(actor, wiring, facts)
        expressions = CppLists(actor, facts, values, natives, names, sites, target)
        scope = scope_of(explicit, facts, expressions, class_name, source, target)
        lines = _file(scope)
    except RecursionError as error:
        raise NoNativeForm(f"'{actor.name}' nests too deep for {target.name}", span=actor.span) from error
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
        batched=tuple(scope.batches),
        shared=len(scope.loops),
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
        if not text.lstrip().startswith("//"):
            for char in text:
                depth += (char in "([{") - (char in ")]}")
                if depth > _MOST_BRACKETS:
                    raise NoNativeForm(f"'{actor.name}' nests too deep for C++", span=span)


def _file(scope: ActorScope) -> Lines:
    """Return the lines of the file. The class is written first: it says which tables are needed."""
    write, lines, target = scope.expressions, Lines(CPP.indent), scope.target
    tables = {v.name: t for v in scope.explicit.variables if (t := write.variable_table(v)) is not None}
    body = _class(scope, frozenset(tables))
    lines.add(f"// {comment_text(f'{scope.actor.name}, written by dse from {scope.actor.path}.')}")
    context = '#include "dse/context.hpp"\n' if write.needs_context else ""
    declarations = "".join(f"{line}\n" for line in _declarations(scope))
    _add(lines, target.head.format(name=scope.class_name, context=context, declarations=declarations))
    constant = [*itertools.chain.from_iterable(tables.values()), *write.tables]
    for line in (*constant, *([""] if constant else [])):
        lines.add(line)
    lines.extend(body)
    _add(lines, target.end.format(name=scope.class_name))
    return lines


def _declarations(scope: ActorScope) -> Iterable[str]:
    """Return the lines that declare functions of the user, each once."""
    forms = (scope.expressions.native_forms.get((n.declared_in, n.source_name)) for n in scope.actor.natives)
    return dict.fromkeys(f.declaration for f in forms if f is not None and f.declaration)


def _add(lines: Lines, text: str) -> None:
    for line in text.split("\n"):
        lines.add(line)


def _class(scope: ActorScope, tables: frozenset[str]) -> Lines:
    """Return the lines of the class; the variables in ``tables`` are constants of the file."""
    variables = [v for v in scope.explicit.variables if v.name not in tables]
    lines = Lines(CPP.indent)
    state, firing, scheduling = StateWriter(scope, lines), FiringWriter(scope, lines), SchedulingWriter(scope, lines)
    state.comment(scope.actor.span)
    lines.add(f"class {scope.class_name} final : public Actor {{", scope.actor.span)
    lines.add(" public:")
    lines.depth += 1
    state.constructor(variables)
    scheduling.start()
    scheduling.run()
    scheduling.explain()
    batches = BatchWriter(scope, lines)
    batches.members()
    lines.depth -= 1
    lines.add(" private:")
    lines.depth += 1
    if scope.has_states:
        lines.add(f"enum class State {{ {', '.join(scope.names.states)} }};")
        lines.add("")
    state.ports()
    for routine in scope.explicit.routines:
        state.routine(routine)
    for index in sorted(scope.guards):
        firing.guard(index)
    for index, statements in enumerate(scope.explicit.firings):
        if statements is not None:
            firing.action(index)
    batches.batches()
    for function in scope.written.functions:
        lines.extend(function)
    state.members(variables)
    for member in scope.written.members.values():
        lines.add(member)
    lines.depth -= 1
    lines.add("};")
    return lines
