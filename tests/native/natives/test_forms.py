"""Which C++ a native is printed as, and what the user binds."""

import subprocess
from pathlib import Path

import pytest

from dse.base.errors import ModelNotApplicable, OptionError
from dse.native.natives import (
    UserNative,
    check_user_natives,
    compares_itself,
    cpp_string,
    entry_text,
    is_user_native,
    native_forms,
    user_natives,
    without_form,
)
from dse.program.network import Network
from tests.native.natives.both import compiled
from tests.unit.run.programs import network_of

DECLARED = """actor A () ==> :
    @native function own(int(size=8) x, uint(size=64) y, bool b, double d, String s, float l[3][2]) --> int(size=16) end
    @native procedure source_exit(int code) end @native procedure source_init(int x) end
    @native function strange() --> int end @native procedure compareYUV_init() end
    @native function huge(int(size=100) x) --> int end @native function source_readByte() --> int(size=100) end
    action ==> guard false do source_exit(0); end end"""


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return network_of(tmp_path, (DECLARED,), "a=A")


def bound(folder: Path, key: str, symbol: str = "own") -> dict[str, UserNative]:
    """Return one binding to a file that is there."""
    path = folder / "own.cpp"
    path.write_text('#include "dse/lists.hpp"\n')
    return user_natives([f"{key}={path}:{symbol}"])


def test_forms_of_an_actor(network: Network) -> None:
    forms = native_forms(network.instances[0].actor, {})
    assert forms["A", "source_exit"].call == "context.natives.source.exit"
    assert all(not form.declaration for form in forms.values())
    for name, part in (
        ("strange", "native 'strange', declared in A, has no C++ form"),
        ("source_init", "native 'source_init' takes another number of parameters than the 1 with which A declares it"),
        ("source_readByte", "native 'source_readByte' has no C++ form that gives int(size=100)"),
    ):
        result = "void" if name == "source_init" else "std::int64_t"
        assert forms["A", name].call.startswith(f"dse::natives::Missing<{result}>{{")
        assert cpp_string(part)[:-1] in forms["A", name].call
        assert f"--native A.{name}=FILE.cpp:SYMBOL" in forms["A", name].call
    missing = {n.source_name for n in without_form(network, {})}
    assert missing == {"own", "source_init", "strange", "huge", "source_readByte"}


def test_a_native_of_the_user_is_declared_and_called(network: Network, tmp_path: Path) -> None:
    overrides = bound(tmp_path, "A.own", "mine::deep::own")
    check_user_natives(network, overrides)
    form = native_forms(network.instances[0].actor, overrides)["A", "own"]
    types = "std::int8_t, std::uint64_t, bool, double, const std::string&, dse::View<float, 2>"
    assert form.declaration == f"namespace dse::natives::bound {{ std::int64_t A_2e_own({types}); }}"
    assert "[](const auto&... a) { return dse::natives::bound::A_2e_own(a...); }" in form.call
    own = next(native for native in network.instances[0].actor.natives if native.source_name == "own")
    text = entry_text(own, overrides["A.own"])
    assert text.startswith('#line 1 "--native A.own=own.cpp:mine::deep::own"\n')
    assert "requires { ::mine::deep::own({a}...); }" in text


def test_a_file_that_cannot_be_is_told() -> None:
    for name in ("no.cpp", "x" * 300 + ".cpp", "a.cpp/b.cpp"):
        with pytest.raises(OptionError, match="there is no file"):
            user_natives([f"A.own={name}:own"])


def test_what_cannot_be_bound_is_told(network: Network, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"declares no native 'A\.onw'") as caught:
        check_user_natives(network, bound(tmp_path, "A.onw"))
    assert caught.value.diagnostics[0].expected == "did you mean 'A.own'?"
    for name, what in (("huge", "takes 'x' of type int"), ("source_readByte", "gives int")):
        with pytest.raises(
            ModelNotApplicable, match=rf"'A\.{name}' cannot be bound to own\.cpp:own: it {what}"
        ) as told:
            check_user_natives(network, bound(tmp_path, f"A.{name}"))
        assert told.value.diagnostics[0].span.line > 0


@pytest.mark.parametrize(
    "text", ["", "A.own", "own=x.cpp:f", "A.own=x.cpp", "A.own=x.cpp:", "A.own=x.cpp:f()", "A.own=m:f", "A.own=x.py:f"]
)
def test_texts_that_bind_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.cpp").write_text("")
    with pytest.raises(OptionError, match="binds no native in C\\+\\+"):
        user_natives([text])


def test_texts_that_bind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x.cpp", "a:b.cc"):
        (tmp_path / name).write_text("")
    found = user_natives(["a.b.f=x.cpp:n::g", "a.b.f=a:b.cc:h"])
    assert found == {"a.b.f": UserNative(key="a.b.f", file=Path("a:b.cc"), symbol="h")}
    with pytest.raises(OptionError, match=r"there is no file 'y\.cpp'"):
        user_natives(["a.f=y.cpp:g"])
    assert is_user_native("a.f=y.cpp:g")
    assert not is_user_native("a.f=MODULE:CALLABLE")


def test_who_compares_pictures(network: Network, tmp_path: Path) -> None:
    assert compares_itself(network, {})
    assert not compares_itself(network, bound(tmp_path, "A.compareYUV_init"))


def test_texts_in_cpp() -> None:
    assert cpp_string('a"b\\?\n1ä') == '"a\\042b\\134\\077\\0121\\303\\244"'


def test_a_function_of_the_user_that_fails_ends_the_run(network: Network, tmp_path: Path) -> None:
    overrides = bound(tmp_path, "A.own")
    form = native_forms(network.instances[0].actor, overrides)["A", "own"]
    own = next(native for native in network.instances[0].actor.natives if native.source_name == "own")
    source = tmp_path / "use.cpp"
    source.write_text(f"""#include <cstdio>
#include "dse/context.hpp"
#include "dse/natives/bodies.hpp"
#include "dse/natives/bound.hpp"
{form.declaration}
std::int64_t own(std::int8_t x, std::uint64_t y, bool, double, const std::string& text, dse::View<float, 2> list) {{
  if (x < 0) throw std::runtime_error("no such thing as " + text);
  if (x == 0) throw dse::SourceExhausted();
  if (x == 2) throw 2;
  list(0, 0) = 0.5F;
  return static_cast<std::int64_t>(y) + x;
}}
{entry_text(own, overrides["A.own"])}
int main() {{
  float data[6] = {{}};
  const dse::View<float, 2> list{{data, {{3, 2}}}};
  const std::string text = "x";
  for (const int x : {{1, 0, -1, 2}}) {{
    try {{
      const std::int64_t found = {form.call}(static_cast<std::int8_t>(x), std::uint64_t{{41}}, true, 1.0, text, list);
      std::printf("%d %g\\n", static_cast<int>(found), static_cast<double>(data[0]));
    }} catch (const dse::Fault& fault) {{
      std::printf("%s\\n", fault.what());
    }} catch (const dse::SourceExhausted&) {{
      std::printf("ended\\n");
    }}
  }}
}}
""")
    done = subprocess.run([compiled(source, ())], capture_output=True, text=True, check=True)
    failures = ("no such thing as x", "it threw something that is no std::exception")
    failed = "".join(f"the native 'A.own' (own.cpp:own) failed: {failure}\n" for failure in failures)
    assert done.stdout == f"42 0.5\nended\n{failed}"
