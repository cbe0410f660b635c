"""Fragments of generated Python: text with its binding strength and what is known about its value.

Owns wrapping to containers and rounding to 32-bit floats, both left out where the value is known to fit.
"""

from dataclasses import dataclass

from dse.passes.analyses.ranges import Interval, container, fits
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type

# Binding strength of Python's operators, loosest first.
WALRUS, CONDITIONAL, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, UNARY, ATOM = range(14)

_ONE_DIGIT = (1 << 30) - 1


@dataclass(frozen=True, slots=True)
class Code:
    """A Python expression. ``strength`` is its loosest operator; ``interval`` bounds an integer value."""

    text: str
    strength: int = ATOM
    interval: Interval = None
    real: bool = False
    """A float (and not an integer)."""
    single: bool = False
    """A float that is a 32-bit float already."""
    fresh: bool = False
    """A list that nothing else refers to: storing it needs no copy."""
    length: int | None = None
    """Number of elements of a list, where it is known for certain."""

    def at(self, strength: int) -> str:
        """Return the text, in parentheses if it binds looser than ``strength``."""
        return self.text if self.strength >= strength else f"({self.text})"

    @property
    def simple(self) -> bool:
        """Whether repeating the text costs nothing and has no effect: a name or a literal."""
        return self.text.isidentifier() or self.text.isdecimal()


class Names:
    """Hands out fresh names of temporaries and of objects that the generated code refers to."""

    def __init__(self) -> None:
        self._count = 0
        self.objects: dict[str, object] = {}

    def temporary(self) -> str:
        """Return an unused name."""
        self._count += 1
        return f"t{self._count}"

    def object(self, value: object) -> str:
        """Return a name under which generated code finds ``value``."""
        name = f"K{len(self.objects)}"
        self.objects[name] = value
        return name


def integer(value: int) -> Code:
    """Return the code of an integer literal."""
    return Code(str(value), ATOM if value >= 0 else UNARY, (value, value))


def stored(code: Code, target: Type, names: Names) -> Code:
    """Return ``code`` converted as by a store to a scalar of type ``target`` (cal.md 2.0, model R)."""
    match target:
        case IntType():
            return _wrapped(code, target, names)
        case FloatType():
            return _rounded(code, target)
        case BoolType() | StringType() | ListType():
            return code


def _wrapped(code: Code, target: IntType, names: Names) -> Code:
    bounds = container(target)
    assert bounds is not None
    if fits(code.interval, bounds):
        return code
    if not target.signed:
        return Code(f"{code.at(BIT_AND)} & {bounds[1]}", BIT_AND, bounds)
    test, value = range_test(code, target, names)
    return Code(f"{value} if {test} else {wrap_text(target.container_bits, value)}", CONDITIONAL, bounds)


def wrap_text(bits: int, value: str) -> str:
    """Return the text that wraps ``value`` to a signed container."""
    half = 1 << (bits - 1)
    return f"({value} + {half} & {2 * half - 1}) - {half}"


def range_test(code: Code, target: IntType, names: Names) -> tuple[str, str]:
    """Return (a test, a text for the value that is valid after the test); the value needs no wrap if the test holds.

    The bounds tested for 32-bit containers are those of CPython's one-digit integers, whose comparison is four times
    quicker; a value between them and the real bounds is wrapped for nothing, to itself.
    """
    bounds = container(target)
    assert bounds is not None
    low, high = bounds
    if target.container_bits == 32:
        low, high = max(low, -_ONE_DIGIT), min(high, _ONE_DIGIT)
    value, first = code.text, code.at(BIT_OR)
    if not code.simple:
        value = names.temporary()
        first = f"({value} := {code.text})"
    if code.interval is not None and code.interval[0] >= bounds[0]:
        return f"{first} <= {high}", value
    if code.interval is not None and code.interval[1] <= bounds[1]:
        return f"{first} >= {low}", value
    return f"{first} <= {high} and {value} >= {low}", value


def _rounded(code: Code, target: FloatType) -> Code:
    if code.single or (code.real and target.bits == 64):
        return code
    if code.interval is not None and max(abs(code.interval[0]), abs(code.interval[1])) <= 1 << 24:
        return Code(f"float({code.text})", real=True, single=True)
    if target.bits == 64:
        return Code(f"float({code.text})", real=True)
    return Code(f"single({code.text})", real=True, single=True)
