"""Random edits of the applications' files: an editor gets an answer to every question. ``make fuzz`` does more."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.fuzz.editor import SOURCES, edit_and_ask

SMALL = tuple(path for path in SOURCES if "Parser" not in path and "Huffman" not in path)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False))
@pytest.mark.parametrize("suffix", [".cal", ".xdf"])
def test_every_question_has_an_answer(suffix: str, rng: random.Random) -> None:
    edit_and_ask(rng, [path for path in SMALL if path.endswith(suffix)])
