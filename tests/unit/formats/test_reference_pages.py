"""The pages about platform files, weights files, CAL and XDF name everything that their readers know.

What a reader knows is taken from the reader: its tables of keys, the names that it asks for in its source, the rules
that the writer keeps. A key without a row in the page, and a row without a key, are both faults.
"""

import ast
import re
from pathlib import Path
from types import ModuleType

from dse.base import numbers
from dse.formats import device_yaml, platform_yaml, weights_xml, xdf
from dse.frontend.cal import tokens
from dse.model.device import DEVICE_KEYS
from dse.model.kernel import ACCESS_CLASSES

DOCS = Path(__file__).resolve().parents[3] / "docs"


def section(page: str, *titles: str) -> str:
    """Return the text below headings of a page, up to the next heading of any level, joined."""
    parts = re.split(r"^#+ (.*)$", (DOCS / page).read_text(), flags=re.M)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return "\n".join(found[title] for title in titles)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the table rows below the rulers of a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rulers = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-:")]
    heads = {i for ruler in rulers for i in (ruler - 1, ruler)}
    return [row for i, row in enumerate(cells) if i not in heads]


def names(cell: str) -> list[str]:
    """Return what stands in back quotes in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def keys(text: str) -> list[str]:
    """Return the keys of all tables of a text."""
    return [name for row in rows(text) for name in names(row[0])]


def words_in(module: ModuleType, reader: str) -> set[str]:
    """Return the single words that a class has as texts: the elements and attributes that it knows."""
    assert module.__file__ is not None
    classes = (node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.ClassDef))
    parts = (part for node in classes if node.name == reader for part in ast.walk(node))
    texts = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return {text for text in texts if re.fullmatch(r"[A-Za-z]{2,}(-[a-z]+)*", text)}


# Platforms


def test_every_key_of_a_platform_file() -> None:
    page = "platforms.md"
    assert sorted(keys(section(page, "The platform"))) == sorted(platform_yaml._PLATFORM_KEYS)
    assert sorted(keys(section(page, "A unit"))) == sorted(platform_yaml._UNIT_KEYS)
    assert sorted(keys(section(page, "A link"))) == sorted(platform_yaml._LINK_KEYS)
    assert sorted(keys(section(page, "A constant"))) == sorted(platform_yaml._CONSTANT_KEYS)


def test_every_key_of_a_device_file() -> None:
    text = section("platforms.md", "GPU devices")
    assert sorted(keys(text)) == sorted({*DEVICE_KEYS.values(), *device_yaml._CONSTANT_KEYS, "name"})
    assert set(ACCESS_CLASSES) <= set(re.findall(r"`(\w+)`", text))


def test_quantities_have_units_and_the_bounds_of_the_reader() -> None:
    bounds = {
        "cores": numbers.CORES,
        "clock_mhz": numbers.CLOCK_MHZ,
        "power_watt": numbers.POWER_WATT,
        "power_static_watt": numbers.POWER_WATT,
        "power_exponent": numbers.EXPONENT,
        "memory_bytes": numbers.MEMORY_BYTES,
        "latency_ns": numbers.LATENCY_NS,
        "bandwidth_gb_s": numbers.BANDWIDTH_GB_S,
    }
    found = {names(row[0])[0]: row for row in rows(section("platforms.md", "A unit", "A link"))}
    for key, bound in bounds.items():
        shown = str(bound).removesuffix(bound.unit).strip()
        assert found[key][2].removeprefix("0, ") == shown, key
        assert bound.unit in found[key][1], key


def test_each_unit_in_a_name_is_in_its_row() -> None:
    units = {"mhz": "MHz", "watt": "W", "bytes": "bytes", "ns": "ns", "us": "us", "s": "GB/s", "cycles": "cycles"}
    for row in rows(section("platforms.md", "A unit", "A link", "GPU devices")):
        for key in names(row[0]):
            whole = key.replace(".", "_").split("_")
            ending = "cycles" if "cycles" in whole else whole[-1]
            assert units.get(ending, "") in row[1], key


# Weights


def test_every_attribute_of_weights_files() -> None:
    text = section("weights.md", "`.exdf` and `.sxdf`", "`.cxdf`")
    known = words_in(weights_xml, "_Weights")
    assert {"clockcycles-min", "source-port", "turn-firings", "memory"} <= known, "the reader is looked at wrongly"
    assert sorted(known - set(names(text))) == []
    assert sorted(set(keys(text)) - known - {"level"}) == []


def test_every_suffix_of_weights_files() -> None:
    text = (DOCS / "weights.md").read_text()
    stems = [f"weights-{kind}{suffix}" for kind in ("CPU", "GPU") for suffix in (".exdf", ".sxdf", ".cxdf")]
    assert [
        stem for stem in [*stems, "weights-CPU-HostFifo.cxdf", "weights-GPU-HostFifo.cxdf"] if stem not in text
    ] == []


# CAL and XDF


def test_every_operator_of_cal_in_its_order() -> None:
    table = [names(row[0].replace("\\|", "|")) for row in rows(section("cal.md", "Expressions"))]
    assert table.pop() == ["-", "not", "~", "#"]
    assert set(table[-1]) | {"-", "not", "~", "#"} >= tokens.UNARY_OPERATORS
    shown = {name: level for level, row in enumerate(table, start=1) for name in row}
    assert shown == tokens.BINARY_LEVELS


def test_every_reserved_word_of_cal() -> None:
    paragraph = re.search(r"\*\*Reserved words\*\*:(.*?)`\^size`", section("cal.md", "Expressions"), re.S)
    assert paragraph is not None
    assert sorted(names(paragraph[1])) == sorted(tokens.RESERVED)


def test_every_type_of_cal() -> None:
    shown = " ".join(row[0] for row in rows(section("cal.md", "Types and values")))
    assert [word for word in sorted(tokens.TYPE_WORDS) if not re.search(rf"\b{word}\b", shown)] == []


def test_every_element_and_attribute_of_xdf() -> None:
    text = section("cal.md", "XDF")
    known = words_in(xdf, "_Reader") | set(xdf._EXPR_KINDS)
    assert {"XDF", "Class", "src-port", "literal-kind", "BinOpSeq", "Entry"} <= known, "the reader is looked at wrongly"
    assert sorted(known - set(names(text))) == []
    assert sorted(set(keys(text)) - known) == []
