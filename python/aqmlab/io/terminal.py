"""Output to a terminal: only printable characters are printed, and a stream that fails causes no
traceback.

Names come from files and captures, which anybody may have written: control characters, escape
sequences and characters that change the direction of writing are shown by their code points
(`\\x1b`, `\\u202e`).
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
    """A character's code point as Python writes it, such as `\\x1b`."""
    return character.encode("unicode-escape").decode()


def unicode_escape(character: str) -> str:
    """A character's code point as TOML writes it."""
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, keep: str = "", write: Callable[[str], str] = by_number) -> str:
    """The text with every unprintable character replaced by its code point."""
    if text.isprintable():
        return text
    for character in set(text):
        if not (character in keep or character.isprintable() or _is_space(character)):
            text = text.replace(character, write(character))
    return text


def _is_space(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def say(sentence: str) -> None:
    """Prints one line on standard error; a failure to write is ignored."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print("aqmlab:", printable(sentence), file=sys.stderr, flush=True)


def open_streams() -> bool:
    """Prepares the standard streams for any text. Returns whether there is a standard output.

    A stream that is closed (`>&-`) is replaced by /dev/null, since the next file opened would get
    its number; and a character that the encoding lacks (`LC_ALL=C`) is printed by its code point
    instead of ending the command.
    """
    there = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # A file gets the lowest free descriptor number, which is that of the closed stream.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    return there


def is_unicode() -> bool:
    """Whether standard output can encode every character."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


def console() -> Console:
    """The console for tables on standard output."""
    from .consoles import Console

    # Output to a file or a pipe is not limited to 80 columns.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    # Texts of users and of the catalogue are no markup: brackets and colons are printed literally.
    return Console(highlight=False, markup=False, emoji=False, width=width)


def abandon_output() -> None:
    """Prevents an error message at Python's exit about an output that cannot be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
