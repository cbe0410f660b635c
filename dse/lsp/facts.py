"""What the IR of an actor knows of its declarations, by their spans: types, values, ranges, rates. For hovers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dse.base.source import Span
from dse.passes.analyses.expression_ranges import range_of, stored
from dse.passes.analyses.ranges import Interval, container, hull
from dse.program import ir
from dse.program.types import IntType, ListType, Type, bytes_of, dimensions_of, scalar_of
from dse.program.walk import nodes_of

LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one firing of an action reads and writes: (port, tokens) in the order of the patterns."""

    action: ir.Action
    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]
    states: tuple[str, ...]
    """The states in which it may fire; empty without an FSM, and for an initializer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorFacts:
    """Facts by the span of a declaration."""

    actor: ir.Actor
    types: dict[Span, Type] = field(default_factory=dict)
    values: dict[Span, str] = field(default_factory=dict)
    """Values of constants, as text."""
    ranges: dict[Span, Interval] = field(default_factory=dict)
    """Ranges of loop variables, where their bounds are known."""
    rates: dict[Span, Rates] = field(default_factory=dict)


def facts_of(actor: ir.Actor) -> ActorFacts:
    """Return what is known of the declarations of an actor."""
    facts = ActorFacts(actor=actor)
    for variable in _variables_of(actor):
        facts.types[variable.span] = variable.type
    for port in (*actor.inputs, *actor.outputs):
        facts.types[port.span] = port.type
    for variable in actor.variables:
        if variable.kind == "constant" and isinstance(variable.initial, ir.Const | ir.ConstList):
            facts.values[variable.span] = value_text(variable.initial)
    for span, interval in _loop_ranges(actor):
        facts.ranges[span] = interval
    for index, action in enumerate(actor.actions):
        facts.rates[action.span] = _rates(actor, index)
    return facts


def _variables_of(actor: ir.Actor) -> Iterator[ir.Variable]:
    """Yield all variables that an actor declares anywhere."""
    return (node for node in nodes_of(_roots(actor)) if isinstance(node, ir.Variable))


def _roots(actor: ir.Actor) -> tuple[object, ...]:
    return (actor.variables, actor.routines, actor.natives, actor.actions)


def _loop_ranges(actor: ir.Actor) -> Iterator[tuple[Span, Interval]]:
    """Yield the range of each loop variable whose bounds are known."""
    known = {v.name: range_of(v.initial, {}) for v in actor.variables if v.kind == "constant" and v.initial is not None}
    for node in nodes_of(_roots(actor)):
        if isinstance(node, ir.ForEach | ir.GeneratorLoop):
            low, high = (stored(range_of(bound, known), node.variable.type) for bound in (node.low, node.high))
            yield node.variable.span, hull(low, high)


def _rates(actor: ir.Actor, index: int) -> Rates:
    action = actor.actions[index]
    states = [
        name
        for name, leaving in zip(actor.states, actor.transitions, strict=True)
        if any(transition.action == index for transition in leaving)
    ]
    return Rates(
        action=action,
        reads=tuple((actor.inputs[p.port].name, p.tokens) for p in action.inputs),
        writes=tuple((actor.outputs[p.port].name, p.tokens) for p in action.outputs),
        states=tuple(states) if actor.has_fsm else (),
    )


# Text -----------------------------------------------------------------------------------------------------------------


def type_text(of: Type) -> str:
    """Return what a type holds, in words: range, bytes, elements."""
    scalar = scalar_of(of)
    parts = []
    if isinstance(of, ListType):
        sizes = " x ".join(f"{size:,}" for size in dimensions_of(of))
        parts.append(f"{sizes} elements of {scalar}, {bytes_of(of):,} bytes")
    if isinstance(scalar, IntType):
        parts.append(f"values {interval_text(container(scalar))}")
        if scalar.size != scalar.container_bits:
            parts.append(f"kept in {scalar.container_bits} bits")
    return "; ".join(parts)


def interval_text(interval: Interval) -> str:
    """Return a range as text; "" where it is not known."""
    if interval is None:
        return ""
    return f"{_integer(interval[0])} .. {_integer(interval[1])}"


def _integer(value: int) -> str:
    """Return an integer; of a large one a power of two that is it, next to it or near it."""
    if value.bit_length() <= 64:
        return str(value)
    sign, size = "-" if value < 0 else "", abs(value)
    if size & (size - 1) == 0:
        return f"{sign}2^{size.bit_length() - 1}"
    if size & (size + 1) == 0 and not sign:
        return f"2^{size.bit_length()} - 1"
    return f"about {sign}2^{size.bit_length()}"


def value_text(value: ir.Const | ir.ConstList) -> str:
    """Return the value of a constant as CAL writes it, cut where it is long."""
    if isinstance(value, ir.ConstList):
        return _shortened(_list_text(value.values))
    return _shortened(_scalar_text(value.value))


def _list_text(values: object) -> str:
    if isinstance(values, tuple):
        shown = ", ".join(_list_text(v) for v in values[:LONGEST_VALUE])
        return f"[{shown}{', ...' if len(values) > LONGEST_VALUE else ''}]"
    return _scalar_text(values)


def _scalar_text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return _integer(value)
        case str():
            return f'"{value}"'
        case _:
            return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 4] + " ..."


def rates_text(rates: Rates) -> str:
    """Return what a firing does to its ports, and when it may happen."""
    reads = ", ".join(f"{tokens:,} of `{port}`" for port, tokens in rates.reads)
    writes = ", ".join(f"{tokens:,} to `{port}`" for port, tokens in rates.writes)
    lines = [f"reads {reads}" if reads else "reads nothing", f"writes {writes}" if writes else "writes nothing"]
    if rates.action.guards:
        lines.append("guarded")
    if rates.states:
        lines.append("in " + ("state " if len(rates.states) == 1 else "states ") + ", ".join(rates.states))
    return "; ".join(lines)


def port_rates_text(facts: ActorFacts, port: str, *, is_input: bool) -> str:
    """Return how many tokens the actions move at a port in one firing, actions of one rate together."""
    by_tokens: dict[int, list[str]] = {}
    for action in facts.actor.actions:
        rates = facts.rates[action.span]
        tokens = dict(rates.reads if is_input else rates.writes).get(port, 0)
        if tokens:
            by_tokens.setdefault(tokens, []).append(action.name)
    reads, read = ("reads", "read") if is_input else ("writes", "written")
    if not by_tokens:
        return f"no action {reads} it"
    parts = (f"{tokens:,} by {_names(names)}" for tokens, names in sorted(by_tokens.items()))
    return f"tokens {read} by a firing: " + "; ".join(parts)


def _names(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
