"""Random actors whose firings are loops and lists: of actions, and of routines that they call with several lists."""

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

_SIZE = 48
_LISTS = ("a", "b", "c", "kept", "last")
"""Of a firing, and two that last."""


class _Actor:
    """Draws one actor; all its lists have one size, and its numbers stay small."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self.rng = rng

    def text(self) -> str:
        body = "\n".join(f"\t\t{line}" for _ in range(6) for line in self.statement())
        return f"""actor {self.name} () int I ==> int O :
\tint kept[{_SIZE}];
\tint last[{_SIZE}];

\tfunction small (int x) --> int : if x mod 3 = 0 then x mod 1000 else (x * 7 + 5) mod 977 end end

{self.routines()}
\tact: action I:[x] ==> O:[t]
\tvar
\t\tint t := x,
\t\tint a[{_SIZE}] := {self.made("kept", "last", "x")},
\t\tint b[{_SIZE}],
\t\tint c[{_SIZE}] := {self.made("last", "a", "t")}
\tdo
{body}
\t\tforeach int i in 0 .. {_SIZE - 1} do
\t\t\tt := small(t + a[i] * 3 + b[i] * 5 + c[i] * 7 + kept[i] * 11 + last[i]);
\t\tend
\tend
end
"""

    def routines(self) -> str:
        """Return a procedure of two lists, one that calls it, and a function whose result is a list."""
        return f"""\tprocedure move (int from[{_SIZE}], int to[{_SIZE}], int n)
\tvar
\t\tint own[{_SIZE}] := {self.made("from", "to", "n")}
\tbegin
\t\t{self.loop("to", "own", "from", "n")}
\tend

\tprocedure both (int one[{_SIZE}], int two[{_SIZE}], int n) begin
\t\tmove(one, two, n + 1);
\t\t{self.loop("one", "two", "one", "n")}
\t\tmove(two, one, small(n));
\tend

\tfunction list_of (int from[{_SIZE}], int n) --> List(type: int, size={_SIZE})
\tvar
\t\tint own[{_SIZE}] := {self.made("from", "from", "n")}
\t:
\t\t{self.made("own", "from", "n")}
\tend
"""

    def statement(self) -> Iterator[str]:
        one, two, three = self.rng.sample(_LISTS, 3)
        kind = self.rng.randrange(7)
        if kind == 0:
            yield f"{one} := {self.made(two, one, 't')};"
        elif kind == 1:
            yield f"move({one}, {two}, t);"
        elif kind == 2:
            yield f"both({one}, {two}, x);"
        elif kind == 3:
            yield f"{one} := list_of({two}, {three}[{self.rng.randrange(_SIZE)}]);"
        elif kind == 4:
            yield f"if t mod 2 = 0 then {one} := {self.made(two, three, 'x')}; else move({one}, {three}, 3); end"
        else:
            yield self.loop(one, two, one, "t")

    def loop(self, to: str, first: str, second: str, n: str) -> str:
        """Return a loop that may be shared out, or not: by chance a round meets another one."""
        place = self.rng.choice(("i", f"{_SIZE - 1} - i", "i", "i", "i + 1", "2 * i", f"i mod {_SIZE // 2}"))
        back = self.rng.choice((place, place, "i", "i / 2"))
        high = self.rng.choice((str(_SIZE - 1), str(_SIZE - 1), f"{_SIZE // 2}", f"small({n}) mod {_SIZE}"))
        value = f"{first}[i] + small({second}[{back}] + {n} - i)"
        return f"foreach int i in 0 .. {high} do {to}[{place}] := ({value}) mod 10007; end"

    def made(self, first: str, second: str, n: str) -> str:
        """Return a list as an expression: in one loop or two, of one element a round or two, or of two parts."""
        half = _SIZE // 2
        value = f"small({first}[{{}}] + {second}[{_SIZE - 1} - ({{}})] * {{}} - {n})"
        one, two = value.format("i", "i", "i"), value.format(f"{_SIZE - 1} - i", "i", 3)
        at = "8 * y + i"
        return self.rng.choice(
            (
                f"[{one} : for int i in 0 .. {_SIZE - 1}]",
                f"[{one}, {two} : for int i in 0 .. {half - 1}]",
                f"[{value.format(at, at, 'y')} : for int y in 0 .. {_SIZE // 8 - 1}, for int i in 0 .. 7]",
                f"[{two} : for int i in 0 .. {half - 1}] + [{one} : for int i in {half} .. {_SIZE - 1}]",
            )
        )


def write_network(seed: int, actors: int, folder: Path) -> Path:
    """Write a network of letters that go through such actors one behind the other; return its file."""
    rng = random.Random(seed)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<XDF name="Drawn{seed}">']
    names = [f"Drawn{seed}_{k}" for k in range(actors)]
    for name in names:
        (folder / f"{name}.cal").write_text(_Actor(name, rng).text())
    chain = ("Bytes", *names, "Show")
    lines += [f'  <Instance id="{name.lower()}"><Class name="{name}"/></Instance>' for name in chain]
    for source, target in pairwise(chain):
        ends = f'src="{source.lower()}" src-port="O" dst="{target.lower()}" dst-port="I"'
        lines.append(f"  <Connection {ends}/>")
    path = folder / f"Drawn{seed}.xdf"
    path.write_text("\n".join([*lines, "</XDF>"]))
    return path
