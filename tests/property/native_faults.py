"""Programs whose actions fail: the kinds of faults, wherever they may happen; the input says which one it is.

Every actor reads one byte and fails as the fault of that number does. So many faults need one program.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from tests.property.native_actors import ActorShape, ActorWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Parts of an action that fails, and of its actor; ``@`` stands for its number."""

    name: str
    declarations: str = ""
    variables: str = ""
    body: str = ""
    guard: str = ""
    output: str = "0"


DOWN = "function h@ (int a) --> int : if a = 0 then 0 else h@(a - 1) + 1 end end"

FAULTS = (
    Fault(name="division", body="n := n / z;"),
    Fault(name="division_by_div", body="n := n div (z * 2);"),
    Fault(name="remainder", body="n := n mod z;"),
    Fault(name="later", body="n := 5; n := n + 1;\n      n := 3 * (n - (7 / z));"),
    Fault(name="in_if", body="if n / z > 3 then n := 1; end"),
    Fault(name="in_while", body="while n mod z = 0 do n := 1; end"),
    Fault(name="in_foreach", body="foreach int i in 0 .. n / z do n := 1; end"),
    Fault(name="in_round", body="foreach int i in 0 .. 5 do n := 10 / (3 - i); end"),
    Fault(name="in_index", declarations="int l@[3];", body="n := l@[1 mod z];"),
    Fault(name="in_target", declarations="int l@[3];", body="l@[1 mod z] := 3;"),
    Fault(name="in_variable", variables="int v := n / z", body="n := v;"),
    Fault(name="in_guard", guard="n / z = 3"),
    Fault(name="in_output", output="n / z"),
    Fault(name="in_print", body='println("a" + n / z);'),
    Fault(name="in_list", declarations="int l@[2];", body="l@ := [n, n / z];"),
    Fault(name="in_generator", declarations="int l@[3];", body="l@ := [n / (z + 1 - i) : for int i in 0 .. 2];"),
    Fault(name="in_function", declarations="function h@ (int a) --> int : a / z end", body="n := h@(3) + h@(4);"),
    Fault(name="in_procedure", declarations="procedure p@ (int a) begin n := a / z; end", body="p@(3);"),
    Fault(
        name="in_inner",
        declarations="""function h@ (int a) --> int : 10 mod a end
    procedure p@ (int a) begin if a > 0 then n := h@(a - 1); end end""",
        body="p@(2); p@(1);",
    ),
    Fault(name="wide", declarations="uint(size=200) w@ := 0; int(size=128) x@ := 5;", body="x@ := x@ / w@;"),
    Fault(name="endless", body="while true do n := n + 1; end"),
    Fault(name="too_large", declarations="float g@;", body="g@ := (1 << 2000) * f;"),
    Fault(name="too_large_compared", body="if (1 << 3000) * 1.5 > f then n := 1; end"),
    Fault(name="deep", declarations=DOWN, body="n := 1 / (h@(960) - 960);"),
    Fault(name="as_deep_as_it_may_be", declarations=DOWN, body="n := 1 / (h@(959) - 959);"),
    Fault(
        name="unbound",
        body="n := nothing_of_the_kind(3);",
    ),
    Fault(
        name="negative_amount",
        declarations="uint(size=8) b@[4];",
        body="source_readNBytes(b@, -1);",
    ),
    Fault(
        name="beyond_the_input",
        declarations="uint(size=8) b@[4];",
        body="source_readNBytes(b@, 4); n := b@[0];",
    ),
    Fault(
        name="exit_code",
        body="source_exit(7);",
    ),
    Fault(
        name="refused",
        body='report_fail("bad input: " + n, "give another");',
    ),
)


NATIVES = """\
    @native procedure source_init () end
    @native function source_readByte () --> uint(size=8) end
    @native procedure source_readNBytes (uint(size=8) b[4], int n) end
    @native procedure source_exit (int code) end
    @native procedure report_fail (String message, String advice) end
    @native function nothing_of_the_kind (int a) --> int end
"""


def actor_of_all() -> str:
    """Return the actor that fails as fault k does where the byte that it reads is k."""
    declared = "".join(f"    {f.declarations}\n".replace("@", str(k)) for k, f in enumerate(FAULTS) if f.declarations)
    actions = "".join(_action(fault, k) for k, fault in enumerate(FAULTS))
    return f"""\
actor Faults () ==> int(size=64) O :
{NATIVES}    int z := 0;
    int n := 7;
    float f := 1.0;
    int which := -1;
    bool done := false;
{declared}    initialize ==> do
      source_init();
      which := source_readByte();
    end
{actions}end
"""


def _action(fault: Fault, number: int) -> str:
    variables = f"    var {fault.variables}\n" if fault.variables else ""
    guards = ", ".join(g for g in (f"which = {number}, not done", fault.guard) if g)
    text = f"""\
    {fault.name}: action ==> O:[{fault.output}]
    guard {guards}
{variables}    do
      done := true;
      {fault.body}
    end
"""
    return text.replace("@", str(number))


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


def write_faults(folder: Path, drawn: range) -> Path:
    """Write all faults, and a random actor for each seed of ``drawn``; return the network.

    Its first instance is that of the faults, then come the random ones, whose numbers go on after those of the faults.
    """
    texts = {"Faults": actor_of_all()}
    for seed in drawn:
        number = len(FAULTS) + len(texts) - 1
        texts[f"R{number}"] = drawn_actor(seed, number)
    texts["Sink"] = "actor Sink () int(size=64) I ==> : action I:[x] ==> end end\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.cal").write_text(text, encoding="utf-8")
    parts = [f'<Instance id="i_{name}"><Class name="{name}"/></Instance>' for name in texts]
    parts.append('<Connection src="i_Faults" src-port="O" dst="i_Sink" dst-port="I"/>')
    path = folder / "Top.xdf"
    path.write_text(f'<?xml version="1.0"?>\n<XDF name="Top">{"".join(parts)}</XDF>\n', encoding="utf-8")
    return path
