"""Characters, numbers and near names are those of Python."""

import random
import sys
import unicodedata

import pytest

from dse.base.escaping import cells, shown_lines
from dse.base.numbers import MOST_COUNTED, integer_from
from dse.base.registry import nearest_names
from tests.fuzz.hostile import NAMES, NUMBERS
from tests.native.config.make_characters import header
from tests.native.config.readers import Readers
from tests.native.shared import RUNTIME


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")
def test_tables_of_characters_are_those_of_python() -> None:
    assert (RUNTIME / "dse" / "characters.hpp").read_text() == header()


def test_every_character_is_shown_as_by_python(readers: Readers) -> None:
    for start in range(0, sys.maxunicode + 1, 0x8000):
        text = "".join(chr(c) for c in range(start, start + 0x8000) if not 0xD800 <= c < 0xE000)
        assert readers.ask("shown", text) == shown_lines(text)
        assert readers.ask("cells", shown_lines(text)) == cells(shown_lines(text))


def test_what_is_no_utf8_is_replaced_byte_by_byte(readers: Readers) -> None:
    rng = random.Random(1)
    for _ in range(400):
        data = bytes(rng.choice(b"a\r\n\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80\xff") for _ in range(9))
        assert readers.ask("shown", data) == shown_lines(data.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("bounds", [(-MOST_COUNTED, MOST_COUNTED), (1, 512), (-5, 0)])
def test_integers(readers: Readers, bounds: tuple[int, int]) -> None:
    near = [str(sign * (MOST_COUNTED + k)) for k in (-1, 0, 1, 2, 10**18, 10**19) for sign in (1, -1)]
    for text in (*NUMBERS, *near, "\xa05\u2003", "0" * 99 + "7", "0" * 100 + "7", "512", "513", "-5", "+0"):
        wanted = integer_from(text, least=bounds[0], most=bounds[1])
        assert readers.ask("integer", text, *map(str, bounds)) == wanted, text


def test_near_names(readers: Readers) -> None:
    rng, near = random.Random(2), 0
    for _ in range(600):
        known = tuple("".join(rng.choice("abcé_/") for _ in range(rng.randrange(9))) for _ in range(rng.randrange(12)))
        name = rng.choice((*known, "", "abc")) + rng.choice(("", "a", "_b"))
        wanted = nearest_names(name, known)
        assert readers.ask("near", name, *known) == wanted, (name, known)
        near += wanted.startswith("did you mean")
    assert near > 200


@pytest.mark.parametrize("name", [*NAMES, "x" * 201])
def test_near_names_of_hostile_ones(readers: Readers, name: str) -> None:
    known = ("x" * 199, "a b", *map(str, range(150)))
    assert readers.ask("near", name, *known) == nearest_names(name, known)
