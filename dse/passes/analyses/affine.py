"""Affine forms: integer expressions that are a constant plus multiples of variables."""

from dataclasses import dataclass

from dse.program.ir import Binary, Const, Expr, Load, Unary


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant`` plus, for each term, a coefficient times a variable."""

    constant: int
    terms: tuple[tuple[str, int], ...]
    """Names of variables with their coefficients, none of them 0, in the order in which they were met."""

    def scaled(self, by: int) -> "Affine":
        """Return the form times a number."""
        return Affine(self.constant * by, tuple((n, c * by) for n, c in self.terms if by))

    def plus(self, other: "Affine") -> "Affine":
        """Return the sum of two forms."""
        terms: dict[str, int] = {}
        for name, coefficient in (*self.terms, *other.terms):
            terms[name] = terms.get(name, 0) + coefficient
        return Affine(self.constant + other.constant, tuple((n, c) for n, c in terms.items() if c))


def affine(expression: Expr) -> Affine | None:
    """Return an expression as an affine form of scalars, None if it is not one."""
    match expression:
        case Const(value=int(value)):
            return Affine(int(value), ())
        case Load(name=name):
            return Affine(0, ((name, 1),))
        case Unary(op="-", operand=operand):
            inner = affine(operand)
            return None if inner is None else inner.scaled(-1)
        case Binary():
            return _combined(expression)
        case _:
            return None


def _combined(expression: Binary) -> Affine | None:
    a, b = affine(expression.left), affine(expression.right)
    if a is None or b is None:
        return None
    match expression.op:
        case "+":
            return a.plus(b)
        case "-":
            return a.plus(b.scaled(-1))
        case "*" if not b.terms:
            return a.scaled(b.constant)
        case "*" if not a.terms:
            return b.scaled(a.constant)
        case _:
            return None
