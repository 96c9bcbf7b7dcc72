"""What can go wrong, as one family: every message is one sentence that names culprit and remedy."""

from __future__ import annotations


class AqmlabError(Exception):
    """A mistake or an obstacle a person can act on; printed as one line, never as a traceback."""

    exit_code = 2


class SpecError(AqmlabError):
    """The scenario or experiment is wrong."""


class StoreError(AqmlabError):
    """A results folder cannot be read or written."""


class CalibrationError(AqmlabError):
    """A load cannot be turned into a number of users."""


class EngineError(AqmlabError):
    """The compiled simulator is missing or does not fit this package."""


class Interrupted(AqmlabError):
    """Ctrl-C: what was finished is kept, and the message says how to resume."""

    exit_code = 130


def nearest(name: str, known: list[str], cutoff: float = 0.6) -> str:
    """`'; did you mean "x"?'` if one of `known` is near `name`, else nothing."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f'; did you mean "{close[0]}"?' if close else ""
