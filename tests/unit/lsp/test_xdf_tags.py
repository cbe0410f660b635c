"""Tags of XML texts that are being written."""

import pytest

from dse.lsp.xdf_tags import scan_tags


def shapes(text: str) -> list[tuple[str, dict[str, str], str | None]]:
    return [
        (tag.name, {n: a.value for n, a in tag.attributes.items()}, tag.parent.name if tag.parent else None)
        for tag in scan_tags(text)
    ]


def test_a_whole_document() -> None:
    text = "<?xml version='1.0'?><!-- <X/> --><n:XDF name=\"a\"><Instance id='b'><Class name=\"c\"/></Instance></n:XDF>"
    assert shapes(text) == [
        ("XDF", {"name": "a"}, None),
        ("Instance", {"id": "b"}, "XDF"),
        ("Class", {"name": "c"}, "Instance"),
    ]
    root, instance, _ = scan_tags(text)
    assert text[instance.start : instance.end] == "<Instance id='b'><Class name=\"c\"/></Instance>"
    assert root.end == len(text)
    value = instance.attributes["id"]
    assert text[value.start : value.end] == "b"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<XDF><Instance id="b"><Class name="x', [("XDF", {}), ("Instance", {"id": "b"}), ("Class", {"name": "x"})]),
        ('<XDF><Class name=<Port name="p"/>', [("XDF", {}), ("Class", {}), ("Port", {"name": "p"})]),
        ("<XDF><!-- open <Port/>", [("XDF", {})]),
        ('<XDF></Port></XDF><Port name="a>b"/>', [("XDF", {}), ("Port", {"name": "a>b"})]),
        ("< / <<< >", []),
        ("", []),
    ],
)
def test_a_broken_document(text: str, found: list[tuple[str, dict[str, str]]]) -> None:
    assert [(name, attributes) for name, attributes, _ in shapes(text)] == found


def test_what_is_open_at_the_end_ends_with_what_is_in_it() -> None:
    text = "<XDF><Instance><Class/>"
    assert [tag.end for tag in scan_tags(text)] == [len(text)] * 3


@pytest.mark.parametrize("piece", ["a", "<a", "<!--", '"', "<a></b>", "<a b='"])
def test_long_texts_take_no_longer_for_each_character(piece: str) -> None:
    scan_tags("<XDF " + piece * 100_000)  # tenths of a second; what grows with the square takes minutes
