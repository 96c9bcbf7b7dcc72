"""The door to a terminal: what is printed is printable, and a stream that fails is no traceback.

Names come from files and captures, that is from anybody: control characters, escape sequences and
characters that turn the direction of writing are shown as what they are (`\\x1b`, `\\u202e`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .consoles import Console


def by_number(character: str) -> str:
    """A character as Python writes it by its number."""
    return character.encode("unicode-escape").decode()


def unicode_escape(character: str) -> str:
    """A character by its number, as TOML writes it."""
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, keep: str = "", write: Callable[[str], str] = by_number) -> str:
    """The text with every character that has no picture of its own written as its number."""
    if text.isprintable():
        return text
    for character in set(text):
        if not (character in keep or character.isprintable() or _is_space(character)):
            text = text.replace(character, write(character))
    return text


def _is_space(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def say(sentence: str) -> None:
    """One line on standard error, if it is a terminal."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print("aqmlab:", printable(sentence), file=sys.stderr, flush=True)


def open_streams() -> bool:
    """Makes the standard streams such that anything can be printed; whether there is an output.

    A closed one (`>&-`) would give its number to the next file that is opened, and an encoding
    without a character (`LC_ALL=C`) would end the command in the middle of its answer.
    """
    there = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free number, which is that of the stream.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    return there


def is_unicode() -> bool:
    """Whether standard output takes every character."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


def console() -> Console:
    """Where tables are printed."""
    from .consoles import Console

    # A file or a pipe is not cut off at 80 columns.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    # What is printed is text of users and of the catalogue: brackets and colons are meant.
    return Console(highlight=False, markup=False, emoji=False, width=width)


def abandon_output() -> None:
    """Keeps Python from complaining at its exit about an output that cannot be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
