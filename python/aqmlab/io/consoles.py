"""A console based on Rich's that is safe for names from files, and truncates no number in
tables."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import rich.console
from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from .terminal import printable

_WIDE = 100_000
"""A width, in columns, at which every table fits."""
_NAME = 24
"""Width, in columns, of the first column when it is repeated in several tables."""
_FRAME = 8
"""Columns of borders and padding around two of a table's columns."""


class Console(rich.console.Console):
    """A console that prints text literally; unprintable characters are shown by their code
    points."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As in Rich, with unprintable characters replaced; all plain text for the terminal passes
        through this method."""
        return super().render_str(printable(text, keep="\n"), **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """As in Rich, but tables are never truncated (see `_whole`)."""
        for one in objects:
            if isinstance(one, Table):
                self._whole(one, options)
            else:
                super().print(one, **options)
        if not objects:
            super().print(**options)

    def _whole(self, table: Table, options: dict[str, Any]) -> None:
        """Prints a table; numbers, which are right-aligned, are never broken.

        If a terminal is too narrow, the columns are split into several tables, each of which begins
        with the first column. A file gets one table of the necessary width.
        """
        columns = table.columns
        for column in columns:
            column.overflow = "fold" if column.overflow == "ellipsis" else column.overflow
            if column.justify == "right":
                column.no_wrap, column.min_width = True, _natural(column)
        if self._needs(table) <= self.width:
            super().print(table, **options)
            return
        beside = max(map(_natural, columns[1:]), default=0)
        columns[0].min_width = max(
            columns[0].min_width or 0,
            min(_natural(columns[0]), _NAME, self.width - beside - _FRAME),
        )
        if not self.is_terminal:
            usual, self.width = self.width, self._needs(table)
            super().print(table, **options)
            self.width = usual
        else:
            for part in self._parts(table):
                super().print(part, **options)

    def _needs(self, table: Table) -> int:
        """The least width that a table needs, in columns."""
        return self.measure(table, options=self.options.update(width=_WIDE)).minimum

    def _parts(self, table: Table) -> list[Table]:
        """The table split into tables that fit, if a single column fits."""
        first, *others = table.columns
        pieces = [[first]]
        for column in others:
            longer = [*pieces[-1], column]
            if len(longer) > 2 and self._needs(_with(table, longer)) > self.width:
                longer = [first, column]
                pieces.append(longer)
            else:
                pieces[-1] = longer
        made = [_with(table, piece) for piece in pieces]
        for part in made[1:]:
            part.title = None
        for part in made[:-1]:
            part.caption = None
        return made


def _natural(column: Column) -> int:
    """The width of a column's longest cell or heading."""
    cells = [str(cell) for cell in (column.header, *column.cells)]
    return max(cell_len(line) for cell in cells for line in (cell.splitlines() or [""]))


def _with(table: Table, columns: list[Column]) -> Table:
    """The table with only these columns."""
    part = copy(table)
    part.columns = [replace(column, _index=place) for place, column in enumerate(columns)]
    return part
