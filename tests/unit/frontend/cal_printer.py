"""Syntax trees back to RVC-CAL text. Parsing the text gives an equal tree, spans apart.

Not kept, because the tree does not hold them: comments, layout, redundant parentheses, ``^`` before words that are not
reserved, and how variables, functions, procedures and actions were mixed.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from dse.frontend.cal.ast import (
    ActionDecl,
    ActorDecl,
    Annotation,
    AssignStmt,
    CalFile,
    CallStmt,
    ForeachStmt,
    FsmDecl,
    FunctionDecl,
    IfStmt,
    InputPatternDecl,
    OutputPatternDecl,
    PortDecl,
    ProcedureDecl,
    RegExp,
    RegExpChoice,
    RegExpDecl,
    RegExpRepeat,
    RegExpSequence,
    RegExpTag,
    Stmt,
    Tag,
    UnitDecl,
    VarDecl,
    WhileStmt,
)
from tests.unit.frontend.cal_expression_printer import (
    annotation_text,
    declaration_text,
    dotted_text,
    expression_text,
    expressions_text,
    generator_head_text,
    name_text,
    type_text,
)

INDENT = "    "


def print_cal(file: CalFile) -> str:
    """Return the text of a file."""
    lines = [f"package {dotted_text(file.package)};", ""] if file.package else []
    lines += [f"import {dotted_text(entry.name)}{'.*' if entry.wildcard else ''};" for entry in file.imports]
    if file.imports:
        lines.append("")
    lines += _actor(file.entity) if isinstance(file.entity, ActorDecl) else _unit(file.entity)
    return "\n".join(lines) + "\n"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)


def _annotation_lines(annotations: tuple[Annotation, ...]) -> list[str]:
    return [annotation_text(a) for a in annotations]


# Entities -------------------------------------------------------------------------------------------------------------


def _unit(unit: UnitDecl) -> list[str]:
    lines = [*_annotation_lines(unit.annotations), f"unit {name_text(unit.name)} :"]
    lines += _indented(_members(unit.variables, unit.functions, unit.procedures))
    return [*lines, "end"]


def _actor(actor: ActorDecl) -> list[str]:
    parameters = ", ".join(declaration_text(p) for p in actor.parameters)
    lines = [*_annotation_lines(actor.annotations), f"actor {name_text(actor.name)} ({parameters})"]
    lines += _indented([_ports(actor.inputs) + "==>", _ports(actor.outputs) + ":"])
    lines += _indented(_members(actor.variables, actor.functions, actor.procedures))
    for action in actor.actions:
        lines += _indented(_action(action))
    if actor.schedule is not None:
        lines += _indented(_schedule(actor.schedule))
    if actor.priorities:
        lines += _indented(_priority(actor.priorities))
    return [*lines, "end"]


def _ports(ports: tuple[PortDecl, ...]) -> str:
    texts = [
        "".join(annotation_text(a) + " " for a in port.annotations) + f"{type_text(port.type)} {name_text(port.name)}"
        for port in ports
    ]
    return ", ".join(texts) + " " if texts else ""


def _members(
    variables: tuple[VarDecl, ...], functions: tuple[FunctionDecl, ...], procedures: tuple[ProcedureDecl, ...]
) -> Iterator[str]:
    for variable in variables:
        yield declaration_text(variable) + ";"
    for function in functions:
        yield from _function(function)
    for procedure in procedures:
        yield from _procedure(procedure)


def _locals(variables: tuple[VarDecl, ...]) -> list[str]:
    if not variables:
        return []
    texts = [declaration_text(v) for v in variables]
    return ["var", *_indented([text + "," for text in texts[:-1]] + texts[-1:])]


def _function(function: FunctionDecl) -> Iterator[str]:
    parameters = ", ".join(declaration_text(p) for p in function.parameters)
    yield from _annotation_lines(function.annotations)
    yield f"function {name_text(function.name)} ({parameters}) --> {type_text(function.result)}"
    if function.body is not None:
        yield from _locals(function.locals)
        yield f": {expression_text(function.body)}"
    yield "end"


def _procedure(procedure: ProcedureDecl) -> Iterator[str]:
    parameters = ", ".join(declaration_text(p) for p in procedure.parameters)
    yield from _annotation_lines(procedure.annotations)
    yield f"procedure {name_text(procedure.name)} ({parameters})"
    if procedure.body is not None:
        yield from _locals(procedure.locals)
        yield "begin"
        yield from _indented(_statements(procedure.body))
    yield "end"


# Actions and schedules ------------------------------------------------------------------------------------------------


def _action(action: ActionDecl) -> Iterator[str]:
    yield from _annotation_lines(action.annotations)
    tag = dotted_text(action.tag) + ": " if action.tag else ""
    inputs = ", ".join(_input(p) for p in action.inputs) + (" " if action.inputs else "")
    outputs = ", ".join(_output(p) for p in action.outputs)
    head = f"{tag}{'initialize' if action.initialize else 'action'} {inputs}==> {outputs}"
    yield head.rstrip()
    if action.guards:
        yield "guard"
        yield INDENT + expressions_text(action.guards)
    yield from _locals(action.locals)
    if action.body:
        yield "do"
        yield from _indented(_statements(action.body))
    yield "end"


def _input(pattern: InputPatternDecl) -> str:
    repeat = f" repeat {expression_text(pattern.repeat)}" if pattern.repeat is not None else ""
    return f"{name_text(pattern.port.name)}:[{', '.join(name_text(t.name) for t in pattern.tokens)}]{repeat}"


def _output(pattern: OutputPatternDecl) -> str:
    repeat = f" repeat {expression_text(pattern.repeat)}" if pattern.repeat is not None else ""
    return f"{name_text(pattern.port.name)}:[{expressions_text(pattern.values)}]{repeat}"


def _schedule(schedule: FsmDecl | RegExpDecl) -> Iterator[str]:
    match schedule:
        case FsmDecl():
            yield f"schedule fsm {name_text(schedule.initial.name)} :"
            for t in schedule.transitions:
                source, target = name_text(t.source.name), name_text(t.target.name)
                yield f"{INDENT}{source} ({dotted_text(t.tag.name)}) --> {target};"
            yield "end"
        case RegExpDecl():
            yield f"schedule regexp {_regexp(schedule.expression)} end"
        case _:
            assert_never(schedule)


def _regexp(regexp: RegExp) -> str:
    match regexp:
        case RegExpTag():
            return dotted_text(regexp.tag.name)
        case RegExpRepeat():
            simple = isinstance(regexp.child, RegExpTag)  # nor a repeat: "**" is one sign
            return (_regexp(regexp.child) if simple else f"({_regexp(regexp.child)})") + regexp.op
        case RegExpSequence():
            simple_parts = RegExpTag | RegExpRepeat
            return " ".join(_regexp(p) if isinstance(p, simple_parts) else f"({_regexp(p)})" for p in regexp.parts)
        case RegExpChoice():
            return " | ".join(f"({_regexp(p)})" if isinstance(p, RegExpChoice) else _regexp(p) for p in regexp.parts)
        case _:
            assert_never(regexp)


def _priority(priorities: tuple[tuple[Tag, ...], ...]) -> Iterator[str]:
    yield "priority"
    for chain in priorities:
        yield INDENT + " > ".join(dotted_text(tag.name) for tag in chain) + ";"
    yield "end"


# Statements -----------------------------------------------------------------------------------------------------------


def _statements(statements: tuple[Stmt, ...]) -> Iterator[str]:
    for statement in statements:
        yield from _statement(statement)


def _statement(statement: Stmt) -> Iterator[str]:
    yield from _annotation_lines(statement.annotations)
    match statement:
        case AssignStmt():
            indices = "".join(f"[{expression_text(i)}]" for i in statement.indices)
            yield f"{dotted_text(statement.target.name)}{indices} := {expression_text(statement.value)};"
        case CallStmt():
            yield f"{dotted_text(statement.procedure.name)}({expressions_text(statement.arguments)});"
        case IfStmt():
            yield from _if(statement)
        case WhileStmt():
            yield f"while {expression_text(statement.condition)} do"
            yield from _indented(_statements(statement.body))
            yield "end"
        case ForeachStmt():
            yield f"foreach {generator_head_text(statement.variable, statement.low, statement.high)} do"
            yield from _indented(_statements(statement.body))
            yield "end"
        case _:
            assert_never(statement)


def _if(statement: IfStmt) -> Iterator[str]:
    word = "if"
    while True:
        yield f"{word} {expression_text(statement.condition)} then"
        yield from _indented(_statements(statement.then))
        rest = statement.otherwise
        if len(rest) != 1 or not isinstance(rest[0], IfStmt) or rest[0].annotations:
            break
        word, statement = "elsif", rest[0]
    if rest:
        yield "else"
        yield from _indented(_statements(rest))
    yield "end"
