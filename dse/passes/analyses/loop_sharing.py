"""What is asked of a loop that threads may share, and the answer: the terms of ``loop_rounds`` and ``shared_loops``."""

from collections.abc import Mapping
from dataclasses import dataclass

from dse.base.source import Span
from dse.passes.analyses.operations import ASSUMED_TRIPS
from dse.passes.analyses.parallel_loops import MAX_PARALLEL
from dse.passes.analyses.uses import ActorFacts
from dse.passes.analyses.values import Values
from dse.program.explicit import ExplicitActor
from dse.program.ir import Binary, Call, Const, Declare, Expr, ForEach, Generator, GeneratorLoop, Index, Stmt
from dse.program.types import BoolType, IntType
from dse.program.walk import sub_expressions


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Statements that one thread does: of an action, by its number, or of a ``routine``.

    ``result``: what a routine gives. ``roots``: for each way in which it is called, the list that each list parameter
    stands for; None for one that is made for the call, or may be.
    """

    action: int
    routine: str
    statements: tuple[Stmt, ...]
    result: tuple[Expr, ...] = ()
    roots: tuple[Mapping[str, str | None], ...] = ({},)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSharing:
    """Whether a loop goes to the threads of a block. ``reason``: why not, a part of a sentence; ``span``: where.

    ``action``: its number; -1: it stands in ``routine``. ``place``: where the loop begins. ``loops``: one, or two
    directly inside each other, the outer first; all of those of ``generator``, where that list is what is made.
    ``lists``: of the firing or routine, that rounds access; ``views``: those of them that are parameters.
    ``taken``: scalars of the firing, loops around it included, that rounds read; ``left``: those that every round sets
    before it reads them. ``rounds`` and ``operations``: how many rounds there are, and what all do, about.
    """

    action: int
    routine: str
    loops: tuple[ForEach | GeneratorLoop, ...]
    reason: str
    span: Span
    place: Span
    generator: Generator | None = None
    lists: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rounds: int = 0
    operations: int = 0

    @property
    def able(self) -> bool:
        """Whether it does."""
        return not self.reason

    @property
    def names(self) -> str:
        """The variables of the loops as the source has them."""
        return ", ".join(map(source_name, self.loops))


class Asked:
    """An actor of which loops are judged."""

    def __init__(self, explicit: ExplicitActor, facts: ActorFacts, values: Values) -> None:
        self.facts = facts
        self.values = values
        self.routines = {r.name: r for r in explicit.routines}
        self.lasting = frozenset(v.name for v in (*explicit.actor.variables, *explicit.variables))
        self.sizes: dict[str, int] = {}

    def fixed(self, loop: ForEach | GeneratorLoop) -> tuple[int, int] | None:
        """Return the bounds of a loop that are numbers."""
        return fixed_bounds(loop, self.values)

    def trips(self, loop: ForEach | GeneratorLoop) -> int:
        """Return how many rounds a loop has, or what is taken for that."""
        fixed = self.fixed(loop)
        return ASSUMED_TRIPS if fixed is None else max(0, fixed[1] - fixed[0] + 1)

    def nest(self, loop: ForEach) -> tuple[ForEach, ...]:
        """Return a loop and those directly inside it, with bounds that are numbers, as the cost model takes them."""
        nest = [loop]
        while len(nest) < MAX_PARALLEL:
            rest = [s for s in nest[-1].body if not (isinstance(s, Declare) and s.value is None)]
            if len(rest) != 1 or not isinstance(rest[0], ForEach) or self.fixed(rest[0]) is None:
                break
            nest.append(rest[0])
        return tuple(nest)


def fixed_bounds(loop: ForEach | GeneratorLoop, values: Values) -> tuple[int, int] | None:
    """Return the first and the last value of a loop whose bounds are made of constants and cannot fail, else None."""
    low, high = values.interval(loop.low), values.interval(loop.high)
    plain = all(map(_is_plain, (p for e in (loop.low, loop.high) for p in sub_expressions(e))))
    if not plain or low is None or high is None or low[0] != low[1] or high[0] != high[1]:
        return None
    return low[0], high[0]


def _is_plain(part: Expr) -> bool:
    """Return whether a part of a bound neither calls nor fails, so that nobody misses it: 0 mod n does where n is 0."""
    match part:
        case Call() | Index():
            return False
        case Binary(op="/" | "mod", right=divisor):
            return isinstance(divisor, Const) and divisor.value not in (0, -1)
        case _:
            return isinstance(part.type, IntType | BoolType)


def source_name(loop: ForEach | GeneratorLoop) -> str:
    """Return the variable of a loop as the source has it; a wide counter's is what its body declares by it."""
    name = loop.variable.name.rstrip("~")
    declared = (stmt.variable for stmt in _body_of(loop) if isinstance(stmt, Declare))
    return next((v for v in declared if v.name == name), loop.variable).source_name or name


def _body_of(loop: ForEach | GeneratorLoop) -> tuple[Stmt, ...]:
    return loop.body if isinstance(loop, ForEach) else ()
