"""Compares runs with numbers from text files: another simulator's runs, or measurements.

A file with a heading of measures (`queue_mean_packets,drop_rate`) has a line for each run of the
other program. A file of two columns without a heading is a trace, time in seconds and value, as
ns-3's examples write queue lengths; several traces are several runs, each of which counts by its
average over time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aqmlab import units
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.simulator import measures, renamed
from aqmlab.simulator.forms import Scenario
from aqmlab.tables import measure
from aqmlab.tables.equivalence import INCONCLUSIVE, Margin, judge
from aqmlab.tables.result import Result

TRACED = "queue_time_mean_packets"
"""The measure of a trace if no other is named."""
Trace = list[tuple[float, float]]


@dataclass(frozen=True)
class Row:
    """The comparison of one measure."""

    measure: str
    title: str
    unit: str
    ours: float
    ours_half: float | None
    theirs: float
    theirs_half: float | None
    runs: tuple[int, int]
    """Numbers of runs: aqmlab's, and the other program's."""
    margin: float
    verdict: str
    """The verdict: `equivalent`, `different` or `inconclusive`."""


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison, with notes and the traces that were read."""

    rows: list[Row]
    notes: list[str]
    traces: list[Trace]

    def document(self) -> dict[str, Any]:
        """The comparison as a JSON document, without the traces."""
        return {"rows": [asdict(row) for row in self.rows], "notes": self.notes}


def compare(result: Result, files: Sequence[Path], traced: str, margin: str) -> Comparison:
    """Compares the runs of a result with the files by two one-sided tests with `margin`."""
    runs = result.only()
    allowed = Margin(_share(margin))
    ours = [measure.numbers(run.summary) for run in runs]
    read = [(file, _read(file)) for file in files]
    tables = [content for _, content in read if isinstance(content, dict)]
    traces = [content for _, content in read if isinstance(content, list)]
    theirs: dict[str, list[float]] = {}
    for table in tables:
        for name, values in table.items():
            theirs.setdefault(renamed.current(name), []).extend(values)
    if traces:
        start, end = _interval(runs[0].scenario)
        averages = [average(trace, start, end) for trace in traces]
        theirs.setdefault(renamed.current(traced), []).extend(averages)
    rows = [
        _row(name, [run.get(name) for run in ours], values, allowed)
        for name, values in theirs.items()
    ]
    lone = [
        who
        for who, number in (("ours", len(ours)), ("theirs", max(map(len, theirs.values()))))
        if number < 2
    ]
    notes = [f"one run of {who} has no interval: give several for a verdict" for who in lone]
    return Comparison(rows, notes, traces)


def _row(name: str, ours: list[float | None], theirs: list[float], allowed: Margin) -> Row:
    known = [value for value in ours if value is not None]
    if len(known) < len(ours) or not known:
        raise AqmlabError(f"{name} is undefined in a run of ours: leave the column out")
    about = measures.find(name)
    found = judge(known, theirs, allowed)
    return Row(
        name,
        about["title"] if about else name,
        about.get("unit", "") if about else "",
        found.ours,
        _half(known),
        found.theirs,
        _half(theirs),
        (len(known), len(theirs)),
        found.margin,
        INCONCLUSIVE if math.isnan(found.half) else found.verdict,
    )


def _half(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % interval of the values' mean; None for a single value."""
    from aqmlab.intervals import interval

    mean, low, _ = interval(list(values))
    return None if math.isnan(low) else mean - low


def _share(text: str) -> float:
    try:
        share = units.share(text)
    except SpecError as error:
        raise SpecError(f"--margin {text}: {error}") from error
    return share


def _interval(scenario: Scenario) -> tuple[float, float]:
    """The measured interval of a scenario, in seconds."""
    return units.seconds(scenario.get("warmup")), units.seconds(scenario.get("duration"))


def average(trace: Trace, start: float, end: float) -> float:
    """The time average, within the measured interval, of a value that holds until the next one."""
    first, last = trace[0][0], trace[-1][0]
    if last < start or first >= end:
        raise AqmlabError(
            f"the trace ({first:g} to {last:g} s) lies outside the measured interval ({start:g} to "
            f"{end:g} s): set warmup and duration to those of the other run"
        )
    area = spent = 0.0
    for (at, value), (until, _) in zip(trace, [*trace[1:], (end, 0.0)], strict=True):
        width = min(until, end) - max(at, start)
        if width > 0:
            area, spent = area + width * value, spent + width
    return area / spent


def _read(file: Path) -> dict[str, list[float]] | Trace:
    """The content of a file: a table by measure, or a trace."""
    try:
        lines = [line for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
    except OSError as error:
        raise SpecError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError:
        raise SpecError(f"{file}: no text: give a CSV file") from None
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    cells = [_cells(line) for line in lines]
    if not cells:
        raise SpecError(f"{file}: empty: give a line of measures and a line for each run")
    if all(_number(cell) is not None for cell in cells[0]):
        return _trace(file, cells)
    return _table(file, cells)


def _cells(line: str) -> list[str]:
    separator = next((mark for mark in (",", ";", "\t") if mark in line), None)
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _trace(file: Path, cells: list[list[str]]) -> Trace:
    trace: Trace = []
    for place, line in enumerate(cells, 1):
        numbers = [_number(cell) for cell in line]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            raise SpecError(f"{file}, line {place}: no time and value: a trace has two columns")
        if trace and numbers[0] < trace[-1][0]:
            raise SpecError(f"{file}, line {place}: the time goes back")
        trace.append((numbers[0], numbers[1]))
    return trace


def _table(file: Path, cells: list[list[str]]) -> dict[str, list[float]]:
    heads, *rows = cells
    for head in heads:
        if head != "seed" and (mistake := measures.unknown(head)):
            raise SpecError(f"{file}: {mistake}")
    found: dict[str, list[float]] = {head: [] for head in heads if head != "seed"}
    for place, line in enumerate(rows, 2):
        if len(line) != len(heads):
            raise SpecError(
                f"{file}, line {place}: {len(line)} cells where the heading has {len(heads)}"
            )
        for head, cell in zip(heads, line, strict=True):
            number = _number(cell)
            if head in found and number is None:
                raise SpecError(f'{file}, line {place}: {head} is "{cell}", no number')
            if head in found and number is not None:
                found[head].append(number)
    if not rows or not found:
        raise SpecError(f"{file}: no run in it: give a line for each under the measures")
    return found
