"""Notebooks as pages of the site: they are kept without outputs, and run when the site is built."""

import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

SUFFIX = ".ipynb"


def setup(app: Sphinx) -> None:
    """Register notebooks as pages."""
    app.connect("source-read", _read)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the Markdown of a notebook in the place of its JSON."""
    path = Path(app.env.doc2path(name))
    if path.suffix == SUFFIX:
        with contextlib.chdir(app.srcdir):
            source[0] = page_of(source[0])


def page_of(notebook: str) -> str:
    """Return a notebook, its cells run in order, as Markdown. Raises what a cell raises."""
    names: dict[str, object] = {}
    cells = json.loads(notebook)["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell["cell_type"], "".join(cell["source"]), names))


def _cell(kind: str, text: str, names: dict[str, object]) -> Iterator[str]:
    """Yield what one cell shows."""
    if kind == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _run(text, names)
    if printed.getvalue():
        yield f"```text\n{printed.getvalue()}```"
    if value is not None:
        yield _shown(value)


def _run(text: str, names: dict[str, object]) -> object:
    """Run a cell and return the value of its last line, None where that is no expression."""
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)  # a notebook of this repository
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def _shown(value: object) -> str:
    """Return the richest form that a value has for notebooks."""
    for form in ("_repr_html_", "_repr_svg_"):
        rich = getattr(value, form, lambda: None)()
        if rich:
            return f"````{{raw}} html\n<div>{rich}</div>\n````"
    return f"```text\n{value!r}\n```"
