"""Statements of RVC-CAL (Cal.xtext, section statements), each recovering from its own syntax errors."""

from dse.frontend.cal.ast import (
    Annotation,
    AssignStmt,
    CallStmt,
    Expr,
    ForeachStmt,
    IfStmt,
    Name,
    Stmt,
    VarDecl,
    WhileStmt,
)
from dse.frontend.cal.cursor import SyntaxProblem
from dse.frontend.cal.expression_parser import ExpressionParser
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, TYPE_WORDS

_CLOSERS = frozenset(("end", "else", "elsif", END_OF_FILE))
_STOPS = frozenset((";", "end", "else", "elsif", "while", "foreach"))
_STATEMENT_WORDS = frozenset(("if", "while", "foreach"))
_HEADER_STOPS = _STOPS | {"then", "do"}


class StatementParser(ExpressionParser):
    """Parses blocks of statements."""

    def _statements(self) -> tuple[Stmt, ...]:
        """``Statement*``, up to what closes the block or shows that its ``end`` is missing."""
        self._enter()
        statements: list[Stmt] = []
        kinds = self._kinds
        depth, open_ifs, branches = self._depth, self._open_ifs, self._open_branches
        while (kind := kinds[self._at]) not in _CLOSERS or (kind in ("else", "elsif") and branches == 0):
            start = self._at
            if kind not in _STATEMENT_WORDS and self._body_is_over(start):
                break
            try:
                statement = self._statement()
            except SyntaxProblem:
                self._depth, self._open_branches = depth, branches
                self._skip_statement(start, open_ifs)
                continue
            if statement is not None:
                statements.append(statement)
        self._depth -= 1
        return tuple(statements)

    def _body_is_over(self, at: int) -> bool:
        """Tell whether a declaration begins at token ``at``, so that an ``end`` is missing before it.

        A variable counts when it stands no further right than the declaration around: both are members of the entity.
        """
        if self._kinds[at] in TYPE_WORDS:
            return self._columns[at] <= self._member_column and self._lines[at] != self._lines[at - 1]
        return self._declaration_begins(at)

    def _skip_statement(self, start: int, open_ifs: int) -> None:
        """Skip to the next statement: past a ';', or to a word that begins or closes one."""
        if self._at == start:
            self._at += 1
            if self._kinds[start] in ("else", "elsif"):
                return
        while True:
            kind = self._skip_to(_STOPS | {"if"}, open_ifs)
            if kind != "if" or self._lines[self._at] != self._lines[self._at - 1]:
                break
            self._open_ifs += 1
            self._at += 1
        if kind == ";":
            self._at += 1

    def _statement(self) -> Stmt | None:
        """None: broken, but read to its end.

        ``AstAnnotation* (StatementAssign | StatementCall | StatementForeach | StatementIf | StatementWhile)``."""
        start = self._at
        kind = self._kinds[start]
        annotations: tuple[Annotation, ...] = ()
        if kind == "@":
            annotations = self._annotations()
            kind = self._kinds[self._at]
        if kind == IDENTIFIER or kind == "^":
            return self._assign_or_call(start, annotations)
        if kind == "if":
            return self._if_statement(start, annotations)
        if kind == "while":
            return self._while(start, annotations)
        if kind == "foreach":
            return self._foreach(start, annotations)
        if kind == "begin":
            self._nested_block(start)
            return None
        declares = kind in TYPE_WORDS or kind == "var"
        hint = "variables are declared behind 'var', before the statements" if declares else ""
        raise self._fail("a statement or 'end'", hint)

    def _nested_block(self, start: int) -> None:
        """``'begin' Statement* 'end'`` is no statement: report it and read over it."""
        self._missing("a statement or 'end'", "only the body of a procedure stands between 'begin' and 'end'")
        self._at += 1
        self._statements()
        self._end("begin", start)

    def _assign_or_call(self, start: int, annotations: tuple[Annotation, ...]) -> Stmt:
        """``VariableReference ('[' e ']')* ':=' e ';'`` or ``QualifiedName '(' arguments ')' ';'``."""
        first = self._at
        name = self._name()
        if self._kinds[self._at] == ".":
            name = self._rest_of_reference(name, first)
        kind = self._kinds[self._at]
        if kind == "(":
            arguments = self._arguments()
            self._semicolon("the call")
            return CallStmt(name, arguments, annotations, self._span(start))
        return self._assignment(start, name, annotations)

    def _assignment(self, start: int, target: Name, annotations: tuple[Annotation, ...]) -> AssignStmt:
        """``('[' e ']')* ':=' e ';'`` behind the target."""
        indices = self._indices() if self._kinds[self._at] == "[" else ()
        if self._kinds[self._at] != ":=":
            hint = "an assignment is written with ':='" if self._kinds[self._at] == "=" else ""
            raise self._fail("':='" if indices else "':=' or '('", hint)
        self._at += 1
        value = self._expression()
        self._semicolon("the assignment")
        return AssignStmt(target, indices, value, annotations, self._span(start))

    def _if_statement(self, start: int, annotations: tuple[Annotation, ...]) -> Stmt | None:
        """``'if' c 'then' Statement* ('elsif' c 'then' Statement*)* ('else' Statement*)? 'end'``."""
        starts: list[int] = []
        heads: list[tuple[Expr | None, tuple[Stmt, ...]]] = []
        while True:
            starts.append(start if not starts else self._at)
            self._at += 1
            condition = self._header("then")
            self._open_branches += 1
            heads.append((condition, self._statements()))
            self._open_branches -= 1
            if self._kinds[self._at] != "elsif":
                break
            self._check_chain(len(heads))
        otherwise = self._statements() if self._accept("else") else ()
        self._end("if", starts[0])
        for at, (condition, then) in zip(reversed(starts), reversed(heads), strict=True):
            if condition is None:
                return None
            otherwise = (IfStmt(condition, then, otherwise, annotations if at == start else (), self._span(at)),)
        assert isinstance(otherwise[0], IfStmt), "an if statement has at least one condition"
        return otherwise[0]

    def _header(self, opener: str) -> Expr | None:
        """``AstExpression opener``; None after a syntax error, with the cursor where the body may begin."""
        depth, open_ifs = self._depth, self._open_ifs
        try:
            condition = self._expression()
            self._expect(opener)
            return condition
        except SyntaxProblem:
            self._recover_header(depth, open_ifs)
            return None

    def _recover_header(self, depth: int, open_ifs: int) -> None:
        """Skip to behind the word that opens the body, or to the first statement that may belong to it."""
        self._depth = depth
        if self._skip_to(_HEADER_STOPS, open_ifs) in ("then", "do", ";"):
            self._at += 1

    def _while(self, start: int, annotations: tuple[Annotation, ...]) -> WhileStmt | None:
        """``'while' c 'do' Statement* 'end'``."""
        at = self._at
        self._at += 1
        condition = self._header("do")
        body = self._statements()
        self._end("while", at)
        if condition is None:
            return None
        return WhileStmt(condition, body, annotations, self._span(start))

    def _foreach(self, start: int, annotations: tuple[Annotation, ...]) -> ForeachStmt | None:
        """``'foreach' VariableDeclaration 'in' e '..' e 'do' Statement* 'end'``."""
        at = self._at
        self._at += 1
        depth, open_ifs = self._depth, self._open_ifs
        head: tuple[VarDecl, tuple[Expr, Expr]] | None = None
        try:
            variable = self._variable_declaration()
            self._expect("in")
            head = variable, self._range()
            self._expect("do")
        except SyntaxProblem:
            head = None
            self._recover_header(depth, open_ifs)
        body = self._statements()
        self._end("foreach", at)
        if head is None:
            return None
        variable, (low, high) = head
        return ForeachStmt(variable, low, high, body, annotations, self._span(start))

    def _end(self, opener: str, at: int) -> None:
        """Read the ``end`` of the ``opener`` at token ``at``; before an ``else`` go on as if it were there."""
        kind = self._kinds[self._at]
        if kind == "end":
            self._at += 1
            return
        self._missing("a statement or 'end'", f"nothing closes the '{opener}' of line {self._lines[at]}")
        if kind not in ("else", "elsif"):
            raise SyntaxProblem
