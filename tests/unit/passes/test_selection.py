"""The choice of an action as a tree against the rules in words (cal.md 2.3), for random actors in random situations."""

import random
from dataclasses import dataclass

import pytest

from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Peek,
    When,
    Wiring,
)
from dse.program.ir import Action, Actor, Const, InputPattern, Load, OutputPattern, Port, Transition, Variable
from dse.program.types import BOOL, INT32

N_PORTS = 3


@dataclass(frozen=True)
class Situation:
    """What an actor finds: tokens on its inputs, room on its outputs, which guards would hold, its state."""

    tokens: tuple[int, ...]
    room: tuple[int, ...]
    guards: tuple[bool, ...]
    state: int


Outcome = tuple[str, int | None, int | None, bool]
"""What happens ("fire", "blocked" or "nothing"), the action, the state after it, whether room is waited for too."""


def random_actor(rng: random.Random) -> tuple[Actor, Wiring]:
    """An actor with tagged and untagged actions, rates, guards, states and unconnected ports."""
    ports = tuple(Port(f"P{k}", INT32) for k in range(N_PORTS))
    actions = tuple(random_action(rng, k) for k in range(rng.randint(1, 6)))
    n_states = rng.choice((1, 1, 2, 4))
    untagged = [k for k, a in enumerate(actions) if not a.tagged]
    tables = []
    for state in range(n_states):
        tagged = [k for k, a in enumerate(actions) if a.tagged and rng.random() < 0.7]
        rng.shuffle(tagged)
        own = tuple(Transition(k, rng.randrange(n_states)) for k in tagged)
        tables.append((*(Transition(k, state) for k in untagged), *own))
    initializers = (len(actions),) if rng.random() < 0.3 else ()
    if initializers:
        actions = (*actions, random_action(rng, len(actions)))
    names = tuple(f"s{k}" for k in range(n_states)) if n_states > 1 else ("",)
    state_of_guards = tuple(Variable(f"g{k}", f"g{k}", BOOL, "state") for k in range(len(actions)))
    actor = Actor(
        "A", "", ports, ports, state_of_guards, (), (), actions, initializers, names, 0, tuple(tables),
        has_fsm=n_states > 1,
    )  # fmt: skip
    sources = tuple(INT32 if rng.random() < 0.85 else None for _ in ports)
    return actor, Wiring(inputs=sources, loops=(), fan_outs=tuple(rng.choice((0, 1, 1, 2)) for _ in ports))


def random_action(rng: random.Random, index: int) -> Action:
    """An action with some patterns; its guard, if any, is the state variable of its number, or a literal."""
    ins = [p for p in range(N_PORTS) if rng.random() < 0.4]
    outs = [p for p in range(N_PORTS) if rng.random() < 0.4]
    inputs = tuple(
        InputPattern(p, tuple(Variable(f"x{index}_{p}_{k}", "x", INT32, "token") for k in range(rng.randint(1, 2))), 0)
        for p in ins
    )
    outputs = tuple(OutputPattern(p, (Const(1, INT32),) * rng.randint(1, 2), 0) for p in outs)
    guards = rng.choice(((), (Load(f"g{index}", BOOL),), (Load(f"g{index}", BOOL),), (Const(True, BOOL),)))
    return Action(f"a{index}", rng.random() < 0.7, inputs, outputs, guards, (), (), schedule_outputs=rng.random() < 0.3)


def expected(actor: Actor, wiring: Wiring, table: tuple[Transition, ...], found: Situation) -> Outcome:
    """The rules in words: in order; tokens, guard; then room decides, unless it is part of the condition."""
    waits = False
    for transition in table:
        action = actor.actions[transition.action]
        if any(wiring.inputs[p.port] is None or found.tokens[p.port] < p.tokens for p in action.inputs):
            continue
        if isinstance(next(iter(action.guards), None), Load) and not found.guards[transition.action]:
            continue
        if any(wiring.fan_outs[p.port] and found.room[p.port] < p.tokens for p in action.outputs):
            if not action.schedule_outputs:
                return "blocked", None, None, True
            waits = True
            continue
        return "fire", transition.action, transition.target, waits
    return "nothing", None, None, waits


def decide(choice: Choice, found: Situation, waits: list[bool]) -> Fire | Blocked | None:
    """Walk the tree; None where its end is reached."""
    for decision in choice:
        end: Fire | Blocked | None = None
        match decision:
            case When(condition=condition, then=then, otherwise=otherwise):
                end = decide(then if holds(condition, found) else otherwise, found, waits)
            case ByState(states=states):
                end = decide(states[found.state], found, waits)
            case AwaitRoom():
                waits.append(True)
            case Peek(reads=reads):
                assert all(found.tokens[r.port] > r.offset for r in reads)
            case Fire() | Blocked():
                end = decision
        if end is not None:
            return end
    return None


def holds(condition: HasTokens | HasRoom | Guard, found: Situation) -> bool:
    match condition:
        case HasTokens(needs=needs):
            return all(found.tokens[n.port] >= n.tokens for n in needs)
        case HasRoom(needs=needs):
            return all(found.room[n.port] >= n.tokens for n in needs)
        case Guard(action=action):
            return found.guards[action]


def outcome(choice: Choice, found: Situation) -> Outcome:
    waits: list[bool] = []
    match decide(choice, found, waits):
        case Fire(action=action, target=target):
            return "fire", action, found.state if target is None else target, bool(waits)
        case Blocked():
            return "blocked", None, None, True
        case _:
            return "nothing", None, None, bool(waits)


def situation(rng: random.Random, actor: Actor) -> Situation:
    return Situation(
        tuple(rng.randint(0, 3) for _ in range(N_PORTS)),
        tuple(rng.randint(0, 3) for _ in range(N_PORTS)),
        tuple(rng.random() < 0.6 for _ in actor.actions),
        rng.randrange(len(actor.states)),
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_tree_chooses_what_the_rules_choose(seed: int) -> None:
    rng = random.Random(seed)
    actor, wiring = random_actor(rng)
    explicit, _ = make_explicit(actor, wiring)
    for _ in range(80):
        found = situation(rng, actor)
        assert outcome(explicit.choice, found) == expected(actor, wiring, actor.transitions[found.state], found)
        first = tuple(Transition(k, found.state) for k in actor.initializers)
        assert outcome(explicit.start, found) == expected(actor, wiring, first, found)


def test_untagged_actions_of_all_states_stand_before_the_choice_by_state() -> None:
    rng = random.Random(1)
    actions = tuple(random_action(rng, k) for k in range(3))
    tables = tuple((Transition(0, s), Transition(s + 1, 1 - s)) for s in range(2))
    ports = tuple(Port(f"P{k}", INT32) for k in range(N_PORTS))
    guards = tuple(Variable(f"g{k}", f"g{k}", BOOL, "state") for k in range(3))
    actor = Actor("A", "", ports, ports, guards, (), (), actions, (), ("s0", "s1"), 0, tables, has_fsm=True)
    choice = make_explicit(actor, Wiring(inputs=(INT32,) * 3, loops=(), fan_outs=(1,) * 3))[0].choice
    (last,) = [d for d in choice if isinstance(d, ByState)]
    assert choice[-1] == last
    assert len(last.states) == 2
