"""What users give, as options of the flows."""

from fractions import Fraction
from pathlib import Path

import pytest

from dse.api.given import (
    budget_of,
    clocks_of,
    names_of,
    partitions_of,
    partitions_text,
    path_text,
    paths_of,
    policies_of,
    sizes_texts,
    whole_number,
)
from dse.base.errors import OptionError
from dse.explore.evaluator import Budget


def test_paths_of_either_kind() -> None:
    assert path_text(Path("a") / "b.xdf", "program") == path_text("a/b.xdf", "program") == "a/b.xdf"
    assert paths_of("w", "weights") == ("w",)
    assert paths_of([Path("w"), "v"], "weights") == ("w", "v")
    for bad in ("", "  ", 3, None, b"x"):
        with pytest.raises(OptionError, match="program"):
            path_text(bad, "program")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the weights is neither a path nor a text but int"):
        paths_of(3, "weights")  # type: ignore[arg-type]


def test_budgets() -> None:
    assert budget_of(None) is None
    assert budget_of(50) == budget_of("50") == budget_of(Budget(evaluations=50)) == Budget(evaluations=50)
    assert budget_of("50,1m") == Budget(evaluations=50, seconds=60)
    with pytest.raises(OptionError, match="no evaluation"):
        budget_of(0)
    with pytest.raises(OptionError, match="budget True is not understood"):
        budget_of(True)


def test_whole_numbers_and_names() -> None:
    assert whole_number("seed", 0) == 0
    for bad in (-1, 1.0, "1", None, True):
        with pytest.raises(OptionError, match="seed is "):
            whole_number("seed", bad)  # type: ignore[arg-type]
    assert names_of("a,b", "method") == names_of(["a", "b"], "method") == "a,b"
    for wrong in (3, [3], None):
        with pytest.raises(OptionError, match="is no name"):
            names_of(wrong, "method")  # type: ignore[arg-type]


def test_partitions_and_policies() -> None:
    assert partitions_of(4) == partitions_of("4") == (1, 4)
    assert partitions_of((2, 3)) == partitions_of("2-3") == (2, 3)
    assert partitions_of(None) is None
    assert policies_of("round-robin") == policies_of(["ROUND_ROBIN"]) == ("ROUND_ROBIN",)
    with pytest.raises(OptionError):
        policies_of("RANDOM")
    for wrong in (2.5, True, [2]):
        with pytest.raises(OptionError, match="are no range"):
            partitions_of(wrong)  # type: ignore[arg-type]


def test_sizes() -> None:
    assert sizes_texts(None) == ()
    assert sizes_texts(64) == ("64",)
    assert sizes_texts([64, "minimal", Path("x.bxdf")]) == ("64", "minimal", "x.bxdf")


def test_clocks() -> None:
    (one,) = clocks_of({"cpu": [1200, 2000.5]})
    assert (one.names, one.clocks_mhz) == (("cpu",), (Fraction("2000.5"), Fraction(1200)))
    assert clocks_of("cpu=1200,2000.5") == (one,)
    assert clocks_of(None) == ()
    with pytest.raises(OptionError):
        clocks_of({"cpu": -1})


def test_partitions_as_a_text() -> None:
    assert partitions_text({"P0": ["a", "b"], "PG": ["c"]}) == "P0:a,b PG:c"
    assert partitions_text({"P0@big=2000": ["odd name"]}) == "P0@big=2000:'odd name'"
    with pytest.raises(OptionError, match="no list of names"):
        partitions_text({"P0": "a"})
    with pytest.raises(OptionError, match="no partition"):
        partitions_text({})
