"""Write ``characters.hpp``: which characters print, combine and are wide, as Python's tables say.

python -m tests.native.config.make_characters > dse/native/runtime/dse/characters.hpp
"""

import sys
import unicodedata
from collections.abc import Callable, Iterator

HEAD = """\
// Ranges of characters, first and last: made by tests/native/config/make_characters.py from Unicode {version}.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace dse {{

struct CharacterRange {{
  char32_t first;
  char32_t last;
}};

/// Return whether a character lies in one of some ranges, which are in order.
template <std::size_t N>
bool lies_in(const std::array<CharacterRange, N>& ranges, char32_t value) {{
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), value,
                                      [](char32_t v, const CharacterRange& range) {{ return v < range.first; }});
  return after != ranges.begin() && value <= std::prev(after)->last;
}}
"""


def ranges(holds: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of characters for which something holds."""
    start = None
    for value in range(sys.maxunicode + 2):
        inside = value <= sys.maxunicode and holds(chr(value))
        if inside and start is None:
            start = value
        elif not inside and start is not None:
            yield start, value - 1
            start = None


def table(name: str, comment: str, holds: Callable[[str], bool]) -> str:
    """Return one table as C++."""
    found = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in ranges(holds)]
    lines = [f"\n// {comment}", f"inline constexpr std::array<CharacterRange, {len(found)}> {name} = {{{{"]
    lines += [f"    {', '.join(found[k : k + 5])}," for k in range(0, len(found), 5)]
    return "\n".join([*lines, "}};\n"])


def header() -> str:
    """Return the text of the header."""
    return "".join(
        (
            HEAD.format(version=unicodedata.unidata_version),
            table("printable_characters", "What a terminal shows as a character.", str.isprintable),
            table("combining_characters", "What takes no column of its own.", lambda c: unicodedata.combining(c) != 0),
            table("wide_characters", "What takes two columns.", lambda c: unicodedata.east_asian_width(c) in "WF"),
            "\n}  // namespace dse\n",
        )
    )


if __name__ == "__main__":
    sys.stdout.write(header())
