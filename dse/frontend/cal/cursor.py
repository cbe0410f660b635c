"""The parser's place in the tokens: spans, expectations, error messages, and skipping ahead after an error.

A syntax error is reported once, where it is found. Then ``SyntaxProblem`` unwinds to the nearest function that knows
where to go on: that of a statement, a section of a declaration, or a declaration. See ``parser`` for the grammar.
"""

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.ast import Name
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, INTEGER, REAL, RESERVED, STRING, TokenStream

MAX_NESTING = 100
"""Levels of nesting that are accepted (the deepest of orc-apps has 28), so that recursion over a tree is safe."""

MAX_CHAIN = 200
"""Levels of nesting and links of a chain together (``a + b + ...``, ``elsif``): a chain is a deep tree as well."""

DECLARATION_WORDS = frozenset(
    ("action", "initialize", "function", "procedure", "schedule", "priority", "actor", "unit", "import", "package")
)
"""Words that begin a declaration and can stand nowhere within another one."""

_new_tuple = tuple.__new__


class SyntaxProblem(Exception):
    """A syntax error that has been reported; raised to leave the construct that it broke."""


class TooDeep(Exception):
    """A level of nesting too many, reported; raised to give the file up: what it hides cannot be told."""


class Cursor:
    """Reads the tokens of one file from the first to the last."""

    def __init__(self, path: str, tokens: TokenStream, gather: Gatherer) -> None:
        self._path = path
        self._gather = gather
        self._kinds = tokens.kinds
        self._texts = tokens.texts
        self._lines = tokens.lines
        self._columns = tokens.columns
        self._ends = tokens.ends
        self._at = 0
        self._depth = 0
        self._member_column = 0
        """The column where the declaration around the cursor begins."""
        self._open_ifs = 0
        """If-expressions around the cursor whose ``end`` has not been read."""
        self._open_branches = 0
        """If-statements around the cursor that can still take an ``elsif`` or ``else``."""
        self._recovered = False
        """A section of the declaration at hand was skipped: what is missing behind it needs no report."""
        self._reported_extra_end = False
        """An ``end`` too many was reported: all that stands outside the entity follows from it."""
        self._unreported = len(tokens.kinds) - 1 if tokens.cut else -1
        """A token that needs no report: the end of a file that an unclosed comment cuts short."""
        self._reported = -1
        """The token of the last error: a second error at the same token is a consequence of the first."""

    # Spans ------------------------------------------------------------------------------------------------------------

    def _span(self, start: int) -> Span:
        """Return the span from token ``start`` to the last token read."""
        last = self._at - 1
        return _new_tuple(
            Span, (self._path, self._lines[start], self._columns[start], self._lines[last], self._ends[last])
        )

    def _token_span(self, at: int) -> Span:
        """Return the span of one token."""
        line = self._lines[at]
        return _new_tuple(Span, (self._path, line, self._columns[at], line, self._ends[at]))

    # Errors -----------------------------------------------------------------------------------------------------------

    def _found(self) -> str:
        """Describe the token at the cursor."""
        kind, text = self._kinds[self._at], self._texts[self._at]
        if kind == END_OF_FILE:
            return "the end of the file"
        shown = text if len(text) <= 40 else text[:37] + "..."
        if kind in (IDENTIFIER, INTEGER, REAL):
            return f"{'name' if kind == IDENTIFIER else 'number'} '{shown}'"
        if kind == STRING:
            return f"string {shown}"
        return f"reserved word '{shown}'" if kind in RESERVED else f"'{shown}'"

    def _report(self, message: str, span: Span | None = None, expected: str = "") -> None:
        """Report an error, by default at the cursor, unless this place has been reported."""
        if self._at not in (self._reported, self._unreported):
            self._reported = self._at
            self._gather.error(message, span if span is not None else self._token_span(self._at), expected)

    def _missing(self, wanted: str, hint: str = "") -> None:
        """Report that ``wanted`` was expected at the cursor."""
        self._report(f"expected {wanted} but found {self._found()}", None, hint)

    def _fail(self, wanted: str, hint: str = "") -> SyntaxProblem:
        """Report that ``wanted`` was expected at the cursor, and return what to raise."""
        self._missing(wanted, hint)
        return SyntaxProblem()

    def _enter(self) -> None:
        """Go one level deeper; the caller goes up again by ``self._depth -= 1``."""
        self._depth += 1

        if self._depth > MAX_NESTING:
            raise self._too_deep(f"nested deeper than {MAX_NESTING} levels")

    def _too_deep(self, message: str) -> "TooDeep":
        """Report ``message`` and return what to raise."""
        self._report(message, None, "split it, for instance over several variables, actions, or 'if' in 'if'")
        return TooDeep()

    def _check_chain(self, links: int) -> None:
        """Refuse a chain of ``links`` links at the present level when the tree becomes too deep."""
        if self._depth + links > MAX_CHAIN:
            raise self._too_deep(f"a chain of {links} links is too long here: {MAX_CHAIN} are the most")

    # Reading ----------------------------------------------------------------------------------------------------------

    def _expect(self, kind: str, hint: str = "") -> None:
        """Read a reserved word or sign."""
        if self._kinds[self._at] != kind:
            raise self._fail(f"'{kind}'", hint)
        self._at += 1

    def _accept(self, kind: str) -> bool:
        """Read a reserved word or sign if it is next."""
        if self._kinds[self._at] != kind:
            return False
        self._at += 1
        return True

    def _semicolon(self, what: str) -> None:
        """Read the ';' behind ``what``. Goes on as if it were there where the next token is on another line.

        The report then points behind the last token, where the ';' belongs.
        """
        at = self._at
        if self._kinds[at] == ";":
            self._at = at + 1
            return
        message = f"expected ';' behind {what} but found {self._found()}"
        if self._lines[at] != self._lines[at - 1]:
            line, column = self._lines[at - 1], self._ends[at - 1]
            self._report(message, Span(self._path, line, column, line, column + 1))
            return
        self._report(message)
        if self._kinds[at] not in ("end", "else", "elsif", END_OF_FILE):
            raise SyntaxProblem

    def _identifier(self, what: str = "a name") -> str:
        """Read ``ID: '^'? word``; with ``^`` the word may be a reserved one."""
        at = self._at
        if self._kinds[at] == IDENTIFIER:
            self._at = at + 1
            return self._texts[at]
        if self._kinds[at] == "^" and self._is_word(at + 1) and self._columns[at + 1] == self._ends[at]:
            self._at = at + 2
            return self._texts[at + 1]
        hint = "a reserved word is a name only as '^word'" if self._kinds[at] in RESERVED else ""
        raise self._fail(what, hint)

    def _is_word(self, at: int) -> bool:
        return self._kinds[at] == IDENTIFIER or self._kinds[at] in RESERVED

    def _name(self, what: str = "a name") -> Name:
        """Read ``ID`` as a node."""
        start = self._at
        text = self._identifier(what)
        return Name(text, self._span(start))

    def _dotted(self, what: str = "a name") -> str:
        """Read ``ID ('.' ID)*``."""
        text = self._identifier(what)
        while self._kinds[self._at] == ".":
            self._at += 1
            text += "." + self._identifier("a name behind '.'")
        return text

    # Recovery ---------------------------------------------------------------------------------------------------------

    def _tag_begins(self, at: int) -> bool:
        """Tell whether ``ID ('.' ID)* ':' ('action' | 'initialize')`` begins at token ``at``."""
        kinds = self._kinds
        while kinds[at] == IDENTIFIER and kinds[at + 1] == ".":
            at += 2
        return kinds[at] == IDENTIFIER and kinds[at + 1] == ":" and kinds[at + 2] in ("action", "initialize")

    def _declaration_begins(self, at: int) -> bool:
        """Tell whether a declaration of an actor other than a variable, maybe annotated, begins at token ``at``."""
        kinds = self._kinds
        while kinds[at] == "@" and kinds[at + 1] == IDENTIFIER:
            at += 2
            if kinds[at] == "(":
                while kinds[at] in ("(", ",", "=", STRING, IDENTIFIER):
                    at += 1
                if kinds[at] == ")":
                    at += 1
        kind = kinds[at]
        if kind == IDENTIFIER:
            return self._tag_begins(at)
        return kind in DECLARATION_WORDS or (kind == "local" and kinds[at + 1] == "fsm")

    def _is_stop(self, stops: frozenset[str]) -> bool:
        """Tell whether one of ``stops`` is here; the colon of ``type:`` is none."""
        kind = self._kinds[self._at]
        return kind in stops and (kind != ":" or self._kinds[self._at - 1] != "type")

    def _skip_to(self, stops: frozenset[str], open_ifs: int = 0) -> str:
        """Skip to one of ``stops``, over whole if-expressions, at most to a declaration; return the kind found.

        ``open_ifs``: the value of ``_open_ifs`` outside the broken construct.
        """
        kinds = self._kinds
        nested = self._open_ifs - open_ifs
        self._open_ifs = open_ifs
        while (kind := kinds[self._at]) != END_OF_FILE:
            if kind == ";":
                nested = 0  # no expression holds one
            if (nested == 0 and self._is_stop(stops)) or self._declaration_begins(self._at):
                break
            if kind == "if":
                nested += 1
            elif kind == "end" and nested > 0:
                nested -= 1
            self._at += 1
        return kind
