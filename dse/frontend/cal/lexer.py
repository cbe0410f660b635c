"""Text of a ``.cal`` file to tokens (cal.md 1.3b, terminals of Cal.xtext). Owns all lexical errors.

One regular expression eats the white space and comments before a token and the token itself. Two deviations from the
terminals of the grammar: a string must end on its line, and ``^`` is always a token of its own (the parser joins it to
the word behind it where a name is expected), so that ``a ^b`` is an exclusive or.
"""

import re

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, INTEGER, REAL, RESERVED, SIGNS, STRING, TokenStream

_WORD, _INTEGER, _REAL, _SIGN, _STRING, _BAD_NUMBER, _BAD_STRING, _BAD_COMMENT = range(1, 9)

_SIGN_PATTERN = "|".join(re.escape(sign) for sign in SIGNS)
_TOKEN = re.compile(
    rf"""
    (?> [ \t\r\n\f\v]++ | //[^\n]*+ | /\*(?>[^*]++|\*(?!/))*+\*/ )*+
    (?:
      ([A-Za-z_]\w*+)
    | (0[xX][0-9a-fA-F]++(?!\w) | [0-9]++(?!\w|\.(?!\.)))
    | ([0-9]++\.(?!\.)[0-9]*+(?:[eE][+-]?[0-9]++)?+(?!\w) | \.[0-9]++(?:[eE][+-]?[0-9]++)?+(?!\w)
        | [0-9]++[eE][+-]?[0-9]++(?!\w))
    | (?!/\*)({_SIGN_PATTERN})
    | ("(?:[^"\\\n]|\\[^\n])*+" | '(?:[^'\\\n]|\\[^\n])*+')
    | ([0-9]++(?:\.(?!\.)[0-9]*+)?+\w*+ | \.[0-9]\w*+)
    | (["'](?:[^\\\n]|\\[^\n])*?\\?(?=[ \t\r);,\]]*(?:\n|\Z)))
    | (/\*)
    | (["']|!|[^ \t\r\n\f\vA-Za-z0-9_"'()\[\],;:.=<>+\-*/|&^~\#@?!]++)
    | \Z
    )
    """,
    re.VERBOSE | re.ASCII,
)
_LITERALS = {_INTEGER: INTEGER, _REAL: REAL, _STRING: STRING}


def tokenize(path: str, text: str, gather: Gatherer) -> TokenStream:
    """Return the tokens of ``text``, which was read from ``path``; lexical errors go to ``gather``."""
    tokens = TokenStream([], [], [], [], [])
    kinds, texts, lines = tokens.kinds, tokens.texts, tokens.lines
    columns, ends = tokens.columns, tokens.ends
    first = 1 if text.startswith("\ufeff") else 0
    line, before_line = 1, first - 1  # ``before_line``: where the line break before the line stands
    next_break = text.find("\n") % (len(text) + 1)
    for match in _TOKEN.finditer(text, first):
        group = match.lastindex
        if group is None:
            break
        start, end = match.span(group)
        while start > next_break:
            line += 1
            before_line = next_break
            next_break = text.find("\n", next_break + 1) % (len(text) + 1)
        token = match[group]
        if group == _WORD:
            kind = token if token in RESERVED else IDENTIFIER
        elif group == _SIGN:
            kind = token
        elif group in _LITERALS:
            kind = _LITERALS[group]
        else:
            span = Span(path, line, start - before_line, line, end - before_line)
            _lexical_error(group, token, span, tokens, gather)
            if group == _BAD_COMMENT:
                tokens.cut = True
                break
            continue
        kinds.append(kind)
        texts.append(token)
        lines.append(line)
        columns.append(start - before_line)
        ends.append(end - before_line)
    _close(tokens)
    return tokens


def _close(tokens: TokenStream) -> None:
    """Put the end of the file right behind the last token, where a message about it can show a line."""
    if tokens.kinds:
        tokens.append(END_OF_FILE, "", tokens.lines[-1], tokens.ends[-1])
    else:
        tokens.append(END_OF_FILE, "", 1, 1)


def _lexical_error(group: int, token: str, span: Span, tokens: TokenStream, gather: Gatherer) -> None:
    """Report ``token``; stand something in for it where the parser would otherwise report the same place again."""
    if group == _BAD_COMMENT:
        gather.error("this comment is never closed", span, "close it with '*/'")
    elif group == _BAD_STRING:
        gather.error("this string does not end on its line", span, f"close it with {token[0]}")
        tokens.append(STRING, token, span.line, span.column)
    elif group == _BAD_NUMBER:
        _number_error(token, span, tokens, gather)
    else:
        shown = f"'{token[0]}'" if token[0].isprintable() else f"U+{ord(token[0]):04X}"
        more = f" (and {len(token) - 1} more behind it)" if len(token) > 1 else ""
        gather.error(f"character {shown}{more} has no meaning in CAL", span, "remove it")


def _number_error(token: str, span: Span, tokens: TokenStream, gather: Gatherer) -> None:
    """Split a number that runs into a reserved word (``3do``); report one that runs into anything else."""
    word = re.search(r"[A-Za-z_]\w*\Z", token, re.ASCII)
    if word is not None and word[0] in RESERVED:
        number = token[: word.start()]
        tokens.append(REAL if "." in number else INTEGER, number, span.line, span.column)
        tokens.append(word[0], word[0], span.line, span.column + word.start())
        return
    hint = "a number is written like 12, 0x1F or 1.5e3; a name begins with a letter"
    gather.error(f"'{token[:40]}' is not a number", span, hint)
    tokens.append(INTEGER, "0", span.line, span.column)
    tokens.ends[-1] = span.end_column
