"""Names: symbols, scopes, files with their imports, unique names, and the reporter of errors (cal.md 2.4).

Owns who is called what and where it is seen. Owns no types beyond carrying them.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal import ast
from dse.program import ir
from dse.program.types import Type

LONGEST_LISTING = 12
"""With more known names than this, an error lists only those near to the unknown one."""


class Reporter:
    """Reports into a gatherer, each finding once: a unit that many actors use is lowered for each of them."""

    def __init__(self, gather: Gatherer) -> None:
        self._gather = gather
        self._seen = {(d.message, d.span) for d in gather.diagnostics}
        self.failed = False

    def error(self, message: str, span: Span, expected: str = "") -> None:
        """Record an error, unless the gatherer has it."""
        self.failed = True
        if (message, span) not in self._seen:
            self._seen.add((message, span))
            self._gather.error(message, span, expected)

    def warning(self, message: str, span: Span, expected: str = "") -> None:
        """Record a warning, unless the gatherer has it."""
        if (message, span) not in self._seen:
            self._seen.add((message, span))
            self._gather.warning(message, span, expected)

    def unknown(self, message: str, span: Span, expected: str, file: "FileScope") -> None:
        """Record that a name is unknown, unless a unit with errors, which are reported, may declare it."""
        if file.incomplete:
            self.failed = True
        else:
            self.error(message, span, expected)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the known names near to ``name``, all of them when few are known, or nothing."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    return "known: " + ", ".join(names) if 0 < len(names) <= LONGEST_LISTING else ""


def number_text(value: int) -> str:
    """Return an integer as a message shows it."""
    if value.bit_length() <= 128:
        return str(value)
    return f"about {'-' if value < 0 else ''}2^{value.bit_length() - 1}"


class NameSupply:
    """Gives each declared thing of one actor a name that nothing else has: ``x``, ``x_1``, ``x_2``, ..."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Return ``name``, or with the first free number."""
        candidate = name
        number = self._next.get(name, 1)
        while candidate in self._taken:
            candidate = f"{name}_{number}"
            number += 1
        self._next[name] = number
        self._taken.add(candidate)
        return candidate


@dataclass(slots=True, eq=False, kw_only=True)
class LocalVariable:
    """A variable of an action, function, procedure, foreach or generator. ``type`` None: its declaration is wrong."""

    name: str
    source_name: str
    kind: ir.VariableKind
    assignable: bool
    type: Type | None
    span: Span
    initial: ir.Expr | None = None
    """The value of a constant local: sizes may use it."""

    def variable(self, of: Type) -> ir.Variable:
        """Return the IR variable."""
        return ir.Variable(self.name, self.source_name, of, self.kind, None, self.span)


@dataclass(slots=True, eq=False, kw_only=True)
class GlobalVariable:
    """A state variable, actor parameter or unit constant. ``Symbols`` fills type, initial and value on demand."""

    source_name: str
    declaration: ast.VarDecl
    file: "FileScope"
    kind: ir.VariableKind
    assignable: bool
    is_parameter: bool = False
    name: str = ""
    """The unique name; empty until something of the actor refers to it."""


@dataclass(slots=True, eq=False, kw_only=True)
class RoutineSymbol:
    """A function or procedure of a file."""

    source_name: str
    declaration: ast.FunctionDecl | ast.ProcedureDecl
    file: "FileScope"
    name: str = ""

    @property
    def is_function(self) -> bool:
        """Whether it is a function."""
        return isinstance(self.declaration, ast.FunctionDecl)

    @property
    def is_native(self) -> bool:
        """Whether its body is C."""
        return any(a.name == "native" for a in self.declaration.annotations)


_Declared = ast.VarDecl | ast.FunctionDecl | ast.ProcedureDecl
VariableSymbol = LocalVariable | GlobalVariable
Member = GlobalVariable | RoutineSymbol


@dataclass(slots=True, eq=False, kw_only=True)
class FileScope:
    """The declarations of one file by name, and the units that it imports.

    Variables, functions and procedures have a name space each, as in Orcc; the checks forbid one name twice.
    """

    file: ast.CalFile
    variables: dict[str, GlobalVariable] = field(default_factory=dict)
    functions: dict[str, RoutineSymbol] = field(default_factory=dict)
    procedures: dict[str, RoutineSymbol] = field(default_factory=dict)
    singles: dict[str, "FileScope"] = field(default_factory=dict)
    """Single imports: the name and the unit that declares it."""
    wildcards: list["FileScope"] = field(default_factory=list)
    incomplete: bool = False
    """Whether a unit that it imports has errors, so that nobody knows what that declares."""

    @property
    def qualified_name(self) -> str:
        """The package and the name of the actor or unit."""
        return qualified_name(self.file)

    def providers(self, name: str) -> list["FileScope"]:
        """Return the scopes that ``name`` may come from, nearest first: the file, single imports, wildcard imports."""
        single = self.singles.get(name)
        return [self, *([single] if single is not None else []), *self.wildcards]

    def find_variable(self, name: str) -> GlobalVariable | None:
        """Return the variable that ``name`` means in this file."""
        own = self.variables.get(name)
        if own is not None:
            return own
        return next((s.variables[name] for s in self.providers(name) if name in s.variables), None)

    def find_routine(self, name: str, *, function: bool) -> RoutineSymbol | None:
        """Return the function or procedure that ``name`` means in this file."""
        for scope in self.providers(name):
            found = (scope.functions if function else scope.procedures).get(name)
            if found is not None:
                return found
        return None

    def rivals(self, name: str) -> tuple[str, ...]:
        """Return the units that a name may come from by wildcards, where nothing nearer declares it and several do."""
        if self.member(name) is not None or name in self.singles or len(self.wildcards) < 2:
            return ()
        units = dict.fromkeys(s.qualified_name for s in self.wildcards if s.member(name) is not None)
        return tuple(units) if len(units) > 1 else ()

    def member(self, name: str) -> Member | None:
        """Return what the file itself declares under ``name``."""
        return self.variables.get(name) or self.functions.get(name) or self.procedures.get(name)

    def variable_names(self) -> list[str]:
        """Return all names of variables seen in the file."""
        scopes = [self, *self.singles.values(), *self.wildcards]
        return [name for scope in scopes for name in scope.variables]

    def routine_names(self, *, function: bool) -> list[str]:
        """Return all names of functions or procedures seen in the file."""
        scopes = [self, *self.singles.values(), *self.wildcards]
        return [name for scope in scopes for name in (scope.functions if function else scope.procedures)]


class LocalScope:
    """A lexical scope inside a file: locals by name, the enclosing scope, and the file at the root."""

    __slots__ = ("file", "outer", "symbols")

    def __init__(self, file: FileScope, outer: "LocalScope | None" = None) -> None:
        self.file = file
        self.outer = outer
        self.symbols: dict[str, LocalVariable] = {}

    def inner(self) -> "LocalScope":
        """Return a new scope inside this one."""
        return LocalScope(self.file, self)

    def find(self, name: str) -> VariableSymbol | None:
        """Return the variable that ``name`` means here."""
        scope: LocalScope | None = self
        while scope is not None:
            symbol = scope.symbols.get(name)
            if symbol is not None:
                return symbol
            scope = scope.outer
        return self.file.find_variable(name)

    def known_names(self) -> list[str]:
        """Return all names of variables seen here."""
        names = self.file.variable_names()
        scope: LocalScope | None = self
        while scope is not None:
            names += scope.symbols
            scope = scope.outer
        return names


def qualified_name(file: ast.CalFile) -> str:
    """Return ``package.Entity``."""
    return f"{file.package}.{file.entity.name}" if file.package else file.entity.name


def file_scope(file: ast.CalFile, reporter: Reporter) -> FileScope:
    """Return the scope of a file with its declarations, imports still to be resolved; reports duplicate names."""
    scope = FileScope(file=file)
    entity = file.entity
    parameters = entity.parameters if isinstance(entity, ast.ActorDecl) else ()
    declared: tuple[_Declared, ...] = (*parameters, *entity.variables, *entity.functions, *entity.procedures)
    for one in _new_names(declared, reporter):
        if isinstance(one, ast.VarDecl):
            parameter = any(one is other for other in parameters)
            fixed = parameter or one.constant or isinstance(entity, ast.UnitDecl)
            scope.variables[one.name] = _global(one, scope, fixed=fixed, is_parameter=parameter)
        else:
            of = scope.functions if isinstance(one, ast.FunctionDecl) else scope.procedures
            of[one.name] = RoutineSymbol(source_name=one.name, declaration=one, file=scope)
    return scope


def _global(declaration: ast.VarDecl, file: FileScope, *, fixed: bool, is_parameter: bool = False) -> GlobalVariable:
    return GlobalVariable(
        source_name=declaration.name,
        declaration=declaration,
        file=file,
        kind="constant" if fixed else "state",
        assignable=not fixed,
        is_parameter=is_parameter,
    )


def _new_names(declared: tuple[_Declared, ...], reporter: Reporter) -> list[_Declared]:
    """Return the declarations whose names are new in the order of the text, as they are given; report the others."""
    first: dict[str, _Declared] = {}
    for one in sorted(declared, key=lambda d: (d.span.line, d.span.column)):
        before = first.setdefault(one.name, one)
        if before is not one:
            hint = f"rename one; the first declaration is in line {before.span.line}"
            reporter.error(f"'{one.name}' is declared twice", one.span, hint)
    return [one for one in declared if first[one.name] is one]
