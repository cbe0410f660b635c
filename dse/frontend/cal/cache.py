"""Loading ``.cal`` files: read, then parse."""

from dse.base.diagnostics import Gatherer, read_source
from dse.base.source import file_span
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.parser import parse_cal


def load_cal(path: str, gather: Gatherer) -> CalFile | None:
    """Return the syntax tree of the file at ``path``; errors, that of an unreadable file included, go to ``gather``."""
    try:
        text = read_source(path)
    except OSError as problem:
        gather.error(f"cannot read this file: {problem.strerror}", file_span(path, 0, 0))
        return None
    return parse_cal(path, text, gather)
