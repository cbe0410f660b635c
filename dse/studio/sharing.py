"""A design as one HTML file that needs no server: the report's page, with the design and what it was compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.escaping import page_text
from dse.base.files import write_whole
from dse.flows.setting import Setting
from dse.formats.decimals import format_decimal
from dse.report.page.document import network_view
from dse.report.page.html import data_text, framed
from dse.report.page.timeline import Detail
from dse.studio.design import Design
from dse.studio.estimation import Estimation
from dse.studio.views import design_view

_SIDES = (
    ("reasons", "Why it takes this long"),
    ("network", "The network"),
    ("timeline", "The timeline"),
    ("partitions", "Partitions"),
    ("actors", "Actors"),
    ("fifos", "FIFOs"),
)
"""The places that ``dse/report/web/report.js`` fills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A design that goes into a file, and what it is called there."""

    label: str
    design: Design


def write_shared(path: Path, setting: Setting, engine: str, designs: Sequence[Shared]) -> None:
    """Write a page of some designs, the first one shown.

    Raises:
        OptionError: the file cannot be written. FormatError, InfeasibleDesign: as ``Engine.estimate``.
    """
    estimation = Estimation(setting, engine)
    views = [design_view(estimation, of.design, of.label, Detail()) for of in designs]
    document = {
        "network": network_view(setting.trace),
        "mappings": views,
        "rows": len(views),
        "search": None,
        "front": None,
    }
    name = setting.trace.topology.name
    text = framed(f"dse studio: {name}", _body(name, setting, designs), data_text(document))
    try:
        write_whole(path, text)
    except OSError as cause:
        raise OptionError(
            f"cannot write '{path}': {cause.strerror or cause}", expected="make room, or choose another folder"
        ) from cause


def _body(name: str, setting: Setting, designs: Sequence[Shared]) -> str:
    """Return the markup of the page: what is assumed is there without JavaScript too."""
    scaled = [line for of in designs for line in _scaled(setting, of)]
    assumed = "".join(f"<li>{page_text(line)}</li>" for line in (*setting.assumed, *scaled))
    sections = "".join(
        f'<section aria-label="{title}"><h2>{title}</h2><div class="sides" id="{place}-sides"></div></section>'
        for place, title in _SIDES
    )
    return (
        f'<h1>{page_text(name)}</h1><p class="lead">A design, as dse studio showed it.</p>'
        f'<div class="live"><div id="choice"></div>{sections}</div>'
        f"<section><h2>What was assumed</h2><ul>{assumed}</ul></section>"
    )


def _scaled(setting: Setting, of: Shared) -> list[str]:
    """Return in words which costs are scaled in a design."""
    actors = setting.trace.topology.actors
    return [
        f"{of.label}: computing {actors[actor].name}.{actors[actor].actions[action].name} costs"
        f" {format_decimal(factor)} times its weight"
        for (actor, action), factor in of.design.scales.items()
    ]
