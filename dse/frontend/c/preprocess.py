"""A preprocessor for kernels: conditionals, macros and pragmas, without a C toolchain and without system headers.

Macros that come down to an integer stay in the text as names (``Preprocessed.constants`` has their values): the
lowering must know which sizes a loop nest has. A value given by the user wins over ``#define`` in the file.
``#include <...>`` is ignored; a quoted header beside the file contributes its macros only. Each character of the output
knows the column of the source that it came from.
"""

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from dse.base.diagnostics import Gatherer, read_source
from dse.base.errors import Diagnostic, OptionError, SourceError
from dse.base.limits import limits, raise_it
from dse.base.numbers import shortened
from dse.base.paths import is_file_there
from dse.base.source import Span
from dse.frontend.c import constants

_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\r]+)|(?P<newline>\n)|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<sign>\#\#|<<=|>>=|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|->|\+\+|--|.)""",
    re.X,
)
_COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\Z")
_CONDITIONALS = ("ifdef", "ifndef", "if", "elif", "else", "endif")
MOST_INCLUDED = 20
"""Headers inside each other."""
_LONG_TOKEN = 32
"""So many characters count as one more token."""
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)?(.*)", re.S)

# The macros of the PolyBench headers that kernels use, for sources whose header is not at hand, and words of CUDA,
# OpenCL and GNU C that stand for nothing here. ``register`` marks tiles: no parser of C knows the CUDA words.
PREDEFINED = {
    "POLYBENCH_1D(v,a,b)": "v[a]",
    "POLYBENCH_2D(v,a,b,c,d)": "v[a][b]",
    "POLYBENCH_3D(v,a,b,c,d,e,f)": "v[a][b][c]",
    "POLYBENCH_4D(v,a,b,c,d,e,f,g,h)": "v[a][b][c][d]",
    "POLYBENCH_LOOP_BOUND(x,y)": "x",
    "SCALAR_VAL(x)": "x",
    "SQRT_FUN(x)": "sqrt(x)",
    "EXP_FUN(x)": "exp(x)",
    "POW_FUN(x,y)": "pow(x,y)",
    "__attribute__(x)": "",
    "__restrict__": "restrict",
    "__restrict": "restrict",
    "__inline__": "inline",
    "__inline": "inline",
    "__shared__": "register",
    "__local": "register",
    "__global__": "",
    "__device__": "",
    "__global": "",
    "__kernel": "",
    "__constant": "const",
}

_C_WORDS = frozenset(
    [
        *("float", "double", "char", "short", "int", "long", "signed", "unsigned", "void", "_Bool", "bool", "sizeof"),
        *("const", "volatile", "static", "inline", "register", "restrict", "size_t", "ptrdiff_t", "uint", "FILE"),
        *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"),
    ]
)
"""Words that a macro given by the user may stand for although the file does not have them."""


class Token(NamedTuple):
    """A token and the place in the source it is reported at (for text of a macro: where the macro was used)."""

    text: str
    kind: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """A macro; ``parameters`` None for one without parentheses."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    given: bool = False
    """By the user: it wins over the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessed:
    """Text for the parser with as many lines as the source, and what is needed to point back into the source.

    ``columns[line - 1]`` holds (column of the output, column of the source) pairs in ascending order.
    """

    path: str
    source: str
    text: str
    columns: tuple[tuple[tuple[int, int], ...], ...]
    constants: Mapping[str, int | float]
    bases: Mapping[str, tuple[str, ...]]
    """For each constant the constants that it is computed from; itself when it is a plain number."""
    used: frozenset[str]
    """Names of the given macros that the file asked for."""

    def source_column(self, line: int, column: int) -> int:
        """Return the source column that an output column came from."""
        if not 0 < line <= len(self.columns):
            return column
        found = column
        for out, source in self.columns[line - 1]:
            if out > column:
                break
            found = source + (column - out)
        return found

    def span(self, line: int, column: int, width: int = 1) -> Span:
        """Return the source span of ``width`` characters at a place of the output."""
        at = self.source_column(line, column)
        return self.place(line, at, width)

    def place(self, line: int, column: int, width: int = 1) -> Span:
        """Return the span of ``width`` characters at a place of the source."""
        return Span(self.path, line, column, line, column + width)


def tokenise(text: str, first_line: int = 1) -> Iterator[Token]:
    """Yield the tokens of a text without comments, spaces left out, newlines kept."""
    line, start = first_line, 0
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(match.group(), kind, line, match.start() - start + 1)
        if kind == "newline":
            line, start = line + 1, match.end()


def without_comments(text: str) -> str:
    """Return the text with comments blanked out, every line and column where it was."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)

    return _COMMENT.sub(blank, text.replace("\r\n", "\n"))


def _macro(head: str, body: str, *, given: bool = False) -> Macro:
    """Return the macro of a definition such as ``F(x, y)`` and ``x + y``."""
    name, _, rest = head.partition("(")
    parameters = tuple(p.strip() for p in rest.rstrip(") ").split(",") if p.strip()) if rest else None
    return Macro(name=name, parameters=parameters, body=tuple(t for t in tokenise(body)), given=given)


@dataclass(frozen=True, slots=True)
class _Call:
    """The use of a macro: the place after it, what stands for it, and the line ends inside it."""

    end: int
    body: list[Token]
    newlines: list[Token]


@dataclass(slots=True)
class _Branches:
    """The conditionals around a line; of each: its branch is active, one was taken, all around it are active."""

    open: list[tuple[bool, bool, bool]] = field(default_factory=list)

    @property
    def on(self) -> bool:
        """Whether the line is active."""
        return all(active for active, _, _ in self.open)

    def enter(self, active: bool) -> None:
        """Begin a conditional with its first branch."""
        self.open.append((active, active, self.on))

    def turn(self, holds: Callable[[], bool]) -> None:
        """Go on to the next branch, which is active if none was and ``holds``."""
        _, taken, around = self.open.pop()
        active = around and not taken and holds()
        self.open.append((active, taken or active, around))


@dataclass(slots=True)
class _Preprocessor:
    """The state of a run over one file and its headers."""

    path: str
    gatherer: Gatherer
    macros: dict[str, Macro] = field(default_factory=dict)
    constants: dict[str, int | float] = field(default_factory=dict)
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    made: int = 0
    """Tokens that macros have made, and lines of headers."""

    # Lines ------------------------------------------------------------------------------------------------------------

    def run(self, text: str, *, depth: int = 0) -> list[Token]:
        """Return the tokens of the active part of ``text``, macros expanded, pragmas as tokens of kind ``pragma``."""
        out: list[Token] = []
        pending: list[Token] = []
        branches = _Branches()
        for number, logical in _logical_lines(without_comments(text)):
            match = _DIRECTIVE.match(logical)
            if match is None:
                if branches.on:
                    pending += tokenise(logical + "\n", number)
                continue
            out += self.expand(pending, frozenset())
            pending = []
            word, rest = str(match.group(1) or ""), match.group(2).strip()
            span = Span(self.path, number, 1, number, len(logical.split("\n")[0].rstrip()) + 1)
            if word in _CONDITIONALS:
                self._conditional(word, rest, span, branches)
            elif branches.on and word == "pragma":
                out.append(Token(f"#pragma {rest}", "pragma", number, logical.index("#") + 1))
            elif branches.on:
                self._directive(word, rest, span, depth)
        out += self.expand(pending, frozenset())
        if branches.open:
            line = text.count("\n") + 1
            self.gatherer.error("#if without #endif", Span(self.path, line, 1, line, 1), "add the missing #endif")
        return out

    def _conditional(self, word: str, rest: str, span: Span, branches: _Branches) -> None:
        self.used |= {name for name in re.findall(r"[A-Za-z_]\w*", rest) if self._given(name)}
        if word in ("ifdef", "ifndef", "if"):
            branches.enter(branches.on and self._condition(word, rest, span))
        elif not branches.open:
            self.gatherer.error(f"#{word} without #if", span, "remove it or add the #if")
        elif word == "endif":
            branches.open.pop()
        else:
            branches.turn(lambda: word == "else" or self._condition("if", rest, span))

    def _directive(self, word: str, rest: str, span: Span, depth: int) -> None:
        """Do what a directive says; line, warning and ident mean nothing here."""
        match word:
            case "define":
                self._define(rest, span)
            case "undef" if not self._given(rest):
                self.macros.pop(rest, None)
            case "error":
                self.gatherer.error(f"#error {rest}", span, "give the macros that the source asks for with --define")
            case "include" if depth < MOST_INCLUDED:
                self._include(rest, span.line, depth)

    def _include(self, rest: str, line: int, depth: int) -> None:
        """Take the macros of a quoted header that exists beside the file."""
        if not rest.startswith('"'):
            return
        header = Path(self.path).parent / rest.strip('"')
        if is_file_there(header):
            source = read_source(str(header))
            self._count([Token(source, "name", 1, 1)], Token(rest, "string", line, 1))
            self.run(source, depth=depth + 1)

    # Macros -----------------------------------------------------------------------------------------------------------

    def _given(self, name: str) -> bool:
        known = self.macros.get(name)
        return known is not None and known.given

    def _define(self, rest: str, span: Span) -> None:
        match = re.match(r"(\w+)(\([^)]*\))?(.*)", rest, re.S)
        if match is None:
            self.gatherer.error("#define without a name", span, "write #define NAME value")
            return
        if self._given(match.group(1)):
            self.used.add(match.group(1))
            return
        self.macros[match.group(1)] = _macro(match.group(1) + (match.group(2) or ""), match.group(3).strip())

    def _condition(self, word: str, rest: str, span: Span) -> bool:
        if word != "if":
            name = rest.split()[0] if rest.split() else ""
            return (name in self.macros) == (word == "ifdef")
        text = re.sub(
            r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda m: str(int((m.group(1) or m.group(2)) in self.macros)),
            rest,
        )
        tokens = self.expand(list(tokenise(text)), frozenset(), keep_constants=False)
        words = ["0" if t.kind == "name" else t.text for t in tokens]
        value = integer_value(words)
        if value is None:
            self.gatherer.error(
                f"the condition {rest!r} cannot be evaluated", span, "use integers, macros and defined(NAME)"
            )
        return bool(value)

    def expand(self, tokens: list[Token], hidden: frozenset[str], *, keep_constants: bool = True) -> list[Token]:
        """Return the tokens with macros replaced; integer macros stay as names when ``keep_constants``."""
        out: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            macro = self._macro_of(token, hidden)
            if macro is None or (macro.parameters is None and keep_constants and self._stays(macro)):
                out.append(token)
                continue
            call: _Call | None = _Call(at, list(macro.body), [])
            if macro.parameters is not None:
                call = self._call(macro, tokens, at, hidden, keep_constants)
            if call is None:
                out.append(token)
                continue
            at = call.end
            placed = [t._replace(line=token.line, column=token.column) for t in call.body if t.kind != "newline"]
            self._count(placed, token)
            out += self.expand(placed, hidden | {macro.name}, keep_constants=keep_constants)
            out += call.newlines
        return out

    def _count(self, made: list[Token], token: Token) -> None:
        """Count what a macro makes. Raises ``SourceError`` at the token where the macros of the file make too much."""
        most = limits().c_tokens
        self.made += 1 + len(made) + sum(len(t.text) for t in made) // _LONG_TOKEN
        if self.made > most:
            span = Span(self.path, token.line, token.column, token.line, token.column + len(token.text))
            message = f"the macros of this file make more than {most} tokens ('{shortened(token.text)}')"
            raise SourceError([Diagnostic(message=message, span=span, expected=raise_it("c-tokens", most))])

    def _call(
        self, macro: Macro, tokens: list[Token], at: int, hidden: frozenset[str], keep_constants: bool
    ) -> _Call | None:
        """Return the use of a macro with parameters; None if no parenthesis follows its name."""
        end, arguments = _arguments(tokens, at)
        if end < 0:
            return None
        expanded = [self.expand(a, hidden, keep_constants=keep_constants) for a in arguments]
        return _Call(end, _substitute(macro, expanded), [t for t in tokens[at:end] if t.kind == "newline"])

    def _macro_of(self, token: Token, hidden: frozenset[str]) -> Macro | None:
        """Return the macro that a token names; one that the user gave is then used."""
        macro = self.macros.get(token.text) if token.kind == "name" and token.text not in hidden else None
        if macro is not None and macro.given:
            self.used.add(macro.name)
        return macro

    def _stays(self, macro: Macro) -> bool:
        """Whether a macro is an integer (or a number given by the user) with one value in the file; it is noted."""
        value = self._number(macro)
        if value is None or self.constants.get(macro.name, value) != value:
            return False
        self.constants[macro.name] = value
        bases = (self._bases(t.text) for t in macro.body if t.kind == "name" and t.text in self.macros)
        self.bases[macro.name] = tuple(dict.fromkeys(itertools.chain.from_iterable(bases))) or (macro.name,)
        return True

    def _number(self, macro: Macro) -> int | float | None:
        words = [t.text for t in self.expand(list(macro.body), frozenset({macro.name}), keep_constants=False)]
        value = integer_value(words)
        return _float("".join(words)) if value is None and macro.given else value

    def _bases(self, name: str) -> tuple[str, ...]:
        """Return the plain numbers that an integer macro is computed from."""
        return self.bases[name] if self._stays(self.macros[name]) else ()


def _float(text: str) -> float | None:
    try:
        return float(text.rstrip("fF"))
    except ValueError:
        return None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text) with lines that end in a backslash joined."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first, line = at, lines[at]
        while line.rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
            line = line.rstrip()[:-1] + " " + lines[at]
        at += 1
        yield first + 1, line


def _arguments(tokens: list[Token], at: int) -> tuple[int, list[list[Token]]]:
    """Return the end and the arguments of a macro call whose parenthesis should be next; end -1 if there is none."""
    at = _next_word(tokens, at)
    arguments: list[list[Token]] = [[]]
    depth = 1 if at < len(tokens) and tokens[at].text == "(" else 0
    for index in range(at + 1, len(tokens) if depth else 0):
        token = tokens[index]
        depth += _opens(token)
        if depth == 0:
            return index + 1, arguments
        if token.text == "," and depth == 1:
            arguments.append([])
        elif token.kind != "newline":
            arguments[-1].append(token)
    return -1, []


def _next_word(tokens: list[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].kind == "newline":
        at += 1
    return at


def _opens(token: Token) -> int:
    """Return 1 for an opening bracket, -1 for a closing one, else 0."""
    return (token.text in "([{") - (token.text in ")]}") if token.kind == "sign" else 0


def _substitute(macro: Macro, arguments: list[list[Token]]) -> list[Token]:
    """Return the body of a macro with its parameters replaced and ``##`` done."""
    names = macro.parameters or ()
    bound = {name: (arguments[i] if i < len(arguments) else []) for i, name in enumerate(names)}
    out: list[Token] = []
    paste = False
    for token in macro.body:
        if token.text == "##":
            paste = True
            continue
        new = list(bound.get(token.text, [token])) if token.kind == "name" else [token]
        if paste and out and new:
            out[-1] = out[-1]._replace(text=out[-1].text + new[0].text)
            new = new[1:]
        paste = False
        out += new
    return out


_LONGEST_CONSTANT = 10_000
"""Words of an expression; longer ones are no sizes."""
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
"""What the integer types of C hold."""
_LONGEST_NUMBER = 1000
"""Characters of a number; longer ones fit no type."""
_PYTHON_SIGNS = {"&&": " and ", "||": " or ", "!": " not ", "/": "//"}


def integer_value(words: list[str]) -> int | None:
    """Return the value of a constant integer expression given as words, or None if it is not one."""
    if len(words) > _LONGEST_CONSTANT or max(map(len, words), default=0) > _LONGEST_NUMBER:
        return None
    text = ""
    for word in words:
        number = _INTEGER.match(word)
        if number is not None:
            text += f" {int(number.group(1), 0) if word[:2].lower() == '0x' else int(number.group(1))} "
        elif re.match(r"[A-Za-z_\"'.\d]", word):
            return None
        else:
            text += _PYTHON_SIGNS.get(word, word)
    try:
        return _held(_evaluate(ast.parse(text.strip(), mode="eval").body)) if text.strip() else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last of a nest too deep for its parser
        return None


def _held(value: int) -> int | None:
    """Return a value that a type of C holds, else None."""
    return value if _LEAST <= value <= _MOST else None


_UNARY_SIGNS: Mapping[type[ast.unaryop], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_BINARY_SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
"""What Python's parser makes of the operators of C."""
_BITS = 64
"""Conditions are computed in the widest integer type."""


def _evaluate(node: ast.expr) -> int:
    """Evaluate a parsed integer expression; ValueError for anything else."""
    match node:
        case ast.Constant(value=int(value)):
            return int(value)
        case ast.UnaryOp(op=op, operand=operand):
            return int(_UNARY_SIGNS[type(op)](_evaluate(operand)))
        case ast.BoolOp(op=op, values=values):
            found = [_evaluate(v) != 0 for v in values]
            return int(all(found) if isinstance(op, ast.And) else any(found))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return int(_COMPARISONS[type(op)](_evaluate(left), _evaluate(right)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY_SIGNS:
            value_of = constants.whole(_BINARY_SIGNS[type(op)], _evaluate(left), _evaluate(right), _BITS)
            if value_of is not None:
                return value_of
    raise ValueError("not an integer expression")


def preprocess(path: str, text: str, defines: Mapping[str, str], gatherer: Gatherer) -> Preprocessed:
    """Return the preprocessed text of a C file. Errors go to ``gatherer``."""
    machine = _Preprocessor(path=path, gatherer=gatherer)
    for head, body in PREDEFINED.items():
        macro = _macro(head, body)
        machine.macros[macro.name] = macro
    for name, body in defines.items():
        machine.macros[name] = _macro(name, body, given=True)
    tokens = machine.run(text)
    _check_values(path, text, defines, machine.macros)
    lines, columns = _lay_out(tokens, text.count("\n") + 1)
    return Preprocessed(
        path=path,
        source=text,
        text="\n".join(lines) + "\n",
        columns=columns,
        constants=machine.constants,
        bases=machine.bases,
        used=frozenset(machine.used),
    )


def _check_values(path: str, text: str, defines: Mapping[str, str], macros: Mapping[str, Macro]) -> None:
    """Refuse a given value with a word that means nothing: each use of the macro would be an error of its own."""
    known = {*_C_WORDS, *macros, *re.findall(r"[A-Za-z_]\w*", without_comments(text))}
    for name, body in defines.items():
        if re.match(r"[-+]?[\d.]", body) and not _is_arithmetic(body):
            raise OptionError(f"--define {name}={body}: this is no number", expected=f"such as {name}=1024")
        for word in re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\s*\()", body):  # what stands before ( is a function
            if word not in known:
                raise OptionError(
                    f"--define {name}={body}: {path} knows no {word}",
                    expected=f"a number, such as {name}=1024, or a name that the file declares or defines",
                )


def _is_arithmetic(text: str) -> bool:
    """Whether a text is an expression in C's numbers (suffixes and leading zeros are not Python's) and names."""
    plain = re.sub(r"(?<![\w.])0+(?=\d)", "", re.sub(r"(?<=[\d.])[uUlLfF]+\b", "", text))
    try:
        ast.parse(plain.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _lay_out(tokens: list[Token], n_lines: int) -> tuple[list[str], tuple[tuple[tuple[int, int], ...], ...]]:
    """Return the lines with every token at its source column where there is room, and the column pairs."""
    lines = [""] * n_lines
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(n_lines)]
    for token in tokens:
        if token.kind == "newline":
            continue
        line = lines[token.line - 1]
        line += " " * max(1 if line else 0, token.column - 1 - len(line))
        pairs[token.line - 1].append((len(line) + 1, token.column))
        lines[token.line - 1] = line + token.text
    return lines, tuple(tuple(p) for p in pairs)
