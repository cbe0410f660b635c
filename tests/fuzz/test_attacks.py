"""Some cases of each attack, with fixed seeds; the many are for ``make fuzz``."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz import input_files, option_numbers, trace_files

ATTACKS: tuple[tuple[Callable[[random.Random, Path], str | None], int], ...] = (
    (trace_files.attack, 60),
    (input_files.platform, 25),
    (input_files.device, 15),
    (input_files.kernel, 10),
    (input_files.weights, 25),
    (input_files.mapping, 40),
    (input_files.turnus, 40),
    (input_files.network, 40),
    (input_files.actor, 40),
    (option_numbers.attack, 40),
)


@pytest.mark.parametrize(("attack", "cases"), ATTACKS, ids=lambda value: getattr(value, "__name__", ""))
def test_hostile_input_ends_in_a_result_or_an_error(
    tmp_path: Path, attack: Callable[[random.Random, Path], str | None], cases: int
) -> None:
    for seed in range(cases):
        folder = tmp_path / str(seed)
        folder.mkdir()
        fault = attack(random.Random(seed), folder)
        assert fault is None, f"seed {seed}: {fault}"
