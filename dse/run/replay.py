"""Whether a recorded run is a run that the network may do: each actor's actions again, on the tokens that they get.

An actor that chooses by the absence of tokens may choose otherwise in every run. A recorded run is legal if, for each
firing in turn, the action may be tried in the state that the firings before have led to, its tokens come, its guards
hold, and no action that is tried before it would have been chosen with those very tokens. (One that asks for other
tokens may have lacked them.) Firings in their recorded order determine all tokens, so nothing but the order is needed.

Each actor is rewritten so that its guards ask what the record says. A *probe* stands before the actions for each
action that may have been passed over; its last guard reports it, and is False. FIFOs hold all tokens here: whether
a firing had room is not asked, since time decides that too.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.base.collector import collector_paused
from dse.base.folders import results_folder
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.program.ir import Action, Actor, Call, CallStmt, Const, Expr, Native, Transition, Unary, Variable
from dse.program.network import Network
from dse.program.types import BOOL, INT32
from dse.run.execution import ChannelResult, RunOptions, channel_results
from dse.run.instance import Fabric, Workshop, build_fabric
from dse.run.natives.access import FileAccess
from dse.run.natives.context import NativeContext, ProgramExit
from dse.run.natives.registry import NativeBindings
from dse.run.natives.screen import Screen
from dse.run.schedule import Scheduler, StopRules

_UNIT = "dse.replay"
_ENDLESS_FIFO_TOKENS = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Illegal:
    """The first firing of an actor that cannot have happened. ``firing``: its number in the actor's record, from 0."""

    actor: str
    firing: int
    action: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.actor}', firing {self.firing} ('{self.action}'): {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of a replay. ``channels``: what went through each connection, with the hash of its tokens."""

    illegal: tuple[Illegal, ...]
    channels: tuple[ChannelResult, ...]
    stdout: str


def replay_run(network: Network, firings: Sequence[NDArray[np.integer[Any]]], options: RunOptions) -> Replay:
    """Do the recorded firings of each instance again, and say which one cannot have happened.

    ``firings``: for each instance its action ids in order, of any integer type. ``options`` are those of the run;
    what the program writes it writes again. The natives of different actors must not share what they change.

    Raises ``ExecutionError`` where an action fails.
    """
    rewritten = {id(i.actor): _asking(i.actor) for i in network.instances}
    asking = replace(network, instances=tuple(replace(i, actor=rewritten[id(i.actor)]) for i in network.instances))
    fabric = build_fabric(asking, _ENDLESS_FIFO_TOKENS, hashing=True)
    pairs = zip(network.instances, firings, strict=True)
    records = [_Record(i.name, i.actor, [int(k) for k in ids]) for i, ids in pairs]
    printed: list[str] = []
    with contextlib.closing(_context(network, options, printed.append)) as context:
        _follow(fabric, records, _Bindings(context, options.natives, records), printed.append)
    illegal = [r.found for r in records if r.found is not None]
    if not illegal:
        illegal = [r.unfinished() for r in records if r.position < len(r.ids)]
    return Replay(
        illegal=tuple(illegal), channels=channel_results(network, fabric, hashed=True), stdout="".join(printed)
    )


def _context(network: Network, options: RunOptions, output: Callable[[str], object]) -> NativeContext:
    """Return the outside world of a run."""
    files = Path(options.files) if options.files is not None else results_folder(network.name) / "files"
    return NativeContext(options, output, FileAccess(options, Path(network.path).parent, files), Screen(options))


def _follow(fabric: Fabric, records: "list[_Record]", bindings: "_Bindings", output: Callable[[str], object]) -> None:
    """Let the rewritten actors fire until they have done all or one of them cannot go on."""
    states, moved, indices = [1] * len(records), [0], range(len(records))
    workshop = Workshop(fabric, accesses=False)
    with collector_paused():
        actors = [workshop.build(k, states, moved, output, bindings.of_instance(k)) for k in indices]
    total = sum(len(r.ids) for r in records)
    Scheduler(actors, states, moved, StopRules(max_firings=max(1, total), idle_firings=max(1, total))).run()


@dataclass(slots=True)
class _Record:
    """What one instance is to do, and how far it has come."""

    name: str
    actor: Actor
    ids: list[int]
    position: int = 0
    state: int = -1
    found: Illegal | None = None
    orders: list[dict[int, tuple[int, int]]] = field(default_factory=list)
    """For each state: action -> (its place in the order in which they are tried, the state that it leads to)."""

    def __post_init__(self) -> None:
        self.state = self.actor.initial_state
        self.orders = [
            {t.action: (place, t.target) for place, t in enumerate(table)} for table in self.actor.transitions
        ]

    def is_next(self, action: int) -> bool:
        """Return whether the record says that this action fires now."""
        return self.position < len(self.ids) and self.ids[self.position] == action

    def is_passed_over(self, action: int) -> bool:
        """Return whether an action is tried before the next one of the record, and asks for none but its tokens."""
        if self.position >= len(self.ids):
            return False
        order, chosen = self.orders[self.state], self.ids[self.position]
        if action not in order or chosen not in order or order[action][0] >= order[chosen][0]:
            return False
        return _asks_for_no_more(self.actor.actions[action], self.actor.actions[chosen])

    def fired(self, action: int) -> None:
        """Go on to the next firing."""
        if not self.is_next(action):  # an initializer, which chooses by itself
            self.report(f"'{self.actor.actions[action].name}' fires instead")
        if action not in self.actor.initializers:
            if action not in self.orders[self.state]:
                self.report(f"it is not tried in the state '{self.actor.states[self.state]}'")
            self.state = self.orders[self.state][action][1]
        self.position += 1

    def report(self, reason: str) -> bool:
        """Keep what is wrong with the present firing, and end the replay."""
        self.found = self._present(reason)
        raise ProgramExit(1)

    def unfinished(self) -> Illegal:
        """Return that the present firing never came about."""
        return self._present("its tokens never come, or the actor has ended")

    def _present(self, reason: str) -> Illegal:
        beyond = self.position >= len(self.ids)
        action = "none" if beyond else self.actor.actions[self.ids[self.position]].name
        return Illegal(actor=self.name, firing=self.position, action=action, reason=reason)


class _Bindings:
    """The natives of the program, and those that the rewritten actors ask."""

    def __init__(self, context: NativeContext, overrides: tuple[tuple[str, str], ...], records: list[_Record]) -> None:
        self._program = NativeBindings(context, overrides)
        self._records = records

    def of_instance(self, index: int) -> dict[str, Callable[..., Any]]:
        """Return the natives of an instance, by their unique names."""
        record = self._records[index]
        names = [a.name for a in record.actor.actions]
        asked: dict[str, Callable[..., Any]] = {
            "replay_next": record.is_next,
            "replay_passed": record.is_passed_over,
            "replay_preferred": lambda action: record.report(f"'{names[action]}' would have been chosen"),
            "replay_fails": lambda _action: record.report("its guards do not hold"),
            "replay_fired": record.fired,
        }
        return self._program.bind(record.actor) | {_name(record.actor, key): call for key, call in asked.items()}


# Rewriting an actor ---------------------------------------------------------------------------------------------------


def _asking(actor: Actor) -> Actor:
    """Return the actor with guards that ask a record: x: action ... guard g  -->  x: action ... guard next(x).

    Its states are gone, as the record keeps them. Before the actions stand, for each that has guards or may be passed
    over, the probes ``guard passed(x), g, preferred(x)`` and ``guard next(x), not g, fails(x)``.
    """
    facts = gather_facts(actor)
    chosen = [k for k in range(len(actor.actions)) if k not in actor.initializers]
    probes = [p for k in chosen for p in _probes(actor, k, facts)]
    actions = [_forced(actor, k) for k in range(len(actor.actions))]
    first = len(actions)
    order = (*range(first, first + len(probes)), *chosen)
    return replace(
        actor,
        actions=(*actions, *probes),
        natives=(*actor.natives, *_natives(actor)),
        states=("",),
        initial_state=0,
        transitions=(tuple(Transition(k, 0) for k in order),),
        has_fsm=False,
    )


def _probes(actor: Actor, index: int, facts: ActorFacts) -> list[Action]:
    """Return the probes of an action. What guards that call natives would have said is not known any more."""
    action = actor.actions[index]
    if facts.accesses[index].guard_calls_native:
        return []

    def probe(*guards: Expr) -> Action:
        return replace(action, outputs=(), guards=guards, declarations=(), body=(), schedule_outputs=False)

    found = []
    if not action.schedule_outputs:
        found.append(probe(_ask(actor, "passed", index), *action.guards, _ask(actor, "preferred", index)))
    for guard in action.guards:
        fails = Unary("not", guard, BOOL, guard.span)
        found.append(probe(_ask(actor, "next", index), fails, _ask(actor, "fails", index)))
    return found


def _forced(actor: Actor, index: int) -> Action:
    """Return an action that fires when the record says so, and tells it."""
    action = actor.actions[index]
    told = CallStmt(_name(actor, "replay_fired"), (Const(index, INT32),), action.span)
    guards = action.guards if index in actor.initializers else (_ask(actor, "next", index),)
    return replace(action, guards=guards, body=(told, *action.body), schedule_outputs=False)


def _ask(actor: Actor, question: str, index: int) -> Expr:
    return Call(_name(actor, f"replay_{question}"), (Const(index, INT32),), BOOL, actor.actions[index].span)


def _natives(actor: Actor) -> list[Native]:
    """Return the declarations of the natives that rewritten actors call."""
    found = []
    for key in ("replay_next", "replay_passed", "replay_preferred", "replay_fails", "replay_fired"):
        name = _name(actor, key)
        parameter = Variable(f"{name}_action", "action", INT32, "parameter")
        found.append(Native(name, key, _UNIT, (parameter,), None if key == "replay_fired" else BOOL))
    return found


def _name(actor: Actor, key: str) -> str:
    """Return a name that the actor does not use."""
    used = {x.name for group in (actor.variables, actor.routines, actor.natives) for x in group}
    while key in used:
        key += "_"
    return key


def _asks_for_no_more(action: Action, other: Action) -> bool:
    """Return whether an action needs no token that the other one does not need."""
    needs = {p.port: p.tokens for p in other.inputs}
    return all(p.tokens <= needs.get(p.port, 0) for p in action.inputs)
