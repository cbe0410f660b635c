"""Words of the text form: its tokens, quoting of names and strings, and the texts of types and spans."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.base.errors import FormatError
from dse.base.source import Span
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type

RESERVED = frozenset(
    (
        *("if", "then", "elsif", "else", "end", "while", "foreach", "do", "for", "in", "print", "println", "return"),
        *("evaluate", "copy", "check", "as", "and", "or", "not", "mod", "true", "false", "inf", "nan"),
        *("bool", "str", "list"),
    )
)
"""Words that are no plain names, besides the types ``i32``, ``u32`` and ``f32`` of all sizes."""

TokenKind: TypeAlias = Literal["name", "number", "string", "span", "sign", "line", "end"]

_TYPE_WORD = re.compile(r"[iuf]\d+")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w$~]*(?:\.[\w$~]+)*", re.ASCII)
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_TOKENS = re.compile(
    rf"""(?P<skip>[ \t\r]+|//[^\n]*)
    |(?P<line>\n)
    |(?P<span>@(?:{_STRING})?\d+:\d+-\d+:\d+)
    |(?P<name>[A-Za-z_][\w$~]*(?:\.[\w$~]+)*|'(?:[^'\\\n]|\\.)*')
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[iuf]\d+)?)
    |(?P<string>{_STRING})
    |(?P<sign>:=|->|\.\.|<<|>>|<=|>=|!=|\*\*|[-+*/%|^&=<>~\#()\[\]{{}}:,])""",
    re.VERBOSE | re.ASCII,
)
_KINDS: dict[str | None, TokenKind] = {
    "name": "name",
    "number": "number",
    "string": "string",
    "span": "span",
    "sign": "sign",
}
_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_SPAN = re.compile(rf"@({_STRING})?(\d+):(\d+)-(\d+):(\d+)")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}
_UNESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text. ``text`` is as written, quotes and all."""

    kind: TokenKind
    text: str
    span: Span


def tokenize(text: str, path: str) -> list[Token]:
    """Return the tokens; those of kind ``line`` end a line, except inside brackets, and there is one for many.

    Raises FormatError for characters that begin no token.
    """
    found: list[Token] = []
    line, begin, depth, at = 1, 0, 0, 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            place = Span(path, line, at - begin + 1, line, at - begin + 2)
            raise FormatError(f"unexpected character {text[at]!r}", span=place, expected=_hint(text[at]))
        word, kind = match.group(), match.lastgroup
        span = Span(path, line, at - begin + 1, line, match.end() - begin + 1)
        at = match.end()
        if kind == "line":
            line, begin = line + 1, at
        if kind == "line" and depth == 0 and _in_line(found):
            found.append(Token("line", word, span))
        elif kind in _KINDS:
            depth += _DEPTHS.get(word, 0)
            found.append(Token(_KINDS[kind], word, span))
    place = Span(path, line, at - begin + 1, line, at - begin + 1)
    return [*found, *([Token("line", "", place)] if _in_line(found) else []), Token("end", "", place)]


def _in_line(found: list[Token]) -> bool:
    """Return whether a line has begun."""
    return bool(found) and found[-1].kind != "line"


def _hint(character: str) -> str:
    return "a string or quoted name ends on the line it begins on" if character in "\"'" else ""


# Names and strings ----------------------------------------------------------------------------------------------------


def is_type_word(word: str) -> bool:
    """Return whether a word begins a type."""
    return word in ("bool", "str", "list") or _TYPE_WORD.fullmatch(word) is not None


def name_text(name: str) -> str:
    """Return a name as it is written: in single quotes unless it is a plain word."""
    if _PLAIN_NAME.fullmatch(name) and name not in RESERVED and not is_type_word(name):
        return name
    return _quoted(name, "'")


def string_text(text: str) -> str:
    """Return a string in double quotes."""
    return _quoted(text, '"')


def _quoted(text: str, quote: str) -> str:
    return quote + "".join(_escaped(c, quote) for c in text) + quote


def _escaped(character: str, quote: str) -> str:
    if character == quote:
        return "\\" + quote
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def unquoted(text: str) -> str:
    """Return what a quoted name or string says."""
    return _ESCAPED.sub(_replacement, text[1:-1])


def _replacement(escape: "re.Match[str]") -> str:
    if escape[1] is not None:
        return chr(int(escape[1], 16))
    return _UNESCAPES.get(escape[2], escape[2])


# Types and spans ------------------------------------------------------------------------------------------------------


def type_text(of: Type) -> str:
    """Return the short name of a type."""
    match of:
        case IntType():
            return f"{'i' if of.signed else 'u'}{of.size}"
        case FloatType():
            return f"f{of.bits}"
        case BoolType():
            return "bool"
        case StringType():
            return "str"
        case ListType():
            return f"list<{of.size} x {type_text(of.element)}>"


def numeric_type(word: str) -> IntType | FloatType:
    """Return the type that a word such as ``i32``, ``u8`` or ``f64`` names."""
    bits = int(word[1:])
    return FloatType(bits) if word[0] == "f" else IntType(bits, word[0] == "i")


def span_text(span: Span, path: str) -> str:
    """Return a span; the name of its file is left out where it is ``path``."""
    file = "" if span.path == path else string_text(span.path)
    return f"@{file}{span.line}:{span.column}-{span.end_line}:{span.end_column}"


def read_span(text: str, path: str) -> Span:
    """Return the span that a token of kind ``span`` says."""
    match = _SPAN.fullmatch(text)
    assert match is not None, text
    file = path if match[1] is None else unquoted(match[1])
    line, column, end_line, end_column = (int(match[k]) for k in range(2, 6))
    return Span(file, line, column, end_line, end_column)
