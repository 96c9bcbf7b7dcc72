"""Reads published tables: CSV files next to the experiment or in a results folder, in tolerant
forms.

A table copied out of a paper may say "UDP drop %" for `udp_drop_pct`, "80 %" for 80 and "n/a" where
there is nothing. Names and values are compared without regard to such differences; entries that
match nothing are listed in the report.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.experiment.grammar import Metric, Table
from aqmlab.io.numbers import counted

FOLDER = "reference"

#: Texts in a cell that mean that there is no number.
NOTHING = ("", "-", "–", "—", "n/a", "na", "nan", "none", "?")

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")

Row = dict[str, str]
Places = Sequence[Mapping[str, object]]
"""For each simulated row: the columns of the published table that identify it, with their
values."""


def read(folders: Sequence[Path], spec: Table) -> list[Row] | None:
    """The rows of a published table, each by column name; None if there is no such file.

    `reference` may be a pattern (`reference/may1999_table5*.csv`): a later file is found when it is
    put there. The first folder that has a file is used.
    """
    for folder in folders:
        files = sorted(folder.glob(spec.reference)) if spec.reference else []
        if files:
            return [row for file in files for row in _rows(file)]
    return None


def _rows(path: Path) -> list[Row]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f"{path} cannot be read ({error}): save it as CSV in UTF-8 or remove it"
        ) from error
    head = text.partition("\n")[0]
    separator = next((mark for mark in ("\t", ";") if mark in head and "," not in head), ",")
    found = csv.DictReader(io.StringIO(text), delimiter=separator)
    rows = [
        {column(name): (value or "").strip() for name, value in row.items() if name is not None}
        for row in found
    ]
    if separator == ";":  # if semicolons separate columns, a comma is the decimal point
        rows = [{k: re.sub(r"(?<=\d),(?=\d)", ".", v) for k, v in row.items()} for row in rows]
    return [row for row in rows if any(row.values())]


def column(name: str) -> str:
    """A column's name in the form for comparisons: `udp_drop_pct` for "UDP drop (%)", `kb_per_s`
    for KB/s."""
    plain = name.lower().replace("%", " pct ").replace("/", " per ")
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def number(row: Row | None, metric: Metric) -> float | None:
    """A published number, from the column with the metric's name or title; None if there is
    none."""
    found = _number(_field(row or {}, metric))
    return found if isinstance(found, float) else None


def needed(row: Row | None, metric: Metric, where: str) -> float | None:
    """A published number that is required: an empty cell and a text that is no number are refused.
    None if the cell says that there is none, such as "n/a"."""
    written = _field(row or {}, metric) if row is not None else "n/a"
    found = _number(written)
    if not written or isinstance(found, str) or (found is not None and not math.isfinite(found)):
        raise SpecError(
            f'{where}: "{written}" in the column of {metric.title} is no number: write one, or n/a '
            "where there is none"
        )
    return found


def _field(row: Row, metric: Metric) -> str:
    names = (column(metric.name), column(metric.title))
    return next((row[name] for name in names if name in row), "")


def _number(text: str) -> float | str | None:
    """A number; None if the text says that there is none; the text if it is something else."""
    bare = text.strip().removesuffix("%").strip().replace("\N{MINUS SIGN}", "-")
    if bare.lower() in NOTHING:
        return None
    if _THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", "")
    try:
        return float(bare)
    except ValueError:
        return text


def find(rows: list[Row], places: Places) -> list[Row | None]:
    """For each simulated row the published row that agrees in every column that both have.

    It is None if several published rows agree. A published row that agrees with several simulated
    ones belongs to those with the most common columns.
    """
    found = [_find(rows, place) for place in places]
    most: dict[int, int] = {}
    for row, place in zip(found, places, strict=True):
        if row is not None:
            most[id(row)] = max(most.get(id(row), 0), len(_both(row, place)))
    return [
        row if row is not None and len(_both(row, place)) == most[id(row)] else None
        for row, place in zip(found, places, strict=True)
    ]


def _find(rows: list[Row], place: Mapping[str, object]) -> Row | None:
    found = []
    for row in rows:
        both = _both(row, place)
        if both and all(_same(row[column(name)], place[name]) for name in both):
            found.append(row)
    return found[0] if len(found) == 1 else None


def _both(row: Row, place: Mapping[str, object]) -> list[str]:
    return [name for name in place if row.get(column(name))]


def _same(text: str, value: object) -> bool:
    try:
        return Fraction(_bare(text)) == Fraction(_bare(str(value)))
    except (ValueError, ZeroDivisionError):
        return _bare(text) == _bare(str(value))


def _bare(text: str) -> str:
    """A text without differences of spelling: capitals, hyphens, brackets, spaces, percent
    signs."""
    return re.sub(r"[\s()\[\]_]|(?<=[a-z])-(?=[a-z])|%$", "", text.strip().lower())


def remarks(
    spec: Table, metrics: Sequence[Metric], places: Places, rows: list[Row] | None
) -> list[str]:
    """Sentences about entries of a published table that match no simulated number."""
    if rows is None:
        return []
    name = f"The published table ({spec.reference})"
    if not rows:
        return [f"{name} has no rows."]
    columns = {key for row in rows for key in row}
    requested = list(dict.fromkeys(key for place in places for key in place))
    if not columns & {column(key) for key in requested}:
        return [
            f"{name} has none of the columns by which its rows are found ({', '.join(requested)}): "
            "rename its columns."
        ]
    matched = {id(row) for row in find(rows, places) if row is not None}
    return [
        sentence
        for sentence in (
            _strays(name, [row for row in rows if id(row) not in matched], len(rows), requested),
            _columns(name, metrics, columns),
            _unreadable(name, metrics, rows),
        )
        if sentence
    ]


def _strays(name: str, strays: list[Row], total: int, requested: list[str]) -> str:
    if not strays:
        return ""
    keys = [key for key in requested if strays[0].get(column(key))]
    first = ", ".join(f"{key} {strays[0][column(key)]}" for key in keys) or "its first"
    return (
        f"{name}: {len(strays)} of its {counted(total, 'row')} "
        f"{'belongs' if len(strays) == 1 else 'belong'} to none of ours ({first}); rows are found "
        f"by {', '.join(requested)}, and settings that were not run here have no place."
    )


def _columns(name: str, metrics: Sequence[Metric], columns: set[str]) -> str:
    known = [metric for metric in metrics if {column(metric.name), column(metric.title)} & columns]
    missing = [metric.name for metric in metrics if metric not in known]
    return f"{name} has no column {', '.join(missing)}." if missing else ""


def _unreadable(name: str, metrics: Sequence[Metric], rows: list[Row]) -> str:
    for metric in metrics:
        for row in rows:
            found = _number(_field(row, metric))
            if isinstance(found, str):
                return f'{name}: "{found}" under {metric.name} is no number.'
    return ""
