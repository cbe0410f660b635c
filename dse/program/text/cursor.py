"""The reader's place in the text: what stands there, and what is said when something else should."""

from collections.abc import Sequence
from typing import NoReturn

from dse.base.errors import FormatError
from dse.base.source import NO_SPAN, Span
from dse.program.text.tokens import RESERVED, Token, is_type_word, numeric_type, read_span, unquoted
from dse.program.types import BOOL, STRING, ListType, Type


class Cursor:
    """Tokens of a text from first to last. ``path``: the file that spans without a file name are in."""

    def __init__(self, tokens: Sequence[Token], path: str) -> None:
        self._tokens = list(tokens)
        self._at = 0
        self.path = path

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._at]

    @property
    def second(self) -> Token:
        """The token behind the next one."""
        return self.ahead(1)

    def ahead(self, tokens: int) -> Token:
        """Return the token so many behind the next one."""
        return self._tokens[min(self._at + tokens, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and go behind it."""
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def missing(self, expected: str) -> NoReturn:
        """Raise a FormatError: something else should stand here."""
        token = self.token
        found = {"line": "end of the line", "end": "end of the text"}.get(token.kind, f"'{token.text}'")
        raise FormatError(f"unexpected {found}", span=token.span, expected=f"expected {expected}")

    # Words and signs --------------------------------------------------------------------------------------------------

    def sees(self, *texts: str) -> bool:
        """Return whether one of these words or signs comes next."""
        return self.token.text in texts and self.token.kind in ("name", "sign")

    def accept(self, text: str) -> bool:
        """Go behind a word or sign if it comes next, and say whether it did."""
        found = self.sees(text)
        self._at += found
        return found

    def expect(self, *texts: str) -> None:
        """Go behind words and signs that have to come."""
        for text in texts:
            if not self.accept(text):
                self.missing(f"'{text}'")

    def end_line(self) -> None:
        """Go to the next line; nothing more may stand on this one."""
        if self.token.kind != "line":
            self.missing("the end of the line")
        self._at += 1

    def skip_lines(self) -> None:
        """Go to the next line with something on it."""
        while self.token.kind == "line":
            self._at += 1

    def end_text(self) -> None:
        """Check that nothing follows."""
        self.skip_lines()
        if self.token.kind != "end":
            self.missing("the end of the text")

    # Names, numbers, strings, spans -----------------------------------------------------------------------------------

    def sees_name(self) -> bool:
        """Return whether a name comes next that somebody has chosen, not a reserved word."""
        token = self.token
        return token.kind == "name" and token.text not in RESERVED and not is_type_word(token.text)

    def name(self, what: str) -> str:
        """Take a name; ``what`` it names is said when there is none."""
        if not self.sees_name():
            self.missing(what)
        text = self.take().text
        return unquoted(text) if text.startswith("'") else text

    def string(self, what: str) -> str:
        """Take a string in double quotes."""
        if self.token.kind != "string":
            self.missing(f"{what} in double quotes")
        return unquoted(self.take().text)

    def natural(self, what: str) -> int:
        """Take a number without sign, point and type."""
        if self.token.kind != "number" or not self.token.text.isdecimal():
            self.missing(what)
        return int(self.take().text)

    def integer(self, what: str) -> int:
        """Take a number that may have a sign."""
        return -self.natural(what) if self.accept("-") else self.natural(what)

    def span(self) -> Span:
        """Take a span if one comes next."""
        return read_span(self.take().text, self.path) if self.token.kind == "span" else NO_SPAN

    # Types ------------------------------------------------------------------------------------------------------------

    def sees_type(self) -> bool:
        """Return whether a type comes next."""
        return self.token.kind == "name" and is_type_word(self.token.text)

    def type(self) -> Type:
        """Take a type."""
        if not self.sees_type():
            self.missing("a type (i32, u8, f32, bool, str, list<8 x i32>, ...)")
        word = self.take().text
        match word:
            case "bool":
                return BOOL
            case "str":
                return STRING
            case "list":
                return self._list_type()
            case _:
                return numeric_type(word)

    def list_type(self) -> ListType:
        """Take the type of a list."""
        if not self.sees("list"):
            self.missing("the type of a list (list<8 x i32>)")
        self.take()
        return self._list_type()

    def _list_type(self) -> ListType:
        self.expect("<")
        size = self.natural("the size of the list")
        self.expect("x")
        element = self.type()
        self.close_angle()
        return ListType(element, size)

    def close_angle(self) -> None:
        """Go behind ``>``, of which two may stand together."""
        if self.token.text != ">>":
            self.expect(">")
            return
        span = self.token.span._replace(column=self.token.span.column + 1)
        self._tokens[self._at] = Token("sign", ">", span)
