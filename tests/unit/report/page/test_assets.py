"""The scripts of pages: libraries are those of the manifest, modules become one script, none makes markup."""

import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from dse.report.page.assets import LIBRARIES, WEB, page_assets
from dse.report.page.html import data_text

VENDOR = WEB / "vendor"
MODULES = sorted(WEB.glob("*.js"))


def test_the_libraries_are_those_of_the_manifest() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text())
    files = {name: digest for package in manifest["packages"] for name, digest in package["files"].items()}
    assert {p.name for p in VENDOR.iterdir()} == {*files, "manifest.json"}
    assert {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in files} == files
    assert {*LIBRARIES} <= set(files)
    for package in manifest["packages"]:
        assert package["licence"] == "MIT"
        (licence,) = [name for name in package["files"] if name.startswith("LICENSE")]
        assert "Permission is hereby granted, free of charge" in (VENDOR / licence).read_text()


def test_a_package_holds_the_scripts() -> None:
    project = tomllib.loads((WEB.parents[2] / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["dse"]
    packed = {p for pattern in patterns for p in (WEB.parents[1]).glob(pattern)}
    assert {p for p in WEB.rglob("*") if p.is_file()} <= packed


def test_a_script_holds_each_module_once_behind_what_it_imports() -> None:
    script = page_assets().scripts[-1]
    order = re.findall(r"^const module_(\w+) = ", script, re.M)
    assert len(order) == len(set(order))
    assert order[-1] == "report"
    for at, name in enumerate(order):
        needed = re.findall(r'from "\./(\w+)\.js"', (WEB / f"{name}.js").read_text())
        assert {*needed} <= {*order[:at]}
    assert not re.search(r"^(export|import) ", script, re.M)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_no_module_makes_markup_or_scripts_of_text(path: Path) -> None:
    text = path.read_text()
    for live in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "setTimeout(\"",
                 "fetch(", "XMLHttpRequest", "import(", "DOMParser"):  # fmt: skip
        assert live not in text, f"{path.name} uses {live}"


def test_data_cannot_end_its_element() -> None:
    text = data_text({"a": "</script><!--&\u2028\x7f"})
    assert not set("<>&\u2028\x7f") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028\x7f"}
