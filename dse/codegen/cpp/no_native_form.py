"""What of the language has no C++ form."""

from dse.base.errors import DseError


class NoNativeForm(DseError):
    """An actor does something that the native program has no form for; the Python execution runs it."""
