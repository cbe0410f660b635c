"""The scripts and styles of pages, as one file that holds them takes them.

``dse/report/web`` holds modules of JavaScript, which a server may serve as they are. A file has no addresses: there
each module becomes the body of a function, in the order in which they need each other, and what it imports is what
those before it returned.
"""

import base64
import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

WEB = Path(__file__).resolve().parents[1] / "web"
"""The folder of modules, styles and, in ``vendor``, of libraries of others with their licences."""
LIBRARIES = ("uPlot.iife.min.js", "dagre.min.js")
_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export ((?:async )?function|const) (\w+)", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """What a page of one file holds: its style, and its scripts in their order."""

    style: str
    scripts: tuple[str, ...]


@functools.lru_cache(maxsize=4)
def page_assets(entry: str = "report") -> Assets:
    """Return the style and the scripts of a page that begins with module ``entry``."""
    vendor = WEB / "vendor"
    style = (vendor / "uPlot.min.css").read_text("utf-8") + (WEB / "page.css").read_text("utf-8")
    libraries = (_without_map((vendor / name).read_text("utf-8")) for name in LIBRARIES)
    scripts = (*libraries, _bundle(entry))
    assert not any("</script" in text.lower() or "<!--" in text for text in scripts), "a script ends where it says"
    return Assets(style=style, scripts=scripts)


def _without_map(script: str) -> str:
    """Return a library without the line that names a file for debuggers: the page has no other files."""
    return re.sub(r"^//# sourceMappingURL=.*\n?", "", script, flags=re.M)


def _bundle(entry: str) -> str:
    """Return a module with all that it imports as one script."""
    done = dict[str, str]()
    _add_module(entry, done)
    return '"use strict";\n' + "\n".join(done.values())


def _add_module(name: str, done: dict[str, str]) -> None:
    """Add a module behind those that it imports; modules form no circle."""
    text = (WEB / f"{name}.js").read_text("utf-8")
    for found in _IMPORT.finditer(text):
        if found.group(2) not in done:
            _add_module(found.group(2), done)
    exported = [found.group(2) for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const { \1 } = module_\2;\n", text))
    assert "import " not in re.sub(r"//.*|/\*.*?\*/|\"[^\"]*\"", "", body), f"{name}.js imports in another form"
    done[name] = f"const module_{name} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def script_hash(script: str) -> str:
    """Return how a Content-Security-Policy names an inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
