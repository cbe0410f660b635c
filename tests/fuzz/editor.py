"""The questions of an editor about texts that were changed by chance: each is answered, with places in the text.

After some edits a session that has seen them all finds what one finds that has seen the last text only.
"""

import random
import traceback
from collections.abc import Iterable
from pathlib import Path

from dse.lsp import protocol
from dse.lsp.answers import Outlined
from dse.lsp.session import Session
from dse.lsp.source_text import SourceText
from tests.fuzz.behaviour import SECONDS, Hang, bounded
from tests.fuzz.mutations import mutate_bytes, mutate_words

ACTORS = Path(__file__).parents[2] / "actors"
SOURCES = tuple(sorted(str(p) for p in ACTORS.rglob("*") if p.suffix in (".cal", ".xdf")))
_ENCODINGS = ("utf-8", "utf-16", "utf-32")


def attack(rng: random.Random, folder: Path) -> str | None:
    """Edit files of the applications, or of the scene, and ask; return the fault."""
    own = sorted(str(p) for p in folder.rglob("*") if p.suffix in (".cal", ".xdf"))
    try:
        with bounded(SECONDS):
            edit_and_ask(rng, rng.choice((SOURCES, own or SOURCES)))
    except Hang:
        return f"takes more than {SECONDS:g} s\n{traceback.format_exc()}"
    except Exception:
        return traceback.format_exc()
    return None


def edit_and_ask(rng: random.Random, sources: Iterable[str]) -> None:
    """Edit one or two files some times, ask after each edit, and compare the last diagnostics with those of a session
    that knows only the last texts."""
    paths = list(sources)
    session = Session()
    edited: dict[str, str] = {}
    path = ""
    for _ in range(rng.choice((1, 2, 3))):
        path = rng.choice(list(edited) or paths) if rng.random() < 0.7 else rng.choice(paths)
        edited[path] = edited_text(rng, edited.get(path) or Path(path).read_text())
        session.sync(edited)
        ask(rng, session, path)
    fresh = Session()
    fresh.sync(edited)
    assert session.check(path) == fresh.check(path), "a session that saw all edits finds something else"
    assert session.outline(path) == fresh.outline(path), "a session that saw all edits has another outline"


def edited_text(rng: random.Random, text: str) -> str:
    """Return a text after an edit: words changed, bytes changed, a part cut out, the end not yet written."""
    at = rng.randrange(len(text) + 1)
    match rng.randrange(5):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + text[at + rng.randrange(80) :]
        case 2:
            return (
                text[:at]
                + rng.choice(["\r", "\ufeff", "\ud800", "😀", "\u2028", "\0", "\f", '"', "<", "/*"])
                + text[at:]
            )
        case 3:
            return mutate_bytes(rng, text.encode("utf-8", "replace")).decode("latin-1")
        case _:
            return mutate_words(rng, text.encode("utf-8", "replace")).decode("utf-8", "replace")


def ask(rng: random.Random, session: Session, path: str) -> None:
    """Ask everything about a file, at some places of it."""
    encoding = rng.choice(_ENCODINGS)
    source = session.source(path)
    assert source is not None
    for found_in, diagnostics in session.check(path).items():
        other = session.source(found_in)
        assert other is not None, f"findings in {found_in}, which is not there"
        for finding in session.findings(found_in, diagnostics):
            in_text(other, finding.start, finding.end)
            protocol.diagnostic(other, finding, encoding)
    for entry in session.outline(path):
        well_formed(source, entry)
        protocol.symbol(source, entry, encoding)
    for _ in range(6):
        offset = rng.randrange(len(source.text) + 1)
        assert source.at(source.place(offset, encoding), encoding) <= offset
        for location in session.definition(path, offset):
            in_text(location.source, location.start, location.end)
            in_text(location.source, location.name_start, location.name_end)
            protocol.location_link(protocol.uri_of(location.source.path), location, encoding)
        hovered = session.hover(path, offset)
        if hovered is not None:
            in_text(source, hovered.start, hovered.end)
            protocol.hover(source, hovered, encoding)
        for offered in session.completion(path, offset):
            assert offered.start <= offset <= offered.end, "a completion away from the cursor"
            protocol.completion(source, offered, encoding)


def in_text(source: SourceText, start: int, end: int) -> None:
    """Fail where offsets are not of a text."""
    assert 0 <= start <= end <= len(source.text), (start, end, len(source.text))


def well_formed(source: SourceText, entry: Outlined) -> None:
    """Fail where a client would refuse an outline: no name, or a name outside its declaration."""
    in_text(source, entry.start, entry.end)
    assert entry.name.strip(), "an entry without a name"
    assert entry.start <= entry.name_start <= entry.name_end <= entry.end, entry
    for child in entry.children:
        well_formed(source, child)
