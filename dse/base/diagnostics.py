"""Gathering of several diagnostics before failing; ``dse.base.rendering`` makes text of them."""

from collections.abc import Iterable

from dse.base.errors import Diagnostic, SourceError
from dse.base.rendering import read_source as read_source
from dse.base.rendering import render as render
from dse.base.rendering import render_all as render_all
from dse.base.source import Span


class Gatherer:
    """Collects diagnostics so that one run reports everything wrong with a file."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(self, message: str, span: Span, expected: str = "") -> None:
        """Record an error."""
        self.diagnostics.append(Diagnostic(message=message, span=span, expected=expected))

    def warning(self, message: str, span: Span, expected: str = "") -> None:
        """Record a warning."""
        self.diagnostics.append(Diagnostic(message=message, span=span, severity="warning", expected=expected))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Record diagnostics gathered elsewhere."""
        self.diagnostics.extend(diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The recorded errors, in order."""
        return [d for d in self.diagnostics if d.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        """The recorded warnings, in order."""
        return [d for d in self.diagnostics if d.severity == "warning"]

    def fail_on_errors(self) -> None:
        """Raise ``SourceError`` with everything gathered if any of it is an error."""
        if self.errors:
            raise SourceError(self.diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics, each once, by line and column within a file; files in the order in which they first occur."""
    found = dict.fromkeys(diagnostics)
    files: dict[str, int] = {}
    for diagnostic in found:
        files.setdefault(diagnostic.span.path, len(files))
    return tuple(sorted(found, key=lambda d: (files[d.span.path], d.span.line, d.span.column)))
