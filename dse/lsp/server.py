"""The server: keeps the open texts, answers requests, and publishes diagnostics some time after the last change.

Requests and the check of the file that changes run in the loop. What else may have changed by that, the other open
files and the networks that use an actor, is checked in one thread with a session of its own.
"""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import dse
from dse.lsp import protocol
from dse.lsp.answers import Location
from dse.lsp.board import Board, Findings, Owner
from dse.lsp.session import Session, language_of
from dse.lsp.source_text import Encoding, SourceText

DELAY_SECONDS = 0.2
"""So long after the last change a text is checked."""


class Desk:
    """The open texts and what is known of them."""

    def __init__(self, server: LanguageServer, source_paths: tuple[str, ...]) -> None:
        self.session = Session(source_paths)
        self._server = server
        self._others = Session(source_paths)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dse-lsp")
        self._texts: dict[str, str] = {}
        self._uris: dict[str, str] = {}
        self._board = Board()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stale: dict[str, bool] = {}
        """Files that changed since the others were checked; True: slow networks too."""
        self._checking: asyncio.Task[None] | None = None
        self._stopped = False

    # Documents

    @property
    def encoding(self) -> Encoding:
        """How the editor counts the characters of a line."""
        return cast("Encoding", str(getattr(self._encoding, "value", self._encoding)))

    @property
    def _encoding(self) -> object:
        return self._server.workspace.position_encoding or "utf-16"

    def open(self, uri: str, text: str, language: str) -> None:
        """Take over a text, and check it at once."""
        path = protocol.path_of(uri, language)
        if language_of(path) is None:
            return  # an editor may take all XML for ours
        self._uris[path] = uri
        self._texts[path] = text
        self.check(path, slow=True)

    def change(self, uri: str, text: str) -> None:
        """Take over a text, and check it when nothing more comes."""
        path = self.path(uri)
        if path not in self._texts:
            return
        self._texts[path] = text
        self._cancel(path)
        loop = asyncio.get_running_loop()
        self._timers[path] = loop.call_later(DELAY_SECONDS, self.check, path)

    def close(self, uri: str) -> None:
        """Let go of a text; what its checks found is taken back, and others are checked with what is on disk again."""
        path = self.path(uri)
        self._cancel(path)
        self._texts.pop(path, None)
        self._stale.pop(path, None)
        self.session.sync(self._texts)
        self._publish(self._board.drop(path))
        self._uris.pop(path, None)
        self._check_all()

    def _cancel(self, path: str) -> None:
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()

    def path(self, uri: str) -> str:
        """Return the path of a document."""
        return next((path for path, known in self._uris.items() if known == uri), protocol.path_of(uri))

    def uri(self, path: str) -> str:
        """Return the URI of a file, as the editor writes it where it has it open."""
        return self._uris.get(path) or protocol.uri_of(path)

    def look_again(self) -> None:
        """Check everything: files have come, gone or changed."""
        self.session.refresh()
        self._check_all(slow=True)

    def place(self, uri: str, position: types.Position) -> tuple[str, SourceText, int] | None:
        """Return path, text and offset of a position in the texts as they are now."""
        path = self.path(uri)
        if path not in self._texts:
            return None
        self.session.sync(self._texts)
        source = self.session.source(path)
        return None if source is None else (path, source, protocol.offset_of(source, position, self.encoding))

    # Checks

    def check(self, path: str, *, slow: bool = False) -> None:
        """Check a text, then in the background what may depend on it."""
        self._cancel(path)
        if self._stopped or path not in self._texts:
            return
        self.session.sync(self._texts)
        if language_of(path) == "cal":
            self._take(path, (path, "own"), self.session.check(path))
        self._stale[path] = slow or self._stale.get(path, False)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._check_others())

    def _check_all(self, *, slow: bool = False) -> None:
        """Check all open texts."""
        for path in list(self._texts):
            self.check(path, slow=slow)

    async def _check_others(self) -> None:
        """Check what depends on changed files, until nothing has changed any more."""
        loop = asyncio.get_running_loop()
        while self._stale:
            stale, self._stale = self._stale, {}
            folders = tuple(protocol.path_of(uri) for uri in self._server.workspace.folders)
            job = partial(_check_others, self._others, dict(self._texts), stale, folders)
            for owner, found in await loop.run_in_executor(self._thread, job):
                self._take(owner[0], owner, found)

    def _take(self, path: str, owner: Owner, found: Findings) -> None:
        if path in self._texts:
            self._publish(self._board.put(owner, found))

    def _publish(self, paths: Iterable[str]) -> None:
        """Send the diagnostics of files."""
        for path in paths:
            source = self.session.source(path)
            findings = self.session.findings(path, self._board.of(path))
            items = [] if source is None else [protocol.diagnostic(source, f, self.encoding) for f in findings]
            document = types.PublishDiagnosticsParams(uri=self.uri(path), diagnostics=items)
            self._server.text_document_publish_diagnostics(document)

    def stop(self) -> None:
        """End the thread, after what it is at; nothing is checked from now on."""
        self._stopped = True
        self._stale.clear()
        for path in list(self._timers):
            self._cancel(path)
        self._thread.shutdown(wait=False, cancel_futures=True)


def _check_others(
    session: Session, texts: Mapping[str, str], stale: Mapping[str, bool], folders: tuple[str, ...]
) -> list[tuple[Owner, Findings]]:
    """Check the open networks, the open actors that did not change themselves, and the networks of what did.

    What an open actor's own check finds in it is left out of the findings of networks: it is reported earlier there.
    """
    session.workspace.folders = folders
    session.workspace.forget_projects()
    session.sync(texts)
    alone = {path: session.check(path) for path in texts if language_of(path) == "cal"}
    found: list[tuple[Owner, Findings]] = [((path, "own"), alone[path]) for path in alone if path not in stale]
    for path in texts:
        if language_of(path) == "xdf":
            found.append(((path, "own"), _without(session.check(path), alone)))
        if path in stale:
            found.append(((path, "users"), _without(session.check_users(path, slow=stale[path]), alone)))
    return found


def _without(found: Findings, alone: Mapping[str, Findings]) -> Findings:
    """Return findings without those that the files' own checks found in them."""
    known = {path: set(alone[path].get(path, ())) for path in found if path in alone}
    return {path: tuple(d for d in of if d not in known.get(path, ())) for path, of in found.items()}


def make_server(source_paths: tuple[str, ...] = ()) -> LanguageServer:
    """Return the server, ready to be started. ``source_paths`` as ``dse check`` takes them."""
    server = LanguageServer("dse", dse.__version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    desk = Desk(server, source_paths)
    _add_documents(server, desk)
    _add_questions(server, desk)
    return server


def _add_documents(server: LanguageServer, desk: Desk) -> None:
    """Register what an editor tells about its texts and files."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        desk.open(document.uri, document.text, document.language_id)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        desk.change(uri, server.workspace.get_text_document(uri).source)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        desk.check(desk.path(params.text_document.uri), slow=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        desk.close(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        desk.look_again()

    @server.feature(types.SHUTDOWN)
    def shut_down(_params: None) -> None:
        desk.stop()


def _add_questions(server: LanguageServer, desk: Desk) -> None:
    """Register the requests."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        place = desk.place(params.text_document.uri, params.position)
        found: tuple[Location, ...] = () if place is None else desk.session.definition(place[0], place[2])
        return [protocol.location_link(desk.uri(one.source.path), one, desk.encoding) for one in found]

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        place = desk.place(params.text_document.uri, params.position)
        found = None if place is None else desk.session.hover(place[0], place[2])
        return None if place is None or found is None else protocol.hover(place[1], found, desk.encoding)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        place = desk.place(params.text_document.uri, types.Position(0, 0))
        found = () if place is None else desk.session.outline(place[0])
        return [protocol.symbol(place[1], one, desk.encoding) for one in found] if place is not None else []

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=['"']))
    def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        place = desk.place(params.text_document.uri, params.position)
        if place is None:
            return []
        path, source, offset = place
        return [protocol.completion(source, one, desk.encoding) for one in desk.session.completion(path, offset)]
