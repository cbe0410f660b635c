"""A program whose every name attacks whoever shows it, and what of an output is live.

A world is a folder with a network, a platform and a device that hold given names in every place that can have one.
The same world is made with harmless names: what the output of the first has more of, a name has brought.
"""

import html.parser
import itertools
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from lxml import etree

REPOSITORY = Path(__file__).resolve().parents[2]
MARKUP = (
    "<img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "'><svg/onload=alert(1)>",
    "&lt;script&gt;&amp;&#60;b>",
    "]]><b>-->",
    "<!--",
    "<a href='javascript:alert(1)'>x</a>",
    "javascript:alert(1)",
    "{{7*7}}${7*7}",
    "[red]x[/red]",
    "[blink]x[red]",
    "[link=https://example.org]x[/link]",
    "</style><script>alert(1)</script>",
)
MARKS = (
    "csi\x9b31m",
    "osc\x9d8;;https://example.org\x9cx",
    "del\x7f",
    "nel\x85error: x",
    "bidi\u202e\u202a\u202b\u202c\u202d",
    "isolate\u2066\u2067\u2068\u2069",
    "mark\u200e\u200f\u061c",
    "zero\u200b\u200d\ufeff",
    "line\u2028error: y",
    "lines\nerror: fake.xdf: a line that is none",
    "tab\tx\ry",
    "tag\U000e0041",
)
NOT_IN_XML = (
    "esc\x1b[31mred\x1b[0m",
    "osc\x1b]8;;https://example.org\x1b\\x",
    "clip\x1b]52;c;ZXZpbA==\x07",
    "nul\0",
    "bell\x07\x08\x0b\x0c",
    "half\udcff\ud800",
    "non\ufffe\uffff",
)
HOSTILE = tuple(name for name in (*MARKUP, *MARKS) if "/" not in name)
"""Names that an instance of a network can have; a slash would join two."""
ANYWHERE = tuple(name for name in MARKUP if "/" in name)
"""Names that networks, platforms, units and actors of traces can have; those of ``NOT_IN_XML`` can have no place."""
_LIVE = frozenset(("script", "iframe", "object", "embed", "link", "base", "form", "a", "img", "image", "use"))
FILE_NAME = "<img src=x onerror=alert(1)>\x1b[31m\u202e'\"&\n\udcff[red]"
"""Whatever a file name may hold on most systems; it has no slash and no zero byte."""

_PARTS = """package h;
actor Source() ==> uint(size=8) Out: uint(size=8) n := 0;
  action ==> Out:[n] guard n < 5 do n := n + 1; println("printed" + n); end end
actor Pass() uint(size=8) In ==> uint(size=8) Out: action In:[x] ==> Out:[x] end end
actor Sink() uint(size=8) In ==> : action In:[x] ==> end end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A folder, and the names of the things in it."""

    folder: Path
    names: tuple[str, ...]
    """Of the instances."""
    others: tuple[str, ...]
    """Of the network, the platform, its units and links."""
    network: str
    platform: str
    out: str
    device: str


def make_world(folder: Path, names: tuple[str, ...], others: tuple[str, ...], file_name: str) -> World:
    """Write the files of a world; the classes are ``h.Source``, ``h.Pass`` and ``h.Sink``."""
    (folder / "h").mkdir(parents=True)
    (folder / ".git").mkdir()
    for text in _PARTS.split("actor ")[1:]:
        (folder / "h" / f"{text.split('(')[0]}.cal").write_text(f"package h;\nactor {text}")
    world = World(
        folder=folder,
        names=names,
        others=others,
        network=f"{file_name}.xdf",
        platform=f"p{file_name}.yaml",
        out=f"out{file_name}",
        device=f"d{file_name}.yaml",
    )
    (folder / world.network).write_text(_network_text(names, others[0]), "utf-8")
    (folder / world.platform).write_text(_platform_text(others), "utf-8")
    shutil.copy(REPOSITORY / "configs/platforms/devices/gtx1660s.yaml", folder / world.device)
    return world


def _network_text(names: tuple[str, ...], name: str) -> str:
    last = len(names) - 1
    kinds = ["Source", *["Pass"] * (last - 1), "Sink"]
    parts = [
        f"<Instance id={quoteattr(name)}><Class name='h.{kind}'/></Instance>"
        for name, kind in zip(names, kinds, strict=True)
    ]
    parts += [
        f"<Connection src={quoteattr(a)} src-port='Out' dst={quoteattr(b)} dst-port='In'/>"
        for a, b in itertools.pairwise(names)
    ]
    return f"<XDF name={quoteattr(name)}>" + "\n".join(parts) + "</XDF>"


def _platform_text(names: tuple[str, ...]) -> str:
    first, second = json.dumps(names[1]), json.dumps(names[2])
    source = json.dumps("".join(names))
    return (
        f"name: {json.dumps(names[3])}\nunits:\n"
        f"  {first}: {{kind: cpu, cores: 2, clock_mhz: 1000, source: {source}}}\n"
        f"  {second}: {{kind: cpu, cores: 1, clock_mhz: 500, source: {source}}}\n"
        f"links:\n  {json.dumps(names[4])}: {{between: [{first}, {second}], latency_ns: 9, bandwidth_gb_s: 1}}\n"
    )


@dataclass(slots=True)
class Page(html.parser.HTMLParser):
    """Elements with the names of their attributes, in order, and all text."""

    shape: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        html.parser.HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.shape.append((tag, tuple(name for name, _ in attrs)))
        self.texts += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Keep the end of an element."""
        self.shape.append((f"/{tag}", ()))

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Keep a comment."""
        self.shape.append(("!--", ()))

    def handle_pi(self, data: str) -> None:
        """Keep an instruction."""
        self.shape.append(("?", ()))


def page_of(text: str) -> Page:
    """Return what a browser reads in a page."""
    page = Page()
    page.feed(text)
    page.close()
    return page


def live_in(page: Page) -> list[str]:
    """Return what could run, load or lead somewhere in a page."""
    found = []
    for tag, attributes in page.shape:
        if tag in _LIVE:
            found.append(tag)
        found += [a for a in attributes if a.startswith("on") or a in ("href", "src", "xlink:href", "action")]
    return found


def xml_shape(data: bytes) -> list[tuple[str, tuple[str, ...]]]:
    """Return the elements of an XML document with the names of their attributes, in order; comments too."""
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    return [(str(e.tag), tuple(sorted(map(str, e.attrib)))) for e in root.iter()]


def unprintable(text: str) -> set[str]:
    """Return the characters of a text that no terminal should get, line ends left out."""
    return {c for c in text if not c.isprintable() and c != "\n"}
