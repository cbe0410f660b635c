"""The XML reader of the native program reads what lxml reads, refuses what it refuses, and knows the same places."""

import random
from pathlib import Path
from typing import Any

import pytest

from dse.base.diagnostics import Gatherer
from dse.formats.xml_source import parse_xml
from tests.fuzz.mutations import mutate_bytes, mutate_words
from tests.native.config.comparison import same_as_lxml
from tests.native.config.documents import random_document, tree_by_lxml
from tests.native.config.readers import Readers

DOCUMENTS = 1500


def test_well_formed_documents_are_read(readers: Readers) -> None:
    read = 0
    for seed in range(DOCUMENTS):
        data = random_document(random.Random(seed))
        assert same_as_lxml(readers, data), data
        read += tree_by_lxml(data) not in ("refused", "undecided")
    assert read > DOCUMENTS * 0.5


@pytest.mark.parametrize("mutate", [mutate_bytes, mutate_words])
def test_mutated_documents(readers: Readers, mutate: Any) -> None:
    for seed in range(DOCUMENTS):
        rng = random.Random(seed)
        data = mutate(rng, random_document(rng))
        assert same_as_lxml(readers, data), data


def test_places_are_those_of_python(readers: Readers, tmp_path: Path) -> None:
    path, compared = tmp_path / "a.xml", 0
    for seed in range(300):
        data = random_document(random.Random(seed))
        path.write_bytes(data)
        source, found = parse_xml(str(path), Gatherer()), readers.ask("xml", data)
        if source is None or "errors" in found:
            continue
        pending = [(source.root, found["tree"])]
        for element, ours in pending:
            span = source.span(element)
            assert list(span[1:]) == ours["place"], data
            for name, _, place in ours["attributes"]:
                if not name.startswith("{"):
                    assert list(source.attribute_span(element, name)[1:]) == place, data
            pending += zip((e for e in element if isinstance(e.tag, str)), ours["children"], strict=True)
            compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (b"", "the file is empty", [0, 1, 0, 1]),
        (b" \n", "the file is empty", [0, 1, 0, 1]),
        (b"<a\0/>", "this is a binary file", [0, 1, 0, 1]),
        (b"\xff\xfe<\0a\0", "the file is in UTF-16", [0, 1, 0, 1]),
        (b"partition", "this is not an XML document", [1, 1, 1, 1]),
        (b"<a>\n\xff</a>", "this is no UTF-8", [2, 1, 2, 2]),
        (b"<?xml version='1.0' encoding='latin1'?><a/>", "the encoding is 'latin1'", [1, 31, 1, 37]),
        (b"<!DOCTYPE a><a/>", "a document type declaration is not read here", [1, 1, 1, 10]),
        (b"<a>\n&x;</a>", "not well-formed XML: there is no entity 'x'", [2, 1, 2, 4]),
        (b"<a>\n <b></a>", "not well-formed XML: the end of 'b' was expected, not of 'a'", [2, 5, 2, 8]),
        (b"<a>\n <b>", "not well-formed XML: the element 'b' has no end", [2, 2, 2, 5]),
        (b"<a b='1' b='2'/>", "not well-formed XML: the attribute 'b' is given twice", [1, 10, 1, 11]),
        (b"<a>" * 300, "elements are nested too deeply", [1, 770, 1, 771]),
        (b"<a " + b" ".join(b"a%d=''" % k for k in range(1200)) + b"/>", "an element has too many attributes", None),
    ],
)
def test_what_is_refused(readers: Readers, data: bytes, message: str, place: list[int] | None) -> None:
    (error,) = readers.ask("xml", data)["errors"]
    assert error["message"] == message
    assert place is None or error["place"] == place
    assert error["text"].startswith("document:" if place is None or place[0] else "document: error: ")


def test_large_files_are_refused(readers: Readers) -> None:
    (error,) = readers.ask("xml", b"<a>" + b" " * (64 << 20) + b"</a>")["errors"]
    assert error["message"] == "the file has more than 64 MiB"
