"""Long lines are broken behind a comma or before an operator, outside of strings."""

import re

from dse.codegen.emitter import Lines

_WIDTH = 120
_MARK_OR_STRING = re.compile(r""""(?:\\.|[^"\\])*"|, |; | (?:&&|\|\||[-+*?:=]|<<) """)


def folded(lines: Lines) -> Lines:
    """Return lines of which those beyond 120 columns are broken where that is possible."""
    found = Lines(lines.indent)
    for text, span in zip(lines.texts, lines.spans, strict=True):
        for part in _parts(text.rstrip()):
            found.add(part, span)
    return found


def _parts(text: str) -> list[str]:
    """Return the lines that a line is broken into."""
    if len(text) <= _WIDTH:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    if text.lstrip().startswith("//"):
        return [text[:_WIDTH].rstrip("\\")]
    if text.lstrip().startswith("#"):
        return [text]
    parts, rest, head = [], text, indent
    while len(rest) > _WIDTH:
        place = _break(rest, len(head))
        if place is None:
            break
        parts.append(rest[:place].rstrip())
        head = f"{indent}    "
        rest = head + rest[place:].lstrip()
    return [*parts, rest]


def _break(text: str, start: int) -> int | None:
    """Return the last place up to the width where a line may be broken; else the first one behind it."""
    best = None
    for found in _MARK_OR_STRING.finditer(text, start):  # a line may begin with a string, and with a mark
        mark = found[0]
        if mark[0] == '"' or found.start() == start:
            continue
        place = found.end() if mark[0] in ",;" or mark == " = " else found.start() + 1
        if place > _WIDTH:
            return place if best is None else best
        best = place
    return best
