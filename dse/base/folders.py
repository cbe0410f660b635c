"""Where results go when the user does not say: a folder of the network's name below the working folder."""

from pathlib import Path

RESULTS = Path("dse-out")


def results_folder(network: str) -> Path:
    """Return the folder for the results of a network: one below ``RESULTS``, whatever name the XDF gives it."""
    name = "".join("_" if c in "/\\:\0" else c for c in network)
    return RESULTS / ("network" if name.strip(". ") == "" else name)
