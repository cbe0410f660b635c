"""The host program of an OpenCL kernel: what its tree says of sizes, arguments and the index space; nothing is run.

The values are those of macros and of variables that are given a constant once. ``clSetKernelArg(k, 2, sizeof(int),
&n)`` tells argument 2 of the kernel, ``clEnqueueNDRangeKernel`` the global size.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pycparser import c_ast, c_parser

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.frontend.c.preprocess import preprocess
from dse.frontend.opencl.integers import UnknownValue, integer_of
from dse.frontend.opencl.parse import syntax_error

_TYPES = re.compile(r"\b(?:cl_\w+|u?int(?:8|16|32|64|ptr)_t|FILE|clock_t|time_t|bool|uint|ulong|ushort|uchar)\b")
_KNOWN = ("size_t", "ptrdiff_t")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\S", re.M)
_ARGUMENT, _RANGE = "clSetKernelArg", "clEnqueueNDRangeKernel"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProgram:
    """``values``: by name. ``arguments``: of the kernel, by their number. ``global_size``: by dimension, if known."""

    values: Mapping[str, int]
    arguments: Mapping[int, int]
    global_size: tuple[int, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Gathers values while it walks the tree; a variable that is given two of them has none."""

    values: dict[str, int]
    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    calls: list[tuple[str, list[c_ast.Node]]] = field(default_factory=list)

    def visit(self, node: c_ast.Node) -> None:
        """Read a node and what is below it, in source order."""
        match node:
            case c_ast.Decl(name=str() as name) if node.init is not None:
                self._given(name, node.init)
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                self._given(name, node.rvalue if node.op == "=" else None)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=c_ast.ID(name=name)):
                self._lose(name)
            case c_ast.FuncCall(name=c_ast.ID(name=str() as name)) if name in (_ARGUMENT, _RANGE):
                self.calls.append((name, [] if node.args is None else node.args.exprs))
        for _, child in node.children():
            self.visit(child)

    def _given(self, name: str, value: c_ast.Node | None) -> None:
        if isinstance(value, c_ast.InitList):
            try:
                self.lists[name] = tuple(integer_of(one, self.values) for one in value.exprs)
            except UnknownValue:
                self.lists.pop(name, None)
            return
        try:
            found = integer_of(value, self.values)
        except UnknownValue:
            self._lose(name)
            return
        if self.values.get(name, found) != found:
            self._lose(name)
        elif name not in self.lost:
            self.values[name] = found

    def _lose(self, name: str) -> None:
        self.lost.add(name)
        self.values.pop(name, None)


def read_host(path: str, text: str, defines: Mapping[str, str]) -> HostProgram:
    """Return what a host program in C says. ``defines`` win over its macros.

    Raises ``SourceError``, ``FormatError`` where this is no C that can be read.
    """
    gather = Gatherer()
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    source = preprocess(path, text, {name: value for name, value in defines.items() if name in words}, gather)
    gather.fail_on_errors()
    types = dict.fromkeys([*_KNOWN, *_TYPES.findall(source.text)])
    declared = " ".join(f"typedef int {name};" for name in types if f"typedef {name}" not in source.text)
    try:
        tree = c_parser.CParser().parse(f"{declared} {source.text}", path)
    except c_parser.ParseError as cause:
        raise syntax_error(
            path, str(cause), "this is no C", "a host program in C; else give --define NAME=VALUE"
        ) from (cause)
    except RecursionError:
        raise FormatError("this is nested too deeply", span=file_span(path, 0), expected="a host program") from None
    reader = _Reader(_macros(path, text, defines))
    reader.visit(tree)
    return HostProgram(values=reader.values, arguments=_arguments(reader), global_size=_global_size(reader))


def _macros(path: str, text: str, defines: Mapping[str, str]) -> dict[str, int]:
    """Return the macros that are whole numbers, used in the file or not."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    given = {name: value for name, value in defines.items() if name in words}
    asked = f"{text}\n{' '.join(dict.fromkeys(_MACRO.findall(text)))}\n"
    found = preprocess(path, asked, given, Gatherer()).constants
    return {name: value for name, value in found.items() if isinstance(value, int)}


def _arguments(reader: _Reader) -> dict[int, int]:
    """Return the arguments of kernels that are told by the address of a variable whose value is known."""
    found: dict[int, int] = {}
    for name, given in reader.calls:
        if name != _ARGUMENT or len(given) < 4:
            continue
        value = given[3].expr if isinstance(given[3], c_ast.Cast) else given[3]
        match value:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=of)) if of in reader.values:
                try:
                    found[integer_of(given[1], reader.values)] = reader.values[of]
                except UnknownValue:
                    continue
    return found


def _global_size(reader: _Reader) -> tuple[int, ...]:
    """Return the global size of the last kernel that is started."""
    for name, given in reversed(reader.calls):
        if name == _RANGE and len(given) > 4 and isinstance(given[4], c_ast.ID):
            return reader.lists.get(given[4].name, ())
    return ()
