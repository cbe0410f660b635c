"""Names of one actor while its code is generated: IR variables and routines, and what stands for them in Python."""

from dataclasses import dataclass, field, replace
from math import prod

from dse.base.source import Span
from dse.codegen.python.code import Names
from dse.codegen.python.support import copy_nested, zeros
from dse.model.rounds import LoopKey, loop_key
from dse.passes.analyses.list_sizes import parameter_sizes
from dse.passes.analyses.ranges import Interval, container, hull
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.program.ir import Actor, Const, ConstList, ForEach, Native, Routine, Variable, While
from dse.program.types import BoolType, FloatType, ListType, StringType, Type, dimensions_of, scalar_of

_LAZY_ELEMENTS = 1 << 16
"""Elements from which a list of several dimensions gets its parts on demand."""
_PART_ELEMENTS = 1 << 12


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its Python name, or the text that stands for it (``literal``); bounds of the integers it holds."""

    python: str
    variable: Variable
    interval: Interval
    literal: Const | None = None
    by_reference: bool = False
    """A list parameter: its sizes are those of the argument, not the declared ones."""
    zero_part: str = ""
    """For a large list whose parts are made when they are first written: the name of the zeros that they share."""
    lazy_depth: int = 0
    """Number of indices that lead to such a part."""
    known_sizes: tuple[int, ...] = ()
    """Sizes that every argument of a list parameter has; empty where they are not known."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of a list, outermost first; for a parameter those that every argument has, else the declared ones."""
        return self.known_sizes or dimensions_of(self.variable.type)

    @property
    def bounded(self) -> bool:
        """Whether ``sizes`` are certain."""
        return not self.by_reference or bool(self.known_sizes)


def python_name(name: str) -> str:
    """Return a Python identifier for an IR name; distinct names stay distinct, and apart from the generator's own."""
    return "v_" + "".join(c if c.isalnum() and c.isascii() else "_" if c == "_" else f"_{ord(c):x}_" for c in name)


@dataclass(slots=True)
class Scope:
    """The symbols of an actor. Local symbols are added as their declarations are met."""

    actor: Actor
    facts: ActorFacts
    names: Names
    symbols: dict[str, Symbol] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    natives: dict[str, Native] = field(default_factory=dict)
    parameter_sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sites: list[tuple[Span, str]] = field(default_factory=list)
    loops: dict[LoopKey, int] | None = None
    """The numbers of the loops whose rounds are counted; None: none are."""

    def declare(self, variable: Variable, interval: Interval = None, *, by_reference: bool = False) -> Symbol:
        """Add a variable; ``interval`` overrides the bounds of its container."""
        bounds = container(variable.type) if interval is None else interval
        known = self.parameter_sizes.get(variable.name, ())
        symbol = Symbol(python_name(variable.name), variable, bounds, by_reference=by_reference, known_sizes=known)
        self.symbols[variable.name] = symbol
        return symbol

    def declare_constant(self, variable: Variable) -> Symbol:
        """Add an actor variable that is never assigned; a literal stands for itself, a table bounds its elements."""
        initial = variable.initial
        bounds = container(variable.type)
        if isinstance(initial, ConstList) and bounds is not None:
            bounds = _table_bounds(initial.values, bounds)
        literal = initial if isinstance(initial, Const) and not isinstance(variable.type, ListType) else None
        symbol = Symbol(python_name(variable.name), variable, bounds, literal)
        self.symbols[variable.name] = symbol
        return symbol

    def site(self, span: Span, name: str) -> int:
        """Return the number of a place that may access ``name`` out of bounds."""
        self.sites.append((span, name))
        return len(self.sites) - 1

    def counted(self, loop: ForEach | While) -> tuple[str, str] | None:
        """Return the lines that count an entry and a round of a loop, or None where none are counted."""
        if self.loops is None:
            return None
        number = self.loops.setdefault(loop_key(loop), len(self.loops))
        return f"rounds[{2 * number}] += 1", f"rounds[{2 * number + 1}] += 1"

    def table(self, values: tuple[object, ...]) -> str:
        """Return the name of a list object with these elements."""
        return self.names.object(copy_nested(values))


def open_scope(actor: Actor) -> Scope:
    """Return the scope of an actor with its variables, routines and natives."""
    scope = Scope(actor, gather_facts(actor), Names(), parameter_sizes=parameter_sizes(actor))
    for variable in actor.variables:
        if is_lazy(variable, scope.facts):
            symbol = scope.declare(variable)
            depth = lazy_depth(symbol.sizes)
            part = scope.names.object(zeros(symbol.sizes[depth:], zero_of(variable.type)))
            scope.symbols[variable.name] = replace(symbol, zero_part=part, lazy_depth=depth)
        elif variable.name in scope.facts.mutated:
            scope.declare(variable)
        else:
            scope.declare_constant(variable)
    scope.routines = {r.name: r for r in actor.routines}
    scope.natives = {n.name: n for n in actor.natives}
    return scope


def is_lazy(variable: Variable, facts: ActorFacts) -> bool:
    """Return whether a list is so large that its parts are only made when they are written: picture stores are mostly
    far larger than the pictures (an AVC decoder declares 1.9 GB of them), and only single elements are written.
    """
    sizes = dimensions_of(variable.type)
    return (
        len(sizes) > 1
        and prod(sizes) >= _LAZY_ELEMENTS
        and variable.initial is None
        and variable.name not in facts.by_reference
        and variable.name not in facts.whole_assigned
    )


def lazy_depth(sizes: tuple[int, ...]) -> int:
    """Return how many indices lead to a part of a lazy list: parts of at most about a picture line."""
    depths = range(1, len(sizes))
    return next((k for k in depths if prod(sizes[k:]) <= _PART_ELEMENTS), len(sizes) - 1)


def zero_of(of: Type) -> object:
    """Return the zero of the scalars of a type."""
    match scalar_of(of):
        case BoolType():
            return False
        case FloatType():
            return 0.0
        case StringType():
            return ""
        case _:
            return 0


def _table_bounds(values: tuple[object, ...], limit: Interval) -> Interval:
    """Return the bounds of the integers of a nested table; ``limit`` when it is empty or padded or wraps."""
    bounds: Interval = None
    pending: list[object] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending += value
        elif isinstance(value, int):
            bounds = (value, value) if bounds is None else hull(bounds, (value, value))
    if bounds is None or limit is None or bounds[0] < limit[0] or bounds[1] > limit[1]:
        return limit
    return min(bounds[0], 0), max(bounds[1], 0)
