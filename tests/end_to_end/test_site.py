"""The site: every page is in its navigation, every link leads somewhere, and it builds without a warning."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.test_documents import DOCUMENTS, ROOT
from tests.examples import IN_FULL

INDEX = ROOT / "docs" / "index.md"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def in_navigation() -> list[Path]:
    """Return the pages that the index names in its tables of contents, in order."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", INDEX.read_text(), re.M | re.S)
    lines = (line.strip() for block in blocks for line in block.splitlines())
    return [(INDEX.parent / line).resolve() for line in lines if line and not line.startswith(":")]


def prose(document: Path) -> str:
    """Return a page without its code."""
    return re.sub(r"^```.*?^```$|`[^`\n]+`", "", document.read_text(), flags=re.M | re.S)


def test_every_page_is_in_the_navigation() -> None:
    pages = in_navigation()
    assert [page.name for page in pages if not page.exists()] == []
    assert len(pages) == len(set(pages)), "a page is there twice"
    missing = sorted({p.resolve() for p in (ROOT / "docs").glob("*.md")} - {INDEX.resolve(), *pages})
    assert [page.name for page in missing] == [], "name the page in one of the lists of docs/index.md"


def test_every_link_leads_to_a_file() -> None:
    links = [(page, target) for page in DOCUMENTS for target in LINK.findall(prose(page)) if "://" not in target]
    assert len(links) > 60, "the links are looked for wrongly"
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []


@IN_FULL
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("furo") is None:
        pytest.skip("the site is built by the packages of the extra 'docs': make docs")
    command = [sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going"]
    command += ["-c", "docs/site", "-d", str(tmp_path / "trees"), ".", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site" / "docs" / "tutorial.html").read_text()
    assert '<span class="kt">' in page, "CAL is not coloured"
    assert (tmp_path / "site" / "index.html").exists()
    notebook = (tmp_path / "site" / "docs" / "notebook.html").read_text()
    assert notebook.count("<svg") > 3, "the notebook did not run"
    assert "dse.load" in (tmp_path / "site" / "docs" / "api.html").read_text()
