"""The body of a thread as straight pieces and loops, each piece with its data flow; rounds of loops at their middle."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable
from dse.gpu.fpga.dataflow import Dataflow, dataflow
from dse.model.fpga import Fpga
from dse.model.kernel import Kernel
from dse.passes.analyses.affine import affine
from dse.program.ir import Expr, ForEach, Stmt, While
from dse.program.walk import sub_statements


@dataclass(frozen=True, slots=True)
class Straight:
    """Code without loops. ``around``: the loops of the thread around it, the outermost first."""

    flow: Dataflow
    around: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nested:
    """A loop of the thread; ``rounds`` is a mean where the bounds follow an outer loop; ``step``: of its variable."""

    variable: str
    rounds: float
    body: tuple["Piece", ...]
    step: int

    @property
    def pipelined(self) -> Dataflow | None:
        """The data flow of its body where no loop is in it: its rounds overlap."""
        return self.body[0].flow if len(self.body) == 1 and isinstance(self.body[0], Straight) else None


Piece: TypeAlias = Straight | Nested


def pieces_of(kernel: Kernel, fpga: Fpga) -> tuple[Piece, ...]:
    """Return the pieces of a thread. Raises ``ModelNotApplicable`` for a loop whose rounds only data tell."""
    middles = {loop.variable.name: loop.low + loop.step * (loop.extent - 1) / 2 for loop in kernel.parallel}
    scalars = {scalar.variable.name: float(scalar.value) for scalar in kernel.scalars}
    return tuple(_pieces(kernel, kernel.body, fpga, {**scalars, **middles}, ()))


def _pieces(
    kernel: Kernel, body: Iterable[Stmt], fpga: Fpga, known: Mapping[str, float], around: tuple[str, ...]
) -> Iterator[Piece]:
    straight: list[Stmt] = []
    for statement in body:
        if not isinstance(statement, ForEach | While) and not _has_loop(statement):
            straight.append(statement)
            continue
        if straight:
            yield Straight(dataflow(kernel, straight, fpga), around)
            straight = []
        if not isinstance(statement, ForEach):
            raise ModelNotApplicable(
                "how often this runs is not known before it runs",
                span=statement.span,
                expected="for loops around conditions, with bounds that follow sizes",
            )
        yield _nested(kernel, statement, fpga, known, around)
    if straight:
        yield Straight(dataflow(kernel, straight, fpga), around)


def _has_loop(statement: Stmt) -> bool:
    return any(isinstance(s, ForEach | While) for s in sub_statements((statement,)))


def _nested(kernel: Kernel, loop: ForEach, fpga: Fpga, known: Mapping[str, float], around: tuple[str, ...]) -> Nested:
    low, high = _middle(loop.low, known), _middle(loop.high, known)
    if low is None or high is None:
        raise ModelNotApplicable(
            "how often this loop runs is not known before it runs",
            span=loop.span,
            expected="bounds that follow sizes and outer loops",
        )
    name = loop.variable.name
    inner = {**known, name: (low + high) / 2}
    body = tuple(_pieces(kernel, loop.body, fpga, inner, (*around, name)))
    return Nested(name, max(0.0, (high - low) / loop.step + 1), body, loop.step)


def _middle(bound: Expr, known: Mapping[str, float]) -> float | None:
    """Return a bound with all variables at the middle of their ranges."""
    form = affine(bound)
    if form is None or any(name not in known for name, _ in form.terms):
        return None
    return form.constant + sum(by * known[name] for name, by in form.terms)


def straights(pieces: Iterable[Piece]) -> Iterator[Straight]:
    """Yield the straight pieces in the order of the program."""
    for piece in pieces:
        if isinstance(piece, Straight):
            yield piece
        else:
            yield from straights(piece.body)


def rounds_of_loops(kernel: Kernel, pieces: Iterable[Piece]) -> dict[str, float]:
    """Return the rounds of each loop by its variable, those of threads first, the outermost of all first."""
    found = {loop.variable.name: float(loop.extent) for loop in reversed(kernel.parallel)}
    waiting = list(pieces)
    while waiting:
        piece = waiting.pop(0)
        if isinstance(piece, Nested):
            found[piece.variable] = piece.rounds
            waiting[:0] = piece.body
    return found


def steps_of_loops(kernel: Kernel, pieces: Iterable[Piece]) -> dict[str, int]:
    """Return by how much the variable of each loop goes on from round to round."""
    found = {loop.variable.name: loop.step for loop in kernel.parallel}
    for piece in pieces:
        if isinstance(piece, Nested):
            found |= {piece.variable: piece.step, **steps_of_loops(kernel, piece.body)}
    return found
