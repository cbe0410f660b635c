"""The site: ``make docs`` builds it of the Markdown files where they stand, so that each is read in the checkout too.

The source folder is the root of the repository. A page in no ``toctree`` of ``docs/index.md``, and a link that leads
nowhere, are errors (``sphinx-build --fail-on-warning``).
"""

import sys
from pathlib import Path

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import dse  # noqa: E402  # found by the line above
from dse.frontend.cal.tokens import RESERVED, TYPE_WORDS  # noqa: E402

project = "dse"
release = version = dse.__version__
root_doc = "docs/index"
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
include_patterns = ["docs/*.md", "docs/*.ipynb", "*.md", "actors/*/README.md", "configs/README.md", "weights/README.md"]
exclude_patterns = [".*", "actors/starter", "build", "dist", "dse", "dse-out", "editors", "tests", "benchmarks"]
extensions = ["myst_parser", "notebook_page", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

html_theme = "furo"
html_title = f"dse {release}"
html_extra_path = ["first_page"]
html_copy_source = False

myst_heading_anchors = 4
myst_linkify_fuzzy_links = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "undoc-members": False, "exclude-members": "__init__, __new__"}


class CalLexer(RegexLexer):
    """Colours RVC-CAL; the words are those of the front-end."""

    name = "RVC-CAL"
    aliases = ("cal",)
    tokens = {  # noqa: RUF012  # the form that Pygments asks for
        "root": [
            (r"//.*|/\*(?:.|\n)*?\*/", Comment),
            (r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', String),
            (r"@\w+", Name.Decorator),
            (words(sorted(TYPE_WORDS), suffix=r"\b"), Keyword.Type),
            (words(sorted(RESERVED - TYPE_WORDS), suffix=r"\b"), Keyword),
            (r"0[xX][0-9a-fA-F]+|\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/&|^~<>=!#:.]+", Operator),
            (r"\s+|.", Text),
        ]
    }


def setup(app: Sphinx) -> None:
    """Register what colours CAL."""
    app.add_lexer("cal", CalLexer)
