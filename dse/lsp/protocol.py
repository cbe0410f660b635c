"""Our answers as the messages of the language server protocol, and URIs as paths."""

import os
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from dse.lsp.answers import Finding, Hovered, Location, Offered, Outlined
from dse.lsp.source_text import Encoding, Place, SourceText

_SYMBOLS: dict[str, types.SymbolKind] = {
    "actor": types.SymbolKind.Class,
    "unit": types.SymbolKind.Module,
    "parameter": types.SymbolKind.TypeParameter,
    "constant": types.SymbolKind.Constant,
    "variable": types.SymbolKind.Variable,
    "function": types.SymbolKind.Function,
    "procedure": types.SymbolKind.Function,
    "native function": types.SymbolKind.Function,
    "native procedure": types.SymbolKind.Function,
    "input port": types.SymbolKind.Interface,
    "output port": types.SymbolKind.Interface,
    "action": types.SymbolKind.Method,
    "initializer": types.SymbolKind.Constructor,
    "state": types.SymbolKind.EnumMember,
    "XDF": types.SymbolKind.Module,
    "Port": types.SymbolKind.Interface,
    "Decl": types.SymbolKind.Constant,
    "Instance": types.SymbolKind.Object,
    "Connection": types.SymbolKind.Event,
}
_COMPLETIONS: dict[str, types.CompletionItemKind] = {
    "keyword": types.CompletionItemKind.Keyword,
    "class": types.CompletionItemKind.Class,
    "constant": types.CompletionItemKind.Constant,
    "function": types.CompletionItemKind.Function,
    "procedure": types.CompletionItemKind.Function,
    "native function": types.CompletionItemKind.Function,
    "native procedure": types.CompletionItemKind.Function,
    "input port": types.CompletionItemKind.Interface,
    "output port": types.CompletionItemKind.Interface,
    "action": types.CompletionItemKind.Method,
    "state": types.CompletionItemKind.EnumMember,
}
_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


def path_of(uri: str, language: str = "cal") -> str:
    """Return the absolute path of a document; one that is in no file counts as a file of the working folder."""
    try:
        scheme, path = urlsplit(uri).scheme, to_fs_path(uri)
    except ValueError:
        scheme, path = "", None
    if scheme == "file" and path and "\0" not in path:
        return os.path.abspath(path)  # noqa: PTH100  # links stay: what is beside a link counts
    stem = "".join(c if c.isalnum() or c in "_-" else "_" for c in unquote(uri))[-80:]
    return str(Path.cwd() / f"{stem}.{'xdf' if language == 'xdf' else 'cal'}")


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    return cast("str", from_fs_path(path)) if path.isprintable() else Path(path).as_uri()


def offset_of(source: SourceText, position: types.Position, encoding: Encoding) -> int:
    """Return the offset of a position."""
    return source.at(Place(position.line, position.character), encoding)


def range_of(source: SourceText, start: int, end: int, encoding: Encoding) -> types.Range:
    """Return the range between two offsets."""
    first, last = source.place(start, encoding), source.place(end, encoding)
    return types.Range(start=types.Position(first.line, first.character), end=types.Position(last.line, last.character))


def diagnostic(source: SourceText, finding: Finding, encoding: Encoding) -> types.Diagnostic:
    """Return a finding."""
    return types.Diagnostic(
        range=range_of(source, finding.start, finding.end, encoding),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        source="dse",
    )


def location_link(uri: str, location: Location, encoding: Encoding) -> types.Location:
    """Return where the name of a declaration stands."""
    where = range_of(location.source, location.name_start, location.name_end, encoding)
    return types.Location(uri=uri, range=where)


def hover(source: SourceText, hovered: Hovered, encoding: Encoding) -> types.Hover:
    """Return a hover."""
    contents = types.MarkupContent(kind=types.MarkupKind.Markdown, value=hovered.text)
    return types.Hover(contents=contents, range=range_of(source, hovered.start, hovered.end, encoding))


def symbol(source: SourceText, outlined: Outlined, encoding: Encoding) -> types.DocumentSymbol:
    """Return an entry of the outline with what is in it."""
    return types.DocumentSymbol(
        name=outlined.name,
        detail=outlined.detail,
        kind=_SYMBOLS.get(outlined.kind, types.SymbolKind.Variable),
        range=range_of(source, outlined.start, outlined.end, encoding),
        selection_range=range_of(source, outlined.name_start, outlined.name_end, encoding),
        children=[symbol(source, child, encoding) for child in outlined.children],
    )


def completion(source: SourceText, offered: Offered, encoding: Encoding) -> types.CompletionItem:
    """Return a name that is offered."""
    return types.CompletionItem(
        label=offered.name,
        kind=_COMPLETIONS.get(offered.kind, types.CompletionItemKind.Variable),
        detail=offered.detail or None,
        text_edit=types.TextEdit(range_of(source, offered.start, offered.end, encoding), offered.name),
    )
