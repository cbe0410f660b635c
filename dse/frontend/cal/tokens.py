"""The words, signs and token kinds of RVC-CAL, and the token arrays that the lexer hands to the parser (cal.md 1.3b).

The kind of a reserved word or a sign is its own text, so that a parser compares kinds with what the grammar shows.
"""

from dataclasses import dataclass

IDENTIFIER = "identifier"
INTEGER = "integer"
REAL = "real"
STRING = "string"
END_OF_FILE = "end of file"

_RESERVED_WORDS = """
    package import actor unit end function var procedure begin priority schedule fsm regexp local action guard do
    initialize repeat foreach in if then elsif else while for true false List bool float half double int uint String
    type size not and or div mod
"""
_SIGNS = "==> --> := => .. ** || && <= >= << >> != ( ) [ ] , ; : . = < > + - * / | & ^ ~ # @ ?"
_TYPE_WORDS = "bool float half double int uint String List"

RESERVED = frozenset(_RESERVED_WORDS.split())
"""Every word that Cal.xtext quotes; none of them can name a thing, unless it is written ``^word``."""

SIGNS = tuple(_SIGNS.split())
"""Signs and operators, longest first where one begins another."""

TYPE_WORDS = frozenset(_TYPE_WORDS.split())

BINARY_LEVELS = {
    "||": 1,
    "or": 1,
    "&&": 2,
    "and": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "=": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "div": 10,
    "mod": 10,
    "**": 11,
}
"""Binary operators with their precedence, loosest first; all are left associative (cal.md 2.1)."""

UNARY_OPERATORS = frozenset(("~", "not", "-", "#"))


@dataclass(slots=True)
class TokenStream:
    """The tokens of a file as parallel lists, closed by one ``END_OF_FILE``; no token crosses a line.

    ``lines`` and ``columns`` count from 1; ``ends`` is the column after the last character. ``cut``: an unclosed
    comment hides the rest of the file.
    """

    kinds: list[str]
    texts: list[str]
    lines: list[int]
    columns: list[int]
    ends: list[int]
    cut: bool = False

    def append(self, kind: str, text: str, line: int, column: int) -> None:
        """Add a token that begins at a line and column."""
        self.kinds.append(kind)
        self.texts.append(text)
        self.lines.append(line)
        self.columns.append(column)
        self.ends.append(column + len(text))
