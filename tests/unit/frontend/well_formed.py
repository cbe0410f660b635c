"""What tests that lower actors ask of them: no rule of the IR is broken."""

from dse.program import ir
from dse.program.verify.actors import verify
from dse.program.verify.findings import assert_none


def assert_well_formed(actor: ir.Actor) -> None:
    """Raise ``AssertionError`` where an actor breaks a rule of the IR."""
    assert_none(verify(actor), actor.name)
