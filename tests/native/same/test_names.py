"""Programs may call their things as they like: also as what the runtime, the standard library and C++ call theirs."""

import re
from pathlib import Path

import pytest

from dse.frontend.cal.tokens import RESERVED
from dse.frontend.network.elaborate import load_network
from dse.native.project import runtime_headers
from dse.program.network import Network
from dse.run.options import RunOptions
from tests.native.same.batches import CASES
from tests.native.same.comparing import built, compared, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
CPP = """alignas and_eq asm auto bitand bool break case catch char class co_await concept const constexpr continue
    decltype default delete double dynamic_cast enum errno explicit export extern final float goto int int64_t long main
    mutable namespace new noexcept NULL nullptr operator override private protected public register requires return
    short signed size_t sizeof static std struct switch template this throw try typedef typename union unsigned using
    virtual void volatile wchar_t xor stdin stdout assert linux unix EOF M_PI __func__ _Exit printf move swap"""
COUNTER = "times_that_it_fired"
"""What each of the actors calls its own counter: no word of the runtime."""


def words_of_runtime() -> list[str]:
    """Every word of the runtime, and those of C++, that CAL takes as a name."""
    found = {w for _, text in runtime_headers() for w in re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", text))}
    return sorted((found | set(CPP.split())) - set(RESERVED) - {"print", "println"})


def types_of_runtime() -> list[str]:
    """The names of types at the top of the runtime's namespace."""
    pattern = re.compile(r"^(?:struct|class|enum class|using) (\w+)", re.MULTILINE)
    return sorted({w for _, text in runtime_headers() for w in pattern.findall(text)} - set(RESERVED) - {"namespace"})


def actor(name: str, words: list[str]) -> str:
    """An actor that uses words as names of everything that has a name, each several times."""
    state = "".join(f"    int {w} := {k};\n" for k, w in enumerate(words[::4]))
    functions = "".join(f"    function {w} (int {w}) --> int : {w} + {k} end\n" for k, w in enumerate(words[1::4]))
    ports = [w for w in words[2::4] if w not in words[1::4]][:6]
    calls = " + ".join(f"{w}({k})" for k, w in enumerate(words[1::4])) or "0"
    sums = " + ".join(words[::4]) or "0"
    locals_ = ", ".join(f"int {w} := {k}" for k, w in enumerate(words[3::4])) or "int k := 0"
    uses = " + ".join(words[3::4]) or "0"
    tags = "".join(
        f"    {w}: action ==> guard {COUNTER} = {k} do {COUNTER} := {COUNTER} + 1; end\n"
        for k, w in enumerate(words[1:9])
    )
    return f"""actor {name} () ==> {", ".join(f"int {p}" for p in ports)} :
    int {COUNTER} := 0;
{state}{functions}{tags}
    action ==> {", ".join(f"{p}:[{COUNTER}]" for p in ports)}
    guard {COUNTER} = -1 or {COUNTER} >= {min(8, len(words[1:9]))} and {COUNTER} < 20
    var {locals_}
    do
        {COUNTER} := {COUNTER} + 1;
        println("{name} " + ({calls}) + " " + ({sums}) + " " + ({uses}));
    end
end
"""


@pytest.fixture
def named(tmp_path: Path) -> Network:
    """A network whose actors use every word of the runtime as a name, each actor some of them."""
    words = words_of_runtime()
    classes = list(dict.fromkeys(["PingPong", *types_of_runtime()[::12]]))
    parts = [words[k :: len(classes)] for k in range(len(classes))]
    instances = []
    for name, part in zip(classes, parts, strict=True):
        (tmp_path / f"{name}.cal").write_text(actor(name, part), encoding="utf-8")
        instances.append(f'<Instance id="{name}"><Class name="{name}"/></Instance>')
    path = tmp_path / "Top.xdf"
    path.write_text(f'<?xml version="1.0"?>\n<XDF name="Top">{"".join(instances)}</XDF>\n', encoding="utf-8")
    return load_network(str(path)).network


def test_every_word_of_the_runtime_is_a_name_in_cal(named: Network) -> None:
    assert COUNTER not in words_of_runtime()
    assert len(named.instances) > 5


@pytest.mark.skipif(not CASES, reason="all names are built in make test-full (DSE_NATIVE_CASES)")
def test_names_of_a_program_never_meet_those_of_the_runtime(named: Network, tmp_path: Path) -> None:
    assert compared(built(named), RunOptions(), tmp_path / "run") == []
