"""Imports of units: loading them by qualified name, resolving single and wildcard imports, finding import cycles."""

from collections.abc import Callable
from enum import Enum

from dse.frontend.cal import ast
from dse.frontend.cal.names import FileScope, Reporter, file_scope, nearest


class BrokenUnit(Enum):
    """Stands for a unit whose file is there and has errors, which are reported."""

    BROKEN = "broken"


UnitLoader = Callable[[str], ast.CalFile | BrokenUnit | None]
"""Returns the unit with a qualified name (``std.util.Math``), or None when the source folders do not have it."""


class UnitScopes:
    """The files that one actor or unit refers to, each as one scope, with their imports resolved."""

    def __init__(self, units: UnitLoader, reporter: Reporter) -> None:
        self._units = units
        self._reporter = reporter
        self._scopes: dict[str, FileScope | None] = {}
        self._path: list[str] = []
        self._broken: set[str] = set()
        self._actors: set[str] = set()

    def find(self, name: str) -> FileScope | None:
        """Return the scope of the unit with a qualified name, or None when there is none (nothing is reported)."""
        if name not in self._scopes:
            file = self._units(name)
            if file is BrokenUnit.BROKEN:
                self._broken.add(name)
                self._scopes[name] = None
            elif file is None or not isinstance(file.entity, ast.UnitDecl):
                self._scopes[name] = None
                if file is not None:
                    self._actors.add(name)
            else:
                self._scopes[name] = scope = file_scope(file, self._reporter)
                self._resolve(scope, name)
        return self._scopes[name]

    def root(self, file: ast.CalFile) -> FileScope:
        """Return the scope of the actor or unit being lowered; reports imports that lead nowhere."""
        scope = file_scope(file, self._reporter)
        self._scopes[scope.qualified_name] = scope
        self._resolve(scope, scope.qualified_name)
        return scope

    def _resolve(self, scope: FileScope, name: str) -> None:
        self._path.append(name)
        for declaration in scope.file.imports:
            unit = declaration.name if declaration.wildcard else declaration.name.rpartition(".")[0]
            if unit in self._path:
                chain = " -> ".join(f"'{n}'" for n in [*self._path[self._path.index(unit) :], unit])
                self._reporter.error(f"cyclic import: {chain}", declaration.span, "remove one of the imports")
                scope.incomplete = True
                continue
            imported = self.find(unit)
            if imported is None and unit in self._broken:
                scope.incomplete = True
            elif imported is None:
                self._report_missing(unit, declaration)
            elif declaration.wildcard:
                scope.wildcards.append(imported)
            else:
                self._import_member(scope, imported, declaration)
        self._path.pop()

    def _import_member(self, scope: FileScope, unit: FileScope, declaration: ast.ImportDecl) -> None:
        member = declaration.name.rpartition(".")[2]
        if unit.member(member) is None:
            known = [*unit.variables, *unit.functions, *unit.procedures]
            message = f"the unit '{unit.qualified_name}' declares no '{member}'"
            self._reporter.error(message, declaration.span, nearest(member, known))
            return
        before = scope.singles.setdefault(member, unit)
        if before is not unit:
            message = f"'{member}' is imported from '{before.qualified_name}' already, which is the one that is meant"
            self._reporter.warning(
                message, declaration.span, "remove one of the imports; a reference may name its unit"
            )

    def _report_missing(self, unit: str, declaration: ast.ImportDecl) -> None:
        hint = "a unit is the file of that name below a source folder of the project, or of one that it refers to"
        message = f"cannot import the unit '{unit}'"
        if unit in self._actors:
            self._reporter.error(f"{message}: it is an actor", declaration.span, "move what both need into a unit")
        elif not unit:
            message = f"'{declaration.name}' is no member of a unit"
            self._reporter.error(message, declaration.span, "write '.*' to import all members of a unit")
        elif declaration.wildcard:
            # Applications import units that are gone and use nothing of them; a name that is used is reported there.
            self._reporter.warning(message, declaration.span, hint)
        else:
            self._reporter.error(message, declaration.span, f"{hint}; write '.*' to import all members of a unit")
