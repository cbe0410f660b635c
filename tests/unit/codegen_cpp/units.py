"""The C++ of small actors: as text, and as programs that run."""

from dse.codegen.cpp.actor_unit import ActorUnit, actor_unit
from dse.program.explicit import Wiring
from dse.program.types import Type
from tests.unit.frontend.lowering_support import actor_of


def unit_of(text: str, *, inputs: tuple[Type | None, ...] = (), fan_outs: tuple[int, ...] = ()) -> ActorUnit:
    """Return the file of an actor in CAL, its lines in comments left out."""
    return actor_unit(actor_of(text), Wiring(inputs, (), fan_outs), {})


def body_of(unit: ActorUnit, name: str) -> list[str]:
    """Return the lines of a member function, its head and its last line left out, without their indentation."""
    lines = [line.strip() for line in unit.text.splitlines()]
    first = next(k for k, line in enumerate(lines) if f" {name}(" in line and line.endswith("{"))
    depth, found = 0, []
    for line in lines[first:]:
        depth += line.count("{") - line.count("}")
        found.append(line)
        if depth == 0:
            break
    return found[1:-1]
