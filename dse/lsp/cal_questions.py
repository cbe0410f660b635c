"""Answers about CAL files."""

from typing import Protocol

from dse.base.escaping import shown
from dse.frontend.cal.references import Declaration
from dse.lsp.answers import Hovered, Location, Offered, Outlined
from dse.lsp.cal_view import KEYWORDS, CalView
from dse.lsp.facts import ActorFacts, interval_text, port_rates_text, rates_text, type_text
from dse.lsp.markdown import code, fenced, prose

_PORTS = ("input port", "output port")


class Files(Protocol):
    """Where CAL files and what is known of them come from."""

    def cal(self, path: str) -> CalView | None:
        """Return a CAL file."""

    def facts(self, path: str) -> ActorFacts | None:
        """Return what the IR of an actor knows."""


class CalQuestions:
    """Questions about one CAL file."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._view = files.cal(path)

    def definition(self, offset: int) -> tuple[Location, ...]:
        """Return the declarations of the name at a place."""
        if self._view is None:
            return ()
        targets = self._view.targets_at(*self._view.source.line_and_column(offset))
        located = (location_of(self._files, target) for target in targets)
        return tuple(location for location in located if location is not None)

    def hover(self, offset: int) -> Hovered | None:
        """Return what is known of the name at a place."""
        if self._view is None:
            return None
        place = self._view.source.line_and_column(offset)
        word, targets = self._view.word_at(*place), self._view.targets_at(*place)
        if word is None or not targets:
            return None
        start, end = self._view.source.range_of(word.span)
        texts = (hover_text(self._files, target, self._path) for target in targets[:8])
        return Hovered(text="\n\n---\n\n".join(texts), start=start, end=end)

    def outline(self) -> tuple[Outlined, ...]:
        """Return the actor or unit with its declarations."""
        view = self._view
        if view is None or view.names is None:
            return ()
        facts = self._files.facts(self._path)
        children = tuple(self._outlined(view, member, facts) for member in view.names.members)
        return (self._outlined(view, view.names.entity, facts, children),)

    def _outlined(
        self, view: CalView, declared: Declaration, facts: ActorFacts | None, children: tuple[Outlined, ...] = ()
    ) -> Outlined:
        start, end = view.source.range_of(declared.span)
        name_start, name_end = view.source.range_of(view.name_span(declared))
        return Outlined(
            name=shown(declared.name) or declared.kind,
            detail=_detail(declared, facts),
            kind=declared.kind,
            start=start,
            end=end,
            name_start=min(max(start, name_start), end),
            name_end=min(max(start, name_end), end),
            children=children,
        )

    def completion(self, offset: int) -> tuple[Offered, ...]:
        """Return the names that are seen at a place, and the reserved words."""
        view = self._view
        if view is None:
            return ()
        line, column = view.source.line_and_column(offset)
        word = view.word_at(line, column)
        start = offset if word is None else view.source.range_of(word.span)[0]
        facts = self._files.facts(self._path)
        names = [
            Offered(name=shown(d.name), kind=d.kind, detail=_detail(d, facts), start=start, end=offset)
            for d in view.seen_at(line, column)
        ]
        words = [Offered(name=w, kind="keyword", detail="", start=start, end=offset) for w in KEYWORDS]
        return (*names, *words)


def location_of(files: Files, declared: Declaration) -> Location | None:
    """Return where a declaration stands."""
    view = files.cal(declared.span.path)
    if view is None:
        return None
    start, end = view.source.range_of(declared.span)
    name_start, name_end = view.source.range_of(view.name_span(declared))
    return Location(source=view.source, start=start, end=end, name_start=name_start, name_end=name_end)


def hover_text(files: Files, declared: Declaration, path: str) -> str:
    """Return what is known of a declaration, as Markdown; ``path``: the file in which it is asked for."""
    view = files.cal(declared.span.path)
    if view is None:
        return code(declared.name)
    facts = files.facts(declared.span.path) or files.facts(path)
    head = view.head_text(declared)
    kind = declared.kind
    parts = [fenced(head if declared.kind != "state" else f"state {declared.name}"), f"*{kind}*"]
    parts += _known(declared, facts)
    if declared.span.path != path and view.names is not None:
        parts.append(f"declared in {code(_entity_name(view))}")
    comment = view.comment_above(declared)
    return "\n\n".join([*(p for p in parts if p), *([prose(comment)] if comment else [])])


def _entity_name(view: CalView) -> str:
    assert view.tree is not None, "what is declared in a file has a tree"
    package, name = view.tree.package, view.tree.entity.name
    return f"{package}.{name}" if package else name


def _known(declared: Declaration, facts: ActorFacts | None) -> list[str]:
    """Return what the IR knows of a declaration."""
    if facts is None:
        return []
    span = declared.span
    lines = []
    if span in facts.types:
        lines.append(f"{code(str(facts.types[span]))}: {type_text(facts.types[span])}".rstrip(": "))
    if span in facts.values:
        lines.append(f"value {code(facts.values[span])}")
    if facts.ranges.get(span) is not None:
        lines.append(f"runs over {interval_text(facts.ranges[span])}")
    if span in facts.rates:
        lines.append(rates_text(facts.rates[span]))
    if declared.kind in _PORTS:
        lines.append(port_rates_text(facts, declared.name, is_input=declared.kind == "input port"))
    if declared.kind == "actor":
        lines += actor_lines(facts)
    if declared.kind == "state":
        lines.append(_state_text(facts, declared.name))
    return lines


def actor_lines(facts: ActorFacts) -> list[str]:
    """Return the ports of an actor with types and rates, as lines of Markdown."""
    lines = [
        f"- {side} {code(port.name)}: {port.type}; {port_rates_text(facts, port.name, is_input=side == 'in')}"
        for side, ports in (("in", facts.actor.inputs), ("out", facts.actor.outputs))
        for port in ports
    ]
    count = len(facts.actor.actions) - len(facts.actor.initializers)
    states = f", {len(facts.actor.states)} states" if facts.actor.has_fsm else ""
    return ["\n".join([*lines, f"- {count} action{'s' if count != 1 else ''}{states}"])]


def _state_text(facts: ActorFacts, state: str) -> str:
    if state not in facts.actor.states:
        return ""
    leaving = facts.actor.transitions[facts.actor.states.index(state)]
    tried = [
        f"{code(facts.actor.actions[t.action].name)} to {code(facts.actor.states[t.target])}" for t in leaving[:12]
    ]
    more = f" and {len(leaving) - 12} more" if len(leaving) > 12 else ""
    return "tries, in this order: " + ", ".join(tried) + more if tried else "nothing fires in it"


def _detail(declared: Declaration, facts: ActorFacts | None) -> str:
    """Return the type of a declaration, or the rates of an action, for lists."""
    if facts is None:
        return declared.kind
    if declared.span in facts.types:
        return shown(str(facts.types[declared.span]))
    if declared.span in facts.rates:
        return shown(rates_text(facts.rates[declared.span]).replace("`", ""))
    return declared.kind
