"""Actors of CAL text for tests of predicted weights."""

from pathlib import Path

from dse.frontend.network.elaborate import load_network
from dse.gpu.actors.bodies import Body, body_of
from dse.program.ir import Actor
from dse.program.network import Network

XDF = """<XDF name="top">
  <Instance id="a"><Class name="A"/></Instance>
  <Instance id="b"><Class name="A"/></Instance>
  <Connection src="a" src-port="O" dst="b" dst-port="I"/>
  <Connection src="b" src-port="O" dst="a" dst-port="I"/>
</XDF>
"""


def network(folder: Path, text: str) -> Network:
    """Return two instances of actor ``A`` in a ring."""
    folder.mkdir(exist_ok=True)
    (folder / "A.cal").write_text(f"actor A () int(size=32) I ==> int(size=32) O :\n{text}\nend\n")
    (folder / "top.xdf").write_text(XDF)
    return load_network(str(folder / "top.xdf")).network


def actor(folder: Path, text: str) -> Actor:
    """Return the actor ``A`` with ports I and O and this text."""
    return network(folder, text).instances[0].actor


def body(folder: Path, text: str, number: int = 0) -> Body:
    """Return the pieces of an action of the actor ``A``."""
    found = actor(folder, text)
    return body_of(found, found.actions[number])
