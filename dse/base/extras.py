"""Packages that only some features need, imported when they are first used."""

import importlib
from typing import Any

from dse.base.errors import OptionError


def import_extra(package: str, feature: str, *, extra: str = "search") -> Any:
    """Return the imported module. Raises ``OptionError`` that names the package when it is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError as cause:
        raise OptionError(
            f"'{feature}' needs the package '{package.split('.')[0]}', which cannot be imported: {cause}",
            expected=f"install it with: pip install 'dse[{extra}]'",
        ) from cause
