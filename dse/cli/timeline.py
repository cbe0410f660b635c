"""What the verbs say of a timeline that they have written."""

from dse.cli.streams import say


def tell_timeline(path: str, *, quiet: bool) -> None:
    """Say on standard error where a timeline is, and what opens it."""
    if not quiet:
        say(f"timeline: {path} (open it in ui.perfetto.dev, which does not send it anywhere)", error=True)
