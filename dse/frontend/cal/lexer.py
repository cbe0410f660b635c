"""The lexer of RVC-CAL: one regular expression over the whole text, tokens as parallel arrays (cal.md 1.3b)."""

import re

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER, INTEGER, REAL, RESERVED, STRING, TokenStream

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\f\v\u00a0\ufeff]+ | //[^\n]*)
  | (?P<newline>\n)
  | (?P<comment>/\*.*?\*/)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<real>\d+\.(?!\.)\d*(?:[eE][+-]?\d+)? | \.\d+(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+)
  | (?P<integer>0[xX][0-9A-Fa-f]+ | \d+)
  | (?P<string>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<sign>-->|==>|:=|\.\.|\|\||&&|<<|>>|<=|>=|!=|=>|\*\*|[-+*/=<>()\[\]:;,.~\#&|^?@])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_KINDS = {"real": REAL, "integer": INTEGER, "string": STRING}


def tokenize(path: str, text: str, gather: Gatherer) -> TokenStream:
    """Return the tokens of ``text``, closed by one ``END_OF_FILE``. What starts no token is reported and skipped."""
    stream = TokenStream([], [], [], [], [])
    append = stream.append
    match = _TOKEN.match
    position, line, line_start, size = 0, 1, 0, len(text)
    while position < size:
        found = match(text, position)
        if found is None:
            position = _report_bad_text(path, text, position, line, line_start, gather)
            continue
        group, end = found.lastgroup, found.end()
        if group == "newline":
            line += 1
            line_start = end
        elif group == "comment":
            breaks = text.count("\n", position, end)
            if breaks:
                line += breaks
                line_start = text.rindex("\n", position, end) + 1
        elif group != "blank":
            token = text[position:end]
            if group == "sign" or (group == "word" and token in RESERVED):
                kind = token
            else:
                kind = _KINDS.get(group or "", IDENTIFIER)
            append(kind, token, line, position - line_start + 1)
        position = end
    append(END_OF_FILE, "", line, size - line_start + 1)
    return stream


def _report_bad_text(path: str, text: str, position: int, line: int, line_start: int, gather: Gatherer) -> int:
    """Report what starts no token and return where to go on: behind it, or at the end of its line or of the file."""
    column = position - line_start + 1
    span = Span(path, line, column, line, column + 1)
    if text.startswith("/*", position):
        gather.error("comment is not closed", span._replace(end_column=column + 2), "add '*/'")
        return len(text)
    character = text[position]
    if character in "\"'":
        gather.error("string is not closed on its line", span, f"add {character}")
        end_of_line = text.find("\n", position)
        return len(text) if end_of_line < 0 else end_of_line
    shown = character if character.isprintable() else f"\\x{ord(character):02x}"
    gather.error(f"character '{shown}' has no meaning in CAL", span)
    return position + 1
