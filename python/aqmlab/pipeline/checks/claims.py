"""Claims: what is wrong with a rule, if anything, before it is asked of any run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab.claims import expression, rule
from aqmlab.claims.evidence import OVER
from aqmlab.errors import SpecError
from aqmlab.tables import statistics

from . import keys
from .cells import Names, first, unknown
from .entries import RUN, RUNS, statistic


def claim(entry: dict, names: Names) -> str | None:
    """A claim: the one it revisits, its conditions, and every cell, metric and statistic that they
    name.
    """
    return (
        _revisits(entry, names)
        or first(_keys(entry["condition"]))
        or first(rule.problems(entry))
        or first(_leaf(condition, bound, names) for condition, bound in rule.leaves(entry))
    )


def _revisits(entry: dict, names: Names) -> str | None:
    """The claim of the paper that one of ours asks again."""
    if "revisits" not in entry:
        return None
    again = entry["revisits"]
    problem = unknown("claim to revisit", again, names.claims)
    if problem:
        return problem
    if entry.get("kind") != "ours":
        return 'revisits a claim, so it is of kind "ours"'
    if names.claims[again].get("kind") == "ours":
        return f'revisits "{again}", which is not of the paper: name a claim that is'
    return None


def _keys(conditions: list[dict]) -> Iterator[str | None]:
    for condition in conditions:
        inner = condition.get("any", []) + condition.get("all", [])
        yield (keys.SEVERAL if inner else keys.CONDITION).problem(condition)
        yield from _keys(inner)


def _leaf(condition: dict, bound: dict, names: Names) -> str | None:
    told = condition.get("text", condition["value"])
    try:
        rule.told(told, bound)
        lets = {name: rule.filled(let, bound) for name, let in condition["let"].items()}
    except KeyError as error:
        return f'"{told}": {error} is no name of an `each` or `some` around it'
    try:
        expression.evaluate(
            condition["value"], rule.numbers(bound) | dict.fromkeys(lets, np.ones(1))
        )
    except SpecError as error:
        return str(error)
    return first(f"{name}: {p}" for name, let in lets.items() if (p := _let(let, names)))


def _let(let: object, names: Names) -> str | None:
    if not isinstance(let, dict):
        return f"{let} is no entry such as {{ group = …, where = …, metric = … }}"
    kind = next((word for word in keys.LETS if word in let), "group")
    problem = keys.LETS[kind].problem(let)
    if problem:
        return problem
    if kind == "probe":
        return statistic(statistics.PROBES, (), let, "probe")
    if kind == "calibration":
        return names.base(let)
    if kind == "pair":
        return _pair(let, names)
    if kind == "across":
        known = names.cells(let["group"], let.get("where", {}))
        return known or statistic(statistics.ACROSS, RUN, let, "across")
    return _of_runs(let, names)


def _pair(let: dict, names: Names) -> str | None:
    """Two cells; with `over` the second may be several."""
    return (
        first(keys.CELL.problem(let[side]) for side in ("a", "b"))
        or statistic(statistics.PAIRS, RUNS, let, "pair")
        or _cell(let["a"], names)
        or (_several(let["b"], let["over"], names) if "over" in let else _cell(let["b"], names))
    )


def _several(let: dict, over: str, names: Names) -> str | None:
    known = unknown("way to take cells together", over, OVER)
    return known or names.cells(let["group"], let.get("where", {}))


def _of_runs(let: dict, names: Names) -> str | None:
    sources = [word for word in ("metric", "statistic", "summary") if word in let]
    if len(sources) != 1:
        return "give one of metric, statistic and summary"
    if "metric" in let:
        problem = names.some_metrics([let["metric"]])
    else:
        problem = statistic(statistics.OF_RUN, RUN, let) if "statistic" in let else None
    if problem:
        return problem
    return _several(let, let["over"], names) if "over" in let else _cell(let, names)


def _cell(let: dict, names: Names) -> str | None:
    """One cell."""
    where = let.get("where", {})
    problem = names.cells(let["group"], where)
    if problem:
        return problem
    count = names.count(let["group"], where)
    if count == 1:
        return None
    return f"{let['group']} {where} is {count} cells: say which in where, or take them with over"
