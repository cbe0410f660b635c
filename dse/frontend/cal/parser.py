"""RVC-CAL text to ``CalFile``: a recursive descent over ``Cal.xtext`` of Orcc, the grammar of record (cal.md 1).

The rule that a function reads stands in its docstring. This module owns files, entities, actions and schedules;
``statement_parser`` and ``expression_parser`` own what is inside them, ``cursor`` how errors are reported and survived.
"""

from collections.abc import Callable
from typing import TypeVar

from dse.base.diagnostics import Gatherer
from dse.frontend.cal.ast import (
    ActionDecl,
    ActorDecl,
    Annotation,
    CalFile,
    Expr,
    FunctionDecl,
    ImportDecl,
    InputPatternDecl,
    Name,
    NamedType,
    OutputPatternDecl,
    PortDecl,
    ProcedureDecl,
    Stmt,
    TypeExpr,
    UnitDecl,
    VarDecl,
)
from dse.frontend.cal.cursor import SyntaxProblem, TooDeep
from dse.frontend.cal.lexer import tokenize
from dse.frontend.cal.schedule_parser import Members, ScheduleParser
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, TYPE_WORDS

T = TypeVar("T")

_AFTER_LOCALS = frozenset(("do", "end"))
_AFTER_GUARDS = _AFTER_LOCALS | {"var"}
_AFTER_OUTPUTS = _AFTER_GUARDS | {"guard"}
_AFTER_INPUTS = _AFTER_OUTPUTS | {"==>"}
_BEGIN = frozenset(("begin",))
_COLON = frozenset((":",))
_LIST_MISTAKES = TYPE_WORDS | {";"}
_ACTOR_MEMBERS = frozenset(("action", "initialize", "schedule", "priority", "local", IDENTIFIER, "^"))
_MEMBER_STOPS = TYPE_WORDS | {";", "end", "@"}


def parse_cal(path: str, text: str, gather: Gatherer) -> CalFile | None:
    """Return the syntax tree of ``text``, which was read from ``path``; every syntax error goes to ``gather``.

    After errors the tree lacks the constructs that have them; it is None where no entity is recognizable.
    """
    own = Gatherer()
    tree = Parser(path, tokenize(path, text, own), own).file()
    gather.extend(sorted(own.diagnostics, key=lambda d: (d.span.line, d.span.column)))
    return tree


class Parser(ScheduleParser):
    """Parses one file."""

    def file(self) -> CalFile | None:
        """``AstEntity: ('package' QualifiedName ';')? Import* AstAnnotation* (actor | unit)``."""
        package, imports = self._package(), self._imports()
        try:
            entity = self._entity("" if package or imports else "'package', 'import', ")
        except (SyntaxProblem, TooDeep):
            return None
        return CalFile(self._path, package, imports, entity, self._span(0))

    def _entity(self, also: str) -> ActorDecl | UnitDecl:
        """``AstAnnotation* ('actor' ... | 'unit' ...)``; ``also``: what else might have stood here."""
        start = self._at
        annotations = self._annotations()
        kind = self._kinds[self._at]
        if kind == "actor":
            return self._actor(start, annotations)
        if kind == "unit":
            return self._unit(start, annotations)
        hint = "namespaces are of another dialect: RVC-CAL has packages" if self._texts[self._at] == "namespace" else ""
        raise self._fail(f"{also}'actor' or 'unit'", hint)

    def _package(self) -> str:
        """``('package' QualifiedName ';')?``."""
        if not self._accept("package"):
            return ""
        try:
            name = self._dotted("the name of the package")
            self._semicolon("the package")
            return name
        except SyntaxProblem:
            self._skip_line()
            return ""

    def _imports(self) -> tuple[ImportDecl, ...]:
        """``Import*`` with ``Import: 'import' QualifiedName ('.' '*')? ';'``."""
        imports = []
        while self._kinds[self._at] == "import":
            start = self._at
            self._at += 1
            try:
                name = self._identifier("the name of a unit")
                wildcard = False
                while not wildcard and self._accept("."):
                    wildcard = self._accept("*")
                    name += "" if wildcard else "." + self._identifier("a name or '*' behind '.'")
                self._semicolon("the import")
                imports.append(ImportDecl(name, wildcard, self._span(start)))
            except SyntaxProblem:
                self._skip_line()
        return tuple(imports)

    def _skip_line(self) -> None:
        """Skip past the ';' of a package or import, at most to the next import or entity."""
        if self._skip_to(frozenset((";", "@"))) == ";":
            self._at += 1

    # Entities ---------------------------------------------------------------------------------------------------------

    def _unit(self, start: int, annotations: tuple[Annotation, ...]) -> UnitDecl:
        """``'unit' ID ':' (Function | AstProcedure | ConstantVariable)* 'end'``."""
        self._at += 1
        name = self._identifier("the name of the unit")
        members = Members()
        if not self._accept(":"):
            self._missing("':'")
            self._skip_to(_MEMBER_STOPS)
        self._members(members, f"unit {name}", is_actor=False)
        return UnitDecl(
            name,
            tuple(members.variables),
            tuple(members.functions),
            tuple(members.procedures),
            annotations,
            self._span(start),
        )

    def _actor(self, start: int, annotations: tuple[Annotation, ...]) -> ActorDecl:
        """``'actor' ID '(' parameters ')' inputs '==>' outputs ':' member* schedule? Priority* 'end'``."""
        self._at += 1
        name = self._identifier("the name of the actor")
        parameters = self._section(self._actor_parameters, frozenset(("==>", ":")))
        inputs = self._section(lambda: self._ports("==>"), frozenset(("==>", ":")))
        self._expect_unless_reported("==>")
        outputs = self._section(lambda: self._ports(":"), frozenset((":",)))
        self._expect_unless_reported(":")
        members = Members()
        self._members(members, f"actor {name}", is_actor=True)
        return ActorDecl(
            name,
            parameters,
            inputs,
            outputs,
            tuple(members.variables),
            tuple(members.functions),
            tuple(members.procedures),
            tuple(members.actions),
            members.schedule,
            tuple(members.priorities),
            annotations,
            self._span(start),
        )

    def _section(self, read: Callable[[], tuple[T, ...]], stops: frozenset[str]) -> tuple[T, ...]:
        """Return what ``read`` reads; after a syntax error skip to one of ``stops`` and return nothing."""
        depth, open_ifs = self._depth, self._open_ifs
        try:
            return read()
        except SyntaxProblem:
            self._depth = depth
            self._skip_to(stops, open_ifs)
            self._recovered = True
            return ()

    def _expect_unless_reported(self, kind: str) -> None:
        """Read ``kind``; where it is missing, say so unless an error before it may be why, and go on without it."""
        if not self._accept(kind) and not self._recovered:
            self._missing(f"'{kind}'")
        self._recovered = False

    def _actor_parameters(self) -> tuple[VarDecl, ...]:
        """``'(' (VariableDeclaration ('=' e)? (',' VariableDeclaration ('=' e)?)*)? ')'``."""
        return self._parameter_list(("=",))

    def _parameter_list(self, assign: tuple[str, ...]) -> tuple[VarDecl, ...]:
        """``'(' (declaration (',' declaration)*)? ')'``."""
        self._expect("(")
        if self._accept(")"):
            return ()
        parameters = self._declarations(assign)
        if self._kinds[self._at] != ")":
            raise self._fail("',' or ')' in the parameters")
        self._at += 1
        return parameters

    def _declarations(self, assign: tuple[str, ...]) -> tuple[VarDecl, ...]:
        """``declaration (',' declaration)*``."""
        declarations = []
        while True:
            start = self._at
            declarations.append(self._valued_declaration(start, self._annotations(), assign))
            if not self._accept(","):
                return tuple(declarations)

    def _ports(self, closer: str) -> tuple[PortDecl, ...]:
        """``(AstPort (',' AstPort)*)?`` with ``AstPort: AstAnnotation* AstType ID``, up to ``closer``."""
        if self._kinds[self._at] == closer:
            return ()
        ports = []
        while True:
            start = self._at
            annotations = self._annotations()
            port_type = self._type()
            name = self._identifier("the name of a port")
            ports.append(PortDecl(port_type, name, annotations, self._span(start)))
            if not self._accept(","):
                break
        if self._kinds[self._at] != closer:
            raise self._fail(f"',' or '{closer}' behind the ports")
        return tuple(ports)

    # Members ----------------------------------------------------------------------------------------------------------

    def _members(self, members: Members, owner: str, *, is_actor: bool) -> None:
        """Read the declarations of an entity and its ``end``; the file ends there."""
        opened = self._at - 1
        while True:
            kind = self._kinds[self._at]
            if kind == END_OF_FILE:
                if not self._reported_extra_end:
                    self._missing("a declaration or 'end'", f"nothing closes {owner} of line {self._lines[opened]}")
                return
            if kind == "end":
                self._at += 1
                if self._kinds[self._at] == END_OF_FILE:
                    return
                if not self._reported_extra_end:
                    self._missing("the end of the file", f"the 'end' before it closes {owner}: it may be one too many")
                self._resume()
                if self._kinds[self._at] == END_OF_FILE:
                    return
            self._recovering_member(members, is_actor)

    def _resume(self) -> None:
        """Behind an ``end`` too many, skip to the next declaration that is recognizable, or to the last ``end``."""
        self._reported_extra_end = True
        while (kind := self._skip_to(_MEMBER_STOPS)) in (";", "end"):
            if kind == "end" and self._kinds[self._at + 1] == END_OF_FILE:
                return
            self._at += 1

    def _recovering_member(self, members: Members, is_actor: bool) -> None:
        """Read one declaration; after a syntax error skip it."""
        start, depth, open_ifs = self._at, self._depth, self._open_ifs
        self._member_column = self._columns[start]
        try:
            self._member(members, is_actor)
        except SyntaxProblem:
            self._depth = depth
            self._open_branches = 0
            if self._at == start:
                self._at += 1
            if self._skip_to(_MEMBER_STOPS, open_ifs) == ";":
                self._at += 1

    def _member(self, members: Members, is_actor: bool) -> None:
        """One declaration of an actor or unit, with its annotations."""
        start = self._at
        annotations = self._annotations()
        kind = self._kinds[self._at]
        if kind in TYPE_WORDS:
            self._check_order(members, "variables")
            members.variables.append(self._member_variable(start, annotations, is_actor))
        elif kind == "function":
            self._check_order(members, "functions")
            self._function(members, start, annotations)
        elif kind == "procedure":
            self._check_order(members, "procedures")
            self._procedure(members, start, annotations)
        elif kind in ("if", "while", "foreach") or self._is_statement(self._at):
            self._lost_statement()
        elif is_actor:
            self._actor_member(members, start, annotations)
        elif kind in _ACTOR_MEMBERS:
            self._missing("a constant, a function, a procedure or 'end'", "a unit has no actions")
            self._member(Members(), True)
        else:
            raise self._fail("a constant, a function, a procedure or 'end'")

    def _actor_member(self, members: Members, start: int, annotations: tuple[Annotation, ...]) -> None:
        """An action, a schedule or priorities, behind the annotations."""
        kind = self._kinds[self._at]
        if kind in ("action", "initialize", IDENTIFIER, "^"):
            self._check_order(members, "actions")
            self._tagged_action(members, start, annotations)
        elif kind in ("schedule", "priority", "local") and not annotations:
            self._schedule_or_priority(members)
        else:
            raise self._fail("a declaration or 'end'")

    def _is_statement(self, at: int) -> bool:
        """Tell whether an assignment or a call begins at token ``at``."""
        return self._kinds[at] == IDENTIFIER and self._kinds[at + 1] in (":=", "(", "[")

    def _lost_statement(self) -> None:
        """Report a statement that stands among the declarations, and skip to the next of those."""
        if not self._reported_extra_end:
            self._missing(
                "a declaration or 'end'", "statements stand in bodies: an 'end' before it may be one too many"
            )
        self._reported_extra_end = True
        self._at += 1
        while self._skip_to(frozenset(("end",))) == "end" and self._kinds[self._at + 1] != END_OF_FILE:
            self._at += 1

    def _check_order(self, members: Members, what: str) -> None:
        """Report a declaration that stands behind the schedule or the priorities."""
        if members.closed_by:
            self._report(f"{what} are declared before '{members.closed_by}', not behind it", None, "move it up")

    def _member_variable(self, start: int, annotations: tuple[Annotation, ...], is_actor: bool) -> VarDecl:
        """``ValuedVariableDeclaration ';'`` of an actor; in a unit, ``VariableDeclaration '=' e ';'``."""
        variable = self._valued_declaration(start, annotations, ("=", ":=") if is_actor else ("=",))
        if not is_actor and variable.value is None:
            self._missing("'=' and a value", "the variables of a unit are constants")
        self._semicolon("the declaration")
        return variable

    def _function(self, members: Members, start: int, annotations: tuple[Annotation, ...]) -> None:
        """``'function' ID '(' parameters ')' '-->' AstType (('var' locals)? ':' AstExpression)? 'end'``."""
        opened = self._at
        self._at += 1
        name = self._identifier("the name of the function")
        parameters, result = self._function_head()
        variables: tuple[VarDecl, ...] = ()
        body: tuple[Expr, ...] = ()
        if self._kinds[self._at] != "end":
            if self._accept("var"):
                variables = self._section(lambda: self._locals("',' or ':'", _COLON), _COLON | {"end"})
            if not self._accept(":") and not self._recovered:
                self._missing("':'", "the value of the function stands behind ':'")
            body = self._section(lambda: (self._expression(),), frozenset(("end",)))
        self._close("function", name, opened)
        value = body[0] if body else None
        span = self._span(start)
        members.functions.append(FunctionDecl(name, parameters, result, variables, value, annotations, span))

    def _function_head(self) -> tuple[tuple[VarDecl, ...], TypeExpr]:
        """``'(' parameters ')' '-->' AstType``; after a syntax error skip to the locals or the value."""
        start = self._at

        def read() -> tuple[tuple[tuple[VarDecl, ...], TypeExpr]]:
            parameters = self._parameter_list(())
            self._expect("-->", "the result type stands behind '-->'")
            return ((parameters, self._type()),)

        self._recovered = False
        heads = self._section(read, frozenset((":", "var", "end")))
        return heads[0] if heads else ((), NamedType("int", None, self._token_span(start)))

    def _procedure(self, members: Members, start: int, annotations: tuple[Annotation, ...]) -> None:
        """``'procedure' ID '(' parameters ')' (('var' locals)? 'begin' Statement*)? 'end'``."""
        opened = self._at
        self._at += 1
        name = self._identifier("the name of the procedure")
        stops = frozenset(("var", "begin", "end"))
        parameters = self._section(lambda: self._parameter_list(()), stops)
        variables: tuple[VarDecl, ...] = ()
        body: tuple[Stmt, ...] | None = None
        if self._kinds[self._at] != "end":
            if self._accept("var"):
                variables = self._section(lambda: self._locals("',' or 'begin'", _BEGIN), _BEGIN | {"end"})
            if not self._accept("begin") and self._kinds[self._at] != "end":
                self._missing("'begin'", "the statements of a procedure stand between 'begin' and 'end'")
            body = self._statements()
        self._close("procedure", name, opened)
        members.procedures.append(ProcedureDecl(name, parameters, variables, body, annotations, self._span(start)))

    def _close(self, what: str, name: str, opened: int) -> None:
        """Read the ``end`` of a declaration that token ``opened`` began."""
        hint = f"nothing closes the {what} {name}".rstrip() + f" of line {self._lines[opened]}"
        if not self._accept("end"):
            raise self._fail("'end'" if what == "function" else "a statement or 'end'", hint)

    # Actions ----------------------------------------------------------------------------------------------------------

    def _tagged_action(self, members: Members, start: int, annotations: tuple[Annotation, ...]) -> None:
        """``(AstTag ':')? ('action' | 'initialize') ...`` behind the annotations."""
        tag = ""
        if self._kinds[self._at] in (IDENTIFIER, "^"):
            tag = self._dotted()
            if tag == "native" and self._kinds[self._at] in ("function", "procedure"):
                self._at -= 1
                raise self._fail("'@native'")
            if self._kinds[self._at] != ":":
                raise self._fail("':' and 'action'", "a declaration begins with a type, a tag or a reserved word")
            self._at += 1
        opened = self._at
        if not self._accept("initialize") and not self._accept("action"):
            self._missing("'action' or 'initialize'")
            if self._declaration_begins(self._at):
                raise SyntaxProblem
        members.actions.append(self._action(start, opened, tag, annotations))

    def _action(self, start: int, opened: int, tag: str, annotations: tuple[Annotation, ...]) -> ActionDecl:
        """``inputs '==>' outputs ('guard' es)? ('var' locals)? ('do' Statement*)? 'end'``; initialize has no inputs."""
        initialize = self._kinds[opened] == "initialize"
        what = "initialize" if initialize else "action"
        self._recovered = False
        inputs: tuple[InputPatternDecl, ...] = ()
        if not initialize or self._kinds[self._at] == IDENTIFIER:
            inputs = self._section(self._inputs, _AFTER_INPUTS)
        if initialize and inputs:
            self._gather.error("'initialize' reads no tokens", inputs[0].span, "remove the input patterns")
        self._expect_unless_reported("==>")
        outputs = self._section(self._outputs, _AFTER_OUTPUTS)
        guards: tuple[Expr, ...] = ()
        if self._accept("guard"):
            guards = self._section(self._guards, _AFTER_GUARDS)
        variables: tuple[VarDecl, ...] = ()
        if self._accept("var"):
            variables = self._section(lambda: self._locals("',', 'do' or 'end'", _AFTER_LOCALS), _AFTER_LOCALS)
        body: tuple[Stmt, ...] = ()
        if self._accept("do"):
            body = self._statements()
            self._close(what, tag, opened)
        elif not self._accept("end"):
            raise self._fail("'do' or 'end'")
        return ActionDecl(tag, initialize, inputs, outputs, guards, variables, body, annotations, self._span(start))

    def _guards(self) -> tuple[Expr, ...]:
        """``Guard: AstExpression (',' AstExpression)*``, up to what may follow it."""
        guards = self._expressions()
        if self._kinds[self._at] not in _AFTER_GUARDS:
            raise self._fail("',', 'var', 'do' or 'end' behind the guard")
        return guards

    def _locals(self, wanted: str, followers: frozenset[str]) -> tuple[VarDecl, ...]:
        """``ValuedVariableDeclaration (',' ValuedVariableDeclaration)*``, up to one of ``followers``."""
        variables = self._declarations(("=", ":="))
        if self._kinds[self._at] not in followers:
            hint = "declarations behind 'var' have ',' between them" if self._kinds[self._at] in _LIST_MISTAKES else ""
            raise self._fail(wanted, hint)
        return variables

    def _inputs(self) -> tuple[InputPatternDecl, ...]:
        """``(InputPattern (',' InputPattern)*)?``, up to ``==>``."""
        if self._kinds[self._at] == "==>":
            return ()
        patterns = [self._input_pattern()]
        while self._accept(","):
            patterns.append(self._input_pattern())
        if self._kinds[self._at] != "==>":
            raise self._fail("',', 'repeat' or '==>' behind the input pattern")
        return tuple(patterns)

    def _input_pattern(self) -> InputPatternDecl:
        """``ID ':' '[' ID (',' ID)* ']' ('repeat' AstExpression)?``."""
        start = self._at
        port = self._pattern_port("an input port or '==>'")
        tokens: list[Name] = [self._name("the name of a token")]
        while self._accept(","):
            tokens.append(self._name("the name of a token"))
        if self._kinds[self._at] != "]":
            raise self._fail("',' or ']' in the input pattern")
        self._at += 1
        repeat = self._expression() if self._accept("repeat") else None
        return InputPatternDecl(port, tuple(tokens), repeat, self._span(start))

    def _outputs(self) -> tuple[OutputPatternDecl, ...]:
        """``(OutputPattern (',' OutputPattern)*)?``, up to what may follow them."""
        patterns = []
        if self._kinds[self._at] in (IDENTIFIER, "^"):
            patterns.append(self._output_pattern())
            while self._accept(","):
                patterns.append(self._output_pattern())
        if self._kinds[self._at] not in _AFTER_OUTPUTS:
            first = "',', 'repeat'" if patterns else "an output port"
            raise self._fail(f"{first}, 'guard', 'var', 'do' or 'end'")
        return tuple(patterns)

    def _output_pattern(self) -> OutputPatternDecl:
        """``ID ':' '[' AstExpression (',' AstExpression)* ']' ('repeat' AstExpression)?``."""
        start = self._at
        port = self._pattern_port("an output port")
        values = self._expressions()
        if self._kinds[self._at] != "]":
            raise self._fail("',' or ']' in the output pattern")
        self._at += 1
        repeat = self._expression() if self._accept("repeat") else None
        return OutputPatternDecl(port, values, repeat, self._span(start))

    def _pattern_port(self, what: str) -> Name:
        """``ID ':' '['``."""
        port = self._name(what)
        hint = "a pattern is written Port:[a, b] or Port:[a] repeat n"
        self._expect(":", hint)
        self._expect("[", hint)
        return port
