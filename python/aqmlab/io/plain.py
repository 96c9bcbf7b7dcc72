"""Prints headings, sentences and tables without Rich, which takes longer to load than these take to
print.

Tables have no lines; the text of one column is wrapped if the terminal is narrow.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from .terminal import printable

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_PIPE = 160
"""Width of a line in a file or a pipe, in characters."""
_LEAST = 20
"""Least width of the wrapped column, in characters."""
_GAP = "  "


class Column:
    """A column of a table: its title, and its largest width in characters."""

    def __init__(self, title: str, most: int | None = None) -> None:
        """`most` is the column's largest width in characters; None if it has no own limit."""
        self.title, self.most = title, most


class Paper:
    """The output: the width of a line in characters, and whether styles (bold, dim) are used."""

    def __init__(self, width: int = _PIPE, *, styled: bool = False) -> None:
        self.width, self.styled = width, styled

    def line(self, text: str = "", style: str = "") -> None:
        """Prints one line, never wrapped."""
        shown = printable(text)
        print(f"{style}{shown}{_PLAIN}" if style and self.styled else shown)

    def heading(self, text: str) -> None:
        """Prints a line in bold."""
        self.line(text, _BOLD)

    def note(self, text: str) -> None:
        """Prints a less important line, dimmed."""
        self.line(text, _DIM)

    def sentence(self, text: str) -> None:
        """Prints a sentence, wrapped at the width of a line."""
        for line in textwrap.wrap(printable(text), max(self.width, _LEAST)) or [""]:
            print(line)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], broken: int) -> None:
        """Prints a table; the column with the index `broken` is wrapped to the width that the
        others leave."""
        cells = [[printable(cell) for cell in row] for row in rows]
        widths = [
            max(
                [
                    len(column.title),
                    *(min(len(row[c]), column.most or len(row[c])) for row in cells),
                ]
            )
            for c, column in enumerate(columns)
        ]
        others = sum(widths) - widths[broken] + len(_GAP) * (len(columns) - 1)
        widths[broken] = max(_LEAST, min(widths[broken], self.width - others))
        self._row([column.title for column in columns], widths, _BOLD)
        for row in cells:
            pieces = [
                textwrap.wrap(cell, width) if len(cell) > width else [cell]
                for cell, width in zip(row, widths, strict=True)
            ]
            for i in range(max(map(len, pieces))):
                self._row([one[i] if i < len(one) else "" for one in pieces], widths)

    def _row(self, cells: Sequence[str], widths: Sequence[int], style: str = "") -> None:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        self.line(_GAP.join(padded).rstrip(), style)


def paper() -> Paper:
    """The output for standard output: as wide as the terminal, with styles unless NO_COLOR or
    TERM=dumb is set."""
    terminal = sys.stdout.isatty()
    wide = terminal or "COLUMNS" in os.environ
    width = shutil.get_terminal_size((80, 24)).columns if wide else _PIPE
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", None)
    return Paper(width, styled=terminal and not plain)
