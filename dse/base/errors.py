"""The errors of the project. Every error that a user can cause is a ``DseError``; the command line prints it.

An error holds diagnostics: what is wrong, where, and what to do about it. A broken invariant is an ``assert``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dse.base.rendering import render
from dse.base.source import NO_SPAN, Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding about one place. ``expected`` says what was expected or what to do; it may be empty.

    ``excerpt``: the line of the span where it stands in no file, as a text of the command line; None: the file has it.
    """

    message: str
    span: Span = NO_SPAN
    severity: Severity = "error"
    expected: str = ""
    excerpt: str | None = None


def _first_error(diagnostics: tuple[Diagnostic, ...]) -> Diagnostic:
    return next((d for d in diagnostics if d.severity == "error"), diagnostics[0])


class DseError(Exception):
    """Root of all errors that bad input, bad usage or a failing tool can cause; exit code 1 unless overridden."""

    exit_code = 1

    def __init__(self, message: str, *, span: Span = NO_SPAN, expected: str = "") -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic(message=message, span=span, expected=expected),)

    @property
    def first_error(self) -> Diagnostic:
        """What to tell where there is room for one thing: warnings that came before it are no reason."""
        return _first_error(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(map(render, self.diagnostics))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback: of what a user did, the place is in the text."""
        return str(self).splitlines()


class SourceError(DseError):
    """One or more errors in source files (CAL, XDF, C). Built from gathered diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        gathered = tuple(diagnostics)
        assert gathered, "a SourceError needs at least one diagnostic"
        super().__init__(_first_error(gathered).message)
        self.diagnostics = gathered


class FormatError(DseError):
    """A data file (weights, mapping, platform, trace, ...) is malformed or does not fit the network."""


class OptionError(DseError):
    """An option or argument has an impossible value. Exit code 2, as for wrong usage."""

    exit_code = 2


class ExecutionError(DseError):
    """Running a network failed (unknown native, corrupt input, a runtime fault in an action)."""


class BuildError(DseError):
    """A native program cannot be built: no compiler, one that is too old, or one that fails."""


class InfeasibleDesign(DseError):
    """A design point or search space admits no valid execution (pinned to a missing unit, empty space, ...)."""


class DeadlockError(DseError):
    """Every mapping asked about deadlocks. Exit code 3."""

    exit_code = 3


class ModelNotApplicable(DseError):
    """A cost model does not cover a kernel; the message says why."""
