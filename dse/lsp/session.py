"""The questions of an editor about places in files. One session, one thread; nothing here raises for any text."""

import itertools
import os
import time
from collections.abc import Iterator, Mapping

from dse.base.diagnostics import Gatherer, in_reading_order
from dse.base.errors import Diagnostic
from dse.base.escaping import shown
from dse.frontend.cal.ast import ActorDecl
from dse.frontend.network.elaborate import elaborate
from dse.lsp.answers import Finding, Hovered, Language, Location, Offered, Outlined
from dse.lsp.board import Findings
from dse.lsp.cal_questions import CalQuestions
from dse.lsp.cal_view import CalView
from dse.lsp.facts import ActorFacts, facts_of
from dse.lsp.source_text import SourceText
from dse.lsp.workspace import CAL, XDF, Workspace
from dse.lsp.xdf_questions import XdfQuestions
from dse.lsp.xdf_view import XdfView

MOST_USERS = 4
"""So many networks that use an actor are checked with it."""
SLOW_SECONDS = 2.0
"""A network that takes longer is checked when a file is opened or saved, not while one types."""


def language_of(path: str) -> Language | None:
    """Return how a file is read, by its suffix; None for one that is neither CAL nor XDF."""
    lower = path.lower()
    return "xdf" if lower.endswith(XDF) else "cal" if lower.endswith(CAL) else None


class Session:
    """Answers from the texts of an editor and the files around them."""

    def __init__(self, source_paths: tuple[str, ...] = ()) -> None:
        self.workspace = Workspace(source_paths)
        self._cal: dict[str, CalView] = {}
        self._xdf: dict[str, XdfView] = {}
        self._facts: dict[str, ActorFacts | None] = {}
        self._seconds: dict[str, float] = {}

    def sync(self, edited: Mapping[str, str]) -> None:
        """Take over the texts that are being edited, by absolute path."""
        if self.workspace.sync(edited):
            self._cal.clear()
            self._xdf.clear()
            self._facts.clear()

    def refresh(self) -> None:
        """Look at the disk again: files have come or gone."""
        self.workspace.forget_projects()
        self._cal.clear()
        self._facts.clear()
        self._xdf.clear()

    # Files

    def cal(self, path: str) -> CalView | None:
        """Return a CAL file; None where there is none."""
        if path not in self._cal:
            text = self.workspace.text(path)
            if text is None:
                return None
            self._cal[path] = CalView(path, text, self.workspace)
        return self._cal[path]

    def xdf(self, path: str) -> XdfView | None:
        """Return an XDF file; None where there is none."""
        if path not in self._xdf:
            text = self.workspace.text(path)
            if text is None:
                return None
            self._xdf[path] = XdfView(path, text)
        return self._xdf[path]

    def facts(self, path: str) -> ActorFacts | None:
        """Return what the IR of an actor knows; None for a unit and for an actor with errors."""
        if path not in self._facts:
            own = Gatherer()
            file = self.workspace.files.cal(path, own)
            actor = None
            if file is not None and isinstance(file.entity, ActorDecl):
                actor = self.workspace.library(path, own).actor_alone(file, path, own)
            self._facts[path] = None if actor is None else facts_of(actor)
        return self._facts[path]

    def source(self, path: str) -> SourceText | None:
        """Return the text of a file."""
        view = self.xdf(path) if language_of(path) == "xdf" else self.cal(path)
        return None if view is None else view.source

    # Answers

    def definition(self, path: str, offset: int) -> tuple[Location, ...]:
        """Return the declarations of the name at a place."""
        if language_of(path) == "xdf":
            return XdfQuestions(self, path).definition(offset)
        return CalQuestions(self, path).definition(offset)

    def hover(self, path: str, offset: int) -> Hovered | None:
        """Return what is known of the name at a place."""
        if language_of(path) == "xdf":
            return XdfQuestions(self, path).hover(offset)
        return CalQuestions(self, path).hover(offset)

    def outline(self, path: str) -> tuple[Outlined, ...]:
        """Return the declarations of a file."""
        if language_of(path) == "xdf":
            return XdfQuestions(self, path).outline()
        return CalQuestions(self, path).outline()

    def completion(self, path: str, offset: int) -> tuple[Offered, ...]:
        """Return what may stand at a place."""
        if language_of(path) == "xdf":
            return XdfQuestions(self, path).completion(offset)
        return CalQuestions(self, path).completion(offset)

    # Diagnostics

    def check(self, path: str) -> Findings:
        """Return what is wrong with an actor or unit alone, or with a network and all that it uses."""
        gather = Gatherer()
        if language_of(path) == "xdf":
            self._check_network(path, gather)
        else:
            self.workspace.library(path, gather).check_entity(path, gather)
        return _by_file(gather)

    def _check_network(self, path: str, gather: Gatherer) -> None:
        """Elaborate a network; one that needs arguments is only read, its users are elaborated with it in them."""
        written = self.workspace.files.xdf(path, gather)
        if written is not None and not any(d.kind == "Param" and d.value is None for d in written.declarations):
            started = time.monotonic()
            elaborate(path, self.workspace.library(path, gather), gather, inner=bool(written.ports))
            self._seconds[path] = time.monotonic() - started

    def check_users(self, path: str, *, slow: bool) -> Findings:
        """Return what is wrong in the networks that use an actor or network, in them and in it.

        Files that have nothing to do with it are left out: they are reported when they are opened. Networks that took
        longer than ``SLOW_SECONDS`` the last time are left out unless ``slow``.
        """
        gather = Gatherer()
        for network in self._users(path):
            if slow or self._seconds.get(network, 0.0) <= SLOW_SECONDS:
                self._check_network(network, gather)
        found = _by_file(gather)
        return {file: diagnostics for file, diagnostics in found.items() if file == path or file.endswith(XDF)}

    def _users(self, path: str) -> tuple[str, ...]:
        """Return networks that use a class, then those that use these, the nearest first."""
        found: dict[str, None] = {path: None}
        for used in itertools.islice(_growing(found), MOST_USERS):
            found.update(dict.fromkeys(self.workspace.users_of(used)))
        return tuple(found)[1 : MOST_USERS + 1]

    def findings(self, path: str, diagnostics: tuple[Diagnostic, ...]) -> tuple[Finding, ...]:
        """Return diagnostics of a file with their places in its text."""
        source = self.source(path)
        return () if source is None else tuple(_finding(source, d) for d in dict.fromkeys(diagnostics))


def _growing(names: Mapping[str, None]) -> Iterator[str]:
    """Yield the names of a mapping in their order, those that are added meanwhile too."""
    at = 0
    while at < len(names):
        yield next(itertools.islice(names, at, None))
        at += 1


def _by_file(gather: Gatherer) -> Findings:
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in in_reading_order(gather.diagnostics):
        if os.path.isabs(diagnostic.span.path):  # noqa: PTH117  # not a finding that stands in no file
            found.setdefault(diagnostic.span.path, []).append(diagnostic)
    return {path: tuple(diagnostics) for path, diagnostics in found.items()}


def _finding(source: SourceText, diagnostic: Diagnostic) -> Finding:
    """Return a diagnostic with its place; one without extent marks the word there, one of the file its first line."""
    start, end = source.range_of(diagnostic.span)
    if start == end:
        end = source.word_end(start)
    advice = f"\n{shown(diagnostic.expected)}" if diagnostic.expected else ""
    return Finding(message=shown(diagnostic.message) + advice, severity=diagnostic.severity, start=start, end=end)
