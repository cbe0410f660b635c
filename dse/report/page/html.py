"""The frame of a page of one file: its style, scripts and data. It loads nothing and sends nothing.

The Content-Security-Policy is a second wall behind the escaping: the browser runs the scripts of the page by their
hashes and no others, no text is ever evaluated, and nothing has an address to go to.
"""

import json

from dse.base.escaping import page_text
from dse.report.page.assets import page_assets, script_hash

_NO_SCRIPT = (
    "<noscript><p>Without JavaScript this page shows its tables only. With it: the network, the timeline of mappings"
    " and tables that sort. It loads nothing and sends nothing.</p></noscript>"
)
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def framed(title: str, body: str, document: str) -> str:
    """Return the page: ``body`` is markup, ``document`` what ``data_text`` returned."""
    assets = page_assets()
    allowed = " ".join(map(script_hash, assets.scripts))
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    scripts = "".join(f"<script>{script}</script>\n" for script in assets.scripts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{page_text(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{page_text(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{assets.style}</style>\n</head>\n<body>\n{_NO_SCRIPT}\n{body}\n"
        f'<script type="application/json" id="document">{document}</script>\n{scripts}</body>\n</html>\n'
    )


def data_text(value: object) -> str:
    """Return JSON for an element of a page: printable ASCII without a character of markup."""
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f").translate(_IN_SCRIPT)
