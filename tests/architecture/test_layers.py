"""The layers of ARCHITECTURE.md, proved: imports point down only and third parties stay where they belong."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "dse"

# From the bottom up. Packages of one line may not import each other, except, where ORDERED says so, those that stand
# before them.
LAYERS = [
    ["base"],
    ["program", "model"],
    ["formats", "sdf", "passes", "frontend", "codegen", "run", "gpu", "estimate"],
    ["native", "measure"],
    ["explore", "sizing"],
    ["analyse", "report"],
    ["flows"],
    ["lsp", "studio"],
    ["cli", "api"],
]
ORDERED = (LAYERS[1], LAYERS[2], LAYERS[3], LAYERS[4])
RANK = {name: (depth, position) for depth, group in enumerate(LAYERS) for position, name in enumerate(group)}
ROOT_FILES = {"__init__", "__main__"}

# third party -> packages (or modules) under dse that may import it
CONFINED = {
    "lxml": ["formats"],
    "yaml": ["formats"],
    "simpy": ["estimate/reference"],
    "numba": [
        "estimate/compiled",
        "estimate/kept",
        "estimate/token_kernel",
        "gpu/trace/cache",
        "gpu/trace/calling",
        "gpu/trace/execute",
    ],
    "llvmlite": ["estimate/kept"],
    "rich": ["cli", "report"],
    "subprocess": [
        "native/toolchain",
        "native/process",
        "estimate/compiled/behind",
        "explore/distribution/processes",
    ],
    "sqlite3": ["formats/study_file", "formats/study_tables"],
    "argparse": ["cli"],
    "pymetis": ["explore/methods/constructive/metis"],
    "mtkahypar": ["explore/methods/constructive/hypergraph"],
    "pymoo": ["explore/methods/sampling/nsga2"],
    "sklearn": ["gpu/scaling/train"],
    "threadpoolctl": ["gpu/scaling/train"],
    "scipy": ["gpu/breakdown/fit"],
    "pyopencl": ["measure/opencl"],
    "highspy": ["explore/methods/exact/solver"],
    "pyarrow": ["formats/tables"],
    "pygls": ["lsp"],
    "lsprotocol": ["lsp"],
    "tornado": ["studio/server"],
    "distributed": ["explore/distribution/cluster"],
    "dask": ["explore/distribution/cluster"],
    "pandas": ["api/frames"],
}


@cache
def imports(root: Path) -> tuple[tuple[str, int, str], ...]:
    """(importing module path, line, imported module) for each import under ``root``, late ones included."""
    return tuple(_imports(root))


def _imports(root: Path) -> Iterator[tuple[str, int, str]]:
    for path in sorted(root.rglob("*.py")):
        owner = path.relative_to(root).with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import():
                    names = [alias.name for alias in node.names]
                case ast.ImportFrom():
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
                case ast.Call(func=ast.Name(id="import_extra"), args=[ast.Constant(value=str(name)), *_]):
                    names = [name]
                case _:
                    continue
            for name in names:
                yield owner, node.lineno, name


def points_down(importer: str, imported: str) -> bool:
    """Whether package ``importer`` may import package ``imported``."""
    if importer == imported:
        return True
    (depth_a, position_a), (depth_b, position_b) = RANK[importer], RANK[imported]
    in_order = position_b < position_a and any(importer in group for group in ORDERED)
    return depth_b < depth_a or (depth_a == depth_b and in_order)


def upward_imports(root: Path) -> list[str]:
    found = []
    for owner, line, name in imports(root):
        parts = name.split(".")
        importer = owner.split("/")[0]
        if parts[0] != "dse" or len(parts) < 3 or importer in ROOT_FILES:
            continue
        if not points_down(importer, parts[1]):
            found.append(f"dse/{owner}.py:{line} imports dse.{parts[1]}")
    return found


def strays(root: Path) -> list[str]:
    found = []
    for owner, line, name in imports(root):
        homes = CONFINED.get(name.split(".")[0])
        if homes is not None and not any(owner == home or owner.startswith(home + "/") for home in homes):
            found.append(f"dse/{owner}.py:{line} imports {name}")
    return found


def test_imports_point_down() -> None:
    assert upward_imports(ROOT) == []


def test_third_parties_stay_home() -> None:
    assert strays(ROOT) == []


def test_explore_sees_no_engine() -> None:
    engines = ("dse.estimate.reference", "dse.estimate.compiled")
    assert [f"{o}:{line}" for o, line, n in imports(ROOT) if o.startswith("explore/") and n.startswith(engines)] == []


def test_every_package_is_in_a_layer() -> None:
    packages = {p.name for p in ROOT.iterdir() if (p / "__init__.py").exists()}
    assert packages <= set(RANK)


# The hot loop and what numba inlines into it.
LONG_FOR_A_REASON = {"estimate/compiled/kernel.py"}


def test_modules_stay_readable() -> None:
    lengths = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in sorted(ROOT.rglob("*.py"))}
    assert [name for name, lines in lengths.items() if lines > 600 and name not in LONG_FOR_A_REASON] == []


@pytest.mark.parametrize(
    ("module", "text", "finding"),
    [
        ("base/x.py", "import dse.program.ir\n", "upward"),
        ("formats/x.py", "from dse.estimate.engine import ENGINES\n", "upward"),
        ("model/x.py", "def f():\n    import lxml\n", "stray"),
        ("explore/x.py", "m = import_extra('pymoo.core', 'x')\n", "stray"),
    ],
)
def test_the_gate_bites(tmp_path: Path, module: str, text: str, finding: str) -> None:
    (tmp_path / module).parent.mkdir(parents=True)
    (tmp_path / module).write_text(text)
    assert bool(upward_imports(tmp_path)) == (finding == "upward")
    assert bool(strays(tmp_path)) == (finding == "stray")
