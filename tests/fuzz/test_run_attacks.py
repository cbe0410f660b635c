"""A few cases of each attack on a run, with fixed seeds; ``make fuzz`` runs more of them."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz import native_calls, native_files

ATTACKS = [(native_files.attack, range(1000, 1060)), (native_calls.attack, range(60))]


@pytest.mark.parametrize(("attack", "seeds"), ATTACKS, ids=lambda value: getattr(value, "__module__", ""))
def test_programs_of_others_do_no_harm(
    attack: Callable[[random.Random, Path], str | None], seeds: range, tmp_path: Path
) -> None:
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert attack(random.Random(seed), folder) is None, seed
