"""From a C file to its kernels: each outermost ``for`` of each function is one, in source order.

The result is sequential: ``parallel`` is empty and ``body`` holds the loop nest.
``dse.passes.analyses.parallel_loops`` makes threads of loops. Unsupported C is an error with its place; all errors of a
file are reported together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from dse.base.diagnostics import Gatherer, read_source
from dse.base.errors import FormatError, OptionError
from dse.base.source import Span, file_span
from dse.frontend.c.expressions import float_value
from dse.frontend.c.extents import array_extents
from dse.frontend.c.parse import CFile, parse_c
from dse.frontend.c.scope import ArraySymbol, KernelScope, Number, ScalarSymbol
from dse.frontend.c.statements import StatementLowering, assigned_names
from dse.model.kernel import ArrayInfo, Kernel, ScalarValue
from dse.program.ir import Assign, Expr, ForEach, If, Index, Load, Stmt, Variable, While
from dse.program.types import INT32, IntType, bytes_of
from dse.program.walk import expressions_of, sub_expressions, sub_statements

MAX_ARRAY_BYTES = 1 << 40
"""Arrays above this (1 TiB) are taken as a mistake in a size: no device holds them."""


def read_kernels(
    path: str,
    defines: Mapping[str, str] | None = None,
    *,
    function: str | None = None,
    tiles: Sequence[str] = (),
) -> tuple[Kernel, ...]:
    """Return the kernels of a C file at the given sizes.

    Raises FormatError where the file cannot be read, SourceError for errors in it, OptionError for an unknown function
    or an unused define.
    """
    try:
        text = read_source(path)
    except IsADirectoryError:
        raise FormatError("this is a folder, not a file", span=file_span(path, 0), expected="a C file") from None
    except OSError as error:
        raise FormatError(f"cannot read this file: {error.strerror}", span=file_span(path, 0)) from None
    if not text.strip():
        raise FormatError("the file is empty", span=file_span(path, 0), expected="a C file with a loop nest")
    if "\0" in text:
        advice = "a C file with a loop nest; if an editor shows one, save it as UTF-8"
        raise FormatError("this is a binary file", span=file_span(path, 0), expected=advice)
    return kernels_of(path, text, defines or {}, function=function, tiles=tiles)


def kernels_of(
    path: str,
    text: str,
    defines: Mapping[str, str],
    *,
    function: str | None = None,
    tiles: Sequence[str] = (),
) -> tuple[Kernel, ...]:
    """Return the kernels of the text of a C file; see ``read_kernels``."""
    file = parse_c(path, text, defines, function)
    gatherer = Gatherer()
    names = frozenset(tiles) | frozenset(_pragma_tiles(file.tree))
    try:
        kernels = [k for f in file.functions for k in _FunctionLowering(file, gatherer, f, names).kernels()]
    except RecursionError:
        expected = "split long expressions into several statements"
        raise FormatError("an expression is too long to be analysed", span=file_span(path), expected=expected) from None
    gatherer.fail_on_errors()
    _check_names(file, kernels, defines, names)
    if not kernels:
        what = f"the function {function} has" if function else f"{path} has"
        raise FormatError(f"{what} no loop nest", span=file_span(path), expected="a kernel is an outermost for loop")
    return tuple(kernels)


def _check_names(file: CFile, kernels: list[Kernel], defines: Mapping[str, str], tiles: frozenset[str]) -> None:
    """Refuse a define or tile that means nothing in the file: most often it is misspelt."""
    known = set(re.findall(r"[A-Za-z_]\w*", file.source.source)) | file.source.used
    for name in defines:
        if name.partition("(")[0] not in known:
            raise OptionError(
                f"{file.source.path} does not use {name}", expected="check the name given to --define or --over"
            )
    arrays = {a.source_name for k in kernels for a in k.arrays}
    for name in sorted(tiles - arrays):
        raise OptionError(f"there is no array {name} to be a tile", expected=f"arrays: {', '.join(sorted(arrays))}")


def _pragma_tiles(node: c_ast.Node) -> Iterator[str]:
    """Yield the arrays named in ``#pragma dse tile(...)``."""
    if isinstance(node, c_ast.Pragma):
        words = re.findall(r"\w+", str(node.string))
        if words[:2] == ["dse", "tile"]:
            yield from words[2:]
    for _, child in node.children():
        yield from _pragma_tiles(child)


class _FunctionLowering:
    """Lowers the kernels of one function."""

    def __init__(self, file: CFile, gatherer: Gatherer, function: c_ast.FuncDef, tiles: frozenset[str]) -> None:
        self.file, self.function, self.tiles = file, function, tiles
        self.scope = KernelScope(file=file, gatherer=gatherer)
        self.arrays: list[ArrayInfo] = []
        self.outer: dict[str, ScalarSymbol] = {}
        """Scalars of the function and file, by IR name."""
        self.marked: list[str] = []
        self.n_marks = 0
        self.in_scop = not file.only_scop

    def kernels(self) -> list[Kernel]:
        """Return the kernels of the function, with the sizes of pointers filled in."""
        self._parameters()
        self._globals()
        found: list[Kernel] = []
        for node in self.function.body.block_items or []:
            found += self._top_statement(node)
        if self.scope.gatherer.errors:
            return found
        extents = array_extents(self.arrays, found, self.scope.gatherer)
        many = len(found) > 1
        name = str(self.function.decl.name)
        return [self._finish(k, extents, f"{name}.{i}" if many else name) for i, k in enumerate(found, 1)]

    def _finish(self, kernel: Kernel, extents: Mapping[str, tuple[int, ...]], name: str) -> Kernel:
        arrays = tuple(replace(a, dims=extents.get(a.name, a.dims)) for a in kernel.arrays)
        for array in arrays:
            size = array.elements * bytes_of(array.element)
            if size > MAX_ARRAY_BYTES:
                self.scope.error(
                    f"{array.source_name} would need {size} bytes", array.span, "give smaller sizes with --define"
                )
        return replace(kernel, name=name, arrays=arrays, sizes=tuple(self.scope.sizes.items()))

    # What stands around the loops -------------------------------------------------------------------------------------

    def _parameters(self) -> None:
        declared = self.function.decl.type.args
        parameters = [p for p in (declared.params if declared is not None else []) if isinstance(p, c_ast.Decl)]
        scalars = [p for p in parameters if not isinstance(p.type, c_ast.ArrayDecl | c_ast.PtrDecl)]
        for parameter in scalars:  # before the arrays: they may be sizes
            self._outer_scalar(parameter)
        for parameter in parameters:
            if parameter not in scalars:
                self._outer_array(parameter)

    def _globals(self) -> None:
        for node in self.file.tree.ext:
            if not isinstance(node, c_ast.Decl) or isinstance(node.type, c_ast.FuncDecl) or node.name is None:
                continue
            if self.scope.find(node.name) is not None or node.name not in _identifiers(self.function.body):
                continue
            if isinstance(node.type, c_ast.ArrayDecl | c_ast.PtrDecl):
                self._outer_array(node)
            else:
                self._outer_scalar(node)

    def _outer_array(self, node: c_ast.Decl) -> None:
        shared = node.name in self.tiles or "register" in (node.storage or [])
        info = StatementLowering(self.scope, self.tiles, []).array_info(node, "shared" if shared else "global")
        if info is not None:
            self.arrays.append(info)
            self.scope.declare(node.name, ArraySymbol(info=info))

    def _outer_scalar(self, node: c_ast.Decl) -> None:
        of = self.scope.scalar_type(node.type) or INT32
        span = self.file.span(node)
        name = self.scope.unique(node.name)
        symbol = ScalarSymbol(variable=Variable(name, node.name, of, "parameter", None, span))
        if node.init is not None:
            symbol.value = self._constant(node.init)
        self.outer[name] = symbol
        self.scope.declare(node.name, symbol)

    def _constant(self, node: c_ast.Node) -> Number | None:
        match node:
            case c_ast.Constant() if "float" in node.type or "double" in node.type:
                return float_value(str(node.value))
            case c_ast.UnaryOp(op="-"):
                value = self._constant(node.expr)
                return None if value is None else -value
            case _:
                return StatementLowering(self.scope, self.tiles, []).expressions.constant_value(node)

    def _top_statement(self, node: c_ast.Node) -> Iterator[Kernel]:
        """Yield the kernels of a statement outside loops; assignments of constants are remembered."""
        match node:
            case c_ast.For():
                if self.in_scop:
                    yield self._kernel(node)
            case c_ast.Compound() | c_ast.DeclList():
                for _, inner in node.children():
                    yield from self._top_statement(inner)
            case c_ast.Decl():
                self._outer_declaration(node)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
                self._outer_assignment(name, node.rvalue)
            case c_ast.Pragma():
                self._pragma(node)
            case _:
                self._other(node)

    def _outer_declaration(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.ArrayDecl):
            self._outer_array(node)
        else:
            self._outer_scalar(node)

    def _outer_assignment(self, name: str, value: c_ast.Node) -> None:
        symbol = self.scope.find(name)
        if isinstance(symbol, ScalarSymbol):
            symbol.value, symbol.stale = self._constant(value), False

    def _pragma(self, node: c_ast.Pragma) -> None:
        text = str(node.string).strip()
        if text == "scop":
            self.in_scop = True
        elif text == "endscop":
            self.in_scop = not self.file.only_scop
        else:
            lowering = StatementLowering(self.scope, self.tiles, [])
            list(lowering.statement(node))
            self.marked += lowering.marked
            self.n_marks = max(self.n_marks, lowering.n_marks)

    def _other(self, node: c_ast.Node) -> None:
        """Statements outside loops are the host's; loops hidden in them cannot be kernels."""
        if isinstance(node, c_ast.While | c_ast.DoWhile | c_ast.If | c_ast.Switch | c_ast.Goto | c_ast.Label) and any(
            True for _ in _loops(node)
        ):
            self.scope.error(
                "a loop nest inside this statement is not a kernel",
                node,
                "make the for loop the outermost statement of a function",
            )
        for name in assigned_names(node):
            symbol = self.scope.find(name)
            if isinstance(symbol, ScalarSymbol):
                symbol.value = None

    # Kernels ----------------------------------------------------------------------------------------------------------

    def _kernel(self, node: c_ast.For) -> Kernel:
        for name in assigned_names(node):
            symbol = self.scope.find(name)
            if isinstance(symbol, ScalarSymbol):
                symbol.value = None
        local: list[ArrayInfo] = []
        lowering = StatementLowering(self.scope, self.tiles, local, marked=list(self.marked), n_marks=self.n_marks)
        body = lowering.block([node])
        self.marked, self.n_marks = [], 0
        return Kernel(
            name="",
            function=str(self.function.decl.name),
            path=self.file.source.path,
            arrays=(*self.arrays, *local),
            scalars=self._scalars(body),
            parallel=(),
            how_parallel="",
            body=body,
            span=self.file.span(node),
            marked=tuple(lowering.marked),
        )

    def _scalars(self, body: tuple[Stmt, ...]) -> tuple[ScalarValue, ...]:
        """Return the outer scalars that the body uses; one that steers it must have a value."""
        used = dict.fromkeys(_scalar_names(body))
        assigned = {s.name for s in sub_statements(body) if isinstance(s, Assign)}
        steering: dict[str, Span] = {}
        for load in _steering_loads(body):
            steering.setdefault(load.name, load.span)
        found: list[ScalarValue] = []
        for name in used:
            symbol = self.outer.get(name)
            if symbol is None:
                continue
            of = symbol.variable
            if name in steering and name not in assigned and isinstance(of.type, IntType):
                hint = f"give it with --define {of.source_name}=NUMBER"
                self.scope.error(f"the value of {of.source_name} is needed and not known", steering[name], hint)
            found.append(ScalarValue(variable=of, value=1, assumed=name not in assigned))
        return tuple(found)


def _identifiers(node: c_ast.Node) -> set[str]:
    found = {str(node.name)} if isinstance(node, c_ast.ID) else set()
    for _, child in node.children():
        found |= _identifiers(child)
    return found


def _loops(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, c_ast.For):
        yield node
    for _, child in node.children():
        yield from _loops(child)


def _scalar_names(body: tuple[Stmt, ...]) -> Iterator[str]:
    for statement in sub_statements(body):
        if isinstance(statement, Assign) and not statement.indices:
            yield statement.name
        for expression in expressions_of(statement):
            yield from (e.name for e in sub_expressions(expression) if isinstance(e, Load))


def _steering_loads(body: tuple[Stmt, ...]) -> Iterator[Load]:
    """Yield the loads of scalars in bounds, conditions and subscripts."""
    for statement in sub_statements(body):
        steering = list(_deciding(statement))
        for expression in expressions_of(statement):
            for part in sub_expressions(expression):
                if isinstance(part, Index):
                    steering += part.indices
        for expression in steering:
            yield from (e for e in sub_expressions(expression) if isinstance(e, Load))


def _deciding(statement: Stmt) -> tuple[Expr, ...]:
    """Return the bounds, the condition or the subscripts of a statement itself."""
    match statement:
        case ForEach():
            return (statement.low, statement.high)
        case If() | While():
            return (statement.condition,)
        case Assign():
            return statement.indices
        case _:
            return ()
