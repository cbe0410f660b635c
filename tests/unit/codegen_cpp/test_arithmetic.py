"""The arithmetic of generated programs equals Python's, for integers of any size."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from dse.passes import arithmetic
from tests.native.shared import compiled

HERE = Path(__file__).parent
FLAGS = (
    "-std=c++20",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
EDGES = [
    sign * (1 << bits) + near for bits in (0, 31, 32, 63, 64, 127, 128, 300) for near in (-1, 0, 1) for sign in (1, -1)
]


def program() -> Path:
    return compiled(HERE / "arithmetic.cpp", *FLAGS)


def computed(operation: str, pairs: list[tuple[object, object]]) -> list[str]:
    """Return what C++ gives for an operation on pairs of operands."""
    lines = "".join(f"{operation} {a} {b}\n" for a, b in pairs)
    done = subprocess.run([str(program())], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def integers() -> list[tuple[int, int]]:
    random = Random(12)
    drawn = [random.getrandbits(random.choice((3, 32, 64, 100, 130, 512))) * random.choice((1, -1)) for _ in range(600)]
    return [(a, b) for a in EDGES for b in EDGES] + list(zip(drawn[::2], drawn[1::2], strict=True))


def wrapped(bits: int, *, signed: bool) -> Callable[[int, int], int]:
    return lambda a, _: arithmetic.wrap(a, bits, signed)


def divided(by: Callable[[int, int], int]) -> Callable[[int, int], object]:
    return lambda a, b: by(a, b) if b else "division by zero"


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("+", lambda a, b: a + b),
        ("-", lambda a, b: a - b),
        ("*", lambda a, b: a * b),
        ("/", divided(arithmetic.quotient)),
        ("mod", divided(arithmetic.remainder)),
        ("&", lambda a, b: a & b),
        ("|", lambda a, b: a | b),
        ("^", lambda a, b: a ^ b),
        ("<", lambda a, b: int(a < b)),
        ("=", lambda a, b: int(a == b)),
        ("~", lambda a, _: ~a),
        ("neg", lambda a, _: -a),
        ("i64", wrapped(64, signed=True)),
        ("u128", wrapped(128, signed=False)),
        ("i128", wrapped(128, signed=True)),
        ("i192", wrapped(192, signed=True)),
        ("u200", wrapped(200, signed=False)),
    ],
)
def test_integers_of_any_size(operation: str, expected: Callable[[int, int], object]) -> None:
    pairs = integers()
    assert computed(operation, pairs) == [str(expected(a, b)) for a, b in pairs]


@pytest.mark.parametrize(("operation", "shift"), [("<<", arithmetic.shift_left), (">>", arithmetic.shift_right)])
def test_shifts_by_any_count(operation: str, shift: Callable[[int, int, int], int]) -> None:
    values = [e for e in EDGES if -(1 << 63) <= e < 1 << 63]
    pairs = [(a, b) for a in values for b in (0, 1, 31, 32, 63, 64, 65, 127, 4095, 4096, 4097, 1 << 40, -1, -32, -33)]
    assert computed(operation, pairs) == [str(shift(a, b, 32)) for a, b in pairs]


def test_integers_become_the_nearest_float() -> None:
    pairs = [(a, 0) for a, _ in integers()]
    assert [float.fromhex(text) for text in computed("real", pairs)] == [float(a) for a, _ in pairs]


REALS = ["0.0", "-0.5", "255.9", "-1.5", "1e10", "9.3e18", "-1e30", "1.7e308", "4503599627370497.5"]


def test_floats_are_truncated_without_bound_and_wrapped() -> None:
    assert computed("truncated", [(r, 0) for r in REALS]) == [str(int(float(r))) for r in REALS]
    assert computed("u8", [(r, 0) for r in REALS]) == [str(int(float(r)) & 255) for r in REALS]


@pytest.mark.parametrize(
    ("value", "message"),
    [("nan", "ValueError: cannot convert float NaN to integer"), ("inf", "a value becomes too large")],
)
def test_what_is_no_number_becomes_no_integer(value: str, message: str) -> None:
    assert computed("u8", [(value, 0)]) == [message]


def test_integers_and_floats_are_compared_without_rounding() -> None:
    whole = [1 << 53, (1 << 53) + 1, -(1 << 60) - 1, 0, 1 << 600]
    pairs = [(a, b) for a in whole for b in (*REALS, str(float(1 << 53)), "inf", "-inf", "nan")]
    assert computed("order", pairs) == [str(int(a < float(b))) for a, b in pairs]


def test_a_zero_divisor_gives_what_floats_have_for_it() -> None:
    pairs: list[tuple[object, object]] = [
        ("1.0", "0.0"),
        ("-1.0", "0.0"),
        ("1.0", "-0.0"),
        ("0.0", "0.0"),
        ("nan", "0.0"),
    ]
    assert computed("f/", pairs) == ["inf", "-inf", "-inf", "nan", "nan"]
