"""No function branches more than ten ways without a reason in its ``def`` line or the line before: ``# ways: reason``.

Ways are counted as radon does (McCabe's cyclomatic complexity of the syntax tree, with the boolean operators): one for
the function itself; one each for ``if``, a conditional expression, ``for``, ``while``, the ``else`` of a loop and of
``try``, ``except``, ``assert``, a comprehension and each of its conditions, each operand of ``and`` and ``or`` but the
first, each ``case`` that is not ``_``. A function inside another is a function of its own. Radon's figure for a class,
the mean of its methods, is left out.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 10
REASON = re.compile(r"# ways: \S")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def own_ways(node: ast.AST) -> int:
    """How many ways one node adds, what it holds apart."""
    match node:
        case ast.If() | ast.IfExp() | ast.ExceptHandler() | ast.Assert():
            return 1
        case ast.Try():
            return bool(node.orelse)
        case ast.For() | ast.While() | ast.AsyncFor():
            return 1 + bool(node.orelse)
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.match_case():
            return not is_wildcard(node)
        case _:
            return 0


def is_wildcard(case: ast.match_case) -> bool:
    """Whether a case is ``case _:``."""
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.pattern.name is None


def ways(function: Function) -> int:
    """How many ways a function branches."""

    def below(node: ast.AST) -> int:
        inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, Function))
        return own_ways(node) + sum(map(below, inner))

    return 1 + sum(below(statement) for statement in function.body if not isinstance(statement, Function))


def functions(tree: ast.AST) -> Iterator[Function]:
    """The functions in a module, wherever they stand."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def reasoned(function: Function, lines: list[str]) -> bool:
    """Whether a reason stands in the lines of the signature, or in the one before it."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    signature = lines[max(0, first - 2) : function.body[0].lineno]
    return any(REASON.search(line) for line in signature)


def unexplained(paths: list[Path]) -> list[str]:
    """The functions of more ways than ``MOST`` that give no reason."""
    found = []
    for path in paths:
        text = path.read_text()
        for function in functions(ast.parse(text)):
            count = ways(function)
            if count > MOST and not reasoned(function, text.splitlines()):
                found.append(f"{path.name}:{function.lineno} {function.name}: {count} ways")
    return found


PACKAGES = sorted(p.parent.name for p in (ROOT / "dse").glob("*/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_branch_at_most_ten_ways(package: str) -> None:
    assert unexplained(sorted((ROOT / "dse" / package).rglob("*.py"))) == []


def test_benchmarks_branch_at_most_ten_ways() -> None:
    assert unexplained(sorted((ROOT / "benchmarks").rglob("*.py"))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(): pass", 1),
        ("def f(a):\n if a: pass\n elif a: pass\n else: pass", 3),
        ("def f(a):\n return a and a or a", 3),
        ("def f(a):\n return [x for x in a if x if x]", 4),
        ("def f(a):\n for x in a: pass\n else: pass", 3),
        ("def f(a):\n try: pass\n except A: pass\n except B: pass\n else: pass\n finally: pass", 4),
        ("def f(a):\n with a: assert a", 2),
        ("def f(a):\n match a:\n  case 1: pass\n  case x: pass\n  case _: pass", 3),
        ("def f(a):\n def g():\n  return a if a else a\n return [lambda: a if a else a]", 2),
    ],
)
def test_ways_are_counted_as_radon_does(text: str, expected: int) -> None:
    assert ways(next(functions(ast.parse(text)))) == expected
