"""Checks groups, metrics, tables, differences and figures; each check returns an error or None."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from aqmlab import figures
from aqmlab.experiment.grammar import Difference, Figure, Group, Metric, Table
from aqmlab.figures.sources import Dataset, Rows
from aqmlab.tables import statistics

from .cells import Names, first, unknown

#: Placeholders for the runs that a statistic takes before its arguments.
RUN, RUNS = (None,), (None, None)


def group(entry: Group, names: Names) -> str | None:
    """Checks the name of a group's base scenario."""
    return names.base(entry.base)


def metric(entry: Metric, _names: Names) -> str | None:
    """Checks the statistic of a metric, if it has one."""
    if entry.statistic is None:
        return None
    return statistic(statistics.OF_RUN, RUN, entry.statistic, entry.args)


def statistic(
    registry: Mapping[str, Callable], runs: tuple, name: str, arguments: Mapping[str, Any]
) -> str | None:
    """Checks the name of a statistic and its arguments."""
    problem = unknown("statistic", name, registry)
    if problem:
        return problem
    try:
        inspect.signature(registry[name]).bind(*runs, **arguments)
    except TypeError as error:
        return f"args of {name}: {error}"
    return None


def table(entry: Table, names: Names) -> str | None:
    """Checks a table: its cells, rows and columns."""
    return (
        names.cells(entry.group, entry.where)
        or names.axes(entry.group, entry.keys)
        or _columns(entry, names)
    )


def difference(entry: Difference, names: Names) -> str | None:
    """Checks a difference: the cells of both sides, the axes that pair them, the columns."""
    return (
        names.cells(entry.group, entry.where)
        or names.cells(entry.minus, entry.minus_where)
        or names.axes(entry.group, entry.columns)
        or names.axes(entry.minus, entry.on)
        or _columns(entry, names)
    )


def _columns(entry: Table | Difference, names: Names) -> str | None:
    return names.some_metrics([*(entry.metrics or ()), *entry.headline])


def figure(entry: Figure, names: Names) -> str | None:
    """Checks a figure: its kind, the keys of the kind, and the runs or tables that it draws."""
    known = figures.of_studies()
    if entry.kind not in known:
        return unknown("kind of figures", entry.kind, known)
    kind = figures.kind(entry.kind)
    problem = kind.problem(entry.entry) or names.base(entry.of.get("base"))
    if problem or kind.source is Dataset:
        return problem or _group(entry, names)
    return _of_a_table(entry, names) if kind.source is Rows else _cells(entry, names)


def _of_a_table(entry: Figure, names: Names) -> str | None:
    name, of = entry.of["table"], entry.of
    problem = names.table(name) or names.some_metrics(of["rows"])
    if problem:
        return problem
    shown = names.tables[name]
    known = shown.keys if isinstance(shown, Table) else shown.columns
    axes = of.get("on", [of.get("x"), of.get("columns")])
    return first(unknown(f'axis of table "{name}"', axis, known) for axis in axes)


def _group(entry: Figure, names: Names) -> str | None:
    """Checks the group of a figure whose source is the whole dataset, if it has one."""
    return names.cells(entry.of["group"], {}) if "group" in entry.of else None


def _cells(entry: Figure, names: Names) -> str | None:
    shared = {k: entry.of[k] for k in ("group", "where", "curve", "metric") if k in entry.of}
    for each in entry.of.get("curves", entry.of.get("panels", [{}])):
        full = shared | each
        if "group" not in full:
            return "names no group: say of which runs it is drawn"
        metrics = [full["metric"]] if "metric" in full else []
        axes = [axis for axis in (full.get("curve"), entry.of.get("x")) if axis is not None]
        problem = (
            names.cells(full["group"], full.get("where", {}))
            or names.axes(full["group"], axes)
            or names.some_metrics(metrics)
        )
        if problem:
            return problem
    return None
