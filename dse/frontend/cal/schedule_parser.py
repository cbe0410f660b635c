"""Schedules and priorities of an actor (Cal.xtext, sections priorities and schedule)."""

from dataclasses import dataclass, field

from dse.frontend.cal.ast import (
    ActionDecl,
    FsmDecl,
    FunctionDecl,
    ProcedureDecl,
    RegExp,
    RegExpChoice,
    RegExpDecl,
    RegExpRepeat,
    RegExpSequence,
    RegExpTag,
    Tag,
    Transition,
    VarDecl,
)
from dse.frontend.cal.cursor import SyntaxProblem
from dse.frontend.cal.statement_parser import StatementParser
from dse.frontend.cal.tokens import END_OF_FILE, IDENTIFIER

_LINE_STOPS = frozenset((";", "end"))


@dataclass(slots=True)
class Members:
    """The declarations of an entity, filled while they are read. ``closed_by``: the word that ended the plain ones."""

    variables: list[VarDecl] = field(default_factory=list)
    functions: list[FunctionDecl] = field(default_factory=list)
    procedures: list[ProcedureDecl] = field(default_factory=list)
    actions: list[ActionDecl] = field(default_factory=list)
    schedule: FsmDecl | RegExpDecl | None = None
    priorities: list[tuple[Tag, ...]] = field(default_factory=list)
    closed_by: str = ""


class ScheduleParser(StatementParser):
    """Parses ``schedule``, ``priority`` and, to refuse it, ``local fsm``."""

    def _schedule_or_priority(self, members: Members) -> None:
        """``ScheduleFsm | ScheduleRegExp | Priority | LocalFsm``."""
        kind = self._kinds[self._at]
        if kind == "local":
            self._local_fsm()
            return
        if kind == "schedule":
            if members.schedule is not None:
                self._report("an actor has one schedule", None, "join the two")
            elif members.closed_by:
                self._report("'schedule' stands before 'priority', not behind it", None, "move it up")
            members.closed_by = members.closed_by or "schedule"
            members.schedule = self._schedule() or members.schedule
        else:
            members.closed_by = members.closed_by or "priority"
            members.priorities.extend(self._priority())

    def _schedule(self) -> FsmDecl | RegExpDecl | None:
        """``'schedule' ('fsm' ID ':' AstTransition* | 'regexp' RegExp) 'end'``; None where it is broken."""
        start = self._at
        self._at += 1
        if self._accept("fsm"):
            initial = self._name("the name of the initial state")
            self._expect(":")
            transitions = self._transitions()
            self._close_block("schedule", start)
            return FsmDecl(initial, transitions, self._span(start))
        if not self._accept("regexp"):
            raise self._fail("'fsm' or 'regexp'")
        try:
            expression = self._regexp()
            self._expect("end", "it closes the schedule")
        except SyntaxProblem:
            self._depth = 0
            if self._skip_to(frozenset(("end",))) == "end":
                self._at += 1
            return None
        return RegExpDecl(expression, self._span(start))

    def _close_block(self, what: str, start: int) -> None:
        """Read the ``end`` of a schedule or priority block."""
        if not self._accept("end"):
            raise self._fail("'end'", f"nothing closes the {what} of line {self._lines[start]}")

    def _transitions(self) -> tuple[Transition, ...]:
        """``AstTransition*``, each recovering by itself."""
        transitions = []
        while self._kinds[self._at] not in ("end", END_OF_FILE) and not self._declaration_begins(self._at):
            start = self._at
            try:
                transitions.append(self._transition())
            except SyntaxProblem:
                self._skip_transition(start)
        return tuple(transitions)

    def _skip_transition(self, start: int) -> None:
        if self._at == start:
            self._at += 1
        if self._skip_to(_LINE_STOPS) == ";":
            self._at += 1

    def _transition(self) -> Transition:
        """``ID '(' AstTag ')' '-->' (ID | ExternalTarget) ';'``."""
        start = self._at
        source = self._name("a state or 'end'")
        hint = "a transition is written state (action) --> state;"
        self._expect("(", hint)
        tag = self._tag()
        if self._kinds[self._at] == ",":
            self._report("several tags in one transition are not supported", None, "write one transition a tag")
            raise SyntaxProblem
        self._expect(")", hint)
        self._expect("-->", hint)
        target = self._name("the name of a state")
        if self._kinds[self._at] == ".":
            external = self._token_span(self._at - 1)
            self._report("external FSM targets are not supported", external, "name a state of this schedule")
            raise SyntaxProblem
        self._semicolon("the transition")
        return Transition(source, tag, target, self._span(start))

    def _tag(self) -> Tag:
        """``AstTag: ID ('.' ID)*``."""
        start = self._at
        name = self._dotted("the tag of an action")
        return Tag(name, self._span(start))

    def _local_fsm(self) -> None:
        """``'local' 'fsm' ID ':' AstTransition* 'end'``: read over and refused."""
        start = self._at
        self._at += 1
        self._expect("fsm")
        self._dotted("the name of the FSM")
        self._gather.error("local FSMs are not supported", self._span(start), "write one 'schedule fsm' for the actor")
        if self._skip_to(frozenset(("end",))) == "end":
            self._at += 1

    # Regular expressions ----------------------------------------------------------------------------------------------

    def _regexp(self) -> RegExp:
        """``RegExpConcatenation ('|' RegExpConcatenation)*``."""
        self._enter()
        start = self._at
        parts = [self._regexp_sequence()]
        while self._accept("|"):
            parts.append(self._regexp_sequence())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else RegExpChoice(tuple(parts), self._span(start))

    def _regexp_sequence(self) -> RegExp:
        """``RegExpPostfix+``."""
        start = self._at
        parts = [self._regexp_postfix()]
        while self._kinds[self._at] in (IDENTIFIER, "(", "^"):
            parts.append(self._regexp_postfix())
        return parts[0] if len(parts) == 1 else RegExpSequence(tuple(parts), self._span(start))

    def _regexp_postfix(self) -> RegExp:
        """``(AstTag | '(' RegExp ')') ('*' | '?')*``."""
        start = self._at
        child: RegExp
        if self._accept("("):
            child = self._regexp()
            self._expect(")")
        elif self._kinds[start] in (IDENTIFIER, "^"):
            tag = self._tag()
            child = RegExpTag(tag, tag.span)
        else:
            raise self._fail("a tag or '('")
        links = 0
        while (op := self._kinds[self._at]) in ("*", "?"):
            self._at += 1
            links += 1
            self._check_chain(links)
            child = RegExpRepeat(child, op, self._span(start))
        return child

    # Priorities -------------------------------------------------------------------------------------------------------

    def _priority(self) -> list[tuple[Tag, ...]]:
        """``Priority: 'priority' Inequality* 'end'``, each inequality recovering by itself."""
        opened = self._at
        self._at += 1
        inequalities = []
        while self._kinds[self._at] not in ("end", END_OF_FILE) and not self._declaration_begins(self._at):
            start = self._at
            try:
                inequalities.append(self._inequality())
            except SyntaxProblem:
                self._skip_transition(start)
        self._close_block("priority", opened)
        return inequalities

    def _inequality(self) -> tuple[Tag, ...]:
        """``AstTag ('>' AstTag)+ ';'``."""
        tags = [self._tag()]
        self._expect(">", "an inequality is written a > b;")
        tags.append(self._tag())
        while self._accept(">"):
            tags.append(self._tag())
        self._semicolon("the inequality")
        return tuple(tags)
