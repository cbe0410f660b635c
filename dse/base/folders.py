"""Where results go when the user does not say: a folder of the network's name below the working folder."""

from pathlib import Path

RESULTS = Path("dse-out")


def results_folder(network: str) -> Path:
    """Return the folder for the results of a network: one below ``RESULTS``, whatever name the XDF gives it."""
    return RESULTS / folder_name(network)


def folder_name(name: str) -> str:
    """Return a name from an input as that of one folder: it leads nowhere else and holds nothing but what prints."""
    plain = "".join(c if c.isprintable() and c not in "/\\:" else "_" for c in name)
    return plain if plain.strip(". ") else f"_{plain}"
