"""Programs whose actions fail: the kinds of faults, wherever they may happen; the input says which one it is.

Every actor reads one byte, its number or not, and the one whose number it is fails. So many faults need one program.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from tests.property.native_actors import ActorShape, ActorWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Parts of an actor that fails: declarations, and those of an action."""

    name: str
    declarations: str = ""
    variables: str = ""
    body: str = ""
    guard: str = ""
    output: str = "0"
    head: str = "int(size=64) O"


NUMBER = "int z := 0; int n := 7; float f := 1.0;"
FAULTS = (
    Fault(name="division", body="n := n / z;"),
    Fault(name="division_by_div", body="n := n div (z * 2);"),
    Fault(name="remainder", body="n := n mod z;"),
    Fault(name="later", body="n := 5; n := n + 1;\n      n := 3 * (n - (7 / z));"),
    Fault(name="in_if", body="if n / z > 3 then n := 1; end"),
    Fault(name="in_while", body="while n mod z = 0 do n := 1; end"),
    Fault(name="in_foreach", body="foreach int i in 0 .. n / z do n := 1; end"),
    Fault(name="in_round", body="foreach int i in 0 .. 5 do n := 10 / (3 - i); end"),
    Fault(name="in_index", declarations="int l[3];", body="n := l[1 mod z];"),
    Fault(name="in_target", declarations="int l[3];", body="l[1 mod z] := 3;"),
    Fault(name="in_variable", variables="int v := n / z", body="n := v;"),
    Fault(name="in_guard", guard="n / z = 3"),
    Fault(name="in_output", output="n / z"),
    Fault(name="in_print", body='println("a" + n / z);'),
    Fault(name="in_list", declarations="int l[2];", body="l := [n, n / z];"),
    Fault(name="in_generator", declarations="int l[3];", body="l := [n / (z + 1 - i) : for int i in 0 .. 2];"),
    Fault(name="in_function", declarations="function h (int a) --> int : a / z end", body="n := h(3) + h(4);"),
    Fault(name="in_procedure", declarations="procedure p (int a) begin n := a / z; end", body="p(3);"),
    Fault(
        name="in_inner",
        declarations="""function h (int a) --> int : 10 mod a end
    procedure p (int a) begin if a > 0 then n := h(a - 1); end end""",
        body="p(2); p(1);",
    ),
    Fault(name="wide", declarations="uint(size=200) w := 0; int(size=128) x := 5;", body="x := x / w;"),
    Fault(name="endless", body="while true do n := n + 1; end"),
    Fault(name="too_large", declarations="float g;", body="g := (1 << 2000) * f;"),
    Fault(name="too_large_compared", body="if (1 << 3000) * 1.5 > f then n := 1; end"),
    Fault(name="deep", declarations="function h (int a) --> int : h(a + 1) + 1 end", body="n := h(0);"),
    Fault(
        name="unbound",
        declarations="@native function nothing_of_the_kind (int a) --> int end",
        body="n := nothing_of_the_kind(3);",
    ),
    Fault(
        name="negative_amount",
        declarations="@native procedure source_readNBytes (uint(size=8) b[4], int n) end uint(size=8) b[4];",
        body="source_readNBytes(b, -1);",
    ),
    Fault(
        name="beyond_the_input",
        declarations="@native procedure source_readNBytes (uint(size=8) b[4], int n) end uint(size=8) b[4];",
        body="source_readNBytes(b, 4); n := b[0];",
    ),
    Fault(
        name="exit_code",
        declarations="@native procedure source_exit (int code) end",
        body="source_exit(7);",
    ),
    Fault(
        name="refused",
        declarations="@native procedure report_fail (String message, String advice) end",
        body='report_fail("bad input: " + n, "give another");',
    ),
)


def actor_of(fault: Fault, number: int) -> str:
    """Return the actor of a fault; it fails if the byte that it reads is ``number``."""
    variables = f"var {fault.variables}" if fault.variables else ""
    guards = ", ".join(g for g in ("which = NUMBER, not done", fault.guard) if g)
    return f"""\
actor {fault.name} () ==> {fault.head} :
    @native procedure source_init () end
    @native function source_readByte () --> uint(size=8) end
    {NUMBER}
    int NUMBER = {number};
    int which := -1;
    bool done := false;
    {fault.declarations}
    initialize ==> do
      source_init();
      which := source_readByte();
    end
    action ==> O:[{fault.output}]
    guard {guards}
    {variables}
    do
      done := true;
      {fault.body}
    end
end
"""


def drawn_actor(seed: int, number: int) -> str:
    """Return a random actor that may divide by zero, if the byte that it reads is ``number``."""
    shape = ActorShape(name=f"R{number}", inputs=(), outputs=(), firings=6)
    text = ActorWriter(random.Random(f"fault {seed}"), shape, faults=True).write().text
    natives = """@native procedure source_init () end
  @native function source_readByte () --> uint(size=8) end"""
    start = f"""initialize ==> do
    source_init();
    if source_readByte() != {number} then left := 0; end
  end"""
    before, after = text.split("int left := 6;")
    return f"{before}{natives}\n  int left := 6;{after}".replace(
        "  int mode := 0;\n", f"  int mode := 0;\n  {start}\n", 1
    )


def write_faults(folder: Path, drawn: range) -> tuple[Path, int]:
    """Write all faults, and a random actor for each seed of ``drawn``; return the network and how many there are.

    Instance k is that of fault k."""
    texts = {f.name: actor_of(f, k) for k, f in enumerate(FAULTS)}
    for seed in drawn:
        number = len(texts)
        texts[f"R{number}"] = drawn_actor(seed, number)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.cal").write_text(text, encoding="utf-8")
    (folder / "Sink.cal").write_text("actor Sink () int(size=64) I ==> : action I:[x] ==> end end\n", encoding="utf-8")
    instances = "".join(f'<Instance id="i_{name}"><Class name="{name}"/></Instance>\n' for name in texts)
    instances += '<Instance id="sink"><Class name="Sink"/></Instance>\n'
    instances += '<Connection src="i_in_output" src-port="O" dst="sink" dst-port="I"/>\n'
    path = folder / "Top.xdf"
    path.write_text(f'<?xml version="1.0"?>\n<XDF name="Top">\n{instances}</XDF>\n', encoding="utf-8")
    return path, len(texts)
