"""Groups, metrics, tables, differences and figures: what is wrong with one, if anything."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from aqmlab import figures
from aqmlab.experiment import plan
from aqmlab.figures.sources import Material, Rows
from aqmlab.tables import statistics
from aqmlab.tables.tables import difference_keys

from . import keys
from .cells import Names, first, unknown

#: Places for the runs that a statistic takes before its arguments.
RUN, RUNS = (None,), (None, None)


def group(entry: dict, names: Names) -> str | None:
    """A group and its axes."""
    only = entry.get("only", "full")
    return (
        names.base(entry)
        or (None if only in ("quick", "full") else f'only is "quick" or "full", not "{only}"')
        or first(_axis(axis) for axis in plan.axes_of(entry))
    )


def _axis(axis: dict) -> str | None:
    problem = keys.AXIS.problem(axis)
    name = axis.get("name", "?")
    if not problem and "variant" in axis:
        problem = first(
            f"variant {v.get('name', '?')}: {p}"
            for v in axis["variant"]
            if (p := keys.VARIANT.problem(v))
        )
    elif not problem:
        problem = _values(axis)
    if not problem:
        known = plan.values(axis, "full")
        shown = axis.get("quick", []) + axis.get("constructed", [])
        problem = first(unknown("value", value, known) for value in shown)
    return f"axis {name}: {problem}" if problem else None


def _values(axis: dict) -> str | None:
    if not axis.get("values"):
        return "has no values: give values or variants"
    if plan.is_load(axis):
        return None
    if "paths" not in axis:
        return "has no paths: name the fields of the scenario that its values go to"
    for value in axis["values"]:
        parts = value if isinstance(value, list) else [value]
        if len(parts) not in (1, len(axis["paths"])):
            return f"{value} does not have one value for each of its {len(axis['paths'])} paths"
    return None


def metric(entry: dict, _names: Names) -> str | None:
    """Where a metric's number comes from."""
    if ("summary" in entry) == ("statistic" in entry):
        return "give either summary or statistic"
    return statistic(statistics.OF_RUN, RUN, entry) if "statistic" in entry else None


def statistic(
    registry: Mapping[str, Callable], runs: tuple, how: Mapping[str, Any], key: str = "statistic"
) -> str | None:
    """The name of a statistic and its arguments."""
    problem = unknown("statistic", how[key], registry)
    if problem:
        return problem
    try:
        inspect.signature(registry[how[key]]).bind(*runs, **how.get("args", {}))
    except TypeError as error:
        return f"args of {how[key]}: {error}"
    return None


def table(entry: dict, names: Names) -> str | None:
    """A table: its cells, rows and columns."""
    return (
        names.cells(entry["group"], entry.get("where", {}))
        or names.axes(entry["group"], entry["keys"])
        or _columns(entry, names)
    )


def difference(entry: dict, names: Names) -> str | None:
    """A difference: the cells of both sides, the axes that pair them, the columns."""
    return (
        names.cells(entry["group"], entry.get("where", {}))
        or names.cells(entry["minus"], entry.get("minus_where", {}))
        or names.axes(entry["group"], difference_keys(entry))
        or names.axes(entry["minus"], entry["on"])
        or _columns(entry, names)
    )


def _columns(entry: dict, names: Names) -> str | None:
    return names.some_metrics(entry.get("metrics", []) + entry.get("headline", []))


def figure(entry: dict, names: Names) -> str | None:
    """A figure: its kind, the keys of the kind, and what it is drawn of."""
    name = entry.get("kind")
    known = figures.of_studies()
    if name not in known:
        return unknown("kind of figures", name, known)
    kind = figures.kind(name)
    problem = kind.problem(entry) or names.base(entry)
    if problem or kind.source is Material:
        return problem or _group(entry, names)
    return _of_a_table(entry, names) if kind.source is Rows else _cells(entry, names)


def _of_a_table(entry: dict, names: Names) -> str | None:
    problem = names.table(entry["table"]) or names.some_metrics(entry["rows"])
    if problem:
        return problem
    shown = names.tables[entry["table"]]
    axes = entry.get("on", [entry.get("x"), entry.get("columns")])
    known = shown.get("keys") or difference_keys(shown)
    return first(unknown(f'axis of table "{entry["table"]}"', axis, known) for axis in axes)


def _group(entry: dict, names: Names) -> str | None:
    """The group of a figure that is not drawn of cells, if it has one."""
    return names.cells(entry["group"], {}) if "group" in entry else None


def _cells(entry: dict, names: Names) -> str | None:
    shared = {k: entry[k] for k in ("group", "where", "curve", "metric") if k in entry}
    for each in entry.get("curves", entry.get("panels", [{}])):
        full = shared | each
        if "group" not in full:
            return "names no group: say of which runs it is drawn"
        metrics = [full["metric"]] if "metric" in full else []
        axes = [axis for axis in (full.get("curve"), entry.get("x")) if axis is not None]
        problem = (
            names.cells(full["group"], full.get("where", {}))
            or names.axes(full["group"], axes)
            or names.some_metrics(metrics)
        )
        if problem:
            return problem
    return None
