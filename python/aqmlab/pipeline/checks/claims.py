"""Checks the rules of claims before they are applied to any run."""

from __future__ import annotations

import numpy as np

from aqmlab.claims import expression, rule
from aqmlab.claims.evidence import OVER
from aqmlab.errors import SpecError
from aqmlab.experiment.rules import (
    Across,
    Cells,
    Claim,
    Condition,
    Let,
    Number,
    OfCalibration,
    Pair,
    Probe,
)
from aqmlab.experiment.shapes import Mistake
from aqmlab.simulator import measures
from aqmlab.tables import statistics

from .cells import Names, first, unknown
from .entries import RUN, RUNS, statistic


def claim(entry: Claim, names: Names) -> str | None:
    """Checks a claim: the one that it revisits, its conditions, and every cell, metric and
    statistic in them.
    """
    return _revisits(entry, names) or first(
        _leaf(condition, bound, names) for condition, bound in rule.leaves(entry)
    )


def _revisits(entry: Claim, names: Names) -> str | None:
    """Checks the claim of the paper that a claim of kind `ours` reassesses."""
    again = entry.revisits
    if again is None:
        return None
    problem = unknown("claim to revisit", again, names.claims)
    if problem:
        return problem
    if entry.kind != "ours":
        return 'revisits a claim, so it is of kind "ours"'
    if names.claims[again].kind == "ours":
        return f'revisits "{again}", which is not of the paper: name a claim that is'
    return None


def _leaf(condition: Condition, bound: rule.Names, names: Names) -> str | None:
    try:
        rule.described(condition, bound)
        lets = rule.lets_of(condition, bound)
    except Mistake as mistake:
        return str(mistake)
    except KeyError as error:
        text = condition.text or condition.value
        return f'"{text}": {error} is no name of an `each` or `some` around it'
    try:
        expression.evaluate(condition.value, rule.numbers(bound) | dict.fromkeys(lets, np.ones(1)))
    except SpecError as error:
        return str(error)
    return first(f"{name}: {p}" for name, let in lets.items() if (p := _let(let, names)))


def _let(let: Let, names: Names) -> str | None:
    match let:
        case Probe():
            return statistic(statistics.PROBES, (), let.probe, let.args)
        case OfCalibration():
            return names.base(let.base)
        case Pair():
            return _pair(let, names)
        case Across():
            known = names.cells(let.group, let.where)
            return known or statistic(statistics.ACROSS, RUN, let.across, let.args)
    return _of_runs(let, names)


def _pair(let: Pair, names: Names) -> str | None:
    """Checks a statistic of two cells; with `over` there may be several second cells."""
    return (
        statistic(statistics.PAIRS, RUNS, let.pair, let.args)
        or _cell(let.a, names)
        or _several(let.b, let.over, names)
    )


def _several(let: Cells | Number, over: str | None, names: Names) -> str | None:
    """Checks a selection of one cell or, with `over`, of several that are combined."""
    if over is None:
        return _cell(let, names)
    known = unknown("way to take cells together", over, OVER)
    return known or names.cells(let.group, let.where)


def _of_runs(let: Number, names: Names) -> str | None:
    if sum(source is not None for source in (let.metric, let.statistic, let.summary)) != 1:
        return "give one of metric, statistic and summary"
    problem = names.some_metrics([let.metric]) if let.metric is not None else None
    if let.statistic is not None:
        problem = statistic(statistics.OF_RUN, RUN, let.statistic, let.args)
    if let.summary is not None:
        problem = measures.unknown(let.summary)
    return problem or _several(let, let.over, names)


def _cell(let: Cells | Number, names: Names) -> str | None:
    """Checks that a selection is exactly one cell."""
    problem = names.cells(let.group, let.where)
    if problem:
        return problem
    count = names.count(let.group, let.where)
    if count == 1:
        return None
    return f"{let.group} {let.where} is {count} cells: say which in where, or take them with over"
