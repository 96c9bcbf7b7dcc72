"""The default report of a scenario or sweep without tables or figures of its own: every queue,
every traffic group, the differences between variants, the queue over time, and distributions of
response times and delays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from aqmlab.experiment import sweep
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Figure, Metric
from aqmlab.experiment.plan import Cell
from aqmlab.experiment.shapes import read, written
from aqmlab.figures.kinds.lines import number
from aqmlab.simulator import measures
from aqmlab.tables import subjects, tables
from aqmlab.tables.dataset import Dataset
from aqmlab.tables.document import MetricShown, TableShown
from aqmlab.tables.subjects import KINDS, Column, Kind

MOST_CURVES = 10
"""Largest number of variants in a figure: more could not be distinguished."""
CURVE_FROM = 3
"""Least number of values of an axis along which lines are drawn."""
ALONG = (
    *("queue_delay_mean_s", "queue_delay_p99_s", "drop_rate"),
    *("response_p50_s", "page_load_p50_s", "voip_r_mean"),
)
"""Measures that are drawn along an axis."""
MOST_TOLD = 4
"""Largest number of variants whose differences are given in a sentence."""
TOLD = {"queues": ("queue_delay_mean_s",)}
"""Metrics whose differences between variants are given in a sentence, by table."""


def tables_of(
    experiment: Experiment, dataset: Dataset
) -> tuple[list[TableShown], list[MetricShown]]:
    """The tables of the report, and the metrics of their columns."""
    listed: list[TableShown] = []
    metrics: dict[str, MetricShown] = {}
    for kind in KINDS:
        found = [
            (cell.label or experiment.name, subjects.of_kind(kind, dataset.runs(cell)))
            for cell in dataset.plan.cells
        ]
        columns = subjects.shown(kind, (row for _, rows in found for row in rows.values()))
        metrics |= {column.name: written(column.metric) for column in columns}
        listed.append(_entry(kind, kind.id, kind.title, columns, _means(kind, columns, found)))
        (base, _), *others = found
        if others and columns:
            rows = _differences(kind, columns, found)
            title = f"{kind.title}: difference from {base}"
            entry = _entry(kind, f"{kind.id}-differences", title, columns, rows)
            described = [name for name in TOLD.get(kind.id, ()) if len(others) <= MOST_TOLD]
            listed.append({**entry, "paired": True, "headline": described})
    return [table for table in listed if table["rows"]], list(metrics.values())


MeansByCell = Sequence[tuple[str, Mapping[str, Mapping[str, list[float]]]]]
"""The name of each variant of an experiment, and the values of its metrics, one for each seed, by
row and column of a table."""


def _means(kind: Kind, columns: Sequence[Column], found: MeansByCell) -> list[dict]:
    """The rows of means and intervals, one for each variant, row and column."""
    return [
        _line(kind, variant, name, column, row[column.name])
        for variant, rows in found
        for name, row in rows.items()
        for column in columns
        if column.name in row
    ]


def _differences(kind: Kind, columns: Sequence[Column], found: MeansByCell) -> list[dict]:
    """The rows of paired differences: every variant minus the first, seed by seed."""
    (_, first), *others = found
    return [
        _line(kind, variant, name, column, [b - a for a, b in pairs])
        for variant, rows in others
        for name, row in rows.items()
        for column in columns
        if column.name in row and column.name in first.get(name, {})
        for pairs in [list(zip(first[name][column.name], row[column.name], strict=True))]
    ]


def _line(kind: Kind, variant: str, name: str, column: Column, sample: list[float]) -> dict:
    row = {"table": kind.id, "variant": variant, kind.row: name, "metric": column.name}
    nothing = dict.fromkeys(("paper", "difference", "difference_low", "difference_high", "verdict"))
    return row | {"n": len(sample)} | tables.estimate(sample) | nothing


def _entry(
    kind: Kind, identity: str, title: str, columns: Sequence[Column], rows: list[dict]
) -> TableShown:
    return {
        "id": identity,
        "part": sweep.NAME,
        "title": title,
        "paper": None,
        "keys": ["variant", kind.row],
        "metrics": [column.name for column in columns],
        "rows": rows,
        "paired": False,
        "reference": None,
        "headline": [],
        "note": "",
        "remarks": [],
        "has_reference": False,
    }


def figures_of(experiment: Experiment, dataset: Dataset) -> list[Figure]:
    """The figures of the report; a kind without data in these runs is left out later."""
    cells = dataset.plan.cells
    shown = [
        {"group": cell.group, "where": cell.axes, "label": cell.label}
        for cell in cells[:MOST_CURVES]
    ]
    rest = f" The first {MOST_CURVES} of {len(cells)} variants." if len(cells) > MOST_CURVES else ""
    made = [
        _figure("course", "course", "The queue over time", f"The studied queue.{rest}", shown),
        _figure("cdf", "responses", "Response times", f"Of all requests.{rest}", shown),
        _figure("ccdf", "tail", "The tail of the response times", f"Of all requests.{rest}", shown),
        _figure("delays", "delays", "Delays of datagrams", f"Of all senders.{rest}", shown),
    ]
    return made + _along(experiment, dataset)


def _figure(kind: str, identity: str, title: str, caption: str, shown: list[dict]) -> Figure:
    return Figure(
        id=identity,
        part=sweep.NAME,
        kind=kind,
        title=title,
        caption=caption,
        paper=title,
        of={"curves": shown},
    )


def _along(experiment: Experiment, dataset: Dataset) -> list[Figure]:
    """Figures of measures along the first axis with at least `CURVE_FROM` numbers, with a line for
    each value of the other axis."""
    (group,) = experiment.group
    axis = next((axis for axis in group.axes if _is_scale(dataset.plan.cells, axis.name)), None)
    others = [other for other in group.axes if other is not axis]
    if axis is None or len(others) > 1:
        return []
    of = {"group": group.name, "x": axis.name, "axis": axis.name}
    of |= {"curve": others[0].name} if others else {}
    first = dataset.runs(dataset.plan.cells[0])[0].summary
    return [
        Figure(
            id=name,
            part=sweep.NAME,
            kind="lines",
            title=dataset.metrics[name].title,
            paper=dataset.metrics[name].title,
            caption=f"Along {axis.name}.",
            of=of | {"metric": name},
        )
        for name in ALONG
        if first.get(name) is not None
    ]


def metrics() -> dict[str, Metric]:
    """The metrics of the measures in figures, by name."""
    return {
        name: read(Metric, {"name": name, "summary": name} | measures.defaults(name))
        for name in ALONG
    }


def _is_scale(cells: Sequence[Cell], axis: str) -> bool:
    """Whether an axis has at least `CURVE_FROM` values, all of them numbers."""
    values = {str(cell.axes[axis]) for cell in cells}
    return len(values) >= CURVE_FROM and not any(math.isnan(number(value)) for value in values)
