"""Long lines are broken between words of C++, never inside a string."""

from dse.codegen.cpp.layout import folded
from dse.codegen.emitter import Lines


def test_a_string_at_the_start_of_a_broken_line_stays_whole() -> None:
    first, second = f'"{"a" * 70}, b"', f'"{"c" * 60}; did {"e" * 50}, f"'
    lines = Lines("  ")
    lines.add(f"  call_of_some_length({first}, {second}, 3);")
    texts = folded(lines).texts
    assert len(texts) > 1
    assert all(text.count('"') % 2 == 0 for text in texts)
    assert first in "".join(texts)
    assert second in "".join(texts)
