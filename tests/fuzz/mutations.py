"""Inputs from inputs: bytes, words, XML trees and trees of JSON or YAML, each changed in a few places by chance."""

import copy
import random
import re
from collections.abc import Callable
from typing import TypeAlias

from lxml import etree

from tests.fuzz.hostile import NAMES, NUMBERS

Mutation: TypeAlias = Callable[[random.Random, bytes], bytes]
Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"
_WORDS = re.compile(rb"\s+|[A-Za-z_][\w.]*|[0-9][\w.]*|.", re.S)
_SEVERAL = (1, 1, 1, 2, 3, 6)


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some flipped, cut out, doubled or put in."""
    changed = bytearray(data)
    for _ in range(rng.choice(_SEVERAL)):
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice((1, 1, 2, 4, 16, 200)))
        match rng.randrange(5):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * rng.choice((1, 2, 50))
            case 3:
                changed[at:end] = rng.randbytes(end - at)
            case _:
                del changed[rng.randrange(len(changed) + 1) :]
    return bytes(changed)


def mutate_words(rng: random.Random, data: bytes) -> bytes:
    """Return a text with words cut out, doubled, exchanged, or replaced by numbers and names that are hostile."""
    words = _WORDS.findall(data)
    for _ in range(rng.choice(_SEVERAL)):
        if not words:
            break
        at = rng.randrange(len(words))
        end = min(len(words), at + rng.choice((1, 1, 1, 2, 8, 40)))
        match rng.randrange(6):
            case 0:
                del words[at:end]
            case 1:
                words[at:at] = words[at:end] * rng.choice((1, 2, 30))
            case 2:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = rng.choice(words)
            case _:
                words[at] = hostile_word(rng, words[at])
    return b"".join(words)


def hostile_word(rng: random.Random, word: bytes) -> bytes:
    """Return what stands in the place of a word: a number for a number, most often."""
    numeric = word[:1].isdigit() == (rng.random() < 0.85)
    return rng.choice(NUMBERS if numeric else NAMES).encode()


def mutate_xml(rng: random.Random, data: bytes) -> bytes:
    """Return a document with elements cut out, doubled or moved, and attributes removed, renamed or given other values.

    What is no XML is changed by words.
    """
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError:
        return mutate_words(rng, data)
    for _ in range(rng.choice(_SEVERAL)):
        element = rng.choice([e for e in root.iter() if isinstance(e.tag, str)])
        if rng.random() < 0.6 and element.attrib:
            _mutate_attribute(rng, element)
        else:
            _mutate_element(rng, root, element)
    return etree.tostring(root)


def _mutate_attribute(rng: random.Random, element: "etree._Element") -> None:
    key = rng.choice(list(element.attrib))
    value = str(element.attrib[key])
    if rng.random() < 0.2:
        del element.attrib[key]
        return
    name = str(key) if rng.random() < 0.9 else "odd"
    element.attrib[name] = _xml_text(hostile_word(rng, value.encode()).decode())


def _mutate_element(rng: random.Random, root: "etree._Element", element: "etree._Element") -> None:
    parent = element.getparent()
    if parent is None:
        return
    match rng.randrange(4):
        case 0:
            parent.remove(element)
        case 1:
            for _ in range(rng.choice((1, 2, 20))):
                parent.append(copy.deepcopy(element))
        case 2:
            home = rng.choice([e for e in root.iter() if isinstance(e.tag, str)])
            home.append(copy.deepcopy(element))
        case _:
            element.text = _xml_text(rng.choice(NAMES + NUMBERS))


def _xml_text(text: str) -> str:
    """Return a text without what XML cannot hold at all: the parser would refuse the file before anyone reads it."""
    return "".join(c for c in text if c in "\t\n" or c >= " ")


def mutate_tree(rng: random.Random, tree: Tree) -> Tree:
    """Return a tree of JSON or YAML with some of its values replaced, cut out, doubled or put elsewhere."""
    changed = copy.deepcopy(tree)
    for _ in range(rng.choice(_SEVERAL)):
        homes = [node for node in _nodes(changed) if isinstance(node, (dict, list)) and node]
        if not homes:
            break
        _mutate_home(rng, rng.choice(homes), changed)
    return changed


def _mutate_home(rng: random.Random, home: dict[str, Tree] | list[Tree], tree: Tree) -> None:
    """Change one entry of an object or a list."""
    keys: list[str] | list[int] = list(home) if isinstance(home, dict) else list(range(len(home)))
    key = rng.choice(keys)
    match rng.randrange(5):
        case 0:
            del home[key]
        case 1 if isinstance(home, list):
            home.insert(key, copy.deepcopy(home[key]))
        case 2:
            home[key] = copy.deepcopy(rng.choice(list(_nodes(tree))))
        case _:
            home[key] = hostile_value(rng, home[key])


def hostile_value(rng: random.Random, value: Tree) -> Tree:
    """Return what stands in the place of a value: near it, at a limit, or of another type."""
    near: list[Tree] = [value + 1, value - 1, -value, value * 2**40] if isinstance(value, (int, float)) else []
    others: list[Tree] = [None, True, [], {}, [value], {"a": value}, float("nan"), float("inf"), 1e308, 0.5, "x"]
    whole: list[Tree] = [0, -1, 1, 255, 256, 2**31, 2**63 - 1, 2**63, 2**64, 2**70, -(2**70), 10**400]
    return rng.choice([*near, *others, *whole, rng.choice(NAMES), rng.choice(NUMBERS)])


def _nodes(tree: Tree) -> list[Tree]:
    """Return all values of a tree, itself included."""
    found: list[Tree] = [tree]
    for node in found:
        if isinstance(node, dict):
            found.extend(node.values())
        elif isinstance(node, list):
            found.extend(node)
    return found
