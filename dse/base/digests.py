"""Digests of texts and files, as manifests hold them."""

import hashlib
from pathlib import Path


def text_digest(text: str) -> str:
    """Return the sha256 (hex) of a text in UTF-8; bytes that were no UTF-8 when it was read are themselves again."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the sha256 (hex) of a file. Raises ``OSError``."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
