"""Markup that results show in a notebook: tables and lines, every text escaped, no script and nothing to load."""

from collections.abc import Iterable, Sequence

from dse.base.escaping import page_text

_CELL = "padding:.15em .7em .15em 0;border-bottom:1px solid #ddd;vertical-align:top"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """Return a table whose last ``names`` columns are texts at the left, all others numbers at the right."""
    numbers = len(heads) - names
    aligned = ["right" if column < numbers else "left" for column in range(len(heads))]
    head = "".join(_cell("th", text, where) for text, where in zip(heads, aligned, strict=True))
    lines = ("".join(_cell("td", text, at) for text, at in zip(row, aligned, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(tag: str, text: str, where: str) -> str:
    return f'<{tag} style="text-align:{where};{_CELL}">{page_text(text)}</{tag}>'


def line(text: str, *, strong: str = "") -> str:
    """Return a paragraph, with ``strong`` before the rest."""
    head = f"<b>{page_text(strong)}</b> " if strong else ""
    return f'<p style="margin:.4em 0">{head}{page_text(text)}</p>'


def note(texts: Iterable[str]) -> str:
    """Return what was assumed as a small paragraph; nothing where that is nothing."""
    said = "; ".join(texts)
    return f'<p style="margin:.4em 0;color:#666;font-size:.85em">assumed: {page_text(said)}</p>' if said else ""


def block(*parts: str) -> str:
    """Return parts one below the other; wide ones scroll."""
    return '<div style="overflow-x:auto">' + "\n".join(parts) + "</div>"
