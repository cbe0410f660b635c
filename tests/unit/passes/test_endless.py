"""Which actions may fire without an end: what is told where a native program hangs."""

import pytest

from dse.passes.analyses.endless import endless_actions
from dse.passes.analyses.uses import gather_facts
from tests.unit.codegen_cpp.units import body_of, unit_of
from tests.unit.frontend.lowering_support import actor_of

ACTOR = """
actor A () ==> :
    int n := 0;
    @native function asked () --> int end
    @native procedure told () end
    function plain (int k) --> int : k + 1 end
    function deep (int k) --> int : if k > 0 then deep(k - 1) else 0 end end
    procedure waits () begin while n < 3 do n := n + 1; end end
    procedure calls () begin waits(); end
    go: action ==> do {} end
end
"""


@pytest.mark.parametrize(
    ("body", "endless"),
    [
        ("n := n + 1;", False),
        ("foreach int k in 1 .. 9 do n := n + k; end", False),
        ("n := plain(n);", False),
        ("while n < 9 do n := n + 1; end", True),
        ("if n > 3 then foreach int k in 1 .. 2 do while n < 9 do n := n + 1; end end end", True),
        ("calls();", True),
        ("n := plain(deep(n));", True),
        ("n := asked();", True),
        ("told();", True),
    ],
)
def test_an_action_may_not_end_by_loops_recursions_and_natives(body: str, endless: bool) -> None:
    actor = actor_of(ACTOR.replace("{}", body))
    assert endless_actions(actor, gather_facts(actor)) == ({0} if endless else set())
    lines = body_of(unit_of(ACTOR.replace("{}", body)), "go")
    assert [line for line in lines if "lasts" in line] == (["visit.lasts(0);", "visit.lasts(-1);"] if endless else [])
