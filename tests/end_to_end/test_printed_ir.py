"""The explicit actors that docs/ir.md shows are those that are printed.

A block of the page begins with a comment: the network and the instance. The lines below must appear in the printed
text, in order; ``...`` stands for what is left out. Commands of the page are run by ``test_documents``.
"""

import re
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.passes.rewrites.explicit import make_explicit
from dse.program.text.printer import print_explicit
from dse.run.instance import wiring_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ir.md").read_text()
BLOCKS = re.findall(r"^```ir\n// (\S+) (\S+)\n(.*?)^```", PAGE, re.M | re.S)


def printed(path: str, name: str) -> str:
    """The text of an instance of a network, as an explicit actor."""
    network = load_network(path).network
    index = [instance.name for instance in network.instances].index(name)
    wiring = wiring_of(network, index, accesses=False)
    return print_explicit(make_explicit(network.instances[index].actor, wiring)[0])


def test_every_block_is_checked() -> None:
    assert len(BLOCKS) == PAGE.count("```ir") == 2


@pytest.mark.parametrize(("path", "name", "shown"), BLOCKS)
def test_shown_text_is_printed(path: str, name: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = printed(path, name)
    for piece in filter(None, re.split(r"^\.\.\.\n", shown, flags=re.M)):
        assert piece in text, f"not printed: {piece}"
        text = text[text.index(piece) + len(piece) :]
