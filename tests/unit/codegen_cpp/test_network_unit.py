"""The file of a network holds names and paths of others: as text, never as code."""

from dse.codegen.cpp.network_unit import network_unit
from dse.codegen.cpp.spelling import comment_text
from dse.program.network import Network

CODE = 'int injected = system("true");'


def test_a_name_of_several_lines_is_no_code() -> None:
    """Whoever runs a network of others would run what its name says."""
    for bad in (f"x\n{CODE}\n//", f"x\r{CODE}\r//", f"x\u2028{CODE}//", "x\\\n" + CODE):
        for network in (
            Network(name=bad, path="net.xdf", instances=(), connections=()),
            Network(name="net", path=bad, instances=(), connections=()),
        ):
            text = network_unit(network, ())
            first, second, *_ = text.split("\n")
            assert first.startswith("// ")
            assert not first.endswith("\\")
            assert first.isprintable()
            assert second == '#include "dse/program.hpp"'
            outside = [line for line in text.split("\n")[1:] if CODE in line]
            assert outside == []


def test_a_comment_ends_with_its_line() -> None:
    assert comment_text("ends \\") == "ends \\."
    assert comment_text("a\u202eb\x1b[31m") == "a b [31m"
