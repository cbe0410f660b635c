"""From the text of a C file to the syntax trees of its kernel functions (pycparser), with places in the source."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast, c_generator, c_lexer, c_parser

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.source import Span
from dse.frontend.c.preprocess import Preprocessed, preprocess

_PRELUDE = " ".join(
    f"typedef {of} {name};"
    for name, of in [
        ("size_t", "unsigned long"),
        ("ptrdiff_t", "long"),
        ("bool", "_Bool"),
        ("int8_t", "signed char"),
        ("uint8_t", "unsigned char"),
        ("int16_t", "short"),
        ("uint16_t", "unsigned short"),
        ("int32_t", "int"),
        ("uint32_t", "unsigned int"),
        ("int64_t", "long"),
        ("uint64_t", "unsigned long"),
        ("uint", "unsigned int"),
        ("FILE", "int"),
    ]
)
_POSITION = re.compile(r"^(?:(?P<path>.*?):)?(?P<line>\d+):(?:(?P<column>\d+):)?\s*(?P<text>.*)$", re.S)
_FUNCTION = re.compile(r"(\w+)\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*$")
_LOOP = re.compile(r"\b(for|while)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class CFile:
    """A parsed C file. ``functions`` are those whose body was parsed, in source order."""

    source: Preprocessed
    tree: c_ast.FileAST
    functions: tuple[c_ast.FuncDef, ...]
    only_scop: bool
    """The file has ``#pragma scop``: only loops inside such regions are kernels."""

    def span(self, node: c_ast.Node) -> Span:
        """Return the source span of a node: an array reference or name in full, else its first character."""
        coord = node.coord
        if coord is None:
            return Span(self.source.path, 0, 1, 0, 1)
        start = self.source.span(coord.line, coord.column or 1)
        line = self.source_line(start.line)
        if isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&", "-", "!", "~"):
            before = line[: start.column - 1].rstrip(" (")  # the parser places an operation at its operand
            if before.endswith(node.op):
                start = self.source.place(start.line, len(before))
        text = line[start.column - 1 :]
        return Span(start.path, start.line, start.column, start.line, start.column + _extent(node, text))

    def source_line(self, line: int) -> str:
        """Return a line of the source."""
        lines = self.source.source.split("\n")
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def text_of(self, node: c_ast.Node) -> str:
        """Return the source text of an array reference, or its text after macros where it came out of one."""
        span = self.span(node)
        found = self.source_line(span.line)[span.column - 1 : span.end_column - 1]
        generated = str(c_generator.CGenerator().visit(node))
        return found if re.sub(r"\s", "", found).endswith("]") and "]" in found else generated


def _extent(node: c_ast.Node, text: str) -> int:
    """Return how many characters of ``text`` a node that starts there covers."""
    match node:
        case c_ast.ArrayRef():
            found = re.match(r"\w+", text)
            at = found.end() if found else 1
            while (rest := re.match(r"\s*\[", text[at:])) is not None:
                end = _closing(text, at + rest.end() - 1)
                if end < 0:
                    break
                at = end
            return at
        case c_ast.For() | c_ast.While() | c_ast.If() | c_ast.ID() | c_ast.FuncCall() | c_ast.Goto() | c_ast.Switch():
            found = re.match(r"\w+", text)
            return found.end() if found else 1
        case c_ast.Constant() | c_ast.Decl() | c_ast.Break() | c_ast.Continue() | c_ast.Return() | c_ast.DoWhile():
            found = re.match(r"[\w.]+", text)
            return found.end() if found else 1
        case _:
            return 1


def _closing(text: str, at: int) -> int:
    """Return the position after the bracket that closes the one at ``at``, -1 if it is not in this text."""
    depth = 0
    for index in range(at, len(text)):
        depth += (text[index] == "[") - (text[index] == "]")
        if depth == 0:
            return index + 1
    return -1


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A function definition: the text between its braces."""

    name: str
    body: str
    start: int
    end: int


def parse_c(path: str, text: str, defines: Mapping[str, str], function: str | None = None) -> CFile:
    """Parse a C file as far as its kernels need it.

    Only the bodies of the function asked for, or else of functions with a loop (with ``#pragma scop`` in the file only
    of functions that have one), and of functions without loops, which they may call, are parsed. ``main`` is the host's
    and may use macros of headers that are not read.
    Raises SourceError for syntax errors, OptionError for an unknown function or a macro that the file never uses.
    """
    gatherer = Gatherer()
    source = preprocess(path, text, defines, gatherer)
    gatherer.fail_on_errors()
    chunks = list(_functions(source.text))
    only_scop = any("#pragma scop" in c.body for c in chunks)
    chosen = _chosen(path, chunks, function, only_scop)
    kept = source.text
    for chunk in reversed(chunks):
        if chunk.name not in chosen and (chunk.name == "main" or _LOOP.search(chunk.body)):
            kept = kept[: chunk.start] + re.sub(r"[^\n]", " ", chunk.body) + kept[chunk.end :]
    tree = _parse(kept, source, gatherer)
    functions = tuple(n for n in tree.ext if isinstance(n, c_ast.FuncDef) and n.decl.name in chosen)
    return CFile(source=source, tree=tree, functions=functions, only_scop=only_scop)


def _chosen(path: str, chunks: list[_Chunk], function: str | None, only_scop: bool) -> set[str]:
    """Return the functions whose kernels are asked for. Raises OptionError for one that is not there."""
    names = [c.name for c in chunks]
    if function is None:
        return {c.name for c in chunks if _is_kernel(c, only_scop)}
    if function not in names:
        known = ", ".join(names) or "none"
        raise OptionError(f"there is no function {function} in {path}", expected=f"functions of the file: {known}")
    return {function}


def _is_kernel(chunk: _Chunk, only_scop: bool) -> bool:
    if only_scop:
        return "#pragma scop" in chunk.body
    return chunk.name != "main" and _LOOP.search(chunk.body) is not None


def _functions(text: str) -> Iterator[_Chunk]:
    """Yield the function definitions of preprocessed text by their braces."""
    at, head = 0, 0
    while (start := text.find("{", at)) >= 0:
        depth, end = 0, start
        for end in range(start, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                break
        found = _FUNCTION.search(re.sub(r"#[^\n]*", "", text[head:start]).strip())
        if found is not None:
            yield _Chunk(found.group(1), text[start + 1 : end], start + 1, end)
        at = head = end + 1


class _Lexer(c_lexer.CLexer):  # type: ignore[misc]  # pycparser has no types
    """Remembers the last token read: some messages of the parser have no place."""

    last: tuple[int, int] = (1, 1)

    def token(self) -> Any:
        """Return the next token."""
        token = super().token()
        if token is not None:
            self.last = (int(token.lineno), int(token.column))
        return token


def _parse(text: str, source: Preprocessed, gatherer: Gatherer) -> c_ast.FileAST:
    parser = c_parser.CParser(lexer=_Lexer)
    try:
        tree = parser.parse(f'{_PRELUDE}\n# 1 "kernel"\n{text}', "kernel")
    except c_parser.ParseError as error:
        _report(str(error), parser.clex.last, source, gatherer)
        gatherer.fail_on_errors()
        raise AssertionError("unreachable: the error was gathered") from error
    except RecursionError as error:
        gatherer.error("the source nests too deeply", source.span(1, 1), "split the expression")
        gatherer.fail_on_errors()
        raise AssertionError("unreachable: the error was gathered") from error
    assert isinstance(tree, c_ast.FileAST)
    return tree


def _report(message: str, last: tuple[int, int], source: Preprocessed, gatherer: Gatherer) -> None:
    """Turn the parser's message into an error at its place in the source (``last``: the last token it read)."""
    found = _POSITION.match(message)
    if found is None:
        what = message.removeprefix("kernel: ").lower()
        gatherer.error(f"syntax error: {what}", source.span(*last), "check for a missing operand, ; or }")
        return
    line, column = int(found["line"]), int(found["column"] or 1)
    what = found["text"].removeprefix("before: ")
    text = f"syntax error before {what!r}" if found["text"].startswith("before: ") else f"syntax error: {what}"
    words = re.findall(r"[A-Za-z_]\w*", source.text.split("\n")[line - 1])
    hint = "check the spelling; types and macros of headers that are not read can be given with --define NAME=VALUE"
    gatherer.error(text, source.span(line, column), hint if words else "check for a missing ; or }")
