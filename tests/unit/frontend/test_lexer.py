"""The lexer: token kinds, places, and lexical errors."""

import pytest

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.lexer import tokenize
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, INTEGER, REAL, RESERVED, SIGNS, STRING


def lex(text: str) -> list[tuple[str, str]]:
    gather = Gatherer()
    tokens = tokenize("a.cal", text, gather)
    assert gather.diagnostics == []
    assert tokens.kinds[-1] == END_OF_FILE
    return list(zip(tokens.kinds, tokens.texts, strict=True))[:-1]


def lex_errors(text: str) -> list[tuple[str, Span]]:
    gather = Gatherer()
    tokenize("a.cal", text, gather)
    return [(d.message, d.span) for d in gather.diagnostics]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_their_own_kind(word: str) -> None:
    assert lex(word) == [(word, word)]
    assert lex(word + "_") == [(IDENTIFIER, word + "_")]


@pytest.mark.parametrize("sign", SIGNS)
def test_signs_are_their_own_kind(sign: str) -> None:
    assert lex(f"a {sign} b")[1] == (sign, sign)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("0..9", [INTEGER, "..", INTEGER]),
        ("0 .. 9", [INTEGER, "..", INTEGER]),
        ("a..b", [IDENTIFIER, "..", IDENTIFIER]),
        ("1...5", [INTEGER, "..", REAL]),
        ("1.5", [REAL]),
        ("0.", [REAL]),
        (".5", [REAL]),
        ("1e3", [REAL]),
        ("1.e-3", [REAL]),
        ("2.5E+10", [REAL]),
        ("0xFf", [INTEGER]),
        ("0X10", [INTEGER]),
        ("017", [INTEGER]),
        ("9" * 5000, [INTEGER]),
        ("3do", [INTEGER, "do"]),
        ("2.5end", [REAL, "end"]),
        ("a^b", [IDENTIFIER, "^", IDENTIFIER]),
        ("a-->b", [IDENTIFIER, "-->", IDENTIFIER]),
        ("a==>b", [IDENTIFIER, "==>", IDENTIFIER]),
        ("a=-1", [IDENTIFIER, "=", "-", INTEGER]),
        ("a<<=b", [IDENTIFIER, "<<", "=", IDENTIFIER]),
        ("x*/y", [IDENTIFIER, "*", "/", IDENTIFIER]),
    ],
)
def test_token_boundaries(text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in lex(text)] == kinds
    assert "".join(token for _, token in lex(text)) == text.replace(" ", "")


def test_strings_keep_their_escapes() -> None:
    assert lex(r'"a\"b\n\\" "" ' + r"'it\'s'") == [(STRING, r'"a\"b\n\\"'), (STRING, '""'), (STRING, r"'it\'s'")]


def test_comments_do_not_nest() -> None:
    assert lex("a /* b /* c */ d // e */ f\n/**/ g /***/ h") == [(IDENTIFIER, name) for name in "adgh"]
    assert lex("") == []
    assert lex("// only") == []


def test_places_count_lines_and_columns_from_one() -> None:
    tokens = tokenize("a.cal", "\ufeffab /* x\n */ c\r\n\td \n", Gatherer())
    assert list(zip(tokens.texts, tokens.lines, tokens.columns, tokens.ends, strict=True)) == [
        ("ab", 1, 1, 3),
        ("c", 2, 5, 6),
        ("d", 3, 2, 3),
        ("", 3, 3, 3),
    ]


@pytest.mark.parametrize(
    ("text", "message", "line", "column", "end_column"),
    [
        ('x := "abc);\ny', "this string does not end on its line", 1, 6, 10),
        ('x := "abc\\', "this string does not end on its line", 1, 6, 11),
        ("a /* b", "this comment is never closed", 1, 3, 5),
        ("a\n /*/ b", "this comment is never closed", 2, 2, 4),
        ("a $ b", "character '$' has no meaning in CAL", 1, 3, 4),
        ("a \x00\x00 b", "character U+0000 (and 1 more behind it) has no meaning in CAL", 1, 3, 5),
        ("a é b", "character 'é' has no meaning in CAL", 1, 3, 4),
        ("a ! b", "character '!' has no meaning in CAL", 1, 3, 4),
        ("12ab", "'12ab' is not a number", 1, 1, 5),
        ("0x", "'0x' is not a number", 1, 1, 3),
        ("1.5x", "'1.5x' is not a number", 1, 1, 5),
    ],
)
def test_lexical_errors(text: str, message: str, line: int, column: int, end_column: int) -> None:
    assert lex_errors(text) == [(message, Span("a.cal", line, column, line, end_column))]


def test_an_unclosed_string_leaves_what_closes_the_call() -> None:
    tokens = tokenize("a.cal", 'print("abc);\nx', Gatherer())
    assert tokens.kinds[:-1] == [IDENTIFIER, "(", STRING, ")", ";", IDENTIFIER]
