"""``--cuda`` takes a word behind it: a network there is told as what it is."""

import pytest

from dse.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile", "--cuda", "net.xdf", "-o", "w"), "'net.xdf' must stand before it, or behind --cuda=nvcc"),
        (("build", "--cuda", "net.xdf", "-o", "w"), "'net.xdf' must stand before it, or behind --cuda=nvcc"),
        (("profile", "net.xdf", "--cuda", "opencl", "-o", "w"), "choose from 'nvcc', 'emulated'"),
    ],
)
def test_a_word_that_is_no_kind(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert end.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())
