"""The host program of an OpenCL kernel: what its tree says of sizes, arguments and the index space; nothing is run.

The values are those of macros and of variables that are given a constant once, and whose address goes to kernels alone.
``clSetKernelArg(k, 2, sizeof(int), &n)`` tells argument 2 of the kernel, ``clEnqueueNDRangeKernel`` the global size,
where all such calls tell the same: which kernel they are about is not looked at.
"""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

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
_Value = TypeVar("_Value", int, tuple[int, ...])
_ARGUMENT, _RANGE = "clSetKernelArg", "clEnqueueNDRangeKernel"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProgram:
    """``values``: by name. ``arguments``: of the kernel, by their number. ``global_size``: by dimension, if known."""

    values: Mapping[str, int]
    arguments: Mapping[int, int]
    global_size: tuple[int, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Gathers values while it walks the tree. ``lost``: names that are given two of them, and so have none."""

    values: dict[str, int]
    lost: set[str]
    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    calls: list[tuple[str, list[c_ast.Node]]] = field(default_factory=list)

    def visit(self, node: c_ast.Node) -> None:
        """Read a node and what is below it, in source order."""
        match node:
            case c_ast.Decl(name=str() as name) if node.init is not None:
                self._given(name, node.init)
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                self._given(name, node.rvalue if node.op == "=" else None)
            case (
                c_ast.Assignment(lvalue=c_ast.ArrayRef(name=c_ast.ID(name=name)))
                | c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" | "&", expr=c_ast.ID(name=name))
            ):
                self._lose(name)
            case c_ast.FuncDef(decl=c_ast.Decl(type=c_ast.FuncDecl(args=c_ast.ParamList(params=parameters)))):
                self._lose(*(getattr(parameter, "name", None) or "" for parameter in parameters))
            case c_ast.FuncCall(name=c_ast.ID(name=str() as name)) if name in (_ARGUMENT, _RANGE):
                self.calls.append((name, getattr(node.args, "exprs", [])))
        for child in _parts(node):
            self.visit(child)

    def _given(self, name: str, value: c_ast.Node | None) -> None:
        try:
            if isinstance(value, c_ast.InitList):
                self._keep(self.lists, name, tuple(integer_of(one, self.values) for one in value.exprs))
            else:
                self._keep(self.values, name, integer_of(value, self.values))
        except UnknownValue:
            self._lose(name)

    def _keep(self, known: dict[str, _Value], name: str, found: _Value) -> None:
        if known.get(name, found) != found:
            self._lose(name)
        elif name not in self.lost:
            known[name] = found

    def _lose(self, *names: str) -> None:
        for name in names:
            self.lost.add(name)
            self.values.pop(name, None)
            self.lists.pop(name, None)


def _parts(node: c_ast.Node) -> tuple[c_ast.Node, ...]:
    """Return what is below a node; not below a call that only reads what it is given the address of."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name == _ARGUMENT:
            return ()
    return tuple(child for _, child in node.children())


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
    macros = _macros(path, text, defines)
    try:
        reader = _read(c_parser.CParser().parse(f"{declared} {source.text}", path), macros)
    except c_parser.ParseError as cause:
        raise syntax_error(
            path, str(cause), "this is no C", "a host program in C; else give --define NAME=VALUE"
        ) from (cause)
    except RecursionError:
        raise FormatError("this is nested too deeply", span=file_span(path, 0), expected="a host program") from None
    return HostProgram(values=reader.values, arguments=_arguments(reader), global_size=_global_size(reader))


def _read(tree: c_ast.Node, macros: Mapping[str, int]) -> _Reader:
    """Return what a tree says: it is read until no more names are lost, as what is made of such a one is lost, too."""
    lost: set[str] = set()
    while True:
        reader = _Reader(dict(macros), set(lost))
        reader.visit(tree)
        if reader.lost == lost:
            return reader
        lost = reader.lost


def _macros(path: str, text: str, defines: Mapping[str, str]) -> dict[str, int]:
    """Return the macros that are whole numbers, used in the file or not."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    given = {name: value for name, value in defines.items() if name in words}
    asked = f"{text}\n{' '.join(dict.fromkeys(_MACRO.findall(text)))}\n"
    found = preprocess(path, asked, given, Gatherer()).constants
    return {name: value for name, value in found.items() if isinstance(value, int)}


def _arguments(reader: _Reader) -> dict[int, int]:
    """Return the arguments of kernels that are told by the address of a variable whose value is known."""
    found: dict[int, set[int | None]] = {}
    for name, given in reader.calls:
        if name != _ARGUMENT or len(given) < 4:
            continue
        value = given[3].expr if isinstance(given[3], c_ast.Cast) else given[3]
        told = None
        match value:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=of)):
                told = reader.values.get(of)
        with contextlib.suppress(UnknownValue):
            found.setdefault(integer_of(given[1], reader.values), set()).add(told)
    alike = {number: told.pop() for number, told in found.items() if len(told) == 1}
    return {number: value for number, value in alike.items() if value is not None}


def _global_size(reader: _Reader) -> tuple[int, ...]:
    """Return the global size of the kernels that are started, if it is one."""
    sizes = {
        reader.lists.get(given[4].name, ()) if isinstance(given[4], c_ast.ID) else ()
        for name, given in reader.calls
        if name == _RANGE and len(given) > 4
    }
    return sizes.pop() if len(sizes) == 1 else ()
