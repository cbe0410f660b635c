"""From OpenCL C to a syntax tree of pycparser: qualifiers are taken out and remembered, types are declared.

Positions stay: what is taken out becomes blanks. Vector types are numbers of their width; their elements (``.x``) are
members that nobody looks up.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast, c_parser

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError, OptionError
from dse.base.source import Span, file_span
from dse.frontend.c.preprocess import preprocess

SCALARS = {"float": 4, "double": 8, "half": 2, "int": 4, "uint": 4, "short": 2, "ushort": 2, "char": 1, "uchar": 1}
SCALARS |= {"long": 8, "ulong": 8, "size_t": 8, "bool": 1, "ptrdiff_t": 8}
FLOATS = ("float", "double", "half")
VECTORS = {f"{name}{width}": size * width for name, size in SCALARS.items() for width in (2, 3, 4, 8, 16)}
_TYPEDEFS = " ".join(
    f"typedef {'float' if name.rstrip('0123456789') in FLOATS else 'int'} {name};"
    for name in (*VECTORS, "half", "uint", "ushort", "uchar", "ulong", "size_t", "bool", "ptrdiff_t")
)
_SPACES = {"global": "global", "constant": "global", "local": "local", "private": "private"}
QUALIFIER = re.compile(r"\b(?:__)?(global|constant|local|private|kernel|restrict|read_only|write_only)\b")
UNDERSCORED = re.compile(r"\b__(global|constant|local|private|kernel|restrict|read_only|write_only)\b")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_MOST_LEVELS = 200
_DECLARATION = re.compile(r"[^;(){]*")
"""Up to the end of a declaration, the arguments of a function, or the last argument."""
_BRACKETS = re.compile(r"\[[^\]]*\]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PLACE = re.compile(r"^[^:]*:(\d+):(?:(\d+):)?\s*(.*)$", re.S)
_BUILT_IN = {
    "CLK_LOCAL_MEM_FENCE": "1",
    "CLK_GLOBAL_MEM_FENCE": "2",
    "M_PI_F": "3.14159274f",
    "M_PI": "3.141592653589793",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClFile:
    """A parsed file. ``spaces``: global or local, by the name of an argument or array. ``kernels``: names, in order."""

    path: str
    tree: c_ast.FileAST
    spaces: Mapping[str, str]
    kernels: tuple[str, ...]
    constants: Mapping[str, int]
    """Macros that are whole numbers."""

    def function(self, name: str | None) -> c_ast.FuncDef:
        """Return a kernel, the only one where ``name`` is None. Raises ``OptionError`` where there is no such one."""
        if name is None and len(self.kernels) == 1:
            name = self.kernels[0]
        if name not in self.kernels:
            what = "there are several kernels" if name is None else f"there is no kernel '{name[:40]}'"
            raise OptionError(what, expected=f"--kernel, one of: {', '.join(self.kernels) or 'none'}")
        return next(node for node in self.tree.ext if isinstance(node, c_ast.FuncDef) and node.decl.name == name)


def parse_opencl(path: str, text: str, defines: Mapping[str, str]) -> OpenClFile:
    """Return the tree of an OpenCL file with macros. Raises ``SourceError``, ``FormatError`` for what is wrong."""
    gather = Gatherer()
    given = {**{name: value for name, value in _BUILT_IN.items() if name in text}, **defines}
    source = preprocess(path, UNDERSCORED.sub(r"  \1", text), given, gather)
    gather.fail_on_errors()
    plain = ATTRIBUTE.sub(blank, source.text)
    spaces, kernels = _qualified(plain)
    try:
        tree = c_parser.CParser().parse(f"{_TYPEDEFS} {QUALIFIER.sub(blank, plain)}", path)
    except c_parser.ParseError as cause:
        raise syntax_error(path, str(cause)) from cause
    except RecursionError:
        tree = None
    if tree is None or _is_too_deep(tree):
        raise FormatError("this is nested too deeply", span=file_span(path, 0), expected="a kernel file")
    constants = {name: value for name, value in source.constants.items() if isinstance(value, int)}
    return OpenClFile(path=path, tree=tree, spaces=spaces, kernels=tuple(kernels), constants=constants)


def _is_too_deep(tree: c_ast.Node) -> bool:
    """Return whether a tree is deeper than those who walk it can go."""
    level: list[c_ast.Node] = [tree]
    for _ in range(_MOST_LEVELS):
        level = [child for node in level for _, child in node.children()]
    return bool(level)


def declared_names(node: c_ast.Node) -> Iterator[str]:
    """Yield the variables that a tree declares, arguments apart."""
    if isinstance(node, c_ast.FuncDecl):
        return
    if isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl):
        yield node.name or ""
    for _, child in node.children():
        yield from declared_names(child)


def _qualified(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the memory of names whose declaration tells it, and the names of kernels."""
    spaces, kernels = dict[str, str](), list[str]()
    for match in QUALIFIER.finditer(text):
        names = _declared(text, match.end())
        if match[1] == "kernel":
            kernels += names[:1]
        elif match[1] in _SPACES:
            spaces.update({name: _SPACES[match[1]] for name in names if name not in spaces})
    return spaces, kernels


def _declared(text: str, start: int) -> list[str]:
    """Return the names that the declaration behind a qualifier declares; of an argument, or a function, its name."""
    match = _DECLARATION.match(text, start)
    assert match is not None, "it matches nothing, too"
    parts = _BRACKETS.sub(" ", QUALIFIER.sub(blank, match[0])).split(",")
    many = text[match.end() : match.end() + 1] == ";"
    words = [_WORD.findall(part.split("=")[0]) for part in (parts if many else parts[:1])]
    return [found[-1] for found in words if found]


def blank(match: re.Match[str]) -> str:
    """Return as many blanks as were matched, and its ends of lines."""
    return re.sub(r"[^\n]", " ", match[0])


def syntax_error(
    path: str, message: str, what: str = "this is no OpenCL C", expected: str = "a kernel file"
) -> FormatError:
    """Return the error of pycparser with its place."""
    found = _PLACE.match(message)
    line, why = (int(found[1]), found[3]) if found else (0, message)
    return FormatError(f"{what}: {why}", span=file_span(path, line), expected=expected)


def span_of(path: str, node: c_ast.Node) -> Span:
    """Return the place of a node."""
    return file_span(path, 0 if node.coord is None else node.coord.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelArgument:
    """An argument: ``element_bytes`` of what it points to, None where it is no pointer."""

    name: str
    element_bytes: int | None


def arguments_of(file: OpenClFile, kernel: str) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel in their order. Raises ``OptionError`` where there is no such kernel."""
    given = file.function(kernel).decl.type.args
    found = []
    for parameter in () if given is None else given.params:
        if not isinstance(parameter, c_ast.Decl):
            continue  # void
        pointed = isinstance(parameter.type, c_ast.PtrDecl | c_ast.ArrayDecl)
        size = element_bytes(type_name(parameter.type)) if pointed else None
        found.append(KernelArgument(name=parameter.name, element_bytes=size))
    return tuple(found)


def element_bytes(kind: str) -> int:
    """Return the size of a scalar or vector type."""
    return VECTORS.get(kind, SCALARS.get(kind, 4))


def type_name(node: c_ast.Node) -> str:
    """Return the name of the type at the end of pointers and arrays."""
    while not isinstance(node, c_ast.IdentifierType):
        inner = getattr(node, "type", None)
        if inner is None:
            return "int"
        node = inner
    return str(node.names[-1])
