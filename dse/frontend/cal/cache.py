"""Loading ``.cal`` files through a cache of parse results, in memory and on disk.

On disk: one file a source file, named by the digest of its path and content and of the parser, in the folder ``cal``
of ``dse.base.caches``. A cache that is damaged or cannot be written costs time, never an error.
"""

import contextlib
import functools
from hashlib import blake2b
from pathlib import Path

from dse.base.caches import cache_folder
from dse.base.collector import collector_paused
from dse.base.diagnostics import Gatherer, read_source
from dse.base.files import write_whole
from dse.base.source import file_span
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.parser import parse_cal
from dse.frontend.cal.tree_codec import DecodeError, Parsed, decode, encode

_PARSER_MODULES = "ast tokens lexer cursor expression_parser statement_parser schedule_parser parser tree_codec"
_memory: dict[str, tuple[str, Parsed]] = {}
"""Per path the digest and the result of the last load in this process."""


def load_cal(path: str, gather: Gatherer) -> CalFile | None:
    """Return the syntax tree of the file at ``path``; errors, that of an unreadable file included, go to ``gather``.

    As ``parse_cal``: after errors the tree lacks what has them, and is None where no entity is recognizable.
    """
    try:
        text = read_source(path)
    except OSError as problem:
        gather.error(f"cannot read this file: {problem.strerror}", file_span(path, 0, 0))
        return None
    except ValueError:
        gather.error(f"{path!r} cannot be the path of a file", file_span(path, 0, 0))
        return None
    if _is_binary(path, text, gather):
        return None
    digest = _digest(path, text)
    held = _memory.get(path)
    if held is None or held[0] != digest:
        with collector_paused():
            held = digest, _load_or_parse(path, text, digest)
        _memory[path] = held
    tree, diagnostics = held[1]
    gather.extend(diagnostics)
    return tree


def parse_edited(path: str, text: str, gather: Gatherer) -> CalFile | None:
    """Return, as ``load_cal``, the tree of a text that an editor holds for the file at ``path``; nothing is kept."""
    if _is_binary(path, text, gather):
        return None
    with collector_paused():
        return parse_cal(path, text, gather)


def _is_binary(path: str, text: str, gather: Gatherer) -> bool:
    """Return whether a text is none, reported."""
    if "\0" in text:
        gather.error(
            "this is a binary file, not CAL source", file_span(path, 0, 0), "if an editor shows it, save it as UTF-8"
        )
    return "\0" in text


def forget() -> None:
    """Drop what is held in memory."""
    _memory.clear()


def _load_or_parse(path: str, text: str, digest: str) -> Parsed:
    """Return the parse result from disk, or by parsing and then keep it on disk."""
    directory = cache_folder("cal")
    entry = directory / f"{digest}.cal" if directory is not None else None
    if entry is not None:
        with contextlib.suppress(OSError, DecodeError):
            return decode(entry.read_bytes())
    own = Gatherer()
    parsed = parse_cal(path, text, own), tuple(own.diagnostics)
    if entry is not None:
        with contextlib.suppress(OSError, RecursionError):  # the second: pickle at the deepest trees that parse
            _write(entry, encode(parsed))
    return parsed


def _write(entry: Path, data: bytes) -> None:
    """Write ``data`` so that another process sees all of it or nothing."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    write_whole(entry, data)


def _digest(path: str, text: str) -> str:
    """Return the key of a parse: what it depends on is the parser, the path (it is in the spans) and the text."""
    state = blake2b(_parser_digest(), digest_size=20)
    state.update(path.encode("utf-8", "surrogateescape"))
    state.update(b"\0")
    state.update(text.encode())
    return state.hexdigest()


@functools.cache
def _parser_digest() -> bytes:
    """Return a digest of the parser's own source: a changed parser finds none of the old results."""
    state = blake2b(digest_size=20)
    for name in _PARSER_MODULES.split():
        state.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return state.digest()
