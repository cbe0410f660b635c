"""What a check found: one result a file, and all of a run together."""

from dataclasses import dataclass
from typing import Literal

from dse.base.errors import Diagnostic

FileKind = Literal["actor", "unit", "network", "top", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How to check, as ``load_network`` understands it."""

    source_paths: tuple[str, ...] = ()
    strict: bool = False
    partial: bool = False
    natives: tuple[str, ...] = ()
    """Natives that a run will bind, by ``UNIT.FUNCTION``: of the others ``check_file`` warns that dse does not know."""


DEFAULT_OPTIONS = CheckOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What the check of one file found. ``actors``, ``classes`` and ``connections`` count the elaborated network.

    ``classes`` counts distinct actors, that is (class, parameter values).
    """

    path: str
    kind: FileKind
    diagnostics: tuple[Diagnostic, ...]
    actors: int = 0
    classes: int = 0
    connections: int = 0

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors among the diagnostics."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The checks of all files, in the order of their paths."""

    checks: tuple[FileCheck, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding once: a broken actor is found again by each network that uses it."""
        return tuple(dict.fromkeys(d for check in self.checks for d in check.diagnostics))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, each once."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, each once."""
        return tuple(d for d in self.diagnostics if d.severity == "warning")

    @property
    def tops(self) -> tuple[FileCheck, ...]:
        """The top networks."""
        return tuple(check for check in self.checks if check.kind == "top")
