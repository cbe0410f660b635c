"""On which side of a program a class is written: what stands around the text that both sides share.

The body of an actor is the same for a thread of the processor and for one of a GPU; the names that it uses are defined
for each by headers of the runtime.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A table: words before and behind what is written, and what the side does not have.

    ``head`` stands before the tables of an actor, ``end`` behind its class; both are formatted with ``name``, ``head``
    with ``context`` and ``declarations`` too.
    """

    name: str
    function: str
    """Before the head of each member function."""
    procedure: str
    """The same of a function or procedure with statements."""
    loop: str
    """Before the head of a loop."""
    table: str
    """Before the definition of a constant list."""
    override: str
    """Behind the head of what the runtime calls."""
    waits: str
    """The type of what an actor's waits are added to."""
    called: bool
    """Whether the runtime calls ``run`` of the base class."""
    grows: bool
    """Whether there are lists whose size shows only when they are made."""
    lanes: bool
    """Whether an actor has threads of its own that fire an action several times at once."""
    head: str
    end: str


WARNINGS = """\
// What a program in CAL may say, as a variable that is never read, or a comparison that always holds. Operands are
// converted to types that hold them: g++ warns of signs even where there is nothing to be lost.
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winfinite-recursion"
#pragma clang diagnostic ignored "-Wself-assign"
#pragma clang diagnostic ignored "-Wunused"
#else
#pragma GCC diagnostic ignored "-Wsign-compare"
#if __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif
#endif
"""

ACTOR_HEADERS = """\
#include <limits>
#include <string>
#include <vector>

#include "dse/actor.hpp"
#include "dse/lists.hpp"
#include "dse/numbers.hpp"
#include "dse/text.hpp"
"""
"""What the file of every actor includes."""

PROCESSOR = Target(
    name="C++",
    function="",
    procedure="",
    loop="",
    table="",
    override=" override",
    waits="std::vector<Wait>&",
    called=True,
    grows=True,
    lanes=False,
    head=ACTOR_HEADERS.replace('#include "dse/lists.hpp"', '{context}#include "dse/lists.hpp"')
    + "\n"
    + WARNINGS
    + """{declarations}
using namespace dse;
using namespace std::string_literals;

namespace actors {{
namespace {{
""",
    end="""\

}}  // namespace

dse::Actor* make_{name}(const dse::Wires& wires);
dse::Actor* make_{name}(const dse::Wires& wires) {{
  return new {name}(wires);
}}

}}  // namespace actors""",
)
"""A file of C++ for a thread of the processor."""
