"""The cache of parse results: same results, fresh after a change, never an error of its own."""

import gc
import os
import pickle
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from dse.base.caches import cache_folder
from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic
from dse.base.source import Span
from dse.frontend.cal import cache
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.tree_codec import DecodeError, decode, encode

GOOD = "package p;\nactor A(int n = 1) int X ==> int Y :\n int t[2] = [1, 2];\n action X:[x] ==> Y:[x + n] end\nend\n"
BAD = "actor A() ==> :\n int x := ;\nend\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    cache.forget()
    yield
    cache.forget()


def source(tmp_path: Path, text: str, name: str = "a.cal") -> str:
    file = tmp_path / name
    file.write_text(text)
    return str(file)


def load(path: str) -> tuple[CalFile | None, list[Diagnostic]]:
    gather = Gatherer()
    return cache.load_cal(path, gather), gather.diagnostics


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.*"))


@pytest.mark.parametrize("text", [GOOD, BAD, "", "namespace x"])
def test_a_cached_result_equals_the_parsed_one(tmp_path: Path, text: str) -> None:
    path = source(tmp_path, text)
    parsed = load(path)
    assert len(entries(tmp_path)) == 1
    cache.forget()
    assert load(path) == parsed
    cached = load(path)
    assert cached == parsed
    assert all(type(d.span) is Span for d in cached[1])


def test_the_disk_is_read_once_and_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = source(tmp_path, GOOD)
    tree, _ = load(path)
    cache.forget()
    monkeypatch.setattr(cache, "parse_cal", None)
    again, _ = load(path)
    assert again == tree
    assert again is not tree
    monkeypatch.setattr(cache, "decode", None)
    assert load(path)[0] is again


def test_a_changed_file_is_parsed_again(tmp_path: Path) -> None:
    path = source(tmp_path, GOOD)
    first, _ = load(path)
    source(tmp_path, GOOD.replace("actor A", "actor B"))
    second, _ = load(path)
    assert first is not None
    assert second is not None
    assert (first.entity.name, second.entity.name) == ("A", "B")


def test_spans_name_the_path_of_each_file(tmp_path: Path) -> None:
    one, two = source(tmp_path, GOOD, "a.cal"), source(tmp_path, GOOD, "b.cal")
    for path in (one, two, one, two):
        tree, _ = load(path)
        assert tree is not None
        assert (tree.path, tree.entity.variables[0].span.path) == (path, path)


def test_another_parser_does_not_find_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = source(tmp_path, GOOD)
    load(path)
    cache.forget()
    monkeypatch.setattr(cache, "_parser_digest", lambda: b"another")
    load(path)
    assert len(entries(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_entry_is_parsed_and_replaced(tmp_path: Path, damage: bytes | None) -> None:
    path = source(tmp_path, GOOD)
    tree, _ = load(path)
    entry = entries(tmp_path)[0]
    good = entry.read_bytes()
    entry.write_bytes(good[: len(good) // 2] if damage is None else damage)
    cache.forget()
    assert load(path) == (tree, [])
    assert entry.read_bytes() == good


def test_an_unusable_folder_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "file"))
    tree, found = load(source(tmp_path, GOOD))
    assert tree is not None
    assert found == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    tree, found = load(source(tmp_path, GOOD))
    assert tree is not None
    assert found == []
    assert entries(tmp_path) == []


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    for path in (str(tmp_path / "none.cal"), str(tmp_path), "a\0b.cal"):
        tree, found = load(path)
        assert tree is None
        assert len(found) == 1
        assert found[0].span.path == path


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.setenv("HOME", "/h")
    assert cache_folder("cal") == Path(os.environ["DSE_CACHE"]) / "cal"
    monkeypatch.setenv("DSE_CACHE", "")
    assert cache_folder("cal") is None
    monkeypatch.delenv("DSE_CACHE")
    assert cache_folder("cal") == Path("/x/dse/cal")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("cal") == Path("/h/.cache/dse/cal")


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("created",)


@pytest.mark.parametrize("value", [Hostile(), (Hostile(), ()), 3, (None, (3,)), (None, {}), (3, ()), (None, None), {}])
def test_bytes_that_are_no_parse_result_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    monkeypatch.chdir(tmp_path)
    body = pickle.dumps(value)
    with pytest.raises(DecodeError):
        decode(blake2b(body, digest_size=16).digest() + body)
    assert list(tmp_path.iterdir()) == []


def test_the_codec_keeps_every_kind_of_node(tmp_path: Path) -> None:
    for file in sorted((Path(__file__).parents[3] / "actors").rglob("*.cal")):
        tree, found = load(str(file))
        assert decode(encode((tree, tuple(found)))) == (tree, tuple(found))
    entity = "[-1.5, 9 : for int i in 0 .. 3]; a.b: action ==> end schedule regexp (a.b | c d)* end"
    tree, found = load(source(tmp_path, f"actor A() ==> :\n int x := {entity}\nend"))
    assert found == []
    assert decode(encode((tree, ()))) == (tree, ())


def test_the_collector_runs_again_afterwards(tmp_path: Path) -> None:
    load(source(tmp_path, GOOD))
    assert gc.isenabled()
