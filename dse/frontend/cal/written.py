"""Expressions as people write them, for advice that uses the names which stand in the program."""

from dse.frontend.cal import ast
from dse.frontend.cal.tokens import BINARY_LEVELS

_LONGEST = 60


def compared(expr: ast.Expr) -> str:
    """Return the advice to compare a number where a bool is wanted."""
    text = written(expr)
    if isinstance(expr, ast.BinaryExpr) and BINARY_LEVELS[expr.op] <= BINARY_LEVELS["!="]:
        text = f"({text})"
    return f"compare it: '{text} != 0'" if "..." not in text and len(text) <= _LONGEST else "compare it, as with '!= 0'"


def written(expr: ast.Expr) -> str:
    """Return an expression as text; ``...`` for what is long to write."""
    match expr:
        case ast.Name():
            return expr.name
        case ast.Lit(value=int(value)):
            return str(value)
        case ast.IndexExpr():
            return expr.name.name + "".join(f"[{written(index)}]" for index in expr.indices)
        case ast.CallExpr():
            return f"{expr.function.name}({', '.join(map(written, expr.arguments))})"
        case ast.UnaryExpr():
            return f"{expr.op}{_operand(expr.operand)}"
        case ast.BinaryExpr():
            return f"{_operand(expr.left)} {expr.op} {_operand(expr.right)}"
        case _:
            return "..."


def _operand(expr: ast.Expr) -> str:
    return f"({written(expr)})" if isinstance(expr, ast.BinaryExpr) else written(expr)
