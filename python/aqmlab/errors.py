"""The package's exceptions: every message is one sentence that names the cause and the remedy."""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST = 300, 1200
"""Longest name in a sentence, and longest sentence, in characters; a sentence fits on a screen."""


def fitting(sentence: str) -> str:
    """A sentence shortened to a screen: the middle of a long word or sentence is left out."""
    words = re.sub(
        rf"\S{{{LONGEST_WORD + 1},}}", lambda word: shortened(word[0], LONGEST_WORD), sentence
    )
    return shortened(words, LONGEST)


def shortened(text: str, longest: int) -> str:
    """A text of at most `longest` characters: the middle of a longer one is left out."""
    if len(text) <= longest:
        return text
    # The beginning of a message names the place of the error, the end the remedy.
    end = longest // 3
    return f"{text[: longest - end - 3]}...{text[-end:]}"


class AqmlabError(Exception):
    """An error that a person can act on; printed as one line, never as a traceback."""

    exit_code = 2

    def __init__(self, sentence: str = "") -> None:
        super().__init__(fitting(sentence))


class SpecError(AqmlabError):
    """The scenario or experiment is wrong."""


class StoreError(AqmlabError):
    """A results folder cannot be read or written."""


class CalibrationError(AqmlabError):
    """A load cannot be converted into a number of users."""


class EngineError(AqmlabError):
    """The compiled simulator is missing or does not fit this package."""


class Renamed(FutureWarning):
    """A former name was used that still works."""


class FaultError(AqmlabError):
    """The simulator failed: a fault of aqmlab that its makers should know of."""

    exit_code = 70  # the exit code EX_SOFTWARE of sysexits.h


class Interrupted(AqmlabError):
    """Ctrl-C was pressed: finished runs are kept, and the message explains how to resume."""

    exit_code = 130


def nearest(name: str, known: list[str], cutoff: float = 0.6) -> str:
    """`'; did you mean "x"?'` if one of `known` is similar to `name`, else an empty text."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f'; did you mean "{close[0]}"?' if close else ""
