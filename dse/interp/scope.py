"""Names of one actor while its code is generated: IR variables and routines, and what stands for them in Python."""

from dataclasses import dataclass, field

from dse.base.source import Span
from dse.interp.code import Names
from dse.interp.facts import ActorFacts, gather_facts
from dse.interp.intervals import Interval, container, hull
from dse.interp.support import copy_nested
from dse.model.ir import Actor, Const, ConstList, Native, Routine, Variable
from dse.model.types import ListType, dimensions_of


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its Python name, or the text that stands for it (``literal``); bounds of the integers it holds."""

    python: str
    variable: Variable
    interval: Interval
    literal: Const | None = None
    by_reference: bool = False
    """A list parameter: its sizes are those of the argument, not the declared ones."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Declared sizes of a list, outermost first."""
        return dimensions_of(self.variable.type)


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
    sites: list[tuple[Span, str]] = field(default_factory=list)

    def declare(self, variable: Variable, interval: Interval = None, *, by_reference: bool = False) -> Symbol:
        """Add a variable; ``interval`` overrides the bounds of its container."""
        bounds = container(variable.type) if interval is None else interval
        symbol = Symbol(python_name(variable.name), variable, bounds, by_reference=by_reference)
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

    def table(self, values: tuple[object, ...]) -> str:
        """Return the name of a list object with these elements."""
        return self.names.object(copy_nested(values))


def open_scope(actor: Actor) -> Scope:
    """Return the scope of an actor with its variables, routines and natives."""
    scope = Scope(actor, gather_facts(actor), Names())
    for variable in actor.variables:
        if variable.name in scope.facts.mutated:
            scope.declare(variable)
        else:
            scope.declare_constant(variable)
    scope.routines = {r.name: r for r in actor.routines}
    scope.natives = {n.name: n for n in actor.natives}
    return scope


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
