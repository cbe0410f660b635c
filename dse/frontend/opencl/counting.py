"""What one work-item of an OpenCL kernel does: elements moved between global, local and private memory; operations.

Loops are followed as often as they run, by what macros and given values say; in the bounds of inner loops the variable
of an outer one is the middle of its range. Both branches of a condition count.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pycparser import c_ast

from dse.base.errors import FormatError
from dse.frontend.opencl.integers import OPERATORS, UnknownValue, integer_of
from dse.frontend.opencl.parse import FLOATS, OpenClFile, element_bytes, span_of, type_name
from dse.model.breakdown import KernelCounts

_MOST_ROUNDS = 1_000_000
_ARITHMETIC = ("+", "-", "*", "/")
_TWO = ("fma", "mad", "native_mad")
_NO_WORK = ("barrier", "mem_fence", "read_mem_fence", "write_mem_fence")
_INDICES = ("get_global_id", "get_local_id", "get_group_id")


@dataclass(slots=True)
class _Counter:
    """Counts while it walks a kernel."""

    file: OpenClFile
    values: dict[str, int]
    types: dict[str, str] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=dict)
    operations: int = 0
    moves: dict[tuple[str, str], int] = field(default_factory=dict)
    local_bytes: int = 0
    dims: int = 1
    notes: dict[str, None] = field(default_factory=dict)

    # Statements -------------------------------------------------------------------------------------------------------

    def statement(self, node: c_ast.Node | None, times: int) -> None:  # ways: one case for each statement of C
        """Count a statement that is executed so often."""
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Break() | c_ast.Continue():
                pass
            case c_ast.Compound():
                for item in node.block_items or ():
                    self.statement(item, times)
            case c_ast.DeclList():
                for item in node.decls:
                    self.statement(item, times)
            case c_ast.Decl():
                self._declaration(node, times)
            case c_ast.For():
                self._for(node, times)
            case c_ast.If():
                self.notes["both branches of conditions count"] = None
                self.read(node.cond, times)
                self.statement(node.iftrue, times)
                self.statement(node.iffalse, times)
            case c_ast.Return():
                if node.expr is not None:
                    self.read(node.expr, times)
            case c_ast.While() | c_ast.DoWhile() | c_ast.Switch() | c_ast.Goto() | c_ast.Label():
                raise self._error(node, "how often this is executed is not known", "expected for loops and conditions")
            case _:
                self.read(node, times)

    def _declaration(self, node: c_ast.Decl, times: int) -> None:
        kind = type_name(node.type)
        self.types[node.name] = kind
        space = self.file.spaces.get(node.name, "private")
        self.spaces[node.name] = space
        if space == "local" and isinstance(node.type, c_ast.ArrayDecl):
            self.local_bytes += self._bytes(node.type, kind)
        if node.init is not None:
            moved = self.read(node.init, times)
            self._known(node.name, node.init)
            self._move(moved, "private", times)

    def _known(self, name: str, value: c_ast.Node) -> None:
        """Keep the value of a variable where it is known, forget it where it is not."""
        try:
            self.values[name] = self.integer(value)
        except UnknownValue:
            self.values.pop(name, None)

    def _bytes(self, array: c_ast.Node, kind: str) -> int:
        size, node = element_bytes(kind), array
        while isinstance(node, c_ast.ArrayDecl):
            try:
                size *= self.integer(node.dim)
            except UnknownValue:
                raise self._error(
                    array, "the size of a local array is not known", "give its macro by --define"
                ) from None
            node = node.type
        return size

    def _for(self, node: c_ast.For, times: int) -> None:
        name, rounds = self._rounds(node)
        self.statement(node.stmt, times * len(rounds))
        if name is not None:
            self.values.pop(name, None)

    def _rounds(self, node: c_ast.For) -> tuple[str | None, list[int]]:
        """Return the variable of a loop and its values; it has the middle one from now on."""
        name, start = _loop_start(node)
        if name is None or start is None or node.cond is None or node.next is None:
            raise self._error(
                node, "this loop has no variable with a beginning, an end and a step", "expected a counted loop"
            )
        try:
            self.values[name] = self.integer(start)
            self.types.setdefault(name, "int")
            found: list[int] = []
            while self.integer(node.cond):
                found.append(self.values[name])
                self.values[name] = self._stepped(node.next, name)
                if len(found) > _MOST_ROUNDS or self.values[name] == found[-1]:
                    raise self._error(node, f"this loop runs more than {_MOST_ROUNDS:,} rounds", "give another size")
        except UnknownValue:
            raise self._error(
                node, "how often this loop runs is not known", "give the values of its bounds by --define NAME=VALUE"
            ) from None
        if found:
            self.values[name] = found[len(found) // 2]
        return name, found

    def _stepped(self, step: c_ast.Node, name: str) -> int:
        match step:
            case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=of)) if of == name:
                return self.values[name] + 1
            case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=of)) if of == name:
                return self.values[name] - 1
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=of)) if of == name:
                return self.integer(step.rvalue)
            case c_ast.Assignment(lvalue=c_ast.ID(name=of)) if of == name and step.op[:-1] in OPERATORS:
                return int(OPERATORS[step.op[:-1]](self.values[name], self.integer(step.rvalue)))
        raise UnknownValue

    def integer(self, node: c_ast.Node | None) -> int:
        """Return the value of an integer expression. Raises ``UnknownValue``."""
        return integer_of(node, self.values)

    # Expressions ------------------------------------------------------------------------------------------------------

    def read(self, node: c_ast.Node, times: int) -> str | None:  # ways: one case for each expression of C
        """Count an expression; return the memory that its value comes from directly, None where it is computed."""
        match node:
            case c_ast.ArrayRef():
                return self._element(node, times, reads=True)
            case c_ast.Assignment():
                self._assignment(node, times)
            case c_ast.UnaryOp(op="*"):
                self.read(node.expr, times)
                return self._space(node.expr)
            case c_ast.BinaryOp():
                for side in (node.left, node.right):
                    self._move(self.read(side, times), "private", times)
                if node.op in _ARITHMETIC:
                    self.operations += times * self._width(node)
            case c_ast.FuncCall():
                self._call(node, times)
            case c_ast.Cast():
                return self.read(node.expr, times)
            case c_ast.StructRef():
                return self.read(node.name, times)
            case c_ast.Constant() | c_ast.ID():
                pass
            case _:
                for _, child in node.children():
                    if not isinstance(child, c_ast.Typename):
                        self._move(self.read(child, times), "private", times)
        return None

    def _assignment(self, node: c_ast.Assignment, times: int) -> None:
        source, target = self.read(node.rvalue, times), self._target(node.lvalue, times)
        if node.op != "=":
            self._move(target, "private", times)
            if node.op[:-1] in _ARITHMETIC:
                self.operations += times * max(self._width(node.lvalue), self._width(node.rvalue))
            self._move(source, "private", times)
            source = None
        self._move(source, target or "private", times)
        if isinstance(node.lvalue, c_ast.ID):
            self.values.pop(node.lvalue.name, None)

    def _target(self, node: c_ast.Node, times: int) -> str | None:
        match node:
            case c_ast.ArrayRef():
                return self._element(node, times, reads=False)
            case c_ast.StructRef():
                return self._target(node.name, times)
            case c_ast.UnaryOp(op="*"):
                return self._space(node.expr)
        return None

    def _element(self, node: c_ast.ArrayRef, times: int, *, reads: bool) -> str | None:
        array: c_ast.Node = node
        while isinstance(array, c_ast.ArrayRef):
            self._move(self.read(array.subscript, times), "private", times)
            array = array.name
        del reads  # both ways subscripts are computed and the memory is that of the array
        return self._space(array)

    def _space(self, node: c_ast.Node) -> str | None:
        while not isinstance(node, c_ast.ID):
            inner = [child for _, child in node.children()]
            if not inner:
                return None
            node = inner[0]
        space = self.spaces.get(node.name, "private")
        return None if space == "private" else space

    def _move(self, source: str | None, target: str, times: int) -> None:
        if source is None and target == "private":
            return
        pair = source or "private", target
        self.moves[pair] = self.moves.get(pair, 0) + times

    def _call(self, node: c_ast.FuncCall, times: int) -> None:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        arguments = [] if node.args is None else node.args.exprs
        if name in _INDICES and arguments:
            self._axis(arguments[0])
        if name in _NO_WORK or name in _INDICES:
            return
        for argument in arguments:
            self._move(self.read(argument, times), "private", times)
        width = max((self._width(argument) for argument in arguments), default=0)
        self.operations += times * width * (2 if name in _TWO else 1)

    def _axis(self, node: c_ast.Node) -> None:
        with contextlib.suppress(UnknownValue):
            self.dims = max(self.dims, self.integer(node) + 1)

    def _width(self, node: c_ast.Node) -> int:
        """Return the floating-point numbers of the value of an expression, 0 for integers."""
        match node:
            case c_ast.Constant():
                return int(node.type in ("float", "double"))
            case c_ast.ID():
                return _float_width(self.types.get(node.name, "int"))
            case c_ast.ArrayRef():
                return self._width(node.name)
            case c_ast.StructRef():
                return min(1, self._width(node.name))
            case c_ast.BinaryOp():
                return max(self._width(node.left), self._width(node.right))
            case c_ast.Cast():
                return _float_width(type_name(node.to_type.type))
            case c_ast.UnaryOp() | c_ast.TernaryOp() | c_ast.FuncCall() | c_ast.ExprList():
                return max((self._width(child) for _, child in node.children()), default=0)
        return 0

    def _error(self, node: c_ast.Node, message: str, expected: str) -> FormatError:
        return FormatError(message, span=span_of(self.file.path, node), expected=expected)


def _float_width(kind: str) -> int:
    base = kind.rstrip("0123456789")
    return int(kind[len(base) :] or 1) if base in FLOATS else 0


def _loop_start(node: c_ast.For) -> tuple[str | None, c_ast.Node | None]:
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl() as declared]):
            return declared.name, declared.init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as name):
            return name.name, node.init.rvalue
    return None, None


def count_kernel(file: OpenClFile, kernel: str | None, values: Mapping[str, int]) -> KernelCounts:
    """Return what one work-item of a kernel does. ``values``: of its arguments that are integers.

    Raises:
        FormatError: a loop has bounds that are not known. OptionError: there is no such kernel.
    """
    function = file.function(kernel)
    counter = _Counter(file=file, values={**file.constants, **values})
    for parameter in () if function.decl.type.args is None else function.decl.type.args.params:
        if isinstance(parameter, c_ast.Decl):
            counter.types[parameter.name] = type_name(parameter.type)
            counter.spaces[parameter.name] = file.spaces.get(parameter.name, "private")
    counter.statement(function.body, 1)
    moves = counter.moves
    return KernelCounts(
        kernel=function.decl.name,
        dims=min(2, counter.dims),
        operations=counter.operations,
        global_to_local=moves.get(("global", "local"), 0),
        local_to_private=moves.get(("local", "private"), 0) + moves.get(("local", "global"), 0),
        private_to_local=moves.get(("private", "local"), 0),
        global_to_private=moves.get(("global", "private"), 0),
        private_to_global=moves.get(("private", "global"), 0) + moves.get(("local", "global"), 0),
        local_bytes=counter.local_bytes,
        notes=tuple(counter.notes),
    )
