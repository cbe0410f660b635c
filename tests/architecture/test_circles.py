"""No import circle, neither between the modules of dse nor between the sub-packages of a package."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "dse"


def modules(root: Path) -> dict[str, Path]:
    """The file of each module under ``root`` by its dotted name, which begins with ``dse``."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(("dse", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


def targets(tree: ast.AST, known: Iterable[str]) -> Iterator[str]:
    """The modules of ``known`` that a module imports anywhere: at its head, late, or for annotations only."""
    names = set(known)
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names if alias.name in names)
            case ast.ImportFrom(module=str(module)):
                for alias in node.names:
                    full = f"{module}.{alias.name}"
                    yield from (name for name in (full if full in names else module,) if name in names)


@cache
def imports(root: Path) -> dict[str, set[str]]:
    """What each module under ``root`` imports of the others."""
    files = modules(root)
    return {name: set(targets(ast.parse(path.read_text()), files)) - {name} for name, path in files.items()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of nodes, sorted, that reach each other (Tarjan 1972, but by plain search: the graph is small)."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            fresh = graph.get(waiting.pop(), set()) - seen
            seen |= fresh
            waiting += fresh
        return seen

    reach = {node: reached(node) for node in graph}
    found = {tuple(sorted(n for n in reach[node] if node in reach[n])) for node in graph if node in reach[node]}
    return [list(members) for members in sorted(found)]


def between_parts(graph: dict[str, set[str]], package: str) -> dict[str, set[str]]:
    """The imports between the parts of a package: its sub-packages, and the modules that stand beside them."""
    depth = package.count(".") + 1

    def part(module: str) -> str | None:
        names = module.split(".")
        return names[depth] if module.startswith(package + ".") and len(names) > depth else None

    found: dict[str, set[str]] = {}
    for module, imported in graph.items():
        own = part(module)
        if own is not None:
            found.setdefault(own, set()).update(p for p in map(part, imported) if p is not None and p != own)
    return found


def test_modules_form_no_circle() -> None:
    assert circles(imports(ROOT)) == []


@pytest.mark.parametrize("package", ["dse", *sorted(f"dse.{p.parent.name}" for p in ROOT.glob("*/__init__.py"))])
def test_sub_packages_form_no_circle(package: str) -> None:
    assert circles(between_parts(imports(ROOT), package)) == []


def test_nothing_hides_behind_type_checking() -> None:
    assert [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.py") if "TYPE_CHECKING" in p.read_text()] == []


def test_the_gate_bites(tmp_path: Path) -> None:
    for name, text in (
        ("a/__init__.py", ""),
        ("a/x.py", "from dse.b import y\n"),
        ("b/__init__.py", ""),
        ("b/y.py", "def late():\n    from dse.b.z import f\n"),
        ("b/z.py", "if TYPE_CHECKING:\n    from dse.b.y import late\n"),
        ("b/w.py", "import dse.a.x\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert circles(imports(tmp_path)) == [["dse.b.y", "dse.b.z"]]
    assert circles(between_parts(imports(tmp_path), "dse")) == [["a", "b"]]
