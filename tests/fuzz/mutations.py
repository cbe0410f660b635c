"""Hostile values, and how they are put into documents: JSON trees, and numbers in texts."""

import copy
import random
import re
from collections.abc import Iterator
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

NUMBERS = (
    "0",
    "-0",
    "-1",
    "1",
    "1.5",
    "-0.5",
    "1e-400",
    "1e308",
    "1e309",
    "-1e308",
    "1e99",
    "1e-99",
    "1e999999999",
    "1e-999999999",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "",
    " ",
    "0x10",
    "0x",
    "1_000",
    "1,5",
    "٣",
    "１２",
    "²",
    "+1",
    "--1",
    "1/3",
    "1/0",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1180591620717411303424",
    "999999999999",
    "9" * 400,
    "-" + "9" * 400,
    "9" * 5000,
    "0." + "0" * 400 + "1",
    "1e400",
    "1." + "3" * 400,
    "true",
    "null",
    "[]",
    "{}",
    "1 2",
    "1e",
    "e1",
    ".",
    "-",
    "0" * 400 + "1",
)
"""Numbers as texts: too large, too small, none at all, and those that only look like one."""

_JSON_VALUES: tuple[Json, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    255,
    256,
    65535,
    65536,
    2**31,
    2**32,
    2**40,
    2**40 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    2**70,
    -(2**63),
    -(2**70),
    10**400,
    0.5,
    1.0,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\0",
    "\x1b[31m",
    "\u202e",
    "a" * 10_000,
    "<&>",
    [],
    [[]],
    {},
    [0],
    {"name": "x"},
    [1, 2, 3],
    "9" * 400,
)
_NUMBER = re.compile(r"(?<![A-Za-z_#0-9.])-?[0-9]+(?:\.[0-9]+)?(?![A-Za-z_0-9])")


def _places(document: Json) -> Iterator[tuple[list[Json] | dict[str, Json], int | str]]:
    """Yield each place of a document as (container, key)."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield document, key
            yield from _places(value)
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield document, index
            yield from _places(value)


def mutate_json(rng: random.Random, document: Json, times: int = 1) -> Json:
    """Return a copy of a document with values replaced, taken away, doubled or exchanged in some places."""
    changed: Json = copy.deepcopy(document)
    for _ in range(times):
        places = list(_places(changed))
        if not places:
            return changed
        owner, key = rng.choice(places)
        match rng.choice(("replace", "replace", "replace", "near", "remove", "double", "exchange")):
            case "replace":
                owner[key] = copy.deepcopy(rng.choice(_JSON_VALUES))  # type: ignore[index, call-overload]
            case "near":
                value = owner[key]  # type: ignore[index, call-overload]
                near = value + rng.choice((-1, 1, 2, 100)) if isinstance(value, int | float) else [value]
                owner[key] = near  # type: ignore[index, call-overload]
            case "remove":
                del owner[key]  # type: ignore[arg-type]
            case "double" if isinstance(owner, list):
                owner.insert(rng.randrange(len(owner) + 1), copy.deepcopy(owner[key]))  # type: ignore[call-overload]
            case _:
                other, place = rng.choice(places)
                with_value = copy.deepcopy(owner[key])  # type: ignore[index, call-overload]
                if place in other if isinstance(other, dict) else isinstance(place, int) and place < len(other):
                    other[place] = with_value  # type: ignore[index, call-overload]
    return changed


def mutate_numbers(rng: random.Random, text: str, times: int = 1) -> str:
    """Return a text with some of its numbers replaced by hostile ones."""
    for _ in range(times):
        found = list(_NUMBER.finditer(text))
        if not found:
            return text
        match = rng.choice(found)
        text = text[: match.start()] + rng.choice(NUMBERS) + text[match.end() :]
    return text


_XML_VALUE = re.compile(r'="([^"]*)"')
_XML_TAG = re.compile(r"<[^>]*>")


def mutate_xml(rng: random.Random, text: str, times: int = 1) -> str:
    """Return an XML text with values, attributes or tags changed: mostly well-formed, with another content."""
    for _ in range(times):
        values = list(_XML_VALUE.finditer(text))
        if not values:
            return text
        match = rng.choice(values)
        kind = rng.choice(("number", "number", "word", "swap", "drop", "tag", "cut"))
        if kind == "number":
            text = text[: match.start(1)] + rng.choice(NUMBERS) + text[match.end(1) :]
        elif kind == "word":
            word = rng.choice(("", "x", "&#9;", "&lt;", "&nothing;", "%", "//@actors.99", "a" * 5000, "‮"))
            text = text[: match.start(1)] + word + text[match.end(1) :]
        elif kind == "swap":
            text = text[: match.start(1)] + rng.choice(values)[1] + text[match.end(1) :]
        elif kind == "drop":
            start = text.rfind(" ", 0, match.start())
            text = text[: max(start, 0)] + text[match.end() :]
        elif kind == "tag":
            tag = rng.choice(list(_XML_TAG.finditer(text)))
            copies = rng.choice((0, 2, 2, 3))
            text = text[: tag.start()] + tag[0] * copies + text[tag.end() :]
        else:
            text = text[: rng.randrange(len(text))] if rng.random() < 0.2 else text
    return text


def mutate_lines(rng: random.Random, text: str, times: int = 1) -> str:
    """Return a text with lines doubled, taken away, exchanged, or a number or word of them changed."""
    for _ in range(times):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        match rng.choice(("number", "number", "number", "double", "remove", "exchange", "word")):
            case "number":
                text = mutate_numbers(rng, text)
                continue
            case "double":
                lines.insert(at, lines[at])
            case "remove":
                del lines[at]
            case "exchange":
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                words = (
                    "[]",
                    "{}",
                    "&a",
                    "*a",
                    "!!python/object",
                    "- ",
                    ": ",
                    '"',
                    "null",
                    "\t",
                    "'",
                    "|",
                    ">",
                    "? ",
                    "!!binary x",
                )
                cut = rng.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + rng.choice(words) + lines[at][cut:]
        text = "\n".join(lines)
    return text
