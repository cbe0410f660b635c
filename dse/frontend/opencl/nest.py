"""An OpenCL kernel as a loop nest in C that models price: a loop for each dimension of its index space around its body.

Lines stay where they are, so that what models say has the place in the kernel file.
"""

import re
from collections.abc import Mapping, Sequence

from dse.base.errors import ModelNotApplicable
from dse.base.source import file_span
from dse.frontend.opencl.parse import ATTRIBUTE, QUALIFIER, UNDERSCORED, VECTORS, blank

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_INDEX = re.compile(r"\bget_(global_id|local_id|group_id|global_size|local_size|num_groups)\s*\(\s*([012])\s*\)")
_BARRIER = re.compile(r"\b(?:barrier|work_group_barrier|(?:read_|write_)?mem_fence)\s*\([^()]*\)")
_UNREAD = re.compile(r"\bget_\w+\s*\(")
_VECTOR = re.compile(rf"\b(?:{'|'.join(VECTORS)})\b")
_LOOP = "item_of_dimension_"


def loop_variables(dims: int) -> tuple[str, ...]:
    """Return the variables of the loops that stand for the index space, outermost first."""
    return tuple(f"{_LOOP}{d}" for d in reversed(range(dims)))


def loop_nest(path: str, text: str, kernel: str, dims: int, tile: str, size: str, values: Mapping[str, int]) -> str:
    """Return the text of a kernel as a loop nest. ``tile``, ``size``: macros or numbers; ``values``: of its arguments.

    Raises ``ModelNotApplicable`` where the kernel asks something of its index space that this does not know, or has
    vector types.
    """
    plain = ATTRIBUTE.sub(blank, UNDERSCORED.sub(r"\1", _COMMENT.sub(blank, text)))
    plain = QUALIFIER.sub(lambda found: "register " if found[1] == "local" else " ", plain)
    begin, end = _body(path, plain, kernel)
    body = _INDEX.sub(lambda found: _index(found[1], int(found[2]), tile, size), plain[begin:end])
    body = _BARRIER.sub("__syncthreads()", body)
    _refuse(path, plain, _VECTOR.search(plain), "models know no vector types", "numbers one by one")
    unread = _UNREAD.search(plain[:begin] + body)
    _refuse(path, plain[:begin] + body, unread, "this is no index of a loop nest", "get_global_id(0) and the like")
    for name, value in values.items():
        body = re.sub(rf"\b{re.escape(name)}\b", str(value), body)
    head = " ".join(f"for (int {v} = 0; {v} < {size}; {v}++)" for v in loop_variables(dims))
    return f"{plain[:begin]} {head} {{ {body} }} {plain[end:]}"


def _refuse(path: str, text: str, found: re.Match[str] | None, why: str, expected: str) -> None:
    """Raise ``ModelNotApplicable`` where something was found."""
    if found is not None:
        span = file_span(path, text.count("\n", 0, found.start()) + 1)
        raise ModelNotApplicable(f"{found[0].rstrip('( ')}: {why}", span=span, expected=expected)


def _index(what: str, dimension: int, tile: str, size: str) -> str:
    variable = f"{_LOOP}{dimension}"
    return {
        "global_id": variable,
        "local_id": f"({variable} % {tile})",
        "group_id": f"({variable} / {tile})",
        "global_size": size,
        "local_size": tile,
        "num_groups": f"({size} / {tile})",
    }[what]


def _body(path: str, plain: str, kernel: str) -> tuple[int, int]:
    """Return where the body of a kernel begins and ends, without its braces."""
    for found in re.finditer(rf"\b{re.escape(kernel)}\s*\(", plain):
        begin = plain.find("{", _closing(plain, found.end(), "()"))
        if begin >= 0 and ";" not in plain[found.end() : begin]:
            return begin + 1, _closing(plain, begin + 1, "{}")
    raise ModelNotApplicable(
        f"the body of '{kernel}' is not in this file",
        span=file_span(path, 0),
        expected="its definition, not by a macro",
    )


def _closing(plain: str, start: int, pair: Sequence[str]) -> int:
    """Return where what is open before ``start`` is closed, the end of the text if it never is."""
    depth = 1
    for at in range(start, len(plain)):
        depth += (plain[at] == pair[0]) - (plain[at] == pair[1])
        if not depth:
            return at
    return len(plain)
