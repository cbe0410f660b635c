"""Compiled code is found again only as long as all sources that it was compiled from are as they were."""

import importlib
import sys
from pathlib import Path

import pytest

from dse.base.kept_code import kept_name, sources_digest

ROOT = Path(__file__).resolve().parents[3] / "dse"
KERNELS = (
    "dse.estimate.compiled.kernel",
    "dse.estimate.compiled.load_kernel",
    "dse.estimate.compiled.path_kernel",
    "dse.estimate.compiled.place_kernel",
    "dse.estimate.compiled.walk_kernel",
    "dse.estimate.compiled.dependency_kernel",
    "dse.estimate.compiled.waits_kernel",
    "dse.estimate.compiled.one_core_kernel",
    "dse.estimate.compiled.tree_kernel",
    "dse.estimate.token_kernel",
    "dse.gpu.trace.cache",
    "dse.gpu.trace.warps",
)


def package(folder: Path, **texts: str) -> Path:
    """Write the modules of a package; return its folder."""
    root = folder / "kept_program"
    root.mkdir(exist_ok=True)
    for name, text in {"__init__": "", **texts}.items():
        (root / f"{name}.py").write_text(text)
    return root


@pytest.mark.parametrize(
    "how",
    [
        "from kept_program import far",
        "import kept_program.far as far",
        "from kept_program.far import (\n    A,\n    B,\n)",
        "def f():\n    from kept_program.far import A",
    ],
)
def test_the_digest_knows_what_a_module_imports(how: str, tmp_path: Path) -> None:
    root = package(tmp_path, kernel="from kept_program import near\n", near=how + "\n", far="A = 1\n", other="")
    first = sources_digest(root / "kernel.py", root)
    for changed, differs in (("other", False), ("far", True)):
        (root / f"{changed}.py").write_text("A = 2\n")
        sources_digest.cache_clear()
        assert (sources_digest(root / "kernel.py", root) != first) is differs, changed


def test_a_change_of_the_layout_alone_gives_the_kernels_other_names(tmp_path: Path) -> None:
    folder = tmp_path / "dse" / "estimate" / "compiled"
    folder.mkdir(parents=True)
    for name in ("layout", "place_kernel"):
        (folder / f"{name}.py").write_bytes((ROOT / "estimate" / "compiled" / f"{name}.py").read_bytes())
    before = kept_name("fill", folder / "place_kernel.py", tmp_path / "dse")
    layout = folder / "layout.py"
    layout.write_text(layout.read_text().replace("N_ENDING: Final = 1", "N_ENDING: Final = 2"))
    sources_digest.cache_clear()
    assert kept_name("fill", folder / "place_kernel.py", tmp_path / "dse") != before


def test_the_compiler_finds_no_code_of_another_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    kernel = (
        "from numba import njit\nfrom dse.base.kept_code import kept_by_sources\n"
        "from kept_program import layout as at\n@njit(['int64()'], cache=True)\n"
        "@kept_by_sources\ndef place():\n    return at.PLACE\n"
    )
    for place in (1, 2):
        root = package(tmp_path, kernel=kernel, layout=f"PLACE = {place}  # {'x' * place}\n")
        for name in [name for name in sys.modules if name.startswith("kept_program")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        sources_digest.cache_clear()
        assert importlib.import_module("kept_program.kernel").place() == place
    assert len(list((root / "__pycache__").glob("*.nbi"))) == 2


@pytest.mark.parametrize("module", KERNELS)
def test_all_code_that_is_kept_is_named_for_its_sources(module: str) -> None:
    found = importlib.import_module(module)
    kept = [f for f in vars(found).values() if hasattr(f, "py_func") and f.__module__ == module and f.stats.cache_path]
    assert kept
    for function in kept:
        path = Path(function.py_func.__code__.co_filename)
        assert function.py_func.__qualname__ == kept_name(function.py_func.__name__, path, ROOT)
