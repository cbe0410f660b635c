"""Questions about marked places of texts, answered in this process."""

from pathlib import Path

from dse.lsp.answers import Location, Outlined
from dse.lsp.session import Session

UNIT = """package lib;
unit Tools:
	// How many there are.
	int COUNT = 4;
	function twice(int x) --> int: x + x end
	@native procedure log(int x) end
end
"""
ACTOR = """package lib;
import lib.Tools.*;
import lib.Tools.twice;

/*
 * Adds pairs.
 */
actor Adder (int(size=8) gain) uint(size=3) In ==> int Out:

	// The sum so far.
	int(size=16) sum := 0;
	List(type: int, size=COUNT) table = [1, 2, 3, 4];

	function scaled(int v) --> int
	var int w = v * gain:
		w + table[0]
	end

	add.pair: action In:[a, b] repeat 2 ==> Out:[sum, twice(sum)]
	guard a[0] > 0
	var int t
	do
		t := a[0] + b[1];
		foreach int i in 0 .. COUNT - 1 do
			sum := sum + t + i;
		end
		log(sum);
	end

	add.none: action ==> Out:[scaled(1)] end

	schedule fsm idle:
		idle (add) --> idle;
	end

	priority
		add.pair > add.none;
	end
end
"""
NETWORK = """<?xml version="1.0"?>
<XDF name="net">
    <Port kind="Output" name="Result"><Type name="int"/></Port>
    <Decl kind="Variable" name="K"><Expr kind="Literal" literal-kind="Integer" value="3"/></Decl>
    <Instance id="one"><Class name="lib.Adder"/>
        <Parameter name="gain"><Expr kind="Var" name="K"/></Parameter>
    </Instance>
    <Connection src="one" src-port="Out" dst="" dst-port="Result"/>
</XDF>
"""
OUTER = """<XDF name="outer">
    <Instance id="inner"><Class name="net"/></Instance>
    <Connection src="inner" src-port="Result" dst="inner" dst-port="Result"/>
</XDF>
"""


class Scene:
    """A folder with a unit, an actor and two networks, and a session that has the actor and the network open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".git").mkdir()
        (folder / "lib").mkdir()
        self.unit, self.actor = folder / "lib/Tools.cal", folder / "lib/Adder.cal"
        self.network, self.outer = folder / "net.xdf", folder / "outer.xdf"
        files = {self.unit: UNIT, self.actor: ACTOR, self.network: NETWORK, self.outer: OUTER}
        for path, text in files.items():
            path.write_text(text)
        self.session = Session()
        self.session.workspace.folders = (str(folder),)

    def edit(self, path: Path, text: str) -> None:
        """Let an editor hold a text for a file."""
        self.session.sync({str(path): text})

    def text(self, path: Path) -> str:
        source = self.session.source(str(path))
        assert source is not None
        return source.text

    def at(self, path: Path, marked: str) -> int:
        """The offset of the ``|`` in the only place of a text that is ``marked`` without it."""
        plain = marked.replace("|", "")
        text = self.text(path)
        assert text.count(plain) == 1, f"{marked!r} is there {text.count(plain)} times"
        return text.index(plain) + marked.index("|")

    def definition(self, path: Path, marked: str) -> list[str]:
        """``FILE:LINE name`` of each declaration of what stands at a marked place."""
        found = self.session.definition(str(path), self.at(path, marked))
        return [self.shown(location) for location in found]

    def shown(self, location: Location) -> str:
        source = location.source
        assert location.start <= location.name_start <= location.name_end <= location.end
        line = source.line_and_column(location.name_start)[0]
        file = Path(source.path).relative_to(self.folder)
        return f"{file}:{line} {source.text[location.name_start : location.name_end]}"

    def hover(self, path: Path, marked: str) -> str:
        found = self.session.hover(str(path), self.at(path, marked))
        return "" if found is None else found.text

    def offered(self, path: Path, marked: str) -> set[str]:
        return {o.name for o in self.session.completion(str(path), self.at(path, marked)) if o.kind != "keyword"}

    def outline(self, path: Path) -> list[str]:
        """The entries with their kinds, indented by their depth."""
        return [line for one in self.session.outline(str(path)) for line in _lines(one, "")]

    def messages(self, path: Path) -> list[str]:
        found = self.session.check(str(path))
        return [f"{Path(file).name}: {d.message}" for file, ds in found.items() for d in ds]


def _lines(outlined: Outlined, margin: str) -> list[str]:
    inner = [line for child in outlined.children for line in _lines(child, margin + "  ")]
    return [f"{margin}{outlined.kind} {outlined.name} [{outlined.detail}]", *inner]
